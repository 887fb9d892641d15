"""The two views of a store that correct a model: its grades of all queries, and people's of a random sample of them.

Both hold the same documents, those of the pool. Anything that would make the correction wrong is refused below.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cranfield.errors import InputError, either, given
from cranfield.evaluation.corrected import FEWEST, CorrectedJudgments, CorrectionBasis
from cranfield.judging.store.checked_input import refuse_unknown
from cranfield.judging.store.merging import BY_PEOPLE, CLICKS, KINDS, MODEL, find_rule
from cranfield.judging.store.store import Store, open_store
from cranfield.ranks.judgments import Judgments
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.judging.pool.query_sample import ModelGrades, PeopleGrades, QuerySample

PEOPLE = "people"  # all assessors of these kinds
MOST_MISSING = 0.05  # of a model's grades: more are no accident


def corrected_judgments(
    store: Store | str | os.PathLike[str], *, model: str, people: str | Iterable[str] = PEOPLE, merge: str = "majority"
) -> CorrectedJudgments:
    """A model's grades of all queries, which people's grades of a random sample of them correct.

    store: a `Store`, or where it is. Its queries were drawn by `pool(…, sample=20)`.
    model: the name of the assessor whose grades all queries have, of the kind "model", or of the kind "clicks", which
        may lack some.
    people: who judged the sampled queries: "people" for all, or their names.
    merge: the rule where several people judged a document; see `Store.view`.
    Returns `CorrectedJudgments`, for `evaluate`, `compare` and `gate`. Means by them are corrected, with intervals for
    the mean over all queries that could be asked, which rest on the random sample, not on the model being right; with
    fewer than 30 sampled queries they can be too short if it is far off on rare queries only. Every difference of two
    runs is corrected by itself, with a weight of its own. Anything that would make them wrong is an error: a sample
    that was not drawn at random or is not judged completely, fewer than ten sampled queries, a model that was asked in
    several ways or lacks more than 5% of its grades. Documents outside the pool count as unjudged on both sides, and so
    do the model's missing grades on its side; both leave the correction valid, because sampled queries are treated as
    all others are.

    >>> import tempfile
    >>> from cranfield import compare, open_store, pool
    >>> old, new = ({f"q{n}": ranking for n in range(40)} for ranking in (["a", "b"], ["b", "a"]))
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     drawn = pool(store, dict.fromkeys(old, "a question"), {"old": old}, sample=10, seed=7).drawn
    ...     said = store.import_qrels({q: {"a": int(q in drawn[:3]), "b": 1} for q in drawn}, "ann", kind="person")
    ...     said = store.import_qrels({q: {"a": int(q < "q2"), "b": 1} for q in old}, "gpt", kind="model")
    ...     judgments = corrected_judgments(store, model="gpt")
    >>> [difference] = compare(judgments, {"old": old, "new": new}, "P@1")
    >>> print(difference)
    Better: new vs old, P@1 +0.770 (corrected mean) (95% interval +0.520 to +1.000), p < 0.001
    >>> difference.corrected.people, difference.corrected.worth
    (0.7, 17)
    """
    if not isinstance(store, Store):
        with open_store(store, read_only=True) as opened:
            return corrected_judgments(opened, model=model, people=people, merge=merge)
    from cranfield.judging.pool.query_sample import pool_sizes, pooled_of_drawn, read_model, read_people, read_sample
    from cranfield.judging.store.views import known_assessors

    names = None if people == PEOPLE else list(dict.fromkeys([people] if isinstance(people, str) else people))
    rule = find_rule(merge, store.name).merge
    with store._reading() as connection:
        sample = read_sample(connection)
        if sample is None:
            raise InputError(
                store.name,
                "it has no random sample of queries, which is needed to correct a model.",
                hint=f"cranfield pool {store.name} QUERIES RUN… --sample 20, then judge what was drawn",
            )
        known = known_assessors(connection)
        _check_names(store.name, known, model, names)
        sizes, pooled = pool_sizes(connection, sample), pooled_of_drawn(connection, sample)
        by_model = read_model(connection, sample, model)
        by_people = read_people(connection, sample, pooled, names, rule)
    _check_sample(store.name, sample)
    _check_people(store.name, by_people, pooled, model)
    _check_model(store.name, by_model, sizes, model, known[model])
    [judge] = by_model.judges
    every = sum(sizes.values())
    basis = CorrectionBasis(
        store=store.name,
        model=model,
        judge=judge,
        people=tuple(names) if names else BY_PEOPLE,
        merge=merge,
        sampled=len(sample.drawn),
        queries=len(sample.queries),
        seed=sample.seed,
        drawn_at=sample.at,
        pooled=every,
        missing=every - sum(map(len, by_model.grades.values())),
        not_judged=sum(sizes[query] - len(by_people.grades[query]) for query in sample.drawn),
        unused=len(by_people.unused),
    )
    return CorrectedJudgments(
        Judgments(by_model.grades, name=store.name, provenance=basis.signature),
        Judgments(by_people.grades, name=store.name, provenance=f"judges:{len(by_people.names)}|merge:{merge}"),
        basis,
    )


def _check_names(source: str, known: Mapping[str, str], model: str, people: Sequence[str] | None) -> None:
    """Refuse people who are called models, and models that are called people."""
    refuse_unknown(source, [model, *(people or ())] if people is None or people else [], known)
    if KINDS[known[model]].people:
        raise InputError(
            source,
            f"{model}'s grades are of the kind '{known[model]}', not of a model.",
            hint=f"name a model; import its grades with: cranfield convert FILE {source} --assessor NAME "
            f"--kind {MODEL}",
        )
    for name in people or ():
        if not KINDS[known[name]].people:
            raise InputError(
                source,
                f"{name}'s grades are of the kind '{known[name]}', but only people can correct a model.",
                hint="name people, or leave their names out: "
                + either("people='people'", given("correct_with", "people")),
            )


def _check_sample(source: str, sample: QuerySample) -> None:
    if len(sample.drawn) < FEWEST:
        raise InputError(
            source,
            f"its sample has {count(len(sample.drawn), 'query', 'queries')}, but it takes at least {FEWEST} to "
            "correct a model.",
            hint=f"enlarge it: cranfield pool {source} QUERIES RUN… --sample {2 * FEWEST} --seed {sample.seed}",
        )


def _check_people(source: str, read: PeopleGrades, pooled: Mapping[str, set[str]], model: str) -> None:
    if model in read.names:
        raise InputError(
            source,
            f"some of {model}'s grades are recorded as those of a person.",
            hint="import a model's grades with "
            + either(f"kind='{MODEL}'", f"--kind {MODEL}")
            + ", under a name that no person has",
        )
    left = [
        sum((query, document) not in read.not_judged for document in documents - read.grades[query].keys())
        for query, documents in pooled.items()
    ]
    open_queries = sum(number > 0 for number in left)
    if open_queries:
        documents = sum(left)
        raise InputError(
            source,
            f"{count(documents, 'document')} of {open_queries} of the {len(pooled)} sampled queries "
            f"{'is' if documents == 1 else 'are'} still to be judged by people.",
            hint=f"cranfield judge {source}",
        )


def _check_model(source: str, read: ModelGrades, sizes: Mapping[str, int], model: str, kind: str) -> None:
    again = f"cranfield judge {source} --assessor {model}"
    if len(read.judges) > 1:
        ways = ", ".join(f"{judge[:8] or 'imported'}: {number:,}" for judge, number in read.judges.most_common())
        raise InputError(
            source,
            f"{model} was asked in {len(read.judges)} ways, so its grades are not those of one judge ({ways})."
            if kind == MODEL
            else f"{model} graded by {len(read.judges)} rules, so its grades are not those of one judge ({ways}).",
            hint="let it judge all documents in the same way, or under another name",
        )
    if not read.judges:
        raise InputError(source, f"{model} has judged no document of these queries.", hint=f"cranfield judge {source}")
    if (
        kind == CLICKS
    ):  # nobody chooses what is searched for and shown; whatever is missing, is missing in the sample too
        return
    unjudged = [query for query, size in sizes.items() if size and not read.grades[query]]
    if unjudged:
        raise InputError(
            source,
            f"{model} has not judged {len(unjudged)} of the {len(sizes)} queries that the sample was drawn from.",
            hint=again,
        )
    total = sum(sizes.values())
    missing = total - sum(map(len, read.grades.values()))
    if missing > MOST_MISSING * total:
        raise InputError(
            source,
            f"{model} has no grade for {missing:,} of {total:,} documents; up to {MOST_MISSING:.0%} could be left out.",
            hint=again,
        )
