"""Measures as the registry knows them, for `cranfield measures`."""

from __future__ import annotations

import math
from typing import Any

from cranfield.measures import Definition, catalogue, families
from cranfield.measures.other_tools import rag_names_of
from cranfield.measures.parameters import ParameterKind
from cranfield.measures.registry import REQUIRED
from cranfield.show.layout import UNPAINTED, Paint, wrapped

# What most evaluations need; all others are listed after these.
FIRST = ("nDCG", "AP", "RR", "P", "R", "Success", "Judged")


def measures_text(width: int, paint: Paint = UNPAINTED) -> str:
    """All measures by family, after the few that most evaluations need, with the advice when to use them."""
    known = catalogue()
    names = max(map(len, known))
    homes = [family.__name__ for family in families()]
    titles = {family.__name__: (family.__doc__ or "").strip().partition("\n")[0] for family in families()}

    def entry(name: str, text: str) -> list[str]:
        first, *rest = wrapped(text, width=max(width - names - 4, 20))
        return [f"  {name:<{names}}  {first}", *(" " * (names + 4) + line for line in rest)]

    lines = [paint.strong("The usual ones, and when to use them.")]
    lines += [line for name in FIRST for line in entry(name, known[name].advice)]
    for home in dict.fromkeys([*homes, *(definition.function.__module__ for definition in known.values())]):
        lines += ["", *map(paint.strong, wrapped(titles.get(home, "Of your own."), width=width))]
        for definition in known.values():
            if definition.function.__module__ == home:
                lines += entry(definition.name, definition.summary)
    return "\n".join([*lines, "", *map(paint.dim, wrapped("One in full: cranfield measures nDCG", width=width))])


def measure_text(definition: Definition, width: int, paint: Paint = UNPAINTED) -> str:
    paragraphs = [unwrapped(part) for part in (definition.function.__doc__ or "").strip().split("\n\n")]
    summary, formula, notes = paragraphs[0], definition.formula, paragraphs[2:]
    lines = [paint.strong(definition.name), "", *wrapped(summary, width=width), ""]
    lines += wrapped(unwrapped(formula), "    ", hang=8, width=width - 4)
    for note in notes:
        lines += ["", *wrapped(note, width=width)]
    parameters = parameter_lines(definition)
    lines += ["", paint.strong("Parameters:") + ("" if parameters else " none")]
    for line in parameters:
        lines += wrapped(line.replace("`", ""), "  ", hang=4, width=width)
    spoken = rag_names_of(definition)
    facts = {
        "Also called": ", ".join((*definition.aliases, *(rag_name.name for rag_name in spoken))),
        "When": definition.advice,
        "Values": values_text(definition),
        "Reference": definition.reference,
    }
    for name, fact in facts.items():
        if fact:
            first, *rest = wrapped(f"{name}: {fact}", hang=2, width=width)
            lines += ["", first.replace(f"{name}:", paint.strong(f"{name}:"), 1), *rest]
    if spoken:
        lines += ["", paint.strong("In tools for RAG:")]
        for rag_name in spoken:
            lines += wrapped(str(rag_name), "  ", hang=4, width=width)
    return "\n".join(lines)


def values_text(definition: Definition) -> str:
    low, high = definition.range
    if low == -math.inf:
        return "any number"
    upper = "" if high == math.inf else f" to {high:g}"
    return f"from {low:g}{upper}{', lower is better' if definition.lower_is_better else ''}"


def parameter_lines(definition: Definition) -> list[str]:
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


def unwrapped(paragraph: str) -> str:
    return " ".join(line.strip() for line in paragraph.split("\n"))
