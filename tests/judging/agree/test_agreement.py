"""Agreement: published examples, naive loops, and values that cannot be computed."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import InputError, agreement, evaluate, kendall_tau, open_store
from cranfield.judging.agree.statistics import kappa_of_distances, krippendorff_alpha, weighted_kappa
from tests import program
from tests.judging.agree import oracle_agreement as oracle

KAPPAS, ALPHAS = list(oracle.DISTANCES), ["nominal alpha", "ordinal alpha", "interval alpha"]
KRIPPENDORFF = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}


def rows_of(columns):
    return [
        ("q", f"u{unit}", name, int(grade))
        for name, grades in columns.items()
        for unit, grade in enumerate(grades)
        if grade != "."
    ]


def test_the_example_of_krippendorff():
    found = agreement(rows_of(KRIPPENDORFF)).statistics
    assert found["nominal alpha"].value == pytest.approx(0.743421, abs=5e-7)
    assert found["ordinal alpha"].value == pytest.approx(0.815388, abs=5e-7)
    assert found["interval alpha"].value == pytest.approx(0.849107, abs=5e-7)


def test_the_example_of_cohen():
    table = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]], dtype=float)
    weights = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]], dtype=float)
    assert weighted_kappa(table, np.arange(3.0)) == pytest.approx(0.491525, abs=5e-7)
    assert kappa_of_distances(table, weights) == pytest.approx(0.347826, abs=5e-7)
    assert weighted_kappa(table, np.arange(3.0), "quadratic kappa") == pytest.approx(0.454545, abs=5e-7)


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ([[5, 8, 1, 2], [3, 11, 7, 0], [1, 9, 12, 4], [0, 2, 6, 9]], [0.267306, 0.413456, 0.536856]),
        ([[118, 5], [2, 0]], [-0.023392]),
    ],
)
def test_tables_of_two_assessors(table, values):
    rows = []
    for one, counts in enumerate(table):
        for other, count in enumerate(counts):
            for _ in range(count):
                rows += [("q", str(len(rows) // 2), "ann", one), ("q", str(len(rows) // 2), "bob", other)]
    found = agreement(rows)
    assert found.pairs[0].table == tuple(map(tuple, table))
    for form, value in zip(KAPPAS, values):
        assert found.statistics[form].value == pytest.approx(value, abs=5e-7)
        assert found.pairs[0].statistics[form].value == pytest.approx(value, abs=5e-7)


def test_unused_grades_count_in_the_distance_between_grades():
    # If the grades 0, 1, 3 counted as 0, 1, 2, the value would be different.
    one, other = [0, 0, 1, 3, 3, 3], [0, 1, 1, 3, 1, 0]
    found = agreement({"ann": {"q": dict(zip("abcdef", one))}, "bob": {"q": dict(zip("abcdef", other))}})
    expected = oracle.kappa(list(zip(one, other)), oracle.DISTANCES["quadratic kappa"])
    assert found.statistics["quadratic kappa"].value == pytest.approx(expected)


GRADES = st.sampled_from([0, 1, 2, 3, 0.5])
TABLES = st.dictionaries(
    st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.sampled_from("abcde")),
    st.dictionaries(st.sampled_from(["ann", "bob", "cid"]), GRADES, min_size=1),
    min_size=1,
)


@settings(max_examples=150, deadline=None)
@given(TABLES)
def test_every_statistic_is_that_of_the_naive_loop(table):
    rows = [(q, d, who, grade) for (q, d), grades in table.items() for who, grade in grades.items()]
    units = [list(grades.values()) for grades in table.values()]
    if len({row[2] for row in rows}) < 2 or not any(len(unit) > 1 for unit in units):
        with pytest.raises(InputError):
            agreement(rows, draws=1)
        return
    found = agreement(rows, draws=3)
    same = pytest.approx
    assert found.statistics["agreement"].value == same(oracle.agreed(units))
    for level in ALPHAS:
        expected = oracle.alpha(units, level)
        assert found.statistics[level].value == (None if expected is None else same(expected, abs=1e-9))
    of_pairs = {form: [] for form in KAPPAS}
    for pair in found.pairs:
        one, other = pair.assessors
        both = [(g[one], g[other]) for g in table.values() if one in g and other in g]
        assert pair.documents == len(both)
        assert sum(map(sum, pair.table)) == len(both)
        for form in KAPPAS:
            expected = oracle.kappa(both, oracle.DISTANCES[form])
            assert pair.statistics[form].value == (None if expected is None else same(expected, abs=1e-9))
            of_pairs[form] += [] if expected is None else [expected]
        for level in ALPHAS:
            expected = oracle.alpha([list(each) for each in both], level)
            assert pair.statistics[level].value == (None if expected is None else same(expected, abs=1e-9))
        for grade, each in pair.by_grade.items():
            given_it = sum((a == grade) + (b == grade) for a, b in both)
            expected = 2 * sum(a == b == grade for a, b in both) / given_it if given_it else None
            assert each.value == (None if expected is None else same(expected))
    for form, values in of_pairs.items():
        expected = sum(values) / len(values) if values else None
        assert found.statistics[form].value == (None if expected is None else same(expected, abs=1e-9))
    for query, each in found.by_query.items():
        own = [list(grades.values()) for (q, _), grades in table.items() if q == query]
        assert each.agreement == same(oracle.agreed(own))
        assert each.documents == sum(len(unit) > 1 for unit in own)


def test_intervals_draw_queries_and_pool_their_documents():
    generator = np.random.default_rng(3)
    tables = {"ann": {}, "bob": {}}
    for query in range(12):
        for document in range(1 + query):
            one = int(generator.integers(0, 3))
            other = one if generator.random() < 0.6 else int(generator.integers(0, 3))
            tables["ann"].setdefault(f"q{query:02}", {})[f"d{document}"] = one
            tables["bob"].setdefault(f"q{query:02}", {})[f"d{document}"] = other
    found = agreement(tables, draws=1500, seed=1)
    queries = list(tables["ann"])
    pairs = {q: [(tables["ann"][q][d], tables["bob"][q][d]) for d in tables["ann"][q]] for q in queries}
    drawn = []
    for _ in range(1500):
        chosen = generator.integers(0, 12, 12)
        values = np.array([pair for at in chosen for pair in pairs[queries[at]]])
        table = np.zeros((3, 3))
        np.add.at(table, (values[:, 0], values[:, 1]), 1)
        drawn.append(float(weighted_kappa(table, np.arange(3.0))))
    low, high = np.percentile(drawn, [2.5, 97.5])
    interval = found.statistics["kappa"]
    assert interval.low == pytest.approx(low, abs=0.04)
    assert interval.high == pytest.approx(high, abs=0.04)
    assert interval.low < interval.value < interval.high
    assert agreement(tables, draws=1500, seed=1).statistics == found.statistics


def assessed(chance, queries, documents=8):
    """Rows of two assessors, who agree on some queries more than on others."""
    for query in range(queries):
        slips = chance.beta(1, 4)
        for document, grade in enumerate(chance.choice(4, documents, p=[0.5, 0.25, 0.15, 0.1]).tolist()):
            for name in ("ann", "bob"):
                given = grade if chance.random() > slips else int(chance.integers(0, 4))
                yield f"q{query}", f"d{document}", name, given


@pytest.mark.parametrize(("queries", "least"), [(5, 0.86), (20, 0.91)])
def test_intervals_hold_for_other_queries(queries, least):
    chance, times = np.random.default_rng(queries), 120
    truth, held = agreement(list(assessed(chance, 2000)), draws=1).statistics, []
    for seed in range(times):
        found = agreement(list(assessed(chance, queries)), draws=400, seed=seed).statistics
        held.append([found[name].low <= truth[name].value <= found[name].high for name in ("kappa", "ordinal alpha")])
    assert np.mean(held) > least


def test_draws_without_a_value_are_counted():
    same = {f"q{n}": {"d": 1} for n in range(4)}
    found = agreement({"ann": {**same, "x": {"d": 0}, "y": {"d": 1}}, "bob": {**same, "x": {"d": 0}, "y": {"d": 0}}})
    kappa = found.statistics["kappa"]
    assert kappa.low < kappa.value < kappa.high
    assert 0.06 < kappa.undefined / 2000 < 0.12  # (4/6)^6 of the draws hold only ones, and (1/6)^6 only zeros


def test_perfect_agreement_has_no_interval():
    """That five documents are judged alike does not make it certain that all others are."""
    both = {f"q{n}": {"d": int(n > 0)} for n in range(5)}
    kappa = agreement({"ann": both, "bob": both}).statistics["kappa"]
    assert (kappa.value, kappa.low, kappa.high) == (1.0, None, None)
    assert kappa.reason == "an interval needs queries that differ"


@pytest.mark.parametrize(
    ("ann", "bob", "kappa", "alpha", "reason"),
    [
        ([1, 1], [1, 1], None, None, "all grades are the same"),
        ([1, 1], [1, 0], 0.0, 0.0, ""),  # ann gives one grade throughout
        ([1], [0], 0.0, 0.0, ""),
        ([1], [1], None, None, "all grades are the same"),
    ],
)
def test_kappa_and_alpha_of_degenerate_tables(ann, bob, kappa, alpha, reason):
    found = agreement({"ann": {"q": dict(zip("ab", ann))}, "bob": {"q": dict(zip("ab", bob))}}).statistics
    assert found["kappa"].value == kappa
    assert found["nominal alpha"].value == alpha == oracle.alpha([list(pair) for pair in zip(ann, bob)], ALPHAS[0])
    assert found["kappa"].reason == (reason or "an interval needs two queries")
    assert found["agreement"].value == sum(a == b for a, b in zip(ann, bob)) / len(ann)
    assert found["agreement"].low is None


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ({"ann": {"q": {"a": 1}}, "bob": {"q": {"b": 1}}}, "no document was judged by two assessors"),
        ({"ann": {"q": {"a": 1}}}, "there is only one assessor to compare, ann"),
        ([], "nobody has judged anything"),
        ([("q", "d", "ann")], "is not a judgment"),
        ([("q", "d", "ann", 1), ("q", "d", "ann", 2)], "'ann' judges document 'd' twice"),
        ([("q", "d", "ann", "x")], "'x' is not a grade"),
    ],
)
def test_judgments_that_cannot_be_compared_are_refused(judgments, message):
    with pytest.raises(InputError, match=message):
        agreement(judgments)


def test_a_pair_without_a_common_document_has_a_reason():
    found = agreement({"ann": {"q": {"a": 1, "b": 0}}, "bob": {"q": {"a": 1}}, "cid": {"q": {"b": 1}}})
    [pair] = [pair for pair in found.pairs if pair.assessors == ("bob", "cid")]
    assert pair.documents == 0
    assert pair.statistics["kappa"] == (None, None, None, 0, "no document was judged by both")
    assert "no document was judged by both" in str(found)


def test_too_many_different_grades_are_refused():
    rows = [(f"q{n}", "d", who, n + at / 2) for n in range(1000) for at, who in enumerate(["ann", "bob"])]
    with pytest.raises(InputError, match="2,000 different grades"):
        agreement(rows)


def test_the_worst_are_the_furthest_apart():
    ann = {"q1": {"a": 0, "b": 3, "c": 1}, "q2": {"a": 1}}
    bob = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 3}}
    found = agreement({"ann": ann, "bob": bob}, worst=2)
    assert [(item.query_id, item.doc_id) for item in found.worst] == [("q1", "b"), ("q2", "a")]
    assert found.worst[0].grades == {"ann": 3.0, "bob": 0.0}


def test_many_matrices_at_once_are_the_same_as_one_by_one():
    generator = np.random.default_rng(0)
    matrices = generator.integers(0, 9, (20, 4, 4)).astype(float)
    matrices += matrices.transpose(0, 2, 1)
    grades = np.array([0.0, 1.0, 2.0, 5.0])
    for level in ALPHAS:
        together = krippendorff_alpha(matrices, grades, level)
        assert together == pytest.approx([float(krippendorff_alpha(each, grades, level)) for each in matrices])


@pytest.fixture
def judged(where):
    with open_store(where, create=True) as store:
        for query in ("q1", "q2", "q3"):
            for document, one, other in [("a", 2, 2), ("b", 0, 0), ("c", 1, 3), ("d", 0, 1)]:
                store.judge(query, document, one, assessor="ann")
                store.judge(query, document, other, assessor="bob")
                store.judge(query, document, 3, assessor="gpt", kind="model")
        store.judge("q1", "c", 2, assessor="eve", adjudicates=True)
        store.judge("q1", "d", None, assessor="cid")
    return where


def test_a_store_provides_grades_without_adjudications(judged):
    with open_store(judged) as store:
        found = agreement(store)
        assert found == agreement(judged)
        assert found.assessors == ("ann", "bob")
        assert found.documents == 12
        assert found.worst[0].grades == {"ann": 1.0, "bob": 3.0}
        assert agreement(store, ["ann", "gpt"], kinds=["person", "model"]).assessors == ("ann", "gpt")
        with pytest.raises(InputError, match="there is no assessor 'zoe'"):
            agreement(store, ["ann", "zoe"])


def test_the_order_of_runs_is_compared_between_assessors(tmp_path):
    ann = {"q1": {"a": 2, "b": 0, "c": 1, "own": 3}, "q2": {"a": 0, "b": 1, "c": 0}}
    bob = {"q1": {"a": 0, "b": 2, "c": 1}, "q2": {"a": 1, "b": 0, "c": 0}}
    runs = {
        "x": {"q1": ["a", "b", "c"], "q2": ["b", "a", "c"]},
        "y": {"q1": ["b", "a", "c"], "q2": ["a", "b", "c"]},
        "z": {"q1": ["c", "a", "b"], "q2": ["c", "b", "a"]},
    }
    found = agreement({"ann": ann, "bob": bob}, runs=runs, measure="AP")
    order = found.pairs[0].order
    shared = {query: {d: ann[query][d] for d in bob[query]} for query in bob}  # what both judged
    for run in runs:
        assert order.means[run] == (evaluate(shared, runs[run], "AP")["AP"], evaluate(bob, runs[run], "AP")["AP"])
    one, other = ({run: means[at] for run, means in order.means.items()} for at in (0, 1))
    assert order.tau == pytest.approx(kendall_tau(one, other))

    def rank(values, run):
        return 1 + sum(value > values[run] for value in values.values())

    moves = {run: abs(rank(one, run) - rank(other, run)) for run in runs}
    assert order.moved[1] == max(moves.values()) == moves[order.moved[0]] > 0
    assert "The order of 3 runs by AP" in str(found)
    assert json.loads(found.to_json())["pairs"][0]["order"]["measure"] == "AP"
    same = agreement({"ann": bob, "bob": bob}, runs=runs, measure="AP").pairs[0].order
    assert (same.tau, same.moved[1]) == (1.0, 0)
    assert agreement({"ann": ann, "bob": bob}).pairs[0].order is None


def run(*arguments):
    return program.run("agreement", *arguments)


def test_the_command(judged, tmp_path):
    done = run(judged)
    assert done.returncode == 0, done.stderr
    assert "2 assessors judged the same 12 documents of 3 queries." in done.stdout
    assert "Grades of ann (rows) and bob (columns)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    content = json.loads(run(judged, "--format", "json", "--disagreements", "1").stdout)
    assert content["statistics"]["agreement"]["value"] == 0.5
    assert len(content["worst"]) == 1
    (tmp_path / "x.run").write_text(
        "".join(f"{q} Q0 {d} 1 {n} x\n" for q in ("q1", "q2") for n, d in enumerate("abcd"))
    )
    (tmp_path / "y.run").write_text(
        "".join(f"{q} Q0 {d} 1 {n} y\n" for q in ("q1", "q2") for n, d in enumerate("dcba"))
    )
    assert "The order of 2 runs by AP" in run(judged, tmp_path / "x.run", tmp_path / "y.run", "-m", "AP").stdout
    failed = run("nothing.db")
    assert failed.returncode != 0
    assert failed.stderr.startswith("cranfield: nothing.db: there is no such store.\nHint: ")


def test_judgments_of_other_kinds_are_mentioned(tmp_path):
    with open_store(tmp_path / "j.db", create=True) as store:
        store.judge("q1", "a", 1, assessor="ann")
        store.judge("q1", "a", 1, assessor="small", kind="model")
    done = run(tmp_path / "j.db")
    assert "there is only one assessor to compare, ann.\nHint: there are some of the kind model: add --kind model" in (
        done.stderr
    )
    assert run(tmp_path / "j.db", "--kind", "person", "--kind", "model").returncode == 0


def test_the_texts_of_queries_are_shown(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({"q1": "red shoes", "q2": ""})
        for assessor, grade in (("ann", 0), ("bob", 2)):
            for query in ("q1", "q2"):
                store.judge(query, "d", grade, assessor=assessor)
        found = agreement(store)
    assert found.texts == {"q1": "red shoes"}
    assert str(found).count("q1 (red shoes)") == 2  # by query, and furthest apart
    assert found.to_dict()["texts"] == {"q1": "red shoes"}
    assert agreement({"ann": {"q1": {"d": 0}}, "bob": {"q1": {"d": 1}}}).texts == {}
