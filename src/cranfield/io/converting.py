"""convert_file(source, target) → Conversion: judgments or a run in another format, and what that cost."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cranfield.errors import InputError, OutputError, choice_hint, given
from cranfield.io.column_names import Role
from cranfield.io.facts import facts_of, keep_beside
from cranfield.io.formats import FORMATS, fitting_roles, format_to_write, open_records, writable
from cranfield.io.formats.format import Format, Plan, Writer
from cranfield.io.records import RecordFile, Records, rows_by_query
from cranfield.io.streams import Stream
from cranfield.io.target import STANDARD_OUTPUT, Target, open_target
from cranfield.io.text import Scattered
from cranfield.io.writing import check_name, name_from
from cranfield.words import count

NO_GROUP = {"0", "Q0"}  # the second column, where it has no meaning


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was written, and in `notes` what the new format cannot hold.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert_file("builtin:keywords", f"{folder}/keywords.csv")
    >>> done.role, done.format, done.rows
    ('run', 'csv', 200)
    """

    source: str
    target: str
    role: Role
    format: str
    rows: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Conversion of {self.source} to {self.target}: {count(self.rows, 'row')} as {self.format}>"


def convert_file(
    source: str | os.PathLike[str] | Stream,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    target_format: str | None = None,
    role: Role | None = None,
    name: str | None = None,
    force: bool = False,
) -> Conversion:
    """Write judgments or a run in another format; the values of all measures stay the same.

    source, target: paths, or "-" for standard input and output; the target is compressed by its extension.
    format, target_format: names of formats, such as trec or csv, if they cannot be detected from the file names.
    role: "qrels" or "run", if it cannot be detected.
    name: of the run, for trec.
    force: replace a target that exists.
    Returns a `Conversion`: how many rows were written, and what the new format could not hold.

    The target appears only once it is complete. Text is converted in pieces, whatever its size; rows of a query that
    are scattered, but needed together, are collected in temporary files. Parquet and JSON are read as a whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     convert_file("builtin:ten", f"{folder}/qrels.jsonl.gz").format
    'jsonl'
    """
    out = os.fspath(target)
    if target_format not in (None, *writable()):
        fact = f"there is no format '{target_format}'."
        raise OutputError(out, fact, hint=choice_hint("formats are", writable(), target_format))
    chosen = FORMATS[target_format] if target_format else format_to_write(out)
    stream = source if isinstance(source, Stream) else Stream(source)
    only = (FORMATS[format].reads if format in FORMATS else (), chosen.writes)  # a format may have only one role
    role = role or next((roles[0] for roles in only if len(roles) == 1), None) or _role_of(stream, format, out)
    if role not in chosen.writes:
        raise OutputError(out, f"{chosen.name} is a format of judgments.", hint="write the run as tsv")
    if name is not None and not (role == "run" and chosen.keeps_name):
        named = ", ".join(known.name for known in FORMATS.values() if known.keeps_name)
        raise OutputError(out, f"only runs in the format {named} have a name.", hint=f"leave {given('name')} out")
    if name is not None:
        check_name(name, out)
    file = open_records(stream, role, format)
    facts = facts_of(stream) if role == "run" else {}
    with open_target(out, force=force) as place:
        rows, notes = _convert(file, _plan(file, chosen, name), place)
    if facts and os.path.isfile(out):
        keep_beside(out, facts)
    return Conversion(stream.name, "standard output" if out == STANDARD_OUTPUT else out, role, chosen.name, rows, notes)


def _role_of(stream: Stream, format: str | None, target: str) -> Role:
    """Whether these are judgments or a run: by the columns, then by the names of the files."""
    reasons = fitting_roles(stream, format)
    fitting = [role for role, reason in reasons.items() if reason is None]
    if len(fitting) == 1:
        return fitting[0]
    if reasons["run"] is not None:
        raise reasons["run"]
    for path in (stream.name, target):
        folder, base = os.path.split(os.path.abspath(path).lower())
        roles: set[Role] = set()
        if "qrel" in base or os.path.basename(folder) == "qrels":
            roles.add("qrels")
        if "run" in re.split(r"[\W_]", base):
            roles.add("run")
        if len(roles) == 1:
            return roles.pop()
    fact = "these may be judgments or a run: the columns fit both."
    raise InputError(stream.name, fact, hint=f"add {given('role', 'qrels', 'run')}")


def _plan(file: RecordFile, format: Format, name: str | None) -> Plan:
    if file.role == "run":
        needed = format.keeps_name and (file.layout is None or file.layout.name < 0)
        invented = name_from(os.path.basename(file.name).partition(".")[0]) if needed else None
        return Plan(file.name, "run", format, ranks=file.ranks, name=name or invented)
    # Judgments are few: they are read once more to know which columns and which type they need.
    groups, whole = False, True
    for records in file.batches(_refuse):
        groups = groups or not NO_GROUP.issuperset(records.group or ())
        whole = whole and bool((records.value % 1 == 0).all() and (abs(records.value) < 2**53).all())
    return Plan(file.name, "qrels", format, groups=groups and format.keeps_groups, whole=whole)


def _refuse(error: InputError) -> None:
    raise error


def _convert(file: RecordFile, plan: Plan, target: Target) -> tuple[int, tuple[str, ...]]:
    counted = file.layout is not None and file.layout.counted
    if not (plan.format.by_query(plan.role) or counted):
        return _write(file, file.batches(_refuse), plan, target)

    def queries(scattered: bool) -> Iterator[Records]:
        for records in rows_by_query(file, _refuse, scattered=scattered):
            if counted and (error := records.miscount(file.name)):
                raise error
            yield records

    try:
        return _write(file, queries(False), plan, target)
    except Scattered:
        return _write(file, queries(True), plan, target)


def _write(file: RecordFile, batches: Iterable[Records], plan: Plan, target: Target) -> tuple[int, tuple[str, ...]]:
    rows, ranked, grouped = 0, False, False
    names: set[str] = set()
    with target.opened() as out:
        writer = plan.format.writer(plan, out)
        for records in batches:
            if records.query:
                rows += len(records.query)
                names.update(records.name or ())
                ranked = ranked or records.rank is not None
                grouped = grouped or not NO_GROUP.issuperset(records.group or ())
                writer.write(records)
        writer.close()
    if not rows:
        raise InputError(file.name, "it contains no rows.")
    return rows, tuple(_notes(file, plan, names, ranked, grouped, writer))


def _notes(file: RecordFile, plan: Plan, names: set[str], ranked: bool, grouped: bool, writer: Writer) -> Iterator[str]:
    format = plan.format
    if plan.role == "run" and not format.keeps_scores and not plan.ranks:
        yield f"the scores are not kept: {format.name} has only ranks; equal scores are now in the order of their ids."
    if plan.ranks and not format.keeps_ranks_alone:
        yield "there are ranks but no scores; minus the rank was written as the score."
    if names and not format.keeps_name:
        shown = ", ".join(f"'{name}'" for name in sorted(names)[:3]) + (", …" if len(names) > 3 else "")
        yield f"the name of the run is not kept: {shown}."
    if plan.name and names - {plan.name}:
        yield f"the run is now called '{plan.name}'."
    if ranked and not format.keeps_ranks:
        yield "the rank column is not kept; ranks follow from the scores."
    if grouped and not format.keeps_groups:
        yield f"the second column, of subtopics or judges, is not kept: {format.name} has no place for it."
    if file.empty_queries:
        yield f"queries without documents are not kept: {file.empty_queries:,}."
    if file.left_out:
        yield f"columns that are not kept: {', '.join(file.left_out)}."
    if moved := getattr(writer, "moved", 0):
        yield f"the lines of {count(moved, 'query', 'queries')} were put in the order of their scores."
    if renumbered := getattr(writer, "renumbered", 0):
        yield f"the ranks of {count(renumbered, 'query', 'queries')} were recalculated from the scores."
