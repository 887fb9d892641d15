"""Stores as older versions made them: the additions of each version are removed, newest first."""

import sqlalchemy as sa

from cranfield.judging.store.schema import VERSION

ADDED = {
    8: (
        "alter table flags drop column unanswerable",
        *(f"alter table events drop column {name}" for name in ("impressions", "clicks", "examined")),
    ),
    7: ("drop table flags",),
    6: ("alter table unanswered drop column until",),
    5: (
        *(f"drop table {name}" for name in ("judges", "replies", "unanswered", "query_samples", "sampled_queries")),
        "alter table events drop column judge",
        "alter table waiting drop column chosen_by",
    ),
    4: ("alter table waiting drop column stratum",),
    3: (
        "drop table scale",
        "drop index event_keys",
        "alter table events drop column key",
        "alter table queries drop column pooled",
    ),
    2: (
        "drop index waiting_items",
        *(
            f"alter table {table} drop column {column}"
            for table in ("waiting", "events")
            for column in ("part_start", "part_end")
        ),
        "create unique index waiting_items on waiting (query_id, doc_id)",
    ),
}


def make_older(url: str, version: int) -> None:
    """Make a store look as `version` made it."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        for each in range(VERSION, version, -1):
            for statement in ADDED[each]:
                connection.execute(sa.text(statement))
        connection.execute(sa.text(f"update cranfield_store set version = {version}"))
    engine.dispose()
