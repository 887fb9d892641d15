"""Options, help and failures of trec_eval's command line."""

import pytest

from cranfield.measures.trec_eval_names import ENTRIES, NICKNAMES
from cranfield.trec_eval.known_differences import DIFFERENCES
from tests.trec_eval.conftest import QRELS, RUN, lines_of


@pytest.mark.parametrize(
    "command",
    [
        "-q -n -m P.2,1 -l 2 qrels run",
        "-qnmP.2,1 -l2 qrels run",
        "qrels run -q -n -m P.2,1 -l 2",
        "qrels -l2 run -nq -mP.1,2",
        "--query_eval_wanted --nosummary --measure=P.2,1 --level_for_rel 2 qrels run",
        "-q -n -m P.2,1 -m P.5 -o -D 3 -T trec_results -R qrels -l2.7 -- qrels run",
        "--query --nosum -q -n -m P.2.9,1 -l2 -M 100 -N5 qrels run",
    ],
)
def test_ways_to_write_options(call, command):
    code, out, err = call(command, QRELS, RUN)
    assert (code, err) == (0, "")
    rows = [("P_1", 1, "0.0000"), ("P_2", 1, "0.0000"), ("P_1", 2, "1.0000"), ("P_2", 2, "0.5000")]
    assert out == lines_of(*rows)


def test_help_and_version(call):
    code, out, err = call("-h -m map -m relstring -m runid")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: cranfield-trec_eval")
    assert "map\n  Mean of the precisions at the relevant documents" in out
    assert all(difference.here in " ".join(out.split()) for difference in DIFFERENCES)
    code, out, err = call("-v -m whatever")
    assert (code, out) == (0, "")
    assert err.startswith("trec_eval version 10.0 (cranfield ")


def test_every_measure_has_help(call):
    for name in NICKNAMES:
        assert call(f"-h -m {name}")[0] == 0
    assert call("-h " + " ".join(f"-m {name}" for name in ENTRIES))[1].count("\n\n") > len(ENTRIES)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("qrels", 1, "give two files"),
        ("qrels run more", 1, "give two files"),
        ("-x qrels run", 1, "option -x not recognized"),
        ("qrels run -m", 1, "option -m requires argument"),
        ("-m Map qrels run", 1, "trec_eval has no measure 'Map'.\nHint: did you mean map?"),
        ("-m P_5 qrels run", 1, "trec_eval has no measure 'P_5'."),
        ("-m ndcg_p qrels run", 1, "trec_eval has no measure 'ndcg_p'."),
        ("-m P. qrels run", 1, "there is no parameter after the point in 'P.'."),
        ("-l x qrels run", 1, "-l x: 'x' is not a number."),
        ("-M x qrels run", 1, "-M x: 'x' is not a number."),
        ("--as 8 qrels run", 1, "--as 8: must be 9 or 10."),
        ("-m P.0 qrels run", 2, "invalid cutoff '0' for P."),
        ("-m P.-5 qrels run", 2, "invalid cutoff '-5' for P."),
        ("-m P.5,5 qrels run", 2, "P is given the cutoff 5 twice."),
        ("-m P.5, qrels run", 2, "'' is not a number."),
        ("-m recall.5,10,5.2 qrels run", 2, "recall is given the cutoff 5 twice."),
        ("-m iprec_at_recall.0.5,.5 qrels run", 2, "iprec_at_recall is given the cutoff 0.5 twice."),
        ("-m ndcg.1=3,2 qrels run", 2, "'2' is not a parameter of ndcg."),
        ("-m ndcg.1=3,1=2 qrels run", 2, "ndcg is given two gains for the grade 1."),
        ("-m ndcg.1=x qrels run", 2, "'x' is not a number."),
        ("-m ndcg.p=0.5 qrels run", 2, "ndcg takes no p."),
        ("-m rbp.p=2 qrels run", 2, "invalid p '2.0' for RBP."),
        ("-m set_F.0 qrels run", 2, "invalid parameter 0 for set_F."),
        ("-m utility.1,2,x,4 qrels run", 2, "'x' is not a number."),
        ("-R nothing qrels run", 2, "there is no format 'nothing' of judgments."),
        ("-T nothing qrels run", 2, "there is no format 'nothing' of runs."),
        ("none run", 2, "none: cannot be read: no such file or directory."),
        ("qrels none", 2, "none: cannot be read: no such file or directory."),
        ("- run", 2, "judgments cannot be read from standard input."),
        ("qrels empty", 2, "empty: it is empty."),
        ("empty run", 2, "empty: it is empty."),
        ("run qrels", 2, "run:1: 6 columns where 4 are needed."),
        ("qrels qrels", 2, "qrels:1: 4 columns where at least 6 are needed."),
        ("-m utility.1,2 qrels run", 4, "utility needs four parameters."),
        ("-m prefs_simp qrels run", 4, "prefs_simp needs judgments in the format prefs or qrels_prefs, not qrels."),
        ("-m map_avgjg qrels run", 4, "map_avgjg needs judgments in the format qrels_jg, not qrels."),
        ("-R qrels_prefs -m map qrels run", 4, "map needs judgments in the format qrels, not qrels_prefs."),
        ("-R qrels_jg qrels run", 4, "num_ret needs judgments in the format qrels, not qrels_jg."),
        ("qrels twice.run", 4, "twice.run:2: document 'a' appears twice in the ranking of query '1'."),
        ("twice run", 4, "twice:2: document 'a' is judged twice for query '1' (1 and 0)."),
        ("-R qrels_jg -m qrels_jg twice run", 2, "document 'a' is judged twice for query '1' in group '0' (1 and 0)."),
        ("-R qrels_jg -m qrels_jg qrels twice.run", 4, "appears twice"),
        ("-R prefs -m prefs circle run", 4, "of group '1'"),
        ("--as 9 qrels other.run", 7, "no query is both judged and in the run."),
        ("--as 9 -c qrels other.run", 7, "no query is both judged and in the run."),
        ("-D 1.other qrels run", 7, "no query is both judged and in the run."),
        ("qrels other.run", 4, "the query '1' is judged, but missing from the run.\nHint: -c counts such queries"),
        ("-Z none qrels run", 255, "none: cannot be read: no such file or directory."),
        ("-Z empty qrels run", 255, "empty: it is empty."),
        ("-Z qrels qrels run", 255, "qrels:1: 'a 1' are not two numbers."),
        ("-Z z qrels run", 255, "z:2: 0 columns where 4 are needed."),
    ],
)
def test_failures(call, command, code, message):
    files = {
        "empty": "",
        "twice": "1 0 a 1\n1 0 a 0\n",
        "twice.run": "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n",
        "other.run": "7 Q0 a 1 2 t\n",
        "circle": "1 1 1 a 2\n1 1 1 b 1\n1 1 2 b 2\n1 1 2 a 1\n2 1 1 c 1\n",
        "z": "1 map 0 1\n\n",
    }
    status, out, err = call(command, QRELS, RUN, **files)
    assert err.startswith("cranfield-trec_eval: ")
    assert message in err
    assert (status, out) == (code, "")
