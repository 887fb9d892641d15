"""Find out how good search results are, whether a change made them better, and which queries went wrong.

>>> import cranfield
>>> cranfield.value("nDCG@5", [3, 2, 3, 0, 1]).__round__(4)
0.9724
"""

from cranfield.errors import CranfieldError, InputError, MeasureError, MissingLibrary, PolicyError
from cranfield.evaluation import Evaluation, evaluate, evaluate_runs, value
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.judge.ranks import JudgedRanks
from cranfield.measures import Measure, catalogue, measure, parse_measure, parse_measures
from cranfield.version import __version__

__all__ = [
    "CranfieldError",
    "Evaluation",
    "InputError",
    "JudgedRanks",
    "Judgments",
    "Measure",
    "MeasureError",
    "MissingLibrary",
    "Policy",
    "PolicyError",
    "__version__",
    "catalogue",
    "evaluate",
    "evaluate_runs",
    "measure",
    "parse_measure",
    "parse_measures",
    "value",
]
