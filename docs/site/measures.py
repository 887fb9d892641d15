"""Writes the page about all measures from the registry: `python docs/site/measures.py docs/measures.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

from cranfield.measures import Definition, catalogue, families
from cranfield.measures.other_tools import rag_names_of
from cranfield.show.measure_text import parameter_lines, unwrapped, values_text

_TOKEN = re.compile(
    r"(?P<name>[A-Za-z]\w*@\w+)|(?P<log>log(?:2|_b))|(?P<under>[A-Za-z]+_\w+)|(?P<word>[A-Za-z]{2,}\d*)"
    r"|(?P<power>\^\([^()]*\)|\^-?\w+)|(?P<raised>[²ⁱ⁻¹]+)|(?P<letter>[^\W\d_]'?)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<space>\s+)|(?P<sign>.)"
)
_SIGNS = {
    "Σ": r"\sum",
    "Π": r"\prod",
    "·": r"\cdot",
    "≤": r"\le",
    "≥": r"\ge",
    "∩": r"\cap",
    "∪": r"\cup",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "{": r"\{",
    "}": r"\}",
    "…": r"\ldots",
    "α": r"\alpha",
    "β": r"\beta",
    "ε": r"\varepsilon",
    "|": r"\vert",
}
_RAISED = str.maketrans("²ⁱ⁻¹", "2i-1")
_FUNCTIONS = {"min", "max", "exp", "ln"}


def latex(formula: str) -> str:
    r"""A formula as LaTeX; words stay words.

    >>> latex("RBP = (1 - p) · Σ gain_i · p^(i-1)")
    '\\mathrm{RBP} = (1 - p) \\cdot \\sum \\text{gain}_{i} \\cdot p^{i-1}'
    """
    names = {"ICG", *catalogue()}
    parts: list[tuple[str, bool]] = []  # each with whether it is a word of a sentence
    tokens = [match for match in _TOKEN.finditer(" ".join(formula.split())) if match.lastgroup != "space"]
    for place, token in enumerate(tokens):
        kind, text = token.lastgroup, token[0]
        # The article, between two words.
        article = text == "a" and any(
            0 <= near < len(tokens) and tokens[near].lastgroup == "word" for near in (place - 1, place + 1)
        )
        word = article or (kind == "word" and text not in names | _FUNCTIONS)
        parts.append((text if word else _sign(kind or "", text, names), word))
    out = ""
    for place, (text, word) in enumerate(parts):
        if word and place and parts[place - 1][1]:
            out = f"{out[:-1]} {text}}}"  # one sentence
        elif word:
            blank = "" if not out or out[-1] in "([" else " "
            out += f"\\text{{{blank}{text}}}"
        else:
            tight = text[0] in "^),;:]" or not out or (out[-1] in "([" and text != "=")
            beside = text == "(" and re.search(r"(\\[a-z]+(_\w)?|[A-Za-z])$", out) and not out.endswith("cdot")
            spaced = "~" if place and parts[place - 1][1] and text[0] not in "^),;:]_" else ""
            out += spaced + ("" if tight or beside else " ") + text
    return re.sub(r"\\text\{([^{}]*)\}~? ?(?=\S)", _with_blank, out)


def _with_blank(found: re.Match[str]) -> str:
    follows = found.string[found.end() : found.end() + 1]
    return f"\\text{{{found[1]}}}" if follows in ("_", ")", ",", ";", ":", "^", "]", "}") else f"\\text{{{found[1]} }}"


def _sign(kind: str, text: str, names: set[str]) -> str:
    if kind == "name":
        name, _, at = text.partition("@")
        return f"\\mathrm{{{_plain(name)}@}}{at}"
    if kind == "log":
        return r"\log_2" if text == "log2" else r"\log_b"
    if text in names and len(text) > 1:
        return f"\\mathrm{{{_plain(text)}}}"
    if text.startswith("max_"):
        return f"\\text{{{_plain(text)}}}"
    if kind == "under":
        base, _, sub = text.partition("_")
        below = sub if len(sub) == 1 else f"\\text{{{_plain(sub)}}}"
        return f"{base if len(base) == 1 else f'{chr(92)}text{{{base}}}'}_{{{below}}}"
    if kind == "power":
        return f"^{{{latex(text[1:].removeprefix('(').removesuffix(')')).replace(' ', '')}}}"
    if kind == "raised":
        return f"^{{{text.translate(_RAISED)}}}"
    return f"\\{text}" if text in _FUNCTIONS else _SIGNS.get(text, text)


def _plain(text: str) -> str:
    return text.replace("_", r"\_")


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


def _family(family: ModuleType, definitions: list[Definition]) -> str:
    title, _, rest = (family.__doc__ or "").strip().partition("\n")
    entries = [_entry(definition) for definition in definitions]
    return "\n".join([f"## {title.rstrip('.')}\n", *([rest.strip() + "\n"] if rest.strip() else []), *entries])


def _entry(definition: Definition) -> str:
    paragraphs = [unwrapped(part) for part in (definition.function.__doc__ or "").strip().split("\n\n")]
    summary, formula, notes = paragraphs[0], paragraphs[1], paragraphs[2:]
    parameters = parameter_lines(definition)
    facts = ["- Parameters:", *(f"    - {each}" for each in parameters)] if parameters else ["- Parameters: none"]
    if aliases := (*definition.aliases, *(spoken.name for spoken in rag_names_of(definition))):
        facts.append(f"- Also: {', '.join(f'`{alias}`' for alias in aliases)}")
    if definition.advice:
        facts.append(f"- When: {definition.advice}")
    facts.append(f"- Values: {values_text(definition)}")
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


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(measures_page(), encoding="utf-8")
