"""Student's paired t-test."""

from __future__ import annotations

from cranfield.comparison.significance.test import Outcome, Settings, Test, hedges, two_sided
from cranfield.evaluation.estimating import PLAIN, Columns, estimated, estimator_of
from cranfield.ranks.columns import Numbers


class Student(Test):
    """Of the mean, as if the differences of the queries had a normal distribution.

    t = mean(d) / (sd(d) / √n), with n - 1 degrees of freedom; of other means value / error, see `Estimates`

    Columns without any difference have p = 1. Where all queries differ by the very same amount, p is that of the
    randomisation test, 2 / 2^n.
    """

    def outcome(self, columns: Columns, settings: Settings) -> Outcome:
        """Test every column."""
        estimates = estimated(columns)
        greater, less = estimates.chances()
        none: list[float | None] = [None] * len(greater)
        effect = hedges(columns.values) if estimator_of(columns) is PLAIN else none
        return Outcome(greater, less, two_sided(greater, less), estimates.value, effect)

    def interval(self, columns: Columns, alpha: Numbers, settings: Settings) -> tuple[Numbers, Numbers]:
        """mean(d) ± t(1 - alpha/2, n - 1) · sd(d) / √n."""
        return estimated(columns).interval(alpha)


STUDENT = Student(
    "t",
    "paired t-test",
    "Student's, tests the mean: the usual choice, good for about 20 queries or more",
)
