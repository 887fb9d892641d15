"""What a measure's parameters may be. A parameter name means the same in every measure that has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

MOST = 10**15  # the largest whole number, which floating point still holds exactly
ROOT = 1e100  # what still has a square
PAIRS = 1000  # of grades and gains in a map
POINTS = 1001  # levels of recall, each of which takes one pass over all ranks


class TooLarge(ValueError):
    """A value of the right kind beyond a limit that nobody should meet, and that only the error mentions."""

    def __init__(self, most: str) -> None:
        super().__init__(f"at most {most}")


class ParameterKind(NamedTuple):
    """The values a parameter takes: `read` turns a word of a measure name into one, or raises ValueError.

    meaning: what the parameter is, for help and documentation; nothing for one of a user's own
    """

    allowed: str
    read: Callable[[Any], Any]
    meaning: str = ""


def whole(low: int, high: int = MOST) -> ParameterKind:
    """A whole number."""

    def read(value: Any) -> int:
        if isinstance(value, bool) or (isinstance(value, float) and value != int(value)):
            raise ValueError
        number = int(value)
        if number > MOST:
            raise TooLarge("10^15")
        if not low <= number <= high or str(value).strip() != str(number):
            raise ValueError
        return number

    return ParameterKind(f"a whole number from {low}" + (f" to {high}" if high < MOST else ""), read)


def number(low: float, high: float = math.inf, *, open_low: bool = False, open_high: bool = False) -> ParameterKind:
    """A finite number in an interval; the ends belong to it unless they are open."""

    def read(value: Any) -> float | int:
        if isinstance(value, bool):
            raise ValueError
        read = float(value)
        if not low <= read <= high or (open_low and read == low) or (open_high and read == high):
            raise ValueError
        if not math.isfinite(read):
            raise ValueError
        return int(read) if read.is_integer() and abs(read) <= MOST else read

    above = "" if low == -math.inf else f" above {low:g}" if open_low else f" from {low:g}"
    below = "" if high == math.inf else f" {'below' if open_high else 'to'} {high:g}"
    return ParameterKind(f"a number{above}{below}", read)


def choice(*names: str) -> ParameterKind:
    """One of several words."""

    def read(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return ParameterKind(" or ".join(names), read)


def number_or(word: str, kind: ParameterKind) -> ParameterKind:
    """A number, or one word instead."""
    return ParameterKind(f"{kind.allowed}, or {word}", lambda value: word if value == word else kind.read(value))


class GainMap(NamedTuple):
    """What documents of certain grades are worth; any other grade is worth itself."""

    pairs: tuple[tuple[float, float], ...]

    def __str__(self) -> str:
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in self.pairs) + "}"


def _read_beta(value: Any) -> float | int:
    beta: float | int = number(0, open_low=True).read(value)
    if beta > ROOT:
        raise TooLarge(f"{ROOT:g}")
    return beta


def _read_gain(value: Any) -> str | GainMap:
    if isinstance(value, GainMap):
        return value
    if isinstance(value, str):
        if value in ("linear", "exponential"):
            return value
        if not (value.startswith("{") and value.endswith("}")):
            raise ValueError
        pairs: list[Any] = [pair.split(":") for pair in value[1:-1].split(",")]
    elif isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        raise ValueError
    if len(pairs) > PAIRS:
        raise TooLarge(f"{PAIRS:,} of them")
    if not pairs:
        raise ValueError
    grades, gains = number(0), number(-math.inf)
    read = sorted((grades.read(grade), gains.read(gain)) for grade, gain in pairs)
    if len({grade for grade, _ in read}) < len(read):
        raise ValueError
    return GainMap(tuple(read))


def _read_flag(value: Any) -> bool:
    flags = {"true": True, "false": False, "1": True, "0": False}
    if str(value).lower() not in flags:
        raise ValueError
    return flags[str(value).lower()]


def shortened(value: Any) -> str:
    """A value as an error shows it."""
    try:
        text = str(value)
    except ValueError:  # Python refuses to write whole numbers of thousands of digits
        return "a number too long to print"
    return text if len(text) <= 80 else f"{text[:79]}…"


FLAG = ParameterKind("True or False", _read_flag)

_MEANINGS = {
    "cutoff": "how many ranks count",
    "rel": "the lowest grade that is relevant",
    "beta": "the weight of recall against precision, or of gain against counts",
    "gain": "what a grade is worth",
    "discount": "whether all ranks are discounted, or only those after the base",
    "base": "of the logarithm in the discount",
    "denominator": "what the sum is divided by",
    "rule": "how a level of recall becomes a number of documents",
    "recall": "the level of recall",
    "multiple": "the depth, in multiples of the number of relevant documents",
    "points": "how many levels of recall",
    "p": "how likely the user goes on to the next rank",
    "alpha": "how much a subtopic loses each time it is found again",
    "max_grade": "the grade of a perfect document",
    "variant": "whose definition",
    "tail": "when ranks below the end of the ranking count",
    "documents": "the size of the collection",
    "T": "how much gain the user wants to find",
    "h": "the time after which half of the users have given up",
    "L": "the length of text after which nothing counts",
    "view": "what of the user model is measured",
    "normalize": "whether the overlap is divided by that of the ideal ranking",
    "a": "the worth of a relevant document retrieved",
    "b": "the worth of another document retrieved",
    "c": "the worth of a relevant document missed",
    "d": "the worth of another document not retrieved",
    "judged_only": "whether unjudged documents are left out of the ranking",
}

KINDS: dict[str, ParameterKind] = {
    "cutoff": whole(1),
    "rel": number(0),
    "beta": ParameterKind("a number above 0", _read_beta),
    "gain": ParameterKind("linear, exponential, or gains by grade such as {1:3,2:9}", _read_gain),
    "discount": choice("all", "late"),
    "base": number(1, open_low=True),
    "denominator": choice("R", "min", "found"),
    "rule": choice("ceiling", "trec9", "trec10"),
    "recall": number(0, 1),
    "multiple": number(0, open_low=True),
    "points": whole(2, POINTS),
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


def kind_of(name: str, default: Any) -> ParameterKind:
    """The kind of a parameter: by its name, or for a name we do not know by its default."""
    if name in KINDS:
        return KINDS[name]._replace(meaning=_MEANINGS[name])
    if isinstance(default, bool):
        return FLAG
    if isinstance(default, int | float):
        return number(-math.inf)
    return ParameterKind("a word", str)
