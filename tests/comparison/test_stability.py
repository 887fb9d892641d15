"""stability: how measures change when judgments are removed."""

import json
from itertools import product

import numpy as np
import pytest

from cranfield import (
    ComparisonError,
    InputError,
    Judgments,
    MeasureError,
    Policy,
    catalogue,
    evaluate,
    open_collection,
    open_system,
    stability,
)
from cranfield.comparison.scanned import scanned_runs
from cranfield.comparison.stability import DESIGNS
from cranfield.io.source import open_source
from cranfield.measures.completion import cutoff_of
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.tables.ranks import only_pooled, without
from cranfield.show.stability_text import stability_text
from tests.comparison.made import qrels_for, random_runs
from tests.measures.test_catalogue import VARIANTS

QRELS = qrels_for(20, depth=8)
RUNS = random_runs(2, 20, 3, worse=4)
CUT = [each for each in VARIANTS if cutoff_of(each) and not dict(each.parameters).get("judged_only")]


@pytest.mark.parametrize("measure", ["RR", "AP", "nDCG@10", "Bpref", "P@3", "nDCG(judged_only=True)@5", "infAP", "R@5"])
def test_dropping_rows_equals_evaluating_without_the_judgments(measure):
    chance = np.random.default_rng(1)
    qrels = {q: {d: int(chance.integers(-1, 3)) for d in judged} for q, judged in QRELS.items()}
    judgments = Judgments.read(qrels)
    run = RUNS["run1"]
    table = rank_run(judgments, open_source(run, "run"), Policy())
    gone = chance.random(len(judgments.grades)) < 0.5
    kept = {q: dict(judged) for q, judged in qrels.items()}
    for row in np.flatnonzero(gone).tolist():
        query = judgments.query_ids[judgments.query[row]]
        del kept[query][judgments.document_ids[row]]
    result = evaluate(kept, run, measure)
    [thinned] = without([table], gone)
    assert result.measures[0](thinned).tolist() == pytest.approx(result.column(measure).tolist())


def test_rows():
    found = stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=1, design="uniform")
    assert [(row.measure, row.removed) for row in found.rows] == [("RR", 0), ("RR", 0.5), ("Bpref", 0), ("Bpref", 0.5)]
    nothing, half = found.rows[:2]
    means = [evaluate(QRELS, run, "RR")["RR"] for run in RUNS.values()]
    assert (nothing.mean, nothing.spread, nothing.tau, nothing.lowest) == (pytest.approx(np.mean(means)), 0, 1, 1)
    assert nothing.mean == half.complete
    assert half.mean < half.complete
    assert half.spread > 0
    assert -1 <= half.lowest <= half.tau <= 1
    assert found.by_run["RR", 0.0] == pytest.approx(dict(zip(RUNS, means, strict=True)))
    assert stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=1, design="uniform") == found
    assert stability(QRELS, RUNS, "RR Bpref", [0.0, 0.5], repeats=6, seed=2, design="uniform") != found
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_draw_for_a_share_does_not_depend_on_other_shares():
    several = stability(QRELS, RUNS, "AP", [0.0, 0.3, 0.5], repeats=3)
    alone = stability(QRELS, RUNS, "AP", [0.5], repeats=3)
    assert several.rows[-1:] == alone.rows


def test_runs_without_an_order_have_no_tau():
    found = stability(QRELS, {"a": RUNS["run0"], "b": RUNS["run0"]}, "RR", [0.5], repeats=2)
    assert (found.rows[0].tau, found.rows[0].lowest) == (None, None)
    assert stability(QRELS, [RUNS["run0"]], "RR", [0.9], repeats=1).rows[0].spread == 0


def counts(judgments, kept, low, high=np.inf):
    """How many judgments of a class each query keeps."""
    these = kept & (judgments.grades >= low) & (judgments.grades < high)
    return np.bincount(judgments.query[these], minlength=len(judgments))


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9])
def test_each_query_loses_the_share_of_its_relevant_and_of_its_nonrelevant_documents(fraction):
    judgments = Judgments.read(open_collection("builtin").qrels)
    draw = DESIGNS["per-query"](judgments, Policy())
    chance, everything = np.random.default_rng(0), np.ones(len(judgments.grades), dtype=np.bool_)
    for _ in range(20):
        kept = ~draw(fraction, chance)
        for low, high in ((1, np.inf), (0, 1)):
            before, after = (counts(judgments, which, low, high) for which in (everything, kept))
            assert (after >= np.minimum(before, 1)).all()  # none loses its last one
            assert (after <= np.maximum(np.ceil(before * (1 - fraction)), 1)).all()
            assert (after >= np.floor(before * (1 - fraction))).all()


def test_shares_that_are_not_whole_numbers_hold_in_the_mean():
    judgments = Judgments.read({"q": {f"d{n}": 1 for n in range(7)} | {f"n{n}": 0 for n in range(5)}})
    draw = DESIGNS["per-query"](judgments, Policy())
    chance = np.random.default_rng(0)
    gone = np.array([draw(0.5, chance) for _ in range(4000)])
    assert gone.mean(axis=0) == pytest.approx(np.full(12, 0.5), abs=0.03)  # and every document is removed as often


def test_all_documents_that_were_only_pooled_may_be_removed():
    judgments = Judgments.read({"q": {"a": 1, "b": 0, "c": -1}})
    draw = DESIGNS["per-query"](judgments, Policy())
    assert draw(0.99, np.random.default_rng(0)).tolist() == [False, False, True]


def test_the_uniform_design_draws_from_all_judgments_alike():
    judgments = Judgments.read({str(q): {"a": 1, "b": 0} for q in range(50)})
    gone = DESIGNS["uniform"](judgments, Policy())(0.9, np.random.default_rng(0))
    assert gone.sum() == 90
    assert (counts(judgments, ~gone, 1) == 0).sum() > 30  # most queries keep no relevant document


def test_the_design_is_named_in_the_result():
    found = stability(QRELS, RUNS, "Bpref", [0.9], repeats=3)
    uniform = stability(QRELS, RUNS, "Bpref", [0.9], repeats=3, design="uniform")
    assert (found.design, uniform.design) == ("per-query", "uniform")
    assert found.to_dict()["design"] == "per-query"
    assert found.rows[0].left > uniform.rows[0].left == 0.1 * found.judgments
    with pytest.raises(ComparisonError, match=r"there is no design 'random'.\nHint: designs are per-query, uniform"):
        stability(QRELS, RUNS, "Bpref", design="random")


def test_bpref_changes_less_than_ap_and_precision():
    # Buckley & Voorhees (2004): with fewer judgments bpref changes less than average precision and precision.
    collection = open_collection("builtin")
    system = open_system("sqlite", collection)
    run = {query: dict(system.search(text, 100)) for query, text in collection.queries.items()}
    rows = {row.measure: row for row in stability(collection.qrels, [run], "AP P@10 Bpref", [0.5], repeats=10).rows}
    change = {name: abs(row.mean / row.complete - 1) for name, row in rows.items()}
    assert 3 * change["Bpref"] < 0.15 < min(change["AP"], change["P@10"])


def test_invalid_arguments_are_refused():
    for wrong in ({"fractions": [1.0]}, {"fractions": [-0.1]}, {"repeats": 0}, {"measures": "NumRet"}):
        with pytest.raises(ComparisonError):
            stability(QRELS, RUNS, **{"measures": "RR", **wrong})
    with pytest.raises(ComparisonError, match="no run"):
        stability(QRELS, [], "RR")
    with pytest.raises(MeasureError):
        stability(QRELS, RUNS, "alpha_nDCG@5")
    with pytest.raises(InputError, match="not in the run"):
        stability(QRELS, {"a": {"0": ["r"]}}, "RR", policy=Policy(missing="error"))
    skipping = stability(QRELS, {"a": {"0": ["r"]}}, "RR", [0.0], policy=Policy(missing="skip"))
    assert skipping.rows[0].complete == 1


def test_many_runs_share_what_depends_on_the_judgments_alone(tmp_path):
    """Files are read by several threads, in any order."""
    paths = []
    for name in map(str, range(12)):
        paths.append(tmp_path / name)
        paths[-1].write_text("".join(f"{q} Q0 {d} 1 {-at} r\n" for q in QRELS for at, d in enumerate(QRELS[q])))
    for _ in range(20):
        tables = scanned_runs(Judgments.read(QRELS), paths, Policy(), None, True)
        assert len({id(table.all_judged) for table in tables.values()}) == 1


@pytest.mark.parametrize("measure", CUT, ids=str)
def test_measures_do_not_look_below_their_cutoff(measure):
    """So the rows below need not be thinned."""
    cutoff = cutoff_of(measure)
    chance = np.random.default_rng(3)
    qrels = {q: {d: int(chance.integers(-1, 4)) for d in judged} for q, judged in QRELS.items()}
    for run in RUNS.values():
        table = rank_run(Judgments.read(qrels), open_source(run, "run"), Policy())
        assert measure(table.rows(table.within(cutoff))).tolist() == measure(table).tolist()


@pytest.mark.parametrize(
    ("measure", "policy"),
    [
        *product(["P@2", "nDCG@2", "Judged@2"], [Policy(), Policy(complete=True)]),
        ("P(judged_only=True)@2", Policy()),
    ],
)
def test_measures_with_a_cutoff_agree_with_evaluate(measure, policy):
    [row] = stability(QRELS, RUNS, measure, [0.0], repeats=1, policy=policy).rows
    means = [evaluate(QRELS, run, measure, policy=policy)[measure] for run in RUNS.values()]
    assert row.mean == row.complete == pytest.approx(np.mean(means))


# Measures that infer what was pooled from what was judged.

RANKED = [each for each in VARIANTS if each.definition.aggregate == "mean"]
INFERRING = [each for each in catalogue().values() if each.infers_pooled]


def random_grades(chance):
    return {q: {d: int(chance.integers(-1, 3)) for d in judged} for q, judged in QRELS.items()}


@pytest.mark.parametrize("measure", RANKED, ids=str)
def test_measures_that_infer_what_was_pooled_say_so(measure):
    """Only to them does it make a difference whether a document without a judgment was pooled."""
    chance = np.random.default_rng(2)
    differs = False
    for run in RUNS.values():
        judgments = Judgments.read(random_grades(chance))
        table = rank_run(judgments, open_source(run, "run"), Policy())
        gone = chance.random(len(judgments.grades)) < 0.5
        [fewer], [pooled] = without([table], gone | (judgments.grades < 0)), only_pooled([table], gone)
        differs |= measure(fewer).tolist() != pytest.approx(measure(pooled).tolist())
    assert differs == (measure.definition.infers_pooled and not dict(measure.parameters).get("judged_only"))


@pytest.mark.parametrize("measure", [each.name for each in INFERRING])
def test_removed_judgments_stay_in_the_pool_of_measures_that_infer(measure):
    """The same as evaluating with grade -1 in their place."""
    chance = np.random.default_rng(1)
    qrels = {q: {d: int(chance.integers(-1, 3)) for d in judged} | {"r": 1} for q, judged in QRELS.items()}
    judgments = Judgments.read(qrels)
    found = stability(qrels, RUNS, measure, [0.4], repeats=2, seed=5)
    draw = DESIGNS["per-query"](judgments, Policy())
    generator = np.random.default_rng([5, round(0.4 * 1e9)])
    means = []
    for _ in range(2):
        marked = {q: dict(judged) for q, judged in qrels.items()}
        for row in np.flatnonzero(draw(0.4, generator)).tolist():
            marked[judgments.query_ids[judgments.query[row]]][judgments.document_ids[row]] = -1
        means.append([evaluate(marked, run, measure)[measure] for run in RUNS.values()])
    assert found.rows[0].mean == pytest.approx(np.mean(means))
    assert found.pooled == (measure,)
    assert f"{measure} infers what was pooled from what was judged" in " ".join(stability_text(found).split())


def test_removed_judgments_stay_in_their_strata():
    qrels = {"q": {"top": {"a": 1, "b": 0}, "rest": {"c": 1, "d": 0, "e": -1, "f": 1}}}
    run = {"q": list("abcdefg")}
    found = stability(qrels, {"one": run}, "xinfAP", [0.5], repeats=30, seed=1)
    possible = set()
    for left in product([0, 1], repeat=6):
        if left[0] + left[2] + left[5] in (1, 2) and left[1] + left[3] == 1:
            kept = dict(zip("abcdef", left, strict=True))
            marked = {s: {d: g if kept[d] else -1 for d, g in its.items()} for s, its in qrels["q"].items()}
            possible.add(round(evaluate({"q": marked}, run, "xinfAP")["xinfAP"], 9))
    repeats = [stability(qrels, {"one": run}, "xinfAP", [0.5], repeats=1, seed=s).rows[0].mean for s in range(8)]
    assert {round(mean, 9) for mean in repeats} <= possible
    assert found.rows[0].complete == pytest.approx(evaluate(qrels, run, "xinfAP")["xinfAP"])


def test_inferred_ap_stays_where_ap_falls():
    collection = open_collection("builtin")
    system = open_system("sqlite", collection)
    run = {query: dict(system.search(text, 100)) for query, text in collection.queries.items()}
    rows = {row.measure: row for row in stability(collection.qrels, [run], "AP infAP xinfAP", [0.5], repeats=10).rows}
    change = {name: row.mean / row.complete - 1 for name, row in rows.items()}
    assert change["AP"] < -0.15
    assert abs(change["infAP"]) < 0.04
    assert abs(change["xinfAP"]) < 0.08
