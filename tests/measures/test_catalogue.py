"""Every measure of the registry, through the same properties."""

import math
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import JudgedRanks, Policy, catalogue, parse_measure
from cranfield.evaluation import values
from cranfield.measures.scope import last_rank
from tests import generated, oracle, oracle_gains, oracle_grouped, oracle_lists, oracle_passages, oracle_searches

# Every measure with its defaults, and with other values of each parameter.
OTHERS = {
    "cutoff": (1, 3, 100),
    "rel": (0, 2, 1.5),
    "beta": (0.5, 2),
    "gain": ("exponential", "binary", {1: 3, 2: 1.5}, {0: 0.25, 1.5: 7, 3: 9}),
    "discount": ("late",),
    "judged_only": (True,),
    "base": (10, 1.5),
    "denominator": ("min", "found", "k"),
    "short": ("returned",),
    "ideal": ("uncut", "returned", "retrieved", "full"),
    "rule": ("trec9", "trec10"),
    "recall": (0, 0.3, 0.5, 1),
    "multiple": (0.3, 2),
    "points": (3, 21),
    "p": (0.5, 0.95),
    "max_grade": (1, 4, 2.5),
    "variant": ("2004",),
    "fractions": ("dropped",),
    "tail": ("unjudged",),
    "documents": (50, 100),
    "T": (0.5, 3),
    "h": (1, 3.5),
    "L": (2, 7.5),
    "view": ("total", "depth", "residual"),
    "normalize": (False,),
    "depth": (1, 3, "rankings"),
    "a": (2,),
    "b": (-0.5,),
    "c": (-1,),
    "d": (0.25,),
    "alpha": (0, 0.3, 1),
    "budget": (1, 7, 1000),
    "unit": ("words", "tokens"),
    "fit": ("cut",),
    "calls": (1, 2, 9),
    "call": (1, 2, 9),
    "again": ("free",),
    "similarity": ("jaccard", "hamming"),
    "scale": ("share",),
}


def variants(*tables):
    for definition in catalogue().values():
        if definition.table not in tables:
            continue
        required = {name: OTHERS[name][1] for name, default in definition.defaults.items() if not _has(default)}
        yield definition(**required)
        for name in definition.defaults:
            for value in OTHERS[name]:
                yield definition(**{**required, name: value})


def _has(default):
    return default is None or isinstance(default, int | float | str)


def by_name(measures):
    """Parametrize by measure: a test tries all its variants on the same examples, which are made only once."""
    of_one = [list(group) for _, group in groupby(measures, key=lambda measure: measure.definition.name)]
    return pytest.mark.parametrize("measures", of_one, ids=lambda measures: measures[0].definition.name)


def check_independence(measures, one, other):
    """The values of the queries of two collections are the same in a collection of both."""
    qrels = {f"a{q}": judged for q, judged in one[0].items()} | {f"b{q}": judged for q, judged in other[0].items()}
    run = {f"a{q}": ranking for q, ranking in one[1].items()} | {f"b{q}": ranking for q, ranking in other[1].items()}
    together = cranfield.evaluate(qrels, run, measures, check_ids=False)
    for letter, (its_qrels, its_run) in (("a", one), ("b", other)):
        alone = cranfield.evaluate(its_qrels, its_run, measures, check_ids=False)
        for measure in measures:
            values = together.by_query(measure)
            assert {q: values[letter + q] for q in its_qrels} == alone.by_query(measure), measure.name


# Measures of judgments with groups have their own file, test_grouped.py.
VARIANTS = list(dict.fromkeys(variants("ranks")))
names = by_name(VARIANTS)


def approx(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def is_utility(measure):
    """Whether the value says how good the ranking is."""
    return dict(measure.parameters).get("view", "utility") == "utility"


def test_every_measure_has_an_oracle():
    loops = (oracle, oracle_grouped, oracle_passages, oracle_searches, oracle_lists)
    families = [module.ORACLES for module in loops]
    assert sorted(catalogue()) == sorted(name for known in families for name in known)


def test_every_measure_has_a_summary_and_a_formula():
    for name, definition in catalogue().items():
        assert definition.summary.endswith("."), name
        assert " = " in definition.formula, name


@names
@settings(max_examples=25, deadline=None)
@given(generated.collections(), st.sampled_from(["doc_id", "smaller_doc_id", "best", "worst"]))
def test_measures_equal_their_oracle(measures, collection, ties):
    qrels, run = collection
    result = cranfield.evaluate(qrels, run, measures, policy=cranfield.Policy(ties=ties), check_ids=False)
    for measure in measures:
        expected = oracle.values(measure, qrels, run, ties)
        assert result.by_query(measure) == approx(expected), measure.name
        mean = math.fsum(expected.values()) / (1 if measure.definition.aggregate == "sum" else len(expected))
        if measure.definition.aggregate == "geometric":
            mean = math.exp(math.fsum(math.log(max(value, 1e-5)) for value in expected.values()) / len(expected))
        assert result[measure] == approx(mean), measure.name
        if is_utility(measure):
            low, high = measure.definition.range
            assert all(low <= value <= high + 1e-12 for value in result.column(measure)), measure.name


@names
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_the_ideal_order_is_best(measures, grades):
    for measure in filter(is_utility, measures):
        gain = dict(measure.parameters).get("gain", "linear")
        if not isinstance(gain, str) and measure.definition.name == "Q":
            continue  # with these gains, relevant documents need not have the highest gains
        ideal = sorted(grades, key=lambda grade: oracle_gains.gain_of(grade, gain), reverse=True)
        value, best = cranfield.value(measure, grades), cranfield.value(measure, ideal)
        if measure.definition.lower_is_better:
            value, best = -value, -best
        assert value <= best + 1e-12, measure.name


@names
@settings(max_examples=8, deadline=None)
@given(generated.collections(), generated.collections())
def test_queries_are_independent(measures, one, other):
    check_independence(measures, one, other)


@names
@settings(max_examples=8, deadline=None)
@given(generated.collections(), st.booleans())
def test_documents_below_the_cutoff_make_no_difference(measures, collection, complete):
    """Long tables are shortened for measures with a cutoff."""
    qrels, run = collection
    table = cranfield.evaluate(qrels, run, "P@1", policy=Policy(complete=complete), check_ids=False).ranks
    for measure in measures:
        cutoff = last_rank(measure)
        if cutoff is not None and measure.definition.table == "ranks":
            near = table.rows(table.within(cutoff))
            assert measure(near).tolist() == measure(table).tolist(), measure.name


@pytest.mark.parametrize(("long", "shortened"), [(2, [2, 1, 3]), (3, [2, 3])])
def test_a_long_table_is_shortened(monkeypatch, long, shortened):
    seen = []
    rows = JudgedRanks.rows
    monkeypatch.setattr(values, "LONG", long)
    monkeypatch.setattr(JudgedRanks, "rows", lambda table, kept: seen.append(int(kept.sum())) or rows(table, kept))
    qrels = {"1": {"a": 1, "b": 0, "c": 2}}
    result = cranfield.evaluate(qrels, {"1": ["a", "b", "c"]}, "P@1 R@1 nDCG@2 AP RR P(judged_only=True)@1")
    # Cut at 2, then at 1 if 2 rows are still long, then without unjudged documents.
    assert [each for each in seen if each] == shortened
    assert result["nDCG@2"] == cranfield.evaluate(qrels, {"1": ["a", "b"]}, "nDCG@2")["nDCG@2"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-1, 3)), max_size=10), st.lists(st.integers(-1, 3), max_size=5))
def test_value_of_plain_grades(grades, missed):
    judged = [grade for grade in grades if grade is not None] + missed
    for measure in VARIANTS:
        expected = oracle.value(measure, grades, judged)
        assert cranfield.value(measure, grades, missed) == approx(expected), measure.name


def test_a_user_defined_measure():
    from cranfield.measures import registry

    @cranfield.measure("Deepest", aliases=("deepest_hit",))
    def deepest(judged: JudgedRanks, *, rel: float = 1, bonus: float = 0):
        """Rank of the deepest relevant document.

        Deepest = max i
        """
        import numpy as np

        ranks = np.zeros(len(judged))
        np.maximum.at(ranks, judged.query, judged.relevant(rel) * judged.rank)
        return ranks + bonus

    try:
        assert cranfield.value("deepest_hit(bonus=0.5)", [1, 0, 1, 0]) == 3.5
        assert parse_measure("Deepest(bonus=0.5)").name == "Deepest(bonus=0.5)"
    finally:
        del registry._definitions["Deepest"]
