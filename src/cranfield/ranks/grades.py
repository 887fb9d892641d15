"""What grades say: whether a document was judged, and whether it is relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.ranks.columns import Numbers
from cranfield.ranks.policy import Policy

if TYPE_CHECKING:
    import numpy.typing as npt

# The grade of a document that is not relevant though nobody gave it grade 0: junk, or what complete judgments leave
# out. It is worth what 0 is, and counts as judged as 0 does, but it reaches no threshold, not even 0.
NOT_RELEVANT = -0.0


def graded(grades: Numbers, policy: Policy) -> Numbers:
    """The grades as a policy reads them; those below 0 that are left are of documents pooled, not judged.

    >>> graded(np.array([2.0, -2.0]), Policy(negative="nonrelevant")).tolist()
    [2.0, -0.0]
    """
    return np.where(grades < 0, NOT_RELEVANT, grades) if lowest_judged(policy) < 0 else grades


def lowest_judged(policy: Policy) -> float:
    """The lowest grade that is a judgment.

    >>> lowest_judged(Policy()), lowest_judged(Policy(negative="nonrelevant"))
    (0.0, -inf)
    """
    return -np.inf if policy.negative == "nonrelevant" or policy.complete else 0.0


def reaches(grades: Numbers, rel: float) -> npt.NDArray[np.bool_]:
    """Which grades are relevant from a threshold on.

    >>> reaches(np.array([1.0, 0.0, NOT_RELEVANT, -1.0]), 0).tolist()
    [True, True, False, False]
    """
    high: npt.NDArray[np.bool_] = grades >= rel
    return high if rel > 0 else high & ~np.signbit(grades)
