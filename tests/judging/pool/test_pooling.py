"""Pools: the union of the first documents of all runs minus judged ones, against plain sets and sorting."""

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield import DuplicateError, InputError, evaluate, open_store, pool
from cranfield.judging.store.schema import DOCUMENTS, QUERIES, WAITING

QUERIES_ASKED = {"q1": "cats", "q2": "dogs", "q3": "fish"}
documents = st.sampled_from([f"d{n}" for n in range(12)])
rankings = st.dictionaries(documents, st.sampled_from([1.0, 2.0, 3.0]), max_size=9)
runs_of_queries = st.fixed_dictionaries(
    {"q1": rankings}, optional={"q2": rankings, "q3": rankings, "unknown": rankings}
)
some_runs = st.dictionaries(st.sampled_from(["bm25", "dense", "splade", "rm3", "colbert"]), runs_of_queries, min_size=1)


def waiting(store):
    with store._reading() as connection:
        rows = connection.execute(WAITING.select()).all()
    return {(row.query_id, row.doc_id): row for row in rows}


def waits(store):
    return {item for item, row in waiting(store).items() if row.assessors}


def ranked(ranking):
    """Best first; of equal scores the larger id comes first."""
    if isinstance(ranking, list):
        return ranking
    return [doc for doc, _ in sorted(ranking.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)]


def best_ranks(runs, query):
    found = {}
    for run in runs.values():
        for rank, document in enumerate(ranked(run.get(query, {})), 1):
            found[document] = min(rank, found.get(document, rank))
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_runs, st.sets(documents), st.integers(1, 6), st.none() | st.integers(1, 3), st.integers(0, 3))
def test_a_pool_is_the_union_of_first_documents_minus_judged_ones(tmp_path_factory, runs, judged, depth, limit, sample):
    if sample:
        limit = None
    folder = tmp_path_factory.mktemp("pool")
    with open_store(folder / "judgments.db", create=True) as store:
        store.import_qrels({"q1": dict.fromkeys(judged, 1), "q9": {"d1": 1}}, "ann")
        found = pool(store, QUERIES_ASKED, runs, depth, limit=limit, sample_below=sample, sample_depth=depth + 3)
        expected, left_out, drawn, pooled, already = set(), 0, 0, 0, 0
        for query in QUERIES_ASKED:
            ranks = best_ranks(runs, query)
            known = judged if query == "q1" else set()
            first = {d for d, rank in ranks.items() if rank <= depth}
            below = {d for d, rank in ranks.items() if depth < rank <= depth + 3} if sample else set()
            pooled += len(first | below)
            already += len((first | below) & known)
            unjudged = first - known
            mine = {d for q, d in waits(store) if q == query}
            if limit is not None and len(unjudged) > limit:
                left_out += len(unjudged) - limit
                assert len(mine) == limit
                assert mine <= unjudged
                assert max(ranks[d] for d in mine) <= min(ranks[d] for d in unjudged - mine)
                expected |= {(query, d) for d in mine}
            else:
                assert mine & first == unjudged
                assert mine - first <= below - known
                assert len(mine - first) <= min(sample, len(below))
                assert len(mine - first) >= min(sample, len(below)) - len(below & known)
                drawn += len(mine - first)
                expected |= {(query, d) for d in mine}
        assert waits(store) == expected
        assert (found.waiting, found.new, found.beyond_limit) == (len(expected), len(expected), left_out)
        assert (found.documents, found.judged, found.sampled) == (pooled - left_out, already, drawn)
        assert found.empty == tuple(q for q in QUERIES_ASKED if not best_ranks(runs, q))
        assert found.unknown == {name: 1 for name, run in runs.items() if "unknown" in run}
        again = pool(store, QUERIES_ASKED, runs, depth, limit=limit, sample_below=sample, sample_depth=depth + 3)
        assert (again.waiting, again.new) == (found.waiting, 0)


def test_files_and_ties_are_read_as_in_evaluation(store, tmp_path):
    run = tmp_path / "bm25.run"
    run.write_text("".join(f"q1 Q0 d{n} 1 {score} x\n" for n, score in [(1, 5), (2, 5), (3, 5), (4, 9)]))
    pool(store, QUERIES_ASKED, [run], 2)
    assert waits(store) == {("q1", "d4"), ("q1", "d3")}
    assert evaluate({"q1": {"d3": 1}}, run, "P@2")["P@2"] == 0.5


def test_a_list_is_pooled_in_the_order_returned(store):
    pool(store, QUERIES_ASKED, {"mine": {"q1": ["z", "a", "m"]}}, 2)
    assert waits(store) == {("q1", "z"), ("q1", "a")}


def test_why_names_the_runs_and_is_short(store):
    runs = {name: {"q1": ["all"]} for name in ("bm25", "dense", "splade", "rm3", "colbert")}
    runs["bm25"]["q1"] = ["all", "one"]
    runs["dense"]["q1"] = ["all", "two"]
    runs["splade"]["q1"] = ["all", "two"]
    pool(store, QUERIES_ASKED, runs, 2)
    why = {document: row.why for (_, document), row in waiting(store).items()}
    assert why == {
        "all": "first 2 of bm25, dense, splade and 2 more",
        "one": "first 2 of bm25",
        "two": "first 2 of dense, splade",
    }
    assert "why" not in dir(store.next_for("ann"))


def test_why_names_only_runs_that_returned_the_document_within_the_depth(store):
    runs = {"bm25": {"q1": ["a", "b", "c"]}, "dense": {"q1": ["c", "b", "a"]}}
    pool(store, QUERIES_ASKED, runs, 1, sample_below=1, sample_depth=3)
    why = {document: row.why for (_, document), row in waiting(store).items()}
    assert why == {"a": "first 1 of bm25", "b": "sample down to rank 3 of bm25, dense", "c": "first 1 of dense"}


def test_all_queries_and_only_texts_of_pooled_documents_are_stored(store):
    queries = {"q1": {"text": "cats", "narrative": "Pet cats only."}, "q2": "dogs"}
    texts = [("a", "Cats", "Cats sleep."), ("b", "", ""), ("z", "Zebras", "Zebras run.")]
    found = pool(store, queries, {"x": {"q1": ["a", "b", "c"]}}, documents=texts)
    with store._reading() as connection:
        rows = connection.execute(QUERIES.select().order_by(QUERIES.c.query_id)).all()
        kept = connection.execute(sa.select(DOCUMENTS.c.doc_id)).scalars().all()
    assert [(row.query_id, row.text, row.narrative) for row in rows] == [
        ("q1", "cats", "Pet cats only."),
        ("q2", "dogs", ""),
    ]
    assert sorted(kept) == ["a", "b"]
    assert found.without_text == ("b", "c")
    assert found.empty == ("q2",)
    assert pool(store, queries, {"x": {"q1": ["a", "b", "c"]}}, documents={"b": {"url": "https://b"}}).without_text == (
        "c",
    )


def test_documents_judged_only_by_a_model_wait_for_people(store):
    store.import_qrels({"q1": {"a": 1}}, "gpt", kind="model")
    store.judge("q1", "b", None, assessor="ann")
    store.judge("q1", "c", 2, assessor="ann")
    found = pool(store, QUERIES_ASKED, {"x": {"q1": ["a", "b", "c"]}})
    assert waits(store) == {("q1", "a"), ("q1", "b")}
    assert found.judged == 1


def test_some_queries(store):
    runs = {"x": {"q1": ["a"], "q2": ["b"], "other": ["c"]}}
    found = pool(store, QUERIES_ASKED, runs, query_ids=["q2"])
    assert waits(store) == {("q2", "b")}
    assert (found.queries, found.unknown) == (1, {"x": 1})
    with pytest.raises(InputError, match="query 'q7' is not among the queries") as caught:
        pool(store, QUERIES_ASKED, runs, query_ids=["q7"])
    assert "'q1'" in caught.value.hint


def test_the_share_for_two_assessors_is_reproducible(store, tmp_path):
    runs = {"x": {"q1": [f"d{n}" for n in range(400)]}}
    found = pool(store, QUERIES_ASKED, runs, 400, overlap=0.25)
    twice = {document for (_, document), row in waiting(store).items() if row.assessors == 2}
    assert found.twice == len(twice)
    assert 60 <= len(twice) <= 140
    pool(store, QUERIES_ASKED, runs, 400, overlap=0.25)
    assert twice == {document for (_, document), row in waiting(store).items() if row.assessors == 2}
    with open_store(tmp_path / "other.db", create=True) as other:
        pool(other, QUERIES_ASKED, runs, 400, overlap=0.25, seed=1)
        assert twice != {document for (_, document), row in waiting(other).items() if row.assessors == 2}


def test_a_sample_is_random_and_the_rest_of_the_pool_has_grade_minus_1(store):
    ranking = [f"d{n:03}" for n in range(60)]
    found = pool(store, QUERIES_ASKED, {"x": {"q1": ranking}}, 5, sample_below=10, sample_depth=50)
    drawn = waits(store) - {("q1", document) for document in ranking[:5]}
    assert (found.documents, found.waiting, found.sampled, found.not_drawn) == (50, 15, 10, 35)
    assert len(drawn) == 10
    assert drawn != {("q1", document) for document in ranking[5:15]}
    assert {document for _, document in drawn} <= set(ranking[5:50])
    assert store.progress().documents == 15
    given_out = [task.doc_id for task in store.next_several("ann", 100)]
    assert sorted(given_out) == sorted(document for _, document in waits(store))
    for document in given_out[:14]:
        store.judge("q1", document, 1, assessor="ann")
    view = store.view(pooled=True)
    grades = view.by_query["q1"]
    assert sorted(grades) == ranking[:50]
    assert sum(grade == -1 for grade in grades.values()) == 36
    assert "pooled:36" in view.provenance
    assert len(store.view().by_query["q1"]) == 14
    # In a deeper pool, documents that were not drawn wait as well.
    pool(store, QUERIES_ASKED, {"x": {"q1": ranking}}, 50)
    assert store.progress().left == 36


def test_a_sample_of_everything_estimates_the_average_precision(store):
    ranking = [f"d{n:02}" for n in range(40)]
    relevant = set(ranking[::3])
    pool(store, {"q1": "cats"}, {"x": {"q1": ranking}}, 0, sample_below=40, sample_depth=40)
    while task := store.next_for("ann"):
        store.judge("q1", task.doc_id, int(task.doc_id in relevant), assessor="ann")
    found = evaluate(store.view(pooled=True), {"q1": ranking}, "AP infAP")
    assert found["infAP"] == pytest.approx(found["AP"], abs=0.001)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "nothing is pooled"),
        ({"depth": -1}, "depth=-1 is not a whole number"),
        ({"depth": True}, "depth=True is not a whole number"),
        ({"sample_below": 3, "sample_depth": 10}, "is empty"),
        ({"sample_below": 3, "limit": 3}, "no longer random"),
        ({"limit": 0}, "limit is 0"),
        ({"overlap": 2}, "overlap=2 is not a share"),
    ],
)
def test_invalid_options_are_refused_and_no_store_is_created(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        pool(tmp_path / "judgments.db", QUERIES_ASKED, {"x": {"q1": ["a"]}}, **options)
    assert not (tmp_path / "judgments.db").exists()


def test_a_run_of_other_queries_is_an_error_and_nothing_is_written(store, tmp_path):
    run = tmp_path / "other.run"
    run.write_text("7 Q0 a 1 1 x\n")
    with pytest.raises(InputError, match=r"no query of the run is among the queries: run: '7'; queries: 'q1', 'q2'"):
        pool(store, QUERIES_ASKED, [run])
    assert waiting(store) == {}


@pytest.mark.parametrize("lines", ["q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\n", "q1 Q0 a 1 2 x\nq2 Q0 b one two x\n"])
def test_a_run_that_is_wrong_is_refused_as_in_evaluation(store, tmp_path, lines):
    run = tmp_path / "bad.run"
    run.write_text(lines)
    with pytest.raises((InputError, DuplicateError)):
        pool(store, QUERIES_ASKED, [run], query_ids=["q1"])
    assert waiting(store) == {}


def test_hostile_ids(store):
    ids = ["=1+1", "a b", "naïve 検索", "'; drop table waiting; --", '"', "\\"]
    pool(store, dict.fromkeys(ids, "x"), {"x": dict.fromkeys(ids, ids)})
    assert waits(store) == {(query, document) for query in ids for document in ids}
    with pytest.raises(InputError, match="NUL character"):
        pool(store, {"q": "x"}, {"x": {"q": ["a\0b"]}})


def test_a_missing_store_is_created(where):
    found = pool(where, QUERIES_ASKED, {"x": {"q1": ["a"]}})
    assert found.waiting == 1
    with open_store(where) as store:
        assert waits(store) == {("q1", "a")}
