"""Checking a run."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from cranfield.evaluation.advice import DEPTHS
from cranfield.evaluation.checking.judged import Spread
from cranfield.evaluation.checking.problems import Problems
from cranfield.io.records import RecordFile, Records, rows_by_query
from cranfield.ranks.columns import Numbers
from cranfield.ranks.grades import lowest_judged
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.rising import LOOKED, rising
from cranfield.ranks.scan.counting import CHOICES, Places, Scanned, join
from cranfield.ranks.scan.counting import count as count_above
from cranfield.words import count, joined

SIMILAR_HINT = "write ids the same way in both files; as they are, they never match"
FEW = 50  # ids
HINT = f"keep one of them; or evaluate with --duplicates {joined(CHOICES, 'or')}"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run holds. Shares are 0 where there is nothing to share."""

    file: str
    queries: int
    missing: int  # judged queries that it lacks
    extra: int  # its queries that are not judged
    rows: int
    documents: Spread  # of a query
    names: tuple[str, ...]  # in its last column
    tied: float  # the share of documents with the score of another in their ranking
    tied_queries: int
    tie_examples: tuple[tuple[str, str, str], ...]  # (query, document, document)
    judged: dict[str, float]  # the share of the first 10, 100, 1000 and all, averaged over judged queries

    def __repr__(self) -> str:
        return f"<RunFacts of {self.file}: {count(self.rows, 'row')} of {count(self.queries, 'query', 'queries')}>"


class RunCheck:
    """A run, and what is wrong with it. `never` loses the documents that the run retrieves."""

    def __init__(
        self,
        file: RecordFile,
        judgments: Judgments,
        never: Mapping[str, set[str]],
        problems: Problems,
        policy: Policy,
        *,
        scattered: bool = False,
    ) -> None:
        self.file, self.problems, self._policy = file, problems, policy
        self._judgments, self._judged, self._never = judgments, judgments.by_query, never
        self._retrieved = np.full(len(judgments), -1, dtype=np.int64)
        self._places: list[Places] = []
        self._sizes: list[int] = []
        self._extra: dict[str, int | None] = {}  # where each query that is not judged starts
        self._names: Counter[str] = Counter()
        self._shares: list[list[float]] = []
        self._tied = self._tied_queries = 0
        self._head: list[tuple[str, float, str | None]] = []  # of the run: query, score and rank
        self._examples: list[tuple[str, str, str]] = []
        self._common = False
        self._answered: set[str] = set()
        for records in rows_by_query(file, problems.add_error, scattered=scattered):
            self._add(records)
        self._conclude()

    def _add(self, records: Records) -> None:
        query, scores = records.query[0], records.value
        self._sizes.append(len(scores))
        falling = bool((scores[1:] < scores[:-1]).all())
        if len(self._head) < LOOKED and not self.file.ranks:
            self._head += zip(repeat(query), scores.tolist(), records.rank or repeat(None))
        self._note_names(records)
        counted = self.file.layout is not None and self.file.layout.counted
        if counted and (error := records.miscount(self.file.name)):
            self.problems.add_error(error)
        if records.rank is not None:
            self._check_ranks(query, records, falling)
        records = self._without_duplicates(query, records)
        if not falling:
            self._find_ties(query, records)
        if query not in self._judged:
            self._extra[query] = records.place(0)
            return
        self._answered.add(query)
        self._match(query, records, falling)

    def _note_names(self, records: Records) -> None:
        if records.name is None:
            return
        first = records.name[0]
        if records.name.count(first) == len(records.name) and (not self._names or first in self._names):
            self._names[first] += len(records.name)
            return
        for at, name in enumerate(records.name):
            if self._names and name not in self._names:
                self.problems.add(
                    "mixed-names",
                    f"the run is called '{name}' here and '{next(iter(self._names))}' before.",
                    line=records.place(at),
                    hint="does the file mix several runs? A run is the result of one system",
                )
            self._names[name] += 1

    def _without_duplicates(self, query: str, records: Records) -> Records:
        if len(set(records.document)) == len(records.document):
            return records
        first: dict[str, int] = {}
        for at, document in enumerate(records.document):
            before = first.setdefault(document, at)
            if before != at:
                line = records.place(before)
                where = f", on {self.file.unit} {line} and here" if line else ""
                one, other = records.text[before], records.text[at]
                what = f"both times {one}" if records.value[before] == records.value[at] else f"{one} and {other}"
                fact = f"document '{document}' appears twice in the ranking of query '{query}'{where} ({what})."
                self.problems.add("duplicate", fact, line=records.place(at), hint=HINT)
        return records.take(list(first.values()))

    def _check_ranks(self, query: str, records: Records, falling: bool) -> None:
        assert records.rank is not None
        try:
            ranks = np.array(list(map(int, records.rank)), dtype=np.float64)
        except (ValueError, OverflowError):
            for at, rank in enumerate(records.rank):
                if not rank.lstrip("+-").isdecimal():
                    self.problems.add(
                        "rank-number",
                        f"rank '{rank}' is not a whole number.",
                        line=records.place(at),
                        hint="the column is ignored, but the columns may be in the wrong order",
                    )
            return
        if falling and bool((ranks[1:] > ranks[:-1]).all()):
            return
        if (pair := _disagreement(ranks, records.value)) is None:
            return
        above, below = pair
        better, worse = records.text[below], records.text[above]
        self.problems.add(
            "rank-order",
            f"query '{query}': rank {records.rank[below]} has the score {better}, and rank {records.rank[above]} above "
            f"it only {worse}.",
            line=records.place(below),
            hint="documents are ordered by score and the rank column is ignored; make sure that the scores are right",
        )

    def _find_ties(self, query: str, records: Records) -> None:
        ordered = np.sort(records.value)
        equal = ordered[1:] == ordered[:-1]
        if not equal.any():
            return
        if len(ordered) > 1 and equal.all():
            self.problems.add(
                "equal-scores",
                f"query '{query}': all {len(ordered)} documents have the score {records.text[0]}.",
                line=records.place(0),
                hint="they are ordered by id, whatever order the system gave them",
            )
        padded = np.concatenate(([False], equal, [False]))
        self._tied += int((padded[1:] | padded[:-1]).sum())
        self._tied_queries += 1
        if len(self._examples) < 3:
            score = ordered[:-1][equal][-1]  # the highest that several have
            at, other, *_ = np.flatnonzero(records.value == score).tolist()
            self._examples.append((query, records.document[at], records.document[other]))

    def _match(self, query: str, records: Records, falling: bool) -> None:
        judged, documents = self._judged[query], records.document
        retrieved = set(documents)
        self._never[query].difference_update(retrieved)
        self._common = self._common or not retrieved.isdisjoint(judged)
        ranking = documents
        if not falling:  # by score, and larger ids first where scores are equal
            pairs = zip(records.value.tolist(), documents, strict=True)
            ranking = [document for _, document in sorted(pairs, reverse=True)]
        self._shares.append(_judged_shares(ranking, judged, self._policy))
        self._count(query, records)
        lacking = judged.keys() - retrieved
        if not lacking:
            return
        for at, other in _similar(documents, lacking):
            document = documents[at]
            if document not in judged:
                self.problems.add(
                    "similar-id",
                    f"document '{document}' is not judged for query '{query}', but '{other}' is; they differ only in "
                    f"{_difference(document, other)}.",
                    line=records.place(at),
                    hint=SIMILAR_HINT,
                )

    def _count(self, query: str, records: Records) -> None:
        """Count above the judged documents, as the scan of a run does."""
        if self._policy.same_id == "drop":
            records = records.take([at for at, document in enumerate(records.document) if document != query])
        number = self._judgments.number[query]
        first, last = self._judgments.first[number : number + 2].tolist()
        scores = dict(zip(records.document, records.value.tolist(), strict=True))
        rows = [row for row in range(first, last) if self._judgments.document_ids[row] in scores]
        hits = [self._judgments.document_ids[row] for row in rows]
        in_order = self._policy.ties == "file"
        self._retrieved[number] = len(records.document)
        self._places.append(
            count_above(records.document, records.value, rows, hits, [scores[hit] for hit in hits], in_order)
        )

    @property
    def rising(self) -> bool:
        return rising(self._head)

    @property
    def scanned(self) -> Scanned:
        return Scanned(self._retrieved, len(self._extra), join(self._places))

    def _conclude(self) -> None:
        if not self._sizes:
            if not self.problems.counts:
                self.problems.add("empty", "it contains no documents.")
            return
        missing = [query for query in self._judged if query not in self._answered]
        extra = list(self._extra)
        for at, other in _similar(extra, missing):
            query = extra[at]
            self.problems.add(
                "similar-id",
                f"query '{query}' is not judged, but '{other}' is; they differ only in {_difference(query, other)}.",
                line=self._extra[query],
                hint=SIMILAR_HINT,
            )
        if not self._judged:
            return
        if not self._answered:
            shown, wanted = next(iter(self._extra)), next(iter(self._judged))
            self.problems.add(
                "no-common-query",
                f"none of its {len(self._extra)} queries is judged: it has '{shown}', the judgments have '{wanted}'.",
                hint="the judgments belong to other queries, or the ids are written differently",
            )
            return
        if not self._common:
            self.problems.add(
                "no-common-document",
                "none of its documents is judged for its query, so every value is 0.",
                hint="the judgments belong to another collection, or the ids are written differently",
            )
        for query in missing:
            self.problems.add(
                "missing-query",
                f"query '{query}' is judged, but not in the run; it counts 0.",
                hint="run the system on it too; 'cranfield evaluate --missing skip' leaves such queries out",
            )

    def facts(self) -> RunFacts:
        rows = sum(self._sizes)
        shares = np.mean(self._shares or [[0.0] * (len(DEPTHS) + 1)], axis=0).tolist()
        return RunFacts(
            file=self.file.name,
            queries=len(self._sizes),
            missing=len(self._judged) - len(self._answered),
            extra=len(self._extra),
            rows=rows,
            documents=Spread.of(self._sizes),
            names=tuple(self._names),
            tied=self._tied / rows if rows else 0.0,
            tied_queries=self._tied_queries,
            tie_examples=tuple(self._examples),
            judged=dict(zip(map(str, (*DEPTHS, "all")), shares, strict=True)),
        )


def _judged_shares(ranking: Sequence[str], judged: Mapping[str, float], policy: Policy) -> list[float]:
    lowest, known = lowest_judged(policy), policy.complete
    places = [at for at, doc in enumerate(ranking) if known or (doc in judged and judged[doc] >= lowest)]
    depths = [*(min(depth, len(ranking)) for depth in DEPTHS), len(ranking)]
    return [bisect_left(places, depth) / depth for depth in depths]


def _disagreement(ranks: Numbers, scores: Numbers) -> tuple[int, int] | None:
    """Two rows, the first with the smaller rank but a lower score than the second."""
    order = np.argsort(ranks, kind="stable")
    ranks, scores = ranks[order], scores[order]
    lowest = np.minimum.accumulate(scores)
    first = np.searchsorted(ranks, ranks)  # where rows of the same rank start: those before have smaller ones
    wrong = np.flatnonzero((first > 0) & (lowest[first - 1] < scores))
    if not len(wrong):
        return None
    below = int(wrong[0])
    above = int(np.argmin(scores[: first[below]]))
    return int(order[above]), int(order[below])


def _bare(ids: Iterable[str]) -> list[str]:
    """Ids without details that people overlook: blanks around them, capitals, leading zeros."""
    return [text.strip().casefold().lstrip("0") for text in ids]


def _similar(ids: Sequence[str], wanted: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Places of ids that look like one of `wanted` to people, and that one."""
    names = list(wanted)
    like = dict(zip(_bare(names), names, strict=True))
    if len(like) < FEW:  # then it is faster to check first whether they occur at all
        text = "\n".join(ids).casefold()
        if not any(name in text for name in like):
            return
    for at, name in enumerate(_bare(ids)):
        if name in like:
            yield at, like[name]


def _difference(one: str, other: str) -> str:
    if one.strip() != one or other.strip() != other:
        return "blanks around it"
    return "leading zeros" if one.lstrip("0") == other.lstrip("0") else "capitals"
