"""The page about differences from other tools: `python -m docs.site.differences docs/differences.md`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cranfield import known_dialects, parse_measures
from cranfield.dialects.conventions import CONVENTIONS, Conventions
from cranfield.dialects.search import follows
from tests.differences import DIFFERENCES, FUSION_DIFFERENCES, Difference, FusionDifference, reproduced

INTRODUCTION = """\
# Where values differ from other tools

Find out why a value differs from another tool's: [`cranfield evaluate --theirs`](guides/why.md) finds the reason for a
number of yours. Most values agree to nine decimals; the tests compare them on generated data. The differences below are
deliberate.

## What each tool does

What differs from `cranfield evaluate` without options, for the usual measures. `--like` follows these rules, and
`--theirs` looks for them. Each dialect was compared with its tool on generated queries: with the tool itself where it
is installed, with recorded values otherwise; the rules of Elasticsearch and OpenSearch are read from their code. Tools
in italics have such a rule too, but no dialect here.

<!-- tools -->

The following tables have an example of each difference: a small input, and the mean over the queries that the tool
counts. Where `--like` prints their value too, it is marked with a †.

The tests compute our column, and run trec_eval 9 (through pytrec_eval), ir_measures, ranx, scikit-learn, and gdeval
(through ir_measures) for theirs. The values of trec_eval 10, cwl-eval, BEIR, sample_eval and gdeval by itself are
worked out from their rules; the tests do not run these tools.
"""


MEASURES = ("nDCG@10", "AP@10", "P@10", "R@10", "RR@10", "nDCG", "AP")


def followed() -> list[str]:
    """A row for each rule that some tool follows and we do not, with those tools."""
    lines = ["| rule | default of |", "| --- | --- |"]
    measures, ours = parse_measures(MEASURES), Conventions()
    for rule in CONVENTIONS:
        touched = [each for each in measures if rule.touches(each) and rule.applied(each, ours) != (each, ours)]
        known = known_dialects().values()
        tools = [tool.name for tool in known if any(follows(tool, rule, its, usual=True) for its in touched)]
        named = [*tools, *(f"*{name}*" for name in rule.also)]
        if touched and named:
            lines.append(f"| {rule.says.format(k='k')} | {', '.join(named)} |")
    return lines


def page() -> str:
    """The page, in Markdown: a section for each tool."""
    text = [INTRODUCTION.replace("<!-- tools -->", "\n".join(followed()))]
    for tool in dict.fromkeys(row.peer for row in DIFFERENCES):
        text += [f"## {tool}", "", "| what, and why | judgments | run | they | we |", f"|{' --- |' * 5}"]
        text += [_row(row) for row in DIFFERENCES if row.peer == tool]
        text.append("")
    text += ["## Fusion in ranx", "", FUSION, "", "| what, and why | runs | it | we |", f"|{' --- |' * 4}"]
    text += [*map(_fusion_row, FUSION_DIFFERENCES), ""]
    return "\n".join(text)


FUSION = """\
Methods and normalisations of [`fuse`](api/mix-runs.md#fuse) have the values of ranx but for these. Engines differ among
themselves: the constant of reciprocal rank fusion is 60 in Elasticsearch, OpenSearch and Vespa, counted from rank 1;
Weaviate and Qdrant count from rank 0, so that theirs is k=59 and k=1 here."""


def _fusion_row(row: FusionDifference) -> str:
    theirs = row.theirs if isinstance(row.theirs, str) else _values(row.theirs)
    cells = (
        f"**{row.what[0].upper()}{row.what[1:]}.** {row.why}",
        " · ".join(_run(run, len(run) > 1) for run in row.runs),
        f"`{row.asked['method']}`: {theirs}",
        f"`{row.method}`: {_values(row.ours)}",
    )
    return f"| {' | '.join(cells)} |"


def _values(values: dict[str, float]) -> str:
    return ", ".join(f"{document} {_shown(value)}" for document, value in values.items())


def _row(row: Difference) -> str:
    cells = (
        f"**{row.what[0].upper()}{row.what[1:]}.** {row.why}",
        _judgments(row.qrels),
        _run(row.run, len(row.qrels) > 1),
        f"`{row.asked}`: {_shown(row.theirs)}{'†' if reproduced(row) is not None else ''}",
        f"`{row.measure}`: {_shown(row.ours)}",
    )
    return f"| {' | '.join(cells)} |"


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6f}".rstrip("0").rstrip(".")


def _judgments(qrels: dict[str, dict[str, float]]) -> str:
    texts = {q: " ".join(f"{d}={grade:g}" for d, grade in judged.items()) for q, judged in qrels.items()}
    return _by_query(texts, len(qrels) > 1)


def _run(run: Any, several: bool) -> str:
    if isinstance(run, bytes):
        return "<br>".join(f"`{line}`" for line in run.decode().splitlines())
    if isinstance(run, list):
        return " ".join(f"{document}:{score:.10g}" for _, document, score in run)
    texts = {q: " ".join(f"{d}:{score:.10g}" for d, score in ranking.items()) for q, ranking in run.items()}
    return _by_query(texts, several)


def _by_query(texts: dict[str, str], several: bool) -> str:
    return "<br>".join(f"{query}) {text}" if several else text for query, text in texts.items())


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
