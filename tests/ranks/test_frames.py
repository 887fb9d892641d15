"""Frames of all kinds: reading in place, converting and dicts give the same result."""

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import CranfieldError, InputError, Judgments, Policy
from cranfield.io.source import open_source
from cranfield.native import native
from cranfield.ranks import judgments as judgments_module
from cranfield.ranks.ranking import scan_source
from tests import generated
from tests.generated import scan_with
from tests.program import printed

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
narwhals = pytest.importorskip("narwhals")

compiled = pytest.mark.skipif(native is None, reason="the native scan is not built")
NAMES = ("query_id", "doc_id", "score")
IDS = NAMES[:2]


class OnlyAStream:
    """A frame of an unknown library that supports Arrow streams."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def columns(rows):
    return {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}


def arrow(rows, kind, score=pyarrow.float64()):  # noqa: B008
    types = dict(zip(NAMES, (kind, kind, score), strict=True))
    return pyarrow.table({name: pyarrow.array(values, types[name]) for name, values in columns(rows).items()})


def cut(column, chance):
    """The same column in chunks of its own, some of them slices of longer ones, some empty."""
    places = sorted(chance.choices(range(len(column) + 1), k=3))
    pieces = []
    for start, stop in zip([0, *places], [*places, len(column)], strict=True):
        piece = column.slice(start, stop - start).combine_chunks()
        piece = piece if isinstance(piece, pyarrow.Array) else pyarrow.array([], column.type)
        around = pyarrow.concat_arrays([column.slice(0, 1).chunk(0), piece, column.slice(0, 1).chunk(0)])
        pieces.append(around.slice(1, len(piece)))
    return pyarrow.chunked_array(pieces, column.type)


def chunked(rows, chance, kind):
    whole = arrow(rows, kind)
    return pyarrow.table({name: cut(whole.column(name), chance) for name in NAMES})


def encoded(rows, index):
    return arrow([rows[0], *rows, rows[0]], pyarrow.dictionary(index, pyarrow.string())).slice(1, len(rows))


def sliced(frame_of, rows):
    return frame_of([rows[0], *rows, rows[0]])[1:-1]


def strided(rows, chance):
    """Objects that are not next to each other: the columns of a matrix that is stored by rows."""
    matrix = np.array([[query, document, float(score)] for query, document, score in rows], dtype=object)
    return pandas.DataFrame(matrix, columns=NAMES).astype({"score": float})


def polars_in_chunks(rows, chance):
    place = chance.randint(0, len(rows))
    schema = {"query_id": polars.String, "doc_id": polars.String, "score": polars.Float64}
    parts = [polars.DataFrame(columns(part), schema=schema) for part in (rows[:place], rows[place:])]
    return polars.concat(parts, rechunk=False)


def long_ids(frame):
    """Ids that do not fit the sixteen bytes of a view."""
    return frame.with_columns(
        *(polars.concat_str(polars.lit("a prefix of many letters "), name).alias(name) for name in IDS)
    )


# Each makes a frame from rows (query, document, score). Frames in AS_THEY_ARE are never converted.
AS_THEY_ARE = {
    "pandas": lambda rows, chance: pandas.DataFrame(columns(rows)),
    "pandas, a slice": lambda rows, chance: sliced(lambda more: pandas.DataFrame(columns(more)), rows),
    "pandas, categories": lambda rows, chance: pandas.DataFrame(columns(rows)).astype(dict.fromkeys(IDS, "category")),
    "pandas, every other row": lambda rows, chance: pandas.DataFrame(
        columns([each for row in rows for each in (row, ("x", "y", 0.0))])
    )[::2],
    "polars": lambda rows, chance: polars.DataFrame(columns(rows)),
    "polars, in chunks": polars_in_chunks,
    "polars, a slice": lambda rows, chance: sliced(lambda more: polars.DataFrame(columns(more)), rows),
    "polars, categories": lambda rows, chance: polars.DataFrame(columns(rows)).cast(
        dict.fromkeys(IDS, polars.Categorical)
    ),
    "arrow": lambda rows, chance: arrow(rows, pyarrow.string()),
    "arrow, large": lambda rows, chance: arrow(rows, pyarrow.large_string()),
    "arrow, views": lambda rows, chance: arrow(rows, pyarrow.string_view()),
    "arrow, in chunks": lambda rows, chance: chunked(rows, chance, pyarrow.string()),
    "arrow, large, in chunks": lambda rows, chance: chunked(rows, chance, pyarrow.large_string()),
    "arrow, dictionaries": lambda rows, chance: encoded(rows, pyarrow.int32()),
    "arrow, small dictionaries": lambda rows, chance: encoded(rows, pyarrow.uint8()),
    "arrow, a stream": lambda rows, chance: OnlyAStream(chunked(rows, chance, pyarrow.string())),
    "narwhals": lambda rows, chance: narwhals.from_native(polars.DataFrame(columns(rows))),
}
CONVERTED = {
    "pandas, objects": lambda rows, chance: pandas.DataFrame(columns(rows)).astype(dict.fromkeys(IDS, object)),
    "pandas, strided objects": strided,
    "arrow, bytes": lambda rows, chance: arrow([(q.encode(), d.encode(), s) for q, d, s in rows], pyarrow.binary()),
    "arrow, half of a batch": lambda rows, chance: arrow(rows, pyarrow.string()).to_batches()[0],
}
KINDS = AS_THEY_ARE | CONVERTED


def outcome(qrels, frame, policy, scan=native):
    """What a scan of the frame finds, or what it raises."""
    with scan_with(scan):
        try:
            found = scan_source(open_source(frame, "run"), Judgments.read(qrels), policy)
        except CranfieldError as error:
            return f"{type(error).__name__}: {error}"
    rows = sorted(zip(*(column.tolist() for column in found.found), strict=True))
    return found.retrieved.tolist(), found.extra, rows


@st.composite
def runs(draw):
    """Judgments and the rows of a run: grouped or scattered, sorted or not, sometimes with duplicates."""
    qrels, run = draw(generated.collections())
    chance = random.Random(draw(st.integers(0, 2**32)))
    rows = [(query, document, score) for query, ranking in run.items() for document, score in ranking.items()]
    order = draw(st.sampled_from(["grouped", "best first", "scattered"]))
    if order == "scattered":
        chance.shuffle(rows)
    elif order == "best first":
        rows.sort(key=lambda row: -row[2])
        rows.sort(key=lambda row: row[0])
    if draw(st.integers(0, 4)) == 0:
        rows += chance.choices(rows, k=2)
    return qrels, rows, chance


@compiled
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(runs(), st.sampled_from(["doc_id", "file", "best"]), st.sampled_from(["error", "first", "best"]))
def test_both_scans_of_a_frame_agree_with_rows(kind, collection, ties, duplicates):
    qrels, rows, chance = collection
    policy = Policy(ties=ties, duplicates=duplicates)
    frame = KINDS[kind](rows, chance)
    found = outcome(qrels, frame, policy)
    assert found == outcome(qrels, frame, policy, None) == outcome(qrels, rows, policy, None)


@compiled
@pytest.mark.parametrize("kind", AS_THEY_ARE)
@settings(max_examples=20, deadline=None)
@given(runs())
def test_plain_frames_are_not_converted(kind, collection):
    qrels, rows, chance = collection
    rows = list({row[:2]: row for row in rows}.values())
    source = open_source(AS_THEY_ARE[kind](rows, chance), "run")
    scan_source(source, Judgments.read(qrels), Policy())
    assert "_converted" not in vars(source.columns)


@compiled
def test_objects_in_ascii_are_not_converted():
    rows = [("q", "b", 2.0), ("q", "a", 1.0)]
    source = open_source(CONVERTED["pandas, objects"](rows, None), "run")
    found = scan_source(source, Judgments.read({"q": {"a": 1}}), Policy())
    assert (found.found.above.tolist(), "_converted" in vars(source.columns)) == ([1], False)


@compiled
@settings(max_examples=40, deadline=None)
@given(runs())
def test_views_of_long_ids(collection):
    _, rows, chance = collection
    long = long_ids(polars_in_chunks(rows, chance))
    qrels = {query: {document: 1} for query, document in long.select(IDS).head(5).iter_rows()}
    assert outcome(qrels, long, Policy()) == outcome(qrels, list(long.iter_rows()), Policy(), None)


@compiled
@pytest.mark.parametrize(
    "score",
    [pyarrow.float32(), pyarrow.float16(), pyarrow.int8(), pyarrow.int64(), pyarrow.uint8(), pyarrow.uint64()],
    ids=str,
)
@pytest.mark.parametrize("number", [pyarrow.int64(), pyarrow.uint16()], ids=str)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_numbers_of_any_width(score, number, seed):
    chance = random.Random(seed)
    rows = [
        (query, document, chance.randrange(5)) for query in (7, 10, 300) for document in chance.sample(range(99), 9)
    ]
    chance.shuffle(rows)
    qrels = {str(query): {str(document): 1} for query, document, _ in rows[:5]}
    narrow = score if score != pyarrow.float16() else pyarrow.float32()
    frame = arrow(rows, number, narrow)
    frame = frame.set_column(2, "score", frame.column("score").cast(score))
    expected = outcome(qrels, rows, Policy(), None)
    for same in (frame, frame.to_pandas(), polars.from_arrow(frame), chunked(rows, chance, number)):
        assert outcome(qrels, same, Policy()) == outcome(qrels, same, Policy(), None) == expected


@compiled
@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_ranks_are_used_if_there_are_no_scores(make):
    frame = make({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [2, 1]})
    assert outcome({"q": {"a": 1}}, frame, Policy())[2] == [(0, 1, 0, 1)]


BAD = {
    "no query": (("query_id", None), "column 'query_id', row 2: None is not an id"),
    "no document": (("doc_id", None), "column 'doc_id', row 2: None is not an id"),
    "an empty query": (("query_id", ""), "column 'query_id', row 2: the id is empty"),
    "an empty document": (("doc_id", ""), "column 'doc_id', row 2: the id is empty"),
    "no score": (("score", None), "column 'score', row 2: the value is missing"),
    "infinity": (("score", float("-inf")), "column 'score', row 2: -inf is not a finite number"),
    "not a number": (("score", float("nan")), "column 'score', row 2: nan is not a finite number"),
    "the same document": (("doc_id", "a"), "document 'a' appears twice in the ranking of query 'q'"),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("chunks", [False, True])
@pytest.mark.parametrize("scan", [pytest.param(native, marks=compiled, id="native"), pytest.param(None, id="pure")])
def test_errors_describe_the_bad_row(bad, chunks, scan):
    (name, value), fact = BAD[bad]
    values = columns([("q", "a", 2.0), ("q", "b", 1.0), ("q", "c", 0.5)])
    values[name][2] = value
    text, number = pyarrow.string(), pyarrow.float64()
    table = pyarrow.table(values, pyarrow.schema(list(zip(NAMES, (text, text, number), strict=True))))
    frames = [table, polars.from_arrow(table), table.to_pandas(), table.to_pandas().astype(dict.fromkeys(IDS, object))]
    if chunks:
        chance = random.Random(bad)
        frames = [pyarrow.table({each: cut(table.column(each), chance) for each in NAMES})]
    for frame in frames:
        message = outcome({"q": {"a": 1}}, frame, Policy(), scan)
        # pandas does not distinguish NaN from a missing value.
        facts = (fact, fact.replace("None", "nan"), "column 'score', row 2: the value is missing")
        assert any(each in message for each in (facts if isinstance(frame, pandas.DataFrame) else facts[:1])), message


@compiled
def test_integers_that_floats_cannot_represent_are_refused():
    rows = [("q", "a", 2**53 + 1), ("q", "b", 2**53)]
    for frame in (arrow(rows, pyarrow.string(), pyarrow.int64()), pandas.DataFrame(columns(rows))):
        message = outcome({"q": {"a": 1}}, frame, Policy())
        assert "column 'score' does not contain numbers" in message
        assert message == outcome({"q": {"a": 1}}, frame, Policy(), None)


@cache
def many_rows(order):
    """A run as rows, with judgments of most of its queries."""
    chance = random.Random(order)
    rows = [
        (f"q{query}", f"d{document}", chance.randrange(500) / 4)
        for query in range(100)
        for document in chance.sample(range(5000), 1200)
    ]
    if order == "scattered":
        chance.shuffle(rows)
    qrels = {f"q{query}": {f"d{document}": 1 for document in chance.sample(range(5000), 40)} for query in range(90)}
    return rows, qrels


@compiled
@pytest.mark.parametrize("kind", ["pandas", "pandas, objects", "polars", "arrow", "arrow, dictionaries"])
@pytest.mark.parametrize("order", ["grouped", "scattered"])
def test_any_number_of_threads_finds_the_same(kind, order):
    rows, qrels = many_rows(order)
    chance = random.Random(order)
    columns = open_source(KINDS[kind](rows, chance), "run").columns
    index = Judgments.read(qrels)._index
    one, *more = (native.scan_frame(*next(columns.lent()), False, index, 0, threads, 3) for threads in (1, 2, 3, 50))
    queries, sizes, others, (row, *_), codes = one
    assert (queries.tolist(), sizes.tolist(), len(set(others.tolist()))) == (list(range(90)), [1200] * 90, 10)
    assert (len(row) > 500, len(codes)) == (True, 270)
    for several in more:
        assert [column.tolist() for column in several[3]] == [column.tolist() for column in one[3]]
        assert [column.tolist() for column in (*several[:2], several[4])] == [
            queries.tolist(),
            sizes.tolist(),
            codes.tolist(),
        ]
        assert set(several[2].tolist()) == set(others.tolist())
    twice = open_source(KINDS[kind]([*rows, rows[17]], chance), "run").columns
    assert native.scan_frame(*next(twice.lent()), False, index, 0, 2, 3) is None


@compiled
@settings(max_examples=60, deadline=None)
@given(generated.collections(), st.sampled_from(sorted(KINDS)), st.integers(0, 2**32))
def test_judgments_of_frames(collection, kind, seed):
    qrels, _ = collection
    rows = [(query, document, float(grade)) for query, judged in qrels.items() for document, grade in judged.items()]
    chance = random.Random(seed)
    chance.shuffle(rows)
    frame = KINDS[kind](rows, chance)
    read = [Judgments.read(frame), Judgments.read(qrels)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgments_module, "native", None)
        read.append(Judgments.read(frame))
    one, *others = ((each.by_query, each.query_ids, each.document_ids, each.sha256) for each in read)
    assert all(other == one for other in others)


@compiled
def test_contradictory_judgments_are_an_error():
    frame = polars.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"], "grade": [1, 2]})
    with pytest.raises(InputError, match=r"row 1: document 'a' is judged twice for query 'q' \(1 and 2\)"):
        Judgments.read(frame)


@compiled
def test_polars_frames_need_no_other_library():
    program = (
        "import sys, polars, cranfield\n"
        "qrels = polars.DataFrame({'qid': ['q'], 'docno': ['a'], 'grade': [1]})\n"
        "run = polars.DataFrame({'qid': ['q', 'q'], 'docno': ['b', 'a'], 'score': [2.0, 1.0]})\n"
        "print(cranfield.evaluate(qrels, run, 'RR')['RR'], {'pyarrow', 'narwhals', 'pandas'} & {*sys.modules})"
    )
    assert printed(program) == "0.5 set()\n"


def test_frames_without_rows_are_an_error():
    for frame in (polars.DataFrame(schema=NAMES), pyarrow.table(columns([])), pandas.DataFrame(columns([]))):
        with pytest.raises(InputError):
            cranfield.evaluate({"q": {"a": 1}}, frame, "RR")


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_an_index_outside_of_its_dictionary_is_an_error(column):
    damaged = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 7]), pyarrow.array(["a", "b"]), safe=False)
    table = pyarrow.table({"query_id": ["a", "b"], "doc_id": ["a", "b"], "score": [1.0, 2.0]} | {column: damaged})
    with pytest.raises(InputError, match=rf"^the run: column '{column}' cannot be read \(Index 7 out of bounds\)"):
        cranfield.evaluate({"a": {"a": 1}}, table, "RR")
