"""write_report(path, qrels, runs): the page, in one file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import CranfieldError, need
from cranfield.evaluation import DEFAULT_MEASURES, Measures
from cranfield.judge.grouped import GroupedJudgments
from cranfield.judge.judgments import Judgments
from cranfield.judge.policy import Policy
from cranfield.measures import parse_measures
from cranfield.read.pairs import read_words
from cranfield.show.report.content import page, program_data
from cranfield.show.report.request import Request, named_runs
from cranfield.systems.collection import open_collection
from cranfield.write.target import open_target

QUERIES = 1000  # whose rankings are shown
DEPTH = 10


class ReportFile(NamedTuple):
    """A page that was written: how many bytes, and what it leaves out, in words.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/report.html", "builtin:qrels", ["builtin:keywords"], "AP", charts=False)
    >>> page.size > 10_000, len(page.left_out)
    (True, 1)
    """

    path: str
    size: int
    left_out: tuple[str, ...]


def write_report(
    path: str | os.PathLike[str],
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = DEFAULT_MEASURES,
    *,
    title: str = "How good are the results?",
    collection: Any = None,
    segments: Any = None,
    bounds: bool = False,
    queries: int = QUERIES,
    depth: int = DEPTH,
    charts: bool = True,
    removal: bool = False,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
) -> ReportFile:
    """Write one HTML file that shows everything about some runs, and that loads nothing from anywhere.

    qrels, runs, measures, policy, format, qrels_format: those of `evaluate_runs`. A run is read twice.
    collection: what `open_collection` takes, for the texts of queries and documents.
    segments: {query: segment}, or a file of both, for means of segments and to filter by.
    bounds: how low and high each mean could be, given what is unjudged, and whether that reverses a difference.
    queries: of how many queries, the worst first, rankings are shown.
    depth: how many documents of a ranking.
    charts: without them, the page lacks the 0.9 MB of the library that draws them.
    removal: also measure the runs with fewer judgments; takes a while for many.
    test, correction, alpha: those of `compare`.

    >>> import tempfile
    >>> runs = ["builtin:keywords", "builtin:meaning"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/report.html", "builtin:qrels", runs, "nDCG@10", charts=False)
    ...     Path(page.path).read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if depth < 1 or queries < 0:
        raise CranfieldError(f"{depth} documents of {queries} queries cannot be shown.", hint="depth is 1 or more")
    wanted = parse_measures(measures)
    ordinary = all(measure.definition.table == "ranks" for measure in wanted)
    request = Request(
        judgments=(Judgments if ordinary else GroupedJudgments).read(qrels, qrels_format),
        runs=named_runs(runs),
        measures=wanted,
        title=title,
        collection=None if collection is None else open_collection(collection),
        segments={} if segments is None else read_words(segments, "segment"),
        bounds=bounds,
        queries=queries,
        depth=depth,
        charts=charts,
        removal=removal,
        test=test,
        correction=correction,
        alpha=alpha,
        policy=policy or Policy(),
        format=format,
    )
    data = program_data(request)
    content = rendered(page(request), data, charts).encode()
    name = os.fspath(path)
    with open_target(name, force=True) as target, target.opened() as file:
        file.write(content)
    return ReportFile(name, len(content), tuple(data["left_out"]))


def rendered(content: Mapping[str, Any], data: Mapping[str, Any], charts: bool) -> str:
    """The page: its text escaped by the template, its data as JSON that no HTML can end."""
    jinja = need("jinja2", extra="report", purpose="a report")
    folder = Path(__file__).parent
    environment = jinja.Environment(
        autoescape=True, loader=jinja.FileSystemLoader(folder), trim_blocks=True, lstrip_blocks=True
    )
    found: str = environment.get_template("page.html").render(
        **content,
        data=safe_json(data),
        left_out=data["left_out"],
        style=(folder / "page.css").read_text(encoding="utf-8"),
        program=(folder / "page.js").read_text(encoding="utf-8"),
        library=_library() if charts else "",
    )
    return found


def safe_json(data: Any) -> str:
    """JSON for a script element: no text in it can end the element or start another."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as they come with vl-convert."""
    converter = need("vl_convert", extra="report", purpose="charts in a report")
    bundle: str = converter.javascript_bundle()
    licences = (Path(__file__).parent / "libraries.txt").read_text(encoding="utf-8")  # which must go with every copy
    return f"/*\n{licences}*/\n" + bundle.replace("</script", "<\\/script")
