"""A run and judgments with no id in common are an error; with few, they are a warning."""

import io
import json
from functools import partial

import polars
import pyarrow
import pytest

import cranfield
from cranfield import Evaluation, InputError, Judgments, Policy
from tests import generated

QRELS = {str(q): {"1": 1, "2": 0, "3": 2, "4": 1} for q in range(1, 7)}
SAME = {str(q): {"1": 0.5, "9": 0.4} for q in range(1, 7)}
OTHER_QUERIES = {f"q{q}": {"1": 0.5} for q in range(1, 7)}
OTHER_DOCUMENTS = {str(q): {f"doc-{d}": -float(d) for d in range(1, 6)} for q in range(1, 7)}

NO_QUERY = "no query of the run is judged: run: 'q1', 'q2', 'q3'; judgments: '1', '2', '3'."
NO_DOCUMENT = (
    "no judged document is retrieved for any of the 6 queries that run and judgments share: "
    "run: 'doc-1', 'doc-2', 'doc-3'; judgments: '1', '2', '3'."
)
PROBLEMS = {NO_QUERY: OTHER_QUERIES, NO_DOCUMENT: OTHER_DOCUMENTS}


def file_of(run):
    lines = [(q, "Q0", d, "0", f"{score}", "x") for q, ranking in run.items() for d, score in ranking.items()]
    return io.BytesIO("".join(" ".join(line) + "\n" for line in lines).encode())


def columns(run):
    rows = [(q, d, score) for q, ranking in run.items() for d, score in ranking.items()]
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


SHAPES = {
    "a file": file_of,
    "a JSON file": lambda run: io.BytesIO(json.dumps(run).encode()),
    "a dict": lambda run: run,
    "lists": lambda run: {query: list(ranking) for query, ranking in run.items()},
    "rows": lambda run: list(zip(*columns(run).values(), strict=True)),
    "a frame": lambda run: polars.DataFrame(columns(run)),
    "Arrow": lambda run: pyarrow.table(columns(run)),
    "a lazy frame": lambda run: polars.LazyFrame(columns(run)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fact", PROBLEMS)
def test_nothing_in_common_is_an_error(shape, fact):
    with pytest.raises(InputError) as error:
        cranfield.evaluate(QRELS, SHAPES[shape](PROBLEMS[fact]), "AP")
    assert error.value.fact.endswith(f": {fact}")
    assert "check_ids=False" in error.value.hint
    result = cranfield.evaluate(QRELS, SHAPES[shape](PROBLEMS[fact]), "AP", check_ids=False)
    assert result["AP"] == 0
    assert result.warnings == (fact.removesuffix("."),)
    assert cranfield.evaluate(QRELS, SHAPES[shape](SAME), "AP").warnings == ()


def test_the_pure_scan_raises_the_same_error():
    for fact, run in PROBLEMS.items():
        with generated.scan_with(None), pytest.raises(InputError) as error:
            cranfield.evaluate(QRELS, file_of(run), "AP")
        assert error.value.fact == f"an open file: {fact}"


def test_few_queries_are_checked_in_files_but_not_in_memory():
    for count in (1, 4):
        few = dict(list(OTHER_DOCUMENTS.items())[:count])
        judged = dict(list(QRELS.items())[:count])
        assert cranfield.evaluate(judged, few, "AP").warnings == ()
        assert cranfield.evaluate(judged, polars.DataFrame(columns(few)), "AP")["AP"] == 0
        with pytest.raises(InputError, match="no judged document is retrieved for"):
            cranfield.evaluate(judged, file_of(few), "AP")
    with pytest.raises(InputError, match="no judged document is retrieved for any of the 5 queries"):
        cranfield.evaluate(QRELS, dict(list(OTHER_DOCUMENTS.items())[:5]), "AP")
    with pytest.raises(InputError, match="no query of the run is judged: run: 'q1'; judgments: '1'"):
        cranfield.evaluate({"1": {"a": 1}}, {"q1": ["a"]}, "AP")


def test_one_common_document_is_enough():
    run = {**OTHER_DOCUMENTS, "6": {"2": 1.0}}
    assert cranfield.evaluate(QRELS, file_of(run), "AP")["AP"] == 0
    pooled = {query: {"doc-1": -1} for query in QRELS}
    assert cranfield.evaluate(pooled, file_of(OTHER_DOCUMENTS), "AP")["AP"] == 0


def test_a_judged_document_below_the_depth_is_retrieved():
    run = {query: {**ranking, "1": -99.0} for query, ranking in OTHER_DOCUMENTS.items()}
    assert cranfield.evaluate(QRELS, file_of(run), "AP", policy=Policy(depth=2))["AP"] == 0


def test_rankings_without_a_document_have_no_ids_to_compare():
    assert cranfield.evaluate(QRELS, {query: [] for query in QRELS}, "AP")["AP"] == 0


def test_long_ids_are_shortened_in_errors():
    with pytest.raises(InputError) as error:
        cranfield.evaluate({"1" * 1000: {"a": 1}}, {"2" * 1000: ["a"]}, "AP")
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("engine", [None, "polars"])
@pytest.mark.parametrize("fact", PROBLEMS)
def test_lazy_evaluations_check_ids_too(tmp_path, engine, fact):
    frame = polars.DataFrame(columns(PROBLEMS[fact]))
    frame.write_parquet(tmp_path / "run.parquet")
    run = frame.lazy() if engine is None else str(tmp_path / "run.parquet")
    with pytest.raises(InputError) as error:
        cranfield.evaluate_lazily(QRELS, run, "AP", engine=engine)
    assert fact in error.value.fact
    result = cranfield.evaluate_lazily(QRELS, run, "AP", engine=engine, check_ids=False)
    assert result.warnings == (fact.removesuffix("."),)
    assert result.to_dict()["warnings"] == list(result.warnings)


@pytest.mark.parametrize("fact", PROBLEMS)
def test_every_function_that_takes_runs_checks_ids(tmp_path, fact):
    good, other = tmp_path / "good.run", tmp_path / "other.run"
    good.write_bytes(file_of(SAME).read())
    other.write_bytes(file_of(PROBLEMS[fact]).read())
    calls = (
        partial(cranfield.evaluate_runs, QRELS, [good, other], "AP"),
        partial(cranfield.compare, QRELS, [good, other], "AP"),
        partial(cranfield.gate, QRELS, good, other, "AP"),
        partial(cranfield.stability, QRELS, [good, other], "AP", repeats=1),
        partial(cranfield.draw_chart, "distribution", QRELS, [other], "AP"),
        partial(cranfield.write_report, QRELS, [good, other], tmp_path / "page.html", "AP", charts=False),
    )
    for call in calls:
        with pytest.raises(InputError, match=r"other\.run: no (query|judged document)"):
            call()
        call(check_ids=False)


def test_fewer_than_half_of_the_queries_give_a_warning():
    for count, warned in ((1, True), (2, True), (3, False), (6, False)):
        run = dict(list(SAME.items())[:count])
        expected = (
            f"only {count} of the 6 judged queries {'is' if count == 1 else 'are'} in the run; the others count 0"
        )
        assert cranfield.evaluate(QRELS, run, "AP").warnings == ((expected,) if warned else ())
        assert cranfield.evaluate(QRELS, run, "AP", policy=Policy(missing="skip")).warnings == ()
        lazy = cranfield.evaluate_lazily(QRELS, polars.LazyFrame(columns(run)), "AP")
        assert lazy.warnings == ((expected,) if warned else ())


@pytest.mark.parametrize(("hits", "depth", "warned"), [(1, 10, True), (2, 10, True), (3, 10, False), (1, 9, False)])
def test_few_queries_with_a_judged_document_give_a_warning(hits, depth, warned):
    qrels = {str(q): {"good": 1} for q in range(30)}
    run = {str(q): [*(f"d{d}" for d in range(depth - 1)), "good" if q < hits else "other"] for q in range(30)}
    expected = (
        f"a judged document is retrieved for only {hits} of the 30 queries with 10 documents or more; "
        "are document ids written differently?"
    )
    assert cranfield.evaluate(qrels, run, "AP").warnings == ((expected,) if warned else ())


def test_warnings_are_shown_everywhere(tmp_path):
    result = cranfield.evaluate(QRELS, dict(list(SAME.items())[:2]), "AP", name="half")
    [warning] = result.warnings
    assert str(result).splitlines()[1] == f"warning: {warning}"
    assert f"warning: {warning}" in result._repr_html_()
    assert result.to_dict()["warnings"] == [warning]
    result.save(tmp_path / "saved.json")
    assert Evaluation.load(tmp_path / "saved.json").warnings == (warning,)
    assert result.extended("P@1").warnings == (warning,)
    cranfield.write_report(Judgments.read(QRELS), {"half": result}, tmp_path / "page.html", charts=False)
    assert f"Warning: {warning}." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_errors_show_three_documents_of_several_queries():
    judged = {f"q{n}": {f"d{n}": 1} for n in range(1, 7)}
    run = {f"q{n}": [f"doc-{n}"] for n in range(1, 7)}
    with pytest.raises(InputError, match=r"run: 'doc-1', 'doc-2', 'doc-3'; judgments: 'd1', 'd2', 'd3'\."):
        cranfield.evaluate(judged, run, "AP")
