"""How runs are mixed: a method, a normalisation, their parameters, the weights of the runs, and the depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from cranfield.errors import InputError, given
from cranfield.mixing.lists import Lists, Ranked, ScoredLists
from cranfield.mixing.methods import METHODS
from cranfield.mixing.normalising import NORMALISATIONS
from cranfield.mixing.registry import WEIGHTS, find
from cranfield.ranks.columns import Integers, Numbers, offsets
from cranfield.words import joined

DEPTH = 1000
USUAL = "rrf"
_UNCHECKED: Any = {
    "divide": "ignore",
    "invalid": "ignore",
    "over": "ignore",
}  # what is not finite is refused at the end


@dataclass(frozen=True, slots=True)
class Mixture:
    """One way to fuse runs.

    method, normalisation: their names; "none" for methods that look at ranks alone
    parameters: all of the method and of the normalisation
    weights: how much each run counts; empty where all count alike
    depth: how many documents of each ranking are read, and how many the fused one keeps
    """

    method: str = USUAL
    normalisation: str = "none"
    parameters: Mapping[str, float] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    depth: int = DEPTH

    @classmethod
    def of(
        cls,
        method: str = USUAL,
        normalisation: str | None = None,
        *,
        runs: Sequence[str] = (),
        weights: Any = None,
        depth: int = DEPTH,
        **parameters: Any,
    ) -> Mixture:
        """A mixture by its names, checked; runs: their names, for which the weights are"""
        entry = find(METHODS, method, "fusion method")
        scaled = find(NORMALISATIONS, normalisation or entry.normalisation, "normalisation")
        if entry.reads == "ranks" and normalisation not in (None, "none"):
            raise InputError(entry.name, "it looks at ranks alone.", hint=f"leave out {given('normalisation')}")
        if type(depth) is not int or depth < 1:
            raise InputError(
                "depth", f"{depth!r:.40} is not a number of documents.", hint="it is a whole number from 1"
            )
        of_scores = {name: value for name, value in parameters.items() if name in scaled.defaults}
        of_method = {name: value for name, value in parameters.items() if name not in scaled.defaults}
        weighed = _weights(weights, runs)
        if weighed and not entry.weighted:
            able = ", ".join(name for name, known in METHODS.items() if known.weighted)
            raise InputError(entry.name, "its runs have no weights.", hint=f"methods with weights are {able}")
        return cls(entry.name, scaled.name, {**entry.chosen(of_method), **scaled.chosen(of_scores)}, weighed, depth)

    def __str__(self) -> str:
        return ", ".join(self.parts())

    def parts(self, runs: Sequence[str] = ()) -> Iterator[str]:
        """The mixture in words: its name, then what is not as usual."""
        entry = METHODS[self.method]
        yield f"{self.method} of {self.normalisation}" if entry.reads == "scores" else self.method
        usual = {**NORMALISATIONS[self.normalisation].defaults}
        for name, value in self.parameters.items():
            if name not in usual or value != usual[name]:
                yield f"{name} = {value:g}"
        if self.weights:
            names = runs or [str(at) for at in range(1, len(self.weights) + 1)]
            yield ", ".join(f"{name} × {weight:.3g}" for name, weight in zip(names, self.weights, strict=True))
        if self.depth != DEPTH:
            yield f"depth {self.depth:,}"

    @property
    def chosen(self) -> tuple[str, ...]:
        """What somebody must have chosen, in words: constants that are not the usual ones, and unequal weights."""
        usual = {**METHODS[self.method].defaults, **NORMALISATIONS[self.normalisation].defaults}
        constants = [f"{name} = {value:g}" for name, value in self.parameters.items() if value != usual[name]]
        if len(set(self.weights)) > 1:
            constants.append(f"weights {joined([f'{weight:g}' for weight in self.weights], 'and')}")
        return tuple(constants)

    def to_dict(self) -> dict[str, Any]:
        """The mixture as plain values: the arguments of `fuse`."""
        scores = METHODS[self.method].reads == "scores"
        return {
            "method": self.method,
            **({"normalisation": self.normalisation} if scores else {}),
            **self.parameters,
            **({WEIGHTS: list(self.weights)} if self.weights else {}),
            "depth": self.depth,
        }

    def normalised(self, ranked: Ranked) -> Numbers:
        """The scores of a run as the method reads them."""
        entry = NORMALISATIONS[self.normalisation]
        chosen = {name: self.parameters[name] for name in entry.defaults}
        with np.errstate(**_UNCHECKED):
            return entry.function(ScoredLists(ranked.score, ranked.sizes), **chosen)

    def lists(self, ranked: Sequence[Ranked]) -> Lists:
        within = [first_of(its, self.depth) for its in ranked]
        return Lists(within, [self.normalised(its) for its in within] if METHODS[self.method].reads == "scores" else [])

    def fused(self, lists: Lists, weights: Numbers | None = None) -> Numbers:
        """The score of every document; with rows of weights, a row for each."""
        entry = METHODS[self.method]
        chosen: dict[str, Any] = {name: self.parameters[name] for name in entry.defaults}
        if weights is None and self.weights:
            weights = np.array(self.weights)
        if entry.weighted:
            chosen[WEIGHTS] = weights
        with np.errstate(**_UNCHECKED):
            fused: Numbers = entry.function(lists, **chosen)
        return fused


def first_of(ranked: Ranked, depth: int) -> Ranked:
    """The first documents of each ranking."""
    if not len(ranked.sizes) or int(ranked.sizes.max()) <= depth:
        return ranked
    place = np.arange(len(ranked.code)) - np.repeat(offsets(ranked.sizes)[:-1], ranked.sizes)
    kept: Integers = np.flatnonzero(place < depth)
    columns = {name: getattr(ranked, name)[kept] for name in ("code", "score", "start", "length")}
    return ranked._replace(sizes=np.minimum(ranked.sizes, depth), **columns)


def _weights(weights: Any, runs: Sequence[str]) -> tuple[float, ...]:
    """Weights in the order of the runs: from a sequence, or by name."""
    if weights is None:
        return ()
    if isinstance(weights, Mapping):
        unknown = [str(name) for name in weights if name not in runs]
        if unknown or len(weights) < len(runs):
            lacking = [name for name in runs if name not in weights]
            fact = f"no run is called '{unknown[0]}'." if unknown else f"{lacking[0]} has no weight."
            raise InputError(WEIGHTS, fact, hint=f"the runs are {', '.join(runs)}")
        weights = [weights[name] for name in runs]
    try:
        chosen = tuple(map(float, weights))
    except (TypeError, ValueError):
        raise InputError(WEIGHTS, f"{weights!r:.40} are not numbers.", hint="give one for each run") from None
    if runs and len(chosen) != len(runs):
        raise InputError(WEIGHTS, f"{len(chosen)} for {len(runs)} runs.", hint="give one for each run")
    if not all(isfinite(weight) and weight >= 0 for weight in chosen) or not any(chosen):
        raise InputError(WEIGHTS, f"{weights!r:.40} are not weights.", hint="they are numbers from 0, not all 0")
    return chosen
