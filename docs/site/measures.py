"""Writes the pages about measures from the registry: an overview, and one page for each family.

`python docs/site/measures.py docs` writes docs/measures.md and docs/measures/*.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

from cranfield.measures import Definition, catalogue, families
from cranfield.measures.other_tools import rag_names_of
from cranfield.measures.trec_eval_names import ENTRIES, definition_of
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


NOT_MEASURES = ("runid", "relstring")  # what trec_eval prints besides

INTRODUCTION = """\
---
hide: [toc]
---

# Measures

Find a measure that suits your data, and see its formula, its paper and how to write it. A measure is written
`Name(parameter=value)@cutoff`: `nDCG@10`, `P(rel=2)@5`, `AP`. Upper and lower case do not matter, and the aliases parse
to the same measure. Every measure also takes `judged_only=True`, which leaves unjudged documents out of the ranking
before measuring. `rel` is the lowest grade that counts as relevant.

In the formulas, i is a rank from 1, n the number of documents retrieved, R the number of relevant ones, retrieved or
not. A query without relevant documents scores 0.
"""


def pages() -> dict[str, str]:
    """Every page by its path in docs, in Markdown: the overview, and one for each family."""
    by_family: dict[str, list[Definition]] = {}
    for definition in catalogue().values():
        by_family.setdefault(definition.function.__module__, []).append(definition)
    found = {"measures.md": _overview(by_family)}
    for family in families():
        found[_path(family.__name__)] = _family(family, by_family[family.__name__])
    return found


def _path(module: str) -> str:
    return f"measures/{module.rpartition('.')[2].replace('_', '-')}.md"


def _title(family: ModuleType) -> str:
    return (family.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def _overview(by_family: dict[str, list[Definition]]) -> str:
    """A table of families, and one of measures to filter. Each row has the anchor of what was here in one page once."""
    lines = [INTRODUCTION, '<div class="filtered" markdown>', ""]
    lines += ["| measure | what it is, and when to use it | family | in other tools |", "| --- | --- | --- | --- |"]
    told = _names_elsewhere()
    for family in families():
        kind, path = _title(family).partition(": ")[0], _path(family.__name__)
        for each in by_family[family.__name__]:
            anchor = each.name.lower()
            what = (
                f"{each.summary}<br><small>{each.advice}</small>"
                if each.advice not in ("", each.summary)
                else each.summary
            )
            elsewhere = "; ".join(f"{tool}: {', '.join(names)}" for tool, names in told.get(each.name, {}).items())
            link = f'<a id="{anchor}" class="moved"></a>[{each.name}]({path}#{anchor})'
            lines.append(f"| {link} | {what} | {kind} | {elsewhere} |")
    lines += ["", "</div>", "", "## Families", "", "| family | what it holds | measures |", "| --- | --- | --- |"]
    for family in families():
        kind, _, what = _title(family).partition(": ")
        old = re.sub(r"[^\w\- ]", "", _title(family).lower()).replace(" ", "-")
        path, number = _path(family.__name__), len(by_family[family.__name__])
        lines.append(f'| <a id="{old}" class="moved"></a>[{kind}]({path}) | {what[:1].upper()}{what[1:]} | {number} |')
    return "\n".join([*lines, ""])


def _names_elsewhere() -> dict[str, dict[str, list[str]]]:
    """By measure: what each tool calls it, then what else it is called."""
    found: dict[str, dict[str, list[str]]] = {}
    for name in ENTRIES:
        if name not in NOT_MEASURES:
            found.setdefault(definition_of(name)[0].name, {}).setdefault("trec_eval", []).append(f"`{name}`")
    for definition in catalogue().values():
        named = found.setdefault(definition.name, {})
        if spoken := rag_names_of(definition):
            named["tools for RAG"] = [f"`{each.name}`" for each in spoken]
        shown = {name for names in named.values() for name in names}
        if others := [f"`{alias}`" for alias in definition.aliases if f"`{alias}`" not in shown]:
            named["also"] = others
    return found


def _family(family: ModuleType, definitions: list[Definition]) -> str:
    kind, _, what = _title(family).partition(": ")
    rest = (family.__doc__ or "").strip().partition("\n")[2].strip()
    names = ", ".join(f"[{each.name}](#{each.name.lower()})" for each in definitions)
    head = [f"# {kind}", f"{what[:1].upper()}{what[1:]}{'' if what.endswith('?') else '.'}", *([rest] if rest else [])]
    head += [f"{names}. How to write a measure, and what the letters mean: [Measures](../measures.md)."]
    return "\n\n".join([*head, "\n".join(_entry(definition) for definition in definitions)])


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
            f"## {definition.name}\n",
            summary,
            f"\n```math\n{latex(formula)}\n```\n",
            *(f"{note}\n" for note in notes),
            *facts,
            "",
        ]
    )


if __name__ == "__main__":
    for path, page in pages().items():
        target = Path(sys.argv[1]) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
