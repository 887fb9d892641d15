"""Queries sampled from logs: as naive loops draw them, without bias, extended without drawing again."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cranfield import InputError, evaluate, sample_queries
from cranfield.evaluation.estimating import SAMPLED, Columns, estimator_of
from cranfield.io.queries import read_queries
from cranfield.show.layout import Paint
from cranfield.show.sampling_text import sample_text
from cranfield.traffic import counting
from tests.traffic import oracle

ROOT = Path(__file__).parents[2]
WORDS = ["red", "blue", "Lamp", "sofa", "naïve", "Tür", "shoes", "42"]


def searches(seed: int, number: int = 3000) -> list[str]:
    """A skewed log, with blanks and case as people type them."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, int(rng.integers(1, 4)))) for _ in range(800)]
    ranks = np.minimum(rng.zipf(1.4, number) - 1, len(texts) - 1)
    forms = [str.lower, str.upper, str.title, lambda text: f"  {text.replace(' ', '  ')} ", lambda text: text]
    return [forms[int(rng.integers(5))](texts[rank]) for rank in ranks.tolist()]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("at_once", [7, 200_000])
def test_as_naive_loops_draw_them(seed, at_once, monkeypatch):
    monkeypatch.setattr(counting, "AT_ONCE", at_once)
    monkeypatch.setattr(counting, "SPOOLED", 100)
    log = [*searches(seed), "", "  ", "\t"]
    sample = sample_queries(log, 40, seed=seed)
    counts = oracle.counted(log)
    expected = oracle.drawn(counts, 40, seed)
    assert {query.text: query.probability for query in sample.queries} == pytest.approx(expected)
    assert {query.text: query.count for query in sample.queries} == {text: counts[text] for text in expected}
    assert (sample.searches, sample.distinct, sample.empty) == (sum(counts.values()), len(counts), 3)
    assert sample.share == pytest.approx(sum(counts[text] for text in expected) / sum(counts.values()))


def test_a_larger_sample_has_all_queries_of_a_smaller_one():
    log, before = searches(1), set()
    for size in (2, 10, 25, 26, 80, 200, 10_000):
        now = {query.query_id for query in sample_queries(log, size).queries}
        assert before <= now
        before = now
    assert before == {query.query_id for query in sample_queries(log, 10_000, seed=9).queries}  # all of them
    assert {q.query_id for q in sample_queries(log, 40).queries} != {
        q.query_id for q in sample_queries(log, 40, seed=1).queries
    }


def test_samples_of_two_months_share_queries():
    one, other = ({q.text for q in sample_queries(searches(1, 3000 + more), 60).queries} for more in (0, 300))
    assert len(one & other) > 50


def test_sums_by_weight_have_no_bias():
    """Over many seeds, weights sum to the searches and distinct queries, and to those of any part of them."""
    log = searches(3, 800)
    counts = oracle.counted(log)
    short = {text for text in counts if len(text.split()) == 1}
    sums = []
    for seed in range(400):
        queries = sample_queries(counts, 30, seed=seed).queries
        inside = [query for query in queries if query.text in short]
        sums.append(
            [
                sum(query.weight for query in queries),
                sum(query.distinct_weight for query in queries),
                sum(query.weight for query in inside),
                sum(query.distinct_weight for query in inside),
            ]
        )
    expected = [sum(counts.values()), len(counts), sum(counts[text] for text in short), len(short)]
    means, errors = np.mean(sums, axis=0), np.std(sums, axis=0) / 20
    assert (np.abs(means - expected) < 4 * errors + 1e-9).all()


def test_intervals_hold_for_searches_and_for_distinct_queries():
    """The simulation in bench/query_samples.py at a small size: few values, better for frequent queries."""
    rng = np.random.default_rng(7)
    counts = rng.multinomial(20_000, 1 / np.arange(1, 4001) / (1 / np.arange(1, 4001)).sum())
    counts = counts[counts > 0]
    values = (rng.random(len(counts)) < 0.3 + 0.04 * np.log1p(counts)).astype(float)
    truth = {"search": float((values * counts).sum() / counts.sum()), "distinct query": float(values.mean())}
    names = {f"query {at}": at for at in range(len(counts))}
    log = dict(zip(names, counts.tolist(), strict=True))
    held = dict.fromkeys(truth, 0)
    for seed in range(60):
        sample = sample_queries(log, 200, seed=seed)
        rows = [names[query.text] for query in sample.queries]
        ids = [query.query_id for query in sample.queries]
        for of, true in truth.items():
            weights = sample.weights(of)
            columns = Columns(values[rows][:, None], weights.column(ids), probability=weights.probabilities(ids))
            assert estimator_of(columns) is SAMPLED
            low, high = SAMPLED.estimate(columns).interval(0.05)
            held[of] += bool(low[0] <= true <= high[0])
    assert min(held.values()) >= 51  # 95% of 60 are 57; fewer than 51 come in one of 250 cases


def test_the_recorded_simulation_keeps_what_is_promised():
    """95% intervals of bench/query_samples.py, also where values are nearly all 0."""
    recorded = json.loads((ROOT / "bench" / "query_samples.json").read_text())
    assert ({row["samples"] for row in recorded}, len(recorded)) == ({4000}, 30)
    assert all(0.94 <= row["held"] <= 0.97 for row in recorded)
    assert all(0.92 <= row["held_resampled"] <= 0.99 for row in recorded)


def test_a_whole_log_is_drawn_for_certain():
    sample = sample_queries(["a", "b", "b"], 200)
    assert [(query.text, query.count, query.probability) for query in sample.queries] == [("b", 2, 1.0), ("a", 1, 1.0)]
    assert (sample.share, sample.detectable(), sample.effective()) == (1.0, 0.0, float("inf"))
    assert "Every query of the log is in it." in list(sample_text(sample, "q.tsv", 0.2, 80, Paint()))
    assert sample.to_dict()["effective"] == {"search": None, "distinct query": None}


def test_personal_data_is_left_out_and_counted():
    log = ["red shoes"] * 10 + ["Ann@example.org"] * 3 + ["bob@example.org", "+44 20 7946 0958", "lamp"]
    sample = sample_queries(log, 10)
    assert {query.text for query in sample.queries} == {"red shoes", "lamp"}
    assert sample.to_dict()["left_out"] == {
        "email": {"queries": 2, "searches": 4},
        "telephone": {"queries": 1, "searches": 1},
    }
    assert sample.stands_for == pytest.approx(11 / 16)
    text = "\n".join(sample_text(sample, "q.tsv", 0.2, 80, Paint()))
    assert "4 searches (2 queries) with what looks like e-mail addresses" in text
    assert "example.org" not in text
    assert sample_queries(log, 10, keep=["email"]).distinct == 4
    with pytest.raises(InputError, match="kinds are email"):
        sample_queries(log, 10, keep=["mail"])


def test_rows_of_documents_shown_count_only_if_the_column_is_named(tmp_path):
    (tmp_path / "clicks.csv").write_text("query,doc_id,rank,clicked\nred,a,1,0\nred,b,2,1\n")
    assert sample_queries(tmp_path / "clicks.csv", query="query").searches == 2


def test_order_and_case_by_choice():
    log = ["shoes red"] * 3 + ["red shoes"] * 5 + ["Red shoes"] * 2 + ["lamp"]
    assert sample_queries(log, 9).distinct == 3
    assert sample_queries(log, 9, same_case=True).distinct == 4
    [first, second] = sample_queries(log, 9, any_order=True).queries
    assert (first.text, first.count, second.text) == ("red shoes", 10, "lamp")
    tied = sample_queries(["b a", "a b", "lamp"], 9, any_order=True).queries
    assert [query.count for query in tied] == [2, 1]


LOGS = {
    "searches.tsv": "time\tquery\tclicks\n" + "".join(f"10:00\t{text}\t7\n" for text in ["red shoes", "Lamp", "lamp"]),
    "plain.txt": "red shoes\nLamp\nlamp\n",
    "counted.csv": 'query,count\n"red shoes",1\nlamp,2\n',
    "ubi_queries.jsonl": "".join(
        json.dumps({"query_id": str(at), "user_query": text, "client_id": "c", "timestamp": "2026-11-01T10:00:00Z"})
        + "\n"
        for at, text in enumerate(["red shoes", "Lamp", "lamp"])
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_logs_of_every_kind(name, tmp_path):
    path = tmp_path / name
    path.write_text(LOGS[name])
    sample = sample_queries(path, 10)
    assert {query.text: query.count for query in sample.queries} == {"red shoes": 1, "lamp": 2}
    twice = sample_queries([path, path], 10)
    assert {query.text: query.count for query in twice.queries} == {"red shoes": 2, "lamp": 4}


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "csv.gz"])
def test_files_are_read_as_they_were_written(ending, tmp_path):
    log = [*searches(2), 'a "quoted, one"', "with; semicolons, commas", "# no comment", '"']
    sample = sample_queries(log, 10_000)
    path = tmp_path / f"queries.{ending}"
    sample.save(path)
    queries = read_queries(str(path))
    assert queries == {query.query_id: query.text for query in sample.queries}
    assert {name: float(x) for name, x in queries.columns["probability"].items()} == dict.fromkeys(queries, 1.0)
    with pytest.raises(Exception, match="already exists"):
        sample.save(path)
    sample.save(path, force=True)


def test_the_file_weighs_an_evaluation_as_the_sample_does(tmp_path):
    sample = sample_queries(searches(5), 30)
    sample.save(tmp_path / "queries.tsv")
    qrels = {query.query_id: {"a": 1} for query in sample.queries}
    run = {query: [*["b", "c"][: at % 3], "a"] for at, query in enumerate(qrels)}
    for column, of in (("", "search"), (":distinct_weight", "distinct query")):
        by_file = evaluate(qrels, run, "RR", weights=f"{tmp_path / 'queries.tsv'}{column}")
        by_sample = evaluate(qrels, run, "RR", weights=sample.weights(of))
        assert by_file.estimate("RR") == by_sample.estimate("RR")
        assert by_file.estimate("RR").queries == pytest.approx(sample.effective(of))


@pytest.mark.parametrize(
    ("data", "options", "fact"),
    [
        ("time\tplace\n10\tparis\n11\trome\n", {}, "no column is the text of a query by its name"),
        ("query,search\nred,blue\nlamp,sofa\n", {}, "'query' and 'search' could all be the query"),
        ("query,doc_id,rank,clicked\nred,a,1,0\n", {}, "its rows are what happened in searches"),
        ("query_id,user_query,action_name\n1,red,click\n", {}, "its rows are what happened in searches"),
        ("query,count\nred,few\n", {"count": "count"}, "'few' is not how often a query was asked"),
        ("query,count\nred,2\nblue,-1\n", {}, "row 2: '-1' is not how often"),
        ('query,count\nred,2\nblue,"1,234"\n', {}, "row 2: '1,234' is not how often"),
        ("query,count\nred,2\nblue,1e30\n", {}, "row 2: '1e30' is not how often"),
        ("query,count\nred,1\n", {"query": "text"}, "there is no column 'text'"),
        ("query\tn\n \t1\nann@example.org\t2\n", {"query": "query"}, "it has no query to draw"),
    ],
)
def test_logs_that_cannot_be_sampled(data, options, fact, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(data)
    with pytest.raises(InputError, match=fact):
        sample_queries(path, **options)


@pytest.mark.parametrize("log", [[1, 2], b"red", 7, []])
def test_what_is_no_log(log):
    with pytest.raises(InputError):
        sample_queries(log)


def test_a_process_draws_what_another_draws(tmp_path):
    """Python's own hash of texts differs from process to process; samples do not."""
    path = tmp_path / "log.txt"
    path.write_text("\n".join(searches(4)))
    program = "import sys, cranfield\nfrom pathlib import Path\n"
    program += "cranfield.sample_queries(Path(sys.argv[1]), 25, any_order=True).save('-')"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program, str(path)], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert len(list(csv.reader(io.StringIO(printed.pop().decode()), delimiter="\t"))) == 26
