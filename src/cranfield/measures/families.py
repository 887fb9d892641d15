"""The families of measures, one file each; a family is imported when a measure is looked for that may be in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

# In the order of the documentation.
FAMILIES = (
    "counts",
    "sets",
    "precision",
    "recall_levels",
    "gain",
    "users",
    "cwl",
    "incomplete",
    "sampled",
    "similarity",
    "diversity",
    "groups",
    "preferences",
    "text",
)
_USUAL = ("precision", "gain")  # what nearly everybody asks for


def families() -> list[ModuleType]:
    """All families, in the order of the documentation."""
    return [_family(name) for name in FAMILIES]


def families_one_by_one() -> Iterator[ModuleType]:
    """The families in the order in which it pays to look into them, each imported when it is its turn."""
    return map(_family, dict.fromkeys((*_USUAL, *FAMILIES)))


@cache
def _family(name: str) -> ModuleType:
    return import_module(f"{__package__}.{name}")


def comes_with_us(function: object) -> bool:
    """Whether a function is one of cranfield's own."""
    return module_of(function).partition(".")[0] == __name__.partition(".")[0]


def module_of(function: object) -> str:
    """The name of the module that a function is from."""
    return getattr(function, "__module__", None) or "<unknown>"
