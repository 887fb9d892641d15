"""Which measures suit which collection: each rule where it applies, and where it does not."""

import pytest

import cranfield
from cranfield import InputError, Judgments, advise
from cranfield.evaluation.advice import cautions, recommendations

GOOD_GRADES = (3, 2, 1, 0, 0)


def collection(grades=GOOD_GRADES, queries=60, unjudged=0, depth=None, tied=False, lacks=0, chosen=0):
    """(qrels, runs): all queries are alike; the run has the judged documents, with unjudged ones around them."""
    qrels, run = {}, {}
    for number in range(queries):
        documents = [f"d{place}" for place in range(len(grades))]
        qrels[str(number)] = dict(zip(documents, grades, strict=True))
        ranking = [*(f"u{place}" for place in range(unjudged)), *documents]
        ranking += [f"v{place}" for place in range((depth or 0) - len(ranking))]
        if number >= lacks:
            run[str(number)] = {d: 1.0 if tied else -float(place) for place, d in enumerate(ranking)}
    marked = Judgments(qrels, name="the judgments", provenance=f"chosen:decide={chosen}")
    return marked if chosen else qrels, {"mine": run}


# rule: the recommended measure, a collection where the rule applies, and one where it does not
RECOMMENDED = {
    "graded_gain": ("nDCG@5", {}, {"grades": (1, 1, 0)}),
    "first_answer": ("RR@3", {"grades": (1, 0, 0)}, {"grades": (1, 1, 0)}),
    "whole_ranking": ("AP", {"grades": (1, 1, 1, 0)}, {"grades": (1, 1, 1, 0), "unjudged": 10}),
    "first_page_precision": ("P@10", {"grades": (1,) * 12}, {"grades": (1,) * 8 + (0,) * 4}),
    "preference": ("Bpref", {"unjudged": 10}, {"grades": (1, 1, 1), "unjudged": 10}),
    "condensed": ("nDCG(judged_only=True)@10", {"unjudged": 10}, {}),
    "sampled": ("infAP", {"grades": (1, 1, -1)}, {"grades": (1, 1, 0)}),
    "bounds": ("RBPResidual", {"unjudged": 5}, {}),
    "coverage": ("R@100", {"depth": 100}, {"depth": 99}),
    "judged_beside": ("Judged@10", {"depth": 20}, None),
}


@pytest.mark.parametrize("rule", recommendations.RECOMMENDATIONS, ids=lambda rule: rule.__name__)
def test_each_rule_recommends_only_where_it_applies(rule):
    measure, matching, other = RECOMMENDED[rule.__name__]
    [found] = rule(advise(*collection(**matching)).facts)
    assert found.measure == measure
    assert found.why.endswith((".", "?"))
    facts = advise(*collection(**other)).facts if other is not None else advise(collection()[0]).facts
    assert list(rule(facts)) == []


def test_which_variant_is_recommended():
    def named(**kinds):
        return [each.measure for each in advise(*collection(**kinds)).recommended]

    assert "Bpref10" in named(grades=(1, 1, 0), unjudged=10)
    assert "R@1000" in named(depth=1000)
    assert "nDCG@10" in named(depth=15)
    assert named(grades=(1,), depth=10, queries=200) == ["RR@10", "RBPResidual", "Judged@10"]
    assert named(grades=(1, 1) * 5 + (0,), depth=100) == ["P@10", "Bpref", "R@100", "Judged@10"]
    assert named(grades=(1, 1, 1, 0)) == ["AP", "Judged@4"]


def judged_at_the_top(depth=100, judged=53):
    """Sixty queries whose first documents are all judged, but only `judged` of `depth`."""
    grades = (1, 0) * (judged // 2) + (1,) * (judged % 2)
    return collection(grades=grades, depth=depth)


def test_a_judged_top_does_not_make_the_whole_ranking_judged():
    advice = advise(*judged_at_the_top(), "AP AP@10 nDCG@100 nDCG@10 P(judged_only=True)@100")
    [run] = advice.facts.runs
    assert [run.judged(cutoff) for cutoff in (10, 100, None)] == pytest.approx([1.0, 0.53, 0.53])
    measures = {each.measure: each.why for each in advice.recommended}
    assert "AP" not in measures
    assert measures["Bpref"].startswith("only 53% of all documents that mine retrieves are judged")
    assert "Only 53% of the first 100 documents of mine are judged" in measures["R@100"]
    about_judging = [warning for warning in advice.warnings if " judged" in warning]
    assert [warning.partition(":")[0] for warning in about_judging] == ["mine", "AP", "nDCG@100"]
    assert about_judging[0].startswith("mine: 47% of all documents that it retrieves are not judged")
    assert about_judging[1].startswith("AP: only 53% of all documents that mine retrieves are judged")
    assert about_judging[2].startswith("nDCG@100: only 53% of the first 100 documents of mine are judged")
    assert "100% of the first 10, 53% of all retrieved" in " ".join(str(advice).split())


def test_ap_is_recommended_for_completely_judged_rankings():
    advice = advise(*judged_at_the_top(depth=53))
    [why] = [each.why for each in advice.recommended if each.measure == "AP"]
    assert why.startswith("the median query has 27 relevant documents, it looks at the whole ranking, and all of what ")
    [why] = [each.why for each in advise(collection(grades=(1, 1, 0))[0]).recommended if each.measure == "AP"]
    assert "if most of what a run retrieves is judged" in why


def test_cautions_count_by_the_rel_of_the_measure():
    data = collection(grades=(2, 1, 1, 1, 0))
    assert advise(*data, "RR(rel=2)").warnings == ()
    assert "the median query has 4" in advise(*data, "RR").warnings[0]
    assert "AP is the same as RR" in advise(*data, "AP(rel=2)").warnings[0]
    assert advise(*data, "AP").warnings == ()


DATA = {
    "few_queries": ("there are only 49 queries", {"queries": 49}, {"queries": 50}),
    "nothing_to_find": ("60 of 60 queries have no relevant document", {"grades": (0, 0)}, {}),
    "holes": ("mine: 50% of all documents that it retrieves are not judged", {"unjudged": 5}, {"unjudged": 1}),
    "chosen_for_others": ("20 of the 300 judgments were chosen by the order 'decide'", {"chosen": 20}, {"chosen": 3}),
    "missing_queries": ("mine: 7 of 60 judged queries are not in it", {"lacks": 7}, {}),
    "tied_scores": ("mine: 100% of the retrieved judged documents share", {"tied": True}, {}),
}


@pytest.mark.parametrize("rule", cautions.DATA_CAUTIONS, ids=lambda rule: rule.__name__)
def test_a_caution_about_the_data(rule):
    text, matching, other = DATA[rule.__name__]
    advice = advise(*collection(**matching))
    [found] = rule(advice.facts)
    assert found.startswith(text)
    assert found in advice.warnings
    assert list(rule(advise(*collection(**other)).facts)) == []


MANY, ONE, SPARSE = {"grades": (1,) * 12}, {"grades": (1, 0)}, {"grades": (1, 1, 1, 0), "unjudged": 10}
# rule: (measure, collection, part of the caution), then (measure, collection) without a caution
MEASURES = {
    "misleading": [("Accuracy(documents=9)", {}, "in a large collection"), ("F@5", {})],
    "same_as_reciprocal_rank": [
        ("AP", ONE, "AP is the same as RR"),
        ("Rprec", ONE, "RR says as much"),
        ("AP", {}),
        ("P@1", ONE),
    ],
    "needs_complete_judgments": [
        ("AP", SPARSE, "Bpref leaves them out"),
        ("AP", {"grades": (1, 1, 1), "unjudged": 10, "depth": 40}, "AP(judged_only=True) leaves them out"),
        ("AP", {}),
        ("Bpref", SPARSE),
        ("AP", {"grades": (1, 0), "unjudged": 10}),
    ],
    "no_grades": [("nDCG@10", ONE, "the judgments are binary"), ("nDCG@10", {}), ("AP", ONE)],
    "steep_gain": [
        ("nDCG(gain=exponential)@10", {"grades": (10, 2, 0)}, "grade 10 gains 1,023"),
        ("nDCG(gain=exponential)@10", {}),
        ("nDCG@10", {"grades": (10, 2, 0)}),
    ],
    "sees_only_the_first": [
        ("RR", {}, "the median query has 3"),
        ("Success@5", MANY, "the median query has 12"),
        ("RR", ONE),
    ],
    "cannot_be_filled": [
        ("P@10", {}, "a perfect ranking scores 0.30. Rprec and RelP@10"),
        ("P(rel=2)@3", {}, "fewer than 3"),
        ("P@3", {}),
        ("P@10", MANY),
        ("RelP@10", {}),
    ],
    "nothing_to_prefer": [
        ("Bpref", MANY, "it equals recall"),
        ("Bpref10", MANY, "it equals recall"),
        ("Bpref", {}),
        ("AP", MANY),
    ],
    "nothing_to_infer": [("infAP", {}, "no document has a negative"), ("infAP", {"grades": (1, 0, -1)})],
    "grades_above_the_top": [
        ("ERR(max_grade=2)@5", {}, "grades go up to 3, and those above max_grade=2"),
        ("INST", {}, "max_grade=1"),
        ("ERR(max_grade=3)@5", {}),
        ("ERR(max_grade=query)@5", {}),
        ("RBP", {}),
    ],
    "grades_far_below_the_top": [
        ("ERR@5", ONE, "satisfies only 6% of users"),
        ("ERR(max_grade=3)@5", {}),
        ("SDCG(max_grade=5)@5", {}),
    ],
    "beyond_the_end": [
        ("R@100", {}, "no ranking of mine has more than 5"),
        ("R@5", {}),
        ("AP", {}),
        ("R@100", {"depth": 100}),
    ],
    "nothing_relevant_enough": [
        ("AP(rel=4)", {}, "as high as rel=4; the highest is 3"),
        ("AP(rel=3)", {}),
        ("nDCG", {}),
    ],
}


@pytest.mark.parametrize("rule", cautions.MEASURE_CAUTIONS, ids=lambda rule: rule.__name__)
def test_a_caution_about_a_measure(rule):
    cases = MEASURES[rule.__name__]
    assert {len(case) for case in cases} == {2, 3}
    for measure, kinds, *text in cases:
        advice = advise(*collection(**kinds), measure)
        found = list(rule(advice.facts, cranfield.parse_measure(measure)))
        assert len(found) == len(text), measure
        for part, sentence in zip(text, found, strict=True):
            assert part in sentence
            assert f"{cranfield.parse_measure(measure).name}: {sentence}" in advice.warnings


@pytest.mark.parametrize(
    "kinds",
    [{}, ONE, MANY, SPARSE, {"depth": 100}, {"grades": (1, -1, 0)}, {"grades": (2, 1, 1, 0, 0), "unjudged": 12}],
    ids=str,
)
def test_recommended_measures_add_no_warnings(kinds):
    first = advise(*collection(**kinds))
    again = advise(*collection(**kinds), [each.measure for each in first.recommended])
    assert again.warnings == first.warnings
    assert again.recommended == first.recommended


def test_the_facts():
    qrels = {"1": {"a": 2, "b": 0}, "2": {"c": 1}, "3": {"d": 0, "e": -1}, "4": {"f": 1, "g": 1, "h": 0.5}}
    run = {"1": {"a": 1.0, "x": 1.0, "y": 0.5, "z": 0.1}, "2": ["c"], "4": ["x"], "9": ["a"]}
    facts = advise(qrels, {"r": run}).facts
    assert (facts.queries, facts.judged, facts.relevant) == (4, 1.5, 1.0)
    assert (facts.one_relevant, facts.none_relevant) == (0.5, 0.25)
    assert (facts.nonrelevant, facts.pooled, facts.grades) == (3, 1, (0.5, 1.0, 2.0))
    assert (facts.graded, facts.highest, facts.one_answer) == (True, 2.0, False)
    assert facts.least_judged(10) == ("r", pytest.approx((1 / 4 + 1 + 0) / 3))
    [only] = facts.runs
    assert (only.run, only.missing, only.deepest, only.tied) == ("r", 1, 4, 0.5)
    assert only.judged(10) == pytest.approx((1 / 4 + 1 + 0) / 3)
    assert only.judged(1) == pytest.approx((0 + 1 + 0) / 3)


def test_advice_is_printed_in_three_sections(tmp_path):
    qrels, runs = collection(unjudged=10, queries=1, grades=(1, 0, -1))
    text = str(advise(qrels, runs, "Accuracy(documents=100) P@10"))
    assert max(map(len, text.splitlines())) <= 80
    assert [line for line in text.splitlines() if line and not line.startswith(" ")] == [
        "The data",
        "Measures that suit them",
        "Beware",
    ]
    assert "there is only 1 query." in text
    assert "1 document pooled but not judged" in text


def test_without_runs_and_from_files(tmp_path):
    qrels, _ = collection()
    advice = advise(qrels)
    assert advice.facts.runs == ()
    assert [each.measure for each in advice.recommended] == ["nDCG@10", "AP"]
    assert "Beware" not in str(advice)
    path = tmp_path / "qrels.txt"
    path.write_text("1 0 a 1\n", encoding="utf-8")
    run = tmp_path / "mine.run"
    run.write_text("1 Q0 a 1 0.5 tag\n", encoding="utf-8")
    assert [each.run for each in advise(path, run).facts.runs] == ["mine"]
    assert [each.run for each in advise(path, [run, run]).facts.runs] == ["mine", "mine (2)"]
    with pytest.raises(InputError):
        advise(path, tmp_path / "no such file")
