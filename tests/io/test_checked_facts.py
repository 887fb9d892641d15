"""What a check reports about files: facts, advice, and no problem if there is none."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import cranfield
from cranfield import check_files
from cranfield.show.check_text import check_json, check_text
from tests.generated import collections, layouts, trec_qrels, trec_run
from tests.io.conftest import LINE, QRELS, RUN

DATA = Path(cranfield.__file__).parent / "data"


GOLDEN = sorted(Path(__file__).parents[1].joinpath("golden").iterdir())


def test_facts(check):
    qrels = b"1 0 a 1\n1 0 b 0\n1 0 z 2\n2 0 c 2\n3 0 c -1\n3 0 e 0.5\n"
    run = b"1 Q0 a 1 2 t\n1 Q0 b 2 2 t\n1 Q0 x 3 1 t\n2 Q0 c 1 1 t\n4 Q0 c 1 1 t\n"
    report = check(qrels, run)
    facts, its = report.judgments, report.runs[0]
    assert (facts.queries, facts.judgments, facts.no_relevant, facts.grouped) == (3, 6, 1, False)
    assert facts.grades == {"-1": 1, "0": 1, "0.5": 1, "1": 1, "2": 2}
    assert (facts.documents.least, facts.documents.median, facts.documents.most) == (1, 2.0, 3)
    assert (facts.relevant.least, facts.relevant.median, facts.relevant.most) == (0, 1.0, 2)
    assert (facts.never_retrieved, facts.relevant_never_retrieved) == (2, 1)
    assert facts.examples == (("1", "z"), ("3", "e"))
    assert (its.queries, its.missing, its.extra, its.rows, its.names) == (3, 1, 1, 5, ("t",))
    assert (its.documents.least, its.documents.median, its.documents.most) == (1, 1.0, 3)
    assert (its.tied, its.tied_queries, its.tie_examples) == (2 / 5, 1, (("1", "a", "b"),))
    assert its.judged == {
        "10": (2 / 3 + 1) / 2,
        "100": (2 / 3 + 1) / 2,
        "1000": (2 / 3 + 1) / 2,
        "all": (2 / 3 + 1) / 2,
    }


def test_several_runs_share_the_judgments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_bytes(QRELS)
    Path("one").write_bytes(b"1 Q0 a 1 2 t\n2 Q0 x 1 2 t\n")
    Path("two").write_bytes(b"1 Q0 b 1 2 t\n2 Q0 x 1 2 t\n")
    report = check_files("qrels", ["one", "gone", "two"])
    assert [run.file for run in report.runs] == ["one", "two"]
    assert (report.judgments.never_retrieved, report.judgments.examples) == (1, (("2", "c"),))


def test_documents_with_several_grades_are_no_duplicates(check):
    report = check(QRELS + b"2 1 c 0\n", RUN)
    assert report.problems == ()
    assert report.judgments.grouped
    assert report.advice is None
    assert "documents have several grades" in check_text(report)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=collections(), write=layouts())
def test_check_finds_no_error_if_evaluate_finds_none(tmp_path, data, write):
    qrels, run = data
    paths = tmp_path / "qrels", tmp_path / "run"
    paths[0].write_bytes(trec_qrels(qrels, write))
    paths[1].write_bytes(trec_run(run, write))
    report = check_files(paths[0], [paths[1]], qrels_format="trec", format="trec")
    result = cranfield.evaluate(
        *paths, "Judged@10 Judged@100 Judged NumRet", qrels_format="trec", format="trec", check_ids=False
    )
    kinds = {problem.kind for problem in report.problems if problem.severity == "error"}
    assert kinds <= {"no-common-query", "no-common-document"}
    assert bool(kinds) == all(set(qrels[query]).isdisjoint(run.get(query, ())) for query in qrels)
    its = report.runs[0]
    assert (its.missing, its.extra) == (result.counts.missing, result.counts.extra)
    assert its.rows == sum(map(len, run.values()))
    for depth, measure in (("10", "Judged@10"), ("100", "Judged@100"), ("all", "Judged")):
        answered = [value for query, value in result.by_query(measure).items() if query in run]
        assert its.judged[depth] == pytest.approx(sum(answered) / len(answered) if answered else 0)
    assert all(
        len(line) <= 80 or " " not in line.strip()
        for line in check_text(report).splitlines()
        if "'" not in line and str(tmp_path) not in line  # a path may be longer than any line
    )


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda path: path.name)
def test_no_false_problem_is_reported_for_golden_cases(folder):
    if folder.name == "preferences" and len((folder / "qrels").read_text().split("\n")[0].split()) == 5:
        pytest.skip("preferences are not checked")
    report = check_files(folder / "qrels", [folder / "run"], most=10**6)
    assert report.count("error") == 0
    lines = [line.split() for line in (folder / "run").read_text().splitlines() if line.strip()]
    rows = {}
    for query, _, document, rank, score, *_ in lines:
        rows.setdefault(query, []).append((int(rank), float(score), document))
    disagree = {
        query for query, ranking in rows.items() if any(a[0] < b[0] and a[1] < b[1] for a in ranking for b in ranking)
    }
    reported = [problem.message.split("'")[1] for problem in report.problems if problem.kind == "rank-order"]
    assert sorted(reported) == sorted(disagree)
    judged = {}
    for query, _, _, grade in map(str.split, (folder / "qrels").read_text().splitlines()):
        judged[query] = max(judged.get(query, -9), float(grade))
    reported = {problem.message.split("'")[1] for problem in report.problems if problem.kind == "no-relevant"}
    assert reported == {query for query, highest in judged.items() if highest < 1}
    reported = {problem.message.split("'")[1] for problem in report.problems if problem.kind == "missing-query"}
    assert reported == judged.keys() - rows.keys()
    kinds = {problem.kind for problem in report.problems}
    assert kinds <= {"rank-order", "no-relevant", "missing-query", "equal-scores"}


def test_built_in_data_are_clean():
    report = check_files(DATA / "qrels.txt", [DATA / "keywords.run", DATA / "meaning.run"])
    assert report.problems == report.more == ()
    assert report.passes(strict=True)
    assert [run.judged["10"] for run in report.runs] == pytest.approx([0.2, 0.3])
    text = check_text(report)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[-1] == "0 errors, 0 warnings."
    assert "Measures\n  nDCG@10 " in text


def test_the_judged_share_is_shown_with_its_depth(check):
    """All of the first ten, 53 of the first hundred."""
    judged, others = [f"d{place}" for place in range(53)], [f"x{place}" for place in range(47)]
    qrels = "".join(f"1 0 {document} 1\n" for document in judged)
    run = "".join(f"1 Q0 {document} 0 {-place} t\n" for place, document in enumerate([*judged, *others]))
    report = check(qrels.encode(), run.encode())
    assert report.runs[0].judged == {"10": 1.0, "100": 0.53, "1000": 0.53, "all": 0.53}
    text = check_text(report)
    assert "  judged: 100% of the first 10, 53% of all retrieved\n" in text
    assert "nearly all" not in text
    assert "AP " not in text[text.index("Measures") :]


def test_json_shape(check):
    report = check(QRELS, RUN + b"2 Q0 x 2 abc t\n")
    content = json.loads(check_json(report))
    assert list(content) == ["problems", "more", "judgments", "runs", "advice", "errors", "warnings"]
    assert content["problems"] == [
        {
            "file": "run",
            "line": 4,
            "kind": "malformed",
            "severity": "error",
            "message": "score 'abc' is not a number.",
            "hint": LINE,
        }
    ]
    assert (content["errors"], content["warnings"], content["advice"], content["more"]) == (1, 0, None, [])
    assert content["judgments"]["grades"] == {"0": 1, "1": 1, "2": 1}
    assert content["runs"][0]["documents"] == {"least": 1, "median": 1.5, "most": 2}
    advice = json.loads(check_json(check()))["advice"]
    assert set(advice) == {"recommended", "warnings"}
    assert set(advice["recommended"][0]) == {"measure", "why"}
