"""Logs of impressions and clicks: every format gives the same counts, those of a plain loop, or an error."""

import gzip
import json
import math
from collections import defaultdict

import numpy as np
import pytest

from cranfield import InputError, fit_clicks

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")


def events(seed=0, searches=300):
    """Searches as (search, text, [(document, rank, was clicked)])."""
    chance = np.random.default_rng(seed)
    made = []
    for search in range(searches):
        query = int(chance.integers(6))
        order = chance.permutation(12)[:5].tolist()
        clicked = (chance.random(5) < 0.3).tolist()
        shown = [(f"d{query}é{document}", rank, click) for rank, (document, click) in enumerate(zip(order, clicked), 1)]
        made.append((f"s{search}", f"Query,  {query}" if search % 2 else f'query, {query}"x'[:8], shown))
    return made


EVENTS = events()


def looped(searches):
    """By query and document: impressions and clicks, from a loop over all that was shown."""
    counts = defaultdict(lambda: [0, 0])
    for _, text, shown in searches:
        for document, _, click in shown:
            counts[" ".join(text.lower().split()), document][0] += 1
            counts[" ".join(text.lower().split()), document][1] += click
    return {pair: tuple(both) for pair, both in counts.items()}


def counted(log):
    """The same as it is read, whether it was corrected or not."""
    return {(each.query, each.doc_id): (each.impressions, each.clicks) for each in fit_clicks(log).documents()}


ROWS = [
    {"query": text, "doc_id": document, "rank": rank, "clicked": int(click)}
    for _, text, shown in EVENTS
    for document, rank, click in shown
]
SUMMED = [
    {"Search Term": query, "URL": document, "Position": 1, "Impressions": shown, "Clicks": clicks}
    for (query, document), (shown, clicks) in looped(EVENTS).items()
]


def ubi(texts=True):
    """UBI's events: an impression and perhaps clicks, some of them logged twice, and others that do not matter."""
    for search, text, shown in EVENTS:
        for document, rank, click in shown:
            for action in ["impression", *["click"] * (2 * click), "add_to_cart"]:
                attributes = {
                    "object": {"object_id": document, "object_id_field": "sku"},
                    "position": {"ordinal": rank},
                }
                event = {"action_name": action, "query_id": search, "client_id": "c", "event_attributes": attributes}
                yield {**event, "user_query": text} if texts else event


def as_csv(rows, separator=","):
    def cell(value):
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if separator in text or '"' in text else text

    lines = [rows[0], *(row.values() for row in rows)]
    return "".join(separator.join(map(cell, line)) + "\n" for line in lines)


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def bulk(rows):
    return "".join(json.dumps({"index": {}}) + "\n" + json.dumps(row) + "\n" for row in rows)


FILES = {
    "rows.csv": lambda: as_csv(ROWS).encode(),
    "rows.tsv": lambda: "".join("\t".join(map(str, row)) + "\n" for row in [ROWS[0], *map(dict.values, ROWS)]).encode(),
    "semicolons.csv": lambda: b"\xef\xbb\xbf" + as_csv(ROWS, ";").encode(),
    "rows.csv.gz": lambda: gzip.compress(as_csv(ROWS).encode()),
    "rows.jsonl": lambda: as_lines(ROWS).encode(),
    "booleans.jsonl": lambda: as_lines([{**row, "clicked": bool(row["clicked"])} for row in ROWS]).encode(),
    "rows.jsonl.gz": lambda: gzip.compress(as_lines(ROWS).encode()),
    "rows.json": lambda: json.dumps(ROWS).encode(),
    "summed.csv": lambda: as_csv(SUMMED).encode(),
    "ubi.jsonl": lambda: as_lines(ubi()).encode(),
    "exported.jsonl": lambda: as_lines({"_index": "ubi_events", "_source": event} for event in ubi()).encode(),
    "bulk.ndjson": lambda: bulk(ubi()).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_counts_of_a_loop(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name]())
    assert counted(tmp_path / name) == looped(EVENTS)


@pytest.mark.parametrize("library", ["rows", "pyarrow", "polars", "pandas", "parquet"])
def test_every_frame_gives_the_counts_of_a_loop(library, tmp_path):
    table = pa.Table.from_pylist(list(ubi()))
    made = {
        "rows": lambda: list(ubi()),
        "pyarrow": lambda: table,
        "polars": lambda: pytest.importorskip("polars").from_arrow(table),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(ROWS),
        "parquet": lambda: str(tmp_path / "log.parquet"),
    }
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "log.parquet")
    assert counted(made[library]()) == looped(EVENTS)


def test_the_texts_of_searches_may_be_in_another_file(tmp_path):
    (tmp_path / "events.jsonl").write_text(as_lines(ubi(texts=False)))
    searches = [{"query_id": search, "user_query": text, "timestamp": "x"} for search, text, _ in EVENTS]
    (tmp_path / "queries.jsonl").write_text(as_lines(searches))
    both = [tmp_path / "events.jsonl", tmp_path / "queries.jsonl"]
    assert counted(both) == counted(both[::-1]) == looped(EVENTS)
    with pytest.raises(InputError, match="these are searches, without what was shown"):
        fit_clicks(both[1])


def test_several_logs_count_together(tmp_path):
    (tmp_path / "one.csv").write_text(as_csv(ROWS))
    twice = counted([tmp_path / "one.csv", tmp_path / "one.csv"])
    assert twice == {pair: (2 * shown, 2 * clicks) for pair, (shown, clicks) in looped(EVENTS).items()}


def test_events_that_do_not_count_are_counted():
    shown = {"action_name": "impression", "query_id": "s1", "user_query": "a", "object_id": "x", "ordinal": 1}
    log = [
        shown,
        {**shown, "action_name": "click"},
        {**shown, "object_id": "y", "ordinal": None},
        {**shown, "object_id": "z", "action_name": "click"},
        {**shown, "query_id": None},
        {**shown, "object_id": "w", "ordinal": 10**12},
        {**shown, "object_id": "v", "action_name": "purchase"},
    ]
    clicks = fit_clicks(log)
    assert [(each.doc_id, each.impressions, each.clicks) for each in clicks.documents()] == [("x", 1, 1)]
    assert clicks.left_out == {
        "events without a search or a document": 1,
        "impressions without a rank": 1,
        "clicks without an impression": 1,
        "impressions below rank 200": 1,
    }


GOOD = {"query": "a", "doc_id": "x", "rank": "1", "impressions": "3", "clicks": "1"}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"query": ""}, "the query is empty"),
        ({"doc_id": ""}, "the document is empty"),
        ({"rank": "first"}, "the rank is not a whole number from 0"),
        ({"rank": "1.5"}, "the rank is not a whole number from 0"),
        ({"rank": "-1"}, "the rank is not a whole number from 0"),
        ({"clicks": "many"}, "the number of clicks is not a number from 0"),
        ({"clicks": "nan"}, "the number of clicks is not a number from 0"),
        ({"clicks": "-1"}, "the number of clicks is not a number from 0"),
        ({"impressions": "inf"}, "the number of impressions is not a number from 0"),
        ({"impressions": "x"}, "the number of impressions is not a number from 0"),
        ({"clicks": "4"}, "there are more clicks than impressions"),
    ],
)
def test_a_row_that_cannot_be_right_is_an_error_with_its_place(bad, message, tmp_path):
    (tmp_path / "log.csv").write_text(as_csv([GOOD, GOOD, {**GOOD, **bad}, GOOD, {**GOOD, **bad}]))
    with pytest.raises(InputError, match=rf"log\.csv: row 3: {message}\.") as caught:
        fit_clicks(tmp_path / "log.csv")
    assert "ranks and counts are numbers" in caught.value.hint


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"query": "a", "doc_id": "x", "clicked": 1}], "no column is its rank; it has query, doc_id, clicked"),
        ([{"a": 1, "b": 2}], "no column is the query, the document, its rank or its clicks"),
        ([{**GOOD, "clicks": "0"}], "nothing in it was clicked"),
        ([{"query_id": 1, "action": "click", "doc_id": 2, "rank": 1}], "it has no impressions"),
        ([{"query_id": 1, "action": "impression", "doc_id": 2, "rank": 1}], "it has no clicks"),
        ([{**GOOD, "rank": 1}, GOOD], "its rows are not alike"),
        (3, "the log: 3 is not a log"),
    ],
)
def test_what_is_not_a_log_of_clicks_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        fit_clicks(rows)


def test_a_file_that_is_not_there_or_not_a_log_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        fit_clicks(tmp_path / "none.csv")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match=r"bad\.parquet: it cannot be read as a log"):
        fit_clicks(tmp_path / "bad.parquet")
    late = as_lines(ROWS) * (2 + 3000 // len(ROWS))  # where only DuckDB looks
    for bad in ('{"query": broken', "3"):
        (tmp_path / "bad.jsonl").write_text(f"{late}{bad}\n")
        with pytest.raises(InputError, match=rf"bad\.jsonl:{late.count(chr(10)) + 1}: this line is not a JSON object"):
            fit_clicks(tmp_path / "bad.jsonl")


def test_open_files_and_pipes_are_logs_too(tmp_path):
    (tmp_path / "log.csv").write_text(as_csv(ROWS))
    (tmp_path / "log.jsonl").write_text(as_lines(ROWS))
    for name in ("log.csv", "log.jsonl"):
        with open(tmp_path / name, "rb") as file:
            assert counted(file) == looped(EVENTS)


@pytest.mark.parametrize("name", ["we[ir]d*?'.jsonl", "we[ir]d*?'.parquet", "we[ir]d*?'.csv"])
def test_a_file_may_have_any_name(name, tmp_path):
    (tmp_path / name.replace("[ir]d*?", "ird12")).write_text("another file that the name would match as a pattern")
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(ROWS), tmp_path / name)
    else:
        (tmp_path / name).write_text(as_lines(ROWS) if name.endswith("jsonl") else as_csv(ROWS))
    assert counted(tmp_path / name) == looped(EVENTS)


def test_ids_are_compared_as_they_are_and_texts_are_not():
    rows = [{"query_id": name, "doc_id": "x", "rank": 1, "clicked": 1} for name in ("Q1", "q1")]
    assert [each.query for each in fit_clicks(rows).documents()] == ["Q1", "q1"]
    rows = [{"query": name, "doc_id": "x", "rank": 1, "clicked": 1} for name in ("Red  shoes", " red Shoes ")]
    assert [(each.query, each.impressions) for each in fit_clicks(rows).documents()] == [("red shoes", 2)]


def test_the_order_of_rows_changes_nothing():
    shuffled = [ROWS[at] for at in np.random.default_rng(1).permutation(len(ROWS))]
    one, other = (list(fit_clicks(rows).documents()) for rows in (ROWS, shuffled))
    assert one == other
    assert not any(math.isnan(each.attraction) for each in one)
