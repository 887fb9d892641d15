"""Clicks as an assessor of a store: which queries, which grades, what is kept, and how it agrees with people."""

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    InputError,
    agreement,
    compare,
    corrected_judgments,
    evaluate,
    judge_by_clicks,
    open_store,
    pool,
)
from cranfield.evaluation.corrected import CORRECTED
from cranfield.evaluation.estimating import Columns
from cranfield.io.formats.store import JudgmentView
from cranfield.judging.pool.query_sample import read_sample
from tests.program import run
from tests.traffic.simulated_clicks import RULE, Case, simulated

pytest.importorskip("duckdb")
pytest.importorskip("sqlalchemy")

QUERIES = 40
LOG = simulated(Case("position", 0.5), QUERIES, 600, 5)
TRUE = {
    f"n{query}": {f"q{query}d{at}": float(grade) for at, grade in enumerate(RULE.grade(row))}
    for query, row in enumerate(LOG.attraction)
}
RUNS = {
    name: {
        f"n{query}": [f"q{query}d{at}" for at in np.argsort(-(skill * row + noise))[:8]]
        for query, (row, noise) in enumerate(
            zip(LOG.attraction, np.random.default_rng(1).normal(0, 0.3, LOG.attraction.shape), strict=True)
        )
    }
    for name, skill in (("old", 0.2), ("new", 1.5))
}

POOLED = {
    query: {document: TRUE[query][document] for its in RUNS.values() for document in its[query]} for query in TRUE
}


@pytest.fixture
def where(tmp_path):
    """A store of the log's queries, with what two runs return, judged by a person on a random sample of queries."""
    path = tmp_path / "judgments.db"
    with open_store(path, create=True) as store:
        pool(store, {query: f"Query {query[1:]}" for query in TRUE}, RUNS, 8, sample=12, seed=3)
        with store._reading() as connection:
            drawn = read_sample(connection).drawn
        store.import_qrels({query: POOLED[query] for query in drawn}, "ann", kind="person")
    return path


def row(**more):
    return {"query": "red shoes", "doc_id": "a", "rank": 1, "impressions": 100, "clicks": 30, **more}


@pytest.fixture
def shop(tmp_path):
    with open_store(tmp_path / "shop.db", create=True) as store:
        store.add_queries({"q1": "Red  Shoes", "q2": "blue shoes", "Q3": ""})
        yield store


@pytest.mark.parametrize(("clicks", "grade"), [(0, 0), (12, 0), (13, 1), (24, 1), (25, 2), (49, 2), (50, 3), (100, 3)])
def test_the_highest_grade_begins_at_half_and_each_one_below_at_half_of_that(shop, clicks, grade):
    rows = [row(clicks=clicks), row(doc_id="other")]
    assert judge_by_clicks(shop, rows).rule == {0: 0, 1: 0.125, 2: 0.25, 3: 0.5}
    assert shop.view(kinds=["clicks"]).by_query["q1"]["a"] == grade


def test_the_rule_follows_the_scale_and_can_be_chosen(shop):
    shop.set_scale({0: "No", 5: "Yes"})
    assert judge_by_clicks(shop, [row()]).rule == {0: 0, 5: 0.5}
    report = judge_by_clicks(shop, [row()], attraction=[0.3], least=101)
    assert (report.rule, report.grades, report.seldom) == ({0: 0, 5: 0.3}, {}, 1)
    assert judge_by_clicks(shop, [row()], attraction=[0.3], least=100).grades == {5: 1}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"attraction": [0.1]}, "needs 3 numbers, not 1: one for each grade but the lowest"),
        ({"attraction": [0.1, 0.3, 0.2]}, "must rise from grade to grade"),
        ({"attraction": [0.0, 0.3, 0.4]}, "must rise from grade to grade"),
        ({"attraction": [0.1, 0.3, 1.4]}, "must rise from grade to grade"),
        ({"least": 0}, "is no number of people"),
        ({"least": float("nan")}, "is no number of people"),
        ({"least": float("inf")}, "is no number of people"),
    ],
)
def test_a_rule_that_is_none_is_refused(shop, chosen, message):
    with pytest.raises(ComparisonError, match=message):
        judge_by_clicks(shop, [row()], **chosen)


def test_counts_are_kept_with_the_event(shop):
    judge_by_clicks(shop, [row()])
    [event] = shop.events()
    kept = (event.query_id, event.doc_id, event.kind, event.assessor, event.grade)
    assert kept == ("q1", "a", "clicks", "clicks", 2)
    assert (event.impressions, event.clicks, event.examined) == (100, 30, 100)


def test_only_new_grades_are_appended_and_a_later_log_corrects_an_earlier_one(shop):
    new = [judge_by_clicks(shop, [row(clicks=clicks)]).new for clicks in (30, 30, 31, 60)]
    assert new == [1, 0, 1, 1]
    assert [(event.clicks, event.grade) for event in shop.events()] == [(30, 2), (31, 2), (60, 3)]
    assert shop.view(kinds=["clicks"]).by_query == {"q1": {"a": 3}}


def test_a_dry_run_saves_nothing(shop):
    report = judge_by_clicks(shop, [row()], dry_run=True)
    assert (report.grades, report.new, list(shop.events())) == ({2: 1}, 0, [])


def test_queries_are_found_by_id_then_by_text(shop):
    rows = [
        {"query_id": "q2", "query": "something else", "doc_id": "a", "rank": 1, "impressions": 50, "clicks": 30},
        {"query_id": "search 17", "query": "RED shoes", "doc_id": "b", "rank": 1, "impressions": 50, "clicks": 30},
        {
            "query_id": "search 18",
            "query": "nobody pooled this",
            "doc_id": "b",
            "rank": 1,
            "impressions": 50,
            "clicks": 3,
        },
    ]
    report = judge_by_clicks(shop, rows)
    assert (report.queries, report.matched) == (3, 2)
    assert shop.view(kinds=["clicks"]).by_query == {"q1": {"b": 3}, "q2": {"a": 3}}
    assert judge_by_clicks(shop, [row(query="Q3")], assessor="ids").matched == 1  # a column of ids that is called query


def test_two_queries_with_one_text_get_the_same_grades(shop):
    shop.add_queries({"q4": "red shoes"})
    judge_by_clicks(shop, [row()])
    assert shop.view(kinds=["clicks"]).by_query == {"q1": {"a": 2}, "q4": {"a": 2}}


def test_what_cannot_be_matched_or_named_is_refused(shop, tmp_path):
    with pytest.raises(InputError, match=r"none of its queries is in .*shop\.db") as caught:
        judge_by_clicks(shop, [row(query="green shoes")])
    assert "it searches for 'green shoes'" in caught.value.hint
    shop.judge("q1", "a", 1, assessor="ann")
    with pytest.raises(InputError, match="there is an assessor 'ann' of the kind 'person' already"):
        judge_by_clicks(shop, [row()], assessor="ann")
    with open_store(tmp_path / "empty.db", create=True), pytest.raises(InputError, match="it has no queries"):
        judge_by_clicks(tmp_path / "empty.db", [row()])


def test_clicks_are_never_merged_with_people_unless_they_are_chosen(shop):
    shop.judge("q1", "a", 0, assessor="ann")
    judge_by_clicks(shop, [row(clicks=90)])
    people, clicks, both = shop.view(), shop.view(kinds=["clicks"]), shop.view(merge="max", kinds=["person", "clicks"])
    assert (people.by_query, clicks.by_query, both.by_query) == tuple({"q1": {"a": grade}} for grade in (0, 3, 3))
    assert "click" not in people.provenance
    assert clicks.provenance == "judges:1|merge:majority|kinds:clicks|clicks:uncorrected"
    assert both.provenance == "judges:2|merge:max|kinds:person,clicks|clicks:uncorrected|conflicts:1"
    with pytest.raises(InputError, match="clicks's grades are of the kind 'clicks', which was not selected"):
        shop.view(["clicks"])


def test_clicks_leave_documents_for_people_to_judge(shop):
    shop.wait([("q1", "a"), ("q1", "b")])
    report = judge_by_clicks(shop, [row()])
    assert (report.pooled, report.pooled_graded, shop.progress().left) == (2, 1, 2)


def test_corrected_grades_agree_with_people_better_than_a_models_would(where):
    report = judge_by_clicks(where, LOG.table)
    assert report.corrected
    assert (report.matched, report.new) == (QUERIES, sum(report.grades.values()))
    found = agreement(where, kinds=["person", "clicks"])
    [pair] = found.pairs
    assert (pair.model, {*pair.assessors}) == ("clicks", {"ann", "clicks"})
    assert found.statistics["ordinal alpha"].value > 0.85
    assert found.sentence.startswith(("Good", "Fair to good"))
    with open_store(where) as store:
        assert "clicks:corrected" in store.view(kinds=["clicks"]).provenance


def test_people_correct_clicks_as_they_correct_a_model(where):
    judge_by_clicks(where, LOG.table)
    judgments = corrected_judgments(where, model="clicks")
    basis = judgments.basis
    assert (basis.model, basis.sampled, basis.queries) == ("clicks", 12, QUERIES)
    assert basis.missing > 0.05 * basis.pooled  # which a model would be refused for
    [difference] = compare(judgments, RUNS, "nDCG@10", baseline="old")
    truth = evaluate(POOLED, RUNS["new"], "nDCG@10")["nDCG@10"] - evaluate(POOLED, RUNS["old"], "nDCG@10")["nDCG@10"]
    assert difference.low <= truth <= difference.high
    assert difference.corrected is not None
    assert -1 <= difference.corrected.weight <= 1.5


def test_a_query_without_any_click_counts_like_all_others(where):
    """Seldom searched queries are in the sample as they are among all; there, clicks see nothing relevant."""
    few = LOG.table.filter(np.char.startswith(np.asarray(LOG.table["query"].to_pylist()), "query 1"))
    judge_by_clicks(where, few)
    judgments = corrected_judgments(where, model="clicks")
    by_clicks, by_people = (judge.by_query for judge in judgments.judges)
    assert sum(map(bool, by_clicks.values())) < 15
    seen = evaluate({query: grades for query, grades in by_clicks.items() if grades}, RUNS["new"], "nDCG@10")
    proxy = [seen.by_query("nDCG@10").get(query, 0.0) for query in sorted(TRUE)]
    people = evaluate(by_people, RUNS["new"], "nDCG@10").by_query("nDCG@10")
    drawn = [at for at, query in enumerate(sorted(TRUE)) if query in people]
    columns = Columns(
        np.array([[people[sorted(TRUE)[at]]] for at in drawn]), proxy=np.array(proxy)[:, None], drawn=np.array(drawn)
    )
    estimate = evaluate(judgments, RUNS["new"], "nDCG@10").estimate("nDCG@10")
    expected = CORRECTED.estimate(columns)
    assert estimate.value == pytest.approx(expected.value[0])
    assert estimate.low == pytest.approx(expected.interval(0.05)[0][0])


def test_grades_by_two_rules_are_not_those_of_one_judge(where):
    judge_by_clicks(where, LOG.table)
    judge_by_clicks(where, LOG.table.slice(0, 40), least=30)
    with pytest.raises(InputError, match="clicks graded by 2 rules"):
        corrected_judgments(where, model="clicks")


def test_people_cannot_be_clicks_and_clicks_cannot_correct(where):
    judge_by_clicks(where, LOG.table)
    with pytest.raises(InputError, match="clicks's grades are of the kind 'clicks', but only people can correct"):
        corrected_judgments(where, model="clicks", people=["clicks"])


def csv_log(folder, log=LOG):
    lines = [log.table.column_names, *(map(str, each.values()) for each in log.table.to_pylist())]
    (folder / "clicks.csv").write_text("".join(",".join(line) + "\n" for line in lines))


def test_a_log_may_come_from_standard_input(where, tmp_path):
    csv_log(tmp_path)
    piped = run(
        "judge", "judgments.db", "--clicks", "-", "--dry-run", cwd=tmp_path, input=(tmp_path / "clicks.csv").read_text()
    )
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.startswith("standard input: ")


def test_the_command_says_who_looks_where_and_what_was_graded(where, tmp_path):
    csv_log(tmp_path)
    command = ["judge", "judgments.db", "--clicks", "clicks.csv"]
    tried = run(*command, "--dry-run", cwd=tmp_path)
    done = run(*command, cwd=tmp_path)
    assert (tried.returncode, done.returncode) == (0, 0), done.stderr
    assert tried.stdout.endswith("Nothing was saved.\n")
    text = " ".join(done.stdout.split())
    assert "Of 100 people who look at rank 1, so many look at another" in text
    assert "It holds if these moved for other reasons than becoming more or less attractive." in text
    assert "Grade 3 from 50%, 2 from 25%, 1 from 12.5% of the people who look click; at least 20" in text
    assert "Hint: cranfield agreement judgments.db --kind person --kind imported --kind clicks" in text
    assert max(map(len, done.stdout.splitlines())) <= 80
    values = ["evaluate", "judgments.db", "runs.tsv", "--assessor", "clicks", "-m", "nDCG@10"]
    rows = [f"{q}\t{d}\t{9 - at}\n" for q, its in RUNS["new"].items() for at, d in enumerate(its)]
    (tmp_path / "runs.tsv").write_text("query_id\tdoc_id\tscore\n" + "".join(rows))
    plain = run(*values, "--kind", "clicks", cwd=tmp_path)
    view = JudgmentView(("clicks",), None, ("clicks",)).of(where)
    assert f"{evaluate(view, RUNS['new'], 'nDCG@10')['nDCG@10']:.4f}" in plain.stdout
    corrected = run(*values, "--correct-with", "people", cwd=tmp_path)
    assert "clicks corrected by people on 12 of 40 queries" in corrected.stdout


def test_the_command_says_that_nothing_is_identified(where, tmp_path):
    csv_log(tmp_path, simulated(Case("position", 0.9, moves=False), QUERIES, 100, 1))
    done = run("judge", "judgments.db", "--clicks", "clicks.csv", "--assessor", "raw", cwd=tmp_path)
    text = " ".join(done.stdout.split())
    assert "Not identified: how many people look at each rank." in text
    assert "clicks are not corrected, and these grades favour whatever is ranked high now." in text
    assert "raw: " in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--attraction", "0.1"], "--attraction needs --clicks"),
        (["--clicks", "clicks.csv", "--me", "ann"], "--clicks takes STORE"),
        (["--clicks", "clicks.csv", "--limit", "3"], "--clicks takes STORE"),
        (["--clicks", "clicks.csv", "--attraction", "a,b"], "is not a list of shares"),
        (["--clicks", "clicks.csv", "--attraction", "0.1,0.2"], "--attraction needs 3 numbers, not 2"),
        (["--clicks", "clicks.csv", "--assessor", "a", "--assessor", "b"], "clicks have one name, not a and b"),
        (["--clicks", "none.csv"], "none.csv: cannot be read: no such file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, where, tmp_path):
    csv_log(tmp_path)
    done = run("judge", "judgments.db", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr
