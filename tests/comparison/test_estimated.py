"""compare by measures that estimate unjudged documents from a sample: could these still reverse a difference?"""

import pytest

from cranfield import Policy, compare, evaluate
from cranfield.comparison.correlation import reliability
from cranfield.show.comparison_text import comparison_text

# In each of ten queries, ten documents were pooled and five of them judged, drawn at random.
DOCUMENTS = [f"d{n}" for n in range(10)]
QRELS = {str(q): {d: -1 if n % 2 else int(n < 4) for n, d in enumerate(DOCUMENTS)} for q in range(10)}
GOOD = {str(q): DOCUMENTS for q in range(10)}
BAD = {str(q): DOCUMENTS[::-1][q % 2 :] for q in range(10)}


def shown(found):
    return " ".join(comparison_text(found, reliability(found)).split())


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG", "statAP"])
def test_measures_estimated_from_strata_are_not_reported_as_reversible(measure):
    found = compare(QRELS, {"bad": BAD, "good": GOOD}, measure)
    [difference] = found
    assert difference.significant
    assert (difference.reach, difference.could_reverse) == (None, None)
    assert "could reverse" not in difference.sentence
    assert difference.to_dict()["could_reverse"] is None
    text = shown(found)
    assert "unjudged documents could reverse this" not in text
    assert "it is not known whether unjudged" not in text
    assert f"{measure} estimates unjudged documents from those that were drawn and judged" in text


def test_other_measures_keep_their_bounds():
    found = compare(QRELS, {"bad": BAD, "good": GOOD}, "xinfAP AP")
    estimated, ordinary = found
    assert estimated.reach is None
    assert ordinary.reach.low < ordinary.difference < ordinary.reach.high
    assert "xinfAP estimates" in shown(found)


def test_nothing_is_estimated_where_judgments_are_complete():
    [difference] = compare(QRELS, {"bad": BAD, "good": GOOD}, "xinfAP", policy=Policy(complete=True))
    assert difference.could_reverse is False


def test_infap_is_bounded_by_all_completions():
    """The claim is about its value with all documents judged."""
    one, other = (dict.fromkeys("12", ranking) for ranking in (["a", "b"], ["b", "a"]))

    def judged(grade):
        return {q: {"a": 1, "b": grade} for q in "12"}

    [difference] = compare(judged(-1), {"one": one, "other": other}, "infAP")
    values = [[evaluate(judged(grade), run, "infAP")["infAP"] for run in (one, other)] for grade in (0, 1)]
    ends = sorted(after - before for before, after in values)
    assert difference.reach[:3] == (pytest.approx(ends[0]), pytest.approx(ends[1], abs=1e-4), True)
