"""Scores and embeddings in PyTorch, on any device: by comparing and counting, never sorting.

>>> import torch
>>> from cranfield.torch import evaluate
>>> evaluate(torch.tensor([[1, 0, 0]]), torch.tensor([[0.2, 0.9, 0.5]]), "RR P@3")
<Evaluation of scores: RR=0.3333, P@3=0.3333; 1 query>
"""

from typing import TYPE_CHECKING, Any

from cranfield.errors import need

need("torch", extra="torch", purpose="cranfield.torch")

from cranfield.torch.corpus import FullCorpus  # noqa: E402
from cranfield.torch.ragged import RetrievalMeasures, evaluate_flat  # noqa: E402
from cranfield.torch.scores import evaluate  # noqa: E402

__all__ = ["FullCorpus", "RetrievalEvaluator", "RetrievalMeasures", "evaluate", "evaluate_flat"]

if TYPE_CHECKING:
    from cranfield.torch.evaluator import RetrievalEvaluator


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    if name == "RetrievalEvaluator":  # loads sentence-transformers, where it is installed
        from cranfield.torch.evaluator import RetrievalEvaluator

        return RetrievalEvaluator
    raise AttributeError(f"module 'cranfield.torch' has no attribute '{name}'")
