"""The page: its numbers are those of the evaluation, its texts stay texts, and it needs nothing from elsewhere."""

import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

import cranfield
from cranfield.comparison.means import means_table
from cranfield.errors import CranfieldError
from cranfield.report import write_comparison
from cranfield.report.encoding import safe_json
from cranfield.systems.collection import Collection, Document
from tests.program import run as program

FILES = ("builtin:qrels", ["builtin:keywords", "builtin:meaning"])
FILES_ON_DISK = sorted(Path(cranfield.__file__).with_name("data").glob("*.run"))
ROWS = [("what-is-precision", "a", 2.0), ("what-is-precision", "b", 1.0), ("graded-relevance", "c", 3.0)]
EVIL = "<script>window.broken = 1</script>"
ENDING = "</script><img src=x onerror='window.broken=1'>\"&amp;\u2028--><!--"


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
            self.data = json.loads(data)
        elif self._inside is None or self._inside[0] not in ("script", "style"):
            self.text += data

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture(scope="module")
def builtin(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    cranfield.write_report(path, *FILES, bounds=True)
    return Page(path)


def made(tmp_path, *arguments, **options):
    cranfield.write_report(tmp_path / "report.html", *arguments, **{"charts": False, **options})
    return Page(tmp_path / "report.html")


def test_the_leaderboard_is_the_evaluation(builtin):
    results = cranfield.evaluate_runs(*FILES)
    cells = [float(each["data-sort"]) for tag, each in builtin.elements if tag == "td" and "data-sort" in each]
    assert cells == [value for result in results.values() for value in result.values()]
    ends = results["keywords"].bounds("nDCG@10")
    assert f"bounds {ends.low:.4f} – {ends.high:.4f}" in builtin.text
    letters = means_table(cranfield.compare(*FILES, [name for name in results["keywords"] if "Judged" not in name]))
    assert [each.mark for each in letters.rows[0].cells] == re.findall(r"<sup[^>]*>(\w+)</sup>", builtin.source)[:5]


def test_the_values_of_queries_are_those_of_the_evaluation(builtin):
    for at, result in enumerate(cranfield.evaluate_runs(*FILES).values()):
        for column, name in zip(builtin.data["values"][at], result, strict=True):
            assert column == pytest.approx(list(result.by_query(name).values()), abs=5e-7)
    assert builtin.data["queries"] == list(result.query_ids)


def test_rankings_grades_and_steps_are_those_of_explain(builtin):
    data = builtin.data
    query = data["queries"].index("graded-relevance")
    shown = data["details"][str(query)]
    for at, path in enumerate(FILES[1]):
        told = cranfield.explain(FILES[0], path, "graded-relevance", data["families"])
        ranking = data["rankings"][at][str(query)]
        assert [data["documents"][number][0] for number in ranking["top"]] == [each.doc_id for each in told.positions]
        grades = [shown["grades"].get(str(number)) for number in ranking["top"]]
        assert grades == [each.grade for each in told.positions]
        for family, steps in zip(data["families"], ranking["steps"], strict=True):
            assert steps == pytest.approx([each.values[family] for each in told.positions], abs=5e-5)
    assert data["families"] == ["nDCG", "AP", "RR", "P"]


def test_relevant_documents_that_were_missed_have_their_rank(tmp_path):
    qrels = {"q": {"a": 1, "b": 2, "c": 1, "d": 0}}
    data = made(tmp_path, qrels, {"run": {"q": ["x", "a", "y", "b"]}}, "P@2", depth=2).data
    shown = data["details"]["0"]
    assert [data["documents"][number][0] for number, _ in shown["relevant"]] == ["b", "a", "c"]
    ranking = data["rankings"][0]["0"]
    assert ranking["ranks"] == [4, 2, 0]
    assert ranking["why"] == []
    assert ranking["reason"] == "1 of 3 relevant in the top 2, the first at rank 2; 1 of the 2 unjudged"


def test_differences_are_those_of_compare(builtin):
    found = cranfield.compare(*FILES, "nDCG@10 AP RR P@10 R@100")
    for shown, difference in zip(builtin.data["pairs"], found, strict=True):
        assert shown["sentence"] == difference.sentence
        assert shown["could_reverse"] == difference.could_reverse


def test_the_page_defines_its_measures_and_signs_its_numbers(builtin):
    result = cranfield.evaluate(FILES[0], FILES[1][0])
    assert result.qrels_sha256 in builtin.text
    assert result.run_sha256 in builtin.text
    assert cranfield.catalogue()["RR"].summary in builtin.text
    assert str(result.policy) in builtin.text


def test_nothing_is_loaded(builtin):
    for tag, attributes in builtin.elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert "default-src 'none'" in builtin.source
    assert "vegaEmbed" in builtin.source


def test_charts_say_what_they_show(builtin):
    titles = [[each["title"] for each in together] for together in builtin.data["charts"]]
    assert titles == [
        ["Precision at levels of recall"],
        ["Precision and recall, rank by rank"],
        [f"{family} by cutoff" for family in ("nDCG", "AP", "RR", "P")],
        [f"{measure} of the queries" for measure in ("nDCG@10", "AP", "RR", "P@10", "R@100")],
        ["Measures as judgments are removed"],
        ["What a document counts at each rank"],
        ["What a grade is worth"],
    ]
    assert all(each["description"] for together in builtin.data["charts"] for each in together)


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


def test_names_and_texts_stay_text(tmp_path):
    broken = evil(tmp_path)
    assert broken.count("script") == 2  # the data and the page's program
    assert broken.count("img") == 0
    data = broken.data
    assert data["runs"] == [EVIL, ENDING]
    assert data["queries"][0] == f"{EVIL}0"
    assert data["texts"][0] == f"{ENDING} query 0"
    assert data["segments"] == [ENDING] * 3
    assert [f"{ENDING}0", f"{EVIL} title 0", f"text {ENDING}"] in data["documents"]
    assert broken.text.count(EVIL) >= 4  # title, heading, collection, run
    assert broken.text.count(ENDING) >= 4
    assert not any(name.startswith("on") for _, attributes in broken.elements for name in attributes)


def test_json_cannot_end_its_element():
    text = {"</script>": ["<!--", "\u2028&"]}
    written = safe_json(text)
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == text


def many(runs, queries, documents=100, seed=1):
    draw = random.Random(seed)
    names = [f"document-{n}" for n in range(5000)]
    qrels = {f"query-{n}": {name: draw.randint(0, 3) for name in draw.sample(names, 20)} for n in range(queries)}
    found = {}
    for n in range(runs):
        found[f"run-{n}"] = {
            query: {name: draw.random() for name in (*draw.sample(names, documents - 10), *judged)}
            for query, judged in qrels.items()
        }
    return qrels, found


def test_fifty_queries_are_a_small_page(tmp_path):
    qrels, runs = many(10, 50)
    corpus = [Document(f"document-{n}", "a title " * 5, "some words of a text " * 40) for n in range(5000)]
    collection = Collection("made", dict.fromkeys(qrels, "a query of words"), corpus=lambda: iter(corpus))
    page = made(tmp_path, qrels, runs, collection=collection, charts=True)
    assert len(page.source.encode()) < 2_000_000
    assert re.search(r"Texts of [\d,]+ documents are cut off after \d\d letters", page.text)
    assert max(len(text) for _, _, text in page.data["documents"]) < 100
    few = made(tmp_path, qrels, dict(list(runs.items())[:2]), collection=collection)
    assert max(len(text) for _, _, text in few.data["documents"]) > 150


def test_what_is_left_out_is_said(tmp_path):
    page = made(tmp_path, *FILES, queries=3)
    assert len(page.data["details"]) == 3
    worst = [page.data["queries"][int(query)] for query in page.data["details"]]
    values = [each.by_query("nDCG@10") for each in cranfield.evaluate_runs(*FILES).values()]
    means = {query: sum(value[query] for value in values) for query in values[0]}
    assert set(worst) == set(sorted(means, key=means.get)[:3])
    assert "the 3 of 10 queries that perform worst by nDCG@10; for all of them: --queries 10." in page.text
    assert "Charts were left out" in page.text


def test_texts_go_where_there_is_no_room(tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.report.details.ALL_TEXT", 0)
    monkeypatch.setattr("cranfield.report.details.QUERY_TEXT", 10)
    page = evil(tmp_path)
    assert all(len(document) == 1 for document in page.data["documents"])
    assert "Texts of documents are left out" in page.text


def test_segments(tmp_path):
    result = cranfield.evaluate(*FILES[:1], FILES[1][0], "RR")
    segments = {query: "long" if len(query) > 18 else "short" for query in result.query_ids}
    page = made(tmp_path, *FILES, "RR", segments=segments)
    for segment, value in result.by_segment("RR", segments).items():
        assert re.search(rf"{segment}</th><td[^>]*>\d+</td><td>keywords</td><td[^>]*>{value:.4f}", page.source)
    assert page.data["segments"] == list(segments.values())


def test_other_shapes(tmp_path):
    one = made(tmp_path, FILES[0], FILES[1][0], "AP")
    assert one.data["pairs"] == []
    assert not any(attributes.get("id") == "two" for _, attributes in one.elements)
    twice = made(tmp_path, FILES[0], [FILES[1][0]] * 2, "AP", charts=True)
    assert twice.data["runs"] == ["keywords", "keywords (2)"]
    counted = made(tmp_path, *FILES, "NumRet AP", charts=True)
    assert {pair["measure"] for pair in counted.data["pairs"]} == {"AP"}
    qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    runs = {"some": {"1": ["a"], "2": ["x", "b"]}, "all": {"1": ["a"], "2": ["b"], "3": ["c"]}}
    skipped = made(tmp_path, qrels, runs, "RR", policy=cranfield.Policy(missing="skip"))
    assert skipped.data["values"] == [[[1.0, 0.5, None]], [[1.0, 1.0, 1.0]]]
    assert skipped.data["rankings"][0]["2"]["reason"] == "not in this run, and left out"
    grouped = made(tmp_path, {"q": {"s1": {"a": 1}, "s2": {"b": 1}}}, {"run": {"q": ["a", "b"]}}, "alpha_nDCG@5")
    assert grouped.data["values"] == [[[1.0]]]
    assert grouped.data["families"] == []


def test_what_cannot_be_shown(tmp_path):
    with pytest.raises(CranfieldError, match="cannot be evaluated without judgments"):
        made(tmp_path, None, FILES[1])
    with pytest.raises(CranfieldError, match="needs a run"):
        made(tmp_path, FILES[0], [])
    with pytest.raises(CranfieldError, match="show 1 to 1,000 documents"):
        made(tmp_path, *FILES, depth=0)
    assert not (tmp_path / "report.html").exists()


def test_the_command(tmp_path):
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
    written = write_comparison(tmp_path / "report.html", found, charts=False, title="Old and new")
    page = Page(tmp_path / "report.html")
    assert written.size == len(page.source.encode())
    assert page.data["runs"] == ["keywords", "meaning"]
    assert page.data["runs"][page.data["baseline"]] == "meaning"
    assert [pair["sentence"] for pair in page.data["pairs"]] == [each.sentence for each in found]
    assert "Randomisation test" in page.text
    assert (
        found.of("nDCG@10")[0].sentence in page.text
        or "No run has a better nDCG@10 than the baseline, meaning" in page.text
    )
    assert all(page.data["rankings"][at]["0"]["top"] for at in (0, 1))


def test_evaluations_alone_make_a_page(tmp_path):
    results = cranfield.evaluate_runs(*FILES, "AP nDCG@10")
    found = cranfield.compare_evaluations(list(results.values()))
    write_comparison(tmp_path / "report.html", found)
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
    write_comparison(tmp_path / "report.html", found, charts=False)
    data = Page(tmp_path / "report.html").data
    [number] = data["rankings"][1][str(data["queries"].index("graded-relevance"))]["top"]
    assert data["documents"][number] == ["c"]


def test_what_was_saved_must_fit(tmp_path):
    cranfield.evaluate(FILES[0], FILES[1][0], "AP").save(tmp_path / "old.json")
    page = made(tmp_path, FILES[0], [tmp_path / "old.json", FILES[1][1]])
    assert [each["name"] for each in page.data["measures"]] == ["AP"]
    assert page.data["rankings"][0]["0"]["top"] is None
    with pytest.raises(CranfieldError, match=r"saved without RR"):
        made(tmp_path, FILES[0], [tmp_path / "old.json"], "RR")
    with pytest.raises(CranfieldError, match="measured by other judgments"):
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
    assert "Rankings of lazy are not known" in page.text


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


def test_the_page_of_a_test_of_systems(tmp_path):
    for command in (["init"], ["test"], ["accept"], ["test", "--report", "page.html"]):
        done = program(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
    page = Page(tmp_path / "page.html")
    assert page.data["runs"] == ["sqlite, accepted", "sqlite"]
    assert len(page.data["texts"]) == 60
    assert page.data["values"][0] == page.data["values"][1]
    assert page.data["rankings"][0]["0"]["top"] is None
    assert len(page.data["documents"][page.data["rankings"][1]["0"]["top"][0]]) == 3  # id, title, text


def test_the_headline(tmp_path):
    first = made(tmp_path, *FILES, "nDCG@10")
    best = max(cranfield.evaluate_runs(*FILES, "nDCG@10").values(), key=lambda each: each["nDCG@10"])
    assert f"{best.run} has the best nDCG@10: {best['nDCG@10']:.4f}, which is " in first.text
    same = made(tmp_path, FILES[0], [FILES[1][0]] * 2, "AP")
    assert "keywords and keywords (2) share the best AP" in same.text
    qrels = {"1": {"a": 1}, "2": {"b": 1}}
    alone = made(tmp_path, qrels, {"run": {"1": ["a"], "2": ["x"]}}, "RR")
    assert "run: RR 0.5000 over 2 queries." in alone.text
    assert "It has no document judged relevant for 1 of 2 queries." in alone.text
