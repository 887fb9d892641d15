"""Random judgments and runs, and the many ways to write them to files."""

import contextlib
import io
import random

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cranfield.io import records
from cranfield.ranks import first_documents as first
from cranfield.ranks.scan import memory
from cranfield.ranks.scan import text as scan

# Ids with letters of one, two, three and four bytes, digits, and signs that formats might trip over.
letters = st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters='#"')
ids = st.one_of(
    st.sampled_from(["1", "10", "2", "a", "b", "ab", "z", "é", "文書", "𝄞", "D-1", "x_1", "12345678", "123456789abc"]),
    st.text(letters, min_size=1, max_size=12),
)
grades = st.one_of(st.integers(-1, 4), st.sampled_from([0.5, 1.5, 2.25]))
# Few different scores, so that ties are common; some that 32 bits cannot tell apart; some long and odd ones.
scores = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.1, 0.1 + 1e-12, 16777216.0, 16777217.0, 1e-300, -1e300, 0.30000000000000004]),
    st.floats(allow_nan=False, allow_infinity=False),
)


def drawn(strategy, count):
    """Examples to share between tests, so that costly results about them are computed once."""
    found = []

    @settings(
        max_examples=count,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(example):
        found.append(example)

    draw()
    return found


@st.composite
def runs(draw, queries, documents):
    """A run of these documents with most of the queries, or with an unrelated query if none is drawn."""
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    run = {q: {d: draw(scores) for d in draw(some)} for q in queries if draw(st.integers(0, 4))}
    return run or {"no query of these": {"d": 1.0}}


@st.composite
def collections(draw, grades=grades, scores=scores, max_queries=6, max_documents=12):
    """(qrels, run): dicts of dicts that share some queries and some documents."""
    queries = draw(st.lists(ids, min_size=1, max_size=max_queries, unique=True))
    documents = draw(st.lists(ids, min_size=1, max_size=max_documents, unique=True))
    some = st.lists(st.sampled_from(documents), min_size=1, unique=True)
    qrels = {q: {d: draw(grades) for d in draw(some)} for q in queries if draw(st.integers(0, 4))}
    run = {q: {d: draw(scores) for d in draw(some)} for q in queries if draw(st.integers(0, 4))}
    qrels = qrels or {queries[0]: {documents[0]: 1}}
    run = run or {queries[0]: {documents[0]: 1.0}}
    return qrels, run


@st.composite
def layouts(draw):
    """A function that writes lines of columns as the bytes of a TREC file."""
    seed = draw(st.integers(0, 2**32))
    order = draw(st.sampled_from(["grouped", "shuffled", "interleaved"]))
    blanks = draw(st.sampled_from([(" ",), ("\t",), (" ", "\t", "   ", " \t ")]))
    ending = draw(st.sampled_from(["\n", "\r\n", " \n"]))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    extras = draw(st.booleans())
    complete = draw(st.booleans())

    def write(lines, *, comments=True):
        chance = random.Random(seed)
        lines = list(lines)
        if order == "shuffled":
            chance.shuffle(lines)
        elif order == "interleaved":
            lines.sort(key=lambda line: line[2])
        out = []
        for line in lines:
            if extras and comments and chance.random() < 0.2:
                out.append(chance.choice(["", "   ", "# a comment", "  # another 1 2 3 4 5 6"]) + ending)
            lead = chance.choice(["", "", " "]) if extras else ""
            row = lead + line[0] + "".join(chance.choice(blanks) + column for column in line[1:])
            if extras and len(line) == 6 and chance.random() < 0.3:
                row += " 7th 8th"
            out.append(row + ending)
        data = "".join(out).encode()
        return mark + (data if complete else data.rstrip())

    return write


def trec_qrels(qrels, write):
    return write((q, "0", d, repr(grade)) for q, judged in qrels.items() for d, grade in judged.items())


def trec_run(run, write):
    return write((q, "Q0", d, "1", repr(score), "tag") for q, ranking in run.items() for d, score in ranking.items())


def plain(lines):
    """The usual way to write a TREC file."""
    return "".join(" ".join(line) + "\n" for line in lines).encode()


@contextlib.contextmanager
def scan_with(native, block=1 << 20, **settings):
    """Scan natively or in Python, in blocks of a given size; `settings` are other names in the modules that scan."""
    alike = {"native": native}
    parts = settings.pop("parts", settings.pop("PARTS", records.PARTS))
    text = {**alike, "BLOCK": block, **settings}
    changes = ((scan, text), (memory, alike), (first, alike), (records, {**alike, "PARTS": parts}))
    before = [(module, {name: vars(module)[name] for name in names}) for module, names in changes]
    for module, names in changes:
        vars(module).update(names)
    try:
        yield
    finally:
        for module, names in before:
            vars(module).update(names)


def written(text, run):
    """A run with its documents in the order of a file's lines, for ties in the order of the file."""
    lines = [line.split() for line in text.decode().lstrip("\ufeff").split("\n")]
    lines = [line for line in lines if line and not line[0].startswith("#")]
    return {query: {line[2]: run[query][line[2]] for line in lines if line[0] == query} for query in run}


def file(data):
    return io.BytesIO(data)
