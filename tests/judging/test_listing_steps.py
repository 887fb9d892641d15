"""What the page lists takes as many steps as there are judgments, however many of them one assessor gave."""

import pytest

from cranfield import open_store
from cranfield.judging.page.desk import Desk
from cranfield.judging.schema import EVENTS


def steps(folder, judgments, last, name, **asked):
    """How many hundreds of steps SQLite takes for a call by somebody who has judged so much."""
    with open_store(folder / f"{judgments}.db", create=True) as store:
        queries = judgments // 10
        store.wait((f"q{query}", f"w{number}") for query in range(queries) for number in range(5))
        store.import_qrels({f"q{query}": {f"d{n}": 1 for n in range(10)} for query in range(queries)}, "ann")
        taken = []
        with store._database.writing("an index") as connection:
            # Of two indexes that look as good, SQLite takes the one that was made last.
            for index in EVENTS.indexes:
                if index.name == last:
                    index.drop(connection)
                    index.create(connection)
        with store._reading() as connection:
            driver = connection.connection.driver_connection
            driver.set_progress_handler(lambda: taken.append(1) and None, 100)
        Desk(store).calls[name]({"assessor": "ann", **asked})
        return len(taken)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("judged", {"words": "nowhere"}),
        ("judged", {"words": "nowhere", "by": "ann"}),
        ("queries", {"words": "nowhere"}),
        ("query", {"query_id": "q7"}),
        ("conflicts", {}),
    ],
)
@pytest.mark.parametrize("last", ["events_of_items", "events_of_assessors"])
def test_a_listing_takes_steps_in_proportion(tmp_path, last, name, asked):
    few, many = (steps(tmp_path, judgments, last, name, **asked) for judgments in (500, 4000))
    assert many <= 8 * 1.5 * few + 10
