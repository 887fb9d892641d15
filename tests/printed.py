"""What is printed about small collections, one function for each kind of output, in which claims are looked up."""

import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from cranfield import (
    Decision,
    Evaluation,
    Policy,
    RecommenderRun,
    advise,
    agreement,
    calls,
    compare,
    corrected_judgments,
    diff,
    evaluate,
    evaluate_like,
    evaluate_runs,
    frontier,
    fuse,
    gate,
    judge_by_clicks,
    neighbour_recall,
    open_store,
    plan_sample,
    pool,
    preferred,
    reusability,
    sample_queries,
    stability,
    tune,
    why,
    write_report,
)
from cranfield.comparison.correlation import reliability
from cranfield.evaluation.overview import overview
from cranfield.judging.decide.looks import decision_summary
from cranfield.judging.store.waiting import pooled_documents
from cranfield.report.history import write_history
from cranfield.show.calls_text import calls_text
from cranfield.show.comparison_markup import comparison_markdown
from cranfield.show.comparison_text import comparison_text
from cranfield.show.diff_text import diff_lines
from cranfield.show.evaluation_text import table
from cranfield.show.frontier_text import frontier_lines
from cranfield.show.gate_text import gate_text
from cranfield.show.history_text import alert_lines, history_lines
from cranfield.show.judging_text import agreement_text, plan_lines
from cranfield.show.layout import UNPAINTED
from cranfield.show.neighbours_text import neighbours_lines
from cranfield.show.sampling_text import sample_text
from cranfield.show.segments_text import segments_text
from cranfield.show.stability_text import reusability_text, stability_text
from cranfield.show.systems_text import demonstration_lines
from cranfield.show.tuning_text import tuning_text
from cranfield.show.view import View
from cranfield.show.why_text import like_text
from cranfield.systems.history.alerts import alert_of
from cranfield.systems.history.lines import line_of
from cranfield.systems.history.opening import open_history
from cranfield.systems.testing import demonstrate
from tests.comparison.made import qrels_for, run_of_ranks
from tests.report.page import Page
from tests.systems.history.measuring import accepting, measured
from tests.traffic.simulated_clicks import Case, simulated

OUTPUTS: list[Callable[[], Iterator[str]]] = []
BUILTIN = ("builtin:qrels", ["builtin:keywords", "builtin:meaning"])


def output(function):
    OUTPUTS.append(function)
    return function


@cache
def printed():
    """Everything, as one text without line breaks: a line for each output."""
    return "\n".join(" ".join(text.split()) for function in OUTPUTS for text in function())


@output
def grouped_and_without_an_answer():
    queries = [f"q{at}#{n}" for at in range(30) for n in (1, 2, 3)]
    groups = {query: query.partition("#")[0] for query in queries}
    chance = np.random.default_rng(5)
    qrels = {f"q{at}": {"r": 1} for at in range(30)}
    two = {
        name: {query: ["x", "r"][int(chance.random() < share) :] for query in queries}
        for name, share in (("one", 0.4), ("other", 0.6))
    }
    compared = compare(qrels, two, "RR", groups=groups, bounds=False)
    yield comparison_text(compared)
    without = {f"n{at}": False for at in range(10)}
    scored = {query: {"r": float(chance.normal(query[0] == "q"))} for query in [*qrels, *without]}
    result = evaluate(qrels, scored, "RR", answerable=without, threshold="fitted")
    yield table(View(overview([result])))
    yield result.answering.sentence


def ranks(seed, queries, longest):
    return np.random.default_rng(seed).integers(1, longest, queries).tolist()


def ranked(ranks, depth=40):
    """A run of equally long rankings, with the relevant document of each query at these ranks."""
    others = [f"x{n}" for n in range(1, depth)]
    return {str(q): [*others[: rank - 1], "r", *others[rank - 1 :]] for q, rank in enumerate(ranks)}


def runs(queries=40):
    """Four runs: the first two are alike, the third is worse, the last one far worse."""
    alike, better, worse, worst = (ranks(seed, queries, to) for seed, to in ((1, 5), (2, 4), (3, 9), (4, 30)))
    named = {"old": alike, "new": better, "third": worse, "fourth": worst}
    return qrels_for(queries), {name: ranked(its) for name, its in named.items()}


def compared(qrels, its, measures="RR", **options):
    comparison = compare(qrels, its, measures, **options)
    yield str(comparison)
    yield comparison_text(comparison)
    yield comparison_text(comparison, reliability(comparison), pairs=True)
    yield comparison_markdown(comparison)


def shown(evaluations, **options):
    return table(View(overview(evaluations, **options)))


@output
def explanations_of_other_numbers():
    bought = {"ann": {f"i{n}": 1 for n in range(8)}, "bob": {f"i{n}": 1 for n in range(5)}, "eve": {"i1": 1, "j": 1}}
    yield str(why(bought, {user: ["i0", "i1", "i2"] for user in bought}, {"AP@3": "0.75"}))
    qrels = {"1": {"a": 1, "b": 1, "c": 1, "d": 1}, "2": {"a": 1}, "3": {"a": 1, "b": 0}}
    yield str(why(qrels, {"1": ["a", "x", "b"], "2": ["x", "a"], "3": ["b", "y"]}, {"AP@2": "0.3333"}))
    yield like_text(evaluate_like(qrels, {"1": ["a", "x", "b"]}, "Spark", "AP@2"))


@output
def evaluations():
    qrels, run = (
        {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1}, "3": {"a": 0}, "4": {"a": 1}},
        {
            "1": {"a": 1.0, "b": 1.0, "u": 0.5},
            "2": {"v": 3.0, "b": 2.0},
            "3": {"a": 1.0},
        },
    )
    yield shown([evaluate(qrels, run, "RR nDCG@10", check_ids=False)], bounds=True, worst=3)
    deep = {"1": {f"u{n}": float(-n) for n in range(60)}, "2": {"a": 1.0}}
    yield shown([evaluate(qrels, deep, "AP Bpref", check_ids=False)], bounds=True)
    yield str(advise(qrels, {"mine": run}))
    weights = {q: 1 + int(q) % 3 for q in qrels_for(40)}
    yield shown([evaluate(*runs()[:1], runs()[1]["old"], "RR", weights=weights)])
    both = evaluate_runs(qrels, {"one": run, "other": deep}, "RR", check_ids=False)
    yield table(View(overview([*both.values()]), ranked_by="RR"), signatures=False)


@output
def two_runs():
    yield "\n".join(demonstration_lines(demonstrate()))
    qrels, its = runs()
    pair = {name: its[name] for name in ("old", "third")}
    yield from compared(qrels, pair, "RR P@1", margin=0.05)
    yield from compared(qrels, {"old": its["old"], "new": its["new"]})
    yield from compared(qrels, {"old": its["old"], "new": dict(its["old"])})
    yield from compared(qrels, {"old": its["old"], "new": its["new"]}, weights={q: 1 / (1 + int(q)) for q in qrels})
    yield from compared(qrels_for(8), {"old": ranked([2] * 8), "new": ranked([1] * 8)})
    signs = ranked([11] * 18 + [1] * 2), ranked([10] * 18 + [2] * 2)
    yield from compared(qrels_for(20), dict(zip(("old", "new"), signs, strict=True)), test="sign")
    yield from compared(qrels, pair, "RR P@1", family="all", correction="holm")


@output
def many_runs():
    qrels, its = runs()
    yield from compared(qrels, its, "RR P@1")
    yield from compared(qrels, its, "RR", baseline="old")
    for options in ({"correction": "none"}, {"correction": "holm"}, {"correction": "bonferroni"}, {"test": "tukey"}):
        yield from compared(qrels, its, "RR", **options)
    yield from compared(qrels, {"one": its["old"], "two": dict(its["old"]), "three": its["fourth"]})
    yield from compared(qrels, {"one": its["new"], "two": its["third"], "three": its["fourth"]})
    yield from compared(qrels, {f"run{at}": ranked(ranks(at, 40, 5)) for at in range(11)}, correction="holm")


@output
def unjudged():
    yield from compared(*BUILTIN, "nDCG@10")
    yield from compared(*BUILTIN, "nDCG@10", unseen=2)
    yield from compared(*BUILTIN, "nDCG@10", bounds=False)
    yield from compared(*BUILTIN, "AP")
    qrels = {str(q): {"r": 1} for q in range(20)}
    its = {"one": ranks(3, 20, 3), "two": ranks(3, 20, 12), "three": ranks(5, 20, 12)}
    yield from compared(qrels, {name: ranked(at) for name, at in its.items()}, "nDCG@10")
    its = {"one": [1, 2], "two": [5, 6], "three": [5, 6]}
    yield from compared(qrels, {name: run_of_ranks(at * 10) for name, at in its.items()}, "nDCG@10")
    its = {name: evaluate(qrels, run_of_ranks(at * 10), "RR") for name, at in (("old", [1, 2]), ("new", [2, 3]))}
    with tempfile.TemporaryDirectory() as folder:
        its["new"].save(Path(folder) / "saved.json")
        its["new"] = Evaluation.load(Path(folder) / "saved.json")
        yield from compared(None, its, "RR")
    strata = [(str(q), "1", document, grade) for q in range(8) for document, grade in (("a", 1), ("b", 0), ("c", -1))]
    answers = {"old": {str(q): ["c", "b", "a"] for q in range(8)}, "new": {str(q): [*"bca"] for q in range(8)}}
    answers["new"]["0"] = [*"abc"]
    yield from compared(strata, answers, "xinfAP")


@output
def gates():
    qrels, its = runs()
    for name, options in (
        ("third", {"tolerance": 0.01, "non_inferiority": 0.05, "detect": 0.05, "gates": 20}),
        ("third", {"tolerance": 0.01, "beyond_tolerance": True, "correction": "none"}),
        ("new", {"max_worse_queries": 3, "require_improvement": True, "minimum": {"RR": 0.5}}),
        ("old", {}),
    ):
        yield gate_text(gate(qrels, its["old"], its[name], "RR P@1", **options))
    yield gate_text(gate(qrels, its["third"], its["old"], "RR", require_improvement=True))
    yield gate_text(gate(qrels, its["old"], its["old"], "RR", non_inferiority=0.01))
    top = [{query: run[:9] for query, run in its[name].items()} for name in ("old", "fourth")]
    yield gate_text(gate(qrels, *top, "E", test="wilcoxon"))
    yield gate_text(gate(qrels, ranked([1] * 40), ranked([2] * 40), "RR"))
    yield gate_text(gate("builtin:qrels", "builtin:meaning", "builtin:keywords", "nDCG@10"))


@output
def segments():
    qrels, its = runs(60)
    its["new"] = ranked([1 + (rank > 1) if at < 20 else rank for at, rank in enumerate(ranks(7, 60, 9))])
    named = {str(q): "short" if q < 20 else "long" if q < 56 else "odd" for q in range(58)}
    for pair in (("old", "new"), ("old", "third")):
        found = compare(qrels, {name: its[name] for name in pair}, "RR").by_segment(named)
        yield str(found)
        yield segments_text(found)
    yield segments_text(compare(qrels, its, "RR").by_segment(named))
    yield str(
        compare(qrels, {name: its[name] for name in pair}, "RR").by_segment(dict.fromkeys(map(str, range(50)), "all"))
    )


@output
def means_over_orders():
    tied = {"q": dict.fromkeys("abc", 1.0)}
    yield from evaluate({"q": {"a": 1, "b": 0}}, tied, "Bpref", policy=Policy(ties="expected")).warnings


@output
def doubts():
    qrels, its = runs()
    whole = its["old"]
    documents = {query: {document: -float(at) for at, document in enumerate(run)} for query, run in whole.items()}
    yield from compared(qrels, {"whole": whole, "cut": {query: whole[query] for query in list(whole)[:15]}})
    yield from compared(qrels, {"whole": its["fourth"], "short": {q: run[:2] for q, run in its["fourth"].items()}})
    tied = {query: dict.fromkeys(run, 1.0) for query, run in documents.items()}
    yield from compared(qrels, {"whole": whole, "tied": tied})
    rising = {query: {d: float(at) for at, d in enumerate(run)} for query, run in its["fourth"].items()}
    yield from compared(qrels, {"whole": its["third"], "distances": rising})
    backwards = {query: [f"x{at}" for at in range(9)] + ["r"] for query in whole}
    yield from compared(qrels, {"whole": whole, "backwards": backwards})
    yield from compared(qrels, {"whole": whole, "changed": {**whole, "0": ["x1"], "1": ["x1", "x2", "r"]}})


@output
def thinned():
    qrels, its = runs()
    yield stability_text(stability(qrels, its, "AP infAP", repeats=2))
    yield reusability_text(reusability(*BUILTIN, "nDCG@10"))


@output
def corrected():
    chance, names = np.random.default_rng(0), [f"d{n}" for n in range(12)]
    queries, people, model, its = {f"q{n:02}": f"question {n}" for n in range(40)}, {}, {}, {"bm25": {}, "dense": {}}
    for query in queries:
        quality = chance.normal(0, 1, len(names))
        for grades, noise in ((people, 0.0), (model, 0.6)):
            read = np.digitize(quality + chance.normal(0, noise, len(names)), [0.3, 1.0, 1.7])
            grades[query] = dict(zip(names, read.tolist(), strict=True))
        for run, skill in (("bm25", 0.4), ("dense", 1.5)):
            order = np.argsort(-(skill * quality + chance.normal(0, 1, len(names))))
            its[run][query] = [names[at] for at in order[:10]]
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db", create=True) as store:
        drawn = pool(store, queries, its, 10, sample=12, seed=7).drawn
        with store._reading() as connection:
            pooled = [*pooled_documents(connection)]
        for name, kind, grades, only in (("gpt", "model", model, queries), ("ann", "person", people, drawn)):
            known = {query: {} for query in only}
            for query, document in pooled:
                if query in known:
                    known[query][document] = grades[query][document]
            store.import_qrels(known, name, kind=kind)
        judgments = corrected_judgments(store, model="gpt")
        yield shown([*evaluate_runs(judgments, its, "nDCG@10").values()])
        comparison = compare(judgments, its, "nDCG@10")
        yield comparison_text(comparison)
        yield gate_text(gate(judgments, its["bm25"], its["dense"], "nDCG@10"))
        yield gate_text(gate(judgments, its["bm25"], its["bm25"], "nDCG@10"))
        unseen = {query: [f"z{n}" for n in range(5)] + run[:5] for query, run in its["dense"].items()}
        yield comparison_text(compare(judgments, {"bm25": its["bm25"], "unseen": unseen}, "nDCG@10"))
        yield agreement_text(agreement(store, assessors=["gpt", "ann"], kinds=["person", "model"]), 200)


@output
def deciding():
    for seed, skills in ((3, (0.2, 3.0)), (3, (3.0, 0.2)), (3, (0.8, 1.3)), (12, (1.0, 1.0))):
        chance = np.random.default_rng(seed)
        quality = chance.normal(0, 1, (20, 40)) + chance.normal(0, 0.5, (20, 1))
        grades, its = np.searchsorted([0.3, 1.0, 1.7], quality), {}
        for name, skill in zip(("old", "new"), skills, strict=True):
            order = np.argsort(-(skill * quality + chance.normal(0, 1, quality.shape)), axis=1)
            its[name] = {f"{q}": [f"{d}" for d in line] for q, line in enumerate(order)}
        decision = Decision.of(its)
        while True:
            look = decision.look()
            yield look.reason
            yield str(decision_summary(look, "nDCG@10", 0.05))
            if look.done:
                break
            known = {}
            for query, document in decision.next(10):
                known.setdefault(query, {})[document] = float(grades[int(query), int(document)])
            decision = decision.with_grades(known)
    twins = Decision.of({"old": {"1": ["a"], "2": ["b"]}, "new": {"1": ["a"], "2": ["b"]}})
    yield twins.look().reason
    yield Decision.of({name: run for name, run in runs(4)[1].items() if name != "fourth"}).look().reason


@output
def plans():
    ranked = {f"s{n}": {f"q{q}": [f"d{(d * (n + 1)) % 41}" for d in range(40)] for q in range(5)} for n in (0, 1)}
    for within in (0.1, 1e-6):
        yield " ".join(plan_lines(plan_sample(list(ranked["s0"]), ranked, within, depth=5, sample_depth=40)))


@output
def assessors():
    yield agreement_text(agreement([("q", document, name, 1) for document in "ab" for name in ("ann", "bob")]))
    grades = {"ann": "0000001", "bob": "0000010"}
    yield agreement_text(
        agreement([(f"q{at}", "d", name, int(grade)) for name, its in grades.items() for at, grade in enumerate(its)])
    )
    chance, same = np.random.default_rng(1), {f"q{n}": {"a": 2, "b": 1, "c": 0, "d": n % 3} for n in range(20)}
    other = {
        query: {d: grade if chance.random() < 0.8 else 2 - grade for d, grade in own.items()}
        for query, own in same.items()
    }
    unlike = {query: {**own, "b": 2} for query, own in other.items()}
    its = {"x": {query: ["a", "b"] for query in same}, "y": {query: ["b", "a"] for query in same}}
    for other in (same, unlike):
        yield agreement_text(agreement({"ann": same, "bob": other}, runs=its), 200)
    models = {"gpt": same, "llama": unlike, "twin": unlike}
    yield agreement_text(agreement({"ann": same, **models}, models=models), 200)
    near = {query: {**own, "d": own["d"] if n % 5 else 2 - own["d"]} for n, (query, own) in enumerate(same.items())}
    yield agreement_text(agreement({"ann": unlike, "gpt": same, "llama": near}, models=["gpt", "llama"]), 200)
    few = {name: {"q0": own["q0"], "q1": own["q1"]} for name, own in {"ann": same, **models}.items()}
    yield agreement_text(agreement(few, models=models), 200)


@output
def mixtures():
    tuned = tune("builtin", {"plain": "builtin:plain", "tuned": "builtin:tuned"}, tried={"method": "combsum"})
    yield tuning_text(tuned, 80, UNPAINTED)
    yield str(tuned)
    yield comparison_text(compare("builtin", {"plain": "builtin:plain", "mixed": tuned.run()}))
    both = fuse({"plain": "builtin:plain", "mixed": tuned.run()})
    yield comparison_text(compare("builtin", {"plain": "builtin:plain", "both": both}))
    yield "\n".join(evaluate("builtin", tuned.run()).warnings)
    mine = fuse(["builtin:plain", "builtin:tuned"], weights=[0.1, 0.9])
    yield comparison_text(compare("builtin", {"plain": "builtin:plain", "mixed": mine}))


@output
def samples_of_logs() -> Iterator[str]:
    yield " ".join(sample_text(sample_queries({f"query {at}": at for at in range(99)}, 9), "-", 0.2, 500, UNPAINTED))
    yield preferred([(f"person {at}", "lamp", "d1", "b" if at % 9 else "a") for at in range(90)]).sentence


@output
def clicks():
    for moves in (True, False):
        log = simulated(Case("position", 0.5, moves), 30, 300, 1)
        rows = [dict(zip(log.table.column_names, row, strict=True)) for row in zip(*log.table.to_pydict().values())]
        if moves:  # at a rank of its own, which no document ties to others
            rows += [{**rows[0], "doc_id": "footer", "rank": 50}]
        with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
            store.add_queries({f"q{query}": f"query {query}" for query in range(30)})
            yield str(judge_by_clicks(store, rows))


@output
def changes():
    two = "builtin:plain", "builtin:tuned"
    yield from diff_lines(diff(*two), 1000, UNPAINTED)
    yield from neighbours_lines(neighbour_recall(two[1], two[0]), 1000, UNPAINTED)
    costs = {"plain": 1.0, "tuned": 0.5}
    yield from frontier_lines(frontier("builtin", two, by="cost", values=costs), 1000, UNPAINTED)
    alike = {"plain": "builtin:plain", "tuned": "builtin:plain"}
    yield from frontier_lines(frontier("builtin", alike, by="cost", values=costs), 1000, UNPAINTED)


@output
def agents_and_recommenders():
    yield calls_text(calls({"t": {"a": 1, "b": 1}, "u": {"c": 1}}, {"t": [["x"], ["a"]], "u": [["c"]]}), 1000)
    users, before = [f"u{at}" for at in range(20)], {"x": [f"i{at}" for at in range(9)]}
    lists = {
        name: {user: [f"i{at % width}"] for at, user in enumerate(users)} for name, width in (("few", 2), ("many", 9))
    }
    two = {name: RecommenderRun(run, before) for name, run in lists.items()}
    yield from compared({user: {"i0": 1} for user in users}, two, "Coverage")


@output
def report():
    with tempfile.TemporaryDirectory() as folder:
        qrels, its = runs()
        page = Path(folder) / "report.html"
        for judged, pages, measure in (
            (*BUILTIN, "nDCG@10"),
            (*BUILTIN, "RR"),
            (qrels, {"old": its["old"], "new": its["new"]}, "RR"),
        ):
            write_report(judged, pages, page, measure, charts=False)
            yield Page(page).text
        qrels, its = runs(60)
        for name in ("old", "third"):  # nearly as good as the best, and far worse on the second half
            its[name] = ranked(ranks(len(name), 30, 4) + ranks(len(name), 30, 20))
        its["twin"] = its["new"]
        for sizes in ((20, 25, 15), (30, 30, 0)):
            names = [name for name, size in zip("abc", sizes, strict=True) for _ in range(size)]
            write_report(qrels, its, page, "RR", charts=False, segments=dict(zip(qrels, names, strict=True)))
            yield Page(page).text


@output
def histories():
    """Two months of a system that slides, beside what was accepted at first; and the note below the page."""
    with tempfile.TemporaryDirectory() as folder, open_history(f"{folder}/history.db", create=True) as history:
        results = [measured([3] * (2 * day) + [1] * (40 - 2 * day), day) for day in range(4)]
        history.append(results, acceptances=[accepting(results[0])])
        yield "\n".join(history_lines(line_of(history, "mine"), width=1000))
        results = [measured([3] * (2 * day) + [1] * (40 - 2 * day), day) for day in range(4, 12)]
        history.append(results)
        yield "\n".join(alert_lines(alert_of(history, "mine", ["RR"]), width=1000))
        written = write_history([line_of(history, "mine")], f"{folder}/history.html")
        yield Path(written.path).read_text(encoding="utf-8")
