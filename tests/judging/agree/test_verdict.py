"""What agreement is called: never more than its interval allows."""

import json

import numpy as np
import pytest

from cranfield import agreement
from cranfield.judging.agree.statistics import STATISTICS, Estimate, Grid, JudgedItem, estimate
from cranfield.judging.agree.verdict import FEWEST, VERDICT, agreement_sentence, level_of


@pytest.mark.parametrize(
    ("low", "value", "high", "words"),
    [
        (0.22, 0.31, 0.40, "Poor agreement: ordinal alpha 0.31 (95% interval 0.22 to 0.40)."),
        (0.60, 0.65, 0.70, "Poor to fair agreement: ordinal alpha 0.65 (95% interval 0.60 to 0.70)."),
        (0.667, 0.7, 0.79, "Fair agreement: "),
        (0.70, 0.79, 0.80, "Fair to good agreement: "),
        (0.80, 0.9, 0.95, "Good agreement: "),
        (0.66, 0.75, 0.81, "Too few documents judged by both to tell how well they agree: "),
    ],
)
def test_the_words_are_those_of_both_ends_of_the_interval(low, value, high, words):
    assert agreement_sentence(Estimate(value, low, high), 90, 30, 2).startswith(words)


def test_too_little_to_tell():
    few = agreement_sentence(Estimate(0.31, 0.22, 0.40), 90, FEWEST - 1, 3)
    assert few == (
        "Too few documents judged by several assessors to tell how well they agree: ordinal alpha 0.31 "
        "(95% interval 0.22 to 0.40) on 90 documents of 4 queries."
    )
    assert agreement_sentence(Estimate(1.0), 2, 1, 2).endswith("agree: ordinal alpha 1.00 on 2 documents of 1 query.")
    both = {f"q{n}": {"a": n % 2, "b": 1} for n in range(FEWEST)}
    alike = agreement({"ann": both, "bob": both})
    assert alike.sentence == (
        "No disagreement on 10 documents of 5 queries judged by both: ordinal alpha 1.00, without an interval."
    )
    same = agreement({name: {"q1": {"a": 1}, "q2": {"a": 1}} for name in ("ann", "bob")})
    assert same.sentence == "Agreement beyond chance is not defined: all grades are the same."


ANN = {f"q{n}": {"a": 2, "b": 0, "c": 1, "d": n % 2} for n in range(6)}
BOB = {f"q{n}": {"a": 0, "b": 2, "c": 1, "d": n % 2} for n in range(6)}
RUNS = {"x": {query: ["a", "b", "c"] for query in ANN}, "y": {query: ["b", "a", "c"] for query in ANN}}


def test_systems_that_swap_places_are_named():
    found = agreement({"ann": ANN, "bob": BOB}, runs=RUNS, measure="P@1")
    ends = "depends on whose grades count: x and y swap places (P@1 +1.0000 by ann and -1.0000 by bob)."
    assert found.sentence.endswith(f"On these documents, the order of your systems {ends}")
    more = agreement({"ann": ANN, "bob": BOB}, runs={"z": {query: ["c"] for query in ANN}, **RUNS}, measure="P@1")
    assert more.sentence.endswith(
        "x and y swap places (P@1 +1.0000 by ann and -1.0000 by bob); 2 more pairs change, too."
    )


def test_systems_that_keep_their_order():
    close = {query: {**grades, "d": 2} for query, grades in ANN.items()}
    keep = "On these documents, the order of your systems does not depend on whose grades count."
    found = agreement({"ann": ANN, "bob": close}, runs=RUNS, measure="P@1")
    assert found.sentence.endswith(keep)
    assert json.loads(found.to_json())["sentence"] == found.sentence
    text = str(found)
    assert " ".join(text.partition("\n\n")[0].split()) == found.sentence
    assert keep in " ".join(found._repr_html_().split())
    for runs in (None, {"x": RUNS["x"]}):  # there is no order of less than two
        assert "systems" not in agreement({"ann": ANN, "bob": BOB}, runs=runs, measure="P@1").sentence


def test_systems_that_only_one_assessor_tells_apart():
    flat = {query: {**grades, "b": 2} for query, grades in ANN.items()}
    found = agreement({"ann": ANN, "bob": flat}, runs=RUNS, measure="P@1")
    assert "x and y are level for only one assessor (P@1 +1.0000 by ann and +0.0000 by bob)." in found.sentence


def alpha_of(chance, queries, documents, draws):
    """Of two assessors, who agree on some queries more than on others."""
    items = []
    for query in range(queries):
        slips = chance.beta(1, 7)
        for document, grade in enumerate(chance.choice(4, documents, p=[0.5, 0.25, 0.15, 0.1]).tolist()):
            both = {name: grade if chance.random() > slips else int(chance.integers(0, 4)) for name in ("ann", "bob")}
            items.append(JudgedItem(f"q{query}", f"d{document}", both))
    grid = Grid(items, ["ann", "bob"], "")
    return estimate(grid.of_pair(0, 1), [STATISTICS[VERDICT]], grid.grades, draws, 0)[0]


@pytest.mark.parametrize(("queries", "documents"), [(FEWEST, 8), (20, 4)])
def test_words_are_seldom_wrong_about_other_queries(queries, documents):
    chance, wrong = np.random.default_rng(queries), []
    truth = level_of(alpha_of(chance, 3000, 4, 1).value)
    for _ in range(150):
        found = alpha_of(chance, queries, documents, 200)
        told = found.low is not None and not agreement_sentence(found, 90, queries, 2).startswith("Too few")
        wrong.append(told and not level_of(found.low) <= truth <= level_of(found.high))
    assert np.mean(wrong) < 0.1
