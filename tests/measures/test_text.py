"""Measures of passages and text: against sets of letters, the worked example, and values on ranks of chunks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import ChunkRun, Chunks, InputError, MeasureError, PassageJudgments, Policy, PolicyError, evaluate
from tests import oracle, oracle_passages
from tests.measures.test_catalogue import variants

VARIANTS = [each for each in dict.fromkeys(variants("passages")) if not dict(each.parameters).get("judged_only")]
TEXTS = {"d": "one two  three four five six", "e": "a b c d e f g h i j k l m n o p", "f": "xyz"}

PASSAGES = [("q", "d", 10, 20, 1), ("q", "d", 30, 50, 1)]
CHUNKS = {"a": ("d", 0, 20), "b": ("d", 15, 35), "c": ("d", 60, 70)}
EXAMPLE = {
    "@1": (0.3333, 0.5, 0.5, 0.4, 0.25),
    "@2": (0.5, 0.4286, 0.375, 0.4615, 0.3),
    "@3": (0.5, 0.3333, 0.3, 0.4, 0.25),
    "(budget=30)": (0.3333, 0.5, 0.5, 0.4, 0.25),
    "(budget=30, fit=cut)": (0.3333, 0.4, 0.3333, 0.3636, 0.2222),
}
NAMES = ("TextR", "TextP", "ReadP", "TextF", "TextIoU")


@pytest.mark.parametrize("suffix", EXAMPLE)
def test_the_worked_example(suffix):
    measures = [f"{name}{suffix}" for name in NAMES]
    found = evaluate(PassageJudgments.read(PASSAGES), ChunkRun({"q": ["a", "b", "c"]}, CHUNKS), measures)
    assert tuple(round(found[name], 4) for name in measures) == EXAMPLE[suffix]


def test_other_tools_differ_on_the_worked_example():
    passages, chunks = [row[1:] for row in PASSAGES], list(CHUNKS.values())
    recall, precision, overlap = oracle_passages.by_chroma(passages, chunks)
    assert (recall, precision, round(overlap, 4)) == (0.5, 0.3, 0.2308)
    recall, precision = oracle_passages.by_legalbench(passages, chunks)
    assert (round(recall, 4), precision) == (0.6667, 0.4)
    found = evaluate(PassageJudgments.read(PASSAGES), ChunkRun({"q": ["a", "b", "c"]}, CHUNKS), "TextR@3 ReadP@3")
    assert list(found.values()) == pytest.approx([0.5, 0.3])


def places(texts):
    def of(document):
        length = len(texts[document])
        spans = st.tuples(st.integers(0, length - 1), st.integers(1, length)).filter(lambda span: span[0] < span[1])
        return spans.map(lambda span: (document, *span))

    return st.sampled_from(sorted(texts)).flatmap(of)


grade = st.sampled_from([0, 1, 1, 2, 3, -1])
judged_passages = st.lists(
    st.tuples(places(TEXTS) | st.sampled_from(sorted(TEXTS)).map(lambda d: (d, None, None)), grade),
    min_size=1,
    max_size=6,
    unique_by=lambda each: each[0],
).map(lambda rows: [(*place, grade) for place, grade in rows])


@st.composite
def cases(draw):
    """(passages by query, chunks, run)."""
    chunks = {f"c{at}": place for at, place in enumerate(draw(st.lists(places(TEXTS), min_size=1, max_size=10)))}
    passages = {query: draw(judged_passages) for query in ("1", "2")}
    run = {query: draw(st.permutations(sorted(chunks)))[: draw(st.integers(1, 10))] for query in ("1", "2")}
    return passages, chunks, run


def evaluated(case, measures, **settings):
    passages, chunks, run = case
    rows = [
        {"query": query, "document": document, "start": start, "end": end, "grade": grade}
        for query, its in passages.items()
        for document, start, end, grade in its
    ]
    judged = PassageJudgments.read(rows, TEXTS)
    located = Chunks.read(chunks, TEXTS, tokens=str.split)
    return evaluate(judged, ChunkRun(run, located), measures, check_ids=False, **settings)


def order_of(case, query):
    _, chunks, run = case
    return [chunks[chunk] for chunk in run[query]]


@settings(max_examples=150, deadline=None)
@given(cases(), st.sampled_from([0.01, 0.5, 0.7, 1]))
def test_measures_equal_their_oracle(case, cover):
    variants = [each for each in VARIANTS if dict(each.parameters).get("fit") != "cut"]
    found = evaluated(case, variants, policy=Policy(cover=cover))
    for measure in variants:
        parameters = dict(measure.parameters)
        if measure.definition.name == "PassageR":
            parameters["cover"] = cover
        for query in "12":
            function = oracle_passages.ORACLES[measure.definition.name]
            expected = function(case[0][query], order_of(case, query), TEXTS, **parameters)
            value = found.by_query(measure)[query]
            assert value == pytest.approx(expected, abs=1e-12), measure
            assert 0 <= value <= 1


@settings(max_examples=100, deadline=None)
@given(cases(), st.integers(1, 60), st.sampled_from(["words", "tokens", "characters"]), st.sampled_from([None, 2]))
def test_measures_with_budgets_equal_their_oracle(case, budget, unit, cutoff):
    fits = ("whole", "cut") if unit == "characters" else ("whole",)
    chosen = [{"budget": budget, "unit": unit, "fit": fit, "cutoff": cutoff} for fit in fits]
    for parameters in chosen:
        measures = [cranfield.catalogue()[name](**parameters) for name in oracle_passages.ORACLES]
        found = evaluated(case, measures)
        for measure in measures:
            for query in "12":
                function = oracle_passages.ORACLES[measure.definition.name]
                expected = function(case[0][query], order_of(case, query), TEXTS, **parameters)
                assert found.by_query(measure)[query] == pytest.approx(expected, abs=1e-12), measure


@settings(max_examples=100, deadline=None)
@given(cases(), st.sampled_from([0.01, 0.5, 1]))
def test_measures_on_ranks_use_the_grades_of_chunks(case, cover):
    names = "nDCG@10 nDCG(gain=exponential) AP RR P@3 R@5 bpref RBP Judged@10 Success@1 ERR@10 AP(judged_only=True)"
    measures = cranfield.parse_measures(names)
    found = evaluated(case, measures, policy=Policy(cover=cover))
    for query in "12":
        grades, missed = oracle_passages.grades(case[0][query], order_of(case, query), cover)
        judged = [each for each in grades if each is not None] + missed
        for measure in measures:
            expected = oracle.value(measure, grades, judged)
            value = found.by_query(measure)[query]
            assert value == pytest.approx(expected, abs=1e-12), measure
            assert value <= 1 + 1e-12


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([None, 1, 3]))
def test_judged_only_omits_unjudged_chunks(case, cutoff):
    measures = [cranfield.catalogue()[name](judged_only=True, cutoff=cutoff) for name in oracle_passages.ORACLES]
    found = evaluated(case, measures)
    for query in "12":
        chunks = order_of(case, query)
        grades, _ = oracle_passages.grades(case[0][query], chunks)
        kept = [chunk for chunk, grade in zip(chunks, grades, strict=True) if grade is not None]
        for measure in measures:
            expected = oracle_passages.ORACLES[measure.definition.name](case[0][query], kept, TEXTS, cutoff=cutoff)
            assert found.by_query(measure)[query] == pytest.approx(expected, abs=1e-12), measure


def test_a_passage_counts_only_once():
    passages = PassageJudgments.read([("q", "d", 0, 10, 2), ("q", "d", 10, 20, 1), ("q", "e", 0, 10, 1)])
    chunks = {"both": ("d", 0, 30), "again": ("d", 0, 10), "other": ("e", 0, 6), "far": ("e", 50, 60)}
    found = evaluate(passages, ChunkRun({"q": ["both", "again", "far", "other"]}, chunks), "R@4 P@4 AP Judged@4")
    # The second passage of d is found with the first: neither missed nor rewarded. The text in far is unjudged.
    assert dict(found) == pytest.approx({"R@4": 1, "P@4": 0.5, "AP": (1 + 2 / 4) / 2, "Judged@4": 0.75})


def test_cover_decides_how_much_of_a_passage_is_enough():
    passages = PassageJudgments.read([("q", "d", 0, 10, 1)])
    run = {"q": ["left", "right"]}
    chunks = {"left": ("d", 0, 5), "right": ("d", 5, 10)}
    assert evaluate(passages, ChunkRun(run, chunks), "RR")["RR"] == 1
    strict = evaluate(passages, ChunkRun(run, chunks), "RR PassageR@1 PassageR@2", policy=Policy(cover=0.6))
    # No chunk alone holds enough; both together do.
    assert dict(strict) == {"RR": 0, "PassageR@1": 0, "PassageR@2": 1}
    assert "cover:0.6" in strict.signature
    assert strict.signature.count("cover:") == 1
    with pytest.raises(PolicyError, match=r"cover=0 is not a share"):
        Policy(cover=0)


def test_text_around_a_passage_is_unjudged_unless_judgments_are_complete():
    passages = PassageJudgments.read([("q", "d", 0, 10, 1)])
    run = ChunkRun({"q": ["rest", "good"]}, {"rest": ("d", 10, 20), "good": ("d", 0, 10)})
    assert evaluate(passages, run, "Judged@2")["Judged@2"] == 0.5
    assert evaluate(passages, run, "Judged@2", policy=Policy(complete=True))["Judged@2"] == 1
    assert evaluate(passages, run, "RR(judged_only=True)")["RR(judged_only=True)"] == 1
    assert evaluate(passages, run, "TextP(judged_only=True)@1")["TextP(judged_only=True)@1"] == 1


def test_a_document_judged_as_a_whole():
    run = ChunkRun({"q": ["x", "y"]}, {"x": ("e", 0, 3), "y": ("d", 20, 28)})
    found = evaluate({"q": {"d": 2, "e": 0}}, run, "RR R@2 PassageR@1 PassageR@2")
    assert dict(found) == {"RR": 0.5, "R@2": 1, "PassageR@1": 0, "PassageR@2": 1}
    with pytest.raises(MeasureError, match="judged as a whole, but its length is not known"):
        evaluate({"q": {"d": 2, "e": 0}}, run, "TextR@2")
    known = PassageJudgments.read({"q": {"d": 2, "e": 0}}, TEXTS)
    assert evaluate(known, run, "TextR@2")["TextR@2"] == 8 / len(TEXTS["d"])


def test_the_unit_of_a_budget_is_in_the_signature():
    passages = PassageJudgments.read([("q", "d", 0, 7, 1)])
    run = {"q": ["x", "y"]}
    chunks = Chunks.read({"x": ("d", 0, 7), "y": ("e", 0, 5)}, TEXTS, tokens=str.split)
    found = evaluate(passages, ChunkRun(run, chunks), "TextR(budget=2, unit=tokens) TextR(budget=1, unit=words)")
    assert list(found.values()) == [1, 0]
    assert "|budget:tokens(str.split),words|" in found.signature
    with pytest.raises(MeasureError, match="the number of tokens in each chunk is not known") as caught:
        evaluate(passages, ChunkRun(run, {"x": ("d", 0, 7), "y": ("e", 0, 5)}), "TextR(budget=2, unit=tokens)")
    assert "Hint: give the chunks a column 'tokens'" in str(caught.value)
    with pytest.raises(MeasureError, match="only characters can be cut"):
        evaluate(passages, ChunkRun(run, chunks), "TextR(budget=2, unit=tokens, fit=cut)")


def test_ties_by_grade():
    passages = PassageJudgments.read([("q", "d", 0, 10, 1), ("q", "d", 10, 20, 0)])
    run = ChunkRun(
        {"q": {"good": 1.0, "bad": 1.0, "z": 1.0}}, {"good": ("d", 0, 10), "bad": ("d", 10, 20), "z": ("e", 0, 1)}
    )
    found = [evaluate(passages, run, "RR", policy=Policy(ties=ties))["RR"] for ties in ("best", "worst")]
    assert found == [1, pytest.approx(1 / 3)]
    assert evaluate(passages, run, "RR").counts.tied == 1


def test_inputs_that_do_not_fit_together_are_an_error():
    passages = PassageJudgments.read(PASSAGES)
    run = ChunkRun({"q": ["a"]}, CHUNKS)
    with pytest.raises(MeasureError, match="TextR is measured on passages of documents"):
        evaluate({"q": {"d": 1}}, {"q": ["d"]}, "TextR")
    with pytest.raises(MeasureError, match="TextR is measured on passages"):
        cranfield.value("TextR", [1, 0])
    with pytest.raises(InputError, match=r"passages are measured on chunks"):
        evaluate(passages, {"q": ["a"]}, "RR")
    with pytest.raises(InputError, match="with lengths, an engine or a format"):
        evaluate(passages, run, "RR", lengths={"a": 1})
    with pytest.raises(InputError, match="judgments of passages take no format"):
        cranfield.evaluate_runs(passages, {"one": run}, "RR", qrels_format="trec")
    with pytest.raises(MeasureError, match="alpha_nDCG is measured on subtopics, which judgments of passages"):
        evaluate(passages, run, "alpha_nDCG")
    with pytest.raises(InputError, match=r"chunk 'x' in the ranking of query 'q' is not in the chunks"):
        evaluate(passages, ChunkRun({"q": ["x"]}, CHUNKS), "RR")
    with pytest.raises(InputError, match=r"no query of the run is judged: run: '7'; judgments: 'q'"):
        evaluate(passages, ChunkRun({"7": ["a"]}, CHUNKS), "RR")
    with pytest.raises(InputError, match=r"no chunk is in a document with a judged passage: chunks: 'D.txt'; .*: 'd'"):
        evaluate(passages, ChunkRun({"q": ["a"]}, {"a": ("D.txt", 0, 5)}), "RR")
    warned = evaluate(passages, ChunkRun({"q": ["a"]}, {"a": ("D.txt", 0, 5)}), "RR", check_ids=False)
    assert any("no chunk is in a document" in each for each in warned.warnings)


def test_chunks_of_the_query_document_may_be_dropped():
    passages = PassageJudgments.read([("d1", "d1", 0, 5, 1), ("d1", "d2", 0, 5, 1)])
    run = ChunkRun({"d1": ["d1#0", "d2#0"]}, {"d1#0": ("d1", 0, 5), "d2#0": ("d2", 0, 5)})
    assert evaluate(passages, run, "num_ret", policy=Policy(same_id="drop"))["num_ret"] == 1
