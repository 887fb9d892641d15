"""From evaluations to conclusions: which run is better, by how much, how surely, and whether a change may pass."""

from cranfield.comparison.comparing import compare, compare_evaluations
from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.correlation import MeasureAgreement
from cranfield.comparison.differences import Difference
from cranfield.comparison.gating import GateResult, gate
from cranfield.comparison.power import detectable_difference, power_of, queries_needed, query_set_sizes

__all__ = [
    "Comparison",
    "Difference",
    "GateResult",
    "MeasureAgreement",
    "compare",
    "compare_evaluations",
    "detectable_difference",
    "gate",
    "power_of",
    "queries_needed",
    "query_set_sizes",
]
