"""Files of queries as people have them: what is the text, what is the id, and what is refused."""

# ruff: noqa: E501
import codecs
import gzip
import json
import random

import pytest

from cranfield.errors import InputError
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.io.pairs import read_numbers, read_words
from cranfield.io.queries import Queries, made_id, read_queries
from cranfield.io.query_tables import read_query_table
from tests.program import run

SHOES, COAT = "running shoes", "raincoat"
TWO = [SHOES, COAT]
TOPICS = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations.

<narr> Narrative:
A relevant document must be on crime.
</top>

<top>
<num> Number: 302
<title> Topic: Poliomyelitis
<desc> Description:
Is it under control?
</top>
"""
WEB = """<?xml version="1.0" encoding="UTF-8"?>
<webtrack2009>
<topic number="1" type="faceted">
  <query>obama family tree</query>
  <description>Find information on the family.</description>
  <subtopic number="1" type="nav">the TIME article</subtopic>
  <subtopic number="2" type="inf">his parents</subtopic>
</topic>
<topic number="2" type="ambiguous"><query>french lick resort &amp; casino</query></topic>
</webtrack2009>
"""
GA4 = """# ----------------------------------------
# Site search
# Start date: 20240101
# ----------------------------------------
Search term,Event count,Total users
running shoes,80,60
raincoat,20,12
"""

# The name of a file, its content, the ids (None where they are made), the texts, and the names of further columns.
LAYOUTS = {
    "a shop's export": ("q.csv", "query,count\nrunning shoes,12\nraincoat,80\n", None, TWO, ["count"]),
    "id, search term, count": ("q.tsv", "id\tsearch term\tcount\n1\trunning shoes\t12\n2\traincoat\t80\n", "12", TWO, ["count"]),
    "count first": ("q.csv", "count,query\n80,running shoes\n12,raincoat\n", None, TWO, ["count"]),
    "German": ("q.csv", "Suchbegriff;Anzahl\nrunning shoes;1.234\nraincoat;80\n", None, TWO, ["Anzahl"]),
    "German, Excel": ("q.csv", "\ufeffSuchbegriff;Häufigkeit;CTR\r\nrunning shoes;1.234;5,2 %\r\nraincoat;80;1 %\r\n", None, TWO, ["Häufigkeit", "CTR"]),
    "French": ("q.csv", "Requête;Nombre\nrunning shoes;12\nraincoat;12\n", None, TWO, ["Nombre"]),
    "French, terms": ("q.csv", "Terme de recherche;Clics\nrunning shoes;12\nraincoat;12\n", None, TWO, ["Clics"]),
    "Spanish": ("q.csv", "Término de búsqueda,Clics\nrunning shoes,1\nraincoat,2\n", None, TWO, ["Clics"]),
    "Swedish, by its numbers": ("q.csv", "sökord;antal\nrunning shoes;80\nraincoat;12\n", None, TWO, ["antal"]),
    "Search Console": ("Queries.csv", "Top queries,Clicks,Impressions,CTR,Position\nrunning shoes,12,300,4%,3.2\nraincoat,1,90,1.1%,11\n", None, TWO, ["Clicks", "Impressions", "CTR", "Position"]),
    "Search Console, German": ("q.csv", "Häufigste Suchanfragen,Klicks,Impressionen,CTR,Position\nrunning shoes,12,300,4%,3.2\nraincoat,1,90,1.1%,11\n", None, TWO, ["Klicks", "Impressionen", "CTR", "Position"]),
    "Search Console, French": ("q.csv", "Requêtes les plus fréquentes,Clics,Impressions,CTR,Position\nrunning shoes,12,300,4%,3.2\nraincoat,1,90,1.1%,11\n", None, TWO, ["Clics", "Impressions", "CTR", "Position"]),
    "GA4": ("ga4.csv", GA4, None, TWO, ["Event count", "Total users"]),
    "Algolia": ("a.csv", "search,count,nbHits\nrunning shoes,80,3\nraincoat,12,0\n", None, TWO, ["count", "nbHits"]),
    "Algolia, click analytics": ("a.csv", 'queryID,query,clickThroughRate\n"8ac1d9f0",running shoes,0.1\n"99cc12ab",raincoat,0.3\n', ["8ac1d9f0", "99cc12ab"], TWO, ["clickThroughRate"]),
    "UBI": ("ubi.jsonl", '{"application": "shop", "query_id": "1", "client_id": "c9", "user_query": "running shoes", "query_attributes": {}, "timestamp": "2024-01-31T10:00:00Z"}\n{"application": "shop", "query_id": "2", "client_id": "c9", "user_query": "raincoat", "query_attributes": {}, "timestamp": "2024-01-31T10:01:00Z"}\n', "12", TWO, ["application", "client_id", "query_attributes", "timestamp"]),
    "Quepid": ("quepid.csv", "query\nrunning shoes\nraincoat\n", None, TWO, []),
    "Quepid, export": ("quepid.csv", "Team Name,Case Name,Case ID,Query Text,Doc ID,Rating\nA,C,7,running shoes,d1,3\nA,C,7,raincoat,d2,0\n", None, TWO, ["Team Name", "Case Name", "Case ID", "Doc ID", "Rating"]),
    "BEIR": ("queries.jsonl", '{"_id": "1", "text": "running shoes", "metadata": {}}\n{"_id": 2, "text": "raincoat", "metadata": {"url": "x"}}\n', "12", TWO, ["metadata"]),
    "TREC topics": ("topics.txt", TOPICS, ["301", "302"], ["International Organized Crime", "Poliomyelitis"], ["desc", "narr"]),
    "TREC XML": ("topics.xml", WEB, "12", ["obama family tree", "french lick resort & casino"], ["type", "description", "subtopic"]),
    "TREC XML, text alone": ("t.xml", '<topics task="ct">\n<topic number="1">A man of 45.\nHe coughs.</topic><topic number="2">raincoat</topic></topics>', "12", ["A man of 45. He coughs.", COAT], []),
    "TREC-COVID": ("t.xml", "<topics><topic number='1'><query>running shoes</query><question>which shoes?</question><narrative>Any.</narrative></topic><topic number='2'><query>raincoat</query><question>which coat?</question><narrative>All.</narrative></topic></topics>", "12", TWO, ["question", "narrative"]),
    "Indri": ("t.xml", "<parameters><query><number>1</number><text>running shoes</text></query><query><number>2</number><text>raincoat</text></query></parameters>", "12", TWO, []),
    "MS MARCO": ("queries.tsv", '1048585\trunning shoes\n2\traincoat\n300\twhat does "so long" mean\n301\t"a" or "b"\n', ["1048585", "2", "300", "301"], [*TWO, 'what does "so long" mean', '"a" or "b"'], []),
    "NFCorpus": ("queries.tsv", "PLAIN-2\trunning shoes\nPLAIN-12\traincoat\n", ["PLAIN-2", "PLAIN-12"], TWO, []),
    "ir_datasets": ("q.tsv", "query_id\ttext\n1\trunning shoes\n2\traincoat\n", "12", TWO, []),
    "a query is an id beside a text": ("q.tsv", "query\ttext\nq1\trunning shoes\nq2\traincoat\n", ["q1", "q2"], TWO, []),
    "with classes": ("q.tsv", "query_id\tquery\tquery_class\n1\trunning shoes\tShoes\n2\traincoat\tCoats\n", "12", TWO, ["query_class"]),
    "ESCI": ("q.csv", "query_id,query,query_locale,product title\n1,running shoes,us,A shoe\n2,raincoat,us,A coat\n", "12", TWO, ["query_locale", "product title"]),
    "Excel's Unicode text": ("q.txt", ("ID\tQuery\tCount\r\n1\trunning shoes\t8\r\n2\traincoat\t9\r\n").encode("utf-16"), "12", TWO, ["Count"]),
    "lone carriage returns": ("q.csv", "id,query\r1,running shoes\r2,raincoat\r", "12", TWO, []),
    "empty columns and rows": ("q.csv", "id;query;;\n1;running shoes;;\n;;;\n2;raincoat;;\n;;;\n", "12", TWO, []),
    "the separator is named": ("q.csv", "sep=;\nquery;count\nrunning shoes;2\nraincoat;1\n", None, TWO, ["count"]),
    "bars": ("q.txt", "query|count\nrunning shoes|2\nraincoat|1\n", None, TWO, ["count"]),
    "lines": ("q.txt", "running shoes\n\nraincoat\n", None, TWO, []),
    "lines with commas and quotes": ("q.txt", 'shoes, red\n"red shoes" -blue\nraincoat\n', None, ["shoes, red", '"red shoes" -blue', COAT], []),
    "lines with a header": ("q.txt", "query\nshoes, red\nraincoat\n", None, ["shoes, red", COAT], []),
    "quotes and breaks": ("q.csv", 'id,query\n1,"running\nshoes, ""red"""\n2,raincoat\n', "12", ['running\nshoes, "red"', COAT], []),
    "everything quoted": ("q.tsv", '"id"\t"query"\n"1"\t"running shoes"\n"2"\t"raincoat"\n', "12", TWO, []),
    "blanks after commas": ("q.csv", 'id, query\n1, "shoes, red"\n2, raincoat\n', "12", ["shoes, red", COAT], []),
    "pandas": ("q.csv", ",query,count\n0,running shoes,80\n1,raincoat,12\n", None, TWO, ["", "count"]),
    "JSON, ids and texts": ("q.json", '{"1": "running shoes", "2": "raincoat"}', "12", TWO, []),
    "JSON, ids and objects": ("q.json", '{"1": {"query": "running shoes", "lang": "en"}, "2": {"query": "raincoat"}}', "12", TWO, ["lang"]),
    "JSON, texts": ("q.json", '["running shoes", "raincoat"]', None, TWO, []),
    "JSON, objects": ("q.json", json.dumps([{"id": 1, "searchTerm": SHOES, "n": 3}, {"id": 2, "searchTerm": COAT}], indent=2), "12", TWO, ["n"]),
    "JSON, a list inside": ("q.json", '{"version": 1, "queries": [{"q": "running shoes"}, {"q": "raincoat"}]}', None, TWO, []),
    "JSON lines of texts": ("q.jsonl", '"running shoes"\n"raincoat"\n', None, TWO, []),
    "one JSON line": ("q.jsonl", '{"query": "running shoes", "count": 3}\n', None, [SHOES], ["count"]),
    "CSV without a header": ("q.csv", "1,running shoes\n2,raincoat\n", "12", TWO, []),
    "semicolons without a header": ("q.csv", "1;shoes, red\n2;raincoat\n", "12", ["shoes, red", COAT], []),
    "slugs": ("q.csv", "running-shoes,running shoes\nrain-coat,rain coat\n", ["running-shoes", "rain-coat"], [SHOES, "rain coat"], []),
    "equal counts are no ids": ("q.tsv", "running shoes\t80\nraincoat\t80\n", None, TWO, ["column 2"]),
    "part numbers among texts": ("q.csv", "query,count\n4711,80\nraincoat,12\n", None, ["4711", COAT], ["count"]),
    "number is the id": ("q.csv", "Number,Title,Narrative\n1,running shoes,Any.\n2,raincoat,\n", "12", TWO, ["Narrative"]),
    "number of searches is not": ("q.csv", "Number of searches,Keyword\n1,running shoes\n2,raincoat\n", None, TWO, ["Number of searches"]),
    "upper case, hyphens": ("q.csv", "QUERY-ID,SEARCH-QUERY\n1,running shoes\n2,raincoat\n", "12", TWO, []),
    "tabs, and a comma in each text": ("q.tsv", "1\tshoes, red\n2\tcoat, blue\n", "12", ["shoes, red", "coat, blue"], []),
    "semicolons, and a comma in each text": ("q.csv", "1;shoes, red\n2;coat, blue\n", "12", ["shoes, red", "coat, blue"], []),
    "Adobe": ("q.csv", "Search Keyword,Instances,%\nrunning shoes,80,10%\nraincoat,20,5%\n", None, TWO, ["Instances", "%"]),
    "AOL": ("q.tsv", "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n142\trunning shoes\t2006-03-01 07:17:12\t\t\n142\traincoat\t2006-03-01 07:17:13\t1\thttp://x\n", None, TWO, ["AnonID", "QueryTime", "ItemRank", "ClickURL"]),
    "Kibana": ("q.csv", '"query.keyword: Descending",Count\nrunning shoes,"1,234"\nraincoat,20\n', None, TWO, ["Count"]),
    "a label that says nothing": ("q.csv", "label,nb_visits\nrunning shoes,80\nraincoat,20\n", None, TWO, ["nb_visits"]),
    "products beside queries": ("q.csv", '"id","product_uid","product_title","search_term","relevance"\n1,100001,"Simpson Strong-Tie","running shoes",3\n2,100001,"Simpson","raincoat",2.5\n', "12", TWO, ["product_uid", "product_title", "relevance"]),
    "one quoted column": ("q.csv", '"running shoes"\n"shoes, red"\n', None, [SHOES, "shoes, red"], []),
    "an odd id among numbers": ("q.tsv", "".join(f"{n}\ttext-{n}\n" for n in range(20)) + "x\tlast one\n", [*map(str, range(20)), "x"], [*(f"text-{n}" for n in range(20)), "last one"], []),
}  # fmt: skip


def written(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_that_people_have(layout, tmp_path):
    name, content, ids, texts, columns = LAYOUTS[layout]
    queries = read_queries(written(tmp_path, name, content))
    assert list(queries.values()) == texts
    assert list(queries) == (list(map(made_id, texts)) if ids is None else list(ids))
    assert list(queries.columns) == columns


UNCLEAR = {
    "number after a text": ("q.csv", "raincoat,80\nboots,20\n", "not clear which column"),
    "two words": ("q.tsv", "raincoat\tcoats\nboots\tshoes\n", "not clear which column"),
    "sorted numbers before a text": ("q.csv", "80,raincoat\n20,boots\n3,hats\n", "not clear which column"),
    "lines with one comma": ("q.txt", "coat, blue\nboots, brown\n", "not clear which column"),
    "two texts": ("q.csv", "query,keyword\nraincoat,coat\nboots,shoe\n", "'query' and 'keyword' could all be the text"),
    "unknown names": ("q.csv", "a,b,c\nraincoat,coat,1\nboots,shoe,2\n", "'a' and 'b' could all be the text"),
    "only numbers": ("q.csv", "query,count\n4711,80\n4712,20\n", "the column 'query' contains only numbers"),
    "only numbers, lines": ("q.txt", "4711\n4712\n", "only numbers"),
    "query and text": ("q.csv", "query,text\nred shoes,for boys\nblue hat,for girls\n", "'query' or 'text'"),
    "texts as keys": ("q.json", '{"running shoes": "q1", "rain coat": "q2"}', "the keys of a JSON object are ids"),
    "counts as values": ("q.json", '{"raincoat": 80, "boots": 20}', "has an id and a text"),
    "judgments": ("q.tsv", "query-id\tcorpus-id\tscore\n1\td1\t2\n2\td2\t1\n", "no column is the text"),
    "two descriptions": ("q.csv", "number,description,summary\n1,a man,he coughs\n2,a woman,she runs\n", "'description' and 'summary' could"),
    "both separators": ("q.csv", "a,b;c\nd,e;f\n", "separated by semicolon and comma"),
}  # fmt: skip


@pytest.mark.parametrize("layout", UNCLEAR)
def test_what_is_not_clear_is_refused_with_the_rows_as_they_were_read(layout, tmp_path):
    name, content, message = UNCLEAR[layout]
    with pytest.raises(InputError) as caught:
        read_queries(written(tmp_path, name, content))
    assert message in caught.value.fact
    assert "It was read as: " in caught.value.fact
    hint = "call the id of a query query_id" if name.endswith(".json") else "name the columns on the first line"
    assert caught.value.hint.startswith(hint)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", "query,count\nred, blue,80\n", "q.csv:2: 3 cells, but the first line names 2 columns"),
        ("q.csv", 'query,count\n"red" shoes,80\n', "invalid quoting"),
        ("q.csv", "red shoes, size 5\nboots\n", "q.csv:2: 1 cell, but line 1 has 2"),
        ("q.txt", "raincoat\nboots\nraincoat\n", "q.txt:3: the text 'raincoat' appears twice, on line 1 and here"),
        ("q.csv", "id,query\nq1,raincoat\n,boots\n", "q.csv:3: 'id' is missing"),
        ("q.csv", "query,Query\nraincoat,boots\n", "two columns have the same name"),
        ("q.txt", "search\nraincoat\n", "'search', may be a header or a query"),
        ("q.txt", "301 0 d1 1\n301 0 d2 0\n", "these are judgments or a run"),
        ("q.csv", "Straße\n".encode("latin-1"), "q.csv:1: this is not UTF-8 text"),
        ("q.csv", "a\n".encode("utf-16-le"), "zero characters"),
        ("q.txt", codecs.BOM_UTF16_LE + b"a", "this is not UTF-16 text"),
        ("q.csv", "Search terms\nJanuary\nquery,count\nred,8\n", "What is above a header must be removed"),
        ("q.json", '[{"name": "g", "queries": [{"q": "a"}]}]', "the field 'queries' is not a text"),
        ("q.xlsx", b"PK\x03\x04", "this is a spreadsheet"),
        ("q.xml", "<topics><topic>a & b</topic></topics>", "this is not XML"),
        ("q.xml", '<!DOCTYPE t [<!ENTITY a "b">]><t>&a;</t>', "declares entities"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_place(name, content, message, tmp_path):
    with pytest.raises(InputError) as caught:
        read_queries(written(tmp_path, name, content))
    assert message in str(caught.value)


def test_made_ids_depend_on_their_text_alone(tmp_path):
    texts = [f"query {number} of many" for number in range(20)]
    alone = {text: made_id(text) for text in texts}
    random.Random(1).shuffle(texts)
    queries = read_queries(written(tmp_path, "q.txt", "\n".join(texts[:9])))
    assert {text: query for query, text in queries.items()} == {text: alone[text] for text in texts[:9]}
    assert made_id("Red shoes") != made_id("red shoes")
    assert not any(sign.isspace() for sign in made_id("a very long\ttext\n" * 20))


def test_columns_stay_with_their_query(tmp_path):
    path = written(tmp_path, "q.csv", "query,count,segment\nraincoat,80,head\nboots,,tail\n")
    queries = read_queries(path)
    coat, boots = queries
    assert isinstance(queries, Queries)
    assert queries.columns == {"count": {coat: "80"}, "segment": {coat: "head", boots: "tail"}}
    assert queries.row(boots) == {"text": "boots", "segment": "tail"}
    assert queries.chosen({boots}).columns == {"count": {}, "segment": {boots: "tail"}}


def test_parquet_and_compressed_files(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({"qid": [1, 2], "query": TWO, "n": [3, None]}), tmp_path / "q.parquet")
    queries = read_queries(tmp_path / "q.parquet")
    assert (queries, queries.columns) == ({"1": SHOES, "2": COAT}, {"n": {"1": 3}})
    table = read_query_table(written(tmp_path, "q.csv.gz", gzip.compress(b"1,running shoes\n2,raincoat\n")))
    assert (table.format, table.separator, table.header) == ("CSV", ",", False)


FULL = "query,count,segment\nraincoat,80,head\nboots,2,tail\n"


@pytest.mark.parametrize(
    ("name", "content", "weights", "segments"),
    [
        ("q.csv", FULL, [80.0, 2.0], ["head", "tail"]),
        ("q.csv", FULL.replace(",", ";"), [80.0, 2.0], ["head", "tail"]),
        ("q.csv", "clicks,weight,search term,language\n8,3,raincoat,en\n9,4,boots,de\n", [3.0, 4.0], ["en", "de"]),
        ("q.jsonl", '{"query": "raincoat", "n": 1, "weight": 3, "lang": "en"}\n{"query": "boots", "weight": 4, "lang": "de"}\n', [3.0, 4.0], ["en", "de"]),
    ],
)  # fmt: skip
def test_weights_and_segments_come_from_a_file_of_queries(name, content, weights, segments, tmp_path):
    path = written(tmp_path, name, content)
    ids = [made_id("raincoat"), made_id("boots")]
    assert read_numbers(path, "weight") == dict(zip(ids, weights, strict=True))
    assert read_words(path, "segment") == dict(zip(ids, segments, strict=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query,clicks,count\nraincoat,8,9\nboots,7,6\n", "'count' and 'clicks' could all be the weight"),
        ("query,a,b\nraincoat,8,9\nboots,7,6\n", "no column is the weight of a query"),
        ("query;count\nraincoat;1.234\nboots;80\n", "whether the point in weight '1.234' separates thousands"),
    ],
)
def test_unclear_weights_are_refused(content, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_numbers(written(tmp_path, "q.csv", content), "weight")


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("weight", "-1", "q.csv: weight '-1' of '2' is not a number from 0."),
        ("weight", "often", "q.csv: weight 'often' of '2' is not a number from 0."),
        ("answerable", "maybe", "q.csv: answerable 'maybe' of '2' is neither yes nor no."),
    ],
)
def test_a_bad_fact_in_a_file_of_queries_names_the_file(column, value, message, tmp_path):
    good = "yes" if column == "answerable" else "3"
    path = written(tmp_path, "q.csv", f"query_id,text,{column}\n1,boots,{good}\n2,raincoat,{value}\n")
    for option in ("query_columns", column if column == "answerable" else f"{column}s"):
        with pytest.raises(InputError) as error:
            QueryColumns.read(**{option: path})
        assert message in str(error.value)


def test_points_that_may_separate_thousands_are_refused_in_all_columns_at_once(tmp_path):
    path = written(tmp_path, "q.csv", "query;weight\nraincoat;1.234\nboots;80\n")
    with pytest.raises(InputError, match=r"whether the point in weight '1\.234' separates thousands"):
        QueryColumns.read(path)


def test_the_text_of_a_query_is_not_taken_for_a_fact(tmp_path):
    path = written(tmp_path, "q.csv", "query_id,text\n1,boots\n2,raincoat\n")
    with pytest.raises(InputError, match="no column is the segment of a query"):
        read_words(path, "segment")


def test_facts_that_are_no_file_are_told_how_to_be_given():
    with pytest.raises(InputError, match="dict is no file of queries") as error:
        QueryColumns.read({"1": 2})
    assert "weights, segments, groups, answerable as {query: value}" in str(error.value)


def test_check_shows_how_queries_are_read(tmp_path):
    written(tmp_path, "q.csv", "\ufeffSuchbegriff;Anzahl\r\nregenmantel;80\r\nschuhe;2\r\n")
    done = run("check", "q.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "q.csv",
        "  CSV, separated by semicolon, with a header",
        "  text: the column 'Suchbegriff'",
        "  ids: made from the texts",
        "  further columns: Anzahl",
        "  2 queries; the first:",
        f"    {made_id('regenmantel')}: regenmantel; Anzahl: 80",
        f"    {made_id('schuhe')}: schuhe; Anzahl: 2",
    ]
    facts = json.loads(run("check", "q.csv", "--format", "json", cwd=tmp_path).stdout)
    assert (facts["id"], facts["text"], facts["separator"], facts["queries"]) == (None, "Suchbegriff", ";", 2)
    assert facts["first"][0] == {"query_id": made_id("regenmantel"), "text": "regenmantel", "Anzahl": "80"}
    written(tmp_path, "r.csv", "raincoat,80\nboots,20\n")
    refused = run("check", "r.csv", cwd=tmp_path)
    assert (refused.returncode, "line 2 [boots | 20]" in refused.stderr) == (2, True)
    written(tmp_path, "qrels.txt", "1 0 a 1\n")
    assert "Missing argument 'RUN" in run("check", "qrels.txt", cwd=tmp_path).stderr.replace("missing", "Missing")
