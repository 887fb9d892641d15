"""The families of measures, one file each; a family is imported when a measure that may be in it is looked up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

# In the order of the documentation.
FAMILIES = (
    *("counts", "sets", "precision", "recall_levels", "gain", "users", "cwl"),
    *(
        "incomplete",
        "sampled",
        "similarity",
        "diversity",
        "groups",
        "preferences",
        "passage_text",
        "searches",
        "recommendations",
    ),
)
_USUAL = ("precision", "gain")  # the most frequent measures


def families() -> list[ModuleType]:
    return [_family(name) for name in FAMILIES]


def families_one_by_one() -> Iterator[ModuleType]:
    """The families in the order of searching, each imported when its turn comes."""
    return map(_family, dict.fromkeys((*_USUAL, *FAMILIES)))


@cache
def _family(name: str) -> ModuleType:
    return import_module(f"{__package__}.{name}")


def comes_with_us(function: object) -> bool:
    return module_of(function).partition(".")[0] == __name__.partition(".")[0]


def module_of(function: object) -> str:
    return getattr(function, "__module__", None) or "<unknown>"
