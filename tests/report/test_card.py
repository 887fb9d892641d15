"""Every sentence of the card is true: its counts are those of naive loops over small random runs."""

import re

import pytest

pytest.importorskip("jinja2")
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield.comparison.differences import estimate_text
from cranfield.comparison.standing import standings
from cranfield.evaluation.evaluating import judgments_for
from cranfield.look import LIGHT
from cranfield.report.card import card, doubts_about, page_title
from cranfield.report.charts import hues
from cranfield.report.gathered import Gathered
from cranfield.report.leaderboard import _draw_intervals
from cranfield.report.order import rank_chart
from cranfield.report.request import Request
from cranfield.report.sentences import rounded, short_names, signed

DOCUMENTS = list("abcdefg")
MEASURES = ["nDCG@3", "P@1", "AP", "RR@2", "P(rel=2)@3", "nDCG(judged_only=True)@3", "Rprec", "E"]


def gathered(qrels, runs, measure="nDCG@3", title=None, baseline=None, unseen=0, **options):
    wanted = cranfield.parse_measures(measure)
    judgments = judgments_for(qrels, list(runs.values()), None, wanted)
    request = Request(
        qrels=qrels,
        judgments=judgments,
        runs=cranfield.evaluate_runs(judgments, runs, wanted, check_ids=False, **options),
        rankings=runs,
        measures=wanted,
        title=title,
        notes=(),
        baseline=baseline,
        own_baselines={},
        command=None,
        collection=None,
        segments={},
        bounds=False,
        unseen=unseen,
        queries=10,
        depth=10,
        charts=False,
        removal=False,
        test="t",
        correction=None,
        alpha=0.05,
        format=None,
    )
    return Gathered(request)


@st.composite
def collections(draw, most=2):
    queries = [f"q{n}" for n in range(draw(st.integers(2, 6)))]
    qrels = {
        query: draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1)) for query in queries
    }
    rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=6)
    names = ["old", "new", "third", "fourth"][: draw(st.integers(most, most))]
    return qrels, {name: {query: draw(rankings) for query in queries} for name in names}


class Naive:
    """What a measure sees, by loops."""

    def __init__(self, qrels, measure):
        known = cranfield.parse_measure(measure)
        parameters = dict(known.parameters)
        self.qrels, self.depth = qrels, parameters.get("cutoff") or 10**6
        self.rel = parameters.get("rel", 1)
        self.judgeable = [q for q in qrels if any(grade >= self.rel for grade in qrels[q].values())]

    def ranks(self, run, query):
        found = enumerate(run[query][: self.depth], 1)
        return [rank for rank, document in found if self.qrels[query].get(document, 0) >= self.rel]

    def nothing(self, run):
        return sum(not self.ranks(run, query) for query in self.judgeable)

    def first(self, run, query):
        return min(self.ranks(run, query), default=10**9)

    def unjudged(self, run):
        shares = []
        for query, judged in self.qrels.items():
            top = run[query][: self.depth]
            if top:
                shares.append(sum(document not in judged for document in top) / len(top))
        return sum(shares) / len(shares) if shares else 0.0


def numbers(pattern, sentences):
    found = [match for each in sentences for match in [re.search(pattern, each)] if match]
    return [0 if each in ("no", "none") else int(each) for each in found[0].groups()] if found else None


@settings(max_examples=80, deadline=None)
@given(collections(), st.sampled_from(MEASURES), st.sampled_from([0, 2]))
def test_sentences_of_two_runs(collection, measure, unseen):
    qrels, runs = collection
    found = gathered(qrels, runs, measure, unseen=unseen)
    shown, naive = card(found), Naive(qrels, measure)
    values = cranfield.evaluate_runs(qrels, runs, measure, check_ids=False)
    one, other = (each.by_query(measure) for each in values.values())
    sign = -1 if measure == "E" else 1  # lower is better
    assert shown["counts"] == {
        "better": sum(sign * (other[query] - one[query]) > 1e-9 for query in qrels),
        "same": sum(abs(other[query] - one[query]) <= 1e-9 for query in qrels),
        "worse": sum(sign * (other[query] - one[query]) < -1e-9 for query in qrels),
    }
    for change in shown["largest"]:
        gains = {query: sign * (other[query] - one[query]) for query in qrels}
        extreme = (max if change["kind"] == "better" else min)(gains.values())
        assert gains[change["query"]] == pytest.approx(extreme)
        assert change["number"] == signed(sign * extreme)
    [difference] = cranfield.compare(qrels, runs, measure, check_ids=False, unseen=unseen)
    assert shown["badge"] == difference.headline
    same = difference.headline == "No difference"
    assert shown["number"] == (rounded(0) if same else estimate_text(difference).replace("-", "−"))
    sentences = shown["sentences"]
    meant = "Unjudged documents the runs returned" + ", and 2 for each query that they did not," * (unseen > 0)
    assert all(each.startswith(f"{meant} c") for each in sentences if "reverse" in each)
    reversal = any("could reverse" in each for each in sentences)
    assert reversal == bool(difference.could_reverse and difference.headline != "No difference")
    if any("can't reverse" in each for each in sentences):
        assert difference.could_reverse is False
    if measure in ("Rprec", "nDCG(judged_only=True)@3"):  # look at different ranks of each ranking
        assert not any("find" in each or "Unjudged, so" in each for each in sentences)
        return
    if naive.judgeable:
        old, new = (naive.nothing(runs[name]) for name in ("old", "new"))
        counts = numbers(r"^Nothing relevant.*: old (\d+) quer[^,]*, new (\d+)\.", sentences)
        if old or new:
            assert counts == [old, new]
        else:
            assert any("finds something relevant" in each for each in sentences)
    if naive.depth > 1:
        firsts = [(naive.first(runs["old"], query), naive.first(runs["new"], query)) for query in naive.judgeable]
        earlier, later = sum(b < a for a, b in firsts), sum(b > a for a, b in firsts)
        counts = numbers(r"^new moves the first .* up on (\d+|no) quer\w+, down on (\d+|none)", sentences)
        assert counts == ([earlier, later] if earlier or later else None)
    for name in ("old", "new"):
        share = naive.unjudged(runs[name])
        text = " ".join(each for each in sentences if each.startswith("Unjudged, so counted as not relevant: "))
        assert (f" {name} " in text) == (share > 0)
        exact = re.search(rf" {name} (\d+)%", text)
        if exact and 0.01 <= share <= 0.99:
            assert int(exact[1]) == round(100 * share, 0) or abs(int(exact[1]) - 100 * share) <= 0.5 + 1e-9


@settings(max_examples=40, deadline=None)
@given(collections(), st.sampled_from(MEASURES))
def test_what_each_rank_adds_sums_to_the_value_down_to_it(collection, measure):
    """Whatever the measure is: the ranking cut off after each rank is measured on its own."""
    qrels, runs = collection
    found = gathered(qrels, runs, measure)
    for name, run in runs.items():
        effects = found.effects(found.request.runs[name])
        for depth in range(11):
            short = {query: ranking[:depth] for query, ranking in run.items()}
            values = cranfield.evaluate(qrels, short, measure, check_ids=False).by_query(measure)
            empty = cranfield.evaluate(qrels, {q: [] for q in qrels}, measure, check_ids=False).by_query(measure)
            expected = [values[query] - empty[query] for query in found.listed]
            assert effects[:depth].sum(axis=0).tolist() == pytest.approx(expected)


@settings(max_examples=30, deadline=None)
@given(collections(most=1), st.sampled_from(MEASURES))
def test_sentences_of_one_run(collection, measure):
    qrels, runs = collection
    shown, naive = card(gathered(qrels, runs, measure)), Naive(qrels, measure)
    result = cranfield.evaluate(qrels, runs["old"], measure, check_ids=False)
    assert (shown["badge"], shown["number"]) == (None, rounded(result[measure]))
    perfect = 0 if measure == "E" else 1
    worst = [each.query_id for each in result.worst(measure, 3) if abs(each.value - perfect) > 1e-9]
    assert [each["query"] for each in shown["worst"]] == worst
    sentences = shown["sentences"]
    if measure in ("Rprec", "nDCG(judged_only=True)@3") or not naive.judgeable:
        assert sentences == []
        return
    nothing = numbers(r"^Nothing relevant.*: (\d+) of \d+", sentences)
    assert (nothing or [0]) == [naive.nothing(runs["old"])]
    if naive.depth > 1:
        firsts = sum(naive.first(runs["old"], query) == 1 for query in naive.judgeable)
        assert numbers(r"^The first result is relevant.* for (\d+) of", sentences) == [firsts]


@settings(max_examples=20, deadline=None)
@given(collections(most=4), st.sampled_from(["nDCG@3", "AP"]), st.sampled_from([None, "third"]))
def test_a_card_of_several_runs_compares_the_best_two_or_the_baseline(collection, measure, baseline):
    qrels, runs = collection
    found = gathered(qrels, runs, measure, baseline=baseline)
    shown = card(found)
    means = {
        name: result[measure] for name, result in cranfield.evaluate_runs(qrels, runs, measure, check_ids=False).items()
    }
    pair = found.pair
    values = {
        name: result.by_query(measure)
        for name, result in cranfield.evaluate_runs(qrels, runs, measure, check_ids=False).items()
    }
    compared = cranfield.compare(qrels, runs, measure, baseline=baseline, check_ids=False).between(
        measure, pair.run, pair.baseline
    )
    sign = 1 if compared.run == pair.run else -1
    assert pair.difference.difference == pytest.approx(sign * compared.difference)
    assert means[pair.run] == max(mean for name, mean in means.items() if name != baseline)
    if baseline is None:
        differing = [
            name for name in runs if any(abs(values[name][query] - values[pair.run][query]) > 1e-9 for query in qrels)
        ]
        best = max((means[name] for name in differing), default=max(means.values()))
        assert means[pair.baseline] == pytest.approx(best)
        that = " that differ" if differing else ""
        assert shown["about"] == f"The best two{that}: {pair.run} vs {pair.baseline}"
        assert shown["verdict"] == pair.difference.headline
        check_order(found, shown, values)
        return
    assert shown["about"] == f"{pair.run}, the best of the other 3 runs, vs the baseline, third"
    turned = {"Better": "Worse", "Worse": "Better"}
    badge = compared.headline if sign > 0 else turned.get(compared.headline, compared.headline)
    assert shown["badge"] == badge


def check_order(found, shown, values):
    """The order on the card is that of the comparison; runs said to be the same are."""
    standing = standings(found.comparison)
    assert shown["headline"][1:] == f"{standing.sentence[1:]}."
    kinds = [
        "leads" if row.run in standing.leaders else "undecided" if row.not_worse else "behind" for row in standing.rows
    ]
    assert shown["order"]["counts"] == {kind: kinds.count(kind) for kind in ("leads", "undecided", "behind")}
    assert sum(wide for _, _, wide in shown["order"]["bar"]) == pytest.approx(400, abs=0.1)
    alone = kinds.count("behind") == len(kinds) - 1
    assert (shown["badge"], shown["kind"]) == (("One is best", "better") if alone else ("No single best", "close"))
    chart = rank_chart(found)
    assert chart["first"] == sum(row.first == 1 for row in standing.rows)
    for bar, row in zip(chart["bars"], standing.rows, strict=True):
        unit = 240 / len(kinds)
        assert (bar["top"], bar["high"]) == pytest.approx(((row.first - 1) * unit, (row.last - row.first + 1) * unit))
    said = [each for each in shown["sentences"] if each.endswith("on every query.") and " have the same " in each]
    equal = len(standing.leaders) > 1 and all(
        abs(values[name][query] - value) <= 1e-9
        for name in standing.leaders
        for query, value in values[standing.leaders[0]].items()
    )
    assert bool(said) == equal


def test_an_outlier_does_not_squeeze_the_axis():
    def drawn(means):
        cells = [{"primary": {"ends": (mean - 0.05, mean, mean + 0.05), "drawn": None}} for mean in means]
        _draw_intervals(cells)
        return [cell["primary"] for cell in cells]

    *near, far = drawn([0.70, 0.69, 0.68, 0.66, 0.65, 0.64, 0.01])
    assert [cell["beyond"] for cell in near] == [""] * 6
    assert (far["beyond"], far["drawn"]) == ("below", [5, 5, 5])
    assert near[0]["drawn"][1] - near[-1]["drawn"][1] > 40
    assert [cell["beyond"] for cell in drawn([0.7, 0.6, 0.01])] == ["", "", ""]  # of few runs, all count
    assert drawn([0.7])[0]["drawn"] is None


def test_long_names_are_cut_in_the_middle():
    names = [f"{'a-very-long-name-of-a-system-with-many-settings'}-seed{n}" for n in (42, 43)]
    shown = card(gathered(QRELS, dict(zip(names, (OLD, NEW), strict=True)), "RR"))
    assert re.fullmatch(r"a-very-l\S+…\S+seed43 vs a-very-l\S+…\S+seed42", shown["about"])
    three = gathered(QRELS, {**dict(zip(names, (NEW, NEW), strict=True)), "old": OLD}, "RR")
    said = card(three)["headline"]
    assert re.fullmatch(r"\S+seed42 and \S+seed43 lead on RR; the other run is significantly worse\.", said)


QRELS = {str(n): {"a": 1} for n in range(8)}
OLD, NEW = {str(n): ["b", "a"] for n in range(8)}, {str(n): ["a", "b"] for n in range(8)}


def test_names_that_would_look_the_same_stay_whole():
    alike = [f"{'a' * 20}{n}{'b' * 40}" for n in range(2)]
    assert short_names([*alike, "c" * 60]) == {**{name: name for name in alike}, "c" * 60: f"{'c' * 16}…{'c' * 15}"}


def test_a_doubt_about_another_measure_is_not_one_about_the_verdict():
    """A ranking of three documents is whole for RR@2, and short for R@100."""
    deep = {str(n): [*"bacdefg", *map(str, range(60))] for n in range(20)}
    shallow = {query: ranking[:3] for query, ranking in deep.items()}
    qrels = {query: {"a": 1} for query in deep}
    runs = {"deep": deep, "shallow": shallow}
    found, of_recall = gathered(qrels, runs, "RR@2 R@100"), gathered(qrels, runs, "R@100")
    [others] = doubts_about(found, primary=False)
    assert card(found)["warnings"] == []
    assert card(of_recall)["warnings"] == others
    assert "R@100 looks at" in others[0]


def test_titles():
    def title(runs, **options):
        return page_title(gathered(QRELS, runs, "RR", **options))

    assert title({"plain": OLD, "tuned": NEW}) == "Is tuned better than plain?"
    assert title({"plain": OLD}) == "How good is plain?"
    assert title({"a": OLD, "b": NEW, "c": OLD}) == "Which of 3 runs is best?"
    assert title({"a": OLD, "b": NEW, "c": OLD}, baseline="c") == "Which of 2 runs is better than c?"
    assert title({"a": OLD}, title="Mine") == "Mine"


def test_special_cases():
    same = card(gathered(QRELS, {"old": OLD, "new": OLD}, "RR"))
    assert (same["badge"], same["drawn"], same["numbers"]) == (
        "No difference",
        None,
        ["0.500 → 0.500", "the same on every query"],
    )
    constant = card(gathered(QRELS, {"old": OLD, "new": NEW}, "RR"))
    assert (constant["badge"], constant["number"]) == ("Better", "+0.500")
    assert constant["numbers"][1] == "by the same amount on every query"
    alone = card(gathered({"1": {"a": 1}}, {"old": {"1": ["a"]}, "new": {"1": ["b"]}}, "RR"))
    assert alone["badge"] == "Not compared"
    assert alone["sentences"] == ["One query shows no variation, so there is no verdict."]
    assert card(gathered(QRELS, {"old": OLD}, "NumRet")) is None


@pytest.mark.parametrize("number", [2, 5, 12])
def test_a_run_has_the_same_colour_on_the_page_and_in_charts(number):
    qrels = {str(query): {"a": 1} for query in range(4)}
    best = number // 2
    rankings = {f"run {n}": dict.fromkeys(qrels, ["a"] if n == best else ["x", "a"]) for n in range(number)}
    found = hues(gathered(qrels, rankings))
    drawn = cranfield.draw_chart("cutoff", qrels, rankings, "nDCG@3")["encoding"]["color"]["scale"]
    for run, colour in zip(drawn["domain"], drawn["range"], strict=True):
        if colour != LIGHT["run-0"]:
            assert colour == LIGHT[f"run-{found[run]}"]
    if number <= 8:
        assert found == {run: place for place, run in enumerate(rankings, start=1)}
