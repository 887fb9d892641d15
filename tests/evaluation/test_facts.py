"""The facts about a query depend on the measure whose value they explain: its rel, its gain, its cutoff."""

import json
import random
from math import floor

import pytest

from cranfield import Evaluation, InputError, Policy, catalogue, evaluate, gate, parse_measure
from cranfield.measures.registry import REQUIRED
from tests.program import run

TWO = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
BOTH = {"q1": ["a"], "q2": ["a"]}


def test_a_document_below_rel_is_not_relevant():
    result = evaluate(TWO, BOTH, "AP(rel=2)")
    [worst] = result.worst(n=1)
    assert (worst.query_id, worst.value, worst.relevant, worst.found, worst.first) == ("q1", 0.0, 0, 0, None)
    assert worst.reason == "no judged document has grade 2 or higher"
    assert result.worst(n=2)[1].reason == "1 of 1 relevant retrieved, the first at rank 1"
    assert "|rel:2|" in result.signature
    assert "|no_relevant:1|" in result.signature
    assert result.describe_counts() == "2 queries; 1 without a relevant document (counts 0)"


@pytest.mark.parametrize(
    ("measures", "rel"),
    [
        ("AP P@10", "rel:1"),
        ("AP(rel=2) nDCG@10", "rel:2"),
        ("AP P(rel=2)@10 R(rel=0.5)@5", "rel:0.5,1,2"),
        ("nDCG@10 ERR", "rel:none"),
        ("RBP", "rel:1"),
        ("RBP(max_grade=3)", "rel:none"),
    ],
)
def test_the_signature_says_which_rel_was_used(measures, rel):
    assert rel in evaluate(TWO, BOTH, measures).signature.split("|")


def test_counts_where_the_measures_disagree():
    result = evaluate(TWO, BOTH, "AP AP(rel=2) nDCG@10")
    assert (result.counts.no_relevant, result.counts.no_relevant_for_all) == (1, 0)
    assert result.describe_counts() == "2 queries; 1 without a relevant document for some measures (counts 0 there)"
    more = evaluate(TWO, BOTH, "AP").extended("P(rel=3)@5")
    assert (more.counts.no_relevant, more.counts.no_relevant_for_all) == (2, 0)


def test_a_fraction_of_a_grade_has_a_gain():
    qrels, run = {"q": {"a": 0.5}}, {"q": ["x", "a"]}
    result = evaluate(qrels, run, "nDCG@10 AP")
    assert (
        result.worst("nDCG@10")[0].reason
        == "1 of 1 relevant in the top 10, the first at rank 2; 1 of 2 retrieved unjudged"
    )
    assert result.worst("AP")[0].reason == "no relevant document is judged; 1 of 2 retrieved unjudged"


def test_a_gain_of_0_is_not_relevant():
    result = evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a"]}, ["nDCG(gain={1:0,2:3})@10"])
    assert result.worst()[0].reason == "none of 1 relevant in the top 10"


def test_relevant_documents_below_the_cutoff_are_reported_separately():
    run = {"q": [f"x{rank}" for rank in range(1, 13)] + ["a"]}
    result = evaluate({"q": {"a": 1, "b": 1}}, run, "nDCG@10 R@20 AP")
    assert result.worst("nDCG@10")[0].reason == (
        "none of 2 relevant in the top 10, 1 further down; 10 of the 10 unjudged"
    )
    assert result.worst("R@20")[0].reason == (
        "1 of 2 relevant in the top 20, the first at rank 13; 12 of 13 retrieved unjudged"
    )
    assert (
        result.worst("AP")[0].reason == "1 of 2 relevant retrieved, the first at rank 13; 12 of 13 retrieved unjudged"
    )


def test_judged_only_measures_rank_without_unjudged_documents():
    result = evaluate({"q": {"a": 1, "b": 0}}, {"q": ["x", "b", "y", "a"]}, "RR(judged_only=True) Bpref P@10")
    for name in ("RR(judged_only=True)", "Bpref"):
        assert (
            result.worst(name)[0].reason
            == "1 of 1 relevant retrieved, the first at rank 2, counting judged documents only"
        )
    assert result.worst("P@10")[0].first == 4


def test_r_precision_looks_at_the_first_r():
    result = evaluate({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}, "Rprec")
    assert result.worst()[0].reason == "1 of 2 relevant in the top 2, the first at rank 2; 1 of the 2 unjudged"


def random_collection(chance):
    """Small judgments with grades of all kinds, and a run that may lack queries."""
    documents = [f"d{number}" for number in range(12)]
    grades = [-1, 0, 0.5, 1, 1, 2, 3]
    qrels = {
        f"q{number}": {each: chance.choice(grades) for each in chance.sample(documents, chance.randint(1, 8))}
        for number in range(4)
    }
    run = {query: chance.sample(documents, chance.randint(1, 12)) for query in qrels if chance.random() < 0.9}
    return qrels, run or {"q0": documents}


def random_measure(chance):
    """Any measure of ranks, with any rel, cutoff, gain and multiple that it can have."""
    definition = chance.choice([each for each in catalogue().values() if each.table == "ranks"])
    if {"TBG", "U"} & {definition.name}:
        return parse_measure("nDCG@3")  # they need lengths
    given = {name: {"cutoff": 3, "recall": 0.5, "documents": 20}[name] for name in needed(definition)}
    choices = {
        "cutoff": [1, 2, 5, 10],
        "rel": [0, 0.5, 1, 2, 3],
        "gain": ["linear", "exponential", "{1:0,2:3}"],
        "multiple": [0.5, 1, 2],
        "max_grade": [3],
        "judged_only": [True, False],
    }
    for name, values in choices.items():
        if name in definition.kinds and chance.random() < 0.6:
            given[name] = chance.choice(values)
    return definition(**given)


def needed(definition):
    return [name for name, default in definition.defaults.items() if default is REQUIRED]


def naive_facts(measure, judged, ranking):
    """relevant, found, first, unjudged and deeper, counted one by one from the meaning of the parameters."""
    parameters = {**measure.definition.defaults, **dict(measure.parameters)}
    graded = measure.definition.name == "RBP" and parameters["max_grade"] is not None

    def relevant(grade):
        if "rel" in parameters and not graded:
            return grade >= parameters["rel"]
        if str(parameters.get("gain")) == "{1:0,2:3}":
            return {1: 0, 2: 3}.get(grade, grade) > 0
        return grade > 0

    if parameters["judged_only"] or "Bpref" in measure.definition.name:
        ranking = [each for each in ranking if judged.get(each, -1) >= 0]
    total = sum(map(relevant, judged.values()))
    cutoff = parameters.get("cutoff")
    if "multiple" in parameters:
        cutoff = floor(parameters["multiple"] * total + 0.9)
    ranks = [rank for rank, each in enumerate(ranking, 1) if each in judged and relevant(judged[each])]
    seen = [rank for rank in ranks if cutoff is None or rank <= cutoff]
    unjudged = sum(judged.get(each, -1) < 0 for each in ranking[:cutoff])
    return total, len(seen), seen[0] if seen else None, unjudged, len(ranks) - len(seen), cutoff


@pytest.mark.parametrize("seed", range(150))
def test_facts_match_a_naive_recount(seed, tmp_path):
    chance = random.Random(seed)
    qrels, run = random_collection(chance)
    measures = {random_measure(chance): None for _ in range(4)}
    policy = Policy(missing=chance.choice(["zero", "skip"]))
    result = evaluate(qrels, run, measures, policy=policy, check_ids=False)
    result.save(tmp_path / "saved.json")
    for evaluation in (result, Evaluation.load(tmp_path / "saved.json")):
        for measure in measures:
            for facts in evaluation.queries(measure, evaluation.query_ids):
                ranking = run.get(facts.query_id, [])
                counted = facts.relevant, facts.found, facts.first, facts.unjudged, facts.deeper, facts.cutoff
                assert counted == naive_facts(measure, qrels[facts.query_id], ranking), measure.name
                assert facts.retrieved == len(ranking)
    lacking = [
        {query for query in result.query_ids if not naive_facts(each, qrels[query], [])[0]}
        for each in ([each for each in measures if not each.definition.of_holes] or measures)
    ]
    counts = result.counts.no_relevant, result.counts.no_relevant_for_all
    assert counts == (len(set.union(*lacking)), len(set.intersection(*lacking)))


def moved(qrels, before, after, measure):
    result = gate({**qrels, "other": {"a": 1}}, {**before, "other": ["a"]}, {**after, "other": ["a"]}, measure)
    [seen] = result.measures
    return [query.moved for query in seen.worse_queries]


def test_moves_below_the_cutoff_are_not_a_reason():
    """'b' moves from rank 40 to 30 while 'c' falls from rank 2 to 3: only 'c' is a reason for nDCG@10."""
    fill = [f"x{number}" for number in range(60)]
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    before = {"q": ["a", "c", *fill[:37], "b", *fill[37:]]}
    after = {"q": ["a", fill[0], "c", *fill[1:27], "b", *fill[27:]]}
    assert moved(qrels, before, after, "nDCG@10") == ["some relevant documents moved down"]
    lost = {"q": ["a", *fill[:30], "c", "b"]}
    assert moved(qrels, before, lost, "nDCG@10") == ["1 of 3 relevant in the top 10, previously 2"]
    assert moved(qrels, before, lost, "R@50") == []


def test_documents_below_rel_are_not_a_reason():
    """Documents of grades 1 and 2 drop out: only the one of grade 2 is a reason for P(rel=2)."""
    qrels = {"q": {"a": 1, "b": 2, "c": 2}}
    assert moved(qrels, {"q": ["a", "b", "c"]}, {"q": ["x", "y", "c"]}, "P(rel=2)@3") == [
        "1 of 2 relevant in the top 3, previously 2; the first relevant at rank 3, previously 2"
    ]


def test_more_retrieved_documents_are_a_reason_for_set_measures():
    qrels = {"q": {"a": 1}}
    assert moved(qrels, {"q": ["a"]}, {"q": ["a", "x", "y"]}, "SetP") == ["3 retrieved, previously 1"]


def test_more_unjudged_documents_are_a_reason_for_judged_measures():
    qrels = {"q": {"a": 1, "b": 0}}
    assert moved(qrels, {"q": ["a", "b"]}, {"q": ["a", "x"]}, "Judged@10") == ["1 unjudged in the top 10, previously 0"]


def test_the_gate_reports_the_judged_share_at_the_cutoff_of_the_measure():
    qrels = {str(number): {"a": 1, "b": 0} for number in range(3)}
    before = {query: ["a", "b", "x", "y"] for query in qrels}
    after = {query: ["b", "x", "a", "y"] for query in qrels}
    result = gate(qrels, before, after, "nDCG@2 AP")
    assert [each.judged for each in result.measures] == [(1.0, 0.5), (0.5, 0.5)]
    assert [each.judged_depth for each in result.measures] == [2, None]
    assert json.loads(result.to_json())["measures"][0]["judged"] == [1.0, 0.5]


def test_a_threshold_for_all_measures_counts_for_those_without_one(tmp_path):
    qrels = {"1": {"a": 1, "b": 1, "c": 2}, "2": {"a": 1, "c": 2}}
    result = evaluate(qrels, {"1": ["x", "a", "b"], "2": ["c"]}, "nDCG@10 P@10")
    assert result.worst("nDCG@10", 1)[0].found_text == "2 of 3 relevant in the top 10"
    assert result.worst("nDCG@10", 1, rel=2)[0].reason == "none of 1 relevant in the top 10; 1 of 3 retrieved unjudged"
    assert result.worst("P@10", 1, rel=2) == result.worst("P@10", 1)  # it has a threshold of its own
    result.save(tmp_path / "saved.json")
    with pytest.raises(InputError, match="has no ranks"):
        Evaluation.load(tmp_path / "saved.json").worst("nDCG@10", rel=2)


def test_the_worst_queries_are_told_by_the_given_threshold(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 1\n1 0 c 2\n")
    (tmp_path / "r").write_text("1 Q0 x 1 3 t\n1 Q0 a 2 2 t\n1 Q0 b 3 1 t\n")
    for options, text in (((), "2 of 3 relevant"), (("--rel", "2"), "none of 1 relevant")):
        assert text in run("evaluate", "q", "r", "--worst", "1", *options, cwd=tmp_path).stdout
