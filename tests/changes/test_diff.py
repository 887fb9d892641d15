"""diff: each number beside a naive loop, whatever the runs come from."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from cranfield import InputError, Policy, compare, diff, rbo, run_overlap
from cranfield.changes import counting
from cranfield.mixing import reading
from tests.changes.oracle import changes

Lists = dict[str, list[str]]


@pytest.fixture(params=["native", "pure"])
def either_scan(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pure":
        for module in (counting, reading):
            monkeypatch.setattr(module, "native", None)


def made(seed: int, queries: int = 40, longest: int = 30) -> tuple[Lists, Lists]:
    """Two runs that share some documents, with lists of all lengths, some the same, and queries that one lacks."""
    chance = random.Random(seed)
    runs: tuple[Lists, Lists] = ({}, {})
    for query in range(queries):
        pool = [f"d{number}" for number in range(longest + 10)]
        one = chance.sample(pool, chance.randint(1, longest))
        other = chance.sample(pool, chance.randint(1, longest))
        kind = chance.random()
        if kind < 0.2:
            other = list(one)
        elif kind < 0.4:
            other = [*one[:-1], "new"]
        runs[0][f"q{query}"], runs[1][f"q{query}"] = one, other
    del runs[0]["q3"], runs[1]["q5"]
    return runs


def written(folder: Path, name: str, run: Lists, order: int | None = None) -> str:
    """A TREC file, whose queries may be in any order."""
    queries = list(run)
    if order is not None:
        random.Random(order).shuffle(queries)
    lines = [f"{q} Q0 {d} {at} {100 - at} x\n" for q in queries for at, d in enumerate(run[q], 1)]
    path = folder / name
    text = "".join(lines).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return str(path)


@pytest.mark.parametrize("k", [1, 3, 10, 50])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_every_number_of_every_query_is_that_of_a_naive_loop(k: int, p: float, either_scan: None) -> None:
    one, other = made(k)
    found = diff(one, other, k=k, p=p)
    assert set(found.by_query) == {*one, *other}
    for query, change in found.by_query.items():
        wanted = changes(one.get(query, []), other.get(query, []), k, p)
        assert change._asdict() == pytest.approx(wanted, abs=1e-12), query


def test_rbo_is_that_of_the_function_for_two_orders() -> None:
    one, other = made(7)
    by_query = diff(one, other).by_query
    for query in one.keys() & other.keys():
        assert by_query[query].rbo == pytest.approx(rbo(one[query], other[query]).extrapolated, abs=1e-12)
    assert diff(one, other).rbo == pytest.approx(run_overlap(one, other).mean, abs=1e-12)


def test_sums_are_those_of_the_queries() -> None:
    found = diff(*made(2))
    each = list(found.by_query.values())
    assert found.overlap == pytest.approx(sum(its.overlap for its in each) / len(each))
    assert found.entered == sum(its.entered for its in each)
    assert found.left == sum(its.left for its in each)
    assert found.changed_queries == sum(not its.same_order for its in each)
    assert found.same_first == sum(its.same_first for its in each) / len(each)
    assert found.largest[0] == max(its.largest for its in each) == found.by_query[found.largest[1]].largest


def test_files_in_any_order_compressed_or_piped_give_the_same_as_dicts(tmp_path: Path, either_scan: None) -> None:
    one, other = made(4)
    wanted = {**diff(one, other).to_dict(), "runs": ["a", "b"]}
    for a, b in (("a.run", "b.run"), ("a.run.gz", "b.run.gz")):
        paths = written(tmp_path, a, one, order=1), written(tmp_path, b, other, order=2)
        found = diff(*paths).to_dict()
        for name in ("changed", "overlap", "entered", "left", "largest", "sentence"):
            assert found[name] == pytest.approx(wanted[name]) if isinstance(wanted[name], float) else wanted[name]
        assert found["by_query"] == {query: pytest.approx(its) for query, its in wanted["by_query"].items()}


def test_a_depth_reads_no_deeper() -> None:
    one, other = made(6)
    cut = [{query: documents[:5] for query, documents in run.items()} for run in (one, other)]
    found, wanted = diff(one, other, k=3, depth=5), diff(*cut, k=3)
    assert found.by_query == wanted.by_query
    assert found.depth == 5


def test_lists_name_the_rank_in_the_other_run() -> None:
    one, other = {"1": ["a", "b", "c", "d"], "2": ["x"]}, {"1": ["d", "a", "e", "b"], "2": ["x"]}
    found = diff(one, other, k=2, qrels={"1": {"d": 2, "c": 0}, "2": {"x": 1}})
    [query] = found.changed_most
    assert [(its.doc_id, its.rank, its.other_rank, its.grade) for its in query.one] == [
        ("a", 1, 2, None),
        ("b", 2, 4, None),
    ]
    assert [(its.doc_id, its.rank, its.other_rank, its.grade) for its in query.other] == [
        ("d", 1, 4, 2),
        ("a", 2, 1, None),
    ]
    assert (query.entered, query.left) == (1, 1)


def test_what_is_judged_of_the_change_and_the_verdict_are_those_of_a_loop_and_of_compare() -> None:
    one, other = made(8)
    chance = random.Random(0)
    every = sorted({*one, *other})
    qrels = {q: {f"d{n}": chance.choice([-1, 0, 0, 1, 2]) for n in chance.sample(range(40), 12)} for q in every[3:]}
    found = diff(one, other, k=5, qrels=qrels, measure="nDCG@5").judged
    assert found is not None
    for share, (here, there) in ((found.entered, (other, one)), (found.left, (one, other))):
        moved = [(q, d) for q in every for d in here.get(q, [])[:5] if d not in there.get(q, [])[:5]]
        grades = [qrels[q][d] for q, d in moved if d in qrels.get(q, {}) and qrels[q][d] >= 0]
        assert share == (len(moved), len(grades), sum(grade >= 1 for grade in grades))
    [difference] = compare(qrels, {"one": one, "other": other}, "nDCG@5", baseline="one", bounds=False)
    assert found.difference is not None
    for name in ("difference", "low", "high", "p", "better", "worse"):
        assert getattr(found.difference, name) == pytest.approx(getattr(difference, name))
    assert (found.before, found.now) == pytest.approx(tuple(diff_means(qrels, one, other)))


def test_the_queries_that_changed_most_have_the_values_of_evaluate() -> None:
    from cranfield import evaluate

    one, other = made(11)
    qrels = {query: {f"d{at}": at % 3 for at in range(20)} for query in list(one)[::2]}
    before, now = (evaluate(qrels, run, "nDCG@10").by_query("nDCG@10") for run in (one, other))
    found = diff(one, other, qrels=qrels, most_changed=100).changed_most
    assert {query.query_id for query in found} - qrels.keys()
    for query in found:
        assert (query.before, query.now) == (before.get(query.query_id), now.get(query.query_id))


def test_a_measure_that_says_nothing_of_documents_suggests_none() -> None:
    one, other = made(2)
    qrels = {query: {"d1": 1, "d2": 0} for query in one}
    found = diff(one, other, qrels=qrels, measure="Judged@10")
    assert found.judged is not None
    assert found.to_judge == ()
    [warning] = found.warnings
    assert warning.startswith("no document is suggested for judging: Judged@10 cannot be modelled")
    assert diff(one, other, qrels=qrels, measure="Judged@10", to_judge=0).warnings == ()


def diff_means(qrels: dict[str, dict[str, int]], *runs: Lists) -> list[float]:
    from cranfield import evaluate

    return [evaluate(qrels, run, "nDCG@5")["nDCG@5"] for run in runs]


def test_what_to_judge_first_is_unjudged_and_ranked_differently() -> None:
    one, other = made(9)
    first = diff(one, other).to_judge
    assert len(first) == 20
    judged = {first[0].query_id: {first[0].doc_id: 1}, first[1].query_id: {first[1].doc_id: 0}}
    after = diff(one, other, qrels=judged).to_judge
    assert {(its.query_id, its.doc_id) for its in after}.isdisjoint((its.query_id, its.doc_id) for its in first[:2])
    for document in after:
        ranks = [
            run.get(document.query_id, []).index(document.doc_id) + 1
            if document.doc_id in run.get(document.query_id, [])
            else None
            for run in (one, other)
        ]
        assert list(document.ranks) == ranks
        assert ranks[0] != ranks[1]


def test_one_query_alone_has_documents_to_judge_too() -> None:
    found = diff({"1": ["a", "b", "c"]}, {"1": ["c", "a", "b"]}, qrels={"1": {"c": 1}})
    assert [document.doc_id for document in found.to_judge] == ["a", "b"]
    assert found.judged is not None
    assert found.judged.difference is None


def test_the_same_run_has_not_changed_and_one_of_five_is_more_than_a_tenth() -> None:
    one = {str(query): ["a", "b", "c"] for query in range(5)}
    same = diff(one, one)
    assert same.sentence == "the top 10 is the same for all 5 queries"
    assert same.same()
    assert same.changed_most == same.to_judge == ()
    found = diff(one, {**one, "0": ["a", "c", "b"]})
    assert found.sentence == "the top 10 changed its order for 1 of 5 queries (20%), and has the same documents"
    assert found.same(0.2)
    assert not found.same(0.1)


def test_a_query_that_one_run_lacks_has_changed() -> None:
    found = diff({"1": ["a"], "2": ["b"]}, {"1": ["a"]})
    assert found.missing == (("2",), ())
    assert found.changed == 0.5


def test_ties_are_ordered_as_measures_see_them() -> None:
    one, other = {"1": {"a": 1.0, "b": 1.0}}, {"1": {"b": 2.0, "a": 1.0}}
    assert diff(one, other).same()
    assert not diff(one, other, policy=Policy(ties="smaller_doc_id")).same()


def test_runs_of_other_queries_are_refused() -> None:
    with pytest.raises(InputError, match=r"no query in common: the run: 1; the run \(2\): 2"):
        diff({"1": ["a"]}, {"2": ["a"]})
    with pytest.raises(InputError, match="max_changed=2 is not a share"):
        diff({"1": ["a"]}, {"1": ["a"]}).same(2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"k": 0}, "k=0 is not a whole number from 1"),
        ({"k": 2.5}, "k=2.5 is not a whole number from 1"),
        ({"most_changed": -1}, "most_changed=-1 is not a whole number from 0"),
        ({"to_judge": -1}, "to_judge=-1 is not a whole number from 0"),
        ({"p": 1.0}, "p=1.0 is not between 0 and 1"),
    ],
)
def test_errors_name_the_parameter(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        diff({"1": ["a"]}, {"1": ["a"]}, **arguments)


def test_a_run_without_rankings_is_refused() -> None:
    for empty in ({}, {"1": []}):
        with pytest.raises(InputError, match="it contains no rankings"):
            diff({"1": ["a"]}, empty)


def test_settings_that_differ_are_said() -> None:
    from cranfield import fuse

    one, other = made(1)
    fused = [fuse({"one": one, "other": other}, "rrf", k=k, name=f"k{k}") for k in (10, 60)]
    [between] = diff(*fused).between
    how = "by rrf of one and other (k = {}, depth = 1000)"
    assert between == f"k60 was made {how.format(60)}; k10 {how.format(10)}"
