"""What to beware of: rules about the data, and about a measure on the data. A rule is silent if all is well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cranfield.evaluation.advice.collection_facts import ENOUGH_JUDGED, LEFT_OUT_BY, Facts
from cranfield.measures import Measure
from cranfield.measures.scope import Scope, chosen_parameters
from cranfield.ranks.chosen_warning import chosen_warning
from cranfield.words import count

ENOUGH_QUERIES = 50  # TREC's custom: with fewer, the choice of queries matters more than the systems
SEVERAL = 3  # relevant documents: from here on the first one is a small part of the answer
MANY_TIED = 0.05
STEEP = 8  # a grade whose exponential gain, 2^8 - 1, outweighs all lower ones

# Measures that share a weakness.
OF_ALL_RELEVANT = {"AP", "GMAP", "IAP", "Rprec", "YAAP", "binG"}
OF_THE_FIRST = {"RR", "Success"}
OF_GRADES = {"CG", "DCG", "nDCG", "G", "nDCGrel", "RnDCG", "Q"}


# About the data.


def few_queries(facts: Facts) -> Iterator[str]:
    if facts.queries < ENOUGH_QUERIES:
        yield (
            f"there {'is only 1 query' if facts.queries == 1 else f'are only {facts.queries} queries'}. Values usually "
            "vary more from query to query than from system to system, so only large differences between systems can "
            f"be detected; {ENOUGH_QUERIES} queries are the usual minimum."
        )


def nothing_to_find(facts: Facts) -> Iterator[str]:
    if facts.none_relevant:
        number = round(facts.none_relevant * facts.queries)
        have, score = ("has", "scores") if number == 1 else ("have", "score")
        yield f"{number} of {facts.queries} queries {have} no relevant document and {score} 0 for every system."


def holes(facts: Facts) -> Iterator[str]:
    """Unjudged documents count as not relevant, which is a guess."""
    for run in facts.runs:
        for depth in run.depths:
            if run.judged(depth) < ENOUGH_JUDGED:
                some = "all documents that it retrieves" if depth is None else f"its first {depth} documents"
                yield (
                    f"{run.run}: {1 - run.judged(depth):.0%} of {some} are not judged. Most measures that look this "
                    "far down count them as not relevant, so a system that finds relevant documents nobody has judged "
                    "gets no credit for them."
                )
                break


def chosen_for_others(facts: Facts) -> Iterator[str]:
    """Judgments that were chosen to decide one comparison may not suit another."""
    sentences = [chosen_warning(facts.judgments)]
    if not sentences[0]:
        return
    if facts.runs:
        judged = sorted((run.judged(facts.first_page), run.run) for run in facts.runs)
        shares = _few([f"{run} {share:.0%}" for share, run in judged])
        sentences.append(f"Judged of the first {facts.first_page} documents: {shares}")
    if facts.left_out:
        changes = sorted((change, run) for run, change in facts.left_out.items())
        losses = _few([f"{run} {change:+.4f}" for change, run in changes])
        sentences.append(f"How {LEFT_OUT_BY} of a run would change if it had not been in the pool: {losses}")
    yield f"{'. '.join(sentences)}."


def _few(items: Sequence[str], most: int = 5) -> str:
    more = f" and {count(len(items) - most, 'other')}" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def missing_queries(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        if run.missing:
            what = "is not in it and counts 0" if run.missing == 1 else "are not in it and count 0"
            yield f"{run.run}: {run.missing} of {facts.queries} judged queries {what}."


def tied_scores(facts: Facts) -> Iterator[str]:
    for run in facts.runs:
        if run.tied >= MANY_TIED:
            yield (
                f"{run.run}: {run.tied:.0%} of the retrieved judged documents share their score with another; their "
                "order is that of their ids. Policy(ties='best') and Policy(ties='worst') show how much that matters."
            )


DATA_CAUTIONS: tuple[Callable[[Facts], Iterator[str]], ...] = (
    *(few_queries, nothing_to_find, holes, chosen_for_others, missing_queries, tied_scores),
)


# About a measure on the data.


def misleading(facts: Facts, measure: Measure) -> Iterator[str]:
    if measure.definition.name == "Accuracy":
        yield "in a large collection nearly all documents are irrelevant, so retrieving nothing scores nearly 1. Use F."


def same_as_reciprocal_rank(facts: Facts, measure: Measure) -> Iterator[str]:
    if measure.definition.name in OF_ALL_RELEVANT and _one_answer(facts, measure):
        name = measure.definition.name
        same = ", where AP is the same as RR." if name in ("AP", "GMAP") else ", so RR says as much."
        yield f"most queries have a single relevant document{same}"


def needs_complete_judgments(facts: Facts, measure: Measure) -> Iterator[str]:
    scope, name = Scope.of(measure), measure.definition.name
    deep = scope.cutoff is None or scope.cutoff > facts.first_page
    if scope.judged_only or not deep or not facts.incomplete(scope.cutoff):
        return
    if name in OF_GRADES or (name in OF_ALL_RELEVANT and not _one_answer(facts, measure)):
        condensed = measure.replace(judged_only=True).name
        instead = "Bpref" if name in OF_ALL_RELEVANT and _nonrelevant(facts, measure) else condensed
        yield (
            f"{facts.judged_text(scope.cutoff)}. The rest count as not relevant and pull it down; {instead} leaves "
            "them out."
        )


def no_grades(facts: Facts, measure: Measure) -> Iterator[str]:
    if measure.definition.name in OF_GRADES and not facts.graded:
        yield "the judgments are binary: linear and exponential gains differ by a constant factor at most."


def steep_gain(facts: Facts, measure: Measure) -> Iterator[str]:
    if _parameter(measure, "gain") == "exponential" and facts.highest >= STEEP:
        most = 2**facts.highest - 1
        yield f"a document of grade {facts.highest:g} gains {most:,.0f}, so lower grades hardly count."


def sees_only_the_first(facts: Facts, measure: Measure) -> Iterator[str]:
    relevant = float(np.median(facts.n_relevant(measure)))
    if measure.definition.name in OF_THE_FIRST and relevant >= SEVERAL:
        yield f"it only looks at the first relevant document, and the median query has {relevant:g}."


def cannot_be_filled(facts: Facts, measure: Measure) -> Iterator[str]:
    if measure.definition.name != "P":
        return
    cutoff, relevant = _parameter(measure, "cutoff"), facts.n_relevant(measure)
    if float((relevant < cutoff).mean()) > 0.5:
        most = float(np.minimum(relevant / cutoff, 1).mean())
        yield (
            f"most queries have fewer than {cutoff} relevant documents, and a perfect ranking scores {most:.2f}. "
            f"Rprec and RelP@{cutoff} allow for that."
        )


def nothing_to_prefer(facts: Facts, measure: Measure) -> Iterator[str]:
    """Bpref compares relevant documents with judged irrelevant ones."""
    if measure.definition.skips_unjudged and not facts.complete and not _nonrelevant(facts, measure):
        yield "no document is judged not relevant, so every relevant one that is retrieved counts 1: it equals recall."


def nothing_to_infer(facts: Facts, measure: Measure) -> Iterator[str]:
    if measure.definition.name == "infAP" and not facts.pooled and not facts.complete:
        yield "no document has a negative grade, so it is not known which unjudged documents were pooled."


def grades_above_the_top(facts: Facts, measure: Measure) -> Iterator[str]:
    top = _parameter(measure, "max_grade")
    if isinstance(top, int | float) and facts.highest > top:
        yield f"grades go up to {facts.highest:g}, and those above max_grade={top:g} count like it."


def grades_far_below_the_top(facts: Facts, measure: Measure) -> Iterator[str]:
    """In ERR a document of the highest grade should nearly always satisfy."""
    top = _parameter(measure, "max_grade")
    if measure.definition.name in ("ERR", "nERR") and isinstance(top, int | float) and 0 < facts.highest < top:
        share = (2**facts.highest - 1) / 2**top
        yield (
            f"grades go up to {facts.highest:g}, below max_grade={top:g}: even the best document satisfies only "
            f"{share:.0%} of users."
        )


def beyond_the_end(facts: Facts, measure: Measure) -> Iterator[str]:
    cutoff = _parameter(measure, "cutoff")
    if not isinstance(cutoff, int):
        return
    for run in facts.runs:
        if 0 < run.deepest < cutoff:
            yield f"no ranking of {run.run} has more than {count(run.deepest, 'document')}, fewer than the cutoff."


def nothing_relevant_enough(facts: Facts, measure: Measure) -> Iterator[str]:
    rel = _parameter(measure, "rel")
    if isinstance(rel, int | float) and rel > facts.highest and "max_grade" not in dict(measure.parameters):
        yield f"no grade is as high as rel={rel:g}; the highest is {facts.highest:g}."


MEASURE_CAUTIONS: tuple[Callable[[Facts, Measure], Iterator[str]], ...] = (
    *(misleading, same_as_reciprocal_rank, needs_complete_judgments, no_grades, steep_gain, sees_only_the_first),
    *(cannot_be_filled, nothing_to_prefer, nothing_to_infer, grades_above_the_top, grades_far_below_the_top),
    *(beyond_the_end, nothing_relevant_enough),
)


def _parameter(measure: Measure, name: str) -> Any:
    return chosen_parameters(measure).get(name)


def _one_answer(facts: Facts, measure: Measure) -> bool:
    return float((facts.n_relevant(measure) == 1).mean()) > 0.5


def _nonrelevant(facts: Facts, measure: Measure) -> int:
    grades = facts.read_grades
    return int(((grades >= 0) & ~Scope.of(measure).relevant(grades)).sum())
