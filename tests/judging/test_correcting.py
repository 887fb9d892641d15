"""Corrected values from a store: how they are computed, and what is refused."""

import json

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    CranfieldError,
    Evaluation,
    InputError,
    MeasureError,
    Policy,
    agreement,
    compare,
    corrected_judgments,
    evaluate,
    evaluate_runs,
    gate,
    open_store,
    pool,
    write_report,
)
from cranfield.evaluation.corrected import CORRECTED
from cranfield.evaluation.estimating import Columns
from cranfield.judging.store.schema import EVENTS
from cranfield.judging.store.waiting import pooled_documents
from cranfield.ranks.run import Run
from cranfield.show.comparison_text import comparison_text
from cranfield.show.corrected import evaluations_text

QUERIES = {f"q{n:02}": f"question {n}" for n in range(40)}
NAMES = [f"d{n}" for n in range(12)]


def simulated(seed=0):
    """People's grades, a model's, and two runs."""
    rng = np.random.default_rng(seed)
    people, model, runs = {}, {}, {"bm25": {}, "dense": {}}
    for query in QUERIES:
        relevance = rng.normal(0, 1, len(NAMES))
        people[query] = dict(zip(NAMES, np.digitize(relevance, [0.3, 1.0, 1.7]).tolist(), strict=True))
        seen = relevance + rng.normal(0.5, 0.6, len(NAMES))
        model[query] = dict(zip(NAMES, np.digitize(seen, [0.3, 1.0, 1.7]).tolist(), strict=True))
        for name, skill in (("bm25", 0.4), ("dense", 1.5)):
            order = np.argsort(-(skill * relevance + rng.normal(0, 1, len(NAMES))))
            runs[name][query] = [NAMES[at] for at in order[:10]]
    return people, model, runs


PEOPLE, MODEL, RUNS = simulated()


def pooled_only(grades, pooled):
    """The grades of pooled documents."""
    return {query: {doc: grades[query][doc] for doc in docs} for query, docs in pooled.items()}


@pytest.fixture
def prepared(store):
    """A store with a sample of 12 of 40 queries; ann has judged the sample completely, and gpt all queries."""
    drawn = pool(store, QUERIES, RUNS, 10, sample=12, seed=7).drawn
    pooled = {}
    with store._reading() as connection:
        for query, document in pooled_documents(connection):
            pooled.setdefault(query, []).append(document)
    store.import_qrels(pooled_only(MODEL, pooled), "gpt", kind="model")
    store.import_qrels(pooled_only(PEOPLE, {query: pooled[query] for query in drawn}), "ann", kind="person")
    return store, drawn, pooled


def by(prepared, **chosen):
    return corrected_judgments(prepared[0], **{"model": "gpt", **chosen})


def corrected(prepared, measures="nDCG@10 P@5", **options):
    return evaluate_runs(by(prepared), RUNS, measures, **options)


def text_of(evaluations):
    return evaluations_text(list(evaluations.values()))


def values_of(evaluations):
    return {(run, name): each.estimate(name) for run, each in evaluations.items() for name in each}


def test_values_match_the_formulas(prepared):
    _, drawn, pooled = prepared
    found = corrected(prepared)
    by_model = evaluate(pooled_only(MODEL, pooled), RUNS["bm25"], "nDCG@10 P@5")
    by_people = evaluate(pooled_only(PEOPLE, {query: pooled[query] for query in drawn}), RUNS["bm25"], "nDCG@10 P@5")
    rows = np.array([by_model.query_ids.index(query) for query in by_people.query_ids])
    for measure in ("nDCG@10", "P@5"):
        columns = Columns(by_people.column(measure)[:, None], proxy=by_model.column(measure)[:, None], drawn=rows)
        expected, value = CORRECTED.estimate(columns), found["bm25"].estimate(measure)
        assert value.value == found["bm25"][measure] == pytest.approx(expected.value[0])
        assert value.low == pytest.approx(expected.interval(0.05)[0][0])
        assert value.margin == pytest.approx(value.value - value.low)
        assert value.corrected.model == pytest.approx(by_model[measure])
        assert value.corrected.people == pytest.approx(by_people[measure])
        assert value.corrected.model + value.corrected.correction == pytest.approx(value.value)
    signature = "model:gpt|judge:imported|corrected_with:person,imported|merge:majority|sample:12 of 40|sample_seed:7"
    assert found["bm25"].basis.signature == signature
    assert f"|{signature}|" in found["bm25"].signature


def test_a_run_is_read_once_for_both_judges(prepared, tmp_path, monkeypatch):
    rows = (f"{q} Q0 {d} 1 {-at} bm25\n" for q, its in RUNS["bm25"].items() for at, d in enumerate(its))
    (tmp_path / "bm25.run").write_text("".join(rows))
    readings, read = [], Run.read
    monkeypatch.setattr(Run, "read", lambda run, *wants: readings.append(run.name) or read(run, *wants))
    from_file = evaluate(by(prepared), tmp_path / "bm25.run", "nDCG@10")
    assert readings == ["bm25"]
    assert from_file.estimate("nDCG@10") == evaluate(by(prepared), RUNS["bm25"], "nDCG@10").estimate("nDCG@10")


def test_only_pool_sizes_and_sampled_documents_are_read(prepared):
    from cranfield.judging.pool.query_sample import pool_sizes, pooled_of_drawn, read_sample

    store, drawn, pooled = prepared
    with store._reading() as connection:
        sample = read_sample(connection)
        assert pool_sizes(connection, sample) == {query: len(set(documents)) for query, documents in pooled.items()}
        assert pooled_of_drawn(connection, sample) == {query: set(pooled[query]) for query in drawn}


def test_model_grades_outside_the_pool_do_not_count(prepared):
    store, _, _ = prepared
    before = corrected(prepared)
    store.import_qrels({query: {"never pooled": 3} for query in RUNS["bm25"]}, "gpt", kind="model")
    store.import_qrels({"another query": {"d1": 3}}, "gpt", kind="model")
    assert values_of(corrected(prepared)) == values_of(before)


def test_a_difference_has_a_weight_of_its_own(prepared):
    found = compare(by(prepared), RUNS, "nDCG@10")
    [pair] = found
    means = found.means["nDCG@10"]
    assert pair.estimate != pytest.approx(means["dense"] - means["bm25"], abs=1e-12)
    assert pair.estimate == pair.difference == pytest.approx(pair.corrected.model + pair.corrected.correction)
    assert (pair.adjusted <= 0.05) == (pair.low > 0 or pair.high < 0)
    assert pair.sentence.startswith("Better: dense vs bm25, nDCG@10 +")
    assert pair.better + pair.same + pair.worse == found.basis.sampled == 12
    assert found.queries == 40
    data = json.loads(found.to_json())
    assert data["differences"][0]["corrected"]["worth"] == pair.corrected.worth
    assert data["estimates"]["nDCG@10"]["dense"]["value"] == means["dense"]


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "bh", "none"])
def test_intervals_and_p_values_of_a_family_agree(prepared, correction):
    runs = {**RUNS, "other": {query: ranking[::-1] for query, ranking in RUNS["bm25"].items()}}
    found = compare(by(prepared), runs, "nDCG@10", correction=correction)
    assert len(found.differences) == 3
    for pair in found:
        assert pair.significant == (pair.adjusted <= 0.05) == (pair.low > 0 or pair.high < 0)
        assert pair.p <= pair.adjusted
    with_baseline = compare(by(prepared), runs, "nDCG@10", correction=correction, baseline="dense")
    assert [pair.baseline for pair in with_baseline] == ["dense", "dense"]


def test_a_margin_is_tested_by_the_corrected_difference(prepared):
    [pair] = compare(by(prepared), RUNS, "nDCG@10", margin=0.02)
    assert pair.within.not_worse < pair.p
    assert pair.within.equivalent > 0.9


def test_texts_at_80_columns(prepared):
    texts = [text_of(corrected(prepared)), comparison_text(compare(by(prepared), RUNS, margin=0.02))]
    for text in texts:
        assert "gpt corrected by people on 12 of 40 queries, drawn at random (seed 7)" in text
        assert "With fewer than 30 sampled queries, intervals can be too narrow" in text
        assert "gpt saved" in text
        assert max(map(len, text.splitlines())) <= 80


def test_a_useless_model_saves_nothing_and_the_text_says_so(prepared):
    store, _, pooled = prepared
    store.import_qrels({query: dict.fromkeys(docs, 1) for query, docs in pooled.items()}, "yes", kind="model")
    found = evaluate_runs(by(prepared, model="yes"), RUNS, "P@5")
    assert found["bm25"].estimate("P@5").corrected.worth == 12
    assert "yes saved nothing here." in " ".join(text_of(found).split())


def test_people_can_be_selected_and_their_grades_merged(prepared):
    store, drawn, pooled = prepared
    other = {query: dict.fromkeys(pooled[query], 0) for query in drawn}
    store.import_qrels(other, "bob", kind="person")
    both, alone = (evaluate(by(prepared, people=who, merge="max"), RUNS["bm25"], "P@5") for who in ("people", ["ann"]))
    assert both.estimate("P@5") == alone.estimate("P@5")
    assert alone.basis.people == ("ann",)
    assert evaluate(by(prepared, people=["bob"]), RUNS["bm25"], "P@5").estimate("P@5").corrected.people == 0


def refused(prepared, fact, hint="", **options):
    with pytest.raises((InputError, ComparisonError)) as caught:
        by(prepared, **options)
    assert fact in str(caught.value)
    assert hint in caught.value.hint


def test_a_store_without_a_sample_is_refused(store):
    store.import_qrels(PEOPLE, "ann", kind="person")
    store.import_qrels(MODEL, "gpt", kind="model")
    refused((store,), "it has no random sample of queries", "--sample 20")


def test_a_sample_that_is_not_judged_completely_is_refused(prepared):
    store, drawn, pooled = prepared
    for document in pooled[drawn[0]][:2]:
        store.undo("ann", query_id=drawn[0], doc_id=document)
    refused(prepared, "2 documents of 1 of the 12 sampled queries are still to be judged", "cranfield judge")
    for document in pooled[drawn[0]][:2]:  # ann saw them but could not judge them
        store.judge(drawn[0], document, None, assessor="ann")
    found = corrected(prepared)
    assert found["bm25"].basis.not_judged == 2
    assert "People could not judge 2 documents" in text_of(found)


def test_queries_outside_the_sample_are_not_used(prepared):
    store, drawn, _ = prepared
    before = corrected(prepared)
    other = next(query for query in QUERIES if query not in drawn)
    store.import_qrels({other: PEOPLE[other]}, "ann", kind="person")
    found = corrected(prepared)
    assert values_of(found) == values_of(before)
    assert found["bm25"].basis.unused == 1
    assert "People also judged 1 query outside the sample" in text_of(found)


def test_documents_outside_the_pool_count_on_neither_side(prepared):
    store, drawn, _pooled = prepared
    before = corrected(prepared)
    outside = {query: {"extra": 3} for query in drawn}
    store.import_qrels(outside, "ann", kind="person")
    store.import_qrels(outside, "gpt", kind="model")
    assert values_of(corrected(prepared)) == values_of(before)


def test_models_are_not_people_and_people_are_not_models(prepared):
    store, drawn, pooled = prepared
    refused(prepared, "gpt's grades are of the kind 'model', but only people can correct", people=["ann", "gpt"])
    refused(prepared, "ann's grades are of the kind 'person', not of a model", "--kind model", model="ann")
    refused(prepared, "there is no assessor 'claude'", model="claude")
    store.judge(drawn[0], pooled[drawn[0]][0], 1, assessor="gpt", kind="person")
    refused(prepared, "some of gpt's grades are recorded as those of a person", "kind='model'")


def test_fewer_than_ten_sampled_queries_are_refused(store):
    pool(store, QUERIES, RUNS, 10, sample=9, seed=7)
    store.import_qrels(PEOPLE, "ann", kind="person")
    store.import_qrels(MODEL, "gpt", kind="model")
    refused((store,), "its sample has 9 queries, but it takes at least 10", "--sample 20 --seed 7")


def set_judge(store, judge, **where):
    """Record gpt's grades as if it had been asked in a certain way."""
    with store._writing("a test") as connection:
        change = EVENTS.update().where(EVENTS.c.assessor == "gpt")
        for name, value in where.items():
            change = change.where(EVENTS.c[name] == value)
        connection.execute(change.values(judge=judge))


def test_a_model_that_was_asked_in_several_ways_is_refused(prepared):
    store = prepared[0]
    set_judge(store, "ab" * 32)
    assert "judge:abababab|" in by(prepared).basis.signature
    set_judge(store, "cd" * 32, query_id="q05")
    refused(prepared, "gpt was asked in 2 ways", "in the same way")


def test_missing_grades_of_a_model(prepared):
    store, _drawn, pooled = prepared
    total = sum(map(len, pooled.values()))
    assert store.undo("gpt", query_id="q05", doc_id=pooled["q05"][0])
    found = corrected(prepared)
    basis = found["bm25"].basis
    assert (basis.missing, basis.pooled) == (1, total)
    assert f"gpt has no grade for 1 of {total} documents" in text_of(found)
    assert "model_missing:1" in basis.signature
    for document in pooled["q05"][1:]:
        store.undo("gpt", query_id="q05", doc_id=document)
    refused(prepared, "gpt has not judged 1 of the 40 queries", "--assessor gpt")
    store.judge("q05", pooled["q05"][0], 1, assessor="gpt", kind="model")
    for query in ("q06", "q07", "q08"):
        for document in pooled[query][1:]:
            store.undo("gpt", query_id=query, doc_id=document)
    refused(prepared, "up to 5% could be left out", "--assessor gpt")


def test_measures_and_policies_that_cannot_be_corrected_are_refused(prepared):
    with pytest.raises(ComparisonError, match="no longer be random"):
        corrected(prepared, policy=Policy(missing="skip"))
    with pytest.raises(ComparisonError, match="only means are corrected"):
        corrected(prepared, "GMAP")
    with pytest.raises(MeasureError, match="needs judgments with groups"):
        corrected(prepared, "alpha_nDCG@10")
    with pytest.raises(ComparisonError, match="cannot be used for corrected values"):
        compare(by(prepared), RUNS, test="wilcoxon")
    evaluation = corrected(prepared)["bm25"]
    for ask in (
        lambda: evaluation.bounds("P@5"),
        lambda: evaluation.plot(),
        lambda: evaluation.aggregate("P@5", "median"),
        lambda: evaluation.by_segment("P@5", {"q01": "a"}),
        lambda: evaluation.estimate("P@5", weights={"q01": 2}),
        lambda: compare(by(prepared), RUNS).plot(),
    ):
        with pytest.raises(InputError, match="only means over all queries are corrected"):
            ask()
    with pytest.raises(CranfieldError, match="only means are corrected"):
        write_report(by(prepared), RUNS, "report.html")


def test_a_gate_goes_by_the_corrected_difference(prepared):
    judgments = by(prepared)
    assert gate(judgments, RUNS["bm25"], RUNS["dense"])
    result = gate(judgments, RUNS["dense"], RUNS["bm25"], minimum={"P@5": 0.99}, non_inferiority=0.01)
    assert [check.passed for check in result.checks] == [False, False, False]
    assert result.checks[0].message.startswith("nDCG@10 fell significantly, -0.")
    [pair] = compare(judgments, {"dense": RUNS["dense"], "bm25": RUNS["bm25"]})
    assert result.measures[0].drop == pytest.approx(-pair.estimate)
    assert result.measures[0].p_worse == pytest.approx(pair.p / 2)
    assert gate(judgments, RUNS["dense"], RUNS["bm25"], tolerance=0.9)


def test_a_saved_baseline_remembers_its_judge(prepared, tmp_path):
    saved = tmp_path / "baseline.json"
    evaluate(by(prepared), RUNS["bm25"], name="bm25").save(saved)
    loaded = Evaluation.load(saved)
    assert loaded.basis == by(prepared).basis
    assert loaded.estimate("nDCG@10") == corrected(prepared)["bm25"].estimate("nDCG@10")
    fresh = gate(by(prepared), RUNS["bm25"], RUNS["dense"])
    from_file = gate(by(prepared), str(saved), RUNS["dense"])
    assert from_file.measures[0].drop == fresh.measures[0].drop
    with pytest.raises(ComparisonError, match="was not evaluated by P@3") as refused:
        gate(by(prepared), str(saved), RUNS["dense"], "P@3")
    assert "it has nDCG@10" in refused.value.hint
    with pytest.raises(ComparisonError, match="was not evaluated by P@3"):
        gate(by(prepared), RUNS["dense"], str(saved), minimum={"P@3": 0.1})
    with pytest.raises(ComparisonError, match="corrected by people"):
        gate(PEOPLE, str(saved), RUNS["dense"])
    set_judge(prepared[0], "ab" * 32)
    with pytest.raises(ComparisonError, match=r"by gpt \(judge imported\), and .* by gpt \(judge abababab\)"):
        gate(by(prepared), str(saved), RUNS["dense"])


def test_a_saved_baseline_of_another_sample_or_other_judgments_is_refused(prepared, tmp_path):
    store, drawn, pooled = prepared
    saved = str(tmp_path / "baseline.json")
    evaluate(by(prepared), RUNS["bm25"]).save(saved)
    store.judge(drawn[0], pooled[drawn[0]][0], 3, assessor="ann")
    store.judge(drawn[0], pooled[drawn[0]][1], 3, assessor="ann")
    with pytest.raises(ComparisonError, match="different judgments"):
        gate(by(prepared), saved, RUNS["dense"])
    pool(store, QUERIES, RUNS, 10, sample=13, seed=7)
    store.import_qrels(pooled_only(PEOPLE, pooled), "ann", kind="person")
    with pytest.raises(ComparisonError, match=r"corrected with sampled 12, and .* with 13"):
        gate(by(prepared), saved, RUNS["dense"])


def test_a_run_that_fails_where_people_did_not_look_is_not_shown_to_be_as_good(prepared):
    drawn = prepared[1]
    broken = {query: its if query in drawn else ["none"] for query, its in RUNS["dense"].items()}
    result = gate(by(prepared), RUNS["dense"], broken, non_inferiority=0.01)
    assert not result
    assert "not shown to be non-inferior" in str(result)
    [pair] = compare(by(prepared), {"whole": RUNS["dense"], "broken": broken})
    assert pair.corrected.model < -0.2
    assert pair.low < -0.05


def test_sentences_name_the_model_and_the_family(prepared, tmp_path):
    saved = tmp_path / "all.json"
    evaluate(by(prepared), RUNS["bm25"], "P@5 nDCG@10 AP", name="bm25").save(saved)
    compared = compare(by(prepared), {"bm25": Evaluation.load(saved), "dense": RUNS["dense"]}, "AP P@5", family="all")
    assert str(compared).endswith(
        "gpt corrected by people on 12 of 40 queries; t-test of the corrected difference, two-sided; "
        "bootstrapped max-t (2,000 draws of the queries, seed 0) over a family of 2 (1 pair × 2 measures)"
    )
    people = "gpt corrected by people on 12 of 40 queries"
    assert f"{people}; 40 queries" in str(corrected(prepared)["bm25"])
    assert f"dense against bm25, {people}: passed" in str(gate(by(prepared), saved, {**RUNS["dense"]}, "AP")).replace(
        "candidate", "dense"
    )
    assert "seed 0) over a family of 2" in " ".join(comparison_text(compared).split())
    plain = compare(PEOPLE, {**RUNS, "third": RUNS["bm25"]}, "AP", correction="none", bounds=False)
    assert not any("corrected for" in pair.sentence for pair in plain)


def test_the_smallest_levels_have_the_longest_intervals(prepared):
    [pair] = compare(by(prepared), RUNS, "P@5", alpha=1e-300)
    assert (pair.low, pair.high) == (-1.0, 1.0)
    assert corrected(prepared)["bm25"].estimate("P@5", alpha=1e-300).low == 0.0


def test_agreement_includes_models_if_their_kind_is_selected(prepared):
    store = prepared[0]
    found = agreement(store, ["ann", "gpt"], kinds=["person", "model"], runs=RUNS, draws=100)
    [pair] = found.pairs
    assert found.assessors == ("ann", "gpt")
    assert sum(map(sum, pair.table)) == found.documents > 0
    assert pair.statistics["kappa"].value is not None
    assert pair.order is not None
    with pytest.raises(InputError, match="gpt's grades are of the kind 'model'") as caught:
        agreement(store, ["ann", "gpt"])
    assert caught.value.hint == "add kinds=['person', 'model']"


def test_the_store_can_be_given_as_a_path(tmp_path):
    where = tmp_path / "judgments.db"
    pool(where, QUERIES, RUNS, 10, sample=12, seed=7)
    with open_store(where) as store:
        store.import_qrels(PEOPLE, "ann", kind="person")
        store.import_qrels(MODEL, "gpt", kind="model")
    assert corrected_judgments(where, model="gpt").basis.unused == 28


def test_a_run_without_the_sampled_queries_counts_0_for_people(prepared):
    others = {query: its for query, its in RUNS["bm25"].items() if query not in prepared[1]}
    assert evaluate(by(prepared), others, "nDCG@10").estimate("nDCG@10").corrected.people == 0.0
