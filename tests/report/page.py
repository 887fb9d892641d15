"""Report pages for tests, read as a browser would read them."""

import base64
import gzip
import json
from html.parser import HTMLParser

import cranfield
from cranfield.report.encoding import LETTERS
from cranfield.systems.collection import Collection, Document

FILES = ("builtin:qrels", ["builtin:keywords", "builtin:meaning"])


EVIL = "<script>window.broken = 1</script>"


ENDING = "</script><img src=x onerror='window.broken=1'>\"&amp;\u2028--><!--"


def unpacked(text):
    """The page's data; values and rankings, which are JSON texts in it, are parsed, too."""
    data = json.loads(text)
    data["values"] = [json.loads(columns) for columns in data["values"]]
    data["rankings"] = [
        {str(query): shown(data, row, *columns) for row, query in enumerate(data["detailed"])}
        for columns in map(json.loads, data["rankings"])
    ]
    return data


def shown(data, row, top, ranks, reasons, tags, steps, effects):
    def part(column):
        values, starts = column
        first, last = (row * starts, (row + 1) * starts) if isinstance(starts, int) else starts[row : row + 2]
        its = values[first:last]
        return [LETTERS.index(letter) for letter in its] if isinstance(its, str) else its

    documents = data["details"][str(data["detailed"][row])]["shown"]
    documents = range(documents, documents + 100_000) if isinstance(documents, int) else documents
    values, depth = [value / 10_000 for value in part(steps)], len(part(top)) if top else 0
    return {
        "top": top and [documents[at] for at in part(top)],
        "ranks": ranks and part((ranks, data["starts"])),
        "reason": data["reasons"][reasons[row]],
        "why": data["tags"][tags[row]],
        "effects": [each / 10**9 for each in part(effects)],
        "steps": [values[start : start + depth] for start in range(0, len(values), depth or 1)],
    }


class Page(HTMLParser):
    """What a browser would make of a page: its elements, the text outside of scripts, its data."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.text, self.data, self._inside = [], "", None, None
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside = (tag, dict(attributes).get("id"))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == ("script", "data"):
            self.data = unpacked(data if data.startswith("{") else gzip.decompress(base64.b64decode(data)))
        elif self._inside is None or self._inside[0] not in ("script", "style"):
            self.text += data

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


def made(tmp_path, *arguments, **options):
    qrels, runs, *measures = arguments
    cranfield.write_report(qrels, runs, tmp_path / "report.html", *measures, **{"charts": False, **options})
    return Page(tmp_path / "report.html")


def evil(tmp_path, **options):
    """A page whose every name and text tries to break out."""
    queries = {f"{EVIL}{n}": f"{ENDING} query {n}" for n in range(3)}
    documents = [Document(f"{ENDING}{n}", f"{EVIL} title {n}", f"text {ENDING}") for n in range(4)]
    collection = Collection(EVIL, queries, corpus=lambda: iter(documents))
    qrels = {query: {documents[0].doc_id: 2, documents[3].doc_id: 1} for query in queries}
    runs = {
        EVIL: {query: [document.doc_id for document in documents[:3]] for query in queries},
        ENDING: {query: [document.doc_id for document in documents[::-1]] for query in queries},
    }
    segments = dict.fromkeys(queries, ENDING)
    return made(
        tmp_path, qrels, runs, "RR nDCG@5", collection=collection, segments=segments, title=ENDING + EVIL, **options
    )
