"""Every value is a finite number, or an error that names the measure; never a warning, which would fail here too."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import MeasureError, catalogue
from cranfield.measures import registry

GRADES = (0, 1, 5e-324, 1e-300, 1000, 2000, 1e16, 1e154, 1e308, -1, -1e308)
SMALL, LARGE = 5e-324, 1e308
# The smallest and largest values of each parameter.
EXTREMES = {
    "cutoff": (1, 1000, 10**7),
    "rel": (0, SMALL, 1e16, LARGE),
    "beta": (SMALL, 1e-160, 1e100),
    "gain": ("linear", "exponential", {0: -LARGE, 1: LARGE}, {1: SMALL, 1000: -LARGE}),
    "discount": ("all", "late"),
    "judged_only": (False, True),
    "base": (1 + 2**-52, 1e16, LARGE),
    "denominator": ("R", "min", "found", "k"),
    "short": ("filled", "returned"),
    "ideal": ("judged", "uncut", "returned", "retrieved", "full"),
    "rule": ("ceiling", "trec9", "trec10"),
    "recall": (0, SMALL, 1),
    "multiple": (SMALL, 1e16, LARGE),
    "points": (2, 101),
    "p": (SMALL, 0.5, 1 - 2**-53),
    "max_grade": (SMALL, 1, 1023, 1024, LARGE, "query"),
    "variant": ("trec", "2004"),
    "fractions": ("counted", "dropped"),
    "tail": ("always", "unjudged"),
    "documents": (1, 10**15),
    **dict.fromkeys(("T", "h", "L"), (SMALL, 1e16, LARGE)),
    "view": ("utility", "total", "depth", "residual"),
    "normalize": (True, False),
    "depth": (1, 1000, "rankings"),
    **dict.fromkeys("abcd", (-LARGE, SMALL, LARGE)),
    "alpha": (0, SMALL, 1),
    "budget": (1, 10**15),
    "unit": ("characters", "words", "tokens"),
    "fit": ("whole", "cut"),
    "calls": (1, 10**15),
    "call": (1, 10**15),
    "again": ("paid", "free"),
    "similarity": ("cosine", "jaccard", "hamming"),
    "scale": ("count", "share"),
}


@st.composite
def measures(draw, name):
    definition = catalogue()[name]
    chosen = {}
    for parameter, default in definition.defaults.items():
        if default is registry.REQUIRED or draw(st.integers(0, 2)) == 0:
            chosen[parameter] = draw(st.sampled_from(EXTREMES[parameter]))
    return definition(**chosen)


@st.composite
def collections(draw, table):
    documents = [f"d{number}" for number in range(6)]
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    grade = st.sampled_from(GRADES)
    qrels, run = {}, {}
    for query in "12":
        judged = [{d: draw(grade) for d in draw(some)} for _ in range(2)]
        if table == "strata":  # in which a document appears once
            judged[1] = {d: grade for d, grade in judged[1].items() if d not in judged[0]}
        qrels[query] = judged[0] if table in ("ranks", "searches", "lists") else {"one": judged[0], "two": judged[1]}
        run[query] = {d: draw(st.sampled_from([1.0, 2.0, 3.0])) for d in draw(some)}
    return qrels, run


def of_chunks(qrels, run):
    """The same with a passage for each grade of a document, and a chunk for each document."""
    passages = [
        (query, document, 3 * number, 3 * number + 5, grade)
        for query, groups in qrels.items()
        for number, judged in enumerate(groups.values())
        for document, grade in judged.items()
    ]
    chunks = {f"d{number}": (f"d{number}", 2, 9) for number in range(6)}
    texts = {f"d{number}": "a b c d e f" for number in range(6)}
    located = cranfield.Chunks.read(chunks, texts, tokens=str.split)
    return cranfield.PassageJudgments.read(passages), cranfield.ChunkRun(run, located)


def inputs(table, qrels, run):
    """Judgments and a run of the kind that a table is made of."""
    if table == "passages":
        return of_chunks(qrels, run)
    if table == "searches":
        return qrels, cranfield.read_searches({query: [ranking, ranking] for query, ranking in run.items()})
    if table == "lists":
        features = {f"d{number}": [number, LARGE / 1e200] for number in range(6)}
        return qrels, cranfield.RecommenderRun(run, [("1", item) for item in features], features=features)
    return qrels, run


@pytest.mark.parametrize("name", catalogue())
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_every_value_is_finite_or_an_error_that_names_the_measure(name, data):
    measure = data.draw(measures(name))
    table = measure.definition.table
    qrels, run = data.draw(collections(table))
    fault, values = "", []
    try:
        result = cranfield.evaluate(*inputs(table, qrels, run), measure)
        values = [*result.column(measure).tolist(), result[measure]]
        if not measure.definition.of_run:
            values += result.by_segment(measure, {"1": "a"}).values()
    except MeasureError as error:
        fault = str(error)
    assert measure.name in fault or (values and all(map(math.isfinite, values)))


GRADE_2000 = {"7": {"a": 2000, "b": 1}, "8": {"a": 1}}


def test_the_error_names_measure_query_and_cause():
    with pytest.raises(MeasureError) as error:
        cranfield.evaluate(GRADE_2000, {"7": ["a"], "8": ["a"]}, "AP nDCG(gain=exponential)@10")
    assert error.value.fact == (
        "nDCG(gain=exponential)@10 of query '7' is not a finite number: grade 2000 has a gain beyond the range of "
        "floating point."
    )
    assert error.value.hint.startswith("use smaller grades")


@pytest.mark.parametrize(
    ("measure", "grades", "cause"),
    [
        ("G", [1e308, 1e308, 1e308], "grade 1e+308 is too large to calculate with"),
        ("Q", [1e308, 1e308], "grade 1e+308 is too large to calculate with"),
        ("CG", [1e308, 1e308], "grade 1e+308 is too large to calculate with"),
        ("ERR(max_grade=query)", [2000], "grade 2000 is too large to calculate with"),
        ("Utility(a=1e308)", [1, 1], "a=1e+308 leads beyond the range of floating point"),
        ("CG(gain={1:1e308})", [1, 1], "gain={1:1e+308} leads beyond the range of floating point"),
    ],
)
def test_the_error_names_the_cause(measure, grades, cause):
    with pytest.raises(MeasureError, match="is not a finite number") as error:
        cranfield.value(measure, grades)
    assert cause in str(error.value)
    with pytest.raises(MeasureError, match="is not a finite number"):
        cranfield.explain_grades(grades, measure)


@pytest.mark.parametrize("measure", ["nDCG", "nDCGrel", "RnDCG", "Q", "G"])
def test_an_overflowing_ideal_ranking_is_an_error(measure):
    """Only the sum of the ideal ranking overflows, so the value must not become 0."""
    with pytest.raises(MeasureError, match=r"grade 1e\+308 is too large"):
        cranfield.value(measure, [None, 1e308], missed=[1e308] * 3)


def test_further_measures_are_checked_too():
    result = cranfield.evaluate(GRADE_2000, {"7": ["a"], "8": ["a"]}, "AP")
    with pytest.raises(MeasureError, match=r"nDCG\(gain=exponential\) of query '7' is not a finite number"):
        result.extended("nDCG(gain=exponential)")


def test_bounds_that_overflow_are_an_error():
    result = cranfield.evaluate({"1": {"a": 1, "b": 2000}}, {"1": ["a", "x"]}, "CG(gain=exponential)")
    assert result["CG(gain=exponential)"] == 1
    with pytest.raises(MeasureError, match="grade 2000 has a gain beyond the range"):
        result.bounds("CG(gain=exponential)")


@pytest.mark.parametrize(
    ("returned", "fact"),
    [
        (
            lambda judged: np.full(len(judged), np.nan),
            "Odd of query '1' is not a finite number: its function returned nan",
        ),
        (lambda judged: np.zeros(0) / 1, r"Odd gave values of the shape \(0,\) for 1 queries"),
        (lambda judged: 0.5, r"Odd gave values of the shape \(\) for 1 queries"),
        (lambda judged: None, "Odd"),
        (lambda judged: "good", "Odd gave 'good' in place of a value for each query"),
        (lambda judged: [[1], [1, 2]], "Odd gave .* in place of a value for each query"),
        (lambda judged: np.ones(1) * (1 // 0), "the measure Odd failed: ZeroDivisionError: integer division"),
    ],
)
def test_bad_values_of_a_user_defined_measure_are_an_error(returned, fact):
    cranfield.measure("Odd")(returned)
    try:
        with pytest.raises(MeasureError, match=fact):
            cranfield.evaluate({"1": {"a": 1}}, {"1": ["a"]}, "Odd")
    finally:
        del registry._definitions["Odd"]
        del registry._aliases["odd"]
