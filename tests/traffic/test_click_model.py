"""Examination and attraction: loops from the formula, people whose behaviour is known, and what identifies them."""

import json
from math import log
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from cranfield import fit_clicks
from tests.traffic.simulated_clicks import CASES, EXAMINATION, Case, found, simulated

pytest.importorskip("duckdb")

RECORDED = json.loads((Path(__file__).parents[2] / "bench" / "clicks.json").read_text(encoding="utf-8"))


def rows_of(counts):
    """Rows of a log from {(query, document): {rank: (impressions, clicks)}}."""
    return [
        {"query": query, "doc_id": document, "rank": rank, "impressions": shown, "clicks": clicks}
        for (query, document), ranks in counts.items()
        for rank, (shown, clicks) in ranks.items()
    ]


def drawn(queries=40, ranks=4, seed=0):
    """Small counts, with documents at one rank, documents without a click, and all kinds of numbers."""
    chance = np.random.default_rng(seed)
    examination = 1 / np.arange(1, ranks + 1)
    counts = {}
    for query in range(queries):
        for document in range(5):
            attraction = chance.beta(1, 2)
            at = chance.permutation(ranks)[: chance.integers(1, ranks + 1)].tolist()
            shown = chance.integers(1, 60, len(at)).tolist()
            counts[f"q{query}", f"d{document}"] = {
                rank + 1: (n, int(chance.binomial(n, examination[rank] * attraction)))
                for rank, n in zip(at, shown, strict=True)
            }
    return counts


def surprise(logarithms, counts):
    """Minus the log likelihood that the clicks of each document fall on its ranks as they did, from the formula."""
    shares = [1.0, *np.exp(logarithms)]
    total = 0.0
    for ranks in counts.values():
        looked = sum(shown * shares[rank - 1] for rank, (shown, _) in ranks.items())
        for rank, (shown, clicks) in ranks.items():
            total -= clicks * log(shown * shares[rank - 1] / looked)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_examination_is_the_most_likely_one(seed):
    counts = drawn(seed=seed)
    clicks = fit_clicks(rows_of(counts))
    best = minimize(surprise, np.zeros(3), args=(counts,), method="BFGS", options={"gtol": 1e-8})
    fitted = [clicks.examination[rank].share for rank in range(1, 5)]
    assert fitted == pytest.approx([1.0, *np.exp(best.x)], abs=1e-5)


def test_attraction_is_clicks_by_those_who_looked():
    counts = drawn()
    clicks = fit_clicks(rows_of(counts))
    shares = {rank: its.share for rank, its in clicks.examination.items()}
    documents = list(clicks.documents())
    assert len(documents) == len(counts)
    for each in documents:
        ranks = counts[each.query, each.doc_id]
        looked = sum(shown * shares[rank] for rank, (shown, _) in ranks.items())
        clicked = sum(clicks for _, clicks in ranks.values())
        assert (each.examined, each.clicks) == (pytest.approx(looked), clicked)
        assert each.attraction == pytest.approx(min(1.0, clicked / looked))


def test_documents_at_one_rank_say_nothing_about_examination():
    counts = drawn()
    fitted = fit_clicks(rows_of(counts)).examination
    alone = {(f"q{query}", f"top{at}"): {at % 4 + 1: (500, 450)} for query in range(40) for at in range(8)}
    again = fit_clicks(rows_of({**counts, **alone})).examination
    assert [tuple(its) for its in again.values()] == [pytest.approx(tuple(its), abs=1e-7) for its in fitted.values()]
    only = fit_clicks(rows_of(alone))
    assert (only.identified, only.tied_documents) == (False, 0)


def test_too_few_documents_at_several_ranks_identify_nothing():
    log = fit_clicks(rows_of(drawn(queries=3)))
    assert not log.identified
    assert 0 < log.tied_queries <= 3
    for each in log.documents():
        assert each.examined == each.impressions


def test_ranks_that_no_document_ties_to_others_do_not_count():
    counts = drawn()
    fixed = {(f"q{query}", "footer"): {9: (100, 30)} for query in range(40)}
    clicks = fit_clicks(rows_of({**counts, **fixed}))
    assert list(clicks.examination) == [1, 2, 3, 4]
    assert clicks.unexplained == 40 * 100
    assert "footer" not in {each.doc_id for each in clicks.documents()}
    # Tied among themselves, but to no other rank: the part with more clicks is kept.
    apart = {(f"q{query}", "aside"): {20: (9, 3), 21: (9, 2)} for query in range(40)}
    assert list(fit_clicks(rows_of({**counts, **apart})).examination) == [1, 2, 3, 4]


def test_a_rank_without_any_click_is_left_out():
    counts = drawn()
    dead = {pair: {**ranks, 5: (40, 0)} for pair, ranks in counts.items()}
    assert list(fit_clicks(rows_of(dead)).examination) == [1, 2, 3, 4]


def test_documents_with_few_impressions_do_not_bias_examination():
    """Each has an attraction of its own, which few impressions cannot tell."""
    chance = np.random.default_rng(3)
    attraction = chance.beta(1, 3, 8000)
    counts = {
        (f"q{at % 400}", f"d{at}"): {1: (2, int(chance.binomial(2, its))), 2: (2, int(chance.binomial(2, its / 2)))}
        for at, its in enumerate(attraction)
    }
    share, low, high = fit_clicks(rows_of(counts)).examination[2]
    assert low < 0.5 < high
    assert high / low < 1.3
    assert share == pytest.approx(0.5, abs=0.05)


def test_intervals_of_examination_hold():
    held = tried = 0
    for seed in range(12):
        clicks = fit_clicks(simulated(CASES["position, fair, moves"], 80, 300, seed).table)
        (top, _), *others = clicks.examination.items()
        for rank, its in others:
            held += its.low <= EXAMINATION[rank - 1] / EXAMINATION[top - 1] <= its.high
            tried += 1
    assert tried > 80
    assert held / tried > 0.88


@pytest.mark.parametrize("behaviour", ["position", "cascade", "satisfied"])
def test_corrected_clicks_find_the_order_of_documents_again(behaviour):
    fair = found(simulated(Case(behaviour, 0.5), 150, 1000, 1))
    assert fair.identified
    assert fair.corrected > fair.raw + 0.05
    assert fair.right > fair.right_raw + 0.15


@pytest.mark.parametrize("behaviour", ["position", "cascade"])
def test_where_documents_were_at_one_rank_nothing_is_corrected(behaviour):
    good = found(simulated(Case(behaviour, 0.9, moves=False), 150, 1000, 1))
    assert not good.identified
    assert good.corrected == good.raw
    assert good.by_rank < good.raw - 0.25  # dividing by the mean rate of a rank makes it worse


def test_the_recorded_simulations_keep_what_the_guide_says():
    cases = RECORDED["found"]["cases"]
    assert RECORDED["found"]["logs"] >= 20
    for name, its in cases.items():
        if name.endswith("one rank"):
            assert (its["identified"], its["corrected"]) == (0, its["raw"])
        elif name.endswith("moves"):
            assert its["identified"] == 1
            assert its["corrected"] > its["raw"] - 0.03
            assert its["right"] > its["right_raw"]
        if name.startswith("position") and name.endswith("moves"):
            assert 0.93 <= its["interval held"] <= 0.98
    chased = cases["position, good, chases"]
    assert chased["corrected"] < chased["raw"]
    for row in RECORDED["corrected"]["rows"]:
        assert 0.93 <= row["held"] <= 0.97
        assert row["length"] < 1.02
