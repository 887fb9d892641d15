"""`cranfield mcp`: a server for assistants, over standard input and output; its tools read files and write nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cranfield.cli import options
from cranfield.errors import CranfieldError, InputError, need
from cranfield.version import __version__

INSTRUCTIONS = (
    "Measures how good search results are, whether a change made them better, and which queries went wrong. Files are "
    "paths on this machine; the judgments 'builtin' with the runs 'builtin:plain' and 'builtin:tuned' are examples. A "
    "difference is a finding only where its verdict says so: quote the interval with it, and the warnings."
)


class AssistantTool(NamedTuple):
    """A tool: a function of plain values, and the entry of `OUTPUTS` that describes what it returns."""

    function: Callable[..., dict[str, Any]]
    output: str


def evaluate(
    qrels: str, runs: list[str], measures: list[str] | None = None, per_query: bool = False, worst: int = 0
) -> dict[str, Any]:
    """Measure one or more runs against judgments.

    qrels: the file of judgments, or builtin
    runs: files of runs
    measures: names such as nDCG@10, RR, AP, P(rel=2)@5; by default the usual ones
    per_query: with the value of every query
    worst: how many of the worst queries to describe
    """
    from cranfield.evaluation.evaluating import evaluate_runs
    from cranfield.evaluation.overview import overview
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.show.view import View

    found = evaluate_runs(_read(qrels), _read_all(runs), measures or DEFAULT_MEASURES)
    return View(overview(list(found.values()), per_query=per_query, worst=worst)).to_dict()


def compare(
    qrels: str, runs: list[str], measures: list[str] | None = None, baseline: str | None = None
) -> dict[str, Any]:
    """Compare runs query by query: how large each difference is, whether it is more than chance, and whether
    unjudged documents could reverse it.

    qrels: the file of judgments, or builtin
    runs: two or more files of runs
    measures: names of measures; the first decides, by default nDCG@10
    baseline: one of the runs, which the others are compared with
    """
    from cranfield.comparison.comparing import USUAL_MEASURES
    from cranfield.comparison.comparing import compare as compared

    return compared(_read(qrels), _read_all(runs), measures or USUAL_MEASURES, baseline=baseline).to_dict()


def explain(qrels: str, run: str, query: str, measures: list[str] | None = None, k: int = 10) -> dict[str, Any]:
    """Show how the values of one query are calculated, rank by rank.

    qrels: the file of judgments, or builtin
    run: the file of the run
    query: the id of the query
    measures: names of measures without a cutoff, such as nDCG
    k: down to which rank
    """
    from cranfield.evaluation.explaining import USUAL
    from cranfield.evaluation.explaining import explain as explained
    from cranfield.show.explanation_text import explanation_json

    found = explained(_read(qrels), _read(run), query, measures or USUAL, k)
    return dict(json.loads(explanation_json(found)))


def worst_queries(
    qrels: str, run: str, measure: str = "nDCG@10", n: int = 10, collection: str | None = None
) -> dict[str, Any]:
    """Find the queries that a run answers worst: what was expected, what was returned, and why they fail.

    qrels: the file of judgments, or builtin
    run: the file of the run
    measure: by which measure
    n: how many queries
    collection: a folder with the texts of queries and documents; by default the one beside the judgments
    """
    from cranfield.cli.input_options import shown_collection
    from cranfield.evaluation.evaluating import evaluate as evaluated
    from cranfield.systems.misses import misses

    evaluation = evaluated(_read(qrels), _read(run), measure)
    name = next(iter(evaluation))
    found = misses(evaluation, shown_collection(qrels, collection), evaluation.measures[0], n)
    queries = [miss.to_dict() for miss in found]
    return {"run": evaluation.run, "measure": name, "mean": evaluation[name], "queries": queries}


def check_files(qrels: str, runs: list[str]) -> dict[str, Any]:
    """Find all errors in a file of judgments and in files of runs, with file and line, and which measures suit them.

    qrels: the file of judgments
    runs: files of runs
    """
    from cranfield.evaluation.checking import check_files as checked
    from cranfield.show.check_text import check_json

    return dict(json.loads(check_json(checked(_read(qrels), _read_all(runs)))))


def history(
    store: str = ".cranfield/history.db", system: str = "", measure: str = "", last: int = 30
) -> dict[str, Any]:
    """Show quality over time: the last results with their intervals, what moved them beyond chance, and the verdict
    beside the accepted result.

    store: the history, a file or the URL of a database
    system: the name of a system; by default all
    measure: the name of a measure; by default the first that was measured
    last: how many results
    """
    from cranfield.show.history_text import history_json
    from cranfield.systems.history.lines import line_of
    from cranfield.systems.history.opening import open_history

    with open_history(_read(store), read_only=True) as kept:
        systems = [system] if system else kept.systems()
        lines = [line_of(kept, name, measure or None, last=last) for name in systems]
        return {"lines": json.loads(history_json(lines))}


TOOLS = {
    "evaluate": AssistantTool(evaluate, "evaluate"),
    "compare": AssistantTool(compare, "compare"),
    "explain": AssistantTool(explain, "explain"),
    "worst_queries": AssistantTool(worst_queries, "mcp worst_queries"),
    "check_files": AssistantTool(check_files, "check"),
    "history": AssistantTool(history, "mcp history"),
}


def _read(file: str) -> str:
    """A file that may be read: standard input belongs to the assistant."""
    if file in ("", "-"):
        raise InputError(file or "the file", "give the path of a file.")
    return file


def _read_all(files: list[str]) -> list[str]:
    if not files:
        raise InputError("runs", "give the path of at least one run.")
    return [_read(file) for file in files]


def server() -> Any:
    """The server with its tools."""
    from cranfield.cli.json_schemas import schema_of

    library = need("mcp.server.mcpserver", extra="mcp", purpose="cranfield mcp")
    kinds = need("mcp_types", extra="mcp", purpose="cranfield mcp")
    tools = []
    for name, tool in TOOLS.items():
        title = (tool.function.__doc__ or "").partition("\n")[0].rstrip(".:")
        hints = kinds.ToolAnnotations(
            title=title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        )
        answering = _answering(tool.function, kinds, library)
        made = library.tools.Tool.from_function(
            answering, name=name, title=title, annotations=hints, structured_output=False
        )
        made.fn_metadata.output_schema = schema_of(tool.output)
        for parameter, meaning in _meanings(tool.function).items():
            made.parameters["properties"][parameter]["description"] = meaning
        tools.append(made)
    return library.MCPServer(
        "cranfield", instructions=INSTRUCTIONS, version=__version__, tools=tools, log_level="WARNING"
    )


def _answering(function: Callable[..., dict[str, Any]], kinds: Any, library: Any) -> Callable[..., Any]:
    """A function whose result is structured, and repeated as text; its errors come with their hints."""

    @functools.wraps(function)
    def answer(**arguments: Any) -> Any:
        try:
            result = function(**arguments)
        except CranfieldError as error:
            raise library.exceptions.ToolError(str(error)) from None
        plain = json.loads(json.dumps(result, allow_nan=False))
        text = kinds.TextContent(type="text", text=json.dumps(plain, ensure_ascii=False))
        return kinds.CallToolResult(content=[text], structured_content=plain)

    answer.__doc__ = (function.__doc__ or "").partition("\n\n")[0].replace("\n    ", " ")
    answer.__annotations__ = {**function.__annotations__, "return": "Any"}
    return answer


def _meanings(function: Callable[..., Any]) -> Mapping[str, str]:
    """What its docstring says of each parameter."""
    lines = (function.__doc__ or "").partition("\n\n")[2].splitlines()
    parts = (line.strip().partition(": ") for line in lines)
    return {name: meaning for name, colon, meaning in parts if colon}


@options.command("mcp")
def command() -> None:
    """Let an assistant measure search: a server of the Model Context Protocol over standard input and output.

    Its tools evaluate, compare, explain, find the worst queries, check files and show the history. They read the files
    of this machine that they are given, write none, and give what '--format json' gives.

    \b
    Example:
      cranfield mcp < /dev/null
    """
    server().run("stdio")
