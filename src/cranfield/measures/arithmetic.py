"""The few operations that measures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cranfield.measures.parameters import GainMap
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.tables.ranks import JudgedRanks

if TYPE_CHECKING:
    import numpy.typing as npt

MaxGrade = float | Literal["query"]
DEEPEST = 10_000_000  # ranks that are added up one by one, retrieved or not


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> Numbers:
    """part / whole, and 0 where there is no whole: a query without relevant documents scores 0.

    A share of an infinite whole is unknown: the whole is too large for floating point, but the part need not be.

    part, whole: a number for each query, or one for all.
    Returns a number for each query.

    >>> ratio([1, 2, 0], [4, 2, 0]).tolist()
    [0.25, 1.0, 0.0]
    """
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    if part.shape != whole.shape:
        part, whole = np.broadcast_arrays(part, whole)
    out: Numbers = np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
    if np.isinf(whole).any():
        out[np.isinf(whole)] = np.nan
    return out


def multiple_of_relevant(relevant: Numbers | Integers, multiple: float) -> Numbers:
    """A multiple of the number of relevant documents as a depth, rounded as in trec_eval."""
    depth: Numbers = np.floor(multiple * relevant + 0.9)
    return depth


def harmonic(precision: Numbers, recall: Numbers, beta: float) -> Numbers:
    weight = float(f"{beta**2:.15g}")  # exactly 0.5 for β = √0.5
    return ratio((1 + weight) * precision * recall, weight * precision + recall)


def gains(grades: npt.NDArray[Any], gain: str | GainMap) -> Numbers:
    """The gains of documents with these grades; 0 for a document that was pooled but not judged."""
    worth: Numbers = np.maximum(grades, 0.0)
    if isinstance(gain, GainMap):
        known, its_gain = np.array(gain.pairs, dtype=np.float64).T  # in the order of the grades
        place = np.minimum(np.searchsorted(known, grades), len(known) - 1)
        return np.where(known[place] == grades, its_gain[place], worth)
    if gain == "linear":
        return worth
    if gain == "binary":
        return (worth > 0).astype(np.float64)
    with np.errstate(over="ignore"):  # a grade whose gain is infinite gives no finite value, which is reported
        return np.exp2(worth) - 1.0


def ideal_gains(judged: JudgedRanks, gain: str | GainMap) -> Numbers:
    """The gains of the ideal rankings, for the rows of `judged.ideal`; none is below 0."""
    worth = gains(judged.ideal.grade, gain)
    if not isinstance(gain, GainMap):
        return worth  # which grow with the grade, and the grades are in order
    worth = np.maximum(worth, 0.0)
    return worth[np.lexsort((-worth, judged.ideal.query))]


def discounted(gains: npt.NDArray[Any], rank: npt.NDArray[Any], base: float = 2, discount: str = "all") -> Numbers:
    """Gains divided by the logarithm of rank + 1; or, if the discount comes late, by that of the rank from `base` on.

    With base 2, the first does not discount rank 1, the second neither rank 1 nor 2.
    """
    if discount == "late":
        return np.asarray(gains * np.log2(base) / np.log2(np.maximum(rank, base)))
    weighted = gains if base == 2 else gains * np.log2(base)
    deepest = int(rank.max(initial=0))
    # from a table if most ranks occur more than once
    logarithms = np.log2(np.arange(1.0, deepest + 2))[rank] if deepest < len(rank) else np.log2(rank + 1.0)
    return np.asarray(weighted / logarithms)


def all_ranks(cutoff: int) -> Integers:
    if cutoff > DEEPEST:
        raise OverflowError(f"a sum over {cutoff:,} ranks is too long; at most {DEEPEST:,} can be added up")
    return np.arange(1, cutoff + 1)


def highest(judged: JudgedRanks, max_grade: MaxGrade) -> npt.NDArray[Any] | float:
    """The highest grade there is: a number, or for each row the highest of its query, but at least 1."""
    return np.maximum(judged.highest_grade, 1)[judged.query] if max_grade == "query" else float(max_grade)


def scaled_gain(judged: JudgedRanks, max_grade: MaxGrade) -> Numbers:
    return np.asarray(np.clip(judged.grade / highest(judged, max_grade), 0, 1))
