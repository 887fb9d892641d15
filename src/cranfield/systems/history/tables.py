"""The tables of a history. Every row is named by its content: what is merged twice is there once.

A basis is what values must share to be compared: queries, judgments, weights and policy. A result has values on the
basis by which it was measured, and on others by which its run was measured again.
"""

from __future__ import annotations

import sqlalchemy as sa

from cranfield.io.tables import Schema, wrong_types

METADATA = sa.MetaData()
_ID = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False, server_default="") for name in names]


ABOUT = sa.Table("cranfield_history", METADATA, sa.Column("version", sa.Integer, nullable=False))

RESULTS = sa.Table(
    "history_results",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("system", _ID, nullable=False),
    sa.Column("at", sa.Text, nullable=False),  # in UTC: as text, it sorts by time
    sa.Column("basis", _ID, nullable=False),
    sa.Column("run", _ID, nullable=False),  # its SHA-256
    *_texts("command", "commit", "subject", "branch", "pull", "signature", "version"),
    sa.Column("dirty", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("passed", sa.Boolean),
    sa.Column("accepted", _ID, nullable=False, server_default=""),  # the result that was the accepted one then
    sa.Column("facts", sa.Text, nullable=False, server_default="{}"),  # JSON: latency, counts, settings, documents, …
)

BASES = sa.Table(
    "history_bases",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("queries", _ID, nullable=False),
    sa.Column("judgments", sa.Text, nullable=False),  # their SHA-256
    sa.Column("judged", sa.BigInteger, nullable=False),  # how many judgments; 0 where that is not known
    *_texts("provenance", "weights", "policy"),
    sa.Column("weighting", sa.LargeBinary),  # the weight of each query; none where all count alike
    sa.Column("grouping", sa.LargeBinary, info={"since": 2}),  # {query: group}; none where each is by itself
)

QUERY_SETS = sa.Table(
    "history_queries",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("texts", sa.LargeBinary, nullable=False),  # {query: text}, in the order of the columns
)

MEASURED = sa.Table(
    "history_measured",
    METADATA,
    sa.Column("result", _ID, primary_key=True),
    sa.Column("basis", _ID, primary_key=True),
    sa.Column("measure", _ID, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),  # among the measures: the first is the one that matters
    sa.Column("value", sa.Float(53), nullable=False),
    sa.Column("low", sa.Float(53)),  # of the 95% interval, for means
    sa.Column("high", sa.Float(53)),
    sa.Column("column", _ID, nullable=False),
)

COLUMNS = sa.Table(
    "history_columns",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("packed", sa.LargeBinary, nullable=False),
)

# Who accepted what, and why; of each system, the last one counts.
ACCEPTANCES = sa.Table(
    "history_acceptances",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("system", _ID, nullable=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("result", _ID, nullable=False),
    *_texts("who", "because"),
    sa.Column("worse", sa.Boolean, nullable=False, server_default=sa.false()),
)

NOTES = sa.Table(
    "history_notes",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    *_texts("text", "who", "commit"),
)

# The runs that are kept to be measured again.
RUNS = sa.Table(
    "history_runs",
    METADATA,
    sa.Column("id", _ID, primary_key=True),  # the SHA-256 of its content
    sa.Column("name", sa.Text, nullable=False),  # of its file, which tells the format
    sa.Column("packed", sa.LargeBinary, nullable=False),
)

INDEXES = (
    sa.Index("history_results_in_order", RESULTS.c.system, RESULTS.c.at),
    sa.Index("history_acceptances_in_order", ACCEPTANCES.c.system, ACCEPTANCES.c.at),
)

SCHEMA = Schema(
    word="history",
    called="history of results",
    usual_file="history.db",
    making="'cranfield test' makes one",
    updating="append to it once: cranfield test",
    lock=7_235_010_420,
    metadata=METADATA,
    about=ABOUT,
    indexes=INDEXES,
    impossible=lambda table: sa.or_(*wrong_types(table)),
    has_bytes=True,
)
