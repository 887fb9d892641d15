"""Every dialect gives the numbers of its tool: of the tool itself if it is installed, of recorded values otherwise."""

import copy
import json
import math
import random
from importlib.util import find_spec

import pytest

from cranfield import Policy, evaluate, evaluate_like, known_dialects, parse_measure
from cranfield.dialects.tools import find_dialect
from cranfield.errors import InputError, MeasureError
from cranfield.show.why_text import like_text
from tests.dialects import asked, recording
from tests.dialects.made import collection

KNOWN = json.loads(recording.RECORDED.read_text(encoding="utf-8"))


def names_of(tool):
    """All names of a tool, with a cutoff of 5, a threshold of 2, and a recall of 0.35."""
    places = {"k": 5, "rel": 2, "grade": 4, "share": "0.35", "similarity": "cosine"}
    return [name.theirs.format(**places) for name in known_dialects()[tool].names]


def check(tool, theirs, qrels, run, *, within=1e-6):
    ours = evaluate_like(qrels, run, tool, list(theirs))
    for name, values in theirs.items():
        if isinstance(values, dict):
            assert ours.by_query(name).keys() == values.keys(), name
            assert ours.by_query(name) == pytest.approx(values, abs=within), name
        else:
            assert ours[name] == pytest.approx(values, abs=within), name


# Names of pytrec_eval are logarithms there; those of ir_measures are calculated by Perl, which takes long.
LEFT_OUT = {*(name + told for name in ("gm_map", "gm_bpref") for told in ("", " (relevance_level=2)"))}
LEFT_OUT |= {"nDCG(dcg='exp-log2')@5", "ERR@5"}
# On how many queries. Some tools know no query that only one side has, no single document, or no defined order of ties.
ASKED = {
    "pytrec_eval": (asked.pytrec_eval, 2000, {"near": True, "negative": 0.05}),
    "ir_measures": (asked.ir_measures, 400, {"near": True, "negative": 0.05}),
    "ranx": (asked.ranx, 1000, {"complete": True, "ties": False}),  # its order of ties needs its compiled form
    "scikit-learn": (asked.scikit_learn, 400, {"least": 2}),
    "torchmetrics": (asked.torchmetrics, 200, {"ties": False}),
    "sentence-transformers": (asked.sentence_transformers, 1000, {}),
    "LlamaIndex": (asked.llama_index, 1000, {}),
    "OpenSearch": (asked.open_search, 1000, {}),
    "Elasticsearch": (asked.elasticsearch, 1000, {}),
}


# Tools with many dependencies: asked on so many queries by whoever installs them, and recorded for all others.
RECORDERS = [("beir", 2000), ("mteb", 2000), ("lightgbm", 1000), ("haystack", 2000), ("rectools", 2000)]
RECORDERS += [("xgboost", 300), ("ragas", 300)]


@pytest.mark.parametrize("tool", ASKED)
def test_a_dialect_gives_the_numbers_of_the_tool(tool):
    ask, queries, options = ASKED[tool]
    qrels, run = collection(queries, 5, **options)
    names = [name for name in names_of(tool) if name not in LEFT_OUT]
    check(tool, ask(names, qrels, run), qrels, run, within=2e-6)


def test_torchmetrics_averages_ties_in_ndcg_and_ignores_scores_up_to_0():
    qrels, run = collection(200, 6)
    gains = [name for name in names_of("torchmetrics") if "NormalizedDCG" in name]
    check("torchmetrics", asked.torchmetrics(gains, qrels, run), qrels, run, within=2e-6)
    draw = random.Random(1)
    halves = [at / 2 for at in range(-8, 40)]
    moved = {q: dict(zip(ranking, draw.sample(halves, len(ranking)), strict=True)) for q, ranking in run.items()}
    names = names_of("torchmetrics")
    check("torchmetrics", asked.torchmetrics(names, qrels, moved), qrels, moved, within=2e-6)


FAILS = {"R_cap@5"}  # for queries without relevant documents


@pytest.mark.parametrize(("package", "queries"), RECORDERS)
def test_a_dialect_gives_the_numbers_of_a_tool_that_is_seldom_installed(package, queries):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    qrels, run = collection(queries, 9, own_id=True)
    tool, theirs = getattr(recording, package)(qrels, copy.deepcopy(run))
    assert set(theirs) == set(names_of(tool)) - FAILS
    check(tool, theirs, qrels, run, within=2e-5)


@pytest.mark.parametrize("tool", KNOWN["values"])
def test_a_dialect_gives_recorded_numbers(tool):
    assert set(KNOWN["values"][tool]) == set(names_of(tool)) - FAILS
    check(tool, KNOWN["values"][tool], KNOWN["qrels"], KNOWN["run"], within=2e-5)


ONE, THREE = {"q": {"a": 1, "b": 3, "c": 2}}, {"q": {"a": 1, "b": 1, "c": 1}}
# Worked out from the code of tools that are servers, or that nothing here can run.
WORKED_OUT = [
    ("Elasticsearch", "dcg(k=10, normalize=true)", ONE, {"q": ["a"]}, 0.142857),
    ("Elasticsearch", "precision(k=10)", THREE, {"q": ["a", "x"]}, 0.5),
    ("Elasticsearch", "dcg(k=10)", {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, 1 + 7 / math.log2(3)),
    ("OpenSearch", "NDCG@10", {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, 0.71),
    ("OpenSearch", "MAP@10", THREE, {"q": ["a", "x", "b", "c"]}, 0.81),
    ("OpenSearch", "Precision@10", {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, 0.5),
    ("OpenSearch", "MRR", {"q": {"a": 1}}, {"q": [*"stuvwxy", "a"]}, 0.13),
    ("OpenSearch", "Coverage@10", THREE, {"q": ["a", "x", "y"]}, 0.33),
    ("Spark", "meanAveragePrecisionAt(2)", THREE, {"q": ["a", "x", "b", "c"]}, 0.5),
    ("trec_eval", "map", THREE, {"q": ["a", "x", "b", "c"]}, (1 + 2 / 3 + 3 / 4) / 3),
    ("trec_eval", "iprec_at_recall_0.40", THREE, {"q": ["a", "x", "b", "c"]}, 1.0),
    ("trec_eval", "ndcg_cut_2", {"q": {"a": 3, "b": 1, "z": 2}}, {"q": ["a", "b"]}, 0.852),
]


@pytest.mark.parametrize(("tool", "name", "qrels", "run", "value"), WORKED_OUT)
def test_a_dialect_gives_numbers_worked_out(tool, name, qrels, run, value):
    assert evaluate_like(qrels, run, tool, [name])[name] == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize("tool", known_dialects())
def test_every_name_of_a_dialect_is_found_by_itself_and_by_ours(tool):
    dialect = known_dialects()[tool]
    for name in dialect.names:
        theirs, measure, conventions = dialect.read(name.usual)
        assert (theirs, measure) == (name.usual, name.example)
        assert conventions == dialect._conventions_of(name)
        known = [reading.theirs for reading in dialect._readings(measure)]
        assert any(found.partition(" of the first")[0] == name.usual for found in known), name


@pytest.mark.parametrize("tool", known_dialects())
def test_what_is_said_to_be_the_same_here_is(tool):
    qrels, run = collection(60, 4, own_id=True, negative=0.05)
    like = evaluate_like(qrels, run, tool, names_of(tool))
    text = " ".join(str(like_text(like)).split())
    assert ("The same here" in text or "the same here" in text) == any(not its.conventions.told for its in like.found)
    for its in like.found:
        if not its.conventions.told:
            ours = evaluate(qrels, run, [its.measure], policy=its.conventions.policy, check_ids=False)
            assert ours[its.measure.name] == pytest.approx(its.mean, abs=5e-6), its.name


def test_names_are_ours_or_theirs():
    torch = find_dialect("TorchMetrics")
    assert torch.read("AP@2").theirs == "RetrievalMAP(top_k=2)"
    assert torch.read("AP@2").measure == parse_measure("AP(denominator=found)@2")
    assert find_dialect("sentence_transformers").read("dot_ndcg@3").measure == parse_measure("nDCG(gain=binary)@3")
    assert find_dialect("ranx").read("P(rel=2)@5").theirs == "precision@5-l2"
    first = find_dialect("LlamaIndex").read("P@3")
    assert (first.theirs, first.measure.name, first.conventions.depth) == ("precision of the first 3", "SetP", 3)


def test_a_run_without_scores_has_none_below_0():
    assert evaluate_like({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "torchmetrics", "RR@5").by_query("RR@5") == {
        "q": 0.5
    }


def test_scores_too_large_for_32_bits_are_tied(tmp_path):
    (tmp_path / "large.run").write_text("q Q0 a 1 1e300 x\nq Q0 b 2 1e299 x\nq Q0 c 3 -1e300 x\n")
    scores = {"a": 1e300, "b": 1e299, "c": -1e300}
    assert asked.pytrec_eval(["map"], {"q": {"a": 1}}, {"q": scores}) == {"map": {"q": 0.5}}
    for run in ({"q": scores}, tmp_path / "large.run"):
        assert evaluate_like({"q": {"a": 1}}, run, "pytrec_eval", "map")["map"] == 0.5


def test_what_is_not_known_is_named():
    with pytest.raises(InputError, match=r"no dialect of this tool is known\.\nHint: there are .*; did you mean ranx"):
        find_dialect("rankx")
    with pytest.raises(MeasureError, match=r"BEIR has no measure 'RBP'\.\nHint: it has NDCG@10"):
        find_dialect("beir").read("RBP")


def test_a_policy_replaces_what_a_tool_does():
    qrels, run = {"q": {"a": 1}}, {"q": {"q": 2.0, "a": 1.0}}
    assert evaluate_like(qrels, run, "MTEB", "RR@10")["mrr_at_10"] == 0.5
    assert evaluate_like(qrels, run, "MTEB", "RR@10", policy=Policy(same_id="drop"))["mrr_at_10"] == 1.0
