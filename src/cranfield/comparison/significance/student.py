"""Student's paired t-test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cranfield.comparison.significance.test import Outcome, Settings, Test, hedges, random_bits, two_sided
from cranfield.evaluation.estimating import PLAIN, Columns, estimated, estimator_of, ratio
from cranfield.native import CORES
from cranfield.ranks.columns import Numbers
from cranfield.ranks.scan.parallel import in_parallel

NEAR = 1e-12  # the rounding error of the share of squares within a column
PARTS = 4  # for each core, in which a block of bits becomes signs


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

    def largest(self, columns: Columns, settings: Settings) -> Numbers:
        """The largest |t| of all columns, where all differences of a query get the same random sign.

        Flipping signs leaves the squares as they are: with r = Σ ± d / √Σ d², t = r · √((n - 1) / (n - r²)). This grows
        with r, so the largest r of a draw is enough.
        """
        differences = columns.values
        n, pairs = differences.shape
        centred = differences - differences.mean(axis=0)
        lengths = np.sqrt((centred**2).sum(axis=0))
        scaled = ratio(centred, np.broadcast_to(lengths, centred.shape))

        def drawn(bits: npt.NDArray[np.uint8]) -> Numbers:
            # In parts, since signs take eight times the room of bits, and each thread has its own.
            return np.concatenate([most_of(part.astype(np.float64)) for part in np.array_split(bits, PARTS * CORES)])

        def most_of(signs: Numbers) -> Numbers:
            signs *= 2
            signs -= 1
            sums = signs @ scaled
            most = np.maximum(sums.max(axis=1, initial=0.0), -sums.min(axis=1, initial=0.0))
            left = n - most**2
            still = left <= n * NEAR  # a column that does not vary has no t: the largest of the others
            if still.any():
                rest = np.abs(sums[still])
                most[still] = np.where(n - rest**2 <= n * NEAR, 0.0, rest).max(axis=1)
                left[still] = n - most[still] ** 2
            return np.asarray(most * np.sqrt((n - 1) / left))

        draws = random_bits(settings.permutations, n, settings.seed, pairs)
        return np.sort(np.concatenate(list(in_parallel(drawn, draws, CORES))))[::-1]


STUDENT = Student(
    "t",
    "paired t-test",
    "Student's, tests the mean: the usual choice, good for about 20 queries or more",
    studentised=True,
)
