"""The settings that are tried: one fixed set, whatever the folds, so that one table of values serves all of them.

Up to two parameters that vary make a grid; of more, 512 points are taken that cover their ranges evenly (Sobol 1967).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from cranfield.errors import InputError, choice_hint, either, given
from cranfield.mixing.methods import METHODS
from cranfield.mixing.mixture import DEPTH, Mixture
from cranfield.mixing.normalising import NORMALISATIONS
from cranfield.mixing.registry import PARAMETERS, WEIGHTS, Entry, find
from cranfield.ranks.columns import Numbers

USUAL_METHODS = ("rrf", "combsum")
POINTS = 512
MOST_IN_GRID = 2  # parameters; weights of n runs are n - 1
STEPS = 20  # of a weight between 0 and 1
RANGE = 11  # values of a range such as 1..5
MOST = 20_000
_WORDS = {"normalisation": NORMALISATIONS, "method": METHODS}


@dataclass(frozen=True, slots=True)
class Space:
    """What is tried of one method.

    values: of each parameter that varies, its values; of the rest, the default is taken
    weights: whether the weights of the runs vary
    """

    method: Entry
    normalisation: Entry
    depth: int
    values: Mapping[str, Sequence[float]]
    weights: bool

    def mixtures(self, runs: int) -> Iterator[Mixture]:
        varying = len(self.values) + (runs - 1) * self.weights
        points = self._grid(runs) if varying <= MOST_IN_GRID else self._spread(runs, varying)
        for weights, chosen in points:
            yield Mixture(
                self.method.name,
                self.normalisation.name,
                {**self.method.defaults, **self.normalisation.defaults, **chosen},
                weights,
                self.depth,
            )

    def _grid(self, runs: int) -> Iterator[tuple[tuple[float, ...], dict[str, float]]]:
        weights = simplex(runs, STEPS) if self.weights else [()]
        for chosen in product(*self.values.values()):
            for weight in weights:
                yield weight, dict(zip(self.values, chosen, strict=True))

    def _spread(self, runs: int, varying: int) -> Iterator[tuple[tuple[float, ...], dict[str, float]]]:
        from scipy.stats import qmc  # takes a second to import

        for point in qmc.Sobol(varying, scramble=False).random(POINTS):
            own, shares = point[: len(self.values)], np.sort(point[len(self.values) :])
            weight = tuple(np.diff(shares, prepend=0.0, append=1.0).round(4).tolist()) if self.weights else ()
            chosen = zip(self.values, self.values.values(), own.tolist(), strict=True)
            yield weight, {name: between(values, at) for name, values, at in chosen}


def simplex(runs: int, steps: int) -> list[tuple[float, ...]]:
    """All weights of runs that sum to 1, in steps.

    >>> simplex(2, 2), len(simplex(3, 20))
    ([(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)], 231)
    """
    if runs == 1:
        return [(steps / steps,)]

    def parts(left: int, count: int) -> Iterator[tuple[int, ...]]:
        if count == 1:
            yield (left,)
            return
        for first in range(left + 1):
            yield from ((first, *rest) for rest in parts(left - first, count - 1))

    return [tuple(part / steps for part in whole) for whole in parts(steps, runs)]


def between(values: Sequence[float], share: float) -> float:
    """A value so far along a list of values, to three digits.

    >>> between([0, 10, 100], 0.75), between([1, 2], 0.123456)
    (55.0, 1.12)
    """
    if len(values) == 1:
        return float(values[0])
    at = np.interp(share * (len(values) - 1), np.arange(len(values)), np.array(values, dtype=np.float64))
    return float(f"{float(at):.3g}")


def candidates(
    runs: Sequence[str],
    methods: Sequence[str] = (),
    tried: Mapping[str, Any] | None = None,
    depth: int = DEPTH,
) -> list[Mixture]:
    """All settings to try. Of those that are equally good, the first is chosen.

    Reciprocal rank fusion with its usual constant comes first, then those with the most even weights.
    """
    tried = dict(tried or {})
    names = _listed(tried.pop("method", None) or methods or USUAL_METHODS)
    entries = list(dict.fromkeys(find(METHODS, name, "fusion method") for name in names))
    scaled = [find(NORMALISATIONS, name, "normalisation") for name in _listed(tried.pop("normalisation", []))]
    depths = [_depth(value) for value in _listed(tried.pop("depth", depth))]
    varied = {name: _values(name, values) for name, values in tried.items() if name != WEIGHTS}
    weighted = tried.get(WEIGHTS, True)
    if not isinstance(weighted, bool):
        alike = either('tried={"weights": False}', "--equal-weights")
        hint = f"all weights are tried in steps, unless all runs count alike: {alike}"
        raise InputError("try", f"weights cannot be {weighted!r:.40}.", hint=hint)
    unused = set(varied)
    usual = Mixture.of(depth=max(depths))
    found: dict[str, Mixture] = {str(usual): usual}
    for entry in entries:
        for normalisation in (scaled or [NORMALISATIONS[entry.normalisation]]) if entry.reads == "scores" else [_NONE]:
            own = [*entry.defaults, *normalisation.defaults]
            values = {name: varied.get(name) or PARAMETERS[name].grid for name in own}
            values = {name: its for name, its in values.items() if its}
            unused.difference_update(values)
            for its_depth in depths:
                space = Space(entry, normalisation, its_depth, values, weighted and entry.weighted)
                for mixture in space.mixtures(len(runs)):
                    found.setdefault(_identity(mixture), mixture)
    if unused:
        known = sorted({name for entry in entries for name in entry.defaults} | {"constant", "depth", *_WORDS})
        name = sorted(unused)[0]
        raise InputError(
            "try", f"none of the methods has a parameter '{name}'.", hint=choice_hint("they have", known, name)
        )
    if len(found) > MOST:
        raise InputError("try", f"these are {len(found):,} settings.", hint=f"try {MOST:,} at most")
    first, *others = found.values()
    return [first, *sorted(others, key=_unevenness)]


def _unevenness(mixture: Mixture) -> float:
    return max((abs(weight - 1 / len(mixture.weights)) for weight in mixture.weights), default=0.0)


_NONE = NORMALISATIONS["none"]


def _identity(mixture: Mixture) -> str:
    """Equal for mixtures that are the same: equal weights are no weights."""
    if mixture.weights and len(set(mixture.weights)) == 1:
        mixture = replace(mixture, weights=())
    return repr(mixture.to_dict()) if str(mixture) != str(Mixture.of(depth=mixture.depth)) else str(mixture)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]


def _depth(value: Any) -> int:
    if not float(value).is_integer() or float(value) < 1:
        raise InputError("depth", f"{value!r:.40} is not a number of documents.", hint="it is a whole number from 1")
    return int(value)


def _values(name: str, values: Any) -> list[float]:
    if name not in PARAMETERS:
        known = [*PARAMETERS, "depth", *_WORDS]
        raise InputError("try", f"there is no parameter '{name}'.", hint=choice_hint("there are", known, name))
    try:
        return sorted({PARAMETERS[name].read(value) for value in _listed(values)})
    except (TypeError, ValueError):
        fact = f"{name} cannot be {values!r:.40}."
        raise InputError("try", fact, hint=f"{name} is {PARAMETERS[name].allowed}") from None


def _read(name: str, word: str) -> Any:
    """A value of a parameter: a number, and of one that only a system knows perhaps a word."""
    if name in PARAMETERS or name == "depth":
        return float(word)
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(word, word)


def read_try(text: str) -> tuple[str, list[Any]]:
    """A parameter and its values from a text: k=10,60 or k=1..100 or normalisation=min-max,z-score.

    >>> read_try("k=10,60"), read_try("phi=0.5..0.7")[1][:3], read_try("normalisation=sum")
    (('k', [10.0, 60.0]), [0.5, 0.52, 0.54], ('normalisation', ['sum']))
    """
    name, sign, values = text.partition("=")
    name, low, dots, high = name.strip(), *values.partition("..")
    try:
        if dots and sign:
            ends = float(low), float(high)
            parameter = PARAMETERS.get(name)
            spread = np.geomspace if parameter is not None and parameter.logarithmic else np.linspace
            return name, [float(f"{value:.6g}") for value in spread(*ends, RANGE).tolist()]
        words = [word.strip() for word in values.split(",")]
        if sign and all(words):
            return name, words if name in _WORDS else [_read(name, word) for word in words]
    except ValueError:
        pass
    raise InputError(
        "try", f"'{text}' is not a parameter with its values.", hint=f"for instance {given('tried', ['k=10,60'])}"
    )


def edges(mixture: Mixture, every: Sequence[Mixture]) -> Iterator[tuple[str, float, str]]:
    """The parameters whose value is the smallest or the largest tried, where there are others beyond."""
    same = [its for its in every if (its.method, its.normalisation) == (mixture.method, mixture.normalisation)]
    for name, value in [*mixture.parameters.items(), ("depth", float(mixture.depth))]:
        values = (
            {its.parameters.get(name, its.depth) for its in same} if name != "depth" else {its.depth for its in same}
        )
        if len(values) < 3:
            continue
        parameter = PARAMETERS.get(name)
        if value == max(values):
            yield name, value, "largest"
        elif value == min(values) and (parameter is None or value > parameter.least):
            yield name, value, "smallest"


def weights_of(mixtures: Sequence[Mixture]) -> Numbers:
    return np.array([mixture.weights for mixture in mixtures], dtype=np.float64)
