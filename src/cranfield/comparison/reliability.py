"""The reliability of a comparison: how many queries smaller differences take, and how much measures and runs agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.correlation import MeasureAgreement, RunAgreement
from cranfield.comparison.power import SizeRow


class Reliability(NamedTuple):
    """What a comparison says about its queries, its measures and its runs.

    sizes: of each measure, how many queries detect a given difference
    discriminative_power: of each measure, the share of the pairs that it separates
    measures, runs: how much each pair of them agrees; empty where only two runs were compared
    """

    sizes: Mapping[str, Sequence[SizeRow]]
    discriminative_power: Mapping[str, float]
    measures: Sequence[MeasureAgreement] = ()
    runs: Sequence[RunAgreement] = ()


def reliability(comparison: Comparison) -> Reliability:
    """Calculate the reliability of a comparison.

    >>> from cranfield import compare
    >>> found = reliability(compare("builtin:ten", ["builtin:keywords", "builtin:meaning"], "nDCG@10"))
    >>> [row.difference for row in found.sizes["nDCG@10"]], found.discriminative_power, found.runs
    ([0.01, 0.02, 0.05, 0.1], {'nDCG@10': 1.0}, ())
    """
    sizes = {measure.name: comparison.query_set_sizes(measure) for measure in comparison.measures}
    power = comparison.discriminative_power()
    if len(comparison.runs) <= 2:
        return Reliability(sizes, power)
    return Reliability(sizes, power, comparison.agreement(), comparison.run_agreement())
