"""`cranfield history`: quality over time, and alarms that are not noise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import MEASURES, ImportOptions
from cranfield.cli.options import argument, flag, number, option
from cranfield.io.query_columns import COLUMNS
from cranfield.io.settings import SETTINGS_FILE

if TYPE_CHECKING:
    from cranfield.systems.history.history import History
    from cranfield.systems.history.lines import Line
    from cranfield.systems.history.opening import HistorySettings
    from cranfield.systems.history.segments import SegmentLine
    from cranfield.systems.project import Project


ON_PAGE = 4  # measures


class WhereOptions(ImportOptions, section="Input"):
    config: Path = options.config(SETTINGS_FILE)
    store: str | None = options.HISTORY
    merge: bool = flag("--merge", help="Append the results of other histories, which are given in place of systems.")
    note: str | None = option("--note", metavar="TEXT", help="Keep a note at this moment.")
    again: bool = flag("--again", help="Measure the runs that are kept by the judgments of the last result.")


class WhichOptions(options.OptionGroup, section="Output"):
    measures: Sequence[str] = MEASURES
    last: int | None = number("-n", "--last", least=1, help="Only the last N results [30; all of them on a page].")
    since: str | None = option(
        "--since", metavar="WHEN", help="Only results since then: 7d, 12h, 4w, or a date such as 2026-11-01."
    )
    queries: tuple[str, ...] = options.QUERY_IDS
    segments: str | None = options.file(
        *COLUMNS["segment"].names, parameter="segments", help=COLUMNS["segment"].meaning
    )
    branch: str | None = option("--branch", metavar="NAME", help="Only results of a branch.")
    check: bool = flag("--check", help="Exit with 1 if the last result is worse than accepted, or the last ten slide.")


class ShownOptions(options.PrintOptions, formats=("json", "csv", "markdown")):
    """How it is shown; a FILE.html is the page."""

    writes_page = True


@options.command("history", systems=argument(nargs=-1, metavar="[SYSTEM]..."))
def command(systems: tuple[str, ...], where: WhereOptions, which: WhichOptions, shown: ShownOptions) -> int:
    """Show how the results of 'cranfield test' and 'gate' have changed over time, and which commits moved them.

    Values are only compared by the same queries, judgments, weights and policy: where one of them changed, the line
    breaks, unless --again measures the runs before it. Results of pull requests are kept, but are on no line.

    \b
    Examples:
      cranfield init && cranfield test && cranfield history
      cranfield history --check
      cranfield history -o history.html
    """
    where.import_measures()
    project, settings = _settings(where)
    writes = where.merge or where.note is not None or where.again
    with _opened(settings, create=where.merge, read_only=not writes) as history:
        if writes:
            _write(history, where, project, systems)
            return 0
        chosen = systems or history.systems()
        if which.check:
            return _check(history, chosen, project, settings, which, shown)
        lines = list(_lines(history, chosen, settings, which, shown))
        if which.queries:
            _show_queries(history, lines, which.queries, shown)
        elif shown.is_page:
            _write_page(lines, project, shown)
        else:
            _show(lines, which, shown, _by_segment(history, lines, project, which))
    return 0


def _by_segment(
    history: History, lines: list[Line], project: Project | None, which: WhichOptions
) -> list[list[SegmentLine]]:
    """The segments of each line; none where no segments of the queries are known."""
    from cranfield.io.pairs import read_words
    from cranfield.systems.history.segments import segment_lines

    known = read_words(which.segments, "segment") if which.segments else project.columns.segments if project else None
    return [segment_lines(history, line, known) if known else [] for line in lines]


def _settings(where: WhereOptions) -> tuple[Project | None, HistorySettings]:
    from cranfield.systems.history.opening import USUAL_HISTORY, HistorySettings

    project = None
    beside = where.config.parent / USUAL_HISTORY
    if where.config.is_file() or (where.store is None and not beside.is_file()):
        from cranfield.systems.project import read_project

        project = read_project(where.config)
    known = {} if project is None else dict(project.history)
    if where.store is None:
        return project, HistorySettings.of(known, where.config)
    named = where.store if "://" in where.store else str(Path.cwd() / where.store)
    return project, HistorySettings.of({**known, "store": named}, where.config)


@contextmanager
def _opened(settings: HistorySettings, *, create: bool, read_only: bool) -> Iterator[History]:
    from cranfield.systems.history.opening import open_history

    with open_history(settings.store, create=create, read_only=read_only) as history:
        yield history


def _write(history: History, where: WhereOptions, project: Project | None, given: tuple[str, ...]) -> None:
    from cranfield.words import count

    if where.merge:
        if not given:
            raise click.UsageError("--merge: name the histories to append.")
        added = history.merge(*given)
        output.say(f"{history.name}: {count(added, 'new result')} from {count(len(given), 'history', 'histories')}")
    if where.note is not None:
        from cranfield.systems.history.change import measured_change, who

        folder = where.config.parent
        note = history.note(where.note, who=who(folder), commit=measured_change(folder).commit)
        output.say(f"noted at {note.at:%Y-%m-%d %H:%M} UTC: {note.text}")
    if where.again:
        from cranfield.systems.history.again import measure_again

        if project is None:
            raise click.UsageError(f"--again: {where.config} must say what is measured, and there is no such file.")
        for system in (not where.merge and given) or history.systems():
            done = measure_again(project, history, system)
            left = [f"{done.known} known"] if done.known else []
            left += [f"{done.lost} no longer kept"] if done.lost else []
            left += [f"{done.not_asked} not asked today's queries"] if done.not_asked else []
            told = f"{system}: {count(done.measured, 'result')} measured again"
            output.say(f"{told}; {', '.join(left)}" if left else told)


def _lines(
    history: History,
    systems: tuple[str, ...],
    settings: HistorySettings,
    which: WhichOptions,
    shown: ShownOptions,
) -> Iterator[Line]:
    from cranfield.errors import InputError
    from cranfield.systems.history.lines import line_of

    if not systems:
        raise InputError(history.name, "there is no result in it.", hint="'cranfield test' appends to it")
    since = None if which.since is None else _since(which.since)
    last = which.last if which.last is not None or shown.is_page or since is not None else 30
    options: dict[str, Any] = {"last": last, "since": since, "branch": which.branch or settings.branch}
    for system in systems:
        named = which.measures
        if not named:
            first = line_of(history, system, **options)
            yield first
            named = [name for name in first.measures if name != first.measure][: ON_PAGE - 1] if shown.is_page else ()
        yield from (line_of(history, system, name, **options) for name in named)


_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def _since(text: str) -> datetime:
    """A moment in UTC from an age, such as 7d, or from a date."""
    if found := re.fullmatch(r"(\d{1,6})\s*([hdw])", text.strip()):
        return datetime.now(UTC) - int(found[1]) * _UNITS[found[2]]
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.UsageError(f"--since {text}: write it as 7d, 12h, 4w, or as 2026-11-01") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _check(
    history: History,
    systems: tuple[str, ...],
    project: Project | None,
    settings: HistorySettings,
    which: WhichOptions,
    shown: ShownOptions,
) -> int:
    import json

    from cranfield.show.history_text import alert_lines
    from cranfield.systems.history.alerts import alert_of

    gate = dict(project.gate) if project is not None else {}
    named = which.measures or gate.get("measures") or list(project.measures[:1] if project else ())
    alerts = []
    for system in systems:
        measures = named or [next(iter(history.results(system, last=1)[-1].values))]
        alerts.append(
            alert_of(
                history,
                system,
                measures,
                tolerance=gate.get("tolerance", 0.0),
                alpha=settings.alpha,
                looks=settings.looks,
                branch=which.branch or settings.branch,
            )
        )
    if shown.form == "json":
        output.write([json.dumps([alert.to_dict() for alert in alerts], indent=2)], shown.file, data=True)
    else:
        width, paint = output.width(shown.file), output.paint(shown.file)
        output.write([line for alert in alerts for line in alert_lines(alert, width, paint)], shown.file)
    return 0 if all(alert.passed for alert in alerts) else 1


def _show(lines: list[Line], which: WhichOptions, shown: ShownOptions, segments: list[list[SegmentLine]]) -> None:
    from cranfield.show import history_text as text

    rows = which.last or text.ROWS
    if shown.form == "text":
        width, paint = output.width(shown.file), output.paint(shown.file)
        both = zip(lines, segments, strict=True)
        printed = [row for line, its in both for row in text.history_lines(line, rows, width, paint, its)]
    elif shown.form == "markdown":
        printed = list(text.history_markdown(lines, rows))
    else:
        printed = [text.history_json(lines, segments) if shown.form == "json" else text.history_csv(lines)]
    output.write(printed, shown.file, data=shown.form in ("json", "csv"))


def _show_queries(history: History, lines: list[Line], queries: tuple[str, ...], shown: ShownOptions) -> None:
    from cranfield.show.history_text import query_lines, query_rows
    from cranfield.systems.history.lines import query_days

    found = [(line, query, query_days(history, line, query)) for line in lines for query in queries]
    if shown.form != "text":
        output.write([query_rows(found, shown.form)], shown.file, data=True)
        return
    width, paint = output.width(shown.file), output.paint(shown.file)
    printed: list[str] = []
    for line, query, days in found:
        text = history.texts(line.stretches[-1].basis.id).get(query, "")
        printed += query_lines(line, days, query, text, width, paint)
    output.write(printed, shown.file)


def _write_page(lines: list[Line], project: Project | None, shown: ShownOptions) -> None:
    from cranfield.report.history import write_history

    limit = project.gate.get("max_p95") if project is not None else None
    written = write_history(lines, shown.file or "", command=output.command_line(), limit=limit)
    output.say(f"{written.path}: {written.size / 1e6:.1f} MB")
