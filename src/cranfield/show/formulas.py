"""The formulas of docstrings as LaTeX, for pages that render it."""

from __future__ import annotations

import re

from cranfield.measures import catalogue

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
