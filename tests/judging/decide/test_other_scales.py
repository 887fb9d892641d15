"""Judge until decided with other grades than 0 to 3, other measures than nDCG@10, and deeper cutoffs."""

from __future__ import annotations

import pytest

from cranfield import open_store
from cranfield.judging.decide.decide import decide
from cranfield.judging.decide.decision import LEAST, Decision
from tests.judging.decide.test_deciding import Qrels, Rankings, collection, everything, replayed

SCALES = {"0 to 1": (0, 1), "0 to 4": range(5), "0 to 10": range(11)}
MEASURES = ("P(rel={rel})@5", "RR(rel={rel})@10", "AP(rel={rel})", "nDCG@5", "nDCG@20")


def graded(scale: tuple[int, ...] | range, skills: dict[str, float]) -> tuple[Qrels, dict[str, Rankings], int]:
    """Grades from the lowest to the highest of a scale, and the one from which on a document is relevant."""
    qrels, runs = collection(3, skills)
    top = max(scale)
    spread = {
        query: {doc: float(round(grade / 3 * top)) for doc, grade in each.items()} for query, each in qrels.items()
    }
    return spread, runs, max(1, top // 2)


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("name", MEASURES)
def test_a_clear_difference_is_decided_early_on_any_scale(scale: range, name: str) -> None:
    qrels, runs, rel = graded(scale, {"bad": 0.2, "good": 3.0})
    start = Decision.of(runs, name.format(rel=rel), scale=list(scale))
    look = replayed(start, qrels).look()
    [pair] = look.pairs
    assert (look.state, pair.low > 0) == ("better", True)
    assert LEAST <= look.judged < look.documents / 2
    [full] = start.with_grades(everything(start, qrels)).look().pairs
    assert full.verdict == "better"
    assert abs(pair.difference - full.difference) < 2 * (pair.high - pair.low)


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_grades_may_be_those_of_a_scale_of_the_store(scale: range, tmp_path) -> None:
    qrels, runs, rel = graded(scale, {"bad": 0.2, "good": 3.0})
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.set_scale({grade: f"grade {grade}" for grade in scale})
        look = decide(store, runs, f"P(rel={rel})@5", assessor=lambda query, document: qrels[query][document])
        assert look.state == "better"
        assert {event.grade for event in store.events()} <= set(map(float, scale))
        assert len(list(store.events())) == look.judged < look.documents / 2


def test_what_depth_costs_is_said_before() -> None:
    """At every cutoff the range is within what there is, and the most it may take grows with the depth."""
    _, runs, _ = graded(range(4), {"one": 1.0, "other": 1.3})
    most, documents = 0, 0
    for cutoff in (5, 10, 20):
        look = Decision.of(runs, f"nDCG@{cutoff}").look()
        few, many = look.likely_needed
        assert LEAST <= few < many <= look.documents
        assert look.documents > documents
        assert many > most
        most, documents = many, look.documents
