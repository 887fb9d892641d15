"""Sources of a page: runs of all kinds, evaluations, comparisons, and tests of systems."""

import html
import json
import random
import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
import cranfield
from cranfield import Judgments, open_collection
from cranfield.errors import CranfieldError
from cranfield.native import CORES
from cranfield.report import write_comparison
from tests.program import run as program
from tests.report.page import FILES, Page, made

FILES_ON_DISK = sorted(Path(cranfield.__file__).with_name("data").glob("*.run"))


ROWS = [("what-is-precision", "a", 2.0), ("what-is-precision", "b", 1.0), ("graded-relevance", "c", 3.0)]


def test_one_run_equal_runs_skipped_queries_and_groups_can_be_shown(tmp_path):
    one = made(tmp_path, FILES[0], FILES[1][0], "AP")
    assert one.data["pairs"] == {}
    assert not any(attributes.get("id") == "two" for _, attributes in one.elements)
    twice = made(tmp_path, FILES[0], [FILES[1][0]] * 2, "AP", charts=True)
    assert twice.data["runs"] == ["keywords", "keywords (2)"]
    counted = made(tmp_path, *FILES, "NumRet AP", charts=True)
    assert list(counted.data["pairs"]) == ["AP"]
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    runs = {"some": {"1": ["a"], "2": ["x", "b"]}, "all": {"1": ["a"], "2": ["b"], "3": ["c"]}}
    skipped = made(tmp_path, qrels, runs, "RR", policy=cranfield.Policy(missing="skip"))
    assert skipped.data["values"] == [[[1.0, 0.5, None]], [[1.0, 1.0, 1.0]]]
    assert skipped.data["rankings"][0]["2"]["reason"] == "not in this run, and left out"
    grouped = made(tmp_path, {"q": {"s1": {"a": 1}, "s2": {"b": 1}}}, {"run": {"q": ["a", "b"]}}, "alpha_nDCG@5")
    assert grouped.data["values"] == [[[1.0]]]
    assert grouped.data["families"] == []


def test_invalid_arguments_are_refused(tmp_path):
    with pytest.raises(CranfieldError, match="cannot be evaluated without judgments"):
        made(tmp_path, None, FILES[1])
    with pytest.raises(CranfieldError, match="needs a run"):
        made(tmp_path, FILES[0], [])
    with pytest.raises(CranfieldError, match="show 1 to 1,000 documents"):
        made(tmp_path, *FILES, k=0)
    assert not (tmp_path / "report.html").exists()


def test_the_report_command_writes_a_page(tmp_path):
    (tmp_path / "segments").write_text("what-is-precision\tshort\n")
    done = program(
        *("report", *FILES[:1], *FILES[1], "-o", "page.html", "-m", "RR", "--by", "segments"),
        *("--bounds", "--no-charts", "-k", "5", "--queries", "4"),
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("page.html: 0.")
    page = Page(tmp_path / "page.html")
    assert page.data["depth"] == 5
    assert len(page.data["details"]) == 4


def test_a_comparison_writes_its_page(tmp_path):
    found = cranfield.compare(*FILES, "nDCG@10 AP", baseline="meaning", test="randomisation", alpha=0.1)
    written = write_comparison(found, tmp_path / "report.html", charts=False, title="Old and new")
    page = Page(tmp_path / "report.html")
    assert written.size == len(page.source.encode())
    assert page.data["runs"] == ["keywords", "meaning"]
    assert page.data["chosen"] == [1, 0]
    assert [page.data["pairs"][each.measure]["1 0"][0] for each in found] == [f"{each.sentence}." for each in found]
    assert "Randomisation test" in page.text
    assert "keywords vs the baseline, meaning" in page.text
    assert found.of("nDCG@10")[0].headline in page.text
    assert all(page.data["rankings"][at]["0"]["top"] for at in (0, 1))


def test_evaluations_alone_make_a_page(tmp_path):
    results = cranfield.evaluate_runs(*FILES, "AP nDCG@10")
    found = cranfield.compare_evaluations(list(results.values()))
    write_comparison(found, tmp_path / "report.html")
    page = Page(tmp_path / "report.html")
    assert page.data["values"][0][0] == pytest.approx(list(results["keywords"].by_query("AP").values()), abs=5e-7)
    assert page.data["details"] == {}
    assert "The judgments are not known here" in page.text
    with_judgments = made(tmp_path, FILES[0], results, rankings=dict(zip(results, FILES[1], strict=True)))
    assert with_judgments.data["rankings"] == made(tmp_path, *FILES, "AP nDCG@10").data["rankings"]


def test_streams_are_read_once_and_shown(tmp_path):
    with open(FILES_ON_DISK[0], "rb") as one:
        page = made(tmp_path, FILES[0], {"keywords": one, "meaning": iter(ROWS)}, "AP")
    expected = made(tmp_path, FILES[0], {"keywords": FILES[1][0], "meaning": ROWS}, "AP")
    assert page.data["rankings"] == expected.data["rankings"]
    found = cranfield.compare(FILES[0], {"keywords": FILES[1][0], "meaning": iter(ROWS)}, "AP")
    write_comparison(found, tmp_path / "report.html", charts=False)
    data = Page(tmp_path / "report.html").data
    [number] = data["rankings"][1][str(data["queries"].index("graded-relevance"))]["top"]
    assert data["documents"][number] == ["c"]


def test_saved_evaluations_must_match_measures_and_judgments(tmp_path):
    cranfield.evaluate(FILES[0], FILES[1][0], "AP").save(tmp_path / "old.json")
    page = made(tmp_path, FILES[0], [tmp_path / "old.json", FILES[1][1]])
    assert [each["name"] for each in page.data["measures"]] == ["AP"]
    assert page.data["rankings"][0]["0"]["top"] is None
    with pytest.raises(CranfieldError, match=r"saved without RR"):
        made(tmp_path, FILES[0], [tmp_path / "old.json"], "RR")
    with pytest.raises(CranfieldError, match="measured with other judgments"):
        made(tmp_path, {"what-is-precision": {"a": 1}}, [tmp_path / "old.json"])


def test_rankings_follow_the_policy_of_the_evaluation(tmp_path):
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    tops = []
    for ties in ("doc_id", "smaller_doc_id"):
        result = cranfield.evaluate(qrels, run, "RR", policy=cranfield.Policy(ties=ties), name="run")
        data = made(tmp_path, qrels, [result], rankings={"run": run}).data
        tops.append([data["documents"][number][0] for number in data["rankings"][0]["0"]["top"]])
        assert result["RR"] == 1 / (1 + tops[-1].index("a"))
    assert tops == [["b", "a"], ["a", "b"]]


def test_a_frame_that_stays_in_its_engine_has_no_rankings(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}).lazy()
    page = made(tmp_path, {"q": {"b": 1}}, {"lazy": frame}, "RR")
    assert page.data["values"] == [[[0.5]]]
    assert "Rankings of lazy are not shown" in page.text


def test_evaluations_without_a_measure_in_common(tmp_path):
    one = cranfield.evaluate(*FILES[:1], FILES[1][0], "AP")
    other = cranfield.evaluate(*FILES[:1], FILES[1][1], "RR")
    with pytest.raises(CranfieldError, match="share no measure"):
        made(tmp_path, FILES[0], [one, other])


def test_lengths_of_documents(tmp_path):
    qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
    lengths = {"x": 100, "a": 50}
    result = cranfield.evaluate(qrels, run, "TBG", lengths=lengths)
    assert made(tmp_path, qrels, {"run": run}, "TBG", lengths=lengths).data["values"] == [
        [[pytest.approx(result["TBG"], abs=5e-7)]]
    ]


def test_the_test_command_writes_a_page(tmp_path):
    for command in (["init"], ["test"], ["accept"], ["test", "--report", "page.html"]):
        done = program(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    page = Page(tmp_path / "page.html")
    assert page.data["runs"] == ["sqlite (accepted)", "sqlite"]
    assert len(page.data["texts"]) == 60
    assert page.data["values"][0] == page.data["values"][1]
    assert page.data["rankings"][0]["0"]["top"] == page.data["rankings"][1]["0"]["top"]
    assert len(page.data["documents"][page.data["rankings"][1]["0"]["top"][0]]) == 3  # id, title, text


def html_text(source):
    return " ".join(html.unescape(source).split())


def test_the_page_of_a_failed_test_says_so_and_why(tmp_path):
    def badges():
        source = (tmp_path / "page.html").read_text()
        return re.findall(r'<span class="badge[^>]*>([^<]*)<', source), html_text(source)

    for command in (["init"], ["test"], ["accept"], ["test", "--report", "page.html"]):
        assert program(*command, cwd=tmp_path).returncode == 0
    shown, text = badges()
    assert shown == ["✓ Passed"]
    assert '<p class="headline">nDCG@10' in text
    assert "Tested two-sided: no difference." in text
    assert "<h1>sqlite: now vs accepted</h1>" in text
    settings = (tmp_path / "cranfield.toml").read_text()
    content = open_collection("builtin")
    (tmp_path / "mine").mkdir()
    documents = [document for document in content.documents() if document.doc_id != "recall"]
    lines = (json.dumps({"_id": doc.doc_id, "title": doc.title, "text": doc.text}) + "\n" for doc in documents)
    (tmp_path / "mine" / "corpus.jsonl").write_text("".join(lines))
    rows = (f"{query}\t{text}\n" for query, text in content.queries.items())
    (tmp_path / "mine" / "queries.tsv").write_text("".join(rows))
    judged = Judgments.read(content.qrels).by_query
    lines = (f"{query} 0 {doc} {grade:g}\n" for query, its in judged.items() for doc, grade in its.items())
    (tmp_path / "mine" / "qrels.txt").write_text("".join(lines))
    expected = "[[expect]]\nquery = 'q01'\nfind = 'nothing-like-it'\n"
    (tmp_path / "cranfield.toml").write_text(settings.replace('"builtin"', '"mine"') + expected)
    assert program("test", "--report", "page.html", cwd=tmp_path).returncode == 1
    shown, text = badges()
    assert shown == ["✗ Failed"]
    assert '<p class="headline">q01' in text
    assert "Tested two-sided: " in text
    assert str(tmp_path) not in text
    assert "nothing-like-it is not in the first" in text
    assert "judged documents no longer exists, and is left out" in text
    assert "the accepted run was measured again" in text


SYSTEMS = """
collection = "builtin"
measures = ["nDCG@10", "RR"]
[systems.docs]
type = "sqlite"
{docs}
[systems.help]
type = "sqlite"
{help}
"""


def test_each_system_is_compared_with_its_own_accepted_version(tmp_path):
    project = tmp_path / "cranfield.toml"
    project.write_text(SYSTEMS.format(docs="tuned = true", help=""))
    for command in (["test"], ["accept"]):
        assert program(*command, cwd=tmp_path).returncode == 0
    project.write_text(SYSTEMS.format(docs="", help="tuned = true"))
    assert "Traceback" not in program("test", "--report", "page.html", cwd=tmp_path).stderr
    page = Page(tmp_path / "page.html")
    runs = page.data["runs"]
    assert runs == ["docs (accepted)", "docs", "help (accepted)", "help"]
    assert [runs[at] for at in page.data["chosen"]] == ["docs (accepted)", "docs"]  # the worsened system comes first
    now, other = "docs", "help"
    text = " ".join(page.text.split())
    assert "docs: nDCG@10 fell significantly, 0.472 → 0.435" in text
    assert "help: nDCG" not in text  # it passed
    assert page.data["rankings"][0]["0"]["top"]
    assert f"{now} vs {now} (accepted)" in text
    assert f": {other} vs {other} (accepted), nDCG@10 " in text
    assert "vs its baseline" in text
    assert "the second" not in text
    # The page and the test decide alike: each pair is one comparison.
    for system in ("docs", "help"):
        place = f"{runs.index(f'{system} (accepted)')} {runs.index(system)}"
        assert "corrected" not in page.data["pairs"]["nDCG@10"][place][0]
    assert "corrected for 6 comparisons" in page.data["pairs"]["nDCG@10"]["1 3"][0]


def settling(page):
    """The commands that the page offers to settle a difference."""
    offered = re.findall(r"<li>To settle it, judge the most informative documents first:(.*)</li>", page.source)
    return [html.unescape(command) for commands in offered for command in re.findall("<code>(.*?)</code>", commands)]


def test_the_command_that_settles_a_difference_can_be_pasted(tmp_path):
    done = program(
        "report", "builtin", "builtin:plain", "builtin:tuned", "-o", "page.html", "--no-charts", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    pool, judge = map(shlex.split, settling(Page(tmp_path / "page.html")))
    assert program(*pool[1:], cwd=tmp_path).returncode == 0
    assert judge == [
        *("cranfield", "judge", "judgments.db", "--decide", "builtin:plain", "builtin:tuned", "-m", "nDCG@10"),
    ]
    # Names with blanks are quoted, and a store is used as it is.
    for name in ("plain", "tuned"):
        program("convert", f"builtin:{name}", f"the {name}.run", cwd=tmp_path)
    judged = ("report", "judgments.db", "the plain.run", "the tuned.run", "-o", "page.html", "--no-charts")
    assert program(*judged, cwd=tmp_path).returncode == 0
    [command] = settling(Page(tmp_path / "page.html"))
    assert command == "cranfield judge judgments.db --decide 'the plain.run' 'the tuned.run' -m nDCG@10"
    # Whole paths are written as seen from here, where the commands are pasted.
    judged = [part if part.startswith("-") else str(tmp_path / part) for part in judged[1:-3]]
    assert program("report", *judged, "-o", "page.html", "--no-charts", cwd=tmp_path).returncode == 0
    assert settling(Page(tmp_path / "page.html")) == [command]


def test_without_known_files_the_page_explains_how_to_settle_a_difference(tmp_path):
    page = made(tmp_path, "builtin:ten", FILES[1], "R@1000")
    assert "could reverse" in page.text
    assert settling(page) == []
    assert "does not know where they all are" in page.text
    assert "…" not in page.text[page.text.index("To settle it") :][:300]


def test_the_texts_of_the_built_in_collection_are_known(tmp_path):
    done = program("report", "builtin", "builtin:plain", "-o", "page.html", "--no-charts", cwd=tmp_path)
    assert "--collection" not in done.stdout
    page = Page(tmp_path / "page.html")
    assert "generate questions with a language model for testing" in page.data["texts"]
    other = program("report", "builtin:ten", "builtin:keywords", "-o", "page.html", "--no-charts", cwd=tmp_path)
    assert "With --collection, the page shows the texts of queries and documents." in other.stdout


def test_with_many_runs_the_page_names_the_measure_that_pairs_are_tested_by(tmp_path):
    qrels = {str(q): {"a": 1} for q in range(4)}
    runs = {f"run{at}": {str(q): ["a", "b"] if q % (at + 1) else ["b", "a"] for q in range(4)} for at in range(13)}
    page = made(tmp_path, qrels, runs, "RR P@1 AP")
    assert list(page.data["pairs"]) == ["RR"]
    note = "There are more than 12 runs, so pairs of runs are tested only by RR, not by P@1, AP."
    assert note in page.data["left_out"]
    few = made(tmp_path, qrels, dict(list(runs.items())[:12]), "RR P@1 AP")
    assert list(few.data["pairs"]) == ["RR", "P@1", "AP"]
    assert not any("pairs of runs" in each for each in few.data["left_out"])


def test_evaluations_by_other_judgments_are_refused(tmp_path):
    qrels = {str(q): {"a": 1} for q in range(3)}
    other = cranfield.evaluate(qrels, {str(q): ["a"] for q in range(3)}, "RR", name="mine")
    with pytest.raises(cranfield.InputError, match="measured with other judgments: query '2' is not in these"):
        cranfield.write_report({"0": {"a": 1}, "1": {"a": 1}}, {"mine": other}, tmp_path / "page.html")


def test_many_files_show_the_rankings_of_the_runs_in_them(tmp_path):
    chance, documents = random.Random(0), [f"d{number}" for number in range(9)]
    qrels = {f"q{number}": dict.fromkeys(chance.sample(documents, 3), 1) for number in range(5)}
    runs = {f"run{n}": {query: chance.sample(documents, 6) for query in qrels} for n in range(2 * CORES)}
    for name, rankings in runs.items():
        lines = (f"{q} Q0 {d} {rank} {9 - rank} run\n" for q, ids in rankings.items() for rank, d in enumerate(ids, 1))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [tmp_path / f"{name}.run" for name in runs]
    expected = made(tmp_path, qrels, runs, "nDCG@10", k=4).data
    for bounds in (False, True):  # with bounds, files are not read ahead
        shown = made(tmp_path, qrels, files, "nDCG@10", k=4, bounds=bounds).data
        assert shown["rankings"] == expected["rankings"]
        assert shown["documents"] == expected["documents"]
        for name, rankings in zip(runs, shown["rankings"], strict=True):
            for at, its in rankings.items():
                top = [shown["documents"][number][0] for number in its["top"]]
                assert top == runs[name][shown["queries"][int(at)]][:4]
