"""trec_eval 9, which pytrec_eval runs."""

import io
import math
import sys

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.cli.trec_eval import run
from tests.generated import collections, plain

STANDARD = (
    "map gm_map map_cut Rprec Rprec_mult bpref gm_bpref recip_rank iprec_at_recall 11pt_avg P recall relative_P "
    "success infAP utility ndcg ndcg_cut ndcg_rel Rndcg binG G set_P set_relative_P set_recall set_map set_F "
    "num_ret num_rel num_rel_ret num_nonrel_judged_ret"
)


@settings(max_examples=60, deadline=None)
@given(collections(grades=st.integers(-1, 3)), st.integers(1, 3), st.booleans())
def test_the_values_of_trec_eval_9(tmp_path_factory, collection, level, judged_only):
    qrels, ranked = collection
    for judged in qrels.values():  # pytrec_eval crashes where all grades are negative
        judged["only-here"] = 0
    folder = tmp_path_factory.mktemp("as9")
    rows = [(q, "0", d, str(grade)) for q, judged in qrels.items() for d, grade in judged.items()]
    (folder / "qrels").write_bytes(plain(rows))
    rows = [(q, "Q0", d, "1", repr(score), "t") for q, scores in ranked.items() for d, score in scores.items()]
    (folder / "run").write_bytes(plain(rows))
    measures = [word for name in STANDARD.split() for word in ("-m", name)]
    arguments = [
        "-q",
        "-n",
        "--as",
        "9",
        f"-l{level}",
        *(["-J"] * judged_only),
        *measures,
        str(folder / "qrels"),
        str(folder / "run"),
    ]
    output = io.TextIOWrapper(io.BytesIO())
    before, sys.stdout = sys.stdout, output
    try:
        code = run(arguments)
    finally:
        sys.stdout = before
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(STANDARD.split()), relevance_level=level, judged_docs_only_flag=judged_only
    )
    expected = evaluator.evaluate(ranked)
    assert code == (0 if expected else 7)
    printed = {}
    for line in output.buffer.getvalue().decode().splitlines():
        name, query, value = line.split("\t")
        printed[query, name.strip()] = float(value)
    wanted = {
        (query, name): value
        for query, values in expected.items()
        for name, value in values.items()
        if not name.startswith("gm_")
    }
    assert printed.keys() == wanted.keys()
    for key, value in wanted.items():
        value = 0.0 if math.isnan(value) else value  # of an empty ranking
        assert printed[key] == pytest.approx(value, abs=0.5e-4 + 1e-9), key
