"""Measures of judgments with groups: against naive loops, published examples and other tools."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import GroupedJudgments, Policy, catalogue, evaluate, parse_measure
from tests import generated, oracle_grouped
from tests.measures.test_catalogue import by_name, check_independence, variants

# Each measure with its defaults and with other values of each parameter.
names = by_name(dict.fromkeys(variants("subtopics", "preferences", "groups")))
DIVERSITY = [name for name, definition in catalogue().items() if definition.table == "subtopics"]


@st.composite
def grouped_collections(draw, grades=generated.grades):
    """(qrels, run) with {query: {group: {document: grade}}}."""
    documents = draw(st.lists(generated.ids, min_size=1, max_size=8, unique=True))
    queries = draw(st.lists(generated.ids, min_size=1, max_size=4, unique=True))
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    groups = st.lists(st.sampled_from(["0", "1", "2", "10", "é"]), min_size=1, max_size=4, unique=True)
    qrels = {q: {g: {d: draw(grades) for d in draw(some)} for g in draw(groups)} for q in queries}
    return qrels, draw(generated.runs(queries, documents))


@names
@settings(max_examples=40, deadline=None)
@given(grouped_collections(), st.sampled_from(["doc_id", "smaller_doc_id", "best", "worst"]))
def test_measures_equal_their_oracle(measures, collection, ties):
    qrels, run = collection
    result = evaluate(qrels, run, measures, policy=Policy(ties=ties), check_ids=False)
    for measure in measures:
        expected = oracle_grouped.values(measure, qrels, run, ties)
        assert result.by_query(measure) == pytest.approx(expected, abs=1e-12), measure
        total = math.fsum(expected.values())
        mean = total if measure.definition.aggregate == "sum" else total / len(expected)
        assert result[measure] == pytest.approx(mean, abs=1e-12), measure
        low, high = measure.definition.range
        assert all(low <= value <= high + 1e-12 for value in result.column(measure)), measure


def test_a_ranking_better_than_the_greedy_ideal_is_above_1_and_within_the_range():
    """All three documents are about two subtopics; the greedy choice of c first leaves two of them for later."""
    qrels = {"q": {"1": {"a": 1, "c": 1}, "2": {"a": 1}, "3": {"b": 1, "c": 1}, "4": {"b": 1}}}
    found = evaluate(qrels, {"q": ["b", "a"]}, "alpha_nDCG(alpha=1)@2 nERR_IA(alpha=1)@2")
    assert dict(found) == pytest.approx({"alpha_nDCG(alpha=1)@2": 1.2398125, "nERR_IA(alpha=1)@2": 1.2})
    assert all(found.definition(name).range == (0, pytest.approx(1.5819767)) for name in found)
    assert found.bounds("alpha_nDCG(alpha=1)@2").high == found["alpha_nDCG(alpha=1)@2"]  # all judged


@names
@settings(max_examples=8, deadline=None)
@given(grouped_collections(), grouped_collections())
def test_queries_are_independent(measures, one, other):
    check_independence(measures, one, other)


@settings(max_examples=50, deadline=None)
@given(grouped_collections(), st.sampled_from([0.5, 0.3, 0, 1]))
def test_the_ideal_order_has_value_1(collection, alpha):
    qrels, _ = collection
    measures = [f"{name}(alpha={alpha})" for name in ("alpha_nDCG", "nERR_IA", "nNRBP")]
    run = {q: oracle_grouped.greedy_ideal(groups, alpha, 1) or ["x"] for q, groups in qrels.items()}
    result = evaluate(qrels, run, measures, check_ids=False)
    for measure in measures:
        for query, value in result.by_query(measure).items():
            relevant = any(grade >= 1 for judged in qrels[query].values() for grade in judged.values())
            assert value == pytest.approx(float(relevant), abs=1e-12)


@st.composite
def subgroups(draw):
    """(qrels, run) with {query: {(group, subgroup): {document: grade}}}; the subgroups of a group follow one order."""
    some = st.lists(st.sampled_from("abcdefgh"), min_size=2, unique=True)
    qrels = {}
    for query in ("1", "2")[: draw(st.integers(1, 2))]:
        qrels[query] = {}
        for group in ("g", "h")[: draw(st.integers(1, 2))]:
            order = {d: draw(st.sampled_from([0, 0, 0, 1, 2, 3])) for d in "abcdefgh"}
            for subgroup in ("x", "y", "z")[: draw(st.integers(1, 3))]:
                qrels[query][group, subgroup] = {d: order[d] for d in draw(some)}
    return qrels, {query: dict.fromkeys(draw(some), 1.0) for query in (*qrels, "3")}


@settings(max_examples=150, deadline=None)
@given(subgroups())
def test_preferences_of_subgroups(collection):
    qrels, run = collection
    rows = [
        (q, *key, d, grade) for q, groups in qrels.items() for key, its in groups.items() for d, grade in its.items()
    ]
    measures = [name for name, definition in catalogue().items() if definition.table == "preferences"]
    result = evaluate(rows, run, measures, check_ids=False)
    for name in measures:
        expected = oracle_grouped.values(parse_measure(name), qrels, run)
        assert result.by_query(name) == pytest.approx(expected, abs=1e-12), name


def test_preferences_are_transitive():
    rows = [("q", "g", "x", "a", 2), ("q", "g", "x", "b", 1), ("q", "g", "y", "b", 5), ("q", "g", "y", "c", 3)]
    result = evaluate(rows, {"q": ["a", "c"]}, "prefs_num_prefs_poss prefs_num_prefs_ful_ret prefs_simp")
    assert list(result.values()) == [3, 1, 2 / 3]  # a > c although they were never compared; b is not retrieved


@settings(max_examples=60, deadline=None)
@given(grouped_collections(grades=st.integers(0, 2)), st.randoms())
def test_values_match_pyndeval(collection, chance):
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pyndeval")
    qrels, run = collection
    run = {q: dict(zip(r, chance.sample(range(100), len(r)))) for q, r in run.items()}  # it breaks ties differently
    run = {q: {d: float(score) for d, score in r.items()} for q, r in run.items()}
    rows = [
        ir_measures.Qrel(q, d, g, s) for q, groups in qrels.items() for s, j in groups.items() for d, g in j.items()
    ]
    # One by one: it gives 0 for all but the first where the settings of several measures differ.
    for name in ("ERR_IA@5", "nERR_IA@10", "alpha_DCG@5", "alpha_nDCG(alpha=0.3)@5", "alpha_nDCG@20", "P_IA@5"):
        _compare_with_pyndeval(ir_measures, name, name, rows, run, qrels)
    for name in ("StRecall@10", "AP_IA", "P_IA(rel=2)@5", "NRBP(alpha=0.4, beta=0.7)", "nNRBP(alpha=0.4, beta=0.7)"):
        _compare_with_pyndeval(ir_measures, name, name.replace("beta", "p"), rows, run, qrels)


def _compare_with_pyndeval(ir_measures, theirs, ours, rows, run, qrels):
    result = evaluate(rows, run, ours, check_ids=False).by_query(ours)
    scored = [ir_measures.ScoredDoc(q, d, score) for q, ranking in run.items() for d, score in ranking.items()]
    found = {f.query_id: f.value for f in ir_measures.iter_calc([ir_measures.parse_measure(theirs)], rows, scored)}
    assert found.keys() == qrels.keys()
    for query, value in found.items():
        expected = 0 if math.isnan(value) else value  # 0 / 0 where nothing is relevant
        assert result[query] == pytest.approx(expected, abs=1e-6), theirs


def test_values_match_ndeval():
    qrels = [("q1", "s1", "a", 1), ("q1", "s1", "c", 1), ("q1", "s2", "b", 1)]
    expected = {
        "ERR-IA@5": 0.574887,
        "nERR-IA@5": 0.95,
        "alpha-DCG@5": 0.597791,
        "α-nDCG@5": 0.965195,
        "NRBP": 0.5625,
        "nNRBP": 0.923077,
        "MAP-IA": 0.666667,
        "P-IA@5": 0.3,
        "strec@1": 0.5,
    }
    result = evaluate(qrels, {"q1": ["a", "c", "b"]}, list(expected))
    assert dict(zip(expected, result.values())) == pytest.approx(expected, abs=5e-7)


def test_a_query_without_relevant_documents_has_value_0():
    """ndeval divides 0 by 0 for nNRBP here, and its mean is not a number either."""
    names = [name if "cutoff" not in catalogue()[name].kinds else f"{name}@5" for name in DIVERSITY]
    result = evaluate({"q": {"s": {"a": 0}}, "r": {"s": {"a": 1}}}, {"q": ["a"], "r": ["a"]}, names)
    assert {result.by_query(name)["q"] for name in names} == {0.0}
    assert result["nNRBP"] == 0.5


def test_ties_of_preferences_as_in_trec_eval():
    qrels, run = {"q1": {"a": 1, "b": 0, "c": 0}}, {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert evaluate(qrels, run, "prefs_simp", policy=Policy(ties="smaller_doc_id"))["prefs_simp"] == 1
    assert evaluate(qrels, run, "prefs_simp")["prefs_simp"] == 0


def test_thirteen_preferences():
    rows = [("q", "g", d, grade) for d, grade in zip("abcdef", (3, 2, 0, 6, 0, 2))]
    result = evaluate(rows, {"q": list("dabfce")}, "prefs_num_prefs_poss prefs_num_prefs_ful prefs_simp")
    assert list(result.values()) == [13, 13, 1]


def test_measures_of_all_tables_at_once():
    qrels = {"q1": {"s1": {"a": 1}, "s2": {"b": 2, "c": 0}}, "q2": {"s1": {"a": 1}}}
    run = {"q1": ["c", "b"], "q2": ["a"]}
    together = evaluate(qrels, run, "AP StRecall@2 prefs_simp P_avgjg@1")
    flat = GroupedJudgments.read(qrels).flat
    assert together["AP"] == evaluate(flat, run, "AP")["AP"] == 0.625
    assert [together[name] for name in ("StRecall@2", "prefs_simp", "P_avgjg@1")] == [0.75, 0, 0.5]
    assert together.counts == evaluate(flat, run, "AP").counts


def test_several_runs_share_the_same_judgments(tmp_path):
    (tmp_path / "qrels").write_text("q s1 a 1\nq s2 b 1\nq s2 a 1\n")
    results = cranfield.evaluate_runs(tmp_path / "qrels", {"one": {"q": ["a"]}, "two": {"q": ["b"]}}, "StRecall@1")
    assert {name: result["StRecall@1"] for name, result in results.items()} == {"one": 1, "two": 0.5}


def test_rounding_does_not_break_ties_between_equal_gains():
    # After d, c and e add the same three numbers in another order; e has the larger id.
    covers = {"0": "cde", "1": "abde", "2": "cd", "3": "abce", "4": "ad"}
    qrels = {"q": {subtopic: dict.fromkeys(documents, 1) for subtopic, documents in covers.items()}}
    measure = "alpha_nDCG(alpha=0.6)"
    assert evaluate(qrels, {"q": list("decab")}, measure)[measure] == pytest.approx(1, abs=1e-12)
    assert evaluate(qrels, {"q": list("dcaeb")}, measure)[measure] == pytest.approx(1.0027844)


@pytest.mark.parametrize("alpha", [0, 0.001, 0.5, 0.9, 1])
def test_large_cutoffs_sum_all_ranks_that_count(alpha):
    chance = [(1 - alpha) ** above for above in range(100_000)]
    found = evaluate(
        {"q": {"1": {"d": 1}}}, {"q": ["d"]}, [f"{name}(alpha={alpha})@100000" for name in ("alpha_DCG", "ERR_IA")]
    )
    best = [
        math.fsum(each / by(at + 1) for at, each in enumerate(chance)) for by in (lambda i: math.log2(i + 1), float)
    ]
    assert list(found.values()) == pytest.approx([1 / each for each in best], rel=1e-12)
