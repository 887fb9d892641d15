"""The values of parameters. A parameter name means the same in every measure that has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

MOST = 10**15  # the largest whole number, which floating point still holds exactly
ROOT = 1e100  # the largest number with a finite square
PAIRS = 1000  # of grades and gains in a map
DEEPEST = 100_000  # of an overlap, for which each rank takes some memory
POINTS = 1001  # levels of recall, each of which takes one pass over all ranks


class TooLarge(ValueError):
    """A value of the right kind beyond a limit that is never met in practice, and only mentioned in the error."""

    def __init__(self, most: str) -> None:
        super().__init__(f"at most {most}")


class ParameterKind(NamedTuple):
    """The values a parameter takes: `read` turns a word of a measure name into one, or raises ValueError.

    meaning: what the parameter is, for help and documentation; empty for parameters of users' own measures
    words: if the value is a word, what each word means
    """

    allowed: str
    read: Callable[[Any], Any]
    meaning: str = ""
    words: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"<ParameterKind: {self.allowed}>"


def whole(low: int, high: int = MOST) -> ParameterKind:
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
        if not low <= read <= high or (open_low and read == low) or (open_high and read == high) or math.isinf(read):
            raise ValueError
        return int(read) if read.is_integer() and abs(read) <= MOST else read

    above = "" if low == -math.inf else f" above {low:g}" if open_low else f" from {low:g}"
    below = "" if high == math.inf else f" {'below' if open_high else 'to'} {high:g}"
    return ParameterKind(f"a number{above}{below}", read)


def choice(**words: str) -> ParameterKind:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return ParameterKind(" or ".join(words), read, words=words)


def number_or(word: str, kind: ParameterKind) -> ParameterKind:
    return ParameterKind(f"{kind.allowed}, or {word}", lambda value: word if value == word else kind.read(value))


class GainMap(NamedTuple):
    """The gains of certain grades; the gain of any other grade is the grade itself."""

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
        if value in ("linear", "exponential", "binary"):
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
    try:
        text = str(value)
    except ValueError:  # Python refuses to write whole numbers of thousands of digits
        return "a number too long to print"
    return text if len(text) <= 80 else f"{text[:79]}…"


FLAG = ParameterKind("True or False", _read_flag)

# What each parameter is, and which values it takes.
_PARAMETERS: dict[str, tuple[str, ParameterKind]] = {
    "cutoff": ("the deepest rank that counts", whole(1)),
    "rel": ("the lowest grade that counts as relevant", number(0)),
    "beta": (
        "how many times as much recall counts as precision; in Q, the weight of the gain beside the number of relevant "
        "documents",
        ParameterKind("a number above 0", _read_beta),
    ),
    "gain": (
        "what a document is worth: its grade (linear), 2^grade - 1 (exponential), 1 for any grade above 0 (binary), or "
        "what a map says",
        ParameterKind("linear, exponential, binary, or gains by grade such as {1:3,2:9}", _read_gain),
    ),
    "discount": (
        "what a gain is divided by",
        choice(
            all="the logarithm of rank + 1, at every rank",
            late="the logarithm of the rank, only at ranks beyond the base",
        ),
    ),
    "base": ("the base of the logarithm in the discount", number(1, open_low=True)),
    "denominator": (
        "what the sum of precisions is divided by",
        choice(
            R="the number of relevant documents",
            min="the same, but at most the cutoff",
            found="the number of relevant documents retrieved down to the cutoff",
            k="the cutoff",
        ),
    ),
    "short": (
        "what precision is divided by where a ranking is shorter than the cutoff",
        choice(
            filled="the cutoff, as if irrelevant documents followed",
            returned="the number of documents returned",
        ),
    ),
    "ideal": (
        "the ranking that DCG is divided by that of",
        choice(
            judged="all judged documents, the best first, down to the cutoff",
            uncut="the same, without a cutoff",
            returned="the same, down to the cutoff or to as many documents as were returned",
            retrieved="the judged documents that were retrieved, the best first, down to the cutoff",
            full="a document with the highest gain of the query at every rank down to the cutoff",
        ),
    ),
    "rule": (
        "how recall times the number of relevant documents becomes a whole number",
        choice(
            ceiling="rounded up",
            trec9="rounded up from a tenth on, as in trec_eval 9",
            trec10="rounded to the nearest, as in trec_eval 10",
        ),
    ),
    "recall": ("the share of the relevant documents that must be found", number(0, 1)),
    "multiple": ("the depth, in multiples of the number of relevant documents", number(0, open_low=True)),
    "points": ("how many levels of recall, evenly spaced from 0 to 1", whole(2, POINTS)),
    "p": ("the probability that the user goes on to the next rank", number(0, 1, open_low=True, open_high=True)),
    "alpha": ("the share of its worth that a subtopic loses each time it is found again", number(0, 1)),
    "max_grade": (
        "the grade of a perfect document; query takes the highest grade of each query, and at least 1",
        number_or("query", number(0, open_low=True)),
    ),
    "variant": (
        "what the judged irrelevant documents above a relevant one are divided by",
        choice(
            **{
                "trec": "the number of relevant or of judged irrelevant documents, whichever is smaller",
                "2004": "the number of relevant documents, as in the paper of 2004",
            }
        ),
    ),
    "fractions": (
        "what becomes of the last, fractional document of each grade in the ideal ranking",
        choice(counted="it counts in part", dropped="it is left out, as in sample_eval"),
    ),
    "tail": (
        "for which queries all ranks below the end of the ranking count as unjudged",
        choice(always="for all", unjudged="for those with an unjudged document retrieved, as in trec_eval"),
    ),
    "documents": ("how many documents the collection has", whole(1)),
    "T": ("how much gain the user wants to find; a perfect document has 1", number(0, open_low=True)),
    "h": ("the time after which half of the users have given up, in the unit of the lengths", number(0, open_low=True)),
    "L": ("how much text is read at most, in the unit of the lengths", number(0, open_low=True)),
    "view": (
        "which value of the user model is measured",
        choice(
            utility="the gain for each document seen",
            total="the gain collected until the user stops",
            depth="how many documents are seen",
            residual="how much higher the utility would be if every rank without a judged document were perfect",
        ),
    ),
    "budget": ("how much is read, in the unit", whole(1)),
    "unit": (
        "what a budget is counted in",
        choice(
            characters="Unicode code points",
            words="what white space separates; needs the texts",
            tokens="what the tokeniser of the chunks counted",
            documents="documents; only for searches, where they may also be tokens",
        ),
    ),
    "calls": ("how many searches of each task count, from the first on", whole(1)),
    "call": ("which search of each task counts, by its number", whole(1)),
    "again": (
        "what a document costs that is fetched again",
        choice(paid="as much as before: it is read again", free="nothing: it is read once"),
    ),
    "similarity": (
        "how alike two items are by their features",
        choice(
            cosine="the cosine of the angle between them",
            jaccard="the share of their labels that they have in common",
            hamming="the share of their features that are equal",
        ),
    ),
    "scale": ("how interactions are counted", choice(count="each as one", share="as a share of all of them")),
    "fit": (
        "what happens to the chunk that exceeds the budget",
        choice(whole="it is left out, with all chunks below it", cut="it is shortened; only for characters"),
    ),
    "depth": (
        "down to which rank the overlap is measured; rankings: to the end of the longer of the two rankings",
        number_or("rankings", whole(1, DEEPEST)),
    ),
    "normalize": ("whether the overlap is divided by that of the ideal ranking with itself", FLAG),
    "a": ("the worth of a relevant document that is retrieved", number(-math.inf)),
    "b": ("the worth of another document that is retrieved", number(-math.inf)),
    "c": ("the worth of a relevant document that is not retrieved", number(-math.inf)),
    "d": ("the worth of another document that is not retrieved", number(-math.inf)),
    "judged_only": ("whether unjudged documents are left out of the ranking", FLAG),
}
KINDS = {name: kind._replace(meaning=meaning) for name, (meaning, kind) in _PARAMETERS.items()}


def kind_of(name: str, default: Any) -> ParameterKind:
    if name in KINDS:
        return KINDS[name]
    if isinstance(default, bool):
        return FLAG
    if isinstance(default, int | float):
        return number(-math.inf)
    return ParameterKind("a word", str)
