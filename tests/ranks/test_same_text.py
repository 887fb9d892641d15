"""The same text under several ids: what a check says, and grades that copies inherit."""

import gzip
import io
import json
import random

import pytest

import cranfield
from cranfield import Collection, check_files, evaluate, inherit_grades
from cranfield.io.corpus import Document
from cranfield.ranks.same_text import copies, documents_of
from tests import program

CORPUS = {
    "a": ("Cats", "purr  softly"),
    "b": ("Cats", "purr\nsoftly "),
    "c": ("", "Dogs bark"),
    "d": ("", "Dogs bark"),
    "e": ("", ""),
    "f": ("", ""),
    "g": ("Cats purr", "softly"),
    "h": ("", "caf\u00e9"),
    "i": ("", "cafe\u0301"),
    "j": ("", "dogs bark"),
}
QRELS = {"1": {"a": 2, "c": 1, "d": 0}, "2": {"e": 1, "c": 0}, "3": {"h": 3, "z": 1}, "4": {"a": -1}}


@pytest.fixture
def corpus(tmp_path):
    rows = [{"_id": name, "title": title, "text": text} for name, (title, text) in CORPUS.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{query} 0 {document} {grade}\n" for query, each in QRELS.items() for document, grade in each.items()]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "run").write_text("1 Q0 b 1 3 x\n1 Q0 c 2 2 x\n2 Q0 e 1 1 x\n3 Q0 z 1 1 x\n4 Q0 a 1 1 x\n")
    return tmp_path


def test_copies_have_the_same_title_and_text(corpus):
    judged = {document for each in QRELS.values() for document in each}
    assert copies(judged, documents_of(corpus / "corpus.jsonl")) == (("a", "b"), ("c", "d"), ("h", "i"))
    assert copies({"g", "j", "e"}, documents_of(corpus)) == ()  # of one title, of small letters, without a text
    assert copies(set(), documents_of({"a": "x", "b": "x"})) == ()


def test_copies_inherit_the_grade(corpus):
    inherited = inherit_grades(QRELS, corpus)
    assert inherited.by_query == {
        "1": {"a": 2, "b": 2, "c": 1, "d": 0},  # which were judged, and keep their grades
        "2": {"c": 0, "d": 0, "e": 1},
        "3": {"h": 3, "i": 3, "z": 1},
        "4": {"a": -1},  # pooled, but not judged
    }
    assert inherited.provenance == "same_text:inherit(3)"
    result = evaluate(inherited, corpus / "run", "RR R@10")
    assert "|same_text:inherit(3)|" in result.signature
    assert result.by_query("RR")["1"] == 1.0
    assert evaluate(QRELS, corpus / "run", "RR").by_query("RR")["1"] == 0.5


def test_copies_of_different_grades_pass_on_the_highest():
    texts = dict.fromkeys("abc", "the same")
    assert inherit_grades({"q": {"a": 0, "b": 2}}, texts).by_query["q"] == {"a": 0, "b": 2, "c": 2}
    again = inherit_grades(inherit_grades({"q": {"a": 1}}, texts), texts)
    assert again.provenance == "same_text:inherit(2)|same_text:inherit(0)"


def test_every_source_of_documents_gives_the_same(corpus):
    plain = corpus / "corpus.jsonl"
    packed = corpus / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    documents = [Document(name, *both) for name, both in CORPUS.items()]
    for source in (plain, packed, corpus, Collection("mine", {}, corpus=lambda: iter(documents))):
        assert inherit_grades(QRELS, source).by_query == inherit_grades(QRELS, plain).by_query
    with pytest.raises(cranfield.InputError, match="is not a corpus"):
        inherit_grades(QRELS, 3)


def test_it_is_what_a_loop_over_all_pairs_finds():
    chance = random.Random(3)
    texts = {f"d{number}": chance.choice("uvwxyz") * chance.randint(0, 3) for number in range(60)}
    qrels = {str(q): {d: chance.randint(-1, 3) for d in chance.sample(sorted(texts), 12)} for q in range(20)}
    inherited = inherit_grades(qrels, texts).by_query
    for query, grades in qrels.items():
        for document, text in texts.items():
            alike = [grade for other, grade in grades.items() if texts[other] == text and text and grade >= 0]
            expected = grades.get(document, max(alike, default=None))
            assert inherited[query].get(document) == expected


def test_a_check_finds_them(corpus):
    report = check_files(corpus / "qrels", corpus / "run", corpus=corpus)
    found = [(problem.kind, problem.severity, problem.message) for problem in report.problems]
    assert found[-4:] == [
        (
            "contradictory-grades",
            "warning",
            "query '1': documents with the same text have different grades: 'c' (1), 'd' (0).",
        ),
        (
            "unjudged-copy",
            "warning",
            "query '1': 'b' has the same text as 'a' (2), but no judgment, and a run returns it.",
        ),
        ("unjudged-copy", "warning", "query '3': 'i' has the same text as 'h' (3), but no judgment."),
        ("unjudged-copy", "warning", "query '2': 'd' has the same text as 'c' (0), but no judgment."),
    ]
    plain = check_files(corpus / "qrels", corpus / "run")
    assert plain.judgments == report.judgments  # copies are not among the documents that no run has
    assert {problem.kind for problem in plain.problems} == {"no-relevant"}
    assert check_files(corpus / "qrels", [], corpus=corpus).count("warning") == report.count("warning")


def test_many_copies_are_counted():
    texts = {f"d{number}": "same" for number in range(40)}
    report = check_files(io.BytesIO(b"1 0 d0 1\n"), [io.BytesIO(b"1 Q0 d0 1 1 x\n")], corpus=texts)
    [problem] = report.problems
    assert problem.message.startswith("query '1': 'd1', 'd2', 'd3' and 36 others have the same text as 'd0' (1)")


def test_commands_take_a_corpus(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    text = program.run("check", "qrels", "run", "--corpus", "corpus.jsonl").stdout
    assert "documents with the same text have different grades: 'c' (1), 'd' (0)." in " ".join(text.split())
    assert "--same-text CORPUS" in " ".join(text.split())
    text = program.run("evaluate", "qrels", "run", "--same-text", "corpus.jsonl", "-m", "RR", "-v").stdout
    assert "same_text:inherit(3)" in text.replace("\n", "")
    for command in (["compare", "qrels", "run", "run"], ["gate", "qrels", "run", "run"]):
        done = program.run(*command, "--same-text", ".")
        assert done.returncode == 0, done.stderr
    piped = program.run("check", "qrels", "run", "--corpus", "-")
    assert "-: this is a pipe, which can be read only once." in piped.stderr
    (corpus / "broken.jsonl").write_text('{"_id": "a", "text": "x"}\n{"_id":\n')
    broken = program.run("check", "qrels", "run", "--corpus", "broken.jsonl")
    assert "broken.jsonl:2: this is not JSON" in broken.stderr
    assert "Hint: each line is a JSON object of its own" in broken.stderr
    lacking = program.run("evaluate", "qrels", "run", "--same-text", "nothing")
    assert (lacking.returncode, lacking.stderr.partition("\n")[0]) == (
        2,
        "cranfield: nothing: there is no such file or folder.",
    )
