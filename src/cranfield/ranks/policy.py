"""The conventions of an evaluation, each with a name, all printed with every result."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

from cranfield.errors import PolicyError

Ties = Literal["doc_id", "smaller_doc_id", "file", "best", "worst"]
Missing = Literal["zero", "skip", "error"]
Duplicates = Literal["error", "first", "last", "best"]
SameId = Literal["keep", "drop"]

_CHOICES = {"ties": Ties, "missing": Missing, "duplicates": Duplicates, "same_id": SameId}


@dataclass(frozen=True, slots=True)
class Policy:
    """How rankings are read and queries are counted.

    ties: documents with equal scores are ranked by "doc_id" (the larger id by bytes first, as trec_eval does), by
        "smaller_doc_id" (the smaller id first, as trec_eval does for preferences alone), in the order of the "file",
        or with the highest grade first ("best") or last ("worst").
    missing: a judged query that the run lacks counts "zero", is left out ("skip"), or is an "error".
    duplicates: a document that stands twice in a ranking is an "error", or its "first", "last" or "best" (highest
        score) line is kept.
    depth: the deepest rank read; None reads the whole ranking.
    same_id: "drop" removes a document whose id is the query's own, for collections whose queries are documents.

    >>> Policy(ties="worst", depth=100)
    Policy(ties='worst', missing='zero', duplicates='error', depth=100, same_id='keep')
    """

    ties: Ties = "doc_id"
    missing: Missing = "zero"
    duplicates: Duplicates = "error"
    depth: int | None = None
    same_id: SameId = "keep"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in get_args(choices):
                raise PolicyError(
                    f"{name}={value!r} is not a policy.",
                    hint=f"{name} may be {', '.join(map(repr, get_args(choices)))}",
                )
        if self.depth is not None and (type(self.depth) is not int or self.depth < 1):
            raise PolicyError(f"depth={self.depth!r} is not a rank.", hint="depth is a whole number from 1, or None")

    def __str__(self) -> str:
        """The policy in a signature: every setting, in a fixed order.

        >>> str(Policy())
        'ties:doc_id|missing:zero|duplicates:error|depth:all|same_id:keep'
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return "|".join(f"{name}:{'all' if value is None else value}" for name, value in values)
