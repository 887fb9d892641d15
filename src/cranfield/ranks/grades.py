"""The meaning of grades: whether a document was judged, and whether it is relevant."""

from __future__ import annotations

import numpy as np

from cranfield.ranks.columns import Flags, Numbers
from cranfield.ranks.policy import Policy

# The grade of a document that is not relevant without having grade 0: junk, or a document that complete judgments leave
# out. It has the gain of 0 and counts as judged like 0, but it reaches no threshold, not even 0.
NOT_RELEVANT = -0.0
POOLED = -1.0  # the grade of a document that was pooled, but not judged


def graded(grades: Numbers, policy: Policy) -> Numbers:
    """The grades as a policy reads them; grades that remain below 0 are of documents pooled, not judged."""
    return np.where(grades < 0, NOT_RELEVANT, grades) if lowest_judged(policy) < 0 else grades


def lowest_judged(policy: Policy) -> float:
    return -np.inf if policy.negative == "nonrelevant" or policy.complete else 0.0


def reaches(grades: Numbers, rel: float) -> Flags:
    """Which grades are relevant from a threshold on."""
    high: Flags = grades >= rel
    return high if rel > 0 else high & ~np.signbit(grades)
