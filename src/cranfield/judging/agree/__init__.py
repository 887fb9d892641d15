"""How well assessors agree: `agreement` compares their grades of the same documents, and returns an `Agreement`.

It has a `PairAgreement` for every two assessors, and each of its values is an `Estimate` with an interval.
"""

from cranfield.judging.agree.agreement import Agreement, PairAgreement, agreement
from cranfield.judging.agree.statistics import Estimate

__all__ = ["Agreement", "Estimate", "PairAgreement", "agreement"]
