"""The result of a gate as text, Markdown and JUnit's XML, and the files that set one up."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cranfield.comparison.checks import GatedMeasure
from cranfield.comparison.gating import GateResult
from cranfield.comparison.power import USUAL
from cranfield.comparison.significance import TESTS
from cranfield.show.comparison import WIDTH, markdown_table


def gate_text(result: GateResult) -> str:
    """What passed and what failed, what the gate could have seen, and the queries that got worse."""
    lines = [f"{'PASSED' if result.passed else 'FAILED'}: {result.candidate} against {result.baseline}", ""]
    for check in result.checks:
        lines += _wrapped(check.message, "  ok      " if check.passed else "  FAILED  ")
    lines += ["", *_wrapped(f"{_basis(result)}.")]
    for measure in result.measures:
        lines += ["", *_measure_lines(measure)]
    return "\n".join(lines)


def _basis(result: GateResult) -> str:
    over = f", {result.correction} over {len(result.measures)} measures" if len(result.measures) > 1 else ""
    test = TESTS[result.test].title
    return f"{result.queries} queries; one-sided {test} at alpha {result.alpha:g}{over}"


def _measure_lines(seen: GatedMeasure) -> Iterator[str]:
    yield from _wrapped(
        f"{seen.measure}: {seen.better} queries better, {seen.same} the same, {seen.worse} worse{_judged(seen)}"
    )
    yield from _wrapped(f"Two-sided, as compare says it: {seen.sentence}.", "  ")
    yield from _wrapped(f"{could_see(seen)}.", "  ")
    if seen.worse_queries:
        width = min(max(len("got worse"), *(len(query.query_id) for query in seen.worse_queries)), 24)
        yield f"  {'got worse':<{width}}  {'before':>7}  {'now':>7}  what moved"
        for query in seen.worse_queries:
            name = query.query_id if len(query.query_id) <= width else f"{query.query_id[: width - 1]}…"
            head = f"  {name:<{width}}  {query.baseline:>7.4f}  {query.candidate:>7.4f}  "
            yield from _wrapped(query.moved, head)
        if seen.worse > len(seen.worse_queries):
            yield f"  … and {seen.worse - len(seen.worse_queries)} more"


def _judged(seen: GatedMeasure) -> str:
    before, now = seen.judged
    if before is None or now is None:
        return ""
    note = f"; {now:.0%} of the first documents judged, before {before:.0%}"
    return note + (". Unjudged ones count as not relevant" if now < before - 0.05 else "")


def could_see(seen: GatedMeasure) -> str:
    """What drop the gate could have seen, in words."""
    if seen.detectable is None:
        return "No two queries changed differently, so nothing is known of the noise"
    return f"A true drop of {seen.detectable:.4f} or more would be stopped {USUAL:.0%} of the time"


def gate_markdown(result: GateResult) -> str:
    """The result for a comment on a change."""
    lines = [
        f"### {'✅' if result.passed else '❌'} {_escaped(result.candidate)} against {_escaped(result.baseline)}",
        "",
    ]
    lines += markdown_table(
        ["check", "result"], [[_escaped(c.message), "ok" if c.passed else "**failed**"] for c in result.checks]
    )
    for seen in result.measures:
        lines += [
            "",
            f"**{seen.measure}**: {seen.better} better, {seen.same} the same, {seen.worse} worse{_judged(seen)}.",
        ]
        lines += [f"Two-sided: {_escaped(seen.sentence)}.", f"{could_see(seen)}."]
        if seen.worse_queries:
            rows = [
                [_escaped(query.query_id), f"{query.baseline:.4f}", f"{query.candidate:.4f}", query.moved]
                for query in seen.worse_queries
            ]
            lines += ["", *markdown_table(["got worse", "before", "now", "what moved"], rows)]
    return "\n".join([*lines, "", f"{_basis(result)}."])


def gate_junit(result: GateResult) -> str:
    """The checks as test cases, in the XML that build servers read."""
    from xml.etree import ElementTree

    failed = sum(not check.passed for check in result.checks)
    counts = {"tests": str(len(result.checks)), "failures": str(failed), "errors": "0"}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "cranfield gate", **counts})
    for check in result.checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "cranfield.gate", "name": check.name})
        if not check.passed:
            ElementTree.SubElement(case, "failure", {"message": check.message}).text = gate_text(result)
        else:
            ElementTree.SubElement(case, "system-out").text = check.message
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _wrapped(text: str, head: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    ) or [head.rstrip()]


CONFIG_NAME = "cranfield-gate.toml"
JOB_NAME = ".github/workflows/search-quality.yml"

CONFIG = """\
# What `cranfield gate` checks. Paths are relative to this file. What the command line says goes before this.

# The judgments, and the run of the version under test.
qrels = "qrels.txt"
candidate = "candidate.run"

# What it is compared with: the run of the version in use. Keep the run itself, so that it can be measured again when
# the judgments change. An evaluation that was saved with `cranfield evaluate --save` works too, until they do.
baseline = "baseline.run"

measures = ["nDCG@10"]

# A measure may drop by so much. A larger drop fails only if it is also significant at alpha, by a one-sided paired
# test: a candidate that is neither better nor worse is stopped with a chance of at most alpha.
tolerance = 0.01
alpha = 0.05
test = "t"  # or "randomisation", "wilcoxon", "sign"

# Fail if no measure is significantly better.
require_improvement = false

# Fail if more queries than this got worse, by however little. Remove the line to allow any number.
# max_worse_queries = 20

# Fail below these values, significant or not.
# [minimum]
# "nDCG@10" = 0.4
"""

JOB = """\
name: search quality
on:
  pull_request:

jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install cranfield
      # Replace this by what makes the run of the version under test.
      - run: ./make-run > candidate.run
      - run: cranfield gate --config cranfield-gate.toml --format markdown >> "$GITHUB_STEP_SUMMARY"
"""
