"""The pages about the Python interface, from its docstrings: an overview, and one for each area.

`python docs/site/api.py docs` writes docs/api.md and docs/api/*.md.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cranfield
from cranfield import errors

HEAD = """\
---
hide: [toc]
---

# Python

Look up every public name: what it takes, what it returns, and an example. All of them are in the package `cranfield`,
those about PyTorch in `cranfield.torch`. [In Python](guides/python.md) shows the usual ones at work. Anything that is
not on these pages may change without notice.
"""
AREA = """\
The examples begin with

```python
>>> from cranfield import *

```

All names: [Python](../api.md).
"""
TORCH = """\
Scores and embeddings on any device, in `cranfield.torch` (`pip install 'cranfield[torch]'`); the guide is
[A training loop](../guides/training.md), and all names are under [Python](../api.md).

<!-- needs: torch -->
```python
>>> import torch
>>> from cranfield.torch import *

```
"""
# Where each name stands. A new one that is in no group comes under "Also" until it has a place.
GROUPS = {
    "Evaluate runs": (
        "evaluate",
        "evaluate_runs",
        "evaluate_lazily",
        "value",
        "explain",
        "explain_grades",
        "Evaluation",
        "Estimate",
        "Evaluations",
        "LazyEvaluation",
        "Explanation",
        "Policy",
    ),
    "Other tools": ("why", "evaluate_like", "known_dialects", "Why", "Reason", "LikeEvaluation", "Dialect"),
    "Choose a measure": (
        *("parse_measure", "parse_measures", "catalogue", "bibtex", "advise", "preset"),
        *("Measure", "Advice", "CollectionPreset"),
    ),
    "Compare systems": (
        *("compare", "compare_evaluations", "gate", "frontier", "stability", "reusability"),
        *(
            "Comparison",
            "Difference",
            "Doubt",
            "SegmentComparison",
            "GateResult",
            "Frontier",
            "Stability",
            "Reusability",
        ),
    ),
    "Mix runs": (
        "fuse",
        "tune",
        "tune_system",
        "headroom",
        "rerank_by_depth",
        "Fused",
        "Tuning",
        "Headroom",
        "RerankedDepth",
    ),
    "Groups and answers": ("within_groups", "WithinGroups", "GroupNoise", "Answering"),
    "Production traffic": (
        "sample_queries",
        "TeamDraft",
        "preferred",
        "QuerySample",
        "SampledQuery",
        "Credit",
        "Preference",
    ),
    "How many queries": ("queries_needed", "detectable_difference", "power_of", "query_set_sizes"),
    "Compare rankings with each other": (
        *("diff", "neighbour_recall", "rbo", "run_overlap", "kendall_tau", "tau_ap", "spearman_rho"),
        *("RunDiff", "NeighbourRecall", "Overlap", "RunOverlap"),
    ),
    "Check and convert files": ("check_files", "convert_file", "CheckReport", "Problem", "Conversion"),
    "Ask live systems": (
        "open_collection",
        "open_system",
        "record",
        "rerank",
        "collapse_run",
        "Collection",
        "Query",
        "Recorded",
    ),
    "Judge documents": (
        *("open_store", "pool", "plan_sample", "save_sheet", "read_sheet", "agreement", "decide"),
        *("Store", "Pooled", "SamplePlan", "PlannedSample", "WrittenSheet", "ReadSheet", "Agreement"),
        *("Decision", "Look", "PairLook"),
    ),
    "Models as assessors": (
        *("ask_model", "ModelAssessor", "ModelReport", "corrected_judgments", "CorrectedJudgments"),
        *("modelled_values", "ModelledValue"),
    ),
    "Clicks as an assessor": ("judge_by_clicks", "fit_clicks", "ClickReport", "Clicks"),
    "Chunks and passages": ("ChunkRun", "Chunks", "PassageJudgments"),
    "Keyphrases": ("keyphrases",),
    "Recommenders": ("RecommenderRun", "Interactions", "Split", "read_interactions"),
    "Agents": ("calls", "Calls", "Call", "SearchRun", "Search", "read_searches"),
    "Reports and charts": ("write_report", "write_comparison", "draw_chart", "save_chart", "ReportFile"),
    "Write a measure": ("measure", "ratio", "JudgedRanks", "Judgments", "GroupedJudgments", "inherit_grades"),
}
ERRORS = tuple(name for name in cranfield.__all__ if isinstance(getattr(errors, name, None), type))
# What is made by a function of this package, never by its users.
MADE = {
    "CollectionPreset",
    "CorrectedJudgments",
    "Estimate",
    "Evaluation",
    "Evaluations",
    "LazyEvaluation",
    "Explanation",
    "Comparison",
    "GateResult",
    "SegmentComparison",
    "Stability",
    "Reusability",
    "JudgedRanks",
    "Judgments",
    "GroupedJudgments",
}
_PARAMETER = re.compile(r"(\w+(?:\(\))?(?:, \w+)*): (.*)")


def pages() -> dict[str, str]:
    """Every page by its path in docs, in Markdown: the overview, and one for each area."""
    found = {"api.md": _overview()}
    for title, names in _areas().items():
        if title == "PyTorch":
            text = [TORCH, *map(_parsed, _torch().values())]
        else:
            told = [_prose(inspect.getdoc(errors) or "")] if title == "Errors" else []
            text = [AREA, *told, *(_named(name, getattr(cranfield, name)) for name in names)]
        found[_path(title)] = "\n".join([f"# {title}\n", *text])
    return found


@cache
def _areas() -> dict[str, tuple[str, ...]]:
    """The names of each page. PyTorch's are read from the source, since it may not be installed."""
    known = {name for names in GROUPS.values() for name in names} | {*ERRORS, "__version__"}
    groups = {**GROUPS, "Also": tuple(name for name in cranfield.__all__ if name not in known), "Errors": ERRORS}
    areas = {title: tuple(name for name in names if name in cranfield.__all__) for title, names in groups.items()}
    areas["PyTorch"] = tuple(f"torch-{name}" for name in _torch())
    return {title: names for title, names in areas.items() if names}


def _path(title: str) -> str:
    return f"api/{title.lower().replace(' ', '-')}.md"


def _overview() -> str:
    """A table to filter. Each row has the anchor of what was here in one page once."""
    lines = [HEAD, '<div class="filtered" markdown>', "", "| name | what it is | area |"]
    lines.append("| --- | --- | --- |")
    for title, names in _areas().items():
        for name in names:
            link = f'<a id="{name}" class="moved"></a>[`{_spoken(name)}`]({_path(title)}#{name})'
            lines.append(f"| {link} | {_summary(name)} | {title} |")
    lines += ["", "</div>", "", "## Areas", "", "| area | names |", "| --- | --- |"]
    for title, names in _areas().items():
        shown = ", ".join(f"`{_spoken(name)}`" for name in names)
        lines.append(f'| <a id="{_path(title)[4:-3]}" class="moved"></a>[{title}]({_path(title)}) | {shown} |')
    return "\n".join([*lines, ""])


def _spoken(name: str) -> str:
    return name.replace("-", ".")


def _summary(name: str) -> str:
    """The first sentence of a docstring."""
    of_torch = name.partition("torch-")[2]
    doc = ast.get_docstring(_torch()[of_torch]) if of_torch else inspect.getdoc(getattr(cranfield, name))
    first = " ".join((doc or "").split("\n\n")[0].split())
    return _safe(re.split(r"(?<=[.?!])\s", first)[0], links=False).replace("|", "\\|")


@cache
def _torch() -> dict[str, Any]:
    """The functions and classes about PyTorch, as they are written."""
    folder, found = Path(cranfield.__file__).with_name("torch"), {}
    for file, names in (
        ("scores", ["evaluate"]),
        ("corpus", ["FullCorpus"]),
        ("ragged", ["evaluate_flat", "RetrievalMeasures"]),
        ("evaluator", ["RetrievalEvaluator"]),
    ):
        for node in ast.parse((folder / f"{file}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names:
                found[node.name] = node
    return found


def _parsed(node: Any) -> str:
    """A function or class that is not imported."""

    def signature(function: ast.FunctionDef, name: str) -> str:
        given = ast.unparse(function.args).removeprefix("self, ").removeprefix("self")
        returns = f" -> {ast.unparse(function.returns)}" if function.returns and function.name != "__init__" else ""
        return _wrapped(name, _split(given), returns)

    text = [f"## torch.{node.name} {{ #torch-{node.name} }}\n"]
    if isinstance(node, ast.FunctionDef):
        return "\n".join([*text, signature(node, f"torch.{node.name}"), _prose(ast.get_docstring(node) or "", "torch")])
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    text += [signature(method, f"torch.{node.name}") for method in methods if method.name == "__init__"]
    text.append(_prose(ast.get_docstring(node) or "", "torch"))
    for method in methods:
        told = ast.get_docstring(method)
        if told and not method.name.startswith("_"):
            text += [f"### {method.name} {{ #torch-{node.name}-{method.name} }}\n", signature(method, method.name)]
            text.append(_prose(told, "torch"))
    return "\n".join(text)


def _split(parameters: str) -> list[str]:
    """The parameters of a signature; commas in brackets do not part them."""
    found, depth = [""], 0
    for sign in parameters:
        depth += (sign in "[({") - (sign in "])}")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [part.strip() for part in found if part.strip()]


def _named(name: str, thing: Any) -> str:
    text = [f"## {name} {{ #{name} }}\n"]
    if not inspect.isclass(thing):
        return "\n".join([*text, _signature(name, thing), _prose(inspect.getdoc(thing) or "")])
    if name not in MADE and name not in ERRORS:
        text.append(_signature(name, thing))
    text.append(_prose(thing.__doc__ or "" if dataclasses.is_dataclass(thing) else inspect.getdoc(thing) or ""))
    if fields := _fields(thing):
        text.append("\n".join(fields) + "\n")
    for method, function in _members(thing).items():
        if not method.startswith("_"):
            text.append(_method(name, method, function))
    return "\n".join(filter(None, text))


def _members(thing: type) -> dict[str, Any]:
    """What a class has, its own first, then what it takes from a class that has no section here."""
    hidden = [base for base in thing.__mro__[1:] if base.__module__.startswith("cranfield.")]
    hidden = [base for base in hidden if base.__name__ not in cranfield.__all__]
    inherited = {name: member for base in reversed(hidden) for name, member in vars(base).items()}
    return {**vars(thing), **{name: member for name, member in inherited.items() if name not in vars(thing)}}


def _method(owner: str, name: str, member: Any) -> str:
    function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    if not inspect.isfunction(function) or not function.__doc__:
        return ""
    head = f"### {name} {{ #{owner}-{name} }}\n"
    if function is not member and not isinstance(member, classmethod | staticmethod):
        annotation = function.__annotations__.get("return", "")
        return "\n".join([head, f"`{name}: {annotation}`\n", _prose(inspect.getdoc(function) or "")])
    return "\n".join([head, _signature(name, function, skip_first=True), _prose(inspect.getdoc(function) or "")])


def _fields(thing: type) -> list[str]:
    """The fields of a record, with what the comments beside them say."""
    if not dataclasses.is_dataclass(thing) and not hasattr(thing, "_fields"):
        return []
    try:
        hidden = [base for base in reversed(thing.__mro__) if dataclasses.is_dataclass(base) and base is not thing]
        source = "".join(inspect.getsource(each).partition("    def ")[0] for each in (*hidden, thing))
    except OSError:
        return []
    found = re.findall(r"^    (\w+): ([^=#\n]+?)(?: = [^#\n]+)?(?:  # (.*))?$", source, re.M)
    unseen = (
        {each.name for each in dataclasses.fields(thing) if not each.repr} if dataclasses.is_dataclass(thing) else ()
    )
    told = thing.__doc__ or ""
    return [
        f"- `{name}: {kind}`{f' – {comment}' if comment else ''}"
        for name, kind, comment in found
        if name not in unseen
        and not name.startswith("_")
        and not re.search(rf"^ *(\w+, )*{name}(, \w+)*: ", told, re.M)
    ]


def _signature(name: str, function: Callable[..., Any], *, skip_first: bool = False) -> str:
    signature = inspect.signature(function)
    parameters = [each for each in signature.parameters.values() if not each.name.startswith("_")][skip_first:]
    shown, star = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        shown.append(_plain(str(parameter)))
    returns = signature.return_annotation
    nothing = returns is inspect.Signature.empty or inspect.isclass(function)
    return _wrapped(name, shown, "" if nothing else f" -> {_plain(str(returns))}")


def _plain(text: str) -> str:
    """Annotations as they are written."""
    return re.sub(r"(: |^)'([^']*)'", r"\1\2", text)


def _wrapped(name: str, parameters: list[str], returns: str) -> str:
    line = f"{name}({', '.join(parameters)}){returns}"
    if len(line) > 90:
        line = "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){returns}"])
    return f"```py\n{line}\n```\n"


def _prose(doc: str, needs: str = "") -> str:
    """A docstring as Markdown: parameters as a list, examples and what is indented as blocks."""
    out: list[str] = []
    for paragraph in inspect.cleandoc(doc).split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0].startswith(">>>"):
            remark = [f"<!-- needs: {needs} -->"] if needs else []
            out += ["", *remark, "```python", *lines, "", "```", ""]
        elif lines[0].startswith("    "):
            out += ["", "```text", *(line.removeprefix("    ") for line in lines), "```", ""]
        else:
            out += ["", *_lines(lines), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n") + "\n"


def _lines(lines: list[str]) -> Iterator[str]:
    listed = False
    for line in lines:
        if found := _PARAMETER.fullmatch(line):
            if not listed:
                yield ""
            listed = True
            yield f"- `{found[1]}`: {_safe(found[2])}"
        elif line.startswith("    "):
            yield f"  {_safe(line.strip())}"
        else:
            if listed:
                yield ""
            listed = False
            yield _safe(line)


def _safe(text: str, *, links: bool = True) -> str:
    """Public names as links, and no sign outside of code that Markdown would take for its own."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*<\[_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [_link(part) if links and part in cranfield.__all__ else f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def _link(name: str) -> str:
    """To the name on its page, which stands beside the page that has the link."""
    [*homes] = [_path(title).partition("/")[2] for title, names in _areas().items() if name in names]
    return f"[`{name}`]({homes[0]}#{name})" if homes else f"`{name}`"


if __name__ == "__main__":
    for path, page in pages().items():
        target = Path(sys.argv[1]) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
