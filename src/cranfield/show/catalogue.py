"""The page about all measures, written from the registry: `python -m cranfield.show.catalogue docs/measures.md`."""

from __future__ import annotations

import sys
from types import ModuleType

from cranfield.measures import FAMILIES, Definition, catalogue
from cranfield.measures.registry import REQUIRED

INTRODUCTION = """\
# Measures

A measure is written `Name(parameter=value)@cutoff`: `nDCG@10`, `P(rel=2)@5`, `AP`. Upper and lower case do not matter,
and the aliases parse to the same measure. Every measure also takes `judged_only=True`, which leaves unjudged documents
out of the ranking before measuring. `rel` is the lowest grade that counts as relevant.

In the formulas, i is a rank from 1, n the number of documents retrieved, R the number of relevant ones, retrieved or
not. A query without relevant documents scores 0.
"""


def measures_page() -> str:
    """The page, in Markdown."""
    by_family: dict[str, list[Definition]] = {}
    for definition in catalogue().values():
        by_family.setdefault(definition.function.__module__, []).append(definition)
    parts = [INTRODUCTION, *(_family(family, by_family[family.__name__]) for family in FAMILIES)]
    return "\n".join(parts)


def _family(family: ModuleType, definitions: list[Definition]) -> str:
    title, _, rest = (family.__doc__ or "").strip().partition("\n")
    entries = [_entry(definition) for definition in definitions]
    return "\n".join([f"## {title.rstrip('.')}\n", *([rest.strip() + "\n"] if rest.strip() else []), *entries])


def _entry(definition: Definition) -> str:
    paragraphs = [_unwrapped(part) for part in (definition.function.__doc__ or "").strip().split("\n\n")]
    summary, formula, notes = paragraphs[0], paragraphs[1], paragraphs[2:]
    facts = [f"- Parameters: {_parameters(definition)}"]
    if definition.aliases:
        facts.append(f"- Also: {', '.join(f'`{alias}`' for alias in definition.aliases)}")
    if definition.advice:
        facts.append(f"- When: {definition.advice}")
    if definition.reference:
        facts.append(f"- Reference: {definition.reference}")
    return "\n".join(
        [f"### {definition.name}\n", summary, f"\n    {formula}\n", *(f"{note}\n" for note in notes), *facts, ""]
    )


def _parameters(definition: Definition) -> str:
    shown = []
    for name, default in definition.defaults.items():
        if name == "judged_only":
            continue
        usual = "required" if default is REQUIRED else "none" if default is None else f"{default}"
        at = ", set by `@`" if name == definition.at else ""
        shown.append(f"`{name}` ({definition.kinds[name].allowed}; {usual}{at})")
    return ", ".join(shown) or "none"


def _unwrapped(paragraph: str) -> str:
    return " ".join(line.strip() for line in paragraph.split("\n"))


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as page:
        page.write(measures_page())
