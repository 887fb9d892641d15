"""Team-draft interleaving: one list of two rankings, whose clicks say which ranking people prefer.

    shown = TeamDraft(old, new, 10, experiment="spring", unit="person 17", query="red shoes")
    shown.documents         what to show
    shown.click("d3")       the row to log when it is clicked
    preferred("clicks.jsonl")   the verdict

The teams of Radlinski, Kurup and Joachims (2008) pick in turns, who picks first in each round by chance. The verdict is
by the unit that was randomised, such as a person: searches of one person are alike, so they are no independent votes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.power import detectable_difference, queries_needed
from cranfield.errors import ComparisonError, InputError, given
from cranfield.io.mappings import id_text
from cranfield.io.streams import stream_name
from cranfield.ranks.columns import Numbers
from cranfield.traffic.logs import open_log
from cranfield.words import count, listed

TEAMS = ("a", "b")
FIELDS = ("unit", "query", "document", "team")
EXACT = 16  # units whose signs are flipped in all ways; of more, some ways are drawn
BLOCK = 1 << 20  # numbers drawn at a time


class Credit(NamedTuple):
    """How many of the clicked documents each team had picked.

    >>> Credit(1, 2).winner, Credit(1, 1).winner
    ('b', '')
    """

    a: int
    b: int

    @property
    def winner(self) -> str:
        """The team with more clicks; empty for a tie.

        >>> Credit(2, 0).winner
        'a'
        """
        return "" if self.a == self.b else TEAMS[self.b > self.a]


class TeamDraft:
    """One list of two rankings, in which each document was picked by one of them.

    a, b: the rankings, as ids of documents, best first.
    length: how many documents to show.
    experiment, unit, query: what the draw depends on: the same three always give the same list. A unit is whom you
        randomise, such as a person or a session.

    >>> shown = TeamDraft(["d1", "d2"], ["d2", "d3"], 3, experiment="spring", unit="person 1", query="red shoes")
    >>> shown.documents, shown.teams
    (('d2', 'd1', 'd3'), {'d2': 'b', 'd1': 'a', 'd3': 'b'})
    >>> shown.credit(["d1", "d3"]).winner
    ''
    """

    __slots__ = ("experiment", "query", "teams", "unit")

    def __init__(
        self,
        a: Sequence[str],
        b: Sequence[str],
        length: int = 10,
        *,
        experiment: str = "",
        unit: str = "",
        query: str = "",
    ) -> None:
        if length < 1:
            raise InputError("the list", "is too short to show anything.", parameter="length", value=length)
        rest = {name: _ranking(name, ranking)[::-1] for name, ranking in zip(TEAMS, (a, b), strict=True)}
        self.experiment, self.unit, self.query = experiment, unit, query
        self.teams: dict[str, str] = {}
        coins, sizes = _coins(experiment, unit, query), Counter[str]()
        while len(self.teams) < length:
            for ranking in rest.values():
                while ranking and ranking[-1] in self.teams:
                    ranking.pop()
            able = [name for name in TEAMS if rest[name]]
            if not able:
                break
            if len(able) == 2 and sizes["a"] != sizes["b"]:
                able = [min(TEAMS, key=sizes.__getitem__)]
            team = able[0] if len(able) == 1 else TEAMS[next(coins)]
            self.teams[rest[team].pop()] = team
            sizes[team] += 1

    @property
    def documents(self) -> tuple[str, ...]:
        """What to show, in this order.

        >>> TeamDraft(["d1", "d2"], ["d1", "d2"], 2).documents
        ('d1', 'd2')
        """
        return tuple(self.teams)

    def credit(self, clicked: Iterable[str]) -> Credit:
        """Whose documents were clicked; a document counts once, however often it was.

        clicked: ids of documents; those that are not in the list, such as advertisements, belong to no team
        Returns a `Credit`.

        >>> TeamDraft(["d1", "d2"], ["d1", "d2"], 2).credit(["d1", "d1", "other"])
        Credit(a=0, b=1)
        """
        if isinstance(clicked, str):
            raise InputError("the clicks", f"{clicked!r:.60} is not a list of ids.", hint="give a list of ids")
        ids = {id_text(document, "the clicks", "a document") for document in clicked}
        teams = Counter(self.teams.get(document, "") for document in ids)
        return Credit(teams["a"], teams["b"])

    def click(self, document: str) -> dict[str, str]:
        """A click as a row to log, for `preferred`.

        document: the id of the document that was clicked
        Returns a dict of texts.

        >>> TeamDraft(["d1"], ["d2"], 2, experiment="spring", unit="person 1", query="red shoes").click("d2")
        {'experiment': 'spring', 'unit': 'person 1', 'query': 'red shoes', 'document': 'd2', 'team': 'b'}
        """
        document = id_text(document, "the click", "a document")
        if document not in self.teams:
            hint = f"it has {count(len(self.teams), 'other')}"
            raise InputError("the click", f"document {document!r} is not in the list.", hint=hint)
        logged = {"experiment": self.experiment, "unit": self.unit, "query": self.query}
        return {**logged, "document": document, "team": self.teams[document]}

    def __repr__(self) -> str:
        return f"<TeamDraft of {count(len(self.teams), 'document')}>"


def _ranking(name: str, ranking: Sequence[str]) -> list[str]:
    """The ids of a ranking; an error if it is none."""
    place = f"ranking {name}"
    if isinstance(ranking, str) or not isinstance(ranking, Sequence):
        raise InputError(place, f"{ranking!r:.60} is not a list of ids.", hint="give a list of ids, best first")
    ids = [id_text(document, place, f"rank {rank}") for rank, document in enumerate(ranking, 1)]
    if len(set(ids)) < len(ids):
        raise InputError(place, f"document {Counter(ids).most_common(1)[0][0]!r} appears twice.")
    return ids


def _coins(experiment: str, unit: str, query: str) -> Iterator[int]:
    """0 or 1, by chance but always the same for the same three."""
    key = json.dumps([experiment, unit, query]).encode()
    part = 0
    while True:
        for byte in hashlib.blake2b(key, salt=part.to_bytes(8, "big")).digest():
            yield from (byte >> bit & 1 for bit in range(8))
        part += 1


@dataclass(frozen=True, slots=True)
class Preference:
    """Which of two interleaved rankings people prefer, by their clicks.

    units: those that clicked
    impressions: lists that were clicked; one is a query of a unit, with all its clicks
    wins_a, wins_b, ties: by impressions
    value, low, high: (wins of b + ½ ties) / impressions - ½, from -½ (always a) to ½ (always b), and its interval at
        the level 1 - alpha
    p: that of the test
    detectable: the smallest preference that so many units detect with 80% power; None where it is unknown

    >>> clicks = [(f"person {at}", "lamp", "d1", "b" if at % 5 else "a") for at in range(60)]
    >>> found = preferred(clicks)
    >>> found.verdict, found.wins_a, found.wins_b, found.value
    ('b', 12, 48, 0.3)
    """

    units: int
    impressions: int
    wins_a: int
    wins_b: int
    ties: int
    value: float
    low: float
    high: float
    p: float
    alpha: float
    detectable: float | None

    @property
    def verdict(self) -> str:
        """The team that is preferred; empty where it is too close to call.

        >>> preferred([("person 1", "lamp", "d1", "b"), ("person 2", "lamp", "d1", "a")]).verdict
        ''
        """
        return "" if self.p > self.alpha else TEAMS[self.value > 0]

    @property
    def sentence(self) -> str:
        """The verdict with its evidence.

        >>> print(preferred([(f"person {at}", "lamp", "d1", "b") for at in range(12)]).sentence)
        People prefer b: it won 12 impressions and lost 0 (0 ties), by 12 units; +0.500 (0.279 to 0.500), p = 0.0005.
        """
        said = f"People prefer {self.verdict}" if self.verdict else "Too close to call"
        wins = f"b won {count(self.wins_b, 'impression')} and lost {self.wins_a:,} ({count(self.ties, 'tie')})"
        wins = f"it{wins[1:]}" if self.verdict == "b" else wins
        small = "p < 0.0001" if self.p < 0.0001 else f"p = {self.p:.4f}"
        span = f"({self.low:.3f} to {self.high:.3f})" if isfinite(self.low) else "(no interval: too few units)"
        return f"{said}: {wins}, by {count(self.units, 'unit')}; {self.value:+.3f} {span}, {small}."

    def units_needed(self, preference: float) -> int:
        """How many units that click it takes to detect a preference in 80% of cases, if they vary as these do.

        preference: the smallest that matters, such as 0.02
        Returns a number of units.

        >>> preferred([(f"person {at}", "lamp", "d1", "b" if at % 3 else "a") for at in range(60)]).units_needed(0.05)
        712
        """
        if self.detectable is None:
            raise ComparisonError("these clicks do not show how units vary.", hint="log clicks of more units first")
        if not 0 < preference <= 0.5:
            raise ComparisonError(
                "is not a preference.", parameter="preference", value=preference, hint="it is up to 0.5"
            )
        return queries_needed(preference, self._spread, self.alpha)

    @property
    def _spread(self) -> float:
        return (self.detectable or 0.0) / detectable_difference(1.0, self.units, self.alpha)

    def to_dict(self) -> dict[str, Any]:
        """The preference as plain data, ready for JSON.

        >>> preferred([(f"person {at}", "lamp", "d1", "b") for at in range(12)]).to_dict()["verdict"]
        'b'
        """
        numbers = {
            name: None if isinstance(its, float) and not isfinite(its) else its for name, its in asdict(self).items()
        }
        return {**numbers, "verdict": self.verdict, "sentence": self.sentence}


def preferred(
    clicks: Any, *, experiment: str | None = None, alpha: float = 0.05, permutations: int = 10_000, seed: int = 0
) -> Preference:
    """Which of two interleaved rankings people prefer, by a log of clicks.

    The test flips the signs of units: if neither ranking is better, its net wins could as well be the other's. Sums of
    all ways to choose units, or of some drawn ones, give p and the interval, which belong together.

    clicks: rows such as `TeamDraft.click` gives, or (unit, query, document, team); or a log of them, as CSV, TSV or
        JSON lines.
    experiment: only clicks of this experiment; a log of several needs it.
    alpha: the level of significance; the interval is at 1 - alpha.
    permutations, seed: how many ways to flip signs are drawn for more than 16 units, and the seed of these draws.
    Returns a `Preference`.

    >>> from cranfield import TeamDraft
    >>> shown = [TeamDraft(["d1", "d2"], ["d2", "d1"], unit=f"person {at}", query="lamp") for at in range(200)]
    >>> preferred([one.click("d2") for one in shown]).verdict  # all of them look for what b puts first
    'b'
    """
    if not 0 < alpha < 1:
        raise ComparisonError("is not a level.", parameter="alpha", value=alpha, hint="it lies between 0 and 1")
    if permutations < 1:
        raise ComparisonError("are too few.", parameter="permutations", value=permutations, hint="give 1 or more")
    credits = _credits(clicks, experiment)
    by_unit: dict[str, list[int]] = {}
    wins = Counter(credit.winner for credit in credits.values())
    for (unit, _), credit in credits.items():
        net = by_unit.setdefault(unit, [0, 0])
        net[0] += (credit.b > credit.a) - (credit.a > credit.b)
        net[1] += 1
    table = np.array(list(by_unit.values()), dtype=np.float64)
    value = float(table[:, 0].sum() / table[:, 1].sum() / 2)
    p, low, high = _flipped(table, alpha, permutations, seed)
    units, impressions = len(table), len(credits)
    detectable = None
    rest = table[:, 0] / 2 - value * table[:, 1]
    error = sqrt(float((rest**2).sum()) * units / max(units - 1, 1)) / impressions
    if units > 2 and error:
        detectable = detectable_difference(error * sqrt(units), units, alpha)
    counted = wins["a"], wins["b"], wins[""]
    return Preference(units, impressions, *counted, value, low, high, p, alpha, detectable)


def _flipped(table: Numbers, alpha: float, permutations: int, seed: int) -> tuple[float, float, float]:
    """p and the interval, by the sums of subsets of units: the preference of each subset is one that signs allow.

    A flip of the units in S makes Σ ± (d - 2 Δ n) at least as large as it is where Σ_S d ≤ 2 Δ Σ_S n. So Δ is rejected
    where too few subsets have Σ_S d / (2 Σ_S n) ≤ Δ or ≥ Δ, and p is that of Δ = 0.
    """
    sums = _subset_sums(table, permutations, seed)
    ratios = np.sort(sums[sums[:, 1] > 0, 0] / (2 * sums[sums[:, 1] > 0, 1]))
    ways = len(ratios) + 1  # with the empty subset, which is as the clicks are: it speaks for every preference
    greater, less = (1 + int(side.sum()) for side in (ratios <= 0, ratios >= 0))
    p, outside = min(1.0, 2 * min(greater, less) / ways), int(alpha / 2 * ways + 1e-9)
    if outside < 1:
        return p, float("-inf"), float("inf")
    low, high = float(ratios[outside - 1]), float(ratios[len(ratios) - outside])
    if low == high:  # all units are alike; of others, a share of about 3 / n might not be: the rule of three
        others = 1 - alpha ** (1 / len(table))
        low, high = low - others * (low + 0.5), high + others * (0.5 - high)
    return p, low, high


def _subset_sums(table: Numbers, permutations: int, seed: int) -> Numbers:
    """Σ net wins and Σ impressions over subsets of units: all subsets of few units, drawn ones of more.

    Units with the same net wins and impressions are the same here, so how many of them a subset has is binomial.
    """
    units = len(table)
    if units <= EXACT:
        subsets = np.arange(1 << units, dtype=np.uint32)[:, None] >> np.arange(units, dtype=np.uint32) & 1
        return np.asarray(subsets.astype(np.float64) @ table)
    kinds, many = np.unique(table, axis=0, return_counts=True)
    generator = np.random.default_rng(seed % 2**64)
    step = max(1, BLOCK // len(kinds))
    parts = []
    for done in range(0, permutations, step):
        chosen = generator.binomial(many, 0.5, (min(step, permutations - done), len(kinds)))
        parts.append(chosen @ kinds)
    return np.concatenate(parts)


def _credits(clicks: Any, experiment: str | None) -> dict[tuple[str, str], Credit]:
    """The credit of each query of each unit."""
    place = stream_name(clicks) if _is_log(clicks) else "the clicks"
    seen: dict[tuple[str, str], dict[str, str]] = {}
    experiments: dict[str, None] = {}
    for row, (own, unit, query, document, team) in enumerate(_rows(clicks, place), 1):
        experiments[own] = None
        if experiment is not None and own != experiment:
            continue
        for what, its, hint in (
            ("unit", unit, "log whom you randomised"),
            ("document", document, "log what was clicked"),
        ):
            if not its:
                raise InputError(place, f"row {row:,} has no {what}.", hint=hint)
        if team not in TEAMS:
            raise InputError(place, f"row {row:,}: {team!r:.60} is not a team.", hint="a team is 'a' or 'b'")
        if seen.setdefault((unit, query), {}).setdefault(document, team) != team:
            fact = f"row {row:,}: document {document!r} is in both teams for {query!r} and the unit {unit!r}."
            raise InputError(place, fact, hint="give TeamDraft the same experiment, unit and query each time")
    if experiment is None and len(experiments) > 1:
        some = sorted(experiments)
        fact = f"they are of {len(some)} experiments: {listed([*map(repr, some)])}."
        raise InputError(place, fact, hint=f"give one: {given('experiment', some[0])}")
    if not seen:
        its = "" if experiment is None else f" of the experiment {experiment!r}"
        hint = f"there are some of {listed([*map(repr, experiments)])}" if experiments else ""
        raise InputError(place, f"there are no clicks{its}.", hint=hint)
    return {key: Credit(*(sum(its == team for its in teams.values()) for team in TEAMS)) for key, teams in seen.items()}


def _is_log(clicks: Any) -> bool:
    return isinstance(clicks, str | os.PathLike) or hasattr(clicks, "read")


def _rows(clicks: Any, place: str) -> Iterator[tuple[str, ...]]:
    """Clicks as (experiment, unit, query, document, team)."""
    if _is_log(clicks):
        log = open_log(clicks)
        own = ["experiment"] if "experiment" in log.names else []
        for batch in log.batches([*own, *FIELDS]):
            columns = batch.columns if own else [[""] * len(batch.columns[0]), *batch.columns]
            yield from zip(*columns, strict=True)
        return
    if not isinstance(clicks, Iterable):
        raise InputError(place, f"{clicks!r:.60} is neither a log nor rows.", hint="give a path, or rows of TeamDraft")
    for number, row in enumerate(clicks, 1):
        if isinstance(row, list | tuple) and len(row) == len(FIELDS):
            fields: Mapping[str, Any] = dict(zip(FIELDS, row, strict=True))
        elif isinstance(row, Mapping):
            fields = row
        else:
            hint = f"a click is ({', '.join(FIELDS)})"
            raise InputError(place, f"row {number:,}: {row!r:.60} is not a click.", hint=hint)
        yield tuple("" if (its := fields.get(name)) is None else str(its) for name in ("experiment", *FIELDS))
