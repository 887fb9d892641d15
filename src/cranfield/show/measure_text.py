"""All measures as the registry knows them: the page about them, and what `cranfield measures` prints."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from cranfield.layout import UNPAINTED, Paint, wrapped
from cranfield.measures import Definition, catalogue, families
from cranfield.measures.parameters import ParameterKind
from cranfield.measures.rag_names import explained_elsewhere, names_elsewhere
from cranfield.measures.registry import REQUIRED
from cranfield.show.formulas import latex

INTRODUCTION = """\
# Measures

Find a measure that suits your data, and see its formula, its paper and how to write it. A measure is written
`Name(parameter=value)@cutoff`: `nDCG@10`, `P(rel=2)@5`, `AP`. Upper and lower case do not matter, and the aliases parse
to the same measure. Every measure also takes `judged_only=True`, which leaves unjudged documents out of the ranking
before measuring. `rel` is the lowest grade that counts as relevant.

In the formulas, i is a rank from 1, n the number of documents retrieved, R the number of relevant ones, retrieved or
not. A query without relevant documents scores 0.
"""


def measures_page() -> str:
    """The page, in Markdown."""
    by_family: dict[str, list[Definition]] = {}
    for definition in catalogue().values():
        by_family.setdefault(definition.function.__module__, []).append(definition)
    parts = [
        INTRODUCTION,
        _overview(by_family),
        *(_family(family, by_family[family.__name__]) for family in families()),
    ]
    return "\n".join(parts)


def _overview(by_family: dict[str, list[Definition]]) -> str:
    lines = ["| family | measures |", "| --- | --- |"]
    for family in families():
        title = (family.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        names = (f"[{each.name}](#{each.name.lower()})" for each in by_family[family.__name__])
        lines.append(f"| {title} | {', '.join(names)} |")
    return "\n".join([*lines, ""])


def measures_text(width: int, paint: Paint = UNPAINTED) -> str:
    """All measures, a line for each, by family."""
    known = catalogue()
    names = max(map(len, known))
    homes = [family.__name__ for family in families()]
    titles = {family.__name__: (family.__doc__ or "").strip().partition("\n")[0] for family in families()}
    lines: list[str] = []
    for home in dict.fromkeys([*homes, *(each.function.__module__ for each in known.values())]):
        lines += ["", *map(paint.strong, wrapped(titles.get(home, "Of your own."), width=width))]
        for definition in known.values():
            if definition.function.__module__ == home:
                first, *rest = wrapped(definition.summary, width=max(width - names - 4, 20))
                lines += [f"  {definition.name:<{names}}  {first}", *(" " * (names + 4) + line for line in rest)]
    return "\n".join(lines[1:])


def measure_text(definition: Definition, width: int, paint: Paint = UNPAINTED) -> str:
    """Everything about one measure."""
    paragraphs = [_unwrapped(part) for part in (definition.function.__doc__ or "").strip().split("\n\n")]
    summary, formula, notes = paragraphs[0], definition.formula, paragraphs[2:]
    lines = [paint.strong(definition.name), "", *wrapped(summary, width=width), ""]
    lines += wrapped(_unwrapped(formula), "    ", hang=8, width=width - 4)
    for note in notes:
        lines += ["", *wrapped(note, width=width)]
    parameters = _parameters(definition)
    lines += ["", paint.strong("Parameters:") + ("" if parameters else " none")]
    for each in parameters:
        lines += wrapped(each.replace("`", ""), "  ", hang=4, width=width)
    facts = {
        "Also called": ", ".join((*definition.aliases, *names_elsewhere(definition))),
        "When": definition.advice,
        "Values": _values(definition),
        "Reference": definition.reference,
    }
    for name, fact in facts.items():
        if fact:
            first, *rest = wrapped(f"{name}: {fact}", hang=2, width=width)
            lines += ["", first.replace(f"{name}:", paint.strong(f"{name}:"), 1), *rest]
    if explained := explained_elsewhere(definition):
        lines += ["", paint.strong("In tools for RAG:")]
        for each in explained:
            lines += wrapped(each, "  ", hang=4, width=width)
    return "\n".join(lines)


def _family(family: ModuleType, definitions: list[Definition]) -> str:
    title, _, rest = (family.__doc__ or "").strip().partition("\n")
    entries = [_entry(definition) for definition in definitions]
    return "\n".join([f"## {title.rstrip('.')}\n", *([rest.strip() + "\n"] if rest.strip() else []), *entries])


def _entry(definition: Definition) -> str:
    paragraphs = [_unwrapped(part) for part in (definition.function.__doc__ or "").strip().split("\n\n")]
    summary, formula, notes = paragraphs[0], paragraphs[1], paragraphs[2:]
    parameters = _parameters(definition)
    facts = ["- Parameters:", *(f"    - {each}" for each in parameters)] if parameters else ["- Parameters: none"]
    if aliases := (*definition.aliases, *names_elsewhere(definition)):
        facts.append(f"- Also: {', '.join(f'`{alias}`' for alias in aliases)}")
    if definition.advice:
        facts.append(f"- When: {definition.advice}")
    facts.append(f"- Values: {_values(definition)}")
    if definition.reference:
        facts.append(f"- Reference: {definition.reference}")
    return "\n".join(
        [
            f"### {definition.name}\n",
            summary,
            f"\n```math\n{latex(formula)}\n```\n",
            *(f"{note}\n" for note in notes),
            *facts,
            "",
        ]
    )


def _values(definition: Definition) -> str:
    low, high = definition.range
    if low == -math.inf:
        return "any number"
    upper = "" if high == math.inf else f" to {high:g}"
    return f"from {low:g}{upper}{', lower is better' if definition.lower_is_better else ''}"


def _parameters(definition: Definition) -> list[str]:
    """What each parameter means, its values and its default; `judged_only` is left out, since every measure has it."""
    return [
        _parameter(name, definition.kinds[name], default, at=name == definition.at)
        for name, default in definition.defaults.items()
        if name != "judged_only"
    ]


def _parameter(name: str, kind: ParameterKind, default: Any, *, at: bool) -> str:
    usual = "required" if default is REQUIRED else f"default {'none' if default is None else default}"
    usual += "; set by `@`" if at else ""
    meaning = f": {kind.meaning}" if kind.meaning else ""
    if kind.words:
        words = ", ".join(f"{word} ({what})" for word, what in kind.words.items())
        return f"`{name}`{meaning}: {words}; {usual}"
    return f"`{name}`{meaning} ({kind.allowed}; {usual})"


def _unwrapped(paragraph: str) -> str:
    return " ".join(line.strip() for line in paragraph.split("\n"))
