"""What a measure's parameters may be. A parameter name means the same in every measure that has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """The values a parameter takes: `read` turns a word of a measure name into one, or raises ValueError."""

    allowed: str
    read: Callable[[Any], Any]


def whole(low: int) -> Kind:
    """A whole number."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
            raise ValueError
        number = int(value)
        if number < low or str(value).strip() != str(number):
            raise ValueError
        return number

    return Kind(f"a whole number from {low}", read)


def number(low: float, high: float = math.inf, *, open_low: bool = False, open_high: bool = False) -> Kind:
    """A number in an interval; the ends belong to it unless they are open."""

    def read(value: Any) -> float | int:
        if isinstance(value, bool):
            raise ValueError
        read = float(value)
        if not low <= read <= high or (open_low and read == low) or (open_high and read == high):
            raise ValueError
        return int(read) if read.is_integer() else read

    above = f"above {low:g}" if open_low else f"from {low:g}"
    below = "" if high == math.inf else f" {'below' if open_high else 'to'} {high:g}"
    return Kind(f"a number {above}{below}", read)


def choice(*names: str) -> Kind:
    """One of several words."""

    def read(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return Kind(" or ".join(names), read)


def number_or(word: str, kind: Kind) -> Kind:
    """A number, or one word instead."""
    return Kind(f"{kind.allowed}, or {word}", lambda value: word if value == word else kind.read(value))


class GainMap(NamedTuple):
    """What documents of certain grades are worth; any other grade is worth itself."""

    pairs: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        return "{" + ",".join(f"{grade:g}:{gain:g}" for grade, gain in self.pairs) + "}"


def _read_gain(value: Any) -> str | GainMap:
    if value in ("linear", "exponential") or isinstance(value, GainMap):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        if not (value.startswith("{") and value.endswith("}")):
            raise ValueError
        value = dict(pair.split(":") for pair in value[1:-1].split(","))
    if not isinstance(value, Mapping) or not value:
        raise ValueError
    grades, gains = number(0, math.inf, open_high=True), number(-math.inf, math.inf, open_low=True, open_high=True)
    return GainMap(tuple(sorted((grades.read(grade), gains.read(gain)) for grade, gain in value.items())))


def _read_flag(value: Any) -> bool:
    flags = {"true": True, "false": False, "1": True, "0": False}
    if str(value).lower() not in flags:
        raise ValueError
    return flags[str(value).lower()]


FLAG = Kind("True or False", _read_flag)

KINDS: dict[str, Kind] = {
    "cutoff": whole(1),
    "rel": number(0),
    "beta": number(0, open_low=True),
    "gain": Kind("linear, exponential, or gains by grade such as {1:3,2:9}", _read_gain),
    "discount": choice("all", "late"),
    "base": number(1, open_low=True),
    "denominator": choice("R", "min", "found"),
    "rule": choice("ceiling", "trec9", "trec10"),
    "recall": number(0, 1),
    "multiple": number(0, open_low=True),
    "points": whole(2),
    "p": number(0, 1, open_low=True, open_high=True),
    "alpha": number(0, 1),
    "max_grade": number_or("query", number(0, open_low=True)),
    "variant": choice("trec", "2004"),
    "tail": choice("always", "unjudged"),
    "documents": whole(1),
    "T": number(0, open_low=True),
    "h": number(0, open_low=True),
    "L": number(0, open_low=True),
    "view": choice("utility", "total", "depth", "residual"),
    "normalize": FLAG,
    "a": number(-math.inf),
    "b": number(-math.inf),
    "c": number(-math.inf),
    "d": number(-math.inf),
    "judged_only": FLAG,
}


def kind_of(name: str, default: Any) -> Kind:
    """The kind of a parameter: by its name, or for a name we do not know by its default."""
    if name in KINDS:
        return KINDS[name]
    if isinstance(default, bool):
        return FLAG
    if isinstance(default, int | float):
        return number(-math.inf)
    return Kind("a word", str)
