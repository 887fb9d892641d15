"""The native part refuses arguments with wrong lengths, places and objects, and names them."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import cranfield.native
from cranfield import InputError, Judgments, Policy
from cranfield.io.formats.trec import TREC_RUN
from cranfield.io.shapes import Rankings
from cranfield.native import TWINS, native, native_layout
from cranfield.ranks.scan.memory import scan_rankings
from tests.generated import scan_with

pytestmark = pytest.mark.skipif(native is None, reason="the native scan is not built")

JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"12": 1}}
LINES = b"q1 Q0 a 1 2.5 t\nq1 Q0 c 2 1.5 t\nq2 Q0 12 1 1 t\n"


def bytes_of(text):
    return np.frombuffer(text, np.uint8)


def whole(*numbers):
    return np.array(numbers, np.int64)


def layout(**changes):
    return native_layout(TREC_RUN._replace(**changes))


def index(queries=b"q1q2", query_offsets=(0, 2, 4), documents=b"ab12", document_offsets=(0, 1, 2, 4), first=(0, 2, 3)):
    return native.Index(
        bytes_of(queries), whole(*query_offsets), bytes_of(documents), whole(*document_offsets), whole(*first)
    )


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("query", {"query": 20}),
        ("query", {"query": -1}),
        ("document", {"document": 6}),
        ("value", {"value": 1000}),
        ("rank", {"rank": 6}),
        ("rank", {"rank": -2}),
        ("rank", {"rank": 4}),
        ("value", {"value": 2}),
        ("least", {"least": 0}),
        ("most", {"most": 5}),
        ("most", {"most": -1}),
        ("separator", {"separator": "::"}),
        ("separator", {"separator": "é"}),
    ],
)
def test_bad_layouts_are_refused(argument, changes):
    with pytest.raises((ValueError, IndexError), match=f"^{argument}: "):
        layout(**changes)


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("query_offsets", {"query_offsets": ()}),
        ("query_offsets", {"query_offsets": (0, 2, 5)}),
        ("query_offsets", {"query_offsets": (-1, 2, 4)}),
        ("document_offsets", {"document_offsets": ()}),
        ("document_offsets", {"document_offsets": (0, 2, 1, 4)}),
        ("document_offsets", {"document_offsets": (0, 1, 2, 1 << 62)}),
        ("first", {"first": ()}),
        ("first", {"first": (0, 3)}),
        ("first", {"first": (0, 2, 4)}),
        ("first", {"first": (0, 3, 2)}),
        ("first", {"first": (-1, 2, 3)}),
    ],
)
def test_bad_indexes_are_refused(argument, changes):
    with pytest.raises(ValueError, match=f"^{argument}: "):
        index(**changes)


def frame(query=("q1", "q1", "q2"), document=("a", "c", "12"), score=(2.5, 1.5, 1.0), threads=1):
    given = [np.array(each, object) if isinstance(each, tuple) else each for each in (query, document)]
    score = np.array(score, np.float64) if isinstance(score, tuple) else score
    return native.scan_frame(*given, score, False, index(), 0, threads, 2)


def read_before():
    stream = pytest.importorskip("pyarrow").chunked_array([["a", "c", "12"]]).__arrow_c_stream__()
    frame(document=stream)
    return stream


def capsule():
    """The capsule of a schema, which is not a stream."""
    return pytest.importorskip("pyarrow").array([1]).__arrow_c_array__()[0]


@pytest.mark.parametrize("threads", [0, 1, 2, 9])
def test_any_number_of_threads_scans_a_frame(threads):
    queries, sizes, others, (row, above, *_), codes = frame(threads=threads)
    assert (queries.tolist(), sizes.tolist(), others.tolist()) == ([0, 1], [2, 1], [])
    assert (row.tolist(), above.tolist()) == ([0, 2], [0, 0])
    assert codes.tolist() == native.codes(["a", "c", "12"]).tolist()
    queries, sizes, others, (row, *_), codes = frame(
        query=("q2", "other", "q1"), document=("12", "b", "a"), threads=threads
    )
    assert (queries.tolist(), sizes.tolist(), len(others), row.tolist()) == ([0, 1], [1, 1], 1, [0, 2])
    queries, sizes, again, *_ = frame(query=("other", "other", "q2"), threads=threads)
    assert (queries.tolist(), sizes.tolist(), again.tolist()) == ([1], [1], others.tolist())
    assert codes.tolist() == native.codes(["a", "12"]).tolist()


@pytest.mark.parametrize(
    ("problem", "changes"),
    [
        ("document: there must be as many", {"query": ("q1", "q2")}),
        ("score: there must be as many", {"score": (1.0, 2.0)}),
        ("column: it must have one dimension", {"score": np.zeros((3, 1))}),
        ("column: this stream has been read before", {"document": read_before}),
        ("incorrect name", {"document": capsule}),
        ("incompatible function arguments", {"query": None}),
        ("bytes-like object", {"query": 7}),
        ("contiguous", {"score": np.zeros(6)[::2]}),
    ],
)
def test_bad_columns_are_refused(problem, changes):
    changes = {name: each() if callable(each) else each for name, each in changes.items()}
    with pytest.raises((ValueError, TypeError, BufferError), match=problem):
        frame(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"query": ("q1", None, "q2")},
        {"query": ("q1", "q1", 2)},
        {"document": ("a", "", "12")},
        {"document": ("a", b"c", "12")},
        {"document": ("a", "\ud800", "12")},
        {"document": np.array([1.5, 2.5, 3.5])},
        {"document": ("c", "c", "12")},
        {"score": (1.0, float("nan"), 1.0)},
        {"score": (1.0, float("-inf"), 1.0)},
        {"score": np.array([1, 2**60, 1])},
        {"score": np.array([True, False, True])},
        {"score": np.array([1.0, 2.0, 3.0], ">f8")},
    ],
)
def test_unusual_columns_are_left_to_the_twin(changes):
    assert frame(**changes) is None


def dicts(run=None, places=None, judged=None, first=(0, 2, 3), threads=2):
    run = {"q1": {"a": 2.5, "c": 1.5}, "q2": {"12": 1.0}} if run is None else run
    places = {"q1": 0, "q2": 1} if places is None else places
    judged = ["a", "b", "12"] if judged is None else judged
    return native.scan_dicts(run, places, judged, whole(*first), False, threads)


@pytest.mark.parametrize(
    ("argument", "changes"),
    [
        ("places", {"places": {"q1": 2}}),
        ("places", {"places": {"q1": -1}}),
        ("places", {"places": {"q1": "0"}}),
        ("judged", {"judged": ["a", 7, "12"]}),
        ("first", {"first": ()}),
        ("first", {"first": (0, 2, 4)}),
        ("first", {"first": (0, 2, 1)}),
        ("first", {"first": (-2, 2, 3)}),
    ],
)
def test_bad_arguments_for_dicts_are_refused(argument, changes):
    for threads in (0, 1, 10**9):
        retrieved, extra, (row, *_), odd = dicts(threads=threads)
        assert (retrieved.tolist(), extra, sorted(row), odd) == ([2, 1], 0, [0, 2], [])  # in any order
    with pytest.raises((ValueError, IndexError, TypeError), match=f"^{argument}: "):
        dicts(**changes)
    with pytest.raises(OverflowError):
        dicts(places={"q1": 1 << 70})


class Treacherous:
    """A key with the hash of a judged document that acts when the two are compared."""

    def __init__(self, document, act):
        self.document, self.act = document, act

    def __hash__(self):
        return hash(self.document)

    def __eq__(self, other):
        self.act()
        return False


@pytest.mark.parametrize("queries", [2, 200])  # with 200, several threads count
@pytest.mark.parametrize("act", ["empty the ranking", "empty the run", "grow the ranking", "drop the judged", "raise"])
def test_a_key_that_changes_the_run_when_it_is_compared(act, queries):
    judged = [f"document {number}" for number in range(queries)]
    run = {}

    def change():
        ranking = run.get("q0", {})
        if act == "empty the ranking":
            ranking.clear()
        elif act == "empty the run":
            run.clear()
        elif act == "grow the ranking":
            ranking.update((f"other {number}", 1.0) for number in range(len(ranking), len(ranking) + 50))
        elif act == "drop the judged":
            judged[:] = [None] * len(judged)
        else:
            raise KeyError("no comparison")

    for query in range(queries):
        run[f"q{query}"] = {"x": 1.0, Treacherous(f"document {query}", change): 2.0, "y": 3.0}
    places = {query: number for number, query in enumerate(run)}
    try:
        retrieved, extra, found, odd = dicts(run, places, judged, range(queries + 1), threads=4 if queries > 100 else 1)
    except KeyError:
        assert act == "raise"
    except TypeError:
        assert act == "drop the judged"
    else:
        assert act not in ("raise", "drop the judged")
        assert (len(retrieved), extra, len(found[0])) == (queries, 0, 0)
        assert all(type(ranking) is dict for _, ranking in odd)


def test_a_ranking_that_grows_during_the_scan_is_read_by_the_twin():
    ranking = {"a": 1.0}
    ranking[Treacherous("b", lambda: ranking.update({"c": 3.0}))] = 2.0
    _, _, found, odd = dicts({"q1": ranking})
    assert (len(found[0]), odd) == (0, [("q1", ranking)])
    with scan_with(native), pytest.raises(InputError, match="is not an id"):
        scan_rankings(Rankings("the run", {"q1": ranking}), Judgments.read(JUDGED), Policy())


@pytest.mark.parametrize("number", [0, 7, 12, 10**18, 10**19 - 1])
def test_rankings_with_numeric_ids_of_judged_documents_are_left_to_the_twin(number):
    run = {"q1": {"x": 2.0, number: 1.0}}
    for text, known in ((str(number), True), (f"0{number}", False), (f"{number}0" * 19, False), ("٧", False)):
        *_, odd = dicts(run, judged=[text, "b", "12"])
        assert odd == (list(run.items()) if known else [])


@pytest.mark.parametrize(
    "judged",
    [
        {"10": {"a": 1, "b": -1}, "9": {"c": 0.5, "é": -0.0}, "2": {}},
        {"q": {"a": 10**400}},
        {"q": {"a": 12345}},
        {"q": {"a": True}},
        {"q": {"a": np.float64(2)}},
        {"q": {"a": float("nan")}},
        {"q": {"a": "1"}},
        {"q": {"a": -1}},
        {"q": {"a": 1, 5: 2, "5": 3}},
        {"q": {"": 1}},
        {"": {"a": 1}},
        {"q": {"\ud800": 1}},
        {7: {"a": 1}, "8": {"a": 1}},
        {"q": ["a", "b"]},
        {"q": {}},
        {},
    ],
    ids=repr,
)
def test_native_and_python_read_the_same_judgments(judged, monkeypatch):
    def outcome():
        try:
            read = Judgments.read(judged)
        except InputError as error:
            return str(error)
        return read.by_query, read.query_ids, read.document_ids, read.first.tolist(), read.sha256

    found = outcome()
    monkeypatch.setattr("cranfield.ranks.judgments.native", None)
    assert found == outcome()


def test_bad_arguments_of_other_functions_are_refused():
    block, values = bytes_of(LINES), np.array([1.0, 2.0, 3.0])
    for ties in (-1, 3):
        with pytest.raises(IndexError, match=r"^ties: "):
            native.first_of_text(block, layout(), index(), 1, ties, False)
        with pytest.raises(IndexError, match=r"^ties: "):
            native.scan_text(block, layout(), index(), ties, False, 1)
        with pytest.raises(IndexError, match=r"^ties: "):
            native.scan_frame(np.array(["q1"], object), np.array(["a"], object), values[:1], False, index(), ties, 1, 1)
    with pytest.raises(TypeError, match="incompatible"):
        native.scan_text(block, layout(), index(), 0, False, -1)
    for line, count, argument in ((1, 0, "count"), (1, -1, "count"), (1, 1 << 40, "count"), (-1, 2, "line")):
        with pytest.raises(ValueError, match=f"^{argument}: "):
            native.partition(block, layout(), line, count)
    with pytest.raises(ValueError, match=r"^line: "):
        native.partition(block, layout(), 2**63 - 1, 2)
    with pytest.raises(ValueError, match=r"^values: "):
        native.largest_differences(np.zeros((3, 0)), 1, 0, 5)
    with pytest.raises(ValueError, match=r"^last: "):
        native.largest_differences(np.zeros((3, 2)), 1, 5, 0)
    for query in (whole(0, 0), whole(0, 0, 0, 0)):
        with pytest.raises(ValueError, match=r"^query: "):
            native.add_up(values, query)
    with pytest.raises(TypeError):  # only a copy would be added up
        native.add_up(np.array([1, 2, 3], np.int32), whole(0, 0, 0))
    assert values.tolist() == [1.0, 2.0, 3.0]


def test_the_stub_declares_everything_in_the_module():
    # Types are checked against the stub, which is never imported and can only be read.
    stub = ast.parse((Path(cranfield.native.__file__).parent / "_native.pyi").read_text())
    named = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public = {name for name in vars(native) if not name.startswith("_")}
    assert set(named) == public
    for name, node in named.items():
        thing = getattr(native, name)
        if isinstance(node, ast.ClassDef):
            (node,) = node.body
            thing = thing.__init__
        parameters = [each.arg for each in node.args.posonlyargs if each.arg != "self"]
        assert len(parameters) == len(re.findall(r"\barg\d*: ", thing.__nb_signature__[0][0])), name


def test_every_native_function_has_a_twin():
    functions = {name for name, thing in vars(native).items() if callable(thing) and not inspect.isclass(thing)}
    assert set(TWINS) == functions
    for name, place in TWINS.items():
        module, _, function = place.partition(":")
        twin = getattr(import_module(module), function)
        assert inspect.isfunction(twin), name
        assert twin.__module__ == module, name
