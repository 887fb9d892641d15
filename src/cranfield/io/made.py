"""How a run was made, where cranfield made it: how it asked the system, which runs it fused, what was tuned.

It is kept with the run: see facts.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from cranfield.io.facts import END, FACTS, START
from cranfield.words import count, joined


@dataclass(frozen=True, slots=True)
class Fusion:
    """Which runs were fused, and how.

    runs: their names
    settings: the method, its parameters and the depth: the arguments of `fuse`
    chosen: the settings that are not the usual ones, in words

    >>> fusion = Fusion(("lexical", "dense"), {"method": "rrf", "k": 60.0, "depth": 1000})
    >>> fusion.sentence, fusion.signature
    ('rrf of lexical and dense (k = 60, depth = 1000)', 'fused:rrf(lexical+dense,k=60,depth=1000)')
    """

    runs: tuple[str, ...]
    settings: Mapping[str, Any]
    chosen: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Fusion: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """The fusion in words."""
        others = ", ".join(f"{name} = {_short(value)}" for name, value in self._others)
        return f"{self._method} of {joined(self.runs, 'and')}" + (f" ({others})" if others else "")

    @property
    def signature(self) -> str:
        others = (f",{name}={_short(value, '+')}" for name, value in self._others)
        return f"fused:{self._method}({'+'.join(self.runs)}{''.join(others)})"

    @property
    def _method(self) -> str:
        return str(self.settings.get("method", "fusion"))

    @property
    def _others(self) -> list[tuple[str, Any]]:
        return [pair for pair in self.settings.items() if pair[0] != "method"]


@dataclass(frozen=True, slots=True)
class Tuned:
    """How the settings of a run were chosen: as the best of so many, by a measure, on these queries.

    part: which runs were tuned, of a run that is made of them

    >>> Tuned("k = 60", 9, "nDCG@10", frozenset({"q1", "q2"}))
    <Tuned: k = 60, the best of 9 settings by nDCG@10 on 2 queries>
    """

    setting: str
    tried: int
    measure: str
    queries: frozenset[str]
    part: str = ""

    def __repr__(self) -> str:
        by = f"by {self.measure} on {count(len(self.queries), 'query', 'queries')}"
        return f"<Tuned: {self.setting}, the best of {count(self.tried, 'setting')} {by}>"

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain values, ready for JSON."""
        return {**asdict(self), "queries": sorted(self.queries)}


def inherited(parts: Mapping[str, Made | None], own: Tuned | None = None) -> Tuned | None:
    """How the settings of a run were chosen that is made of others: its own, and those of the others.

    >>> tuned = Made(tuned=Tuned("k = 5", 9, "RR", frozenset({"q1"})))
    >>> inherited({"lexical": None, "mixed": tuned}).part
    'mixed'
    """
    tuned = {name: made.tuned for name, made in parts.items() if made is not None and made.tuned is not None}
    every = [*filter(None, [own]), *tuned.values()]
    if not tuned:
        return own
    tried, queries = sum(its.tried for its in every), frozenset[str]().union(*(its.queries for its in every))
    return replace(every[0], tried=tried, queries=queries, part="" if own else joined(list(tuned), "and"))


def _short(value: Any, between: str = " and ") -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return between.join(map(_short, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Made:
    """How a run was recorded.

    k: how many results the system was asked for; None if it was asked as it is
    chosen: whether somebody chose this k; otherwise the system had to be told one
    deepened: whether it was asked again for more chunks until there were k documents
    collapse: the rule by which ids of chunks became those of documents
    failed: how many queries failed, so that the run lacks them
    size: means of what came back for a query: documents, chunks, characters, words, tokens
    fusion: of a run that was made of others, which and how
    reranks: of a run that has the documents of another in a new order, which one and how deep
    tuned: of a run whose settings were chosen by its values, how

    >>> Made(k=10, chosen=True, deepened=True).choices, Made().how
    ('k=10, deepened', 'with its own settings')
    """

    k: int | None = None
    chosen: bool = False
    deepened: bool = False
    collapse: str = ""
    failed: int = 0
    size: Mapping[str, float] = field(default_factory=dict)
    fusion: Fusion | None = None
    reranks: str = ""
    tuned: Tuned | None = None

    @property
    def choices(self) -> str:
        """What was chosen, in short; empty if the system was asked as it is."""
        return ", ".join(self._choices())

    def _choices(self) -> Iterator[str]:
        if self.k is not None and self.chosen:
            yield f"k={self.k}"
        if self.deepened:
            yield "deepened"
        if self.collapse:
            yield f"collapse={self.collapse}"
        if self.reranks:
            yield self.reranks

    @property
    def how(self) -> str:
        """How the system was asked, or the run fused, in words."""
        if self.fusion is not None:
            return self.fusion.sentence
        if self.reranks:
            return self.reranks
        asked = "with its own settings"
        if self.k is not None:
            asked = f"for {count(self.k, 'document' if self.deepened else 'result')}"
            asked += ", and again for more chunks where it had fewer" if self.deepened else ""
        if self.tuned is not None:
            asked += f", with {self.tuned.setting}"
        return asked + (f", chunks counted as documents by '{self.collapse}'" if self.collapse else "")

    @property
    def signature(self) -> Iterator[str]:
        if self.k is not None:
            yield f"k:{self.k}"
        if self.deepened:
            yield "deepened"
        if self.collapse:
            yield f"collapse:{self.collapse}"
        if self.reranks:
            yield self.reranks.replace(" ", "-")
        if self.fusion is not None:
            yield self.fusion.signature
        if self.tuned is not None:
            yield f"tuned:best-of-{self.tuned.tried}"

    def to_dict(self) -> dict[str, Any]:
        own = {known.name: getattr(self, known.name) for known in fields(self) if known.name not in ("fusion", "tuned")}
        fusion = {"fusion": asdict(self.fusion)} if self.fusion else {}
        return {**own, **fusion, **({"tuned": self.tuned.to_dict()} if self.tuned else {})}


def made_from(known: Any) -> Made | None:
    """What `Made.to_dict` returned; None where that is not known, or is something else."""
    try:
        fusion, tuned = known.get("fusion"), known.get("tuned")
        parts = {"fusion": _fusion(**fusion) if fusion else None, "tuned": _tuned(**tuned) if tuned else None}
        return Made(**{**known, **parts})
    except (TypeError, AttributeError):
        return None


def _fusion(runs: Sequence[str], settings: Mapping[str, Any], chosen: Sequence[str] = ()) -> Fusion:
    return Fusion(tuple(map(str, runs)), dict(settings), tuple(map(str, chosen)))


def _tuned(setting: str, tried: int, measure: str, queries: Sequence[str], part: str = "") -> Tuned:
    return Tuned(str(setting), int(tried), str(measure), frozenset(map(str, queries)), str(part))


def head_of(made: Made, tag: str) -> bytes:
    """The comments at the head of a TREC file that say how its run was made.

    They are YAML with the fields of ir_metadata (Breuer, Keller & Schaer 2022), and all facts in one line of JSON.
    """
    lines = [START, f"# tag: {tag}"]
    if made.fusion is not None:
        names = [json.dumps(run) for run in made.fusion.runs]
        lines += ["# method:", "#   automatic: true", "#   score ties: larger id first", "#   retrieval:"]
        lines += [f"#     - name: {name}" for name in names]
        lines += [f"#     - name: {tag}", f"#       method: {json.dumps(made.how)}"]
        lines += [f"#       interpolates: [{', '.join(names)}]"]
    lines += [f"{FACTS}{json.dumps({'made': made.to_dict()})}", END]
    return "".join(f"{line}\n" for line in lines).encode()
