"""The result of a gate as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from cranfield.comparison.differences import DIGITS
from cranfield.comparison.gate_checks import Check, GatedMeasure
from cranfield.comparison.gating import GateResult
from cranfield.comparison.multiple_testing import CORRECTIONS, MAX_T
from cranfield.comparison.power import USUAL
from cranfield.comparison.significance import TESTS, Settings
from cranfield.comparison.simultaneous import draws
from cranfield.evaluation.weighting import means_of
from cranfield.show.answers_text import answers_lines
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, padded, warning_lines, wrapped
from cranfield.show.segments_text import segments_text
from cranfield.words import columns, count, cut, percent, visible

NO_TEXTS: Mapping[str, str] = {}


def gate_text(
    result: GateResult, *, width: int = WIDTH, paint: Paint = UNPAINTED, texts: Mapping[str, str] = NO_TEXTS
) -> str:
    """What passed and what failed, which drop the gate can detect, and if it failed, the queries that got worse.

    texts: the texts of queries, as far as they are known.
    """
    word = paint.good("PASSED") if result.passed else paint.bad("FAILED")
    lines = [*warning_lines(result.warnings, width, paint), *([""] * bool(result.warnings))]
    lines += [f"{word}: {visible(f'{result.candidate} against {result.baseline}')}", ""]
    for check in result.checks:
        lines += check_lines(check, width, paint)
    lines += ["", *map(paint.dim, wrapped(f"{basis_text(result)}.", width=width))]
    for measure in result.measures:
        lines += ["", *_measure_lines(measure, result, width, paint, texts)]
    if result._evaluations is not None and result._evaluations[0].answering is not None:
        lines += ["", *answers_lines(result._evaluations, width, paint)]
    if result.segments is not None:
        lines += ["", segments_text(result.segments, width=width, paint=paint)]
    return "\n".join(lines)


def check_lines(check: Check, width: int, paint: Paint) -> list[str]:
    head = "  ok      " if check.passed else "  FAILED  "
    first, *more = wrapped(check.message, head, width=width)
    word = head.rstrip()
    return [f"{(paint.good if check.passed else paint.bad)(word)}{first.removeprefix(word)}", *more]


def basis_text(result: GateResult) -> str:
    test = TESTS[result.test].described(_settings(result))
    if result.basis is not None:
        test = "t-test of the corrected difference"
    elif result.weights is not None:
        test += f" of {means_of(result.weights)}"
    level = f"alpha {result.alpha:g}"
    if result.gates > 1:
        level += f", for drops shared by {result.gates} gates ({result.alpha / result.gates:.2g} each)"
    return "; ".join([f"{result._counted}; one-sided {test} at {level}", *_corrected(result)])


def _settings(result: GateResult) -> Settings:
    """Those of the tests of drops."""
    return Settings(result.alpha / result.gates, result.permutations, result.seed)


def _corrected(result: GateResult) -> Iterator[str]:
    """Which p-values are corrected over several measures, and which are not."""
    over = f"over {len(result.measures)} measures"
    if len(result.measures) < 2:
        return
    if result.correction == "none":
        yield f"p not corrected {over}"
        return
    drawn = f", {draws(_settings(result)):,} draws of the queries, seed {result.seed}"
    how = f"{CORRECTIONS[result.correction].title}{drawn if result.correction == MAX_T else ''}"
    yield f"p of a drop corrected {over} ({how})"
    if result.non_inferiority is not None:
        yield "p of non-inferiority needs no correction, since every measure must show it"


def _measure_lines(
    seen: GatedMeasure, result: GateResult, width: int, paint: Paint, texts: Mapping[str, str]
) -> Iterator[str]:
    better = count(seen.better, "sampled query" if seen.corrected else seen.difference.unit, _queries(seen))
    counts = f"{seen.measure}: {better} better, {seen.same} the same, {seen.worse} worse{_judged(seen)}"
    yield from wrapped(counts, width=width)
    yield from wrapped(f"Two-sided: {seen.sentence}.", "  ", width=width)
    yield from map(paint.dim, wrapped(f"{detectable_text(seen, result)}.", "  ", width=width))
    if seen.worse_queries and not result.passed:
        names = [cut(name, 24) for name in ("got worse", *(query.query_id for query in seen.worse_queries))]
        room = max(map(columns, names))
        yield paint.strong(f"  {padded(names[0], room)}  {'before':>7}  {'now':>7}  what changed")
        for name, query in zip(names[1:], seen.worse_queries, strict=True):
            values = f"{query.baseline:>7.{DIGITS}f}  {query.candidate:>7.{DIGITS}f}"
            head = f"  {padded(name, room)}  {values}  "
            text = texts.get(query.query_id)
            lines = wrapped(query.moved, " " * columns(head) if text else head, width=width)
            if text:
                yield f"{head}{cut(text, max(width - columns(head), 12))}".replace(values, paint.bad(values))
                yield from map(paint.dim, lines)
            else:
                yield from (line.replace(values, paint.bad(values)) for line in lines)
        if seen.worse > len(seen.worse_queries):
            yield f"  … and {seen.worse - len(seen.worse_queries)} more"


def _queries(seen: GatedMeasure) -> str:
    return "sampled queries" if seen.corrected else seen.difference.units


def _judged(seen: GatedMeasure) -> str:
    before, now = seen.judged
    if before is None or now is None:
        return ""
    where = "documents" if seen.judged_depth is None else f"top {seen.judged_depth}"
    fewer = ", and unjudged ones count as not relevant" if now < before - 0.05 else ""
    return f"; {percent(now)} of the returned {where} judged, previously {percent(before)}{fewer}"


def detectable_text(seen: GatedMeasure, result: GateResult) -> str:
    if seen.detectable is None:
        changed = "All queries changed by the same amount" if seen.better or seen.worse else "No query changed"
        return f"{changed}, so their variation cannot be estimated"
    by = "" if result.test == "t" else " by a t-test"  # the power of other tests is not computed
    drop = "rise" if seen.lower_is_better else "drop"
    what = f"A true {drop} of {seen.detectable:.3f}" if seen.detectable < inf else f"No true {drop}"
    text = f"{what} would be stopped {USUAL:.0%} of the time{by}"
    return text if seen.power is None else f"{text}; one of {result.detect:g}, {seen.power:.0%}"
