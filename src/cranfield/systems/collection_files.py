"""The files in the folder of a collection, by their names."""

from __future__ import annotations

import os

from cranfield.io.compression import first_file
from cranfield.io.formats.store import STORE
from cranfield.words import joined

_QUERIES = ("queries.jsonl", "queries.tsv", "queries.csv", "queries.txt")
_OTHERS = ("queries.json", "queries.parquet", "queries.xml", "topics.json", "topics.parquet", "topics.xml")
_QRELS = ("qrels.tsv", "qrels.txt", "qrels.csv")
QUERY_FILES = (*_QUERIES, *(f"topics{os.path.splitext(name)[1]}" for name in _QUERIES), *_OTHERS)
QRELS_FILES = (*_QRELS, "qrels", "qrels.test.tsv", "qrels.trec", "qrels.jsonl", STORE)


def _in_words(names: tuple[str, ...]) -> str:
    return joined((names[0], *(os.path.splitext(name)[1] for name in names[1:])), "or")


USUAL_QUERIES = _in_words(_QUERIES)
USUAL_QRELS = _in_words(_QRELS)


def folder_of_queries(qrels: str) -> str | None:
    """The folder of the collection that a file of judgments belongs to; None where no queries are beside it."""
    beside = os.path.dirname(qrels).removesuffix(f"{os.sep}{os.curdir}")
    folder = (os.path.dirname(beside) if os.path.basename(beside) == "qrels" else beside) or os.curdir
    if not os.path.isfile(qrels) or first_file(folder, QUERY_FILES) is None:
        return None
    from pathlib import Path  # takes as long to import as all measures, and is rarely needed

    return str(Path(folder))
