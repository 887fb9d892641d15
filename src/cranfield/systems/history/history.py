"""A history, opened by the path of a file or the URL of a PostgreSQL database."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from cranfield.errors import CranfieldError, InputError
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights, by_group
from cranfield.io.database import LONGEST_VALUE, Database
from cranfield.io.tables import DAMAGED
from cranfield.ranks.columns import Numbers
from cranfield.systems.history.change import Change, stored_time, time_from
from cranfield.systems.history.packing import (
    content_id,
    packed_run,
    unpacked_numbers,
    unpacked_run,
    unpacked_texts,
)
from cranfield.systems.history.results import (
    BASELINE,
    Acceptance,
    Again,
    Basis,
    KeptRun,
    Measured,
    Note,
    Result,
    Value,
    basis_of,
    basis_row,
    query_row,
    value_rows,
)
from cranfield.systems.history.tables import (
    ABOUT,
    ACCEPTANCES,
    BASES,
    COLUMNS,
    MEASURED,
    METADATA,
    NOTES,
    QUERY_SETS,
    RESULTS,
    RUNS,
    SCHEMA,
)

KEPT = 30  # runs of a system that are kept, beside the accepted ones
_NAMED = 500  # ids named in one statement: SQLite once took 999 parameters at most
_Row = Mapping[str, Any]


class History:
    """What was measured over time. Everything is appended; only runs are removed, once they are old.

    where: a file, or postgresql://user@host/name
    create: make the file if there is none
    read_only: never write to it
    """

    def __init__(self, where: str | os.PathLike[str], *, create: bool = False, read_only: bool = False) -> None:
        self._database = Database(SCHEMA, os.fspath(where), create=create, read_only=read_only)
        self.name = self._database.name

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(
        self,
        results: Sequence[Measured] = (),
        *,
        again: Sequence[Again] = (),
        acceptances: Sequence[Acceptance] = (),
        runs: Sequence[KeptRun] = (),
    ) -> None:
        """Append what was measured, all of it or nothing; what is there already stays as it is."""
        there = self.kept_runs() if runs else set()
        contents = ((run, run.read()) for run in runs if run.sha256 not in there)
        packed = {
            run.sha256: (run.name, packed_run(content))
            for run, content in contents
            if hashlib.sha256(content).hexdigest() == run.sha256  # the file may have changed since it was measured
        }
        rows: dict[sa.Table, list[_Row]] = {table: [] for table in METADATA.sorted_tables}
        for measured in results:
            rows[RESULTS].append(measured.row)
            _add_values(rows, measured.id, measured.basis, measured.evaluation, measured.texts)
        for result, evaluation, judged in again:
            _add_values(rows, result, basis_of(evaluation, judged), evaluation, {})
        rows[ACCEPTANCES] += [{**its._asdict(), "at": stored_time(its.at)} for its in acceptances]
        rows[RUNS] += [
            {"id": sha256, "name": name, "packed": content}
            for sha256, (name, content) in packed.items()
            if len(content) < LONGEST_VALUE
        ]
        with self._database.writing("the result") as connection:
            _insert(connection, rows)
            connection.execute(_PRUNE)

    def note(self, text: str, *, who: str = "", commit: str = "", at: datetime | None = None) -> Note:
        """Append a note, by default at this moment."""
        when = stored_time(at or datetime.now(UTC))
        note = Note(content_id(when, text, who), time_from(when), text, who, commit)
        with self._database.writing("the note") as connection:
            _insert(connection, {NOTES: [{**note._asdict(), "at": when}]})
        return note

    def merge(self, *others: str | os.PathLike[str]) -> int:
        """Append what other histories hold; how many results are new. All of it is appended, or nothing."""
        before = self._count()
        with self._database.writing("the other histories") as connection:
            for where in others:
                with closing(Database(SCHEMA, os.fspath(where), read_only=True)) as other, other.reading() as source:
                    for table in METADATA.sorted_tables:
                        if table is ABOUT:
                            continue
                        with source.execute(table.select(), execution_options={"yield_per": _NAMED}) as found:
                            for rows in found.mappings().partitions():
                                _insert(connection, {table: [dict(row) for row in rows]})
            connection.execute(_PRUNE)
        return self._count() - before

    def _count(self) -> int:
        with self._database.reading() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(RESULTS)).scalar_one())

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """What cannot be unpacked is damaged, or was made by others."""
        with self._database.reading() as connection:
            try:
                yield connection
            except (LookupError, TypeError, ValueError) as error:
                if isinstance(error, CranfieldError):
                    raise
                fact = f"it contains what no history holds ({error})."
                raise InputError(self.name, fact, hint=DAMAGED) from error

    def systems(self) -> tuple[str, ...]:
        """The systems with results, the one measured last first."""
        latest = sa.func.max(RESULTS.c.at)
        with self._reading() as connection:
            rows = connection.execute(
                sa.select(RESULTS.c.system).group_by(RESULTS.c.system).order_by(latest.desc(), RESULTS.c.system)
            )
            return tuple(rows.scalars())

    def results(
        self,
        system: str | None = None,
        *,
        last: int | None = None,
        since: datetime | None = None,
        pulls: bool = False,
        branch: str = "",
    ) -> tuple[Result, ...]:
        """Results with their values, the oldest first; those that only serve to be compared with are not among them.

        system: only those of a system
        last: only so many, the latest
        since: only those measured at this time or later
        pulls: those of pull requests instead of all others
        branch: only those of a branch
        """
        conditions = [RESULTS.c.command != BASELINE, RESULTS.c.pull != "" if pulls else RESULTS.c.pull == ""]
        conditions += [RESULTS.c.system == system] if system is not None else []
        conditions += [RESULTS.c.at >= stored_time(since)] if since is not None else []
        conditions += [RESULTS.c.branch == branch] if branch else []
        order = (RESULTS.c.at.desc(), RESULTS.c.id.desc())
        wanted = sa.select(RESULTS).where(*conditions).order_by(*order).limit(last)
        names = wanted.with_only_columns(RESULTS.c.id, RESULTS.c.basis).subquery()
        valued = sa.select(*_VALUE).join(
            names, sa.and_(MEASURED.c.result == names.c.id, MEASURED.c.basis == names.c.basis)
        )
        valued = valued.order_by(MEASURED.c.place)
        with self._reading() as connection:
            rows = connection.execute(wanted).mappings().all()
            values: dict[str, dict[str, Value]] = {}
            for result, measure, *value in connection.execute(valued):
                values.setdefault(result, {})[measure] = Value(*value)
            return tuple(_result(row, values.get(row["id"], {})) for row in reversed(rows))

    def result(self, id: str) -> Result | None:
        """The result with this id."""
        with self._reading() as connection:
            row = connection.execute(sa.select(RESULTS).where(RESULTS.c.id == id)).mappings().one_or_none()
            if row is None:
                return None
            here = (MEASURED.c.result == id, MEASURED.c.basis == row["basis"])
            valued = sa.select(*_VALUE).where(*here).order_by(MEASURED.c.place)
            values = {name: Value(*value) for _, name, *value in connection.execute(valued)}
            return _result(row, values)

    def beginning_with(self, start: str, system: str | None = None) -> tuple[Result, ...]:
        """The results whose commit or id begins so, the oldest first, those of pull requests among them."""
        named = sa.or_(*(column.startswith(start, autoescape=True) for column in (RESULTS.c.commit, RESULTS.c.id)))
        conditions = [named] + ([RESULTS.c.system == system] if system is not None else [])
        with self._reading() as connection:
            wanted = sa.select(RESULTS.c.id).where(*conditions).order_by(RESULTS.c.at, RESULTS.c.id)
            names = connection.execute(wanted).scalars().all()
        return tuple(result for name in names if (result := self.result(name)) is not None)

    def values(self, measure: str, basis: str) -> dict[str, Value]:
        """The values of all results on a basis, also of those that were measured again on it."""
        here = (MEASURED.c.measure == measure, MEASURED.c.basis == basis)
        with self._reading() as connection:
            return {name: Value(*value) for name, _, *value in connection.execute(sa.select(*_VALUE).where(*here))}

    def columns(self, measure: str, basis: str, results: Sequence[str]) -> dict[str, Numbers]:
        """The values of queries, by result, in the order of `texts`; without results that were not measured so."""
        length = len(self.texts(basis))
        here = (MEASURED.c.measure == measure, MEASURED.c.basis == basis)
        found: dict[str, Numbers] = {}
        unpacked: dict[str, Numbers] = {}
        with self._reading() as connection:
            for start in range(0, len(results), _NAMED):
                statement = sa.select(MEASURED.c.result, COLUMNS.c.id, COLUMNS.c.packed).join(
                    COLUMNS, COLUMNS.c.id == MEASURED.c.column
                )
                for name, column, packed in connection.execute(
                    statement.where(*here, MEASURED.c.result.in_(results[start : start + _NAMED]))
                ):
                    if column not in unpacked:
                        unpacked[column] = unpacked_numbers(packed, length)
                    found[name] = unpacked[column]
        return found

    def by_query(self, result: str, measure: str, basis: str) -> dict[str, float]:
        """The value of each query; empty where the result was not measured so."""
        column = self.columns(measure, basis, [result]).get(result)
        return {} if column is None else dict(zip(self.texts(basis), column.tolist(), strict=True))

    def bases(self) -> dict[str, Basis]:
        with self._reading() as connection:
            rows = connection.execute(sa.select(*(BASES.c[name] for name in Basis._fields)))
            return {row[0]: Basis(*row) for row in rows}

    def texts(self, basis: str) -> dict[str, str]:
        """The texts of the queries of a basis, by id, in the order of columns; empty texts where they are unknown."""
        statement = sa.select(QUERY_SETS.c.texts).join(BASES, BASES.c.queries == QUERY_SETS.c.id)
        with self._reading() as connection:
            packed = connection.execute(statement.where(BASES.c.id == basis)).scalar_one_or_none()
            return {} if packed is None else unpacked_texts(packed)

    def weights(self, basis: str) -> Weights | None:
        """The weights and the groups of the queries of a basis; None where all count alike."""
        with self._reading() as connection:
            statement = sa.select(BASES.c.weighting, BASES.c.grouping).where(BASES.c.id == basis)
            row = connection.execute(statement).one_or_none()
        if row is None or row.weighting is None:
            return None
        queries = list(self.texts(basis))
        weights = unpacked_numbers(row.weighting, len(queries))
        groups = None if row.grouping is None else unpacked_texts(row.grouping)
        equal = groups is not None and bool((weights == weights[:1]).all())
        return Weights("", dict(zip(queries, weights.tolist(), strict=True)), groups, equal=equal)

    def units(self, basis: str, columns: Numbers) -> tuple[dict[str, str], Numbers | None, Numbers]:
        """What counts once on a basis, queries or groups: texts by id, weights, and values made of those of queries.

        columns: a row for each query
        """
        texts = self.texts(basis)
        units = by_group(self.weights(basis), list(texts), columns)
        grouped = {name: texts.get(name, "") for name in units.names}
        return grouped, units.weight, units.values

    def acceptances(self, system: str) -> tuple[Acceptance, ...]:
        """What was accepted of a system, the oldest first; the last one counts."""
        columns = [ACCEPTANCES.c[name] for name in Acceptance._fields]
        statement = sa.select(*columns).where(ACCEPTANCES.c.system == system).order_by(ACCEPTANCES.c.at)
        with self._reading() as connection:
            rows = connection.execute(statement).all()
        return tuple(Acceptance(*row)._replace(at=time_from(row.at), worse=bool(row.worse)) for row in rows)

    def notes(self) -> tuple[Note, ...]:
        """All notes, the oldest first."""
        statement = sa.select(*(NOTES.c[name] for name in Note._fields)).order_by(NOTES.c.at)
        with self._reading() as connection:
            return tuple(Note(*row)._replace(at=time_from(row.at)) for row in connection.execute(statement))

    def kept_runs(self) -> set[str]:
        """The SHA-256 of the runs that are kept."""
        with self._reading() as connection:
            return {*connection.execute(sa.select(RUNS.c.id)).scalars()}

    def run(self, sha256: str) -> tuple[str, bytes]:
        """The name of the file of a run that is kept, and its content."""
        with self._reading() as connection:
            row = connection.execute(sa.select(RUNS.c.name, RUNS.c.packed).where(RUNS.c.id == sha256)).one_or_none()
            if row is None:
                hint = f"the accepted ones and the last {KEPT} of a system are kept"
                raise InputError(self.name, f"the run {sha256[:16]} is not kept.", hint=hint)
            content = unpacked_run(row.packed)
            if hashlib.sha256(content).hexdigest() != sha256:
                raise ValueError("a run that is not the one of its name")
            return row.name, content


_VALUE = (MEASURED.c.result, MEASURED.c.measure, MEASURED.c.value, MEASURED.c.low, MEASURED.c.high)


def _numbered() -> Any:
    place = sa.func.row_number().over(partition_by=RESULTS.c.system, order_by=RESULTS.c.at.desc())
    return (
        sa.select(RESULTS.c.run, place.label("place"))
        .where(RESULTS.c.pull == "", RESULTS.c.command != BASELINE)
        .subquery()
    )


_RECENT = _numbered()
_PRUNE = RUNS.delete().where(
    RUNS.c.id.not_in(sa.select(_RECENT.c.run).where(_RECENT.c.place <= KEPT)),
    RUNS.c.id.not_in(sa.select(RESULTS.c.run).join(ACCEPTANCES, ACCEPTANCES.c.result == RESULTS.c.id)),
)


def _add_values(
    rows: dict[sa.Table, list[_Row]], result: str, basis: Basis, evaluation: Evaluation, texts: Mapping[str, str]
) -> None:
    rows[BASES].append(basis_row(basis, evaluation))
    rows[QUERY_SETS].append(query_row(evaluation, texts))
    for value, column in value_rows(result, basis, evaluation):
        rows[MEASURED].append(value)
        rows[COLUMNS].append(column)


def _insert(connection: sa.Connection, rows: Mapping[sa.Table, Sequence[_Row]]) -> None:
    """Insert rows that are not there yet."""
    insert = sqlite.insert
    if connection.dialect.name != "sqlite":
        from sqlalchemy.dialects import postgresql  # its import takes as long as showing a history

        insert = postgresql.insert
    for table, its in rows.items():
        if its:
            connection.execute(insert(table).on_conflict_do_nothing(), [dict(row) for row in its])


def _result(row: _Row, values: Mapping[str, Value]) -> Result:
    facts = json.loads(row["facts"])
    change = Change(**{name: row[name] for name in Change._fields})._replace(dirty=bool(row["dirty"]))
    return Result(
        id=row["id"],
        system=row["system"],
        at=time_from(row["at"]),
        basis=row["basis"],
        run_sha256=row["run"],
        command=row["command"],
        change=change,
        passed=None if row["passed"] is None else bool(row["passed"]),
        accepted=row["accepted"],
        latency=facts.get("latency", {}),
        counts=facts.get("counts", {}),
        signature=row["signature"],
        version=row["version"],
        gone=tuple(facts.get("gone", ())),
        settings=facts.get("settings", {}),
        documents=facts.get("documents"),
        corpus=facts.get("corpus", ""),
        values=values,
    )
