"""Bad input raises an InputError that names the problem and its place."""

import io

import numpy as np
import pytest

import cranfield
from cranfield import InputError
from tests.io.same_values import QRELS, RUN, TREC_QRELS, TREC_RUN

BAD = [
    # qrels, run, what the error says
    (b"", RUN, "it is empty"),
    (b"# nothing\n\n", RUN, "only blank lines and comments"),
    (QRELS, b"", "it is empty"),
    (QRELS, b"query_id,doc_id,score\n", "no rankings"),
    (b"query_id,doc_id,score\n", RUN, "no judgments"),
    ({}, RUN, "no judgments"),
    (b"1 0 a 1\n1 0 a 0\n", RUN, ":2: document 'a' is judged twice for query '1' (1 and 0)"),
    (b"1 0 a 1\n1 0 b x\n", RUN, ":2: grade 'x' is not a number"),
    (b"1 0 a 1\n1 0 b nan\n", RUN, ":2: grade 'nan' is not a finite number"),
    (b"1 0 a 1\n1 0 b\n", RUN, ":2: 3 columns where 4 are needed"),
    (b"1 0 a 1\n1 0 b 1 1\n", RUN, ":2: 5 columns where 4 are needed"),
    (TREC_RUN, TREC_RUN, "judgments are needed, but its lines have 6 columns like a run's"),
    (TREC_QRELS, TREC_QRELS, "a run is needed, but its lines have 4 columns like those of judgments"),
    (b"1 a 1\n", RUN, "three columns and no header"),
    (QRELS, b"a b\n", "its lines have 2 columns"),
    (QRELS, b"query_id\tdoc_id\tscore\n1\t\t2\n", ":2: the document id is empty"),
    (QRELS, b'query_id,doc_id,score\n1,"a,2\n', ":2: "),
    (QRELS, b"\xff\xfe1\x00", "UTF-16"),
    (QRELS, b'{"', "this is not JSON"),
    (QRELS, b'{"1": {"a": 1, "a": 2}}', "the key 'a' appears twice"),
    (QRELS, b'{"1": {"a": NaN}}', "is not a finite number"),
    (QRELS, b'{"1": {"a": "high"}}', "'high' is not a number"),
    (QRELS, b'{"1": 5}', "5 is not a ranking"),
    (QRELS, b'{"query_id": "1", "doc_id": "a", "score": 1}\n{"query_id": "1", "doc_id": "a", "score": 1}', "twice"),
    (QRELS, b'{"query_id": "1", "doc_id": "a", "score": 1}\n[1]\n', ":2: this line is not a JSON object"),
    (QRELS, b"PAR1\x15 and then nothing", "this Parquet file cannot be read"),
    (QRELS, {"1": {"a": float("nan")}}, "query '1', document 'a': nan is not a finite number"),
    (QRELS, {"1": {"a": "0.5"}}, "'0.5' is not a number"),
    (QRELS, {"1": {"a": True}}, "True is not a number"),
    (QRELS, {"1": {"a": 1.0, "": 1.0}}, "the id is empty"),
    (QRELS, {"1": {None: 1.0}}, "None is not an id"),
    (QRELS, {"1": {"a": 1.0, "1": 1.0, 1: 2.0}}, "document '1' appears twice"),
    (QRELS, {"1": {"a": 1.0}, 1: {"a": 2.0}}, "appears twice, as a number and as text"),
    (QRELS, {"1": ["a", "b", "a"]}, "document 'a' appears twice"),
    (QRELS, {"1": "abc"}, "'abc' is not a ranking"),
    (QRELS, [("1", "a")], "row 1 has 2 columns where 3 are needed"),
    (QRELS, [("1", "a", 1.0), ("1", "a", 2.0)], "document 'a' appears twice in the ranking of query '1'"),
    (QRELS, [5], "row 1 is 5, not a row"),
    (QRELS, {}, "no rankings"),
    (QRELS, [], "no rankings"),
    (QRELS, b"{}", "no rankings"),
    (QRELS, {"1": {"a": 10**400}}, "is not a finite number"),
    ({"1": {"a": 10**400}}, RUN, "is not a finite number"),
    ({1: {"a": 1}, "1": {"b": 1}}, RUN, "appears twice, as a number and as text"),
    (QRELS, {"1": {b"\xff": 1.0}}, "is not UTF-8"),
    (QRELS, {"": {"a": 1.0}}, "the id is empty"),
    (QRELS, b"1 Q0 a 1 9 t\r1 Q0 b 2 8 t\r", "there is a carriage return in the middle of the line"),
    (QRELS, b"1\tQ0\ta x\t1\t9.5\tt\n", ":1: 7 columns, and 'x' is not a rank: an id may contain a blank"),
    (b"query_id,doc_id,rank,score\n1,a,1,2.5\n", RUN, "its lines have 1 column"),
    (QRELS, b"query_id,doc_id,score,score\n1,a,1,2.5\n", "its lines have 1 column"),
    (QRELS, b'{"qid": "1", "docno": "a", "score": 3}\n\n{"qid": "1", "docno": "b", "score": "x"}', "line 3: 'x'"),
    (QRELS, 5, "cannot be read from int"),
    ({"1": {"a": None}}, RUN, "None is not a number"),
    ({"1": 5}, RUN, "does not say which documents are judged"),
    ({"1": {"\udcff": 1, "b": 1.5}}, {"1": {"\udcff": 1.0}}, "which UTF-8 cannot encode"),
    (b'{"1": {"\\udcff": 1}}', RUN, "query '1': the id '\\udcff' contains half of a surrogate pair"),
    (b'{"\\ud800": {"a": 1}}', RUN, "the id '\\ud800' contains half of a surrogate pair"),
    (b'{"1": ["\\uDFFF"]}', RUN, "query '1': the id '\\udfff' contains half of a surrogate pair"),
    (b'{"query_id": "1", "doc_id": "\\ud800", "grade": 1}\n', RUN, "line 1: the id '\\ud800' contains half"),
    (QRELS, b'{"1": {"a": 1, "x\\ud83d": 2}}', "query '1': the id 'x\\ud83d' contains half of a surrogate pair"),
    (QRELS, b'[["\\ud800", "a", 1]]', "row 1: the id '\\ud800' contains half"),
    (QRELS, b'{"query_id": "\\ud800", "doc_id": "a", "score": 1}\n', "line 1: the id '\\ud800' contains half"),
    (QRELS, {"1": ["\ud800"]}, "query '1': the id '\\ud800' contains half of a surrogate pair"),
    (QRELS, {"1": {"a": np.array([1.0])}}, "array([1.]) is not a number"),
    (QRELS, [("1", "a", np.array([1.0, 2.0]))], "row 1: array([1., 2.]) is not a number"),
    ({"1": {"a": np.datetime64("2020")}}, RUN, "np.datetime64('2020') is not a number"),
]


@pytest.mark.parametrize(("qrels", "run", "fact"), BAD, ids=[fact for *_, fact in BAD])
def test_bad_input_raises_an_input_error(qrels, run, fact):
    qrels, run = (io.BytesIO(source) if isinstance(source, bytes) else source for source in (qrels, run))
    with pytest.raises(InputError) as error:
        cranfield.evaluate(qrels, run)
    assert fact in str(error.value)


def test_a_wrong_format_is_an_error():
    for format in ("csv", "json", "jsonl", "parquet", "tsv", "msmarco"):
        with pytest.raises(InputError):
            cranfield.evaluate(QRELS, io.BytesIO(TREC_RUN), format=format)
    with pytest.raises(InputError, match="there is no format 'xml'"):
        cranfield.evaluate(QRELS, io.BytesIO(TREC_RUN), format="xml")


def test_unreadable_paths_raise_an_input_error(tmp_path):
    for path, fact in ((tmp_path / "none", "no such file"), (tmp_path, "is a directory"), ("a\nb", "io.BytesIO")):
        with pytest.raises(InputError) as error:
            cranfield.evaluate(path, RUN)
        assert fact in str(error.value)


def test_half_a_surrogate_pair_outside_ids_is_accepted():
    row = b'{"query_id": "1", "doc_id": "a", "score": 1, "text": "cut \\ud83d"}\n'
    assert cranfield.evaluate({"1": {"a": 1}}, io.BytesIO(row), "RR")["RR"] == 1.0
    whole = b'{"1": {"a": 1, "\\ud83d\\ude00": 2}}'
    assert cranfield.evaluate({"1": {"\U0001f600": 1}}, io.BytesIO(whole), "RR")["RR"] == 1.0
