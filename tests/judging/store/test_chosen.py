"""Judgments chosen by an order of judging: the store marks them; signatures, warnings and advice mention them."""

import json

import polars
import pytest

from cranfield import (
    Evaluation,
    GroupedJudgments,
    Judgments,
    advise,
    check_files,
    decide,
    evaluate,
    evaluate_lazily,
    evaluate_runs,
    open_store,
    pool,
)
from cranfield.judging.store.schema import WAITING
from cranfield.ranks.chosen_warning import chosen_counts, chosen_part, chosen_sentence
from tests.program import run as run_program

DOCUMENTS = [f"d{n}" for n in range(10)]
RUN = {"q": DOCUMENTS}
WARNING = (
    "6 of the 10 judgments were chosen by the order 'decide', not by rank alone, which favours the runs they were "
    "chosen for"
)


def choose(store, documents, order):
    """Mark documents of the store as chosen by an order of judging."""
    with store._writing("a choice") as connection:
        for document in documents:
            connection.execute(WAITING.update().where(WAITING.c.doc_id == document).values(chosen_by=order))


@pytest.fixture
def judged(store):
    """A store with ten judgments, six of them chosen by an order; one more chosen document is not judged."""
    store.wait([("q", document) for document in [*DOCUMENTS, "later"]])
    for at, document in enumerate(DOCUMENTS):
        store.judge("q", document, at % 3, assessor="ann")
    choose(store, [*DOCUMENTS[:6], "later"], "decide")
    return store


def test_the_provenance_counts_chosen_judgments(judged):
    assert judged.view().provenance == "judges:1|merge:majority|chosen:decide=6"
    assert judged.view(pooled=True).provenance == "judges:1|merge:majority|chosen:decide=6|pooled:1"
    choose(judged, DOCUMENTS[:2], "move-to-front")
    assert judged.view().provenance.endswith("|chosen:decide=4,move-to-front=2")
    choose(judged, [*DOCUMENTS, "later"], "")
    assert judged.view().provenance == "judges:1|merge:majority"


def test_an_evaluation_warns_about_chosen_judgments(judged, where, tmp_path):
    result = evaluate(judged, RUN, "nDCG@10")
    assert result.warnings == (WARNING,)
    assert "|chosen:decide=6|" in result.signature
    assert evaluate(where, RUN, "nDCG@10").warnings == (WARNING,)
    result.save(tmp_path / "saved.json")
    loaded = Evaluation.load(tmp_path / "saved.json")
    assert (loaded.warnings, loaded.signature) == (result.warnings, result.signature)
    grouped = GroupedJudgments.read(judged)
    assert evaluate(grouped, RUN, "nDCG@10").warnings == (WARNING,)
    frame = polars.LazyFrame({"query_id": ["q"] * 10, "doc_id": DOCUMENTS, "score": [-1.0 * n for n in range(10)]})
    assert evaluate_lazily(judged, frame, "nDCG@10").warnings == (WARNING,)


def test_other_warnings_are_kept(judged):
    judged.judge("q2", "d0", 1, assessor="ann")
    judged.judge("q3", "d0", 1, assessor="ann")
    first, second = evaluate(judged, RUN, "RR").warnings
    assert first.startswith("6 of the 12 judgments were chosen")
    assert second.startswith("only 1 of the 3 judged queries")


def test_a_small_share_of_chosen_judgments_gives_no_warning(judged):
    for n in range(200):
        judged.judge("q", f"more{n}", 0, assessor="ann")
    result = evaluate(judged, RUN, "nDCG@10")
    assert result.warnings == ()
    assert "|chosen:decide=6|" in result.signature


def test_the_warning_for_one_and_for_several_orders():
    part = chosen_part({"decide": 1})
    assert chosen_sentence(part, 8).startswith("1 of the 8 judgments was chosen by the order 'decide', ")
    part = chosen_part({"b": 3, "a": 2})
    assert part == "chosen:a=2,b=3"
    assert chosen_counts(f"judges:1|{part}|pooled:3") == {"a": 2, "b": 3}
    assert "5 of the 8 judgments were chosen by the orders 'a' (2) and 'b' (3), " in chosen_sentence(part, 8)
    assert (chosen_part({}), chosen_counts("judges:1"), chosen_sentence("judges:1", 8)) == ("", {}, "")


def test_plain_files_carry_no_mark(judged, tmp_path):
    plain = Judgments.read(judged.view().by_query)
    assert evaluate(plain, RUN, "nDCG@10").warnings == ()
    assert not any("chosen by" in warning for warning in advise(plain, {"mine": RUN}).warnings)


OTHER = {"q": [*DOCUMENTS[8:], *(f"new{n}" for n in range(8))]}


def test_advice_reports_the_judged_share_of_each_run_and_its_loss_without_pooling(judged):
    [warning] = [each for each in advise(judged, {"mine": RUN, "other": OTHER}).warnings if "chosen by" in each]
    assert warning.startswith(f"{WARNING}. Judged of the first 10 documents: other 20%, mine 100%. ")
    fewer = {d: grade for d, grade in judged.view().by_query["q"].items() if d in DOCUMENTS[8:]}
    lost = evaluate(judged, RUN, "nDCG@10")["nDCG@10"] - evaluate({"q": fewer}, RUN, "nDCG@10")["nDCG@10"]
    assert lost > 0.3
    ending = f" How nDCG@10 of a run would change if it had not been in the pool: mine {-lost:.4f}, other +0.0000."
    assert warning.endswith(ending)
    [alone] = [each for each in advise(judged, {"mine": RUN}).warnings if "chosen by" in each]
    assert "would change" not in alone  # with one run, there is no pool without it
    assert "mine 100%" in alone
    assert [each for each in advise(judged).warnings if "chosen by" in each] == [f"{WARNING}."]


def test_advice_names_the_runs_of_which_least_is_judged(judged):
    runs = {f"run{n}": {"q": [*DOCUMENTS[n:], *(f"x{m}" for m in range(n))]} for n in range(9)}
    [warning] = [each for each in advise(judged, runs).warnings if "chosen by" in each]
    assert "run8 20%, run7 30%, run6 40%, run5 50%, run4 60% and 4 others" in warning


def test_check_warns_about_chosen_judgments(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.wait([("q", document) for document in [*DOCUMENTS, "later"]])
        for document in DOCUMENTS:
            store.judge("q", document, 1, assessor="ann")
        choose(store, DOCUMENTS[:6], "decide")
    for name, run in (("mine", RUN), ("other", OTHER)):
        lines = (f"q Q0 {d} {rank} {-rank} {name}\n" for rank, d in enumerate(run["q"], 1))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    report = check_files(tmp_path / "judgments.db", [tmp_path / "mine.run", tmp_path / "other.run"])
    [warning] = [each for each in report.advice.warnings if "chosen by" in each]
    assert "other 20%, mine 100%" in warning
    done = run_program("check", "judgments.db", "mine.run", "other.run", cwd=tmp_path)
    assert "chosen by the order 'decide'" in " ".join(done.stdout.split())
    done = run_program("evaluate", "judgments.db", "mine.run", "other.run", "-m", "nDCG@10", cwd=tmp_path)
    shown = " ".join(done.stdout.split())
    assert shown.count("chosen by the order 'decide'") == 1  # not again for every run
    assert "warning: all runs: 6 of the 10 judgments" in shown
    done = run_program("evaluate", "judgments.db", "mine.run", "--format", "json", cwd=tmp_path)
    assert "6 of the 10 judgments" in json.dumps(json.loads(done.stdout))


def test_every_run_gets_the_warning(judged):
    results = evaluate_runs(judged, {"mine": RUN, "other": OTHER}, "nDCG@10")
    assert [result.warnings for result in results.values()] == [(WARNING,), (WARNING,)]


def test_judgments_count_as_chosen_until_the_whole_pool_is_judged(store):
    good = {f"q{q}": [f"r{d}" for d in range(10)] for q in range(20)}
    bad = {f"q{q}": [f"n{d}" for d in range(10)] for q in range(20)}
    pool(store, {query: query for query in good}, {"bad": bad, "good": good})  # everything waits, at random
    look = decide(store, {"bad": bad, "good": good}, assessor=lambda query, document: 2 * (document[0] == "r"))
    assert (look.state, look.judged) == ("better", 40)
    assert store.view().provenance.endswith("|chosen:decide=40")
    assert evaluate(store, good, "nDCG@10").warnings[0].startswith("40 of the 40 judgments were chosen by")
    while tasks := store.next_several("ann", 100):
        for task in tasks:
            store.judge(task.query_id, task.doc_id, 0, assessor="ann")
    assert "chosen" not in store.view().provenance  # with the whole pool judged, the order no longer matters


def test_a_pool_chosen_by_an_order_alone_counts_as_chosen_even_if_fully_judged(store):
    runs = {"one": {"q": DOCUMENTS}, "other": {"q": DOCUMENTS[::-1]}}
    pool(store, {"q": "text"}, runs, order="mm-ns", limit=3)
    for task in store.next_several("ann", 100):
        store.judge(task.query_id, task.doc_id, 1, assessor="ann")
    assert store.view().provenance.endswith("|chosen:mm-ns=3")
