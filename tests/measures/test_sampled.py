"""Measures of sampled pools: against naive loops, sample_eval's values, and all possible samples."""

import itertools
import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import GroupedJudgments, InputError, Policy, evaluate
from cranfield.io.source import open_source
from cranfield.measures.sampled import precision_sum
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.tables.strata import StratumRanks
from tests import generated, oracle_grouped, oracle_sampled
from tests.measures.test_catalogue import by_name, check_independence, variants

names = by_name(dict.fromkeys(variants("strata")))

# The worked example whose values sample_eval prints.
STRATA = {
    "1": {"a": 2, "b": 0, "c": 1, "d": 1, "x": 0},
    "2": {"e": 0, "f": -1, "g": 1, "h": -1, "y": 0, "z": -1},
}
RUN = {"q": list("abcdefghij")}


@st.composite
def sampled_pools(draw):
    """(qrels, run) with {query: {stratum: {document: grade}}}: every document is in one stratum."""
    documents = draw(st.lists(generated.ids, min_size=1, max_size=10, unique=True))
    queries = draw(st.lists(generated.ids, min_size=1, max_size=4, unique=True))
    qrels = {}
    for query in queries:
        pooled = draw(st.lists(st.sampled_from(documents), min_size=1, unique=True))
        strata = {d: draw(st.sampled_from(["0", "1", "10"])) for d in pooled}
        grades = {d: draw(generated.grades | st.just(-1)) for d in pooled}
        qrels[query] = {s: {d: grades[d] for d in pooled if strata[d] == s} for s in sorted(set(strata.values()))}
    return qrels, draw(generated.runs(queries, documents))


@names
@settings(max_examples=150, deadline=None)
@given(sampled_pools(), st.sampled_from(["doc_id", "smaller_doc_id", "best", "worst"]))
def test_measures_equal_their_oracle(measures, collection, ties):
    qrels, run = collection
    result = evaluate(qrels, run, measures, policy=Policy(ties=ties), check_ids=False)
    for measure in measures:
        expected = oracle_grouped.values(measure, qrels, run, ties)
        assert result.by_query(measure) == pytest.approx(expected, rel=1e-9, abs=1e-12), measure
        low, high = measure.definition.range
        assert all(low <= value <= high + 1e-12 for value in result.column(measure)), measure


@names
@settings(max_examples=20, deadline=None)
@given(sampled_pools(), sampled_pools())
def test_queries_are_independent(measures, one, other):
    check_independence(measures, one, other)


def test_values_match_sample_eval():
    result = evaluate({"q": STRATA}, RUN, "xinfAP infNDCG(fractions=dropped) statAP")
    assert [round(value, 6) for value in result.values()] == [0.711904, 0.911075, 0.711905]
    documents = list("abcdefghij")
    assert oracle_sampled.relevant_documents(STRATA) == 5
    assert round(oracle_sampled.inferred_dcg(documents, STRATA), 6) == 3.597343
    assert round(oracle_sampled.ideal_dcg_of_sample_eval(STRATA), 6) == 3.948459


def test_a_completely_judged_pool_gives_the_ordinary_values():
    strata = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"d": 3, "e": 0, "x": 1}}
    flat = {"q": {d: grade for stratum in strata.values() for d, grade in stratum.items()}}
    found = evaluate({"q": strata}, RUN, "xinfAP infNDCG statAP")
    ap, ndcg = evaluate(flat, RUN, "AP nDCG").values()
    assert list(found.values()) == [pytest.approx(ap, abs=1e-4), pytest.approx(ndcg), pytest.approx(ap)]


@settings(max_examples=100, deadline=None)
@given(generated.collections())
def test_with_one_stratum_xinfap_is_infap(collection):
    qrels, run = collection
    found = evaluate(qrels, run, "infAP xinfAP", check_ids=False)
    # Without judgments above a document, only the smoothing counts: 1/2 in one measure, 1/3 in the other.
    grades = [grade for judged in qrels.values() for grade in judged.values()]
    if min(grades) >= 0:
        assert found["xinfAP"] == pytest.approx(found["infAP"], abs=1e-4)


def estimates(strata, ranking):
    """R̂ and SP̂ as the package computes them."""
    grouped = GroupedJudgments.read({"q": strata})
    judged = rank_run(grouped.flat, open_source({"q": ranking}, "run"), Policy())
    table = StratumRanks.of(grouped, judged)
    return float(table.n_relevant(1)[0]), float(precision_sum(table, 1)[0])


def test_sums_are_unbiased_over_all_samples_and_ratios_are_not():
    """4 of 8 documents are judged: 70 samples. Relevant are those at ranks 1, 3, 4 and 8."""
    ranking = list("abcdefgh")
    true = dict(zip(ranking, (1, 0, 1, 1, 0, 0, 0, 1)))
    samples = [{d: true[d] if d in drawn else -1 for d in ranking} for drawn in itertools.combinations(ranking, 4)]
    assert len(samples) == 70
    found = [estimates({"0": sample}, ranking) for sample in samples]
    assert statistics.mean(r for r, _ in found) == pytest.approx(4)
    assert statistics.mean(sp for _, sp in found) == pytest.approx(2.916667, abs=1e-6)
    ap = evaluate({"q": true}, {"q": ranking}, "AP")["AP"]
    assert ap == pytest.approx(2.916667 / 4, abs=1e-6)
    means = {
        name: statistics.mean(evaluate({"q": each}, {"q": ranking}, name)[name] for each in samples)
        for name in ("statAP", "xinfAP", "infAP")
    }
    rounded = {name: round(mean, 3) for name, mean in means.items()}
    assert rounded == {"statAP": 0.659, "xinfAP": 0.655, "infAP": 0.667}  # and the truth is 0.729


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_are_unbiased_for_a_complete_top_and_a_sampled_rest(seed):
    """All ways to draw 3 of 6 documents below the depth and 2 of 4 below that, with some that no run returned."""
    chance = random.Random(seed)
    true = {f"d{n}": chance.choice([0, 0, 1, 2]) for n in range(14)}
    ranking = chance.sample(sorted(true), 12)
    top, middle, deep = (set(sorted(true)[a:b]) for a, b in ((0, 4), (4, 10), (10, 14)))
    rs, sums = [], []
    for three in itertools.combinations(sorted(middle), 3):
        for two in itertools.combinations(sorted(deep), 2):
            judged = top | set(three) | set(two)
            strata = {
                name: {d: true[d] if d in judged else -1 for d in stratum}
                for name, stratum in (("depth", top), ("middle", middle), ("deep", deep))
            }
            r, sp = estimates(strata, ranking)
            rs.append(r)
            sums.append(sp)
    relevant = [d for d in ranking if true[d] >= 1]
    precisions = [(at + 1) / (ranking.index(d) + 1) for at, d in enumerate(relevant)]
    assert statistics.mean(rs) == pytest.approx(sum(grade >= 1 for grade in true.values()))
    assert statistics.mean(sums) == pytest.approx(sum(precisions))


def test_the_bias_of_the_ratios_shrinks_as_more_is_judged():
    chance = random.Random(5)
    true = {f"d{n:03}": int(chance.random() < 0.6 / (1 + n / 30)) for n in range(200)}
    ranking, top = sorted(true), sorted(true)[:10]
    ap = evaluate({"q": true}, {"q": ranking}, "AP")["AP"]

    def mean_error(count, plain):
        values = []
        for _ in range(150):
            drawn = {*top, *chance.sample(ranking[10:], count)}
            grades = {d: true[d] if d in drawn else -1 for d in ranking}
            strata = {"top": {d: grades[d] for d in top}, "rest": {d: grades[d] for d in ranking[10:]}}
            name = "infAP" if plain else "xinfAP"
            values.append(evaluate({"q": grades if plain else strata}, {"q": ranking}, name)[name])
        return abs(statistics.mean(values) - ap), statistics.stdev(values) / math.sqrt(len(values))

    few, _ = mean_error(40, plain=False)
    many, noise = mean_error(160, plain=False)
    assert many < 3 * noise + 0.01
    # infAP assumes one simple random sample, so the completely judged top raises it.
    plain, _ = mean_error(40, plain=True)
    assert plain > 3 * few


@pytest.mark.parametrize(("rate", "most"), [(0.2, 0.04), (0.5, 0.02)])
def test_counting_fractions_nearly_removes_the_bias_of_inferred_ndcg(rate, most):
    bias, of_sample_eval = inferred_ndcg_bias(rate, top=10, richness=0.1)
    assert abs(bias) < most
    assert of_sample_eval > bias + 0.01


def test_inferred_ndcg_is_too_low_where_few_are_relevant_and_the_first_ranks_are_sampled_as_well():
    few, half = (inferred_ndcg_bias(rate, top=0, richness=0.01)[0] for rate in (0.2, 0.5))
    assert -0.4 < few < -0.1
    assert few < half < 0.02
    assert -0.02 < inferred_ndcg_bias(0.2, top=10, richness=0.01)[0] < 0.06


def inferred_ndcg_bias(rate, top, richness):
    """Of the mean, relative to nDCG, with fractions counted and dropped.

    In pools of about 300 documents, 55 of them relevant with a richness of 0.1, where the first ranks of each ranking
    are judged, and a share of the others.
    """
    chance = np.random.default_rng(0)
    true, sampled, run = {}, {}, {}
    for query in range(40):
        size = int(chance.integers(180, 420))
        quality = chance.normal(size=size)
        relevant = chance.random(size) < np.minimum(richness * np.exp(0.7 * chance.normal() + quality), 0.9)
        grades = np.where(relevant, chance.choice([1, 2, 3], size), 0)
        ranking = np.argsort(-quality - 0.7 * chance.normal(size=size)).tolist()
        names = [f"d{document}" for document in ranking]
        for draw in range(8):
            drawn = {*ranking[:top], *chance.choice(ranking[top:], round(rate * (size - top)), replace=False).tolist()}
            judged = [int(grades[d]) if d in drawn else -1 for d in ranking]
            strata = {"top": dict(zip(names[:top], judged[:top])), "rest": dict(zip(names[top:], judged[top:]))}
            sampled[f"{query} {draw}"], run[f"{query} {draw}"] = strata, names
        true[str(query)], run[str(query)] = dict(zip(names, grades[ranking].tolist())), names
    ndcg = evaluate(true, {query: run[query] for query in true}, "nDCG")["nDCG"]
    found = evaluate(sampled, {query: run[query] for query in sampled}, "infNDCG infNDCG(fractions=dropped)")
    return [value / ndcg - 1 for value in found.values()]


def test_grades_are_sorted_as_numbers():
    strata = {"0": {"a": 10, "b": 2, "c": 1}}
    assert evaluate({"q": strata}, {"q": ["a", "b", "c"]}, "infNDCG")["infNDCG"] == pytest.approx(1)


def test_more_than_1000_relevant_documents_are_no_special_case():
    strata = {"0": {f"d{n}": 1 if n < 2 else -1 for n in range(2002)}}
    found = evaluate({"q": strata}, {"q": ["d0", "d1"]}, "xinfAP statAP")
    assert found["xinfAP"] == pytest.approx(1, abs=1e-4)
    assert oracle_sampled.relevant_documents(strata) == 2002


def test_missing_queries_count_as_0():
    qrels = {"q": STRATA, "p": STRATA}
    assert evaluate(qrels, RUN, "xinfAP")["xinfAP"] == pytest.approx(0.711904 / 2, abs=1e-6)
    skipped = evaluate(qrels, RUN, "xinfAP", policy=Policy(missing="skip"))
    assert skipped["xinfAP"] == pytest.approx(0.711904, abs=1e-6)


def test_a_stratum_without_a_judgment_adds_nothing():
    strata = {"1": {"a": 1, "b": 0}, "2": {"c": -1, "d": -1}}
    found = evaluate({"q": strata}, {"q": ["c", "a", "d"]}, "xinfAP infNDCG statAP")
    assert found["statAP"] == pytest.approx(0.5)
    assert all(math.isfinite(value) for value in found.values())


def test_a_document_in_two_strata_is_an_error():
    with pytest.raises(InputError, match=r"document 'a' of query 'q' is in 2 strata: '1', '2'\.") as caught:
        evaluate({"q": {"1": {"a": 1}, "2": {"a": 0}}}, {"q": ["a"]}, "xinfAP")
    assert "each document is in one stratum" in caught.value.hint


def test_subgroups_are_not_strata():
    rows = [("q", "g", "x", "a", 1), ("q", "g", "y", "b", 2)]
    with pytest.raises(InputError, match="have subgroups, like preferences"):
        evaluate(rows, {"q": ["a"]}, "statAP")


def test_strata_and_subtopics_are_not_measured_together():
    with pytest.raises(cranfield.MeasureError, match=r"xinfAP reads groups as strata, alpha_nDCG as subtopics"):
        evaluate({"q": STRATA}, RUN, "xinfAP alpha_nDCG")


def test_negative_grades_follow_the_policy():
    """If negative grades are judgments, nothing is left to estimate."""
    found = evaluate({"q": STRATA}, RUN, "statAP", policy=Policy(negative="nonrelevant"))
    assert found["statAP"] == pytest.approx(
        evaluate(
            {"q": {d: g for s in STRATA.values() for d, g in s.items()}},
            RUN,
            "AP",
            policy=Policy(negative="nonrelevant"),
        )["AP"]
    )
    assert np.isfinite(found["statAP"])
