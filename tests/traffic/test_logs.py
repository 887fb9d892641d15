"""Logs of production are read as columns of texts, whatever they are written in."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma

import pytest

from cranfield.errors import InputError
from cranfield.traffic import logs
from cranfield.traffic.logs import open_log

ROWS = [("u1", "red shoes", "3"), ("u2", 'say "hi", twice', "1"), ("u1", "naïve  Café", "2")]


def _csv(mark: str) -> bytes:
    quoted = ['"' + text.replace('"', '""') + '"' for _, text, _ in ROWS]
    lines = [mark.join((user, text, rank)) for (user, _, rank), text in zip(ROWS, quoted, strict=True)]
    return "\n".join([mark.join(("user", "query", "rank")), *lines, ""]).encode()


def _json(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


OBJECTS = [{"user": user, "query": text, "rank": int(rank)} for user, text, rank in ROWS]
FORMS = {
    "csv": _csv(","),
    "semicolons": _csv(";"),
    "bars": _csv("|"),
    "windows": b"\xef\xbb\xbf" + _csv(",").replace(b"\n", b"\r\n"),
    "tsv": ("user\tquery\trank\n" + "".join("\t".join(row) + "\n" for row in ROWS)).encode(),
    "commented": b"# exported\n# yesterday\n" + _csv(","),
    "jsonl": _json(OBJECTS),
    "array": json.dumps(OBJECTS).encode(),
    "documents": _json([{"_index": "log", "_source": row} for row in OBJECTS]),
    "bulk": b"".join(_json([{"index": {"_id": at}}, row]) for at, row in enumerate(OBJECTS)),
}


def _read(data: bytes, *names: str, skip_bad: bool = False) -> list[list[str]]:
    log = open_log(io.BytesIO(data), skip_bad=skip_bad)
    columns: list[list[str]] = [[] for _ in names]
    for batch in log.batches(names):
        for column, more in zip(columns, batch.columns, strict=True):
            column += more
    return columns


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block", [40, 1 << 20])
def test_every_format_gives_the_same_texts(form: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "BLOCK", block)
    data = FORMS[form]
    assert open_log(io.BytesIO(data)).names == ("user", "query", "rank")
    assert _read(data, "query", "rank", "user") == [[row[at] for row in ROWS] for at in (1, 2, 0)]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_logs(pack: object, tmp_path) -> None:
    path = tmp_path / "log.csv.packed"
    path.write_bytes(pack(_csv(",")))  # type: ignore[operator]
    [batch] = open_log(str(path)).batches(["query"])
    assert batch.columns == [[text for _, text, _ in ROWS]]


def test_ubi_events_have_paths_as_names() -> None:
    events = [
        {
            "action_name": "click",
            "query_id": "q1",
            "event_attributes": {"object": {"object_id": "d7"}, "position": {"ordinal": 3}},
        },
        {"action_name": "impression", "query_id": "q1", "event_attributes": {"object": None}},
        {"action_name": "click", "query_id": None, "event_attributes.position.ordinal": 5},
    ]
    names = ("event_attributes.object.object_id", "event_attributes.position.ordinal", "action_name", "query_id")
    assert _read(_json(events), *names) == [
        ["d7", "", ""],
        ["3", "", "5"],
        ["click", "impression", "click"],
        ["q1", "q1", ""],
    ]


def test_ubi_queries_keep_lists_as_json() -> None:
    row = {"query_id": "q1", "user_query": "été", "query_response_hit_ids": ["a", "b"], "new": True}
    assert _read(_json([row]), "user_query", "query_response_hit_ids", "new") == [["été"], ['["a", "b"]'], ["true"]]


def test_lines_of_text_have_one_column() -> None:
    data = b'red shoes\n5" pipe\nred, white\n\nred shoes\n'
    assert open_log(io.BytesIO(data)).format == "lines of text"
    assert _read(data, "query") == [["red shoes", '5" pipe', "red, white", "", "red shoes"]]


def test_without_a_header_columns_have_numbers() -> None:
    data = b"2026-11-01\tred shoes\n2026-11-02\tblue socks\n"
    assert open_log(io.BytesIO(data)).names == ("1", "2")
    assert _read(data, "2") == [["red shoes", "blue socks"]]


def test_a_single_quote_does_not_hold_up_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "BLOCK", 64)
    rows = [f'{at},a 5" pipe' if at == 3 else f"{at},text {at}" for at in range(40)]
    [queries] = _read(("id,query\n" + "\n".join(rows) + "\n").encode(), "query")
    assert queries[3] == 'a 5" pipe'
    assert len(queries) == 40


def test_cells_may_have_line_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "BLOCK", 32)
    rows = [f'{at},"text\nof {at}"' for at in range(20)]
    [queries] = _read(("id,query\n" + "\n".join(rows) + "\n").encode(), "query")
    assert queries == [f"text\nof {at}" for at in range(20)]


@pytest.mark.parametrize(
    ("data", "line", "fact"),
    [
        (b"id,query\n1,red\n2,red,shoes\n3,blue\n", 3, "3 cells where the first line has 2"),
        (b"id\tquery\n1\tred\n2\n3\tblue\n", 3, "1 cell where the first line has 2"),
        (b"id,query\n1,red\n2,r\xe9d\n3,blue\n", 3, "byte 0xe9 at column 4 is not UTF-8"),
        (b'{"query": "red"}\n{"query": \n{"query": "blue"}\n', 2, "not a JSON object"),
        (b'{"query": "red"}\n[1]\n{"query": "blue"}\n', 2, "not a JSON object"),
    ],
)
def test_bad_lines(data: bytes, line: int, fact: str) -> None:
    with pytest.raises(InputError) as caught:
        _read(data, "query")
    assert caught.value.line == line
    assert fact in caught.value.fact
    assert caught.value.hint == "skip_bad=True leaves such lines out"
    log = open_log(io.BytesIO(data), skip_bad=True)
    [batch] = log.batches(["query"])
    assert batch.columns == [["red", "blue"]]
    assert log.skipped == 1
    with pytest.raises(InputError) as caught:  # who cannot choose to skip lines is not told to
        [*open_log(io.BytesIO(data)).batches(["query"])]
    assert caught.value.hint == ""


def test_a_line_that_is_left_out_is_no_empty_text() -> None:
    assert _read(b"red shoes\nr\xe9d\nblue\n", "query", skip_bad=True) == [["red shoes", "blue"]]
    assert _read(b"qu\xe9ry,query\n1,red\n", "query", skip_bad=True) == [["red"]]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_carriage_return_within_a_line_is_a_blank(form: str) -> None:
    data = FORMS[form].replace(b"red shoes", b"red\rshoes")
    assert _read(data, "query")[0][0] == "red shoes"
    with pytest.raises(InputError, match="its lines end with carriage returns alone"):
        open_log(io.BytesIO(FORMS[form].replace(b"\n", b"\r")))


def test_columns_that_a_log_does_not_have() -> None:
    with pytest.raises(InputError, match="did you mean query"):
        _read(_csv(","), "qeury")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"PAR1....", b"\xff\xfeq\0"])
def test_what_is_no_log(data: bytes) -> None:
    with pytest.raises(InputError):
        open_log(io.BytesIO(data))
