"""The registry of fusion methods and of normalisations: each is one function, with its formula and its paper.

A parameter is a keyword argument of the function, and its name means one thing everywhere (`PARAMETERS`). Help, errors
and documentation are made from these alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

from cranfield.errors import InputError, choice_hint
from cranfield.ranks.columns import Numbers

Reads = Literal["ranks", "scores"]
WEIGHTS = "weights"


class Parameter(NamedTuple):
    """What a parameter means, and which values it may have.

    above, below: the values lie between these; `least` may be one of them
    grid: values worth trying
    logarithmic: whether it is a factor that counts, not a difference
    """

    meaning: str
    least: float = -inf
    above: float = -inf
    below: float = inf
    grid: tuple[float, ...] = ()
    logarithmic: bool = False

    @property
    def allowed(self) -> str:
        low = (
            f"above {self.above:g}" if isfinite(self.above) else f"from {self.least:g}" if isfinite(self.least) else ""
        )
        high = f"below {self.below:g}" if isfinite(self.below) else ""
        return " ".join(filter(None, ["a number", low, "and" if low and high else "", high]))

    def read(self, value: Any) -> float:
        number = float(value)
        if not isfinite(number) or number < self.least or number <= self.above or number >= self.below:
            raise ValueError
        return number


PARAMETERS: dict[str, Parameter] = {
    "k": Parameter("the larger, the less the first ranks count", least=0, grid=(0, 1, 5, 10, 20, 40, 60, 100, 200)),
    "phi": Parameter(
        "the chance to look at the next document", above=0, below=1, grid=(0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
    ),
    "sigma": Parameter("keeps documents of a single run above 0", least=0, grid=(0.001, 0.01, 0.1), logarithmic=True),
    "constant": Parameter("what a list of equal scores, or of one document, gets"),
}


Function = Callable[..., Numbers]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Entry:
    """A fusion method, or a normalisation.

    reads: what of the runs it looks at
    weighted: whether runs may have weights
    normalisation: what scores are normalised by, if nothing is said
    """

    name: str
    function: Function
    aliases: tuple[str, ...]
    reference: str
    reads: Reads
    defaults: Mapping[str, float]
    weighted: bool
    normalisation: str

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def formula(self) -> str:
        return (inspect.getdoc(self.function) or "").split("\n\n")[1].strip()

    def chosen(self, parameters: Mapping[str, Any]) -> dict[str, float]:
        """All parameters, the given ones checked."""
        chosen = dict(self.defaults)
        for name, value in parameters.items():
            if name not in chosen:
                known = [*chosen, *([WEIGHTS] if self.weighted else [])]
                hint = choice_hint("it has", known, name) if known else "it has none"
                raise InputError(self.name, f"it has no parameter '{name}'.", hint=hint)
            try:
                chosen[name] = PARAMETERS[name].read(value)
            except (ValueError, TypeError, OverflowError):
                raise InputError(
                    self.name, f"{name} cannot be {value!r:.40}.", hint=f"{name} is {PARAMETERS[name].allowed}"
                ) from None
        return chosen


Registry = dict[str, Entry]


def entry(
    registry: Registry,
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    reference: str = "",
    reads: Reads = "scores",
    normalisation: str = "min-max",
) -> Callable[[Function], Function]:
    """Register a function under a name; its keyword arguments are its parameters."""

    def register(function: Function) -> Function:
        keywords = {
            parameter.name: parameter.default
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        weighted = WEIGHTS in keywords
        defaults = {key: float(value) for key, value in keywords.items() if key != WEIGHTS}
        chosen = normalisation if reads == "scores" else "none"
        registry[name] = Entry(name, function, aliases, reference, reads, defaults, weighted, chosen)
        return function

    return register


def find(registry: Registry, name: str, what: str) -> Entry:
    """The entry of a name, or of one of its aliases."""
    bare = str(name).lower().replace("_", "-")
    for known in registry.values():
        if bare in (known.name, *known.aliases):
            return known
    raise InputError(what, f"there is no {what} '{name}'.", hint=choice_hint(f"{what}s are", registry, name))
