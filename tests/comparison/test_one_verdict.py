"""One pair, one verdict: the same p-value, the same interval and the same sentence wherever they are shown."""

import json
from html import unescape
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cranfield import compare, evaluate, gate, open_collection, open_system, record, write_comparison
from cranfield.comparison.comparing import differences_of
from cranfield.comparison.families import Procedure, family_outcomes
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.pairing import Paired
from cranfield.comparison.significance import TESTS, Settings
from cranfield.evaluation.estimating import Columns
from cranfield.measures import parse_measure
from tests import program
from tests.comparison.populations import skewed_population

RR = parse_measure("RR")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The two engines of the demonstration."""
    folder, collection = tmp_path_factory.mktemp("runs"), open_collection("builtin")
    for name, kind in (("plain", "sqlite"), ("tuned", "sqlite:tuned")):
        system = open_system(kind, collection, name=name)
        record(system, collection.queries, folder / f"{name}.run")
        system.close()
    (folder / "qrels.tsv").write_bytes(Path(collection.qrels).read_bytes())
    return folder


def shown(folder, *arguments):
    done = program.run(*arguments, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return " ".join(done.stdout.split())


def test_the_same_sentence_everywhere(runs):
    files = ("qrels.tsv", "plain.run", "tuned.run")
    found = compare(runs / files[0], [runs / files[1], runs / files[2]], "nDCG@10 AP", baseline="plain")
    difference = found.find("nDCG@10", "tuned")
    sentence = difference.sentence
    assert sentence == ("Too close to call: tuned vs plain, nDCG@10 +0.037 (95% interval -0.006 to +0.080), p = 0.087")
    compared = ("compare", *files, "-m", "nDCG@10", "-m", "AP", "--baseline", "plain.run")
    assert sentence in shown(runs, "demo")
    # In a terminal it is one line.
    line = "Too close to call tuned vs plain: nDCG@10 +0.037 (-0.006 to +0.080), p = 0.087"
    assert shown(runs, *compared).startswith(line)
    assert sentence in shown(runs, *compared, "--format", "markdown")
    assert sentence.replace("%", r"\%") in shown(runs, *compared, "--format", "latex")
    data = json.loads(shown(runs, *compared, "--format", "json"))["differences"][0]
    assert (data["sentence"], data["adjusted"], data["low"]) == (sentence, difference.adjusted, difference.low)
    assert sentence in unescape(found._repr_html_())
    assert sentence in str(found)
    write_comparison(found, runs / "report.html", charts=False)
    page = (runs / "report.html").read_text()
    assert sentence in unescape(page)
    shown(runs, "report", *files, "-m", "nDCG@10", "-m", "AP", "-o", "again.html", "--no-charts")
    assert sentence in unescape((runs / "again.html").read_text())
    gated = gate(runs / files[0], runs / files[1], runs / files[2], "nDCG@10")
    assert gated.measures[0].sentence == sentence
    assert sentence in shown(runs, "gate", *files)
    assert "one-sided" in shown(runs, "gate", *files)
    # The one-sided p-value is half of the two-sided one.
    assert min(gated.measures[0].p_better, gated.measures[0].p_worse) == pytest.approx(difference.p / 2)


def paired(table):
    """Runs whose values are the columns of a table."""
    names = tuple(f"run{at}" for at in range(table.shape[1]))
    return Paired(names, tuple(map(str, range(len(table)))), 0, {RR: table})


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("test", TESTS)
def test_interval_and_p_value_never_contradict_each_other(test, correction):
    if correction == "max-t" and not TESTS[test].takes_max_t:
        correction = "bonferroni"
    chance = np.random.default_rng(3)
    for _ in range(6):
        effects = chance.choice([0.0, 0.1, 0.2], 5)
        table = np.clip(chance.normal(0.4 + effects, 0.2, (int(chance.integers(6, 50)), 5)), 0, 1)
        table = np.round(table, int(chance.integers(1, 4)))  # with many ties
        pairs = [(one, other) for one in range(5) for other in range(one + 1, 5)]
        tested = family_outcomes(paired(table), [RR], pairs, Procedure(test, correction, 0.05, 499, 0))[RR]
        significant = tested.adjusted <= 0.05
        assert (significant == ((tested.low > 0) | (tested.high < 0))).all()
        assert (tested.low >= -1).all()
        assert (tested.high <= 1).all()
        assert (tested.adjusted >= tested.p - 1e-12).all() or test == "tukey"


def test_simultaneous_intervals_cover_all_true_differences_at_once():
    """Six runs of unequal spread: in 95% of the experiments all fifteen intervals hold together."""
    chance, times = np.random.default_rng(5), 200
    truth = np.array([0.0, 0.02, 0.05, 0.1, 0.1, 0.3])
    pairs = [(one, other) for one in range(6) for other in range(one + 1, 6)]
    gaps = np.array([truth[other] - truth[one] for one, other in pairs])
    held = {"max-t": 0, "bonferroni": 0}
    for seed in range(times):
        table = truth + chance.normal(0, [0.05, 0.1, 0.2, 0.1, 0.3, 0.2], (40, 6)) + chance.normal(0, 0.3, (40, 1))
        for correction in held:
            tested = family_outcomes(paired(table), [RR], pairs, Procedure("t", correction, 0.05, 499, seed))[RR]
            held[correction] += bool(((tested.low <= gaps) & (gaps <= tested.high)).all())
    error = 4 * np.sqrt(0.05 * 0.95 / times)
    assert 0.95 - error < held["max-t"] / times < 0.95 + error
    assert held["bonferroni"] / times > 0.95 - error


def test_non_inferiority_must_be_shown_within_the_margin():
    d = np.array([0.12, 0.05, -0.03, 0.20, 0.08, 0.01, -0.06, 0.15, 0.09, 0.30, -0.02, 0.11])
    # The test does not depend on whether RR can have these values.
    outcome = TESTS["t"].outcome(Columns((d + 0.02)[:, None]), Settings(0.05, 1, 0))
    assert outcome.greater[0] == pytest.approx(0.002662, abs=1e-6)
    qrels = {str(q): {"a": 1} for q in range(12)}
    same = {str(q): ["a"] if q % 2 else ["x", "a"] for q in range(12)}
    # Of 12 equal queries no one knows what others are like; what is shown is what the interval leaves.
    for margin in (0.01, 0.22, 0.23):
        [equal] = compare(qrels, {"old": same, "new": dict(same)}, "RR", margin=margin)
        assert equal.headline == "No difference"
        assert equal.within.not_worse == equal.within.equivalent == pytest.approx((1 - margin) ** 12)
        assert (equal.within.not_worse <= 0.05) == (-margin <= equal.low)
    few = {**same, "0": ["x", "y", "z", "a"]}
    [noisy] = compare(qrels, {"old": same, "new": few}, "RR", margin=0.01)
    assert noisy.headline == "Too close to call"  # which does not show that the new run is as good
    assert noisy.within.not_worse > 0.05
    assert not gate(qrels, same, few, "RR", non_inferiority=0.01).passed
    assert gate(qrels, same, few, "RR").passed
    unchanged = gate(qrels, same, same, "RR", non_inferiority=0.01)
    assert unchanged.passed
    assert unchanged.checks[-1].message == "RR is the same on every query: non-inferiority needs no proof"


def test_what_is_shown_about_a_margin_agrees_with_the_intervals_of_a_family():
    values = skewed_population("rr", 6, 1)[:20]
    values[:, 1] = values[:, 0]
    pairs = list(combinations(range(6), 2))
    for margin in (0.02, 0.05, 0.1, 0.2, 0.4):
        procedure = Procedure("t", "max-t", 0.05, 2000, 0, margin=margin)
        [(_, found)] = differences_of(paired(values), [[RR]], pairs, procedure)
        for each in found:
            assert each.within.not_worse <= 0.05 or each.low < -margin
            assert each.within.equivalent <= 0.05 or each.low < -margin or each.high > margin


def test_a_good_change_passes_a_gate_that_counts_queries():
    """18 queries move from rank 11 to 10 and 2 from rank 1 to 2: most gain, and the mean falls."""
    qrels = {str(q): {"r": 1} for q in range(20)}
    others = [f"x{n}" for n in range(12)]
    old = {str(q): [*others[:10], "r"] if q < 18 else ["r", *others] for q in range(20)}
    new = {str(q): [*others[:9], "r"] if q < 18 else ["x0", "r"] for q in range(20)}
    [difference] = compare(qrels, {"old": old, "new": new}, "RR", test="sign")
    assert difference.difference < 0
    assert difference.verdict == "significantly better"
    assert "the mean moves the other way (-0.042)" in difference.sentence
    assert difference.low > 0
    assert gate(qrels, old, new, "RR", test="sign", tolerance=0.01).passed


def test_many_runs_are_ranked_and_not_listed():
    chance = np.random.default_rng(2)
    qrels = {str(q): {"r": 1} for q in range(40)}

    def system(strength):
        places = {q: int(chance.exponential(strength)) for q in qrels}
        return {q: ["r" if at == place else f"x{at}" for at in range(8)] for q, place in places.items()}

    found = compare(qrels, {f"s{n:02}": system(0.3 + 0.3 * n) for n in range(20)}, "RR", bounds=False)
    from cranfield.comparison.correlation import reliability
    from cranfield.show.comparison_text import comparison_text

    text = comparison_text(found, reliability(found))
    assert len(text.splitlines()) < 300
    assert text.startswith("s00 leads on RR; ")
    assert "All 190 pairs: --pairs" in text
    ranks, order = found.rank_intervals("RR"), found.best_first("RR")
    for place, run in enumerate(order, 1):
        low, high = ranks[run]
        assert low <= place <= high
    assert ranks[order[0]][0] == 1
    assert ranks[order[-1]][1] == 20
    assert len(comparison_text(found, reliability(found), pairs=True).splitlines()) > 380


def test_intervals_of_means_stay_inside_the_range_of_the_measure(runs):
    files = ("qrels.tsv", "plain.run", "tuned.run")
    shown(runs, "report", *files, "-m", "RR", "-m", "P@1", "-o", "range.html", "--no-charts")
    result = evaluate({"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}, {"1": ["a"], "2": ["a"], "3": ["x", "a"]}, "RR")
    from cranfield.report import write_report

    write_report(None, {"one": result}, runs / "small.html", "RR", charts=False)
    page = (runs / "small.html").read_text()
    assert "0.116 to 1.000" in page
