"""The repr of every result: one short line, not the address of an object or all its fields."""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import pytest

pytest.importorskip("polars")

import polars

import cranfield as c

LONGEST = 200  # characters of a first line
QRELS = {"q1": {"a": 2, "z": 0}, "q2": {"b": 1, "y": 0}, "q3": {"c": 1}}
OLD = {"q1": ["x", "a"], "q2": ["b"], "q3": ["x", "y", "c"]}
NEW = {"q1": ["a"], "q2": ["b"], "q3": ["x", "c"]}
RUNS = {"old": OLD, "new": NEW}
IN_NOTEBOOKS = (
    *(
        "Advice",
        "Agreement",
        "CheckReport",
        "ClickReport",
        "Comparison",
        "Difference",
        "Frontier",
        "NeighbourRecall",
        "RunDiff",
    ),
    *("Evaluation", "Evaluations", "Explanation", "GateResult", "LazyEvaluation", "Look", "QueryList", "Reusability"),
    *("Recorded", "SegmentComparison", "Spec", "Stability", "Why"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One of each kind of result, as users get them."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n", encoding="utf-8")
    (folder / "a.run").write_text("q1 Q0 a 1 2.5 x\nq1 Q0 b 2 abc x\n", encoding="utf-8")
    (folder / "b.run").write_text("q1 Q0 a 1 2.5 x\nq1 Q0 b 2 1.5 x\n", encoding="utf-8")
    one = c.evaluate(QRELS, OLD, "RR nDCG@10")
    comparison = c.compare(QRELS, {**RUNS, "other": {"q1": ["z"]}}, "RR nDCG@10")
    frames = [
        polars.LazyFrame({"query_id": ["q1"], "doc_id": ["a"], "grade": [1]}),
        polars.LazyFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}),
    ]
    collection = c.open_collection("builtin")
    system = c.open_system("sqlite", collection=collection)
    decision = c.Decision.of(RUNS, "nDCG@10", QRELS)
    before = c.read_interactions([("ann", "tea", 5, 1), ("ann", "mug", 4, 2)])
    searches = c.read_searches({"q1": [["x"], ["a"]]})
    found = c.calls({"q1": {"a": 1}}, searches)
    return [
        *(
            one,
            c.evaluate_runs(QRELS, RUNS),
            one.worst("RR"),
            one.queries("RR", ["q1"]),
            one.facts("RR"),
            one.bounds("RR"),
        ),
        *(one.ranks, one.policy, one.counts, one.measures[0], c.catalogue()["AP"], c.evaluate_lazily(*frames, "RR")),
        *(
            c.fuse(RUNS),
            c.tune("builtin", ["builtin:plain", "builtin:tuned"], methods="rrf"),
            c.headroom(QRELS, OLD, "RR"),
            *c.rerank_by_depth(QRELS, OLD, lambda query, documents: [0] * len(documents), dict.fromkeys(OLD, "cats")),
        ),
        *(
            comparison,
            *comparison,
            comparison.agreement(),
            comparison.run_agreement(),
            comparison.query_set_sizes("RR"),
            comparison.by_segment({"q1": "short", "q2": "long"}),
        ),
        *(c.explain(QRELS, OLD, "q1"), c.gate(QRELS, OLD, NEW, "RR"), c.advise(QRELS, RUNS), c.preset("dl19")),
        *(c.stability(QRELS, RUNS, "RR", repeats=2), c.reusability(QRELS, RUNS, "RR"), c.run_overlap(OLD, NEW)),
        *(c.rbo(["a"], ["b"]), c.Judgments.read(QRELS), c.GroupedJudgments.read({"q": {"s": {"a": 1}}})),
        c.PassageJudgments.read([("q1", "d1", 10, 20, 2)]),
        c.Chunks.read({"d1#0": ("d1", 0, 20)}),
        c.ChunkRun({"q": ["c2"]}, {"c2": ("d", 60, 70)}),
        *(c.RecommenderRun({"ann": ["tea"]}, [("bob", "tea")]), before, before.leave_last_out()),
        *(searches, *searches.searches, found, *found),
        *(c.check_files(folder / "qrels", [folder / name]) for name in ("a.run", "b.run")),
        *(c.convert_file(folder / "b.run", folder / "b.json"), collection, next(collection.documents()), system),
        c.record(system, dict(list(collection.queries.items())[:3]), folder / "sqlite.run"),
        c.diff(OLD, NEW, qrels=QRELS),
        c.neighbour_recall(NEW, OLD),
        c.frontier(QRELS, RUNS, "RR", by="cost", values=dict.fromkeys(RUNS, 1.0)),
        c.Query("red shoes", language="en"),
        *c.modelled_values(QRELS, RUNS),
        *((plan := planned()), plan.chosen),
        *(decision, decision.look(), c.draw_chart("gain"), c.write_report(QRELS, RUNS, folder / "r.html", "RR")),
        *((sample := c.sample_queries(["red shoes", "lamp"], 2)), sample.queries[0]),
        *((draft := c.TeamDraft(["a"], ["b"], unit="ann")), draft.credit(["b"]), c.preferred([draft.click("b")])),
        *(c.why(QRELS, OLD, {"RR": 0.123}), c.why(QRELS, OLD, {"RR": {"q1": 1.0, "q2": 0.0}})),
        *(c.evaluate_like(QRELS, OLD, "ranx", "mrr"), *c.known_dialects().values()),
        *judged(folder),
        *corrected(folder),
        *of_queries(),
    ]


def of_queries():
    groups = {"q1#1": "q1", "q1#2": "q1", "q2#1": "q2"}
    runs = {"old": {query: ["a", "b"] for query in groups}, "new": {query: ["b", "a"] for query in groups}}
    compared = c.compare(QRELS, runs, "RR", groups=groups)
    without = c.evaluate(QRELS, OLD, "RR", answerable={"q9": False})
    return [
        c.within_groups(compared.evaluations[0]),
        compared.within_groups("RR", "new", "old"),
        *(without, without.answering),
    ]


def planned():
    runs = {"bm25": {"q1": [f"d{n}" for n in range(60)]}, "dense": {"q1": [f"d{2 * n}" for n in range(60)]}}
    return c.plan_sample({"q1": "cats"}, runs, within=0.1, depth=5, sample_depth=50)


def judged(folder):
    with c.open_store(folder / "judgments.db", create=True) as store:
        pooled = c.pool(store, {"q1": "one", "q2": "two"}, RUNS, documents={"a": "a text " * 100, "x": "x"})
        task = store.next_for("ann")
        for assessor, grade in (("ann", 1), ("bob", 0)):
            for document in ("a", "x"):
                store.judge("q1", document, grade, assessor=assessor)
        assessor = c.ModelAssessor(name="words", call=lambda query, document: 1)
        log = [{"query": "one", "doc_id": "a", "rank": 1, "impressions": 50, "clicks": 20}]
        return [
            *(c.judge_by_clicks(store, log), c.fit_clicks(log)),
            *(store, pooled, task, store.progress(), store.scale, *store.events(), *store.conflicts()),
            *(c.agreement(store), c.ask_model(store, assessor, canaries=2), assessor),
            *(c.save_sheet(store, folder / "sheet.csv"), c.read_sheet(store, folder / "sheet.csv", "cy")),
        ]


def corrected(folder):
    queries = {f"q{n}": f"question {n}" for n in range(40)}
    runs = {"old": {query: ["a", "b"] for query in queries}, "new": {query: ["b", "a"] for query in queries}}
    with c.open_store(folder / "corrected.db", create=True) as store:
        drawn = c.pool(store, queries, runs, sample=10, seed=7).drawn
        store.import_qrels({query: {"a": int(query in drawn[:3]), "b": 1} for query in drawn}, "ann", kind="person")
        store.import_qrels({query: {"a": int(query < "q2"), "b": 1} for query in queries}, "gpt", kind="model")
        judgments = c.corrected_judgments(store, model="gpt")
    results = c.evaluate_runs(judgments, runs, "P@1")
    return [judgments, results, results["old"].estimate("P@1"), c.compare(judgments, runs, "P@1")]


def parts(thing):
    """A result and all results inside it."""
    if isinstance(thing, Mapping):
        inside = [*thing.values()] if type(thing).__module__ == "builtins" else [thing, *thing.values()]
    elif isinstance(thing, list | tuple) and type(thing).__module__ == "builtins":
        inside = thing[:3]
    elif is_dataclass(thing):
        inside = [getattr(thing, each.name) for each in fields(thing) if not each.name.startswith("_")]
    else:
        inside = thing if isinstance(thing, tuple) else ()
    if type(thing).__module__.startswith("cranfield"):
        yield thing
    for each in inside:
        if each is not thing:
            yield from parts(each)


def test_reprs_start_with_one_short_line(results):
    for thing in (part for result in results for part in parts(result)):
        shown = repr(thing).partition("\n")[0]
        assert " at 0x" not in shown, shown
        assert len(shown) <= LONGEST, (type(thing), len(shown), shown[:LONGEST])
        assert " at 0x" not in str(thing)


def test_every_public_class_is_tested(results):
    seen = {cls for result in results for part in parts(result) for cls in type(part).__mro__}
    public = [getattr(c, name) for name in c.__all__ if inspect.isclass(getattr(c, name))]
    assert [each.__name__ for each in public if not issubclass(each, Exception) and each not in seen] == []


def test_notebook_html_has_no_scripts_and_no_inline_styles(results):
    shown = {type(part).__name__: part for result in results for part in parts(result) if hasattr(part, "_repr_html_")}
    assert sorted(shown) == sorted(IN_NOTEBOOKS)
    for name, part in shown.items():
        html = part._repr_html_()
        assert html.startswith('<div class="cranfield">'), name
        assert "<script" not in html
        assert "javascript:" not in html
        assert " style=" not in html.replace("<style>", ""), name


@pytest.mark.parametrize("many", [1, 63])
def test_many_runs_do_not_make_a_long_line(many):
    runs = {f"a-system-with-a-long-name-{n}": NEW if n % 2 else OLD for n in range(max(many, 2))}
    found = c.compare(QRELS, runs, "RR")
    for thing in (found, c.evaluate_runs(QRELS, runs)):
        assert len(repr(thing)) <= LONGEST


def test_the_text_of_a_failed_gate_names_the_failed_check():
    qrels, good = {str(q): {"a": 1} for q in range(12)}, {str(q): ["a", "b"] for q in range(12)}
    result = c.gate(qrels, good, {str(q): ["b", "a"] for q in range(12)}, "RR")
    summary, check = str(result).splitlines()
    assert summary.startswith("candidate against baseline, 12 queries: failed: RR fell significantly, 1.000 → 0.500")
    assert check.startswith("FAILED  RR does not drop: ")
    assert "badge worse" in result._repr_html_()


def test_names_in_a_notebook_are_escaped():
    evil = "<script>alert(1)</script>"
    run = {evil: [evil, "a"]}
    shown = [
        c.evaluate({evil: {"a": 1}}, run, "RR", name=evil),
        c.evaluate({evil: {"a": 1}}, run, "RR").worst(),
        c.explain({evil: {"a": 1}}, run, evil),
        c.compare({evil: {"a": 1}, "q2": {"a": 1}}, {evil: {**run, "q2": ["a"]}, "other": {"q2": ["b", "a"]}}, "RR"),
        c.gate({evil: {"a": 1}, "q2": {"a": 1}}, {**run, "q2": ["a"]}, {**run, "q2": ["b", "a"]}, "RR"),
    ]
    for each in shown:
        assert "<script" not in each._repr_html_()
        assert "&lt;script" in each._repr_html_() or isinstance(each, c.GateResult)
