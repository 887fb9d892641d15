"""Listings on the page take steps in proportion to the judgments, even if one assessor gave all of them."""

import pytest

from cranfield import open_store
from cranfield.judging.page.desk import Desk
from cranfield.judging.store.schema import EVENTS


def steps(folder, judgments, last, name, **body):
    """How many hundreds of steps SQLite takes for a call by an assessor with so many judgments."""
    with open_store(folder / f"{judgments}.db", create=True) as store:
        queries = judgments // 10
        store.wait((f"q{query}", f"w{number}") for query in range(queries) for number in range(5))
        store.import_qrels({f"q{query}": {f"d{n}": 1 for n in range(10)} for query in range(queries)}, "ann")
        taken = []
        with store._database.writing("an index") as connection:
            # Of two equally good indexes, SQLite uses the one created last.
            for index in EVENTS.indexes:
                if index.name == last:
                    index.drop(connection)
                    index.create(connection)
        with store._reading() as connection:
            driver = connection.connection.driver_connection
            driver.set_progress_handler(lambda: taken.append(1) and None, 100)
        Desk(store).calls[name]({"assessor": "ann", **body})
        return len(taken)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("judged", {"words": "nowhere"}),
        ("judged", {"words": "nowhere", "by": "ann"}),
        ("queries", {"words": "nowhere"}),
        ("query", {"query_id": "q7"}),
        ("conflicts", {}),
        ("queries", {}),
        ("flags", {}),
    ],
)
@pytest.mark.parametrize("last", ["events_of_items", "events_of_assessors"])
def test_the_steps_of_a_listing_grow_in_proportion_to_the_judgments(tmp_path, last, name, body):
    few, many = (steps(tmp_path, judgments, last, name, **body) for judgments in (500, 4000))
    assert many <= 8 * 1.5 * few + 10
