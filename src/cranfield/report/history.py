"""The page of a history: values over time with what moved them, in one file that works offline."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from cranfield.comparison.differences import signed
from cranfield.evaluation.weighting import plural
from cranfield.io.target import write_text
from cranfield.report.encoding import DataWriter
from cranfield.report.rendering import HISTORY, rendered
from cranfield.report.writing import ReportFile
from cranfield.show.history_text import break_text, review_text, tags
from cranfield.systems.history.lines import SHARED_AMONG, Break, Line, Moved, Point, Step, Stretch
from cranfield.version import __version__
from cranfield.words import count

ROWS = 30  # results in the table
_LISTED = 12  # commits that moved something, the latest
_NAMED = 3  # queries of each
_MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_WIDTH = 130  # of a drawn interval
_BADGES = {
    "Better": ("better", "▲ Better than accepted"),
    "Worse": ("worse", "▼ Worse than accepted"),
    "The same": ("same", "The same as accepted"),
    "Too close to call": ("close", "Too close to call"),
    "Not comparable": ("none", "Not comparable with what was accepted"),
    "Measured": ("none", "Nothing accepted yet"),
}


def write_history(
    lines: Sequence[Line],
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    command: str | None = None,
    limit: float | None = None,
) -> ReportFile:
    """Write the page of some lines: of each system, a line for each measure, the one that matters first.

    limit: seconds that 95% of the answers may take
    """
    systems = list(dict.fromkeys(line.system for line in lines))
    data = DataWriter()
    drawn = [_drawn(number, line) for number, line in enumerate(lines)]
    data.add(limit=None if limit is None else 1000 * limit, lines=drawn)
    results = [point.result for line in lines for point in line.points]
    content = {
        "title": title or (f"{systems[0]} over time" if len(systems) == 1 else "Search quality over time"),
        "version": __version__,
        "written": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z"),
        "command": command or "",
        "systems": systems,
        "span": _span(min(result.at for result in results), max(result.at for result in results)),
        "lines": [_told(number, line) for number, line in enumerate(lines)],
        "shared": SHARED_AMONG,
    }
    size = write_text(path, rendered(content, data, False, HISTORY), force=True)
    return ReportFile(os.fspath(path), size, ())


def _day(at: datetime, *, year: bool = False) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]}{f' {at.year}' if year else ''}"


def _day_of(at: datetime, line: Line) -> str:
    """A day, with its year if that is not the year of the last result."""
    return _day(at, year=at.year != line.last.result.at.year)


def _short(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1][:3]}"


def _span(first: datetime, last: datetime) -> str:
    if first.date() == last.date():
        return _day(last, year=True)
    return f"{_day(first, year=first.year != last.year)} to {_day(last, year=True)}"


# What the script draws


def _drawn(number: int, line: Line) -> dict[str, Any]:
    """A line as columns, in order of time."""
    points = line.points
    place = {point.result.id: at for at, point in enumerate(points)}
    stretch_of = {point.result.id: its for its, stretch in enumerate(line.stretches) for point in stretch.points}
    return {
        "measure": line.measure,
        "moves": {place[p.result.id]: f"move-{number}-{p.result.id}" for p in _moving(line)[:_LISTED]},
        "at": [point.result.at.isoformat() for point in points],
        "commit": [point.result.commit for point in points],
        "subject": [point.result.change.subject for point in points],
        "value": [round(point.value.value, 6) for point in points],
        "low": [_rounded(point.value.low) for point in points],
        "high": [_rounded(point.value.high) for point in points],
        "first": [_rounded(point.first.value) if point.first else None for point in points],
        "stretch": [stretch_of.get(point.result.id) for point in points],
        "apart": {place[point.result.id]: point.apart for point in line.apart},
        "difference": [_rounded(point.step.difference) if point.step else None for point in points],
        "sign": [point.step.sign if point.step else 0 for point in points],
        "better": [point.step.better if point.step else 0 for point in points],
        "worse": [point.step.worse if point.step else 0 for point in points],
        "p50": [_milliseconds(point, "p50") for point in points],
        "p95": [_milliseconds(point, "p95") for point in points],
        "accepted": list(_accepted_steps(line, place)),
        "breaks": [
            {"before": _first_since(points, found.at), "what": ", ".join(found.what), "joined": found.joined}
            for found in line.breaks
        ],
        "notes": [
            {"place": sum(point.result.at <= note.at for point in points) - 1, "text": note.text}
            for note in line.notes
            if points[0].result.at <= note.at
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _milliseconds(point: Point, name: str) -> float | None:
    seconds = point.result.latency.get(name)
    return None if seconds is None else round(1000 * seconds, 1)


def _first_since(points: Sequence[Point], at: datetime) -> int:
    return next(i for i, point in enumerate(points) if point.result.at >= at)


def _accepted_steps(line: Line, place: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """From which place to which what value was the accepted one, within each stretch."""
    for stretch in line.stretches:
        first, last = (place[stretch.points[end].result.id] for end in (0, -1))
        its = [
            (acceptance, values[stretch.basis.id])
            for acceptance, values in line.acceptances
            if stretch.basis.id in values
        ]
        starts = [_accepted_from(line, place, acceptance.result, acceptance.at) for acceptance, _ in its]
        for at, ((_, value), start) in enumerate(zip(its, starts, strict=True)):
            end = starts[at + 1] if at + 1 < len(starts) else last
            if max(start, first) <= min(end, last):
                yield {"from": max(start, first), "to": min(end, last), "value": round(value.value, 6)}


def _accepted_from(line: Line, place: Mapping[str, int], result: str, at: datetime) -> int:
    return place[result] if result in place else sum(point.result.at < at for point in line.points)


# What the template says


def _told(number: int, line: Line) -> dict[str, Any]:
    kind, badge = _BADGES[line.verdict]
    points = line.points
    return {
        "number": number,
        "system": line.system,
        "measure": line.measure,
        "lower": line.lower_is_better,
        "results": len(points),
        "kind": kind,
        "badge": badge,
        "value": f"{line.last.value.value:.3f}",
        "standing": _standing(line),
        "counted": plural("query" if line.weights is None else line.weights.unit),
        "weighted": "" if line.weights is None else line.weights.sentence,
        "review": review_text(line.standing) if line.standing else "",
        "stretch": _stretch(line),
        "moves": [_move(number, point) for point in _moving(line)[:_LISTED]],
        "more_moves": max(len(_moving(line)) - _LISTED, 0),
        "rows": list(_rows(number, line)),
        "shown": min(ROWS, len(points)),
        "notes": [note.text for note in line.notes if points[0].result.at <= note.at],
        "latency": any("p95" in point.result.latency for point in points),
        "interval": any(point.value.low is not None for point in points),
    }


def _standing(line: Line) -> str:
    standing = line.standing
    if standing is None:
        return "cranfield accept makes a result the one that later ones are compared with"
    when = _day_of(standing.acceptance.at, line)
    if standing.step is None or standing.value is None:
        return f"accepted on {when}, by other queries, judgments, weights or conventions"
    accepted = f"accepted {standing.value.value:.3f} on {when}"
    if not standing.step.better + standing.step.worse:
        return f"{accepted}; no query differs"
    return f"{accepted} · {_number(standing.step)}, 95% interval {_ends(standing.step)}"


def _number(step: Step) -> str:
    return _minus(signed(step.difference, 3)) if step.difference else "0.000"


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _ends(step: Step) -> str:
    return f"{_minus(signed(step.low, 3))} to {_minus(signed(step.high, 3))}"


def _stretch(line: Line) -> dict[str, Any]:
    """What happened since values are comparable with the last one."""
    stretch = line.stretches[-1]
    points = stretch.points
    by = points[-1].value.value - points[0].value.value
    way = {"better": 1, "worse": -1}.get(_direction(by, line), 0)
    moving = [
        (abs(step.difference), point)
        for point in points[1:]
        if (step := point.step) and step.sign == way and abs(step.difference) <= abs(by)
    ]
    largest = max(moving, key=lambda pair: pair[0])[1] if moving and way else None
    cause = _cause(line, stretch)
    return {
        "since": f"Since {_day_of(points[0].result.at, line)}{f': {cause}' if cause else ''}",
        "by": _minus(signed(by, 3)) if by else "0.000",
        "kind": _direction(by, line),
        "results": count(len(points), "result"),
        "largest": None
        if largest is None or largest.step is None
        else {"by": _number(largest.step), "name": _name(largest), "id": largest.result.id},
        "before": "Results before are not comparable with it." if len(line.stretches) > 1 else "",
    }


def _direction(by: float, line: Line) -> str:
    return "" if not by else "better" if (by > 0) != line.lower_is_better else "worse"


def _cause(line: Line, stretch: Stretch) -> str:
    start = stretch.points[0].result.at
    found = next((found for found in line.breaks if found.at == start and not found.joined), None)
    return ", ".join(found.what) if found else ""


def _name(point: Point) -> str:
    return point.result.change.subject or point.result.commit or _day(point.result.at)


def _moving(line: Line) -> list[Point]:
    """Results that moved something beyond chance, the latest first."""
    return [point for point in reversed(line.points) if point.step is not None and point.step.sign]


def _move(number: int, point: Point) -> dict[str, Any]:
    step = point.step
    assert step is not None
    sided = [moved for moved in step.moved if (moved.difference > 0) == (step.difference > 0)] or [*step.moved]
    left = step.better + step.worse - min(len(sided), _NAMED)
    return {
        "id": f"move-{number}-{point.result.id}",
        "kind": "better" if step.sign > 0 else "worse",
        "by": f"{'▲' if step.sign > 0 else '▼'} {_number(step)}",
        "commit": point.result.commit,
        "subject": point.result.change.subject or _day(point.result.at),
        "counts": f"{step.better} better, {step.worse} worse",
        "queries": [_query(moved) for moved in sided[:_NAMED]],
        "all": [_query(moved) for moved in step.moved],
        "more": left,
        "unlisted": step.better + step.worse - len(step.moved),
        "interval": _ends(step),
    }


def _query(moved: Moved) -> dict[str, str]:
    return {
        "query": moved.query,
        "text": moved.text or moved.query,
        "by": _minus(signed(moved.difference, 2)),
    }


def _rows(number: int, line: Line) -> Iterator[dict[str, Any]]:
    """The last results, the latest first, with the breaks between them."""
    shown = line.points[-ROWS:]
    known = [v for p in shown for v in (p.value.low, p.value.high, p.value.value) if v is not None and not p.apart]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    breaks = {found.at: found for found in line.breaks}
    starts = {stretch.points[0].result.id for stretch in line.stretches[1:]}
    for at, point in reversed([*enumerate(shown)]):
        missing = "first" if point is line.points[0] else "not comparable" if point.result.id in starts else ""
        yield {**_row(number, point, low, high), "missing": missing}
        found = breaks.get(point.result.at)
        if found is not None and at > 0:
            yield {"break": _broken(found)}


def _broken(found: Break) -> str:
    text = break_text(found)
    return f"{text[:1].upper()}{text[1:]}."


def _row(number: int, point: Point, low: float, high: float) -> dict[str, Any]:
    step, result = point.step, point.result

    def place(value: float) -> float:
        return round(6 + (value - low) / (high - low) * (_WIDTH - 12), 1) if high > low else _WIDTH / 2

    ends = point.value.low, point.value.high
    drawn = None
    if not point.apart and ends[0] is not None and ends[1] is not None:
        drawn = [place(ends[0]), place(point.value.value), place(ends[1])]
    p95 = _milliseconds(point, "p95")
    return {
        "id": f"result-{number}-{result.id}",
        "move": f"move-{number}-{result.id}" if step is not None and step.sign else "",
        "date": _short(result.at),
        "when": f"{result.at:%Y-%m-%d %H:%M} UTC",
        "commit": result.commit,
        "subject": result.change.subject,
        "value": f"{point.value.value:.3f}",
        "drawn": drawn,
        "kind": {1: "better", -1: "worse"}.get(step.sign, "") if step is not None else "",
        "before": "" if step is None else _number(step),
        "same": step is not None and not step.better + step.worse,
        "better": step.better if step is not None else 0,
        "worse": step.worse if step is not None else 0,
        "p95": "" if p95 is None else f"{p95:.0f}",
        "apart": point.apart,
        "failed": result.passed is False,
        "tags": [tag for tag in tags(point) if tag != "failed"],
        "because": point.accepted.because if point.accepted else "",
    }
