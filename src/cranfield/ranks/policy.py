"""The conventions of an evaluation, each with a name, printed with every result.

A setting is one field of `Policy`, the only place that defines its meaning, its values and its default.
Options of the command line and their help, signatures, error messages and the table in the docs are made from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from textwrap import fill
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from cranfield.errors import PolicyError, choice_hint, either, given

Ties = Literal["doc_id", "smaller_doc_id", "file", "best", "worst", "expected"]
Missing = Literal["zero", "skip", "error"]
Duplicates = Literal["error", "first", "last", "best"]
SameId = Literal["keep", "drop"]
Negative = Literal["unjudged", "nonrelevant"]


class Setting(NamedTuple):
    """The definition of a setting.

    meaning: what it is about
    choices: the meaning of each value that is a word; empty for a rank, a share, or a flag
    default: one of the choices; None (all ranks) for a rank, a number for a share, False for a flag
    quiet: a signature leaves it out while it has its default, so that older signatures stay equal
    live: cranfield.toml has it too
    """

    meaning: str
    choices: Mapping[str, str]
    default: str | bool | float | None
    quiet: bool
    live: bool

    @property
    def kind(self) -> type:
        """The type of its values, None aside."""
        return str if self.choices else int if self.default is None else type(self.default)

    def check(self, name: str, value: Any) -> None:
        if self.kind is int:
            valid = value is None or (type(value) is int and value >= 1)
        elif self.kind is float:
            valid = type(value) in (int, float) and 0 < value <= 1
        else:
            valid = type(value) is self.kind and value in (self.choices or (True, False))
        if not valid:  # a hint looks for similar words, which takes longer than a small evaluation
            fact, hint = self._refusal(name, value)
            raise PolicyError(fact, parameter=name, value=value, hint=hint)

    def _refusal(self, name: str, value: Any) -> tuple[str, str]:
        if self.kind is int:
            return "is not a rank.", f"{given(name)} is a whole number from 1{either(', or None')}"
        if self.kind is float:
            return "is not a share.", f"{given(name)} is a number above 0, up to 1"
        allowed = tuple(self.choices) if self.choices else (True, False)
        return "is not a policy.", choice_hint(f"{given(name)} may be", map(repr, allowed), repr(value))

    def spelled(self, value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "all" if value is None else f"{value:g}" if self.kind is float else str(value)

    def __str__(self) -> str:
        if self.choices:
            return f"{self.meaning}: " + ", ".join(f'"{word}" ({what})' for word, what in self.choices.items()) + "."
        others = {int: "None reads the whole ranking", float: "a number above 0, up to 1"}
        return f"{self.meaning}; {others.get(self.kind, 'True or False')}."


def setting(
    meaning: str,
    choices: Mapping[str, str] = MappingProxyType({}),
    *,
    default: bool | float | None = None,
    quiet: bool = False,
    live: bool = False,
) -> Any:
    """A field of a policy; the first of its choices is the default."""
    known = Setting(meaning, choices, next(iter(choices), default), quiet, live)
    return field(default=known.default, metadata={"setting": known})


@dataclass(frozen=True, slots=True)
class Policy:
    """How rankings are read, what counts as judged, and how queries are counted.

    {settings}

    >>> Policy(ties="worst", depth=100).depth
    100
    """

    ties: Ties = setting(
        "Documents with equal scores",
        {
            "doc_id": "the larger id by bytes first, as trec_eval does",
            "smaller_doc_id": "the smaller id first, as trec_eval does for preferences alone",
            "file": "in the order of the file",
            "best": "the highest grade first, documents without a judgment last",
            "worst": "the highest grade last, documents without a judgment first",
            "expected": "in no order: a value is its mean over all orders",
        },
        live=True,
    )
    missing: Missing = setting(
        "A judged query that is missing from the run",
        {"zero": "counts 0", "skip": "is left out", "error": "is an error"},
    )
    duplicates: Duplicates = setting(
        "A document that appears twice in a ranking",
        {
            "error": "is an error",
            "first": "keeps its first line",
            "last": "keeps its last line",
            "best": "keeps its line with the highest score",
        },
    )
    depth: int | None = setting("The deepest rank read")
    same_id: SameId = setting(
        "A document with the query's own id",
        {"keep": "stays", "drop": "is removed, for collections whose queries are documents"},
        live=True,
    )
    negative: Negative = setting(
        "A document with a negative grade",
        {
            "unjudged": "was pooled, but not judged",
            "nonrelevant": "is judged and not relevant, like junk in TREC Web and Microblog",
        },
        quiet=True,
        live=True,
    )
    complete: bool = setting(
        "Documents without a judgment count as judged and not relevant", default=False, quiet=True, live=True
    )
    cover: float = setting(
        "The share of a judged passage that a chunk must contain to find it", default=0.5, quiet=True
    )

    def __post_init__(self) -> None:
        for name, known in settings_of(type(self)).items():
            known.check(name, getattr(self, name))

    def __str__(self) -> str:
        """The policy in a signature: the settings, in a fixed order.

        >>> str(Policy())
        'ties:doc_id|missing:zero|duplicates:error|depth:all|same_id:keep'
        >>> str(Policy(negative="nonrelevant", complete=True)).split("|")[5:]
        ['negative:nonrelevant', 'complete:yes']
        """
        values = ((name, known, getattr(self, name)) for name, known in settings_of(type(self)).items())
        return "|".join(
            f"{name}:{known.spelled(value)}"
            for name, known, value in values
            if not known.quiet or value != known.default
        )


def settings_of(policy: type[Policy] = Policy) -> dict[str, Setting]:
    return {known.name: known.metadata["setting"] for known in fields(policy)}


_LINES = (
    fill(f"{name}: {known}", 116, initial_indent=" " * 4, subsequent_indent=" " * 8)
    for name, known in settings_of().items()
)
Policy.__doc__ = (Policy.__doc__ or "").replace("    {settings}", "\n".join(_LINES))
