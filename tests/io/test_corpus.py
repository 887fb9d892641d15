"""Files of documents: what they may be called, and how their columns are found."""

import gzip
import json

import pytest

from cranfield import open_collection
from cranfield.errors import InputError
from cranfield.io.corpus import corpus_in, open_corpus, read_texts

ROWS = [
    {"sku": "000444", "name": "Raincoat", "description": "Yellow, with a hood", "url": "https://x", "image": "444.png"},
    {"sku": "000445", "name": "Hat; blue", "description": 'Says "hello"\non two lines', "url": "", "image": ""},
]
FOUND = [tuple(row.values()) for row in ROWS]


def delimited(mark):
    quoted = (['"' + cell.replace('"', '""') + '"' for cell in row] for row in FOUND)
    return "".join(mark.join(cells) + "\r\n" for cells in ([*ROWS[0]], *quoted)).encode()


def write_parquet(rows, path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("corpus.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS).encode()),
        ("corpus.csv", delimited(",")),
        ("corpus.csv", b"\xef\xbb\xbf" + delimited(";")),
        ("corpus.tsv", delimited("\t")),
        ("corpus.csv.gz", gzip.compress(delimited(","))),
        ("corpus.parquet", None),
    ],
)
def test_documents_are_read_from_every_format(tmp_path, name, content):
    (tmp_path / "queries.txt").write_text("raincoat\n")
    if content is None:
        write_parquet(ROWS, tmp_path / name)
    else:
        (tmp_path / name).write_bytes(content)
    assert corpus_in(tmp_path) == str(tmp_path / name)
    assert list(open_collection(tmp_path).documents()) == FOUND
    assert read_texts(tmp_path) == {sku: text for sku, _, text, *_ in FOUND}


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("_id,title,text", ("1", "a", "b", "", "")),
        ("id,contents,name", ("1", "b", "a", "", "")),
        ("doc_id,price,Body", ("1", "", "b", "", "")),
        ("ID,image_url,link", ("1", "", "", "b", "a")),
    ],
)
def test_columns_have_many_names(tmp_path, head, found):
    (tmp_path / "c.csv").write_text(f"{head}\n1,a,b\n")
    assert list(open_corpus(tmp_path / "c.csv")()) == [found]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.xlsx", "?", "corpus.xlsx: this is not a format of documents."),
        ("corpus.txt", "1 a\n", "write them as corpus.jsonl, .csv, .tsv or .parquet"),
        ("corpus.csv", "sku,beschreibung\n1,a\n", "corpus.csv:2: no column has a text; there are beschreibung."),
        ("corpus.csv", "title,text\na,b\n", "corpus.csv:2: there is no document."),
        ("corpus.csv", "id,text\n1,a,b\n", "corpus.csv:2: 3 columns where 2 are needed."),
        ("corpus.jsonl", '{"_id": "1", "text": ["a"]}\n', "the text ['a'] is not text."),
        ("corpus.jsonl", '{"_id": "1"\n', "corpus.jsonl:1: "),
        ("corpus.csv", b"id,text\n1,a\n2,\xff\n", "byte 15 is not UTF-8"),
        ("corpus.parquet", "PAR1", "cannot be read"),
    ],
)
def test_what_is_not_understood_is_said_where_documents_are_needed(tmp_path, name, content, message):
    (tmp_path / "queries.txt").write_text("raincoat\n")
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    opened = open_collection(tmp_path)  # whose queries need no documents
    with pytest.raises(InputError) as caught:
        list(opened.documents())
    assert message in str(caught.value)


def test_long_texts_are_no_error(tmp_path):
    (tmp_path / "c.csv").write_text(f"id,text\n1,{'long ' * 100_000}\n")
    [document] = open_corpus(tmp_path / "c.csv")()
    assert len(document.text) == 500_000


def test_a_document_may_be_nothing_but_an_id(tmp_path):
    (tmp_path / "c.jsonl").write_text('{"_id": 7}\n{"_id": "d", "title": 2001}\n')
    assert [document[:3] for document in open_corpus(tmp_path / "c.jsonl")()] == [("7", "", ""), ("d", "2001", "")]
