"""Student's paired t-test."""

from __future__ import annotations

import numpy as np

from cranfield.comparison.significance.test import (
    Outcome,
    Settings,
    Test,
    deviation,
    hedges,
    random_signs,
    ratio,
    t_values,
    two_sided,
)
from cranfield.ranks.columns import Numbers


class Student(Test):
    """Of the mean, as if the differences of the queries had a normal distribution.

    t = mean(d) / (sd(d) / √n), with n - 1 degrees of freedom

    Columns without any difference have p = 1. Where all queries differ by the very same amount there is no spread to
    estimate, and t would be infinite even for two queries; such a column has the p-value of the randomisation test,
    2 / 2^n.
    """

    def outcome(self, differences: Numbers, settings: Settings) -> Outcome:
        """Test every column."""
        from scipy.stats import t

        n, mean = len(differences), differences.mean(axis=0)
        value = t_values(differences)
        greater, less = np.asarray(t.sf(value, n - 1)), np.asarray(t.cdf(value, n - 1))
        same = (deviation(differences) == 0) & (mean != 0)
        chance = 2.0 ** -min(n, 1000)
        greater = np.where(same, np.where(mean > 0, chance, 1.0), greater)
        less = np.where(same, np.where(mean < 0, chance, 1.0), less)
        alike = (differences == 0).all(axis=0)
        greater, less = np.where(alike, 1.0, greater), np.where(alike, 1.0, less)
        return Outcome(greater, less, two_sided(greater, less), mean, hedges(differences))

    def interval(self, differences: Numbers, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """mean(d) ± t(1 - alpha/2, n - 1) · sd(d) / √n."""
        from scipy.stats import t

        n = len(differences)
        half = np.asarray(t.isf(alpha / 2, n - 1)) * deviation(differences) / np.sqrt(n)
        mean = differences.mean(axis=0)
        return mean - half, mean + half

    def largest(self, differences: Numbers, settings: Settings) -> Numbers:
        """The largest |t| of all columns, where all differences of a query get the same random sign."""
        n, columns = differences.shape
        centred = differences - differences.mean(axis=0)
        squares = (centred**2).sum(axis=0)
        found = []
        for bits in random_signs(settings.permutations, n, settings.seed, columns):
            shift = (2 * bits - 1) @ centred / n  # flipping signs leaves the squares as they are
            error = np.sqrt(np.maximum(squares - n * shift**2, 0.0) / (n - 1) / n)
            found.append(ratio(np.abs(shift), error).max(axis=1, initial=0.0))
        return np.sort(np.concatenate(found))[::-1]


STUDENT = Student(
    "t",
    "paired t-test",
    "Student's, tests the mean: the usual choice, good for about 20 queries or more",
    studentised=True,
)
