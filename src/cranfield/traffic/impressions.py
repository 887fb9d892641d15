"""read_impressions(logs) → Impressions: how often which document was shown and clicked at which rank, for each query.

DuckDB reads and counts: ten million lines do not fit into objects of Python. What leaves it are counts.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cranfield.engines.duckdb import DuckDB
from cranfield.errors import InputError, need
from cranfield.io.streams import as_stream
from cranfield.ranks.columns import Numbers
from cranfield.traffic.click_columns import ACTIONS, Shape
from cranfield.traffic.log_tables import LogTable
from cranfield.words import count

Codes = npt.NDArray[np.int64]
DEEPEST = 200  # ranks further down are left out: hardly anybody gets there


class LogQuery(NamedTuple):
    text: str  # in lower case, without needless blanks; the id, where a log has no texts
    query_id: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Impressions:
    """Counts of a log: a cell for each document of a query at each rank, and a pair for each document of a query.

    pair, rank, shown, clicked: of the cells; a rank is a place in `ranks`
    pair_query, pair_document: of the pairs; places in `queries` and `documents`
    left_out: how many rows of the log did not count, by reason
    """

    source: str
    queries: Sequence[LogQuery]
    documents: Any  # an Arrow array of texts
    ranks: tuple[int, ...]
    pair_query: Codes
    pair_document: Codes
    pair: Codes
    rank: Codes
    shown: Numbers
    clicked: Numbers
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown, clicked = round(self.shown.sum()), round(self.clicked.sum())
        return f"<Impressions: {count(shown, 'impression')}, {count(clicked, 'click')}>"


def normalised(query: str) -> str:
    """A query as it is compared: case and blanks do not matter.

    >>> normalised("  Red  Shoes ")
    'red shoes'
    """
    return " ".join(query.lower().split())


def read_impressions(logs: Any) -> Impressions:
    """Count a log of impressions and clicks.

    logs: a path, a frame, rows as mappings, or a list of paths and frames. Events may come with a file of searches,
        which says what was searched for.
    """
    several = isinstance(logs, list | tuple) and not all(isinstance(row, Mapping) for row in logs)
    duckdb = DuckDB.imported()
    need("pyarrow", extra="duckdb", purpose="a log of clicks")
    with tempfile.TemporaryDirectory(prefix="cranfield-") as folder:
        # Nothing is fetched from elsewhere, not even an extension.
        settings = {"autoinstall_known_extensions": "false", "python_enable_replacements": "false"}
        with duckdb.connect(os.path.join(folder, "log.duckdb"), config=settings) as connection:
            source, tables = "the log", list[LogTable]()
            try:
                for number, log in enumerate(logs if several else [logs]):
                    stream = as_stream(log)
                    source = stream.name if stream else "the log"
                    tables.append(LogTable(connection, stream or log, source, f"log{number}"))
                source = ", ".join(table.name for table in tables)
                return _counted(connection, tables, source)
            except duckdb.Error as error:
                for table in tables:
                    table.refuse_bad_line()
                first = str(error).strip().partition("\n")[0]
                raise InputError(source, f"it cannot be read as a log ({first:.200}).") from error


def _counted(connection: Any, tables: Sequence[LogTable], source: str) -> Impressions:
    of = {shape: [table for table in tables if table.columns.shape is shape] for shape in Shape}
    if of[Shape.SEARCHES] and not of[Shape.EVENTS]:
        name = of[Shape.SEARCHES][0].name
        raise InputError(name, "these are searches, without what was shown.", hint="give the file of events, too")
    parts = [_counted_rows(table) for table in of[Shape.COUNTED]]
    left_out: dict[str, int] = {}
    if of[Shape.EVENTS]:
        left_out = _join_events(connection, of[Shape.EVENTS], of[Shape.SEARCHES], source)
        parts.append("SELECT query, search AS query_id, document, rank, 1 AS shown, clicked, false AS bad FROM joined")
    cells = connection.sql(
        "SELECT query, min(query_id) AS query_id, document, rank, CAST(sum(shown) AS DOUBLE) AS shown, "
        "CAST(sum(clicked) AS DOUBLE) AS clicked, bool_or(bad) AS bad "
        f"FROM ({' UNION ALL '.join(parts)}) GROUP BY query, document, rank"
    ).to_arrow_table()
    if any(chunk.true_count for chunk in cells["bad"].chunks):
        for table in of[Shape.COUNTED]:
            _refuse_bad_row(connection, table)
    return _coded(cells, source, left_out, any(table.columns.has_texts for table in tables))


_BAD = {
    "the query is empty": "query IS NULL",
    "the document is empty": "document IS NULL",
    "the rank is not a whole number from 0": "rank IS NULL OR rank < 0",
    "the number of clicks is not a number from 0": "clicked IS NULL OR clicked < 0 OR NOT isfinite(clicked)",
    "the number of impressions is not a number from 0": "shown IS NULL OR shown < 0 OR NOT isfinite(shown)",
    "there are more clicks than impressions": "clicked > shown",
}


def _counted_rows(table: LogTable) -> str:
    its = table.columns
    said = f"lower({table.text(its.clicks)})"
    clicks = f"CASE {said} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE TRY_CAST({said} AS DOUBLE) END"
    shown = f"TRY_CAST({table.text(its.shown)} AS DOUBLE)" if its.shown else "1"
    columns = (
        f"{table.text(its.query)} AS query, {table.text(its.query_id or its.query)} AS query_id, "
        f"{table.text(its.document)} AS document, {_rank(table)} AS rank, {shown} AS shown, {clicks} AS clicked"
    )
    bad = " OR ".join(f"({condition})" for condition in _BAD.values())
    return f"SELECT *, ({bad}) AS bad FROM (SELECT {columns} FROM {table.table})"


def _rank(table: LogTable) -> str:
    """A rank as a whole number; NULL for 1.5 and what is no number at all."""
    number = f"TRY_CAST({table.text(table.columns.rank)} AS DOUBLE)"
    return f"CASE WHEN {number} = floor({number}) THEN TRY_CAST({number} AS BIGINT) END"


def _refuse_bad_row(connection: Any, table: LogTable) -> None:
    """An error for the first row that cannot be right."""
    why = " ".join(f"WHEN {condition} THEN '{reason}'" for reason, condition in _BAD.items())
    numbered = f"SELECT row_number() OVER () AS number, * FROM ({_counted_rows(table)})"
    first = f"SELECT number, CASE {why} END FROM ({numbered}) WHERE bad ORDER BY number LIMIT 1"
    found = connection.execute(first).fetchone()
    if found is not None:
        hint = "ranks and counts are numbers; clicked is 0 or 1, or a number beside that of impressions"
        raise InputError(table.name, f"row {found[0]:,}: {found[1]}.", hint=hint)


def _join_events(
    connection: Any, events: Sequence[LogTable], searches: Sequence[LogTable], source: str
) -> dict[str, int]:
    """Make the table `joined`: a row for each document that a search showed, however often it was logged."""
    actions = {name: ", ".join(f"'{action}'" for action in names) for name, names in ACTIONS.items()}
    rows = " UNION ALL ".join(
        f"SELECT {table.text(its.search)} AS search, {table.text(its.query)} AS query, "
        f"{table.text(its.document)} AS document, {_rank(table)} AS rank, lower({table.text(its.action)}) AS action "
        f"FROM {table.table}"
        for table in events
        for its in [table.columns]
    )
    connection.execute(
        "CREATE TABLE pairs AS SELECT search, document, "
        f"min(rank) FILTER (action IN ({actions['impression']})) AS rank, "
        f"bool_or(action IN ({actions['impression']})) AS was_shown, "
        f"bool_or(action IN ({actions['click']})) AS was_clicked, max(query) AS query, count(*) AS events "
        f"FROM ({rows}) WHERE action IN ({actions['impression']}, {actions['click']}) GROUP BY search, document"
    )
    named = "search IS NOT NULL AND document IS NOT NULL"
    counts = connection.execute(
        f"SELECT count(*) FILTER (was_shown), count(*) FILTER (was_clicked), sum(events) FILTER (NOT ({named})), "
        f"count(*) FILTER (({named}) AND was_shown AND rank IS NULL), "
        f"count(*) FILTER (({named}) AND was_clicked AND NOT was_shown) FROM pairs"
    ).fetchone()
    for number, what in zip(counts, ACTIONS, strict=False):
        if not number:
            actions_known = ", ".join(ACTIONS[what])
            fact = f"it has no {what}s, and attraction is how many of the impressions were clicked."
            raise InputError(source, fact, hint=f"the action of an event is {actions_known}")
    text, texts = "coalesce(pairs.query, search)", ""
    if searches:
        known = " UNION ALL ".join(
            f"SELECT {table.text(table.columns.search)} AS search, {table.text(table.columns.query)} AS query "
            f"FROM {table.table}"
            for table in searches
        )
        text = "coalesce(pairs.query, searches.query, search)"
        texts = f"LEFT JOIN (SELECT search, max(query) AS query FROM ({known}) GROUP BY search) searches USING (search)"
    connection.execute(
        f"CREATE VIEW joined AS SELECT {text} AS query, search, document, rank, "
        f"CAST(was_clicked AS INTEGER) AS clicked FROM pairs {texts} WHERE {named} AND was_shown AND rank >= 0"
    )
    reasons = ("events without a search or a document", "impressions without a rank", "clicks without an impression")
    return {reason: int(number) for reason, number in zip(reasons, counts[2:], strict=True) if number}


def _sorted_codes(column: Any) -> tuple[Any, Codes]:
    """The different texts of a column in order, and the place of each row's among them.

    DuckDB returns rows in any order; sums of floating-point numbers must not depend on it.
    """
    encoded = column.combine_chunks().dictionary_encode()
    order = np.asarray(need("pyarrow.compute", purpose="a log of clicks").sort_indices(encoded.dictionary), np.int64)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return encoded.dictionary.take(order), place[np.asarray(encoded.indices, np.int64)]


def _coded(cells: Any, source: str, left_out: dict[str, int], texts: bool) -> Impressions:
    """The cells as numbers; of texts, those that differ only in case or blanks become one query."""
    (written, query), (documents, document) = (_sorted_codes(cells[name]) for name in ("query", "document"))
    at: dict[str, int] = {}
    as_one = [at.setdefault(normalised(text) if texts else text, len(at)) for text in written.to_pylist()]
    codes = np.array(as_one, np.int64)[query]
    rank = np.asarray(cells["rank"], np.int64)
    shown, clicked = (np.asarray(cells[name], np.float64) for name in ("shown", "clicked"))
    near = rank <= DEEPEST
    if not near.all():
        left_out = {**left_out, f"impressions below rank {DEEPEST}": int(shown[~near].sum())}
    if not clicked[near].any():
        where = "" if near.all() else f" down to rank {DEEPEST}"
        raise InputError(source, f"nothing in it was clicked{where}.", hint="are all clicks in another file? Give both")
    firsts = np.unique(codes, return_index=True)[1]  # of each query, one of its ids
    ids = [name or "" for name in cells["query_id"].take(firsts).to_pylist()]
    keys = codes * len(documents) + document
    pairs, pair = np.unique(keys[near], return_inverse=True)
    ranks, rank = np.unique(rank[near], return_inverse=True)
    merged, place = np.unique(pair * len(ranks) + rank, return_inverse=True)
    return Impressions(
        source=source,
        queries=[LogQuery(text, id_) for text, id_ in zip(at, ids, strict=True)],
        documents=documents,
        ranks=tuple(ranks.tolist()),
        pair_query=pairs // len(documents),
        pair_document=pairs % len(documents),
        pair=merged // len(ranks),
        rank=merged % len(ranks),
        shown=np.bincount(place, shown[near]).astype(np.float64),
        clicked=np.bincount(place, clicked[near]).astype(np.float64),
        left_out=left_out,
    )
