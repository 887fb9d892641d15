"""Samples of queries that people judge completely: how they are drawn, recorded, kept and enlarged."""

import pytest
import sqlalchemy as sa

from cranfield import InputError, pool
from cranfield.judging.pool.query_sample import read_sample, sample_for
from cranfield.judging.store.schema import QUERY_SAMPLES, WAITING
from cranfield.show.judging_text import pool_lines

QUERIES = {f"q{n}": f"text {n}" for n in range(30)}
RUN = {query: [f"{query}-d{n}" for n in range(5)] for query in QUERIES}


def sample_of(store):
    with store._reading() as connection:
        return read_sample(connection)


def waiting(store):
    with store._reading() as connection:
        rows = connection.execute(sa.select(WAITING.c.query_id, WAITING.c.doc_id, WAITING.c.assessors)).all()
    return {(query, document): assessors for query, document, assessors in rows}


def test_people_get_the_drawn_queries_and_models_all_of_them(store):
    found = pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7)
    sample = sample_of(store)
    assert set(found.drawn) == sample.drawn
    assert len(sample.drawn) == 12
    assert sample.queries == QUERIES.keys()
    assert (found.waiting, found.for_models, found.seed, sample.seed) == (36, 54, 7, 7)
    assert waiting(store) == {
        (query, document): int(query in sample.drawn) for query in QUERIES for document in RUN[query][:3]
    }
    seen = set()
    while task := store.next_for("ann"):
        seen.add(task.query_id)
        store.judge(task.query_id, task.doc_id, 1, assessor="ann")
    assert seen == sample.drawn


def test_a_larger_sample_contains_the_smaller_one_and_the_same_one_is_not_recorded_twice(store):
    first = set(pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7).drawn)
    assert set(pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7).drawn) == first
    larger = pool(store, QUERIES, {"x": RUN}, 3, sample=15, seed=7)
    assert first < set(larger.drawn) == sample_of(store).drawn
    assert (larger.waiting, larger.for_models) == (45, 45)
    with store._reading() as connection:
        assert len(connection.execute(sa.select(QUERY_SAMPLES)).all()) == 2


def test_a_later_pool_keeps_to_the_sample(store):
    drawn = set(pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7).drawn)
    again = pool(store, QUERIES, {"x": RUN}, 5)
    assert set(again.drawn) == drawn
    assert (again.waiting, again.new, again.seed) == (60, 24, 7)


def test_documents_judged_earlier_by_people_are_pooled_for_models(store):
    store.import_qrels({"q1": {"q1-d0": 1}}, "earlier")
    pool(store, QUERIES, {"x": RUN}, 3, sample=30)
    assert waiting(store)["q1", "q1-d0"] == 0


@pytest.mark.parametrize(
    ("given", "fact", "hint"),
    [
        ({"sample": 12, "seed": 8}, "was drawn with seed 7, not 8", "seed=7"),
        ({"sample": 11, "seed": 7}, "a sample cannot shrink", "sample=12"),
        ({"sample": 12, "seed": 7, "query_ids": ["q1"]}, "29 are missing", "the same queries"),
        ({"sample_below": 2}, "so sample_below cannot be used", "another store"),
        ({"limit": 2}, "so limit cannot be used", "another store"),
    ],
)
def test_options_that_would_invalidate_the_sample_are_refused(store, given, fact, hint):
    pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7)
    before = waiting(store)
    with pytest.raises(InputError) as caught:
        pool(store, QUERIES, {"x": RUN}, 3, **given)
    assert fact in str(caught.value)
    assert hint in caught.value.hint
    assert waiting(store) == before


def test_new_queries_are_refused_after_a_sample_was_drawn(store):
    pool(store, QUERIES, {"x": RUN}, 3, sample=12, seed=7)
    with pytest.raises(InputError, match="1 are new"):
        pool(store, {**QUERIES, "q99": "new"}, {"x": RUN}, 3)


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({"sample": 31}, "cannot be drawn from 30 queries"),
        ({"sample": -1}, "sample=-1 is not a whole number"),
        ({"sample": 12, "sample_below": 3}, "so their documents cannot be sampled"),
    ],
)
def test_samples_that_cannot_be_drawn(store, given, fact):
    with pytest.raises(InputError, match=fact):
        pool(store, QUERIES, {"x": RUN}, 3, **given)
    assert sample_of(store) is None


def test_every_query_is_drawn_equally_often():
    names = list(QUERIES)
    times = dict.fromkeys(names, 0)
    for seed in range(2000):
        for query in sample_for(None, names, 10, seed, "x").drawn:
            times[query] += 1
    # 2000 draws of 10 in 30: 667 each, standard deviation 21; the largest of 30 deviations stays within 4 of them.
    assert all(abs(each - 2000 / 3) < 4 * 21.1 for each in times.values())


def test_the_text_says_who_judges_what(tmp_path):
    found = pool(tmp_path / "judgments.db", QUERIES, {"x": RUN}, 3, sample=12, seed=7)
    assert list(pool_lines(found))[-6:] == [
        "  90 documents in the pool of 1 run",
        "  12 of 30 queries drawn at random (seed 7) for people, who judge all their",
        "  documents",
        "  54 documents of the other queries for models only",
        "  90 documents have no text: q0-d0, q0-d1, q0-d2, q1-d0, q1-d1, …; give their",
        "  texts with --corpus",
    ]
