"""Pools in an order of judging: which documents wait, in which order, and what the store records."""

import pytest
import sqlalchemy as sa

from cranfield import InputError, evaluate, open_store, pool
from cranfield.judging.pool.orders import ORDERS
from cranfield.judging.store.schema import WAITING
from cranfield.show.judging_text import pool_lines
from tests.program import run as run_program

QUERIES = {"q1": "cats", "q2": "dogs"}
GOOD = {"q1": [f"g{n}" for n in range(12)], "q2": [f"g{n}" for n in range(12)]}
POOR = {"q1": [f"p{n}" for n in range(12)], "q2": [f"p{n}" for n in range(12)]}
RUNS = {"good": GOOD, "poor": POOR}
ADAPTIVE = [name for name, order in ORDERS.items() if order.follows_grades]


def waiting(store, *columns):
    wanted = sa.select(WAITING.c.query_id, WAITING.c.doc_id, *(WAITING.c[name] for name in columns))
    with store._reading() as connection:
        return {(query, document): tuple(rest) for query, document, *rest in connection.execute(wanted)}


def chosen_by(store):
    return {pair: order for pair, (order,) in waiting(store, "chosen_by").items()}


def queued(store, query="q1"):
    return [task.doc_id for task in store.next_several("ann", 100) if task.query_id == query]


def judge_all(store):
    while tasks := store.next_several("ann", 100):
        for task in tasks:
            store.judge(task.query_id, task.doc_id, int(task.doc_id[0] == "g"), assessor="ann")


def test_documents_wait_in_the_given_order_for_every_assessor(store):
    pool(store, QUERIES, RUNS, 3, order="depth")
    ranks = [int(document[1:]) for document in queued(store)]
    assert ranks == [0, 0, 1, 1, 2, 2]
    store.give_back("ann")
    assert [int(task.doc_id[1:]) for task in store.next_several("bob", 6)] == ranks
    assert {(order, place < 6) for order, place in waiting(store, "chosen_by", "place").values()} == {("", True)}
    assert {stratum for (stratum,) in waiting(store, "stratum").values()} == {"depth 3"}


def test_the_limit_takes_the_first_of_the_order(store, tmp_path):
    found = pool(store, QUERIES, RUNS, 12, order="depth", limit=4)
    assert {document[1:] for _, document in waiting(store)} == {"0", "1"}
    assert (found.waiting, found.beyond_limit, found.chosen_by) == (8, 40, "")
    # Without an order the same documents wait, at random.
    with open_store(tmp_path / "other.db", create=True) as other:
        pool(other, QUERIES, RUNS, 12, limit=4)
        assert waiting(other).keys() == waiting(store).keys()


@pytest.mark.parametrize("order", ["mtf", "mm", "mm-ns", "hedge"])
def test_pool_judge_and_pool_again_follows_the_grades(store, order):
    for turn in range(3):
        found = pool(store, QUERIES, RUNS, 12, order=order, limit=4)
        assert (found.waiting, found.new, found.judged) == (8, 8, 8 * turn)
        again = pool(store, QUERIES, RUNS, 12, order=order, limit=4)
        assert (again.waiting, again.new) == (8, 0)
        judge_all(store)
    relevant = sum(document[0] == "g" for query, document in waiting(store))
    assert relevant > 14  # of 24; an order that ignores grades would find half
    assert set(chosen_by(store).values()) == {order}
    assert {stratum for (stratum,) in waiting(store, "stratum").values()} == {""}


@pytest.mark.parametrize("order", ADAPTIVE)
def test_the_text_warns_that_the_sample_is_biased(store, order):
    found = pool(store, QUERIES, RUNS, 12, order=order, limit=2)
    assert found.chosen_by == order
    assert set(chosen_by(store).values()) == {order}
    text = " ".join(" ".join(pool_lines(found)).split())
    assert "the judgments are a biased sample: never estimate from them how many documents are relevant" in text
    assert f"left for later by the order {order}" in text
    assert "biased" not in " ".join(pool_lines(pool(store, QUERIES, RUNS, 2)))


def test_the_order_that_chose_a_document_is_recorded(store):
    pool(store, QUERIES, RUNS, 2)
    pool(store, QUERIES, RUNS, 12, order="mtf", limit=24)
    by = chosen_by(store)
    assert {pair for pair, order in by.items() if not order} == {
        (q, f"{run}{rank}") for q in QUERIES for run in "gp" for rank in (0, 1)
    }
    assert set(by.values()) == {"", "mtf"}
    pool(store, QUERIES, RUNS, 5)  # takes them regardless of grades
    assert {pair for pair, order in chosen_by(store).items() if order} == {
        (q, f"{run}{rank}") for q in QUERIES for run in "gp" for rank in range(5, 12)
    }
    store.wait([("q1", "g9")])
    assert chosen_by(store)["q1", "g9"] == "mtf"


def test_an_order_can_choose_documents_that_a_sample_did_not_draw(store):
    pool(store, QUERIES, RUNS, 12, order="uniform", limit=6)
    drawn = {pair for pair, (assessors,) in waiting(store, "assessors").items() if assessors}
    pool(store, QUERIES, RUNS, 12, order="mtf")
    assert {pair for pair, order in chosen_by(store).items() if not order} == drawn


def test_a_uniform_sample_has_strata_and_grows(store):
    found = pool(store, QUERIES, RUNS, 12, order="uniform", limit=6, seed=3)
    assert (found.waiting, found.sampled, found.not_drawn, found.chosen_by) == (12, 12, 36, "")
    first = {query: queued(store, query) for query in QUERIES}
    store.give_back("ann")
    assert {stratum for (stratum,) in waiting(store, "stratum").values()} == {"1 to 12"}
    larger = pool(store, QUERIES, RUNS, 12, order="uniform", limit=10, seed=3)
    assert (larger.new, larger.waiting) == (0, 20)  # all were in the pool before
    for query, its in first.items():
        assert queued(store, query)[:6] == its
        store.give_back("ann")
    judge_all(store)
    estimated = evaluate(store, RUNS["good"], ["statAP", "xinfAP", "infNDCG"])
    assert all(value > 0.9 for value in estimated.values())
    assert set(chosen_by(store).values()) == {""}


def test_without_a_limit_uniform_is_the_whole_pool_at_random(store):
    found = pool(store, QUERIES, RUNS, 4, order="uniform")
    assert (found.waiting, found.sampled, found.not_drawn) == (16, 0, 0)
    assert {stratum for (stratum,) in waiting(store, "stratum").values()} == {"depth 4"}


def test_invalid_orders_are_refused(store):
    with pytest.raises(InputError, match="there is no order of judging 'best'"):
        pool(store, QUERIES, RUNS, order="best")
    with pytest.raises(InputError, match="a sample from below the depth"):
        pool(store, QUERIES, RUNS, order="mtf", sample_below=5)
    with pytest.raises(ValueError, match="at least two runs"):
        pool(store, QUERIES, {"good": GOOD}, order="decide")


def test_on_the_command_line(tmp_path):
    (tmp_path / "queries.tsv").write_text("q1\tcats\n")
    for name, run in RUNS.items():
        lines = [f"q1 Q0 {document} {n} {-n} x\n" for n, document in enumerate(run["q1"])]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    done = run_program(
        "pool", "judgments.db", "queries.tsv", "*.run", "--depth", "12", "--order", "mm", "--limit", "3", cwd=tmp_path
    )
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == [
        "judgments.db: 3 documents of 1 query wait to be judged",
        "  3 documents in the pool of 2 runs",
        "  21 unjudged documents left for later by the order mm",
    ]
    assert "biased sample" in done.stdout
    with open_store(tmp_path / "judgments.db") as store:
        assert set(chosen_by(store).values()) == {"mm"}
