"""One query, position by position."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import InputError, Judgments, Policy, evaluate, explain, explain_grades
from cranfield.show.explanation_text import HEAD, explanation_text
from cranfield.words import columns
from tests import generated, oracle
from tests.generated import trec_run
from tests.growth import is_linear


def test_the_table_of_discounts():
    shown = explain_grades([3, 2, 3, 0, 1], "CG DCG IDCG nDCG nDCG(gain=exponential) RR AP")
    assert [round(place.discount, 4) for place in shown.positions] == [1, 1.585, 2, 2.3219, 2.585]
    columns = {name: [round(place.values[name], 4) for place in shown.positions] for name in shown.measures}
    assert columns["CG"] == [3, 5, 8, 8, 9]
    assert columns["DCG"] == [3, 4.2619, 5.7619, 5.7619, 6.1487]
    assert columns["IDCG"] == [3, 4.8928, 5.8928, 6.3235, 6.3235]
    assert columns["nDCG"] == [1, 0.871, 0.9778, 0.9112, 0.9724]
    assert columns["nDCG(gain=exponential)"] == [1, 0.7789, 0.9595, 0.9285, 0.9575]
    assert columns["RR"] == [1] * 5
    assert [grade for _, grade in shown.ideal] == [3, 3, 2, 1, 0]


def test_binary_precision_and_recall_at_every_cutoff():
    shown = explain_grades([1, 0, 1, 0, 1], ["P", "R", "F@3"])
    columns = {name: [round(place.values[name], 4) for place in shown.positions] for name in shown.measures}
    assert columns["P"] == [1, 0.5, 0.6667, 0.5, 0.6]
    assert columns["R"] == [0.3333, 0.3333, 0.6667, 0.6667, 1]
    assert columns["F"] == [0.5, 0.4, 0.6667, 0.5714, 0.75]


@settings(max_examples=60, deadline=None)
@given(generated.collections(), generated.layouts(), st.sampled_from(["doc_id", "smaller_doc_id", "best", "worst"]))
def test_explanations_agree_with_evaluate_and_with_a_naive_sort(collection, write, ties):
    qrels, run = collection
    policy = Policy(ties=ties)
    measures = ["nDCG@3", "AP@3", "P@3", "RR@3"]
    values = evaluate(qrels, run, measures, policy=policy, check_ids=False)
    for query in qrels:
        shown = explain(qrels, run, query, measures, k=3, policy=policy)
        order = oracle.rank(run.get(query, {}), qrels[query], ties)
        assert [place.doc_id for place in shown.positions] == order[:3]
        assert [place.grade for place in shown.positions] == [qrels[query].get(document) for document in order[:3]]
        if len(shown.positions) == 3:
            last = shown.positions[-1].values
            for name in measures:
                assert last[name.partition("@")[0]] == pytest.approx(values.by_query(name)[query])
    query = next(iter(qrels))
    text = explain(qrels, run, query, policy=policy)
    judgments = Judgments.read(qrels)
    again = explain(
        judgments, [(q, d, s) for q, ranking in run.items() for d, s in ranking.items()], query, policy=policy
    )
    assert text == again


def test_files_and_frames(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    qrels, run = {"1": {"a": 2, "b": 0, "z": 1}}, {"1": {"b": 9.0, "x": 8.0, "a": 7.0}, "2": {"a": 1.0}}
    text = trec_run(run, generated.plain)
    frame = arrow.table({"qid": ["1", "1", "2", "1"], "docno": ["b", "x", "a", "a"], "score": [9.0, 8, 1, 7]})
    for source in (run, io.BytesIO(text), frame, {"1": ["b", "x", "a"]}):
        shown = explain(qrels, source, 1)
        assert [(place.doc_id, place.grade) for place in shown.positions] == [("b", 0), ("x", None), ("a", 2)]
        assert shown.ideal == (("a", 2), ("z", 1), ("b", 0))
    assert explain(qrels, {"2": ["a"]}, "1").positions == ()
    with pytest.raises(InputError, match=r"there is no query '3' in it"):
        explain(qrels, run, "3")
    assert max(map(len, str(explain(qrels, run, "1")).splitlines())) <= 80


ODD = {"q 1": {"a b": 2, "c, d": 1, "\x1b[2Je\nf": 1, "検索" * 9: 3, "x" * 200: 2}}
NAMES = (
    ["P", "R", "nDCG"],
    ["nDCG(gain=exponential, judged_only=True)", "DCG(gain={1:3,2:9}, base=3)", "RBP(p=0.8)", "nDCG"],
    ["CG"],
)


@pytest.mark.parametrize("measures", NAMES)
@pytest.mark.parametrize("width", [None, 20, 40, 80, 120, 300])
def test_every_cell_is_under_its_head(measures, width):
    """Ids and measures may contain blanks and commas, and the terminal may be narrow."""
    shown = explain(ODD, {"q 1": list(ODD["q 1"])}, "q 1", measures)
    title, *lines = (explanation_text(shown, width) if width else str(shown)).split("\n")
    assert title == "query q 1"
    heads = [at for at, line in enumerate(lines) if line.startswith("rank")]
    found = {}
    for at in heads:
        head, *rows = lines[at : at + 1 + len(shown.positions)]
        names = [name for name in (*HEAD, *shown.measures) if f"  {name}  " in f"  {head}  "]
        assert names[:2] == ["rank", "document"]
        assert "  ".join(names).split() == head.split()
        assert width is None or columns(head) <= width or len(names) == 3
        for row, place in zip(rows, shown.positions, strict=True):
            row = "".join(letter + "." * (columns(letter) - 1) for letter in row)  # a letter for each column
            assert int(row[: len("rank")]) == place.rank
            for name in names[2:]:
                end = f"{head}  ".index(f"  {name}  ") + 2 + len(name)
                assert row[end : end + 1].strip() == ""
                found[name, place.rank] = row[:end].split()[-1]
    for place in shown.positions:
        expected = {"grade": f"{place.grade:g}", **{name: f"{value:.4f}" for name, value in place.values.items()}}
        for name, value in expected.items():
            assert found[name, place.rank] == value
    assert not any(sign in "\n".join(lines) for sign in "\x1b\r")
    assert str(shown).count("\n") == len(shown.positions) + 2 + (len(set(shown.gains.values())) > 1)


def test_a_table_that_fits_is_the_same_for_a_terminal():
    shown = explain({"q": {"a": 2}}, {"q": ["x", "a"]}, "q")
    assert explanation_text(shown, 80) == str(shown)


def test_the_gain_comes_from_the_first_measure_with_gains():
    one = explain_grades([3, 2], "P DCG nDCG")
    assert [place.gain for place in one.positions] == [3, 2]
    assert one.gains == {"DCG": "linear", "nDCG": "linear"}
    assert "gain:" not in str(one)
    other = explain_grades([3, 2], "P nDCG(gain=exponential) DCG Q(gain=exponential) CG(gain={2:5})")
    assert [place.gain for place in other.positions] == [7, 3]
    assert "\ngain: exponential, as in nDCG(gain=exponential); not that of DCG, CG(gain={2:5})\n" in str(other)
    assert explain_grades([3], "P").gains == {}


def test_time_grows_with_the_number_of_judged_documents():
    def judged(size):
        ids = [f"d{number}" for number in range(size)]
        return {"q": {each: at % 3 for at, each in enumerate(ids)}}, {"q": ids[::2]}

    assert is_linear(judged, lambda given: explain(*given, "q"), 4000)
