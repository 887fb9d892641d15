"""Traces as exporters write them: the same run from each, never two searches as one, and errors that say where."""

import gc
import io
import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import CranfieldError, InputError, evaluate, read_searches
from cranfield.io.trace_folders import convert_traces
from tests.io.recording_traces import TASKS
from tests.io.same_values import QRELS, RUN, check
from tests.program import run

TEXTS = {"a": "about cats", "b": "about dogs", "z": "about 'zebras'", "x": "x-rays", "y": "yaks"}
SEARCHES = [
    {"query": query, "documents": list(ranking.items()), "trace": f"{at:032x}", "span": f"{at:016x}", "second": at}
    for at, (query, ranking) in enumerate(RUN.items(), 1)
]


def openinference(search):
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": search["query"]}
    for at, (document, score) in enumerate(search["documents"]):
        start = f"retrieval.documents.{at}.document."
        attributes |= {f"{start}id": document, f"{start}score": score, f"{start}content": TEXTS[document]}
        attributes[f"{start}metadata"] = json.dumps({"title": document.upper()})
    return attributes


def listed(search):
    return {
        "openinference.span.kind": "RETRIEVER",
        "input.value": json.dumps({"query": search["query"]}),
        "input.mime_type": "application/json",
        "retrieval.documents": [
            {"document.id": document, "document.score": score, "document.content": TEXTS[document]}
            for document, score in search["documents"]
        ],
    }


def nested(search):
    documents = [
        {"document": {"id": document, "score": score, "content": TEXTS[document]}}
        for document, score in search["documents"]
    ]
    kind = {"span": {"kind": "RETRIEVER"}}
    return {"openinference": kind, "input": {"value": search["query"]}, "retrieval": {"documents": documents}}


def gen_ai(search):
    documents = [{"id": document, "score": score} for document, score in search["documents"]]
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": search["query"],
        "gen_ai.retrieval.documents": json.dumps(documents),
    }


def sdk(search, attributes=openinference, parent=None):
    """A span as the SDK's `to_json` writes it."""
    return {
        "name": "retrieve",
        "context": {"trace_id": f"0x{search['trace']}", "span_id": f"0x{search['span']}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": parent,
        "start_time": f"2026-03-01T10:00:{search['second']:02}.000000Z",
        "end_time": f"2026-03-01T10:00:{search['second']:02}.250000Z",
        "status": {"status_code": "OK"},
        "attributes": attributes(search),
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "agent"}, "schema_url": ""},
    }


def typed(value):
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(each)} for key, each in value.items()]}}
    kinds = {str: "stringValue", float: "doubleValue", int: "intValue"}
    return {kinds[type(value)]: str(value) if isinstance(value, int) else value}


def otlp(searches, attributes):
    spans = [
        {
            "traceId": search["trace"],
            "spanId": search["span"],
            "name": "retrieve",
            "kind": 1,
            "startTimeUnixNano": str((1772359200 + search["second"]) * 10**9),
            "endTimeUnixNano": str((1772359200 + search["second"]) * 10**9 + 250_000_000),
            "attributes": [{"key": key, "value": typed(value)} for key, value in attributes(search).items()],
            "status": {},
        }
        for search in searches
    ]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


def frame_row(search):
    """A row of Phoenix's frame of spans, as pandas writes it."""
    start = 1772359200000 + 1000 * search["second"]
    return {
        "name": "retrieve",
        "span_kind": "RETRIEVER",
        "parent_id": None,
        "start_time": start,
        "end_time": start + 250,
        "context.span_id": search["span"],
        "context.trace_id": search["trace"],
        **{f"attributes.{key}": value for key, value in listed(search).items()},
    }


def lines(items):
    return "".join(json.dumps(item) + "\n" for item in items)


OTHER = {**sdk(SEARCHES[0]), "attributes": {"openinference.span.kind": "LLM", "output.value": "a retrieval?"}}
WRITTEN = {
    "sdk lines": lines([OTHER, *map(sdk, SEARCHES)]),
    "sdk over several lines": "\n".join(json.dumps(sdk(search), indent=4) for search in SEARCHES),
    "sdk, documents listed": lines(sdk(search, listed) for search in SEARCHES),
    "sdk, nested": lines(sdk(search, nested) for search in SEARCHES),
    "sdk, gen_ai": lines(sdk(search, gen_ai) for search in SEARCHES),
    "otlp lines": lines([otlp(SEARCHES[:2], openinference), otlp(SEARCHES[2:], openinference)]),
    "otlp lines, gen_ai": lines([otlp(SEARCHES, gen_ai)]),
    "otlp lines, documents listed": lines([otlp(SEARCHES, listed)]),
    "otlp file": json.dumps(otlp(SEARCHES, openinference), indent=2),
    "phoenix frame": lines(map(frame_row, SEARCHES)),
    "phoenix api": json.dumps({"data": [sdk(search, nested) for search in SEARCHES], "next_cursor": None}),
    "array": json.dumps([OTHER, *map(sdk, SEARCHES)]),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_every_exporter_gives_the_same_run(written, tmp_path):
    for name in ("traces.jsonl", "traces.json", "spans"):
        path = tmp_path / name
        path.write_text(written)
        check(QRELS, path)
    check(QRELS, io.BytesIO(written.encode()))
    check(QRELS, io.BytesIO(written.encode()), format="traces")
    read = read_searches(path)
    assert [search.seconds for search in read.searches] == [0.25] * len(SEARCHES)
    assert [search.query for search in read.searches] == list(RUN)


EXPORTED = json.loads(Path(__file__).with_name("exported_traces.json").read_text())


@pytest.mark.parametrize("application", EXPORTED)
def test_traces_of_real_applications(application):
    """LangChain has ids in outputs alone; retrievers that ask others are one search; LangGraph's tasks are chats."""
    returned = {"return shoes": {"returns", "careers"}, "norway shoes": {"returns", "countries"}, "cards": set()}
    for written in EXPORTED[application].values():
        found = read_searches(io.BytesIO(written.encode())).searches
        assert {each.query: set(each.documents) for each in found} == returned
        tasks = [each.task for each in found]
        if application == "langchain":
            assert tasks == ["t1", "t1", "t2"]
        elif application == "langgraph":
            assert tasks == [TASKS["t1"][0], TASKS["t1"][0], TASKS["t2"][0]]
        else:
            assert tasks == list(returned)
        result = evaluate({"norway shoes": {"countries": 1}, "cards": {"x": 1}}, io.BytesIO(written.encode()), "R@5")
        assert result.by_query("R@5") == {"norway shoes": 1, "cards": 0}


def test_long_first_lines(tmp_path):
    """The first span, or the first batch, is longer than what is looked at to recognise a format."""
    long = {**OTHER, "attributes": {**OTHER["attributes"], "input.value": "long " * 50_000}}
    (tmp_path / "sdk.jsonl").write_text(lines([long, *map(sdk, SEARCHES)]))
    check(QRELS, tmp_path / "sdk.jsonl")
    batch = otlp([*SEARCHES, *SEARCHES * 50], openinference)
    (tmp_path / "otlp.jsonl").write_text(lines([batch, batch]))
    check(QRELS, tmp_path / "otlp.jsonl")
    (tmp_path / "otlp").write_text(json.dumps(batch))
    check(QRELS, tmp_path / "otlp")
    (tmp_path / "ranking").write_text(json.dumps({"1": {f"d{at}": at for at in range(10_000)}}))  # not rows
    assert evaluate({"1": {"d9999": 1}}, tmp_path / "ranking", "RR")["RR"] == 1


def test_the_order_returned_counts():
    """Distances rise, equal scores are in order, and scores may be missing."""
    for scores in ([0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [None, None, None], [0.5, None, 0.1]):
        span = sdk({**SEARCHES[0], "documents": [("a", 1.0), ("b", 1.0), ("z", 1.0)]})
        for at, score in enumerate(scores):
            span["attributes"][f"retrieval.documents.{at}.document.score"] = score
        result = evaluate({"1": {"b": 1}}, io.BytesIO(lines([span]).encode()), "RR")
        assert result["RR"] == 0.5, scores


def test_ids_of_queries_and_documents():
    def changed(**attributes):
        span = sdk(SEARCHES[0])
        span["attributes"] |= attributes
        return io.BytesIO(lines([span]).encode())

    assert evaluate({"q7": {"a": 1}}, changed(query_id="q7"), "RR")["RR"] == 0.5
    assert evaluate({"q8": {"a": 1}}, changed(metadata='{"query_id": "q8"}'), "RR")["RR"] == 0.5
    by_metadata = {
        f"retrieval.documents.{at}.document.{field}": value
        for at, document in enumerate(("b", "a", "z"))
        for field, value in (("id", None), ("metadata", json.dumps({"doc_id": f"kb/{document}"})))
    }
    assert evaluate({"1": {"kb/a": 1}}, changed(**by_metadata), "RR")["RR"] == 0.5
    by_text = {f"retrieval.documents.{at}.document.id": None for at in range(3)}
    assert evaluate({"1": {"about cats": 1}}, changed(**by_text), "RR")["RR"] == 0.5
    numbers = {f"retrieval.documents.{at}.document.id": at for at in range(3)}
    assert evaluate({"1": {"1": 1}}, changed(**numbers), "RR")["RR"] == 0.5


AGENT = [
    {"query": "cats", "documents": [("b", 0.9)], "trace": "t1", "span": "s2", "second": 2},
    {"query": "cats and dogs", "documents": [("b", 0.9), ("a", 0.8)], "trace": "t1", "span": "s1", "second": 5},
    {"query": "cats", "documents": [("z", 0.9)], "trace": "t2", "span": "s3", "second": 9},
]


def root(trace, question, **attributes):
    span = sdk({"documents": [], "trace": trace, "span": f"r{trace}", "second": 0, "query": ""})
    return {**span, "attributes": {"openinference.span.kind": "AGENT", "input.value": question, **attributes}}


def agent(*roots):
    spans = [sdk(search, parent="0xr") for search in AGENT]
    random.Random(1).shuffle(spans)
    return io.BytesIO(lines([*spans, *roots]).encode())


def test_searches_of_agents():
    both = agent(root("t1", "which pets?"), root("t2", "which stripes?"))
    with pytest.raises(InputError, match="'cats' was searched for again, with another result"):
        evaluate({"cats": {"a": 1}}, both, "RR")
    both = agent(root("t1", "which pets?"), root("t2", "which stripes?"))
    qrels = {"which pets?": {"a": 1, "b": 1}, "which stripes?": {"z": 1}}
    result = evaluate(qrels, both, "UnionR CallR(call=1) Refetched Calls")
    assert result.by_query("UnionR") == {"which pets?": 1, "which stripes?": 1}
    assert result.by_query("CallR") == {"which pets?": 0.5, "which stripes?": 1}
    assert result.by_query("Calls") == {"which pets?": 2, "which stripes?": 1}
    named = agent(root("t1", "same", task_id="one"), root("t2", "same", metadata={"task_id": "two"}))
    assert {search.task for search in read_searches(named).searches} == {"one", "two"}
    twice = agent(root("t1", "same"), root("t2", "same"))
    assert {search.task for search in read_searches(twice).searches} == {"0xt1", "0xt2"}
    counted = read_searches(agent(root("t1", "which pets?")), tokens=str.split)
    assert counted.searches[0].tokens is not None
    assert counted.texts["a"] == "about cats"


def test_numbers_that_are_lacking():
    span = sdk(SEARCHES[0])
    for field in ("id", "score", "content", "metadata"):
        del span["attributes"][f"retrieval.documents.1.document.{field}"]
    run = read_searches(io.BytesIO(lines([span]).encode()))
    assert run.searches[0].documents == ["b", "z"]


@pytest.mark.parametrize(
    "score", [10**400, -(10**400), math.inf, True, "1.5"], ids=["large", "very negative", "infinite", "true", "text"]
)
def test_scores_that_are_no_finite_numbers_leave_the_order_returned(score):
    span = sdk(SEARCHES[0])
    span["attributes"]["retrieval.documents.0.document.score"] = score
    found = evaluate({SEARCHES[0]["query"]: {"b": 1}}, io.BytesIO(lines([span]).encode()), "NumRet")
    assert found["NumRet"] == len(SEARCHES[0]["documents"])


def test_searches_that_find_nothing():
    """A failed or empty search is one, in every way of writing; and texts may say "parent_id"."""
    for kind in ({"openinference.span.kind": "RETRIEVER", "input.value": "1"}, {"gen_ai.operation.name": "retrieval"}):
        known = {"gen_ai.retrieval.query.text": "1", **kind, "note": '"parent_id": null, "parent_id": "x"'}
        nothing = {**SEARCHES[0], "query": "1"}
        for span in (sdk(nothing, lambda _, known=known: known), otlp([nothing], lambda _, known=known: known)):
            written = lines([span])
            run = read_searches(io.BytesIO(written.encode()))
            assert [search.documents for search in run.searches] == [[]]
            assert evaluate({"1": {"a": 1}}, io.BytesIO(written.encode()), "NumRet")["NumRet"] == 0


def read(*spans):
    return read_searches(io.BytesIO(lines(spans).encode()))


def test_searches_within_searches():
    """What the outermost lists was returned; where it lists nothing, what is within it."""
    first, second = (sdk({**search, "trace": "t"}) for search in SEARCHES[:2])
    inner = [{**span, "parent_id": "0xouter"} for span in (first, second)]
    merged = sdk({**SEARCHES[2], "trace": "t", "span": "outer"})
    silent = {**merged, "attributes": {"openinference.span.kind": "RETRIEVER", "input.value": "all"}}
    empty = {**sdk({**SEARCHES[3], "trace": "t", "span": "empty"}, parent="0xouter"), "attributes": {}}
    empty["attributes"] = {**silent["attributes"], "input.value": "none"}
    for order in (lambda spans: spans, reversed):
        assert [each.query for each in read(*order([*inner, merged, empty])).searches] == [SEARCHES[2]["query"]]
        kept = {each.query for each in read(*order([*inner, silent, empty])).searches}
        assert kept == {SEARCHES[0]["query"], SEARCHES[1]["query"]}
        assert [each.query for each in read(*order([silent, empty])).searches] == ["all"]
    chain = [sdk({**SEARCHES[0], "trace": "t", "span": str(at)}, parent=f"0x{at - 1}") for at in range(20_000)]
    random.Random(1).shuffle(chain)
    assert len(read(*chain)) == 1
    chain[0]["parent_id"] = chain[0]["context"]["span_id"]  # damaged: it is in itself
    assert 1 <= len(read(*chain)) <= 2


def test_a_span_that_was_exported_again_counts_once():
    span = sdk(SEARCHES[0])
    assert len(read(span, span)) == 1
    with pytest.raises(InputError, match=":2: span 0x0000000000000001 appears twice in its trace"):
        read(span, {**span, "start_time": "2026-03-02T10:00:00Z"})


def test_tasks_within_and_across_traces():
    def named(task, **search):
        span = sdk(search | {"documents": [("a", 1.0)]})
        span["attributes"]["metadata"] = json.dumps({"task_id": task, "user_id": "u", "task": "support"})
        return span

    one = named("t1", query="x", trace="A", span="1", second=1)
    two = named("t2", query="y", trace="A", span="2", second=2)
    run = read(one, two)
    assert ([each.task for each in run.searches], run.notes) == (["t1", "t2"], ())
    late = named("t1", query="z", trace="B", span="3", second=3)
    run = read(late, one, two)
    assert [(each.task, each.step, each.query) for each in run.searches] == [
        ("t1", 1, "x"),
        ("t1", 2, "z"),
        ("t2", 1, "y"),
    ]
    note = "1 task is in several traces: its searches count as one task's, in the order of their times"
    assert run.notes == (note,)
    assert note in cranfield.calls({"t1": {"a": 1}}, run).warnings
    assert note in evaluate({"t1": {"a": 1}}, run, "UnionR").warnings
    users = [named("", query=query, trace=query, span="1", second=1) for query in ("x", "y")]
    assert [each.task for each in read(*users).searches] == ["x", "y"]  # not one task of the same user


def test_identical_searches_are_one():
    again = sdk({**SEARCHES[0], "span": "f", "second": 30})
    spans = [sdk(SEARCHES[0]), again]
    assert evaluate(QRELS, io.BytesIO(lines(spans).encode()), "RR").by_query("RR")["1"] == 0.5


def test_convert(tmp_path):
    source = tmp_path / "traces.jsonl"
    source.write_text(WRITTEN["sdk lines"])
    done = cranfield.convert_file(source, tmp_path / "run.csv")
    assert (done.role, done.rows, done.notes) == ("run", 8, ("columns that are not kept: texts, latency.",))
    check(QRELS, tmp_path / "run.csv")
    folder = tmp_path / "folder"
    written = convert_traces(source, str(folder))
    assert (written.searches, written.notes) == (4, ())
    check(QRELS, folder / "run.jsonl")
    facts = json.loads((folder / "run.jsonl.json").read_text())
    assert facts["latency"]["p50"] == 0.25
    assert facts["by_query"] == {"query_id": list(RUN), "seconds": [0.25] * 4}
    corpus = {row["_id"]: row for row in map(json.loads, (folder / "corpus.jsonl").read_text().splitlines())}
    assert corpus["b"] == {"_id": "b", "text": "about dogs", "title": "B"}
    queries = list(map(json.loads, (folder / "queries.jsonl").read_text().splitlines()))
    assert queries == [{"query_id": query, "text": query} for query in RUN]
    again = read_searches(folder / "searches.jsonl")
    assert [search.documents for search in again.searches] == [list(ranking) for ranking in RUN.values()]
    assert again.searches[0].seconds == 0.25
    (tmp_path / "agent.jsonl").write_bytes(agent().getvalue())
    written = convert_traces(tmp_path / "agent.jsonl", str(folder), force=True)
    assert written.notes == (
        "1 query was searched for again with another result: run.jsonl has the last one, searches.jsonl has all",
    )
    kept = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    assert [row["doc_id"] for row in kept if row["query_id"] == "cats"] == ["z"]


def test_empty_searches_are_written(tmp_path):
    """The folder has as many searches as the traces."""
    (tmp_path / "traces.jsonl").write_text(EXPORTED["langchain"]["lines"])
    convert_traces(tmp_path / "traces.jsonl", str(tmp_path / "folder"))
    again, known = read_searches(tmp_path / "folder" / "searches.jsonl"), read_searches(tmp_path / "traces.jsonl")
    assert [(each.task, each.step, each.documents) for each in again.searches] == [
        (each.task, each.step, each.documents) for each in known.searches
    ]


def test_the_command(tmp_path):
    (tmp_path / "traces.jsonl").write_text(WRITTEN["otlp lines"])
    done = run("convert", "traces.jsonl", "out/", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("4 searches in out/queries.jsonl")
    refused = run("convert", "builtin", "out/", cwd=tmp_path)
    assert refused.returncode == 2
    assert "only traces are written to a folder" in refused.stderr


def test_errors_say_where(tmp_path):
    cases = {
        "none of its spans is a search": lines([OTHER]),
        ":2: this is not JSON": lines([sdk(SEARCHES[0])]) + '{"context": {"trace_id": "retrieval"\n',
        "does not say what was searched for": lines([sdk({**SEARCHES[0], "query": ""})]),
    }
    span = sdk(SEARCHES[0])
    for field in ("id", "content", "metadata"):
        del span["attributes"][f"retrieval.documents.1.document.{field}"]
    span["attributes"]["retrieval.documents.1.document.score"] = 0.5
    cases["document 2 of span 0x0000000000000001 has neither an id nor a text"] = lines([span])
    for fact, text in cases.items():
        path = tmp_path / "traces.jsonl"
        path.write_text(text)
        with pytest.raises(InputError, match=fact.replace(".", r"\.")):
            evaluate(QRELS, path, "RR")
    with pytest.raises(InputError, match="a traces contains a run, not judgments"):
        evaluate(io.BytesIO(WRITTEN["sdk lines"].encode()), RUN, "RR")


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_as_before(enabled, monkeypatch):
    """Collection pauses while traces are read, and only then, also if that fails."""
    paused = []
    monkeypatch.setattr(
        json, "loads", lambda text, loads=json.loads: (paused.append(not gc.isenabled()), loads(text))[1]
    )
    (gc.enable if enabled else gc.disable)()
    try:
        for last in ("", "retrieval"):
            try:
                read_searches(io.BytesIO((" " + lines([sdk(SEARCHES[0], listed)]) + last).encode()), format="traces")
            except InputError:
                assert last
            assert gc.isenabled() == enabled
    finally:
        gc.enable()
    assert any(paused)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(WRITTEN.values())), st.randoms(use_true_random=False))
def test_damaged_traces_are_errors_or_runs(written, rng):
    data = bytearray(written.encode())
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        if rng.random() < 0.5:
            data[at] = rng.choice(b'{}[]",:0eE\\x\xff')
        else:
            del data[at : at + rng.randrange(1, 200)]
    for read in (lambda file: evaluate(QRELS, file, "RR", check_ids=False), read_searches):
        try:
            read(io.BytesIO(bytes(data)))
        except CranfieldError:
            continue
