"""If the order of ties decides a value, its range goes from the worst to the best order."""

import json
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import Evaluation, Policy, catalogue
from cranfield.measures import registry
from cranfield.ranks import ranking
from tests import generated
from tests.measures.test_catalogue import OTHERS, VARIANTS, _has

MEASURES = [
    definition(**{name: OTHERS[name][1] for name, default in definition.defaults.items() if not _has(default)})
    for definition in catalogue().values()
    if definition.table == "ranks" and not definition.of_holes
]

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}, "3": {"z": 1}}
TIED = {"1": {"a": 0.5, "b": 0.5, "c": 0.5, "x": 0.5}, "2": {"a": 0.5, "x": 0.5, "b": 0.7}, "3": {"z": 0.1, "y": 0.1}}
UNTIED = {"1": {"a": 0.5, "b": 0.4, "c": 0.3}, "2": {"a": 0.5}, "3": {"z": 0.1}}


@pytest.mark.parametrize("ties", ["doc_id", "smaller_doc_id", "file", "best", "worst"])
@pytest.mark.parametrize("rest", [{}, {"depth": 2}, {"missing": "skip"}])
@settings(max_examples=15, deadline=None)
@given(generated.collections())
def test_the_range_goes_from_the_worst_to_the_best_order(ties, rest, collection):
    qrels, run = collection
    options = {"check_ids": False}
    result = cranfield.evaluate(qrels, run, MEASURES, policy=Policy(ties=ties, **rest), **options)
    worst, best = (
        cranfield.evaluate(qrels, run, MEASURES, policy=Policy(ties=order, **rest), **options)
        for order in ("worst", "best")
    )
    for measure in MEASURES:
        ends = worst[measure], best[measure]
        assert result.tie_range(measure) == (min(ends), max(ends)), measure
        if ties in ("doc_id", "smaller_doc_id"):
            assert (f" {measure} " in result.tie_warning) == (f"{ends[0]:.4f}" != f"{ends[1]:.4f}")


# These do not always reward a better order.
UNBOUNDED = {"infAP", "PairAccuracy", "G", "BPM"}


def bounded(measure):
    chosen = dict(measure.parameters)
    falling = str(chosen.get("gain")) == "{1:3,2:1.5}"
    residual = measure.definition.name == "INST" and chosen.get("view") == "residual"
    above = measure.definition.name == "Q" and (chosen.get("rel", 1) > 1 or "gain" in chosen)
    return measure.definition.name not in UNBOUNDED and not falling and not residual and not above


@pytest.mark.parametrize("seed", range(6))
def test_every_other_order_gives_a_value_between_the_worst_and_the_best(seed):
    """All orders of a tie are tried, also of documents without a judgment."""
    chance = np.random.default_rng(seed)
    measures = [each for each in VARIANTS if bounded(each)]
    names = "abcdef"
    judged = {d: int(chance.integers(-1, 4)) for d in names if chance.random() < 0.6} | {"z": 1}
    shuffled = chance.permutation(list(names)).tolist()
    scores = {d: 5.0 if 1 <= at < 5 else 10.0 - at for at, d in enumerate(shuffled)}
    worst, best = (
        cranfield.evaluate({"q": judged}, {"q": scores}, measures, policy=Policy(ties=ties))
        for ties in ("worst", "best")
    )
    orders = [{**scores, **{d: 5.0 - at / 100 for at, d in enumerate(order)}} for order in permutations(shuffled[1:5])]
    tried = dict(enumerate(orders))
    values = cranfield.evaluate(
        dict.fromkeys(map(str, tried), judged), {str(at): run for at, run in tried.items()}, measures
    )
    for measure in measures:
        low, high = sorted((worst.column(measure)[0], best.column(measure)[0]))
        column = values.column(measure)
        assert low - 1e-9 <= column.min() <= column.max() <= high + 1e-9, measure


def test_the_warning_names_measures_and_their_ranges():
    result = cranfield.evaluate(QRELS, TIED, "RR nDCG@10 Judged@10 P@4")
    assert result.tie_range("RR") == (pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3), pytest.approx((1 + 0.5 + 1) / 3))
    assert result.warnings == (
        "ties matter: RR 0.6111, between 0.3889 (worst order of ties) and 0.8333 (best); "
        "nDCG@10 0.7144, between 0.5495 and 0.8770",
    )
    assert result.tie_range("P@4") == (result["P@4"], result["P@4"])


@pytest.mark.parametrize("ties", ["file", "best", "worst"])
def test_a_chosen_order_of_ties_gives_no_warning(ties):
    result = cranfield.evaluate(QRELS, TIED, "RR", policy=Policy(ties=ties))
    assert result.warnings == ()
    assert result.tie_range("RR") == cranfield.evaluate(QRELS, TIED, "RR").tie_range("RR")


def test_a_run_without_ties_is_measured_once(monkeypatch):
    counted = []
    original = ranking.rank_counted
    monkeypatch.setattr(ranking, "rank_counted", lambda *given: counted.append(given) or original(*given))
    result = cranfield.evaluate(QRELS, UNTIED, "RR AP")
    assert result.warnings == ()
    assert result.tie_range("RR") == (result["RR"], result["RR"])
    assert len(counted) == 1
    tied = cranfield.evaluate(QRELS, TIED, "RR AP")
    assert len(counted) == 2  # until the warnings are read
    assert tied.warnings == tied.warnings
    assert len(counted) == 3  # both orders at once


def test_only_queries_with_ties_are_measured_in_other_orders():
    """A user-defined measure may fail on a query without documents, so it must get only queries with ties."""
    seen = []

    @cranfield.measure("MeanGrade", range=(0.0, float("inf")))
    def mean_grade(judged):
        seen.append(judged.query_ids)
        return judged.sum(judged.grade / judged.rank) / judged.sum(judged.judged)

    try:
        run = UNTIED | {"2": TIED["2"]}
        result = cranfield.evaluate(QRELS, run, "MeanGrade")
        ends = (cranfield.evaluate(QRELS, run, "MeanGrade", policy=Policy(ties=ties)) for ties in ("worst", "best"))
        assert result.tie_range("MeanGrade") == tuple(end["MeanGrade"] for end in ends)
        assert sorted(seen, key=len) == [("2",), ("2",), *[("1", "2", "3")] * 3]
    finally:
        del registry._definitions["MeanGrade"]
        del registry._aliases["meangrade"]


def test_a_tie_cut_off_by_the_depth_has_a_range():
    """At depth 1 only the unjudged document of the tie is left, and the table holds no tie any more."""
    result = cranfield.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0, "b": 1.0}}, "RR", policy=Policy(depth=1))
    assert result.counts.tied == 0
    assert result.tie_range("RR") == (0, 1)


def test_the_best_order_has_the_lowest_value_if_lower_is_better():
    @cranfield.measure("FirstRank", lower_is_better=True, range=(0.0, float("inf")))
    def first_rank(judged, *, rel=1):
        hit = judged.relevant(rel)
        return judged.sum(judged.rank * (hit & (judged.running(hit) == 1)))

    try:
        result = cranfield.evaluate({"1": {"b": 1}}, {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}, "FirstRank")
        assert result.tie_range("FirstRank") == (1, 3)
        assert result.tie_warning == (
            "ties matter: FirstRank 2.0000, between 3.0000 (worst order of ties) and 1.0000 (best)"
        )
    finally:
        del registry._definitions["FirstRank"]
        del registry._aliases["firstrank"]


def test_a_warning_appears_only_where_a_printed_digit_changes():
    run = {str(q): {"a": 1.0, "b": 0.5} for q in range(20_000)} | {"0": {"a": 1.0, "b": 1.0}}
    result = cranfield.evaluate({query: {"a": 1} for query in run}, run, "RR")
    assert result.tie_range("RR") == (0.999975, 1.0)
    assert result.tie_warning == ""  # 1.0000 in both
    result = cranfield.evaluate({query: {"a": 1} for query in list(run)[:2_000]}, run, "RR")
    assert result.tie_warning == "ties matter: RR 0.9998, between 0.9998 (worst order of ties) and 1.0000 (best)"


def test_the_range_is_none_if_it_is_unknown(tmp_path):
    result = cranfield.evaluate(QRELS, TIED, "RR Judged@10")
    assert result.tie_range("Judged@10") is None
    with pytest.raises(KeyError):
        result.tie_range("AP")
    result.save(tmp_path / "saved.json")
    loaded = Evaluation.load(tmp_path / "saved.json")
    assert loaded.tie_range("RR") == result.tie_range("RR")
    assert loaded.tie_range("Judged@10") is None
    assert loaded.warnings == result.warnings
    lengths = dict.fromkeys("abcxyz", 2.0)
    assert cranfield.evaluate(QRELS, TIED, "RR TBG", lengths=lengths).tie_range("TBG") is None
    grouped = {"1": {"s1": {"a": 1}, "s2": {"b": 1}}}
    assert cranfield.evaluate(grouped, {"1": {"a": 1.0, "b": 1.0}}, "StRecall@1").tie_range("StRecall@1") is None


def test_further_measures_have_a_range_too():
    result = cranfield.evaluate(QRELS, TIED, "RR")
    assert "AP" not in result.tie_warning
    assert "; AP 0." in result.extended("AP").tie_warning


def test_the_warning_is_shown_in_every_format(tmp_path):
    from cranfield.evaluation.overview import overview
    from cranfield.show import evaluation_markup as data
    from cranfield.show import evaluation_markup as markup
    from cranfield.show import evaluation_text as text
    from cranfield.show.view import View

    tied, untied = (cranfield.evaluate(QRELS, run, "RR", name=name) for run, name in ((TIED, "t"), (UNTIED, "u")))
    one, two = View(overview([tied])), View(overview([tied, untied]))
    lines = text.table(one).splitlines()
    assert lines[0].split() == ["run", "RR"]
    assert lines[3].startswith("ties matter: RR 0.6111, between 0.3889")
    assert "\nt: ties matter: RR 0.6111, between 0.3889" in text.table(two)
    assert markup.markdown(one).splitlines()[-2:] == ["", tied.tie_warning]
    assert markup.markdown(two).splitlines()[-1] == f"t: {tied.tie_warning}"
    assert markup.latex(one).startswith("% warning: ties matter: RR 0.6111")
    runs = json.loads(data.as_json(two))["runs"]
    assert [run["warnings"] for run in runs] == [[tied.tie_warning], []]


def test_a_lazy_frame_has_tie_ranges_too():
    polars = pytest.importorskip("polars")
    rows = [(q, d, score) for q, ranking in TIED.items() for d, score in ranking.items()]
    frame = polars.LazyFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    result = cranfield.evaluate(QRELS, frame, "RR")
    assert result.tie_range("RR") == cranfield.evaluate(QRELS, TIED, "RR").tie_range("RR")


@st.composite
def files(draw):
    qrels, run = draw(generated.collections())
    return qrels, run, generated.trec_run(run, draw(generated.layouts()))


@settings(max_examples=20, deadline=None)
@given(files())
def test_files_and_dicts_agree(drawn):
    qrels, run, content = drawn
    one, other = (
        cranfield.evaluate(qrels, source, "AP nDCG", check_ids=False) for source in (run, generated.file(content))
    )
    assert one.tie_range("AP") == other.tie_range("AP")
    assert one.tie_warning == other.tie_warning


@pytest.mark.parametrize("ties", ["doc_id", "file", "worst", "best"])
def test_pooled_documents_have_their_place_in_a_tie(ties):
    qrels = {"q": {"a": -1, "b": 0, "c": 0, "d": 0}}
    run = {"q": dict.fromkeys("abcd", 1.0)}
    result = cranfield.evaluate(qrels, run, "NumNonRelRet", policy=Policy(ties=ties, depth=2))
    assert result.tie_range("NumNonRelRet") == (1, 2)
