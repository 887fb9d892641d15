"""What makes a pair of runs unequal is said before any number of the verdict, wherever a comparison is shown."""

import gzip
import json
import random
from dataclasses import replace

import numpy as np
import pytest

import cranfield
from cranfield import Evaluation, Policy, advise, compare, evaluate, gate
from cranfield.comparison import doubts
from cranfield.comparison.doubts import KINDS, Found, Kind, doubt_texts
from cranfield.comparison.pairing import judged_share
from cranfield.io.streams import BUILT_IN_FILES
from cranfield.ranks.rising import RISING
from cranfield.show.comparison_markup import comparison_latex, comparison_markdown
from cranfield.show.comparison_text import comparison_text
from cranfield.show.gate_text import gate_text
from tests.program import run
from tests.reviews import as_junit, as_markdown

QUERIES = [f"q{number}" for number in range(30)]
QRELS = {query: {f"d{document}": int(document % 3 == 0) for document in range(40)} for query in QUERIES}


def made(depth=100, queries=QUERIES, seed=0, score=lambda rank: 100.0 - rank):
    draw = random.Random(seed)
    rankings = {}
    for query in queries:
        documents = [f"d{number}" for number in draw.sample(range(100), 100)][:depth]
        rankings[query] = {document: score(rank) for rank, document in enumerate(documents)}
    return rankings


WHOLE = made()
UNEQUAL = {
    "missing-queries": made(queries=QUERIES[:3], seed=1),
    "depth": made(depth=20, seed=1),
    "rising-scores": made(seed=1, score=lambda rank: float(rank)),
    "ties": made(seed=1, score=lambda rank: -float(rank // 30)),
}
SENTENCES = {
    "missing-queries": "other lacks 27 of 30 queries, which count 0",
    "depth": "other returns at most 20 documents for a query, whole up to 100; AP looks at more",
    "rising-scores": "other: the scores rise from one document to the next, but the highest ranks first; negate them "
    "if they are distances",
    "ties": "other has equal scores (100% of its judged documents): another order puts AP between ",
}


def kinds(comparison):
    return [doubt.kind for doubt in comparison.doubts]


@pytest.mark.parametrize("kind", UNEQUAL)
def test_a_run_that_is_unlike_the_other_is_told_by_compare_and_gate(kind):
    runs = {"whole": WHOLE, "other": UNEQUAL[kind]}
    comparison = compare(QRELS, runs, "AP")
    [doubt] = comparison.doubts
    assert (doubt.kind, doubt.run, doubt.others, doubt.measures) == (kind, "other", ("whole",), ("AP",))
    assert doubt.sentence.startswith(SENTENCES[kind])
    assert str(comparison).startswith(f"warning: {SENTENCES[kind]}")
    assert json.loads(comparison.to_json())["doubts"][0]["kind"] == kind
    before, after = (evaluate(QRELS, run, "AP", name=name) for name, run in runs.items())
    gated = gate(QRELS, before, after, "AP")
    assert gated.doubts == comparison.doubts
    assert str(gated).startswith(f"warning: {SENTENCES[kind]}")
    assert json.loads(gated.to_json())["doubts"][0]["facts"] == json.loads(json.dumps(doubt.facts))


@pytest.mark.parametrize("kind", UNEQUAL)
def test_every_output_says_it_before_the_verdict(kind):
    comparison = compare(QRELS, {"whole": WHOLE, "other": UNEQUAL[kind]}, "AP")
    head = SENTENCES[kind][:25]
    assert comparison_text(comparison).startswith(f"warning: {head}")
    assert comparison_markdown(comparison).startswith(f"**Warning:** {head}")
    assert comparison_latex(comparison).splitlines()[1].startswith(f"% warning: {head}")
    html = comparison._repr_html_()
    assert 0 < html.index(f"warning: {head}") < html.index('headline">')
    gated = gate(
        QRELS, evaluate(QRELS, WHOLE, "AP", name="whole"), evaluate(QRELS, UNEQUAL[kind], "AP", name="other"), "AP"
    )
    assert gate_text(gated).startswith(f"warning: {head}")
    assert f"**Warning:** {head}" in as_markdown(gated).partition("sed.**")[0]
    assert f"<system-out>warning: {head}" in as_junit(gated).rpartition("</testcase>")[2]
    assert f"warning: {head}" in gated._repr_html_()


def test_equal_runs_raise_no_doubt():
    comparison = compare(QRELS, {"one": WHOLE, "other": made(seed=1)}, "AP nDCG@10 RR P@5 Rprec bpref")
    assert (comparison.doubts, comparison.warnings) == ((), ())
    assert comparison_text(comparison).partition("  ")[0] in ("Better", "Worse", "Too close to call")


def test_depth_counts_only_as_far_as_a_measure_looks():
    runs = {"deep": WHOLE, "shallow": made(depth=20, seed=1)}
    assert kinds(compare(QRELS, runs, "nDCG@10 P@20")) == []
    [doubt] = compare(QRELS, runs, "nDCG@10 P@30 AP").doubts
    assert doubt.measures == ("P@30", "AP")
    assert doubt.sentence == (
        "shallow returns at most 20 documents for a query, deep up to 100; P@30 looks at the first 30"
    )


def test_how_many_documents_an_engine_matches_is_its_own_unless_answers_are_short_of_the_cutoff():
    fewer = {
        query: dict(list(ranking.items())[: 5 + 2 * at]) for at, (query, ranking) in enumerate(made(seed=1).items())
    }
    assert kinds(compare(QRELS, {"whole": WHOLE, "fewer": fewer}, "AP")) == ["depth"]  # none is as long
    fewer["q29"] = made(seed=1)["q29"]
    assert kinds(compare(QRELS, {"whole": WHOLE, "fewer": fewer}, "AP")) == []
    [doubt] = compare(QRELS, {"whole": WHOLE, "fewer": fewer}, "P@50").doubts
    assert doubt.sentence == "fewer returns fewer documents than whole on 21 of 30 queries; P@50 looks at the first 50"
    assert kinds(compare(QRELS, {"whole": WHOLE, "fewer": fewer}, "nDCG@10")) == []  # 3 of 30


def test_a_few_queries_tell_nothing_about_depth():
    few = {query: WHOLE[query] for query in QUERIES[:4]}
    runs = {"whole": few, "short": {query: dict(list(ranking.items())[:1]) for query, ranking in few.items()}}
    assert kinds(compare({query: QRELS[query] for query in few}, runs, "AP")) == ["few-queries"]


def test_few_queries_that_differ_are_told():
    changed = {**WHOLE, **{query: dict(list(WHOLE[query].items())[1:]) for query in QUERIES[:4]}}
    comparison = compare(QRELS, {"whole": WHOLE, "changed": changed}, "AP P@1")
    [doubt] = comparison.doubts
    assert (doubt.kind, doubt.run, doubt.others, doubt.facts["queries"]) == ("few-queries", "changed", ("whole",), 30)
    differing = doubt.facts["differing"]
    assert 0 < differing <= 4
    assert doubt.sentence == (
        f"only {differing} of 30 queries differ by AP; with so few, interval and p-value are rough"
    )
    assert comparison_text(comparison).startswith("warning: only")
    assert gate(QRELS, WHOLE, changed, "AP").warnings == (doubt.sentence,)
    one = {**WHOLE, "q0": {**WHOLE["q0"], "d0": -1.0}}
    [told] = compare(QRELS, {"whole": WHOLE, "one": one}, "AP").warnings
    assert told.startswith("only 1 of 30 queries differs by AP; ")
    assert kinds(compare(QRELS, {"whole": WHOLE, "changed": changed}, "AP", test="sign")) == []  # it is exact
    assert kinds(compare(QRELS, {"whole": WHOLE, "same": WHOLE}, "AP")) == []  # which the interval allows for
    assert kinds(compare(QRELS, {"whole": WHOLE, "changed": changed, "third": made(seed=2)}, "AP")) == []


def test_missing_queries_that_are_left_out_are_told_too():
    runs = {"whole": WHOLE, "cut": made(queries=QUERIES[:12], seed=1)}
    [doubt] = compare(QRELS, runs, "AP", policy=Policy(missing="skip")).doubts
    assert doubt.sentence == "cut lacks 18 of 30 queries, so only the others are compared"
    both = {"one": made(queries=QUERIES[:12]), "two": made(queries=QUERIES[:12], seed=1)}
    assert kinds(compare(QRELS, both, "AP")) == []  # alike


def test_a_query_that_was_answered_with_nothing_is_not_missing():
    empty = {query: WHOLE[query] if query < "q3" else {} for query in QUERIES}
    assert "missing-queries" not in kinds(compare(QRELS, {"whole": WHOLE, "empty": empty}, "AP"))


def test_ties_that_decide_nothing_are_not_told():
    last = made(seed=1, score=lambda rank: -float(min(rank, 98)))  # the last two of a hundred
    assert kinds(compare(QRELS, {"whole": WHOLE, "last": last}, "AP")) == []
    tied = {"whole": WHOLE, "tied": UNEQUAL["ties"]}
    assert kinds(compare(QRELS, tied, "AP", policy=Policy(ties="worst"))) == []  # an order that was chosen


def test_ties_tell_whether_they_could_reverse_the_difference():
    ends = {
        ties: compare(QRELS, {"w": WHOLE, "t": UNEQUAL["ties"]}, "AP", policy=Policy(ties=ties))
        for ties in ("worst", "best")
    }
    low, high = (comparison.differences[0].difference for comparison in ends.values())
    [doubt] = compare(QRELS, {"w": WHOLE, "t": UNEQUAL["ties"]}, "AP").doubts
    means = [comparison.means["AP"]["t"] for comparison in ends.values()]
    assert [doubt.facts["low"], doubt.facts["high"]] == pytest.approx(means)
    assert doubt.facts["could_reverse"] == (low < 0 < high)


@pytest.mark.parametrize("kind", UNEQUAL)
def test_a_saved_evaluation_carries_what_is_needed(tmp_path, kind):
    result = evaluate(QRELS, UNEQUAL[kind], "AP", name="other")
    result.save(tmp_path / "saved.json")
    whole = evaluate(QRELS, WHOLE, "AP", name="whole")
    fresh, saved = (gate(QRELS, whole, after, "AP") for after in (result, Evaluation.load(tmp_path / "saved.json")))
    assert saved.doubts == fresh.doubts


def test_an_older_saved_evaluation_says_that_it_is_not_known(tmp_path):
    path = tmp_path / "saved.json"
    evaluate(QRELS, WHOLE, "AP", name="old").save(path)
    content = json.loads(path.read_text())
    del content["run_facts"], content["checksum"]
    path.write_text(json.dumps(content))
    comparison = compare(QRELS, {"old": path, "new": made(seed=1)}, "AP")
    assert comparison.warnings == ("old was saved without its ties and missing queries, so these are not checked",)
    content["run_facts"] = {"lacking": [1]}
    path.write_text(json.dumps(content))
    with pytest.raises(cranfield.InputError, match="columns are missing"):
        Evaluation.load(path)


def test_many_runs_are_summed_up():
    runs = {f"r{number}": made(seed=number) for number in range(7)}
    for number, queries in enumerate((3, 20, 29)):
        runs[f"cut{number}"] = made(queries=QUERIES[:queries], seed=20 + number)
    comparison = compare(QRELS, runs, "AP", bounds=False)
    assert comparison.warnings == (
        "3 of 10 runs lack queries that others have: cut0 (27 of 30), cut1 (10 of 30), cut2 (1 of 30)",
    )
    assert comparison.doubts[0].others == tuple(run for run in runs if run != "cut0")
    against = compare(QRELS, runs, "AP", baseline="r0", bounds=False)
    assert [doubt.others for doubt in against.doubts] == [("r0",)] * 3


def test_a_new_kind_is_shown_everywhere(monkeypatch):
    kind = Kind(lambda one, other: Found("", f"{one.run} is odd", {}) if one.run == "odd" else None, "are odd")
    monkeypatch.setitem(KINDS, "odd", kind)
    comparison = compare(QRELS, {"odd": WHOLE, "even": made(seed=1)}, "AP")
    assert comparison.warnings == ("odd is odd",)
    assert all("odd is odd" in shown for shown in (comparison_text(comparison), comparison.to_json(), str(comparison)))
    twice = [replace(comparison.doubts[0], run=name) for name in ("a", "b")]
    assert doubt_texts(twice, 3) == ["2 of 3 runs are odd: a, b"]


def test_scores_that_rise_by_chance_or_ranks_are_no_distances():
    few = {"q0": {"a": 0.2, "b": 0.9}, "q1": {"a": 0.1, "c": 0.3}}
    assert evaluate({"q0": {"a": 1}, "q1": {"a": 1}}, few, "RR").warnings == ()
    assert evaluate(QRELS, {query: list(ranking) for query, ranking in WHOLE.items()}, "RR").warnings == ()
    shuffled = {query: dict(random.Random(query).sample(list(its.items()), len(its))) for query, its in WHOLE.items()}
    assert evaluate(QRELS, shuffled, "RR").warnings == ()


@pytest.mark.parametrize("ending", ["run", "tsv", "csv", "json", "jsonl", "parquet", "run.gz"])
def test_distances_are_recognised_in_every_format(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    for name, rankings in (("distances", UNEQUAL["rising-scores"]), ("whole", WHOLE)):
        lines = "".join(
            f"{query} Q0 {document} {rank} {score} t\n"
            for query, its in rankings.items()
            for rank, (document, score) in enumerate(its.items(), 1)
        )
        (tmp_path / f"{name}.run").write_text(lines)
        if ending == "run.gz":
            (tmp_path / f"{name}.run.gz").write_bytes(gzip.compress(lines.encode()))
        elif ending != "run":
            done = run("convert", f"{name}.run", f"{name}.{ending}", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    found = {
        name: evaluate(QRELS, tmp_path / f"{name}.{ending}", "AP")._evidence.distances == RISING
        for name in ("distances", "whole")
    }
    assert found == {"distances": True, "whole": False}


@pytest.mark.parametrize(("every", "rising"), [(12, True), (3, False)])
def test_a_few_falls_do_not_hide_distances(every, rising):
    """Some systems return a document out of order; a run in no order at all has as many falls as rises."""
    rankings = {
        query: {document: float(rank if rank % every else 0) for rank, document in enumerate(its, 1)}
        for query, its in WHOLE.items()
    }
    assert evaluate(QRELS, rankings, "AP")._evidence.distances == RISING * rising


def test_advice_on_distances_says_nothing_else_about_that_run():
    advice = advise(QRELS, {"distances": UNEQUAL["rising-scores"], "whole": WHOLE})
    assert advice.warnings[0].startswith("distances: the scores rise from one document to the next")
    assert advice.warnings[1:] == advise(QRELS, {"whole": WHOLE}).warnings
    assert [run.run for run in advice.facts.runs] == ["whole"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_distances_are_recognised_in_frames(library):
    frames = pytest.importorskip(library)
    for name, rising in (("rising-scores", True), ("ties", False)):
        rows = [(query, document, score) for query, its in UNEQUAL[name].items() for document, score in its.items()]
        columns = dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
        frame = frames.table(columns) if library == "pyarrow" else frames.DataFrame(columns)
        assert evaluate(QRELS, frame, "AP")._evidence.distances == RISING * rising


def reading(rankings, kind, tmp_path, *, ranks):
    """Rankings as a dict, a frame or a file, in the order given; rows are shuffled where they have ranks."""
    if kind == "dict":
        return rankings
    rows = [
        (query, document, rank, score)
        for query, its in rankings.items()
        for rank, (document, score) in enumerate(its.items(), 1)
    ]
    if ranks:
        random.Random(4).shuffle(rows)
    if kind == "frame":
        frames = pytest.importorskip("polars")
        names = ("query_id", "doc_id", "rank", "score")
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return frames.DataFrame(columns if ranks else {name: columns[name] for name in names if name != "rank"})
    header = {"trec": "", "csv": "query,document,rank,score\n" if ranks else "query,document,score\n"}[kind]
    line = {"trec": "{0} Q0 {1} {2} {3} t\n", "csv": "{0},{1},{2},{3}\n" if ranks else "{0},{1},{3}\n"}[kind]
    path = tmp_path / f"run.{kind}"
    path.write_text(header + "".join(line.format(*row) for row in rows))
    return path


FEW = {query: WHOLE[query] for query in QUERIES[:12]}  # queries, so that the head of a shuffled file has pairs of each


@pytest.mark.parametrize(("kind", "ranks"), [("frame", True), ("trec", True), ("csv", True), ("csv", False)])
def test_ranks_say_the_order_even_where_lines_are_shuffled(kind, ranks, tmp_path):
    far = {query: {document: -score for document, score in its.items()} for query, its in FEW.items()}
    assert evaluate(QRELS, reading(far, kind, tmp_path, ranks=ranks), "AP")._evidence.distances == RISING
    assert evaluate(QRELS, reading(FEW, kind, tmp_path, ranks=ranks), "AP")._evidence.distances == ""


def near(seed=0, sign=-1.0, corpus=100):
    """Documents with their distances, in no order; relevant ones are near."""
    draw = random.Random(seed)
    return {
        query: {f"d{n}": sign * -draw.gauss(1.0 + 2 * (QRELS[query].get(f"d{n}", 0) == 0), 0.3) for n in range(corpus)}
        for query in QUERIES
    }


@pytest.mark.parametrize("kind", ["dict", "frame", "csv", "trec"])
def test_an_order_that_would_be_far_better_reversed_is_told_everywhere(kind, tmp_path):
    given = {query: dict(random.Random(query).sample(list(its.items()), len(its))) for query, its in near().items()}
    found = evaluate(QRELS, reading(given, kind, tmp_path, ranks=False), "nDCG@10")
    [warning] = found.warnings
    reverse = evaluate(QRELS, near(sign=1.0), "RR")["RR"]
    of_both = f"in the reverse order, RR would be {reverse:.4f} instead of {evaluate(QRELS, given, 'RR')['RR']:.4f}"
    assert warning == f"{of_both}; negate the scores if they are distances"
    [doubt] = compare(QRELS, {"far": found, "whole": evaluate(QRELS, WHOLE, "nDCG@10")}, "nDCG@10").doubts
    assert (doubt.kind, doubt.facts) == ("rising-scores", {"rising": False})
    assert doubt.sentence.endswith(warning)
    assert advise(QRELS, {"far": given}).warnings[0] == f"far: {warning}."
    found.save(tmp_path / "saved.json")
    assert Evaluation.load(tmp_path / "saved.json")._evidence.distances == warning
    lines = "".join(f"{query} 0 {doc} {grade}\n" for query, its in QRELS.items() for doc, grade in its.items())
    (tmp_path / "qrels").write_text(lines)
    if kind in ("csv", "trec"):
        problems = cranfield.check_files(tmp_path / "qrels", tmp_path / f"run.{kind}").problems
        assert [problem.message for problem in problems if problem.kind == "reversed-scores"] == [f"{warning}."]


def test_an_honest_order_is_not_doubted():
    good = near(sign=1.0)
    assert evaluate(QRELS, good, "nDCG@10").warnings == ()
    tied = {query: dict.fromkeys(its, 1.0) for query, its in near().items()}
    names = {query: {f"d{99 - n:02}" if n < 40 else f"d{n}": int(n < 5) for n in range(50)} for query in QUERIES}
    by_name = {query: dict.fromkeys(sorted(its), 1.0) for query, its in names.items()}
    for qrels, rankings in ((QRELS, tied), (names, by_name)):
        assert evaluate(qrels, rankings, "nDCG@10")._evidence.distances == ""
    unjudged = {query: [*(f"new{n}" for n in range(60)), "d0", "d3", "d6", "d1", "d2"] for query in QUERIES}
    assert evaluate(QRELS, unjudged, "nDCG@10").warnings == ()
    few = {query: its for query, its in near().items() if query in QUERIES[:9]}
    assert evaluate({query: QRELS[query] for query in few}, few, "nDCG@10").warnings == ()


@pytest.mark.parametrize(("qrels", "runs"), [("builtin", ("plain", "tuned")), ("builtin:ten", ("keywords", "meaning"))])
def test_no_run_of_the_built_in_collection_is_doubted(qrels, runs):
    assert {qrels, *(f"builtin:{name}" for name in runs)} <= {*BUILT_IN_FILES}
    assert [evaluate(qrels, f"builtin:{name}", "nDCG@10")._evidence.distances for name in runs] == ["", ""]


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "P@5"])
def test_the_judged_share_is_of_the_returned_documents_that_the_measure_reads(measure):
    depth = {"AP": 100, "nDCG@10": 10, "P@5": 5}[measure]
    cut = made(queries=QUERIES[:7], depth=8, seed=3)
    comparison = compare(QRELS, {"whole": WHOLE, "cut": cut}, measure)
    for name, rankings in (("whole", WHOLE), ("cut", cut)):
        shares = [
            np.mean([document in QRELS[query] for document in list(its)[:depth]]) for query, its in rankings.items()
        ]
        assert comparison.judged[measure][name] == pytest.approx(np.mean(shares))
        assert judged_share(evaluate(QRELS, rankings, measure), comparison.measures[0]) == pytest.approx(
            np.mean(shares)
        )


def test_a_truncated_file_is_told_first_by_every_command(tmp_path):
    for name, rankings in (("a", WHOLE), ("trunc", UNEQUAL["missing-queries"])):
        rows = [f"{q} Q0 {d} {r} {s} t\n" for q, its in rankings.items() for r, (d, s) in enumerate(its.items(), 1)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    (tmp_path / "q").write_text("".join(f"{q} 0 {d} {g}\n" for q, its in QRELS.items() for d, g in its.items()))
    for command in ("compare", "gate"):
        done = run(command, "q", "a.run", "trunc.run", cwd=tmp_path)
        assert done.stdout.startswith("warning: trunc lacks 27 of 30 queries, which count 0\n\n"), done.stderr
        assert max(map(len, done.stdout.splitlines())) <= 80
    done = run("report", "q", "a.run", "trunc.run", "-o", "page.html", "--no-charts", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    warning = page.index("<b>Warning:</b> trunc lacks 27 of 30 queries, which count 0.")
    assert warning < page.index('class="badge"')


def test_a_check_that_was_switched_off_is_not_called_unknown():
    runs = {"one": WHOLE, "other": made(seed=1)}
    text = " ".join(comparison_text(compare(QRELS, runs, "AP", bounds=False)).split())
    assert "Whether unjudged documents could reverse this difference was not checked." in text
    assert "not known" not in text


def test_doubts_cost_little_beside_reading():
    """Of many runs without any doubt, pairs are not looked at query by query."""
    looked = []
    original = doubts.Side.beside
    evaluations = [evaluate(QRELS, made(seed=seed), "AP", name=f"r{seed}") for seed in range(12)]
    try:
        doubts.Side.beside = lambda self, other: looked.append(1) or original(self, other)
        cranfield.compare_evaluations(evaluations, "AP", bounds=False)
    finally:
        doubts.Side.beside = original
    assert not looked


def test_a_retriever_that_cannot_go_deeper_is_not_compared_in_silence(tmp_path):
    def deep(query, k):
        return list(WHOLE[query])[:k]

    paths = []
    for name, most in (("deep", 100), ("four", 4)):
        paths.append(tmp_path / f"{name}.run")
        recorded = cranfield.record(
            lambda query, k, most=most: deep(query, min(k, most)),
            dict(zip(QUERIES, QUERIES, strict=True)),
            paths[-1],
            k=10,
        )
        assert recorded.short == (len(QUERIES) if most < 10 else 0)
    assert compare(QRELS, paths, "R@10").warnings == (
        "four returns at most 4 documents for a query, deep up to 10; R@10 looks at the first 10",
    )
