"""explain(qrels, run, query, measures) → Explanation: one ranking, position by position, and the measures at each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cranfield.drawing import as_html, as_text
from cranfield.errors import InputError, nearest
from cranfield.io.source import open_source
from cranfield.measures import Measure, parse_measures
from cranfield.measures.arithmetic import gains
from cranfield.measures.over_orders import one_order
from cranfield.measures.registry import REQUIRED, find, require_ranks
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.columns import Numbers
from cranfield.ranks.grades import graded
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.whole_rankings import rankings_of
from cranfield.words import count, listed


class Position(NamedTuple):
    """One rank: its document, its gain, and each measure down to here."""

    rank: int
    doc_id: str
    grade: float | None  # None: not judged
    gain: float
    discount: float  # log2(rank + 1)
    values: dict[str, float]


class Explanation(NamedTuple):
    """A ranking, and the ideal one that the judgments allow: documents and grades, the best first.

    >>> explained = explain({"q": {"a": 2, "b": 1}}, {"q": ["x", "a"]}, "q", "P nDCG")
    >>> explained.positions[1].doc_id, explained.positions[1].grade, explained.positions[1].values["P"]
    ('a', 2.0, 0.5)
    >>> explained.ideal, explained.measures
    ((('a', 2.0), ('b', 1.0)), ('P', 'nDCG'))
    """

    query_id: str
    measures: tuple[str, ...]
    positions: tuple[Position, ...]
    ideal: tuple[tuple[str, float], ...]
    gains: dict[str, str]  # of each measure that has one; that of the first is the gain of the positions

    def __repr__(self) -> str:
        ranking = f"query {self.query_id}" if self.query_id else "a ranking"
        return f"<Explanation of {ranking}: {count(len(self.positions), 'rank')} by {listed(self.measures)}>"

    def _repr_html_(self) -> str:
        return as_html("explanation", self)

    def __str__(self) -> str:
        return as_text("explanation_text.explanation_text", self)


USUAL = "P R nDCG"


def explain(
    qrels: Any,
    run: Any,
    query: str | int | None = None,
    measures: str | Measure | Iterable[str | Measure] = USUAL,
    k: int = 10,
    *,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
) -> Explanation:
    """Show how the values of one query are calculated.

    A measure is shown at every cutoff down to k, whatever cutoff it was named with.

    qrels, run: as `evaluate` takes them.
    query: the id of the query.
    measures: those to explain, named as for `evaluate`.
    k: how many ranks to show.
    policy, format, qrels_format: those of `evaluate`.
    Returns an `Explanation`.

    >>> print(explain({"q1": {"a": 2, "b": 1}}, {"q1": ["x", "a"]}, "q1", "P nDCG"))
    query q1
    rank  document  grade  gain  log2(i+1)  gain/log2       P    nDCG
       1  x             -     0     1.0000     0.0000  0.0000  0.0000
       2  a             2     2     1.5850     1.2619  0.5000  0.4796
    ideal order: a (2), b (1)
    """
    wanted = without_cutoff(measures)
    policy = policy or Policy()
    judgments = Judgments.read(qrels, qrels_format)
    if query is None:
        raise InputError(judgments.name, "no query given.", hint=f"it has {_some(judgments)}")
    query_id = str(query)
    if query_id not in judgments.number:
        near = nearest(query_id, judgments.query_ids)
        hint = f"it has {_some(judgments)}" + (f"; did you mean {near}?" if near else "")
        raise InputError(judgments.name, f"there is no query '{query_id}' in it.", hint=hint)
    known = judgments.by_query[query_id]
    documents = rankings_of(open_source(run, "run", format), {query_id: known}, policy).get(query_id, [])
    return _explanation(query_id, documents, known, wanted, k, policy)


def explain_grades(
    grades: Sequence[float | None],
    measures: str | Measure | Iterable[str | Measure] = USUAL,
    k: int = 10,
    *,
    policy: Policy | None = None,
) -> Explanation:
    """Show how values are calculated from a plain list of grades, in which a document is called by its rank.

    grades: of the documents of one ranking, in order; None stands for a document that was not judged.
    measures, k, policy: those of `explain`.
    Returns an `Explanation`.

    >>> print(explain_grades([3, 2, 3, 0, 1], "DCG nDCG"))
    ranking
    rank  document  grade  gain  log2(i+1)  gain/log2     DCG    nDCG
       1  1             3     3     1.0000     3.0000  3.0000  1.0000
       2  2             2     2     1.5850     1.2619  4.2619  0.8710
       3  3             3     3     2.0000     1.5000  5.7619  0.9778
       4  4             0     0     2.3219     0.0000  5.7619  0.9112
       5  5             1     1     2.5850     0.3869  6.1487  0.9724
    ideal order: 1 (3), 3 (3), 2 (2), 5 (1), 4 (0)
    """
    documents = [str(rank) for rank in range(1, len(grades) + 1)]
    known = {document: grade for document, grade in zip(documents, grades, strict=True) if grade is not None}
    return _explanation("", documents, known, without_cutoff(measures), k, policy or Policy())


def without_cutoff(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures of ranks and grades by names that may lack a cutoff: "P" names a family of cutoffs here."""
    words = measures.split() if isinstance(measures, str) else measures
    wanted: list[Measure] = []
    for word in [words] if isinstance(words, Measure) else words:
        named = f"{word}@1" if isinstance(word, str) and "@" not in word and _needs_cutoff(word) else word
        wanted += parse_measures(named)
    for measure in wanted:
        require_ranks(measure)
    return wanted


def _needs_cutoff(word: str) -> bool:
    known = find(word.partition("(")[0])
    return known is not None and known[0].at == "cutoff" and known[0].defaults.get("cutoff") is REQUIRED


def _explanation(
    query_id: str, documents: list[str], known: dict[str, float], measures: list[Measure], k: int, policy: Policy
) -> Explanation:
    if policy.ties == "expected":
        raise one_order("cannot be explained rank by rank: a mean over all orders has no ranking of its own.")
    grades = [known.get(document, 0.0 if policy.complete else None) for document in documents]
    place = {document: at for at, document in enumerate(documents)}
    missed = [grade for document, grade in known.items() if document not in place]
    judged = JudgedRanks.of_grades([known.get(document) for document in documents], missed)
    all_judged = replace(judged.all_judged, grades=graded(judged.judged_grades, policy), _known={})
    judged = replace(judged, grade=graded(judged.grade, policy), all_judged=all_judged, complete=policy.complete)
    depth = min(k, len(documents))
    values = {_family(measure): [_at(measure, judged, rank) for rank in range(1, depth + 1)] for measure in measures}
    kinds = {_family(measure): kind for measure in measures if (kind := chosen_parameters(measure).get("gain"))}
    worth: Numbers = gains(np.array([grade or 0.0 for grade in grades[:depth]]), next(iter(kinds.values()), "linear"))
    positions = []
    for at in range(depth):
        here = {name: column[at] for name, column in values.items()}
        discount = float(np.log2(at + 2))
        positions.append(Position(at + 1, documents[at], grades[at], float(worth[at]), discount, here))
    best = sorted(known.items(), key=lambda pair: (-pair[1], place.get(pair[0], len(place))))
    shown = {name: str(kind) for name, kind in kinds.items()}
    return Explanation(query_id, tuple(values), tuple(positions), tuple(best), shown)


def _family(measure: Measure) -> str:
    return measure.name.partition("@")[0] if "cutoff" in measure.definition.kinds else measure.name


def _at(measure: Measure, judged: JudgedRanks, rank: int) -> float:
    """The measure down to a rank: at that cutoff, or of the ranking cut off there."""
    if "cutoff" in measure.definition.kinds:
        return float(measure.replace(cutoff=rank)(judged)[0])
    return float(measure(judged.cut(rank))[0])


def _some(judgments: Judgments) -> str:
    shown = ", ".join(judgments.query_ids[:5])
    return f"{shown}, …" if len(judgments) > 5 else shown
