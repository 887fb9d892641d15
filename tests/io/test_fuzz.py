"""Random and damaged bytes: every reader returns valid values or raises a CranfieldError."""

import gzip
import io
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import CranfieldError
from cranfield.io.formats import readable
from cranfield.native import native
from tests.fuzz.mutations import mutated
from tests.generated import scan_with

FORMATS = readable(["run"])
RUN = [("q1", "d1", 2.5), ("q1", "d2", 1.5), ("q2", "d3", 0.5)]
SEEDS = {
    "trec": "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in RUN).encode(),
    "qrels": "".join(f"{q} 0 {d} 1\n" for q, d, _ in RUN).encode(),
    "tsv": ("query_id\tdoc_id\tscore\n" + "".join(f"{q}\t{d}\t{s}\n" for q, d, s in RUN)).encode(),
    "csv": ("query_id,doc_id,score\n" + "".join(f'"{q}",{d},{s}\n' for q, d, s in RUN)).encode(),
    "json": json.dumps({"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d3": 0.5}}).encode(),
    "jsonl": "".join(json.dumps({"query_id": q, "doc_id": d, "score": s}) + "\n" for q, d, s in RUN).encode(),
    "msmarco": b"q1\td1\t1\nq1\td2\t2\nq2\td3\t1\n",
    "gzip": gzip.compress("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in RUN).encode()),
}


def parquet():
    arrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    columns = {name: list(column) for name, column in zip(("query_id", "doc_id", "score"), zip(*RUN))}
    module.write_table(arrow.table(columns), out)
    return out.getvalue()


def outcome(data, role, format):
    qrels, run = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}, {"q1": {"d1": 1.0}}
    sources = (io.BytesIO(data), run) if role == "qrels" else (qrels, io.BytesIO(data))
    options = {"format" if role == "run" else "qrels_format": format}
    try:
        result = cranfield.evaluate(*sources, "AP nDCG@10 RR P@10", **options)
    except CranfieldError as error:
        return type(error), str(error)
    assert all(0 <= value <= 1 for value in result.values())
    return dict(result)


def both_scans(data, role, format):
    with scan_with(None, 64):
        pure = outcome(data, role, format)
    if native is not None:
        with scan_with(native, 64):
            found = outcome(data, role, format)
        assert found == pure


@pytest.mark.fault(
    "damaged runs and judgments in every format",
    "Values between 0 and 1, or an error of ours; both scans agree.",
    tries=400,
)
@pytest.mark.parametrize("name", [*SEEDS, "parquet"])
def test_mutated_files(name, tries):
    chance = random.Random(name)
    data = SEEDS[name] if name in SEEDS else parquet()
    format = name if name in FORMATS else None
    for _ in range(tries):
        damaged = mutated(data, chance)
        for role in ("run", "qrels"):
            both_scans(damaged, role, chance.choice([None, format]))


@pytest.mark.fault(
    "random bytes and texts as runs and judgments", "Values between 0 and 1, or an error of ours; both scans agree."
)
@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["run", "qrels"]), st.sampled_from([None, *FORMATS]))
def test_random_bytes(data, role, format):
    both_scans(data, role, format)


@pytest.mark.fault(
    "random bytes and texts as runs and judgments", "Values between 0 and 1, or an error of ours; both scans agree."
)
@settings(max_examples=300, deadline=None)
@given(st.text("q12 d\t\n\r#,\"'.e+-_0é\x0b\x1c\x85\xa0", max_size=120), st.sampled_from(["run", "qrels"]))
def test_random_text(text, role):
    both_scans(text.encode(), role, "trec")
    both_scans(b"query_id\tdoc_id\tscore\n" + text.encode(), role, None)
