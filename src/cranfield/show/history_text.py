"""A history as people read it in a terminal, and as tables for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cranfield.comparison.differences import signed
from cranfield.evaluation.weighting import MARK, plural
from cranfield.show.escaping import markdown_text, spreadsheet_text
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, wrapped
from cranfield.systems.history.lines import Break, Line, Point, QueryDay, Standing
from cranfield.words import columns, count, cut, visible

if TYPE_CHECKING:
    from cranfield.systems.history.alerts import Alert
    from cranfield.systems.history.segments import SegmentLine

ROWS = 10  # results in the table, unless more are asked for
_BLOCKS = "▁▂▃▄▅▆▇█"
_NARROWEST, _WIDEST = 9, 21  # columns of an interval
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day(at: datetime, *, hour: bool = False) -> str:
    """A day in UTC, such as 7 Nov."""
    return f"{at.day:>2} {_MONTHS[at.month - 1]}{f' {at:%H:%M}' if hour else ''}"


def history_lines(
    line: Line,
    rows: int = ROWS,
    width: int = WIDTH,
    paint: Paint = UNPAINTED,
    segments: Sequence[SegmentLine] = (),
) -> Iterator[str]:
    """The verdict, the values at a glance, and the last results; below them the segments of the queries."""
    yield ""
    yield from _verdict_lines(line, width, paint)
    yield ""
    yield from _glance(line, width, paint)
    yield ""
    shown = _items(line)[-rows:] if rows else []
    while shown and isinstance(shown[0], Break):
        shown = shown[1:]
    yield from _table(line, shown, width, paint)
    if line.weights is not None:
        yield from map(paint.dim, wrapped(f"{MARK} {line.weights.sentence}", hang=2, width=width))
    if segments:
        yield ""
        yield from _segments(segments, width, paint)
    results = [item for item in shown if isinstance(item, Point)]
    left = len(line.points) - len(results)
    more = f"{left} more: -n {len(line.points)}. " if left else ""
    yield paint.dim(f"{more}As a page: -o history.html")


def _verdict_lines(line: Line, width: int, paint: Paint) -> Iterator[str]:
    point, standing = line.last, line.standing
    now = f"{line.system}: {line.measure} {point.value.value:.3f}"
    if standing is None:
        said = f"{now}; nothing accepted yet"
    elif standing.step is None or standing.value is None:
        said = f"{now}; what was accepted on {day(standing.acceptance.at).strip()} was measured differently"
    elif not standing.step.better + standing.step.worse:
        said = f"{now}, as accepted on {day(standing.acceptance.at).strip()}"
    else:
        step = standing.step
        ends = f"({signed(step.low, 3)} to {signed(step.high, 3)})"
        p = "p < 0.001" if step.p < 0.001 else f"p = {step.p:.3f}"
        said = f"{now}, accepted {standing.value.value:.3f}: {signed(step.difference, 3)} {ends}, {p}"
    tone = {"Better": paint.good, "Worse": paint.bad, "Measured": paint.strong, "The same": paint.strong}.get(
        line.verdict, paint.close
    )
    first, *more = wrapped(f"{line.verdict}  {said}", hang=2, width=width)
    yield first.replace(line.verdict, tone(line.verdict), 1)
    yield from more
    if standing is not None and (because := review_text(standing)):
        yield from map(paint.dim, wrapped(because, "  ", width=width))


def review_text(standing: Standing) -> str:
    """Who accepted what counts, when and why."""
    its = standing.acceptance
    commit = standing.result.commit if standing.result is not None else ""
    parts = [f"accepted {commit}".strip()] if commit or its.who or its.because else []
    parts += [f"by {its.who}"] if its.who else []
    parts += ["although worse"] if its.worse else []
    return f"{' '.join(parts)}: {its.because}" if its.because and parts else " ".join(parts)


def _items(line: Line) -> list[Point | Break]:
    """Results and breaks in order of time."""
    every: list[Point | Break] = [*line.points]
    for found in line.breaks:
        at = next(i for i, item in enumerate(every) if isinstance(item, Point) and item.result.at >= found.at)
        every.insert(at, found)
    return every


def _glance(line: Line, width: int, paint: Paint) -> Iterator[str]:
    items = [item for item in _items(line) if isinstance(item, Break) or not item.apart]
    names = [line.measure, "p95, ms"]
    room = width - max(map(len, names)) - 6
    items = items[-room:]
    points = [item for item in items if isinstance(item, Point)]
    breaks = [item for item in items if isinstance(item, Break)]
    rows = [(line.measure, {id(point): point.value.value for point in points})]
    p95 = {id(point): p95 for point in points if (p95 := point.result.latency.get("p95")) is not None}
    if p95:
        rows.append(("p95, ms", p95))
    for name, values in rows:
        low, high = min(values.values()), max(values.values())
        drawn = "".join(
            ("│" if item.joined else "┃")
            if isinstance(item, Break)
            else _block(values[id(item)], low, high)
            if id(item) in values
            else " "
            for item in items
        )
        yield f"  {name:<{max(map(len, names))}}  {drawn}"
    for found in breaks:
        sign, fate = ("│", "joined") if found.joined else ("┃", "broken")
        yield paint.dim(cut(f"  {sign} {day(found.at).strip()}: {' and '.join(found.what)}, {fate}", width))


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low else 0.5
    return _BLOCKS[min(int(share * len(_BLOCKS)), len(_BLOCKS) - 1)]


def _table(line: Line, items: Sequence[Point | Break], width: int, paint: Paint) -> Iterator[str]:
    points = [item for item in items if isinstance(item, Point)]
    days = [point.result.at.date() for point in points]
    hours = len({*days}) < len(days)
    ends = [end for p in points if not p.apart for end in (p.value.low, p.value.high, p.value.value) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    head = ["date", "commit", _marked(line), "", "vs before", _counted(line), "p95", ""]
    bare = [head, *(_cells(point, hours, low, high, 0) for point in reversed(points))]
    room = width - max(map(columns, aligned(bare, (0, 1, 3, 7))))
    wide = min(room, _WIDEST) if room >= _NARROWEST else 0  # the drawing is what can be done without
    rows = [head, *(_cells(point, hours, low, high, wide) for point in reversed(points))]
    tones = [_tones(point, paint) for point in reversed(points)]
    kept = [at for at in range(len(head)) if at != 3 or wide]

    def tint(row: int, column: int, text: str) -> str:
        tone = tones[row - 1].get(kept[column])
        return tone(text) if tone else text

    left = [kept.index(at) for at in (0, 1, 3, 7) if at in kept]
    lines = aligned([[row[at] for at in kept] for row in rows], left, paint.strong, tint)
    drawn = iter(lines[1:])
    yield lines[0]
    for item in reversed(items):
        if isinstance(item, Point):
            yield next(drawn)
        else:
            yield paint.dim(_break_line(item, width))


def _marked(line: Line) -> str:
    return f"{line.measure}{MARK * (line.weights is not None)}"


def _counted(line: Line) -> str:
    return plural("query" if line.weights is None else line.weights.unit)


def _segments(segments: Sequence[SegmentLine], width: int, paint: Paint) -> Iterator[str]:
    """The mean of each segment over time, now, and since what was accepted; no claim is made about a segment."""
    rows = [["segment", "queries", "", "now", "accepted", "change"]]
    for its in segments:
        drawn = "".join(_block(value, min(its.values), max(its.values)) for value in its.values[-_WIDEST:])
        was = ["-", "-"] if its.accepted is None else [f"{its.accepted:.3f}", signed(its.values[-1] - its.accepted, 3)]
        rows.append([visible(its.segment), f"{its.queries:,}", drawn, f"{its.values[-1]:.3f}", *was])
    yield from (cut(line, width) for line in aligned(rows, (0, 2), paint.strong))


def _cells(point: Point, hours: bool, low: float, high: float, wide: int) -> list[str]:
    result, step = point.result, point.step
    before = "" if step is None else "0.000" if not step.better + step.worse else signed(step.difference, 3)
    if step is not None and step.sign:
        before = f"{'▲' if step.sign > 0 else '▼'} {before}"
    queries = "" if step is None else f"▲{step.better} ▼{step.worse}" if step.better + step.worse else "-"
    p95 = result.latency.get("p95")
    return [
        day(result.at, hour=hours),
        result.commit or "-",
        f"{point.value.value:.3f}",
        "" if point.apart or not wide else _interval(point, low, high, wide),
        point.apart or before,
        "" if point.apart else queries,
        f"{1000 * p95:.0f} ms" if p95 is not None else "",
        ", ".join(tags(point)),
    ]


def tags(point: Point) -> list[str]:
    """What else is to be said of a result."""
    said = ["failed"] if point.result.passed is False else []
    said += ["accepted"] if point.accepted is not None else []
    said += [f"again, was {point.first.value:.3f}"] if point.first is not None else []
    return said


def _tones(point: Point, paint: Paint) -> dict[int, Any]:
    sign = point.step.sign if point.step is not None else 0
    failed = point.result.passed is False
    tones: dict[int, Any] = {3: paint.dim, 5: paint.dim, 6: paint.dim, 7: paint.bad if failed else paint.dim}
    tones[4] = {1: paint.good, -1: paint.bad}.get(sign, paint.dim if point.apart else None)
    return {column: tone for column, tone in tones.items() if tone is not None}


def _interval(point: Point, low: float, high: float, wide: int) -> str:
    def place(value: float) -> int:
        return round((value - low) / (high - low) * (wide - 3)) + 1 if high > low else wide // 2

    at = place(point.value.value)
    if point.value.low is None or point.value.high is None:
        return f"{' ' * at}●"
    first, last = min(place(point.value.low), at - 1), max(place(point.value.high), at + 1)
    drawn = [" "] * first + ["├", *"─" * max(last - first - 1, 0), "┤"]
    drawn[at] = "●"
    return "".join(drawn)


def break_text(found: Break) -> str:
    """What changed, and what it means for the line."""
    what = " and ".join(found.what) or "other conditions"
    if not found.joined:
        return f"{what}; not comparable with what was before"
    again = "result before was" if found.joined == 1 else f"{found.joined} results before were"
    return f"{what}; the {again} measured again"


def _break_line(found: Break, width: int) -> str:
    text = f"┄┄ {day(found.at).strip()}: {break_text(found)} "
    return cut(f"{text}{'┄' * max(width - len(text), 0)}", width)


def query_lines(
    line: Line, days: Sequence[QueryDay], query: str, text: str, width: int = WIDTH, paint: Paint = UNPAINTED
) -> Iterator[str]:
    """The values of one query over time."""
    yield ""
    yield cut(f"{paint.strong(visible(query))}  {visible(text)}", width)
    yield ""
    values = [its.value for its in days][-(width - len(line.measure) - 4) :]
    drawn = "".join(_block(value, min(values), max(values)) for value in values)
    yield f"  {line.measure}  {drawn}"
    yield ""
    changed = [its for at, its in enumerate(days) if at == 0 or its.change is None or its.change]
    rows = [["date", "commit", line.measure, "change", ""]]
    for its in reversed(changed):
        change = "" if its.change is None else signed(its.change, 3)
        subject = cut(its.result.change.subject, width // 2)
        rows.append([day(its.result.at), its.result.commit or "-", f"{its.value:.3f}", change, subject])

    def tint(row: int, column: int, cell: str) -> str:
        change = changed[-row].change
        if column == 3 and change:
            return paint.signed(change, cell, lower_is_better=line.lower_is_better)
        return paint.dim(cell) if column == 4 else cell

    yield from aligned(rows, (0, 1, 4), paint.strong, tint)
    same = len(days) - len(changed)
    if same:
        yield paint.dim(
            f"{count(same, 'result')} without a change of this query {'is' if same == 1 else 'are'} left out"
        )


def query_rows(found: Sequence[tuple[Line, str, Sequence[QueryDay]]], form: str) -> str:
    """The values of queries over time, as JSON, CSV or Markdown."""
    rows = [
        {
            "at": its.result.at.isoformat(),
            "system": line.system,
            "commit": its.result.change.commit,
            "query": query,
            "measure": line.measure,
            "value": its.value,
            "change": its.change,
        }
        for line, query, days in found
        for its in days
    ]
    if form == "json":
        return json.dumps(rows, indent=2, ensure_ascii=False)
    return _as_csv(rows) if form == "csv" else "\n".join(_as_markdown(rows))


def _as_markdown(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = [*rows[0]] if rows else []
    yield f"| {' | '.join(names)} |"
    yield f"| {' | '.join('---' for _ in names)} |"
    for row in rows:
        yield f"| {' | '.join('' if value is None else markdown_text(str(value)) for value in row.values())} |"


def _as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, [*rows[0]] if rows else ["at"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {name: spreadsheet_text(value) if isinstance(value, str) else value for name, value in row.items()}
        )
    return file.getvalue().rstrip("\n")


def alert_lines(alert: Alert, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    """Whether an alarm is due, by which rules, and what was taken for chance."""
    word = "Passed" if alert.passed and alert.checks else "Alarm" if not alert.passed else "Not tested"
    tone = paint.good if word == "Passed" else paint.bad if word == "Alarm" else paint.close
    yield f"{tone(word)}  {visible(alert.system)}"
    for check in alert.checks:
        sign = paint.good("✓") if check.passed else paint.bad("✗")
        first, *more = wrapped(check.message, "  ✓ ", width=width)
        yield f"  {sign}{first[3:]}"
        yield from more
    for reason in alert.open:
        yield from wrapped(reason, "  - ", width=width)
    said = [alert.noise_words] if alert.checks else []
    said.append(
        f"both rules share {alert.alpha:g} among {count(alert.looks, 'look')}: an alarm at p ≤ {alert.level:.2g}"
    )
    for text in said:
        yield from map(paint.dim, wrapped(text, "  ", width=width))


def history_rows(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """A row for each result, for other programs."""
    rows = []
    for line in lines:
        for point in line.points:
            result, step = point.result, point.step
            rows.append(
                {
                    "at": result.at.isoformat(),
                    "system": line.system,
                    "commit": result.change.commit + ("+" if result.change.dirty else ""),
                    "subject": result.change.subject,
                    "branch": result.change.branch,
                    "measure": line.measure,
                    **point.value._asdict(),
                    "difference": step.difference if step else None,
                    "p": step.p if step else None,
                    "sign": step.sign if step else None,
                    "better": step.better if step else None,
                    "worse": step.worse if step else None,
                    "p50": result.latency.get("p50"),
                    "p95": result.latency.get("p95"),
                    "passed": result.passed,
                    "accepted": point.accepted is not None,
                    "again": point.first is not None,
                    "apart": point.apart,
                }
            )
    return rows


def history_json(lines: Sequence[Line], segments: Sequence[Sequence[SegmentLine]] = ()) -> str:
    """The history as JSON; with the segments of each line, where queries have any."""
    of_lines = segments or [()] * len(lines)
    content = [
        {
            "system": line.system,
            "measure": line.measure,
            "verdict": line.verdict,
            **({} if line.weights is None else {"weighted": line.weights.sentence}),
            "accepted": _accepted(line.standing),
            "results": history_rows([line]),
            "breaks": [{"at": b.at.isoformat(), "what": list(b.what), "joined": b.joined} for b in line.breaks],
            "notes": [{"at": note.at.isoformat(), "text": note.text, "who": note.who} for note in line.notes],
            **({"segments": [{**each._asdict(), "values": list(each.values)} for each in its]} if its else {}),
        }
        for line, its in zip(lines, of_lines, strict=True)
    ]
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _accepted(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    its, step = standing.acceptance, standing.step
    return {
        "at": its.at.isoformat(),
        "who": its.who,
        "because": its.because,
        "worse": its.worse,
        "commit": standing.result.change.commit if standing.result else "",
        "value": standing.value.value if standing.value else None,
        "difference": step.difference if step else None,
        "low": step.low if step else None,
        "high": step.high if step else None,
        "p": step.p if step else None,
    }


def history_csv(lines: Sequence[Line]) -> str:
    """The history as CSV: a row for each result."""
    return _as_csv(history_rows(lines))


def history_markdown(lines: Sequence[Line], rows: int = ROWS) -> Iterator[str]:
    """The last results as tables."""
    for line in lines:
        yield f"**{line.verdict}** {markdown_text(line.system)}: {line.measure} {line.last.value.value:.3f}"
        yield ""
        yield f"| date | commit | change | {_marked(line)} | vs before | {_counted(line)} | p95 | |"
        yield "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |"
        for point in reversed(line.points[-rows:]):
            date, commit, value, _, before, queries, p95, said = _cells(point, False, 0.0, 1.0, 0)
            subject = markdown_text(point.result.change.subject)
            yield f"| {date.strip()} | {commit} | {subject} | {value} | {before} | {queries} | {p95} | {said} |"
        yield ""
        if line.weights is not None:
            yield from (f"{MARK} {line.weights.sentence}", "")
