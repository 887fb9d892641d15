"""One collection cut into chunks in five ways: the same judgments measure all of them, and the runs are compared."""

import json
import math
import re
from collections import Counter

import pytest

from cranfield import (
    ChunkRun,
    Chunks,
    ComparisonError,
    Evaluation,
    InputError,
    Judgments,
    PassageJudgments,
    compare,
    evaluate,
    evaluate_runs,
    explain,
    gate,
    open_collection,
    write_report,
)
from tests.program import run as program

COLLECTION = open_collection("builtin")
TEXTS = {document.doc_id: document.text for document in COLLECTION.documents()}
MEASURES = "nDCG@10 PassageR@5 TextR@5 TextP@5 TextIoU@5 TextR(budget=600) PassageR(budget=600)"


def words(text):
    return re.findall(r"[a-z]+", text.lower())


def sentences(text):
    return [(found.start(), found.end()) for found in re.finditer(r"\S[^.]*\.?", text)]


def best_sentences():
    """For each relevant document, its sentence that shares most words with the query, as a quote."""
    for query, judged in Judgments.read(COLLECTION.qrels).by_query.items():
        query_words = set(words(COLLECTION.queries[query]))
        for document, grade in judged.items():
            text = TEXTS[document]
            quotes = [text[start:end] for start, end in sentences(text)]
            quote = max(quotes, key=lambda each: len(query_words & set(words(each))))
            yield {"query_id": query, "doc_id": document, "quote": quote, "grade": grade}


def windows(size, step):
    return {
        f"{document}#{start}": (document, start, min(start + size, len(text)))
        for document, text in TEXTS.items()
        for start in range(0, len(text), step)
    }


def in_sentences(count):
    found = {}
    for document, text in TEXTS.items():
        places = sentences(text)
        for first in range(0, len(places), count):
            last = min(first + count, len(places)) - 1
            found[f"{document}#{first}"] = (document, places[first][0], places[last][1])
    return found


CHUNKINGS = {
    "whole": {document: (document, 0, len(text)) for document, text in TEXTS.items()},
    "windows of 100": windows(100, 100),
    "overlapping": windows(120, 60),
    "sentences": in_sentences(1),
    "pairs of sentences": in_sentences(2),
}


def retrieved(chunks):
    """A plain retriever: words in common, the rare ones first."""
    bags = {chunk: set(words(TEXTS[document][start:end])) for chunk, (document, start, end) in chunks.items()}
    occurs = Counter(word for bag in bags.values() for word in bag)
    found = {}
    for query, text in COLLECTION.queries.items():
        query_words = set(words(text))
        scores = {
            chunk: sum(math.log(len(bags) / occurs[word]) for word in query_words & bag) for chunk, bag in bags.items()
        }
        best = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:20]
        found[query] = {chunk: scores[chunk] for chunk in best}
    return found


@pytest.fixture(scope="module")
def passages():
    return PassageJudgments.read(best_sentences(), COLLECTION)


@pytest.fixture(scope="module")
def runs():
    return {name: ChunkRun(retrieved(chunks), Chunks.read(chunks, TEXTS)) for name, chunks in CHUNKINGS.items()}


def test_five_chunkings_are_measured_by_the_same_judgments(passages, runs):
    found = evaluate_runs(passages, runs, MEASURES)
    assert {each.qrels_sha256 for each in found.values()} == {passages.sha256}
    assert {each.query_ids for each in found.values()} == {passages.query_ids}
    for each in found.values():
        assert all(0 < value <= 1 for value in each.values()), each
        assert all(0 <= row.value <= 1 for row in each.per_query)
    # A whole document contains the passage and much other text.
    assert found["whole"]["TextR@5"] > found["sentences"]["TextR@5"]
    assert found["whole"]["TextP@5"] < found["sentences"]["TextP@5"]
    # A common budget makes chunks of any size comparable.
    assert found["whole"]["TextR(budget=600)"] < found["sentences"]["TextR(budget=600)"]


def test_a_perfect_retriever_reaches_1_with_any_chunking(passages):
    for chunks in CHUNKINGS.values():
        holding = {query: {} for query in passages.query_ids}
        for query, document, start, end, grade in passages.passages:
            for chunk, (its, first, last) in chunks.items():
                held = max(0, min(end, last) - max(start, first)) if its == document else 0
                if grade >= 1 and held:
                    holding[query][chunk] = max(holding[query].get(chunk, 0.0), grade + held / (end - start) / 2)
        relevant = [query for query, found in holding.items() if found]
        values = evaluate(passages, ChunkRun(holding, chunks), "PassageR TextR").by_query("TextR")
        assert all(values[query] == 1 for query in relevant)


def test_finding_chunks_by_their_texts_gives_the_same_places():
    by_text = [(chunk, its, TEXTS[its][start:end]) for chunk, (its, start, end) in in_sentences(2).items()]
    found = Chunks.read(by_text, TEXTS)
    assert {chunk: place[:3] for chunk, place in found.places.items()} == in_sentences(2)


def test_comparing_two_chunkings(passages, runs):
    found = compare(passages, {name: runs[name] for name in ("whole", "sentences")}, "TextR(budget=600) nDCG@10")
    text, ranks = found
    assert (text.baseline, text.run, found.queries) == ("whole", "sentences", 60)
    assert text.difference == pytest.approx(
        evaluate(passages, runs["sentences"], "TextR(budget=600)")["TextR(budget=600)"]
        - evaluate(passages, runs["whole"], "TextR(budget=600)")["TextR(budget=600)"]
    )
    # The text around passages was not judged; of ranks, the grades of unjudged chunks have bounds.
    assert text.reach is None
    assert ranks.reach.low <= ranks.difference <= ranks.reach.high
    other = PassageJudgments.read([("q01", "precision", 0, 9, 1)])
    with pytest.raises(ComparisonError, match="different judgments"):
        compare(passages, {"a": runs["whole"], "b": evaluate(other, runs["whole"], "nDCG@10")}, "nDCG@10")


def test_gate_report_and_saved_values(passages, runs, tmp_path):
    before = evaluate(passages, runs["whole"], MEASURES)
    before.save(tmp_path / "before.json")
    loaded = Evaluation.load(tmp_path / "before.json")
    assert dict(loaded) == dict(before)
    assert loaded.signature == before.signature
    assert gate(passages, loaded, runs["whole"], "nDCG@10").passed
    page = write_report(passages, runs, tmp_path / "report.html", "nDCG@10 TextR@5", charts=False)
    assert "pairs of sentences" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.size > 1000
    low, high, exact, *_ = before.bounds("TextR@5")
    assert (low, high, exact) == (0, 1, False)


def test_explain_needs_a_grade_for_each_document(passages, runs):
    with pytest.raises(InputError, match="judgments of passages, but one grade for each document is needed") as caught:
        explain(passages, runs["whole"], "q01", "nDCG@10")
    assert "passages.of_documents()" in str(caught.value)
    documents = passages.of_documents()
    assert documents.by_query == Judgments.read(COLLECTION.qrels).by_query
    assert evaluate(documents, retrieved(CHUNKINGS["whole"]), "R@5")["R@5"] > 0


@pytest.fixture
def files(tmp_path, runs):
    rows = {"passages.jsonl": best_sentences(), "corpus.jsonl": ({"_id": d, "text": t} for d, t in TEXTS.items())}
    for name, label in (("small", "sentences"), ("large", "whole")):
        ranked = [f"{q} Q0 {c} 0 {s!r} t\n" for q, found in runs[label].run.items() for c, s in found.items()]
        (tmp_path / f"{name}.run").write_text("".join(ranked))
        places = CHUNKINGS[label].items()
        rows[f"{name}.jsonl"] = [{"chunk_id": c, "doc_id": d, "start": s, "end": e} for c, (d, s, e) in places]
    for name, its in rows.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in its), encoding="utf-8")
    return tmp_path


def test_commands_give_the_same_values_as_the_library(files, passages, runs):
    options = ("--documents", "corpus.jsonl", "-m", "TextR(budget=600)", "-m", "nDCG@10", "--format", "json")
    done = program("evaluate", "passages.jsonl", "small.run", "--chunks", "small.jsonl", *options, cwd=files)
    assert done.returncode == 0, done.stderr
    [reported] = json.loads(done.stdout)["runs"]
    assert reported["mean"] == pytest.approx(dict(evaluate(passages, runs["sentences"], "TextR(budget=600) nDCG@10")))
    each = ("--chunks", "large.jsonl", "--chunks", "small.jsonl")
    compared = program("compare", "passages.jsonl", "large.run", "small.run", *each, *options, cwd=files)
    assert compared.returncode == 0, compared.stderr
    [text, _] = json.loads(compared.stdout)["differences"]
    expected, _ = compare(passages, {"large": runs["whole"], "small": runs["sentences"]}, "TextR(budget=600) nDCG@10")
    assert (text["difference"], text["p"]) == (pytest.approx(expected.difference), pytest.approx(expected.p))


def test_reports_and_charts(files):
    options = ("large.run", "small.run", "--chunks", "large.jsonl", "--chunks", "small.jsonl")
    options += ("--documents", "corpus.jsonl", "-m", "PassageR@5")
    page = program("report", "passages.jsonl", *options, "--no-charts", "-b", "large.run", "-o", "page.html", cwd=files)
    assert page.returncode == 0, page.stderr
    assert "PassageR@5" in (files / "page.html").read_text(encoding="utf-8")
    drawn = program("plot", "difference", "passages.jsonl", *options, "-o", "chart.json", cwd=files)
    assert drawn.returncode == 0, drawn.stderr
    assert "PassageR@5" in (files / "chart.json").read_text(encoding="utf-8")
    drawn = program("plot", "discount", "--chunks", "large.jsonl", "-o", "chart.json", cwd=files)
    assert "--chunks needs judgments and runs." in drawn.stderr


def test_chunks_are_found_beside_their_runs(files):
    options = ("--documents", "corpus.jsonl", "-m", "PassageR@5")
    done = program("compare", "passages.jsonl", "large.run", "small.run", *options, cwd=files)
    assert done.returncode == 2
    assert "there are no chunks for large.run" in done.stderr
    done = program("evaluate", "builtin:qrels", "builtin:keywords", *options, cwd=files)
    assert "--documents needs --chunks" in done.stderr
    (files / "small.jsonl").rename(files / "small.run.chunks.jsonl")
    done = program("compare", "passages.jsonl", "large.run", "small.run", *options, cwd=files)
    assert "there are no chunks for large.run" in done.stderr
    (files / "large.jsonl").rename(files / "large.run.chunks.jsonl")
    done = program("compare", "passages.jsonl", "large.run", "small.run", *options, cwd=files)
    assert done.returncode == 0, done.stderr
    assert "Reading chunks from large.run.chunks.jsonl, small.run.chunks.jsonl." in done.stderr


def test_gate_with_a_saved_baseline(files):
    options = ("--documents", "corpus.jsonl", "-m", "PassageR@5")
    saved = ("evaluate", "passages.jsonl", "large.run", "--chunks", "large.jsonl", "--save", "before.json")
    assert program(*saved, *options, cwd=files).returncode == 0
    for baseline, chunks in (("before.json", ["small.jsonl"]), ("large.run", ["large.jsonl", "small.jsonl"])):
        named = [word for file in chunks for word in ("--chunks", file)]
        done = program("gate", "passages.jsonl", baseline, "small.run", *named, *options, cwd=files)
        assert "PassageR@5" in done.stdout, done.stderr
        assert done.returncode in (0, 1)
    (files / "small.jsonl").rename(files / "small.run.chunks.jsonl")
    done = program("gate", "passages.jsonl", "before.json", "small.run", *options, cwd=files)
    assert "PassageR@5" in done.stdout, done.stderr


def test_every_run_needs_its_chunks(files):
    three = ("large.run", "small.run", "small.run", "--chunks", "large.jsonl", "--chunks", "small.jsonl")
    done = program("compare", "passages.jsonl", *three, cwd=files)
    assert done.returncode == 2
    assert "2 files of chunks for 3 runs" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_budget_too_small_for_the_first_chunk_is_a_warning():
    passages = PassageJudgments.read([("q", "d", 0, 10, 1), ("r", "d", 0, 10, 1)])
    run = ChunkRun({"q": ["large"], "r": ["small"]}, {"large": ("d", 0, 40), "small": ("d", 0, 5)})
    result = evaluate(passages, run, "TextR(budget=30) TextP(budget=30) TextR@5")
    assert result.warnings == ("the first chunk of 1 of 2 queries is larger than the budget of 30 characters",)
    assert evaluate(passages, run, "TextR(budget=30, fit=cut) TextR(budget=40)").warnings == ()
