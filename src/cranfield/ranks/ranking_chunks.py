"""A run of chunks against judged passages: the places of both on one line, and the grade of each chunk.

Everything follows from two questions: how much of a passage is in a chunk, and whether it was found higher up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.errors import InputError
from cranfield.io.source import open_source
from cranfield.ranks.chunk_runs import ChunkRun
from cranfield.ranks.chunks import ChunkPlace, Chunks
from cranfield.ranks.columns import Integers, offsets
from cranfield.ranks.grades import graded
from cranfield.ranks.overlap import HINT, SHOWN, no_common_query
from cranfield.ranks.passages import WHOLE, PassageJudgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.tables.judged_grades import JudgedGrades
from cranfield.ranks.tables.passages import PassageRanks, Stretches
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.ranks.ties import ordered
from cranfield.ranks.whole_rankings import scores_of


class RankedChunks(NamedTuple):
    """The chunks of a ranking, best first, and whether each shares its score with another."""

    places: list[ChunkPlace]
    tied: list[bool]


def rank_chunks(passages: PassageJudgments, run: ChunkRun, policy: Policy, format: str | None = None) -> PassageRanks:
    source, chunks = open_source(run.run, "run", format), Chunks.read(run.chunks)
    scores = scores_of(source, policy)
    if not scores:
        raise InputError(source.name, "it contains no rankings.")
    rankings = []
    judged = _by_query(passages, policy)
    for number, query in enumerate(passages.query_ids):
        places = _places(scores.get(query, {}), query, chunks, source.name)
        if policy.same_id == "drop":
            places = {chunk: place for chunk, place in places.items() if place.document != query}
        rankings.append(_ranking(places, scores.get(query, {}), query, judged[number], policy))
    missing = [query not in scores for query in passages.query_ids]
    extra = len(scores.keys() - set(passages.query_ids))
    return _table(passages, rankings, _judged_ranks(passages, judged, rankings, missing, extra, policy), policy)


def nothing_in_common(
    passages: PassageJudgments, chunks: Chunks, table: PassageRanks, run: ChunkRun, name: str
) -> InputError | None:
    """The error for a run without a judged query, or without any chunk in a document with a judged passage."""
    if table.ranks.missing.all():
        queries = list(scores_of(open_source(run.run, "run"), Policy(duplicates="first")))
        return no_common_query(name, queries[:SHOWN], passages.query_ids[:SHOWN])
    documents = {place.document for place in chunks.places.values()}
    if not documents.isdisjoint(passages.document_ids):
        return None
    some, judged = (
        ", ".join(f"'{document}'" for document in sorted(set(ids))[:SHOWN])
        for ids in (documents, passages.document_ids)
    )
    fact = f"no chunk is in a document with a judged passage: chunks: {some}; judgments: {judged}."
    return InputError(name, fact, hint=HINT)


class _JudgedPassage(NamedTuple):
    number: int
    document: str
    start: int
    end: int
    whole: bool
    grade: float

    def characters(self, place: ChunkPlace) -> int:
        """How many of its characters are in a chunk of its document; all of the chunk, if it is the whole document."""
        if self.whole:
            return place.end - place.start
        return max(min(self.end, place.end) - max(self.start, place.start), 0)

    def is_in(self, place: ChunkPlace, cover: float) -> bool:
        """Whether a chunk contains enough of it; any chunk of a document that is judged as a whole does."""
        held = self.characters(place)
        return held > 0 if self.whole else held / (self.end - self.start) >= cover


def _by_query(passages: PassageJudgments, policy: Policy) -> list[list[_JudgedPassage]]:
    """The judged passages of each query; one with a grade below 0 was only pooled, and is left out."""
    by_query: list[list[_JudgedPassage]] = [[] for _ in passages.query_ids]
    columns = (passages.start, passages.end, passages.whole, graded(passages.grades, policy))
    rows = zip(passages.query.tolist(), passages.document_ids, *(column.tolist() for column in columns), strict=True)
    for number, (query, document, start, end, whole, grade) in enumerate(rows):
        if grade >= 0:
            by_query[query].append(_JudgedPassage(number, document, start, end, whole, grade))
    return by_query


def _by_document(passages: Iterable[_JudgedPassage]) -> dict[str, list[_JudgedPassage]]:
    by_document: dict[str, list[_JudgedPassage]] = {}
    for passage in passages:
        by_document.setdefault(passage.document, []).append(passage)
    return by_document


def _places(scores: Mapping[str, float], query: str, chunks: Chunks, source: str) -> dict[str, ChunkPlace]:
    try:
        return {chunk: chunks.places[chunk] for chunk in scores}
    except KeyError as unknown:
        fact = f"chunk {unknown} in the ranking of query '{query}' is not in {chunks.name}."
        raise InputError(source, fact, hint="give the places of all chunks that were retrieved") from None


def _ranking(
    places: Mapping[str, ChunkPlace],
    scores: Mapping[str, float],
    query: str,
    judged: Sequence[_JudgedPassage],
    policy: Policy,
) -> RankedChunks:
    """The chunks of a ranking, best first; ties ordered by grade use the best grade that a chunk could have."""
    grades: dict[str, float] = {}
    if policy.ties in ("best", "worst"):
        known = _by_document(judged)
        for chunk, place in places.items():
            touched = [passage for passage in known.get(place.document, ()) if passage.characters(place)]
            if touched:
                held = (passage.grade for passage in touched if passage.is_in(place, policy.cover))
                grades[chunk] = max(held, default=0.0)
    kept = {chunk: scores[chunk] for chunk in places}
    times = Counter(kept.values())
    best_first = ordered(kept, "", grades, policy)[: policy.depth]
    return RankedChunks([places[chunk] for chunk in best_first], [times[kept[chunk]] > 1 for chunk in best_first])


def _table(
    passages: PassageJudgments, rankings: Sequence[RankedChunks], ranks: JudgedRanks, policy: Policy
) -> PassageRanks:
    query = np.repeat(np.arange(len(rankings), dtype=np.int64), [len(ranking.places) for ranking in rankings])
    places = [place for ranking in rankings for place in ranking.places]
    chunks, stretches = _on_one_line(query, places, passages)
    costs: dict[str, Integers] = {"characters": chunks.end - chunks.start}
    for unit in ("words", "tokens"):
        counts = [getattr(place, unit) for place in places]
        if None not in counts:
            costs[unit] = np.array(counts, dtype=np.int64)
    return PassageRanks(
        ranks=ranks,
        chunks=chunks,
        rank=np.arange(1, len(query) + 1) - np.searchsorted(query, query),
        costs=costs,
        passages=stretches,
        grade=graded(passages.grades, policy),
        whole=passages.whole,
        unknown=passages.end == WHOLE,
        cover=policy.cover,
    )


def _on_one_line(
    query: Integers, places: Sequence[ChunkPlace], passages: PassageJudgments
) -> tuple[Stretches, Stretches]:
    """The places of chunks and passages on a line on which every document of every query has a part of its own."""
    number: dict[tuple[int, str], int] = {}
    documents = [*(place.document for place in places), *passages.document_ids]
    pairs = zip([*query.tolist(), *passages.query.tolist()], documents, strict=True)
    part = np.array([number.setdefault(pair, len(number)) for pair in pairs], dtype=np.int64)
    spans = np.array([(place.start, place.end) for place in places], dtype=np.int64).reshape(-1, 2)
    sizes = np.ones(len(number), dtype=np.int64)  # a document that is judged as a whole, and not retrieved, has one
    np.maximum.at(sizes, part, np.concatenate((spans[:, 1], passages.end)))
    of_chunks, of_passages = np.split(offsets(sizes.tolist())[part], [len(query)])
    endless = passages.whole & (passages.end == WHOLE)
    end = np.where(endless, sizes[part[len(query) :]], passages.end)
    return (
        Stretches(query, of_chunks + spans[:, 0], of_chunks + spans[:, 1]),
        Stretches(passages.query, of_passages + passages.start, of_passages + end),
    )


def _judged_ranks(
    passages: PassageJudgments,
    judged: Sequence[Sequence[_JudgedPassage]],
    rankings: Sequence[RankedChunks],
    missing: Sequence[bool],
    extra: int,
    policy: Policy,
) -> JudgedRanks:
    """The table of the grades of chunks.

    Its judged grades are those of the chunks that touch a judged passage, and of the passages that no chunk found. A
    passage found beside a better one in the same chunk is neither missed nor rewarded, so it is not among them.
    """
    retrieved: list[tuple[int, int, float, bool, int]] = []  # query, rank, grade, tied, row
    all_judged: list[tuple[float, int]] = []
    sizes = []
    further = len(passages.grades)  # the number of a chunk that finds nothing new
    for number, (its_passages, ranking) in enumerate(zip(judged, rankings, strict=True)):
        left = _by_document(its_passages)
        known = left.copy()
        its_grades: list[tuple[float, int]] = []
        for at, place in enumerate(ranking.places, 1):
            if not any(passage.characters(place) for passage in known.get(place.document, ())):
                continue  # no part of it is judged
            here = left[place.document]
            new = [passage for passage in here if passage.is_in(place, policy.cover)]
            left[place.document] = [passage for passage in here if passage not in new]
            best = max(new, key=lambda passage: (passage.grade, -passage.number), default=None)
            worth = (0.0, further) if best is None else (best.grade, best.number)
            further += best is None
            its_grades.append(worth)
            retrieved.append((number, at, worth[0], ranking.tied[at - 1], worth[1]))
        its_grades += [(passage.grade, passage.number) for here in left.values() for passage in here]
        all_judged += sorted(its_grades, key=lambda judged: (-judged[0], judged[1]))
        sizes.append(len(its_grades))
    query, rank, grade, tied, row = zip(*retrieved) if retrieved else ((),) * 5
    grades, rows = zip(*all_judged) if all_judged else ((),) * 2
    return JudgedRanks(
        query_ids=passages.query_ids,
        query=np.array(query, dtype=np.int64),
        rank=np.array(rank, dtype=np.int64),
        grade=np.array(grade, dtype=np.float64),
        tied=np.array(tied, dtype=np.bool_),
        row=np.array(row, dtype=np.int64),
        retrieved=np.array([len(ranking.places) for ranking in rankings], dtype=np.int64),
        missing=np.array(missing, dtype=np.bool_),
        all_judged=JudgedGrades(np.array(grades, dtype=np.float64), offsets(sizes), np.array(rows, dtype=np.int64)),
        extra=extra,
        complete=policy.complete,
    )
