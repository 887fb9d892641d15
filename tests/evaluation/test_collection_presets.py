"""Presets of known collections: their measures, their conventions, and how judgments of them are recognised."""

import pytest

import cranfield
from cranfield import Judgments, preset
from cranfield.evaluation.collection_presets import PRESETS, preset_hint, recognised
from cranfield.ranks.policy import Policy
from tests import program


def judgments(documents, queries, grades=(0, 1, 2, 3)):
    """Judgments of these queries, each of documents with these grades; "{}" stands for a number."""
    return {
        query: {documents.format(f"{at}{number}"): grade for number, grade in enumerate(grades)}
        for at, query in enumerate(queries)
    }


LIKE = {
    "dl19": judgments("{}", ["19335", "1133167", *map(str, range(41))]),
    "dl19-doc": judgments("D{}", ["19335", "1133167", *map(str, range(41))]),
    "dl20": judgments("{}", ["1030303", "1037496", *map(str, range(52))]),
    "dl20-doc": judgments("D{}", map(str, range(45))),
    "dl21": judgments("msmarco_passage_01_{}", map(str, range(53))),
    "dl21-doc": judgments("msmarco_doc_01_{}", map(str, range(57))),
    "dl22": judgments("msmarco_passage_01_{}", map(str, range(76))),
    "dl22-doc": judgments("msmarco_doc_01_{}", map(str, range(76))),
    "dl23": judgments("msmarco_passage_01_{}", map(str, range(82))),
    "dl23-doc": judgments("msmarco_doc_01_{}", map(str, range(82))),
    "msmarco": judgments("{}", map(str, range(6980)), (1,)),
    "msmarco-doc": judgments("D{}", map(str, range(5193)), (1,)),
    "msmarco-v2": judgments("msmarco_passage_01_{}", map(str, range(30)), (1,)),
    "beir": judgments("MED-{}", [f"PLAIN-{number}" for number in range(9)]),
    "trec-covid": {str(query): {"ug7v899j": 2, "02tnwd4m": 0} for query in range(1, 51)},
    "robust04": judgments("FBIS3-{}", [*map(str, range(301, 451)), *map(str, range(601, 700))], (0, 1)),
    "miracl": judgments("{}#0", map(str, range(9)), (0, 1)),
    "mrtydi": judgments("{}#0", map(str, range(9)), (1,)),
    "bright": judgments("insects/Light_{}.txt", map(str, range(9)), (1,)),
    "rag24": judgments("msmarco_v2.1_doc_01_{}#3_77", map(str, range(9))),
}


@pytest.mark.parametrize("name", PRESETS)
def test_the_measures_of_a_preset_can_be_measured(name):
    its = preset(name)
    result = cranfield.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["a", "b"]}, **its)
    assert result.measures == its.measures
    assert result.policy == its.policy == Policy(**its.settings)
    assert all(dict(one.parameters).get("rel", 1) == its.rel for one in its.measures if "rel" in one.definition.kinds)
    assert its.source


@pytest.mark.parametrize("name", LIKE)
def test_judgments_are_recognised(name):
    assert recognised(Judgments.read(LIKE[name])) is PRESETS[name]


def test_all_presets_that_say_what_they_look_like_are_tried():
    assert set(LIKE) == {name for name, its in PRESETS.items() if its.looks}


@pytest.mark.parametrize(
    "others",
    [
        {"q1": {"a": 1}},
        judgments("{}", map(str, range(43))),  # 43 queries with other ids
        judgments("msmarco_passage_01_{}", map(str, range(54))),
        judgments("{}", map(str, range(6980)), (0, 1)),
        judgments("{}", map(str, range(500)), (1,)),
        {"q": {"19335": 3, "x": 0}},
    ],
)
def test_other_judgments_are_not(others):
    assert recognised(Judgments.read(others)) is None


def test_no_judgments_of_ours_are_recognised():
    for name in ("builtin", "builtin:ten"):
        assert recognised(Judgments.read(name)) is None


def test_a_hint_says_what_would_be_different():
    known = Judgments.read(LIKE["dl21"])
    measures = cranfield.parse_measures("nDCG@10 AP RR(rel=2)")
    expected = (
        "These look like judgments of TREC Deep Learning 2021 (passages), where grades from 2 are relevant, but AP "
        "counts lower ones. --preset dl21 measures nDCG@10, AP(rel=2)@100, RR(rel=2)@100, P(rel=2)@10, R(rel=2)@100."
    )
    assert preset_hint(known, measures, usual=False) == expected
    assert preset_hint(known, cranfield.parse_measures("nDCG@10 AP(rel=2)"), usual=False) == ""
    assert "--preset dl21" in preset_hint(known, cranfield.parse_measures("nDCG@10"), usual=True)
    assert preset_hint(Judgments.read({"q": {"a": 1}}), measures, usual=True) == ""


def test_an_unknown_preset_is_an_error():
    with pytest.raises(cranfield.InputError, match="there is no preset 'dl24'"):
        preset("dl24")
    assert preset("DL19_doc") is PRESETS["dl19-doc"]
    with pytest.raises(KeyError):
        preset("dl19")["name"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [(query, document, grade) for query, each in LIKE["dl21"].items() for document, grade in each.items()]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in lines))
    for name, sign in (("up.run", 1), ("down.run", -1)):
        (tmp_path / name).write_text("".join(f"{q} Q0 {d} 1 {sign * g} x\n" for q, d, g in lines))


def test_options_change_parts_of_a_preset(files):
    text = program.run("evaluate", "qrels", "down.run", "--preset", "dl21", "-v").stdout
    assert "AP(rel=2)@100" in text
    assert "rel:2" in text
    assert "look like" not in text
    text = program.run(
        "evaluate", "qrels", "down.run", "--preset", "dl21", "-m", "P@5 AP(rel=3)", "--same-id", "keep"
    ).stdout
    assert "P(rel=2)@5  AP(rel=3)" in text
    assert "same_id:drop" in program.run("evaluate", "qrels", "up.run", "--preset", "beir", "-v").stdout
    assert (
        "same_id:keep"
        in program.run("evaluate", "qrels", "up.run", "--preset", "beir", "--same-id", "keep", "-v").stdout
    )


def test_commands_take_presets(files):
    assert "AP(rel=2)@100" in program.run("compare", "qrels", "up.run", "down.run", "--preset", "dl21").stdout
    assert "AP(rel=2)@100" in program.run("gate", "qrels", "up.run", "down.run", "--preset", "dl21").stdout
    found = program.run("evaluate", "qrels", "up.run", "--preset", "dl99")
    assert found.returncode == 2
    assert "there is no preset 'dl99'" in found.stderr


def test_a_hint_is_printed_below_values(files):
    text = program.run("evaluate", "qrels", "up.run").stdout
    assert "These look like judgments of TREC Deep Learning 2021 (passages)" in text
    assert "look like" in program.run("compare", "qrels", "up.run", "down.run", "-m", "AP").stdout
    assert "look like" not in program.run("compare", "qrels", "up.run", "down.run").stdout
    assert "look like" not in program.run("evaluate", "qrels", "up.run", "-m", "nDCG@10").stdout
    assert "look like" not in program.run("evaluate", "qrels", "up.run", "--format", "tsv").stdout
