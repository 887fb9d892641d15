"""Models as assessors: `ask_model` lets a `ModelAssessor` judge what waits in a store, and returns a `ModelReport`.

Prompts, endpoints, replies and budgets are here, and checks of how far to trust a model; a `ModelProgress` is told how
far it is.
"""

from cranfield.judging.models.ask_model import ModelProgress, ModelReport, ask_model
from cranfield.judging.models.assessor import ModelAssessor

__all__ = ["ModelAssessor", "ModelProgress", "ModelReport", "ask_model"]
