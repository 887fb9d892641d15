"""The page: its numbers are those of the evaluation, its texts stay texts, and it needs nothing from elsewhere."""

import base64
import hashlib
import json
import random
import re
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
import cranfield
import cranfield.report
from cranfield.comparison.conclusions import LETTERED
from cranfield.report import gathered
from cranfield.report.encoding import safe_json
from cranfield.systems.collection import Collection, Document
from tests.report.page import ENDING, EVIL, FILES, Page, evil, made


@pytest.fixture(scope="module")
def builtin(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    cranfield.write_report(*FILES, path, bounds=True)
    return Page(path)


def test_the_leaderboard_shows_the_values_of_the_evaluation(builtin):
    results = cranfield.evaluate_runs(*FILES)
    ranked = sorted(results.values(), key=lambda each: -each["nDCG@10"])
    cells = [float(each["data-sort"]) for tag, each in builtin.elements if tag == "td" and each.get("data-label")]
    gaps = [0.0 if each.run == "keywords" else each["nDCG@10"] - results["keywords"]["nDCG@10"] for each in ranked]
    assert cells == pytest.approx(
        [
            value
            for each, gap in zip(ranked, gaps, strict=True)
            for value in (each["nDCG@10"], gap, *list(each.values())[1:])
        ]
    )
    ends = results["keywords"].bounds("nDCG@10")
    assert f"bounds {ends.low:.3f} to {ends.high:.3f}" in builtin.text


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
        wanted = cranfield.explain(FILES[0], path, "graded-relevance", data["families"])
        ranking = data["rankings"][at][str(query)]
        assert [data["documents"][number][0] for number in ranking["top"]] == [each.doc_id for each in wanted.positions]
        grades = [shown["grades"].get(str(number)) for number in ranking["top"]]
        assert grades == [each.grade for each in wanted.positions]
        for family, steps in zip(data["families"], ranking["steps"], strict=True):
            assert steps == pytest.approx([each.values[family] for each in wanted.positions], abs=5e-5)
    assert data["families"] == ["nDCG", "AP", "RR", "P"]


@pytest.mark.parametrize("grade", [3, 1e90])
def test_steps_may_exceed_1(tmp_path, grade):
    """Values are counted in ten-thousandths, however large they are."""
    data = made(tmp_path, {"q": {"a": grade, "b": 1}}, {"run": {"q": ["a", "b"]}}, "CG@5").data
    assert data["rankings"][0]["0"]["steps"] == [pytest.approx([grade, grade + 1])]


def test_rankings_of_any_length_have_their_steps(tmp_path):
    """Even if a query was not measured although its ranking is known."""
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run = {"1": ["a"], "2": ["x", "y", "a"], "3": ["x", "a"]}
    some = cranfield.evaluate({query: qrels[query] for query in "13"}, run, "P@2 RR")
    runs = {"some": some, "all": cranfield.evaluate(qrels, run, "P@2 RR")}
    data = made(tmp_path, qrels, runs, "P@2 RR", rankings=dict.fromkeys(runs, run)).data
    of_some, of_all = ({data["queries"][int(at)]: its for at, its in rows.items()} for rows in data["rankings"])
    assert {query: its["steps"] for query, its in of_some.items()} == {
        "1": [[1.0], [1.0]],
        "2": [],
        "3": [[0.0, 0.5], [0.0, 0.5]],
    }
    assert [len(its["top"]) for _, its in sorted(of_some.items())] == [1, 3, 2]
    assert of_some["2"]["reason"] == "not in this run, and left out"
    assert of_all["2"]["steps"] == [[0.0, 0.0, 0.3333], [0.0, 0.0, 0.3333]]


def test_relevant_documents_that_were_missed_have_their_rank(tmp_path):
    qrels = {"q": {"a": 1, "b": 2, "c": 1, "d": 0}}
    data = made(tmp_path, qrels, {"run": {"q": ["x", "a", "y", "b"]}}, "P@2", k=2).data
    shown = data["details"]["0"]
    assert [data["documents"][number][0] for number, _ in shown["relevant"]] == ["b", "a", "c"]
    ranking = data["rankings"][0]["0"]
    assert ranking["ranks"] == [4, 2, 0]
    assert ranking["why"] == []
    assert ranking["reason"] == "1 of 3 relevant in the top 2, the first at rank 2; 1 of the 2 unjudged"


def test_differences_are_those_of_compare(builtin):
    found = cranfield.compare(*FILES, "nDCG@10 AP RR P@10 R@100")
    turned = cranfield.compare(FILES[0], FILES[1][::-1], "nDCG@10 AP RR P@10 R@100")
    for forward, back in zip(found, turned, strict=True):
        shown = builtin.data["pairs"][forward.measure]
        assert shown["0 1"][0] == f"{forward.sentence}."
        assert shown["1 0"][0] == f"{back.sentence}."
        reversed_by = "Unjudged documents the runs returned could reverse this."
        undecided = reversed_by in shown["0 1"] or "could reverse this" in forward.sentence
        assert undecided == forward.could_reverse


def test_the_page_defines_its_measures_and_signs_its_numbers(builtin):
    result = cranfield.evaluate(FILES[0], FILES[1][0])
    assert result.qrels_sha256 in builtin.text
    assert result.run_sha256 in builtin.text
    assert cranfield.catalogue()["RR"].summary in builtin.text
    assert str(result.policy) in builtin.text


def test_names_of_other_tools_are_kept_and_canonical_names_are_given(tmp_path):
    page = made(tmp_path, {"q": {"a": 1}}, {"run": {"q": ["x", "a"]}}, "hit_rate@2 RR")
    assert "hit_rate@2" in page.text
    assert "Success@2. Whether at least one relevant document" in page.source
    assert "RR. One over" not in page.source


def test_the_page_loads_nothing_from_elsewhere(builtin):
    for tag, attributes in builtin.elements:
        assert tag not in ("iframe", "img", "object", "embed", "base")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#" if tag == "a" else ("#", "data:image/svg+xml,"))
    assert "vegaEmbed" in builtin.source


def test_the_content_security_policy_allows_only_inline_parts_by_hash(builtin):
    """No script and no style but those written here, by their hashes; no code in strings, no style in attributes."""
    [policy] = [each["content"] for tag, each in builtin.elements if each.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    inline = re.findall(r"<(script|style)>(.*?)</\1>", builtin.source, flags=re.DOTALL)
    assert [tag for tag, _ in inline] == ["style", "script", "script"]
    for _, text in inline:
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert not any("style" in attributes for _, attributes in builtin.elements)


def test_the_files_of_the_page_define_no_colours():
    """All colours come from `look`, where contrast is tested; one page does not show all of them."""
    folder = Path(cranfield.report.__file__).parent
    files = [path for path in folder.iterdir() if path.suffix in (".css", ".js", ".html", ".py")]
    assert len(files) > 20
    assert not [
        path.name for path in files if re.search(r"#[0-9a-fA-F]{6}\b|rgba?\((?!0 0 0 /)", path.read_text("utf-8"))
    ]


def test_charts_have_titles_and_descriptions(builtin):
    titles = [[each["title"] for each in together] for together in builtin.data["charts"]]
    assert titles == [
        [f"{family} by cutoff" for family in ("nDCG", "AP", "RR", "P")],
        ["Precision at levels of recall"],
        ["Precision and recall, rank by rank"],
        [f"{measure} of the queries" for measure in ("nDCG@10", "AP", "RR", "P@10", "R@100")],
        ["Measures as judgments are removed"],
    ]
    theory = [each["title"] for together in builtin.data["theory"] for each in together]
    assert theory == ["How much a document counts at each rank", "What a grade is worth"]
    assert all(each["description"] for together in builtin.data["charts"] for each in together)


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
    assert re.search(r"Texts of [\d,]+ documents are cut off after \d\d characters", page.text)
    assert max(len(text) for _, _, text in page.data["documents"]) < 100
    few = made(tmp_path, qrels, dict(list(runs.items())[:2]), collection=collection)
    assert max(len(text) for _, _, text in few.data["documents"]) > 150


def test_omitted_queries_and_charts_are_reported(tmp_path):
    page = made(tmp_path, *FILES, queries=3)
    assert len(page.data["details"]) == 3
    worst = [page.data["queries"][int(query)] for query in page.data["details"]]
    values = [each.by_query("nDCG@10") for each in cranfield.evaluate_runs(*FILES).values()]
    means = {query: sum(value[query] for value in values) for query in values[0]}
    assert set(worst) == set(sorted(means, key=means.get)[:3])
    assert "the 3 of 10 queries that perform worst by nDCG@10; --queries 10 shows all of them." in page.text
    assert "Charts were left out" in page.text


def test_texts_are_left_out_if_there_is_no_room(tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.report.details.ALL_TEXT", 0)
    monkeypatch.setattr("cranfield.report.details.QUERY_TEXT", 10)
    page = evil(tmp_path)
    assert all(len(document) == 1 for document in page.data["documents"])
    assert "Texts of documents are left out" in page.text


def test_many_runs_are_compared_only_by_the_measure_that_is_shown(tmp_path, monkeypatch):
    compared = []
    compare = gathered.compare_evaluations
    monkeypatch.setattr(
        gathered, "compare_evaluations", lambda *given, **more: compared.append(given[1]) or compare(*given, **more)
    )
    qrels = {str(q): {"a": 1, "b": 1} for q in range(4)}
    for number, measures in ((3, 2), (LETTERED + 1, 1)):
        runs = {f"run{n}": {q: ["x"] * (n % 2) + ["a", "b"] for q in qrels} for n in range(number)}
        cranfield.write_report(qrels, runs, tmp_path / "report.html", "nDCG@10 RR", charts=False)
        assert len(compared.pop()) == measures


def test_relevant_documents_have_their_ranks_and_the_wrong_order_is_named(tmp_path):
    qrels = {"1": {"a": 3, "b": 1, "c": 2, "d": 0}, "2": {"a": 1}, "3": {"z": 0}}
    runs = {"mine": {"1": ["b", "d", "a"], "3": ["z"]}, "other": {"1": ["c", "x", "b"], "2": ["y", "a"]}}
    cranfield.write_report(qrels, runs, tmp_path / "report.html", "nDCG@10", charts=False)
    data = Page(tmp_path / "report.html").data
    place = {query: str(at) for at, query in enumerate(data["queries"])}
    mine, other = data["rankings"]
    documents = [each[0] for each in data["documents"]]
    assert [documents[n] for n, _ in data["details"][place["1"]]["relevant"]] == ["a", "c", "b"]
    assert (mine[place["1"]]["ranks"], other[place["1"]]["ranks"]) == ([3, 0, 1], [0, 1, 3])
    assert (mine[place["2"]]["ranks"], other[place["2"]]["ranks"], mine[place["3"]]["ranks"]) == ([0], [2], [])
    assert "grade 1 above grade 3" in mine[place["1"]]["why"]
    assert not any("above" in tag for tag in other[place["1"]]["why"])
