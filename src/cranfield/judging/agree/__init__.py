"""How well assessors agree: `agreement` compares their grades of the same documents, and returns an `Agreement`."""

from cranfield.judging.agree.agreement import Agreement, PairAgreement, agreement
from cranfield.judging.agree.statistics import Estimate

__all__ = ["Agreement", "Estimate", "PairAgreement", "agreement"]
