"""Queries that a run lacks, scores of 32 bits, z-scores and the names of runs."""

import pytest

from cranfield.native import native
from tests.generated import scan_with
from tests.trec_eval.conftest import QRELS, RUN, lines_of


def test_missing_queries_end_trec_eval_10_and_are_skipped_by_9(call):
    qrels = QRELS + "10 0 e 1\n"
    code, out, err = call("-q -m map -m num_q qrels run", qrels, RUN)
    assert (code, out) == (4, lines_of(("map", 1, "0.5000")))
    assert err.splitlines()[0] == "cranfield-trec_eval: the query '10' is judged, but missing from the run."
    assert call("-m map qrels run")[:2] == (4, "")
    code, out, err = call("-q --as 9 -m map -m num_q qrels run")
    assert (code, err) == (0, "")
    rows = [("map", 1, "0.5000"), ("map", 2, "0.5000"), ("num_q", "all", 2), ("map", "all", "0.5000")]
    assert out == lines_of(*rows)
    assert call("-q -D 0.2 -m map -m num_q qrels run")[1] == lines_of(
        ("map", 2, "0.5000"), ("num_q", "all", 1), ("map", "all", "0.5000")
    )


def test_option_c_counts_queries_missing_from_the_run(call):
    qrels = "1 0 a 1\n2 0 b 2\n2 0 c 1\n2 0 d 0\n"
    measures = (
        "-m num_q -m num_ret -m num_rel -m map -m gm_map -m ideal_dcg -m yaap -m unj.5 -m utility -m rbp_resid "
        "-m relstring -m set_F"
    )
    shown = call(f"-q -c {measures} qrels run", qrels, "1 Q0 a 1 1 t\n")[1]
    assert (
        lines_of(
            ("num_ret", 2, 0),
            ("num_rel", 2, 2),
            ("map", 2, "0.0000"),
            ("relstring", 2, "''"),
            ("utility", 2, "0.0000"),
            ("ideal_dcg", 2, "2.6309"),
            ("set_F", 2, "0.0000"),
            ("yaap", 2, "-1.0986"),
            ("rbp_resid", 2, "0.0000"),
            ("unj_5", 2, "0.0000"),
            ("num_q", "all", 2),
            ("num_ret", "all", 1),
            ("num_rel", "all", 3),
            ("map", "all", "0.5000"),
            ("gm_map", "all", "0.0032"),
            ("utility", "all", "0.5000"),
            ("ideal_dcg", "all", "1.8155"),
        )
        in shown
    )
    # Lines with parameters are not known by name, and keep what the dummy document scores.
    left = call("-q -n -c -m utility.2,-1,5,0 -m rbp_resid.p=0.5 -m relstring.4 -D0.2 qrels run")[1]
    assert left == lines_of(
        ("relstring_4", 2, "'-'"), ("utility_2,-1,5,0", 2, "9.0000"), ("rbp_resid_p=0.5", 2, "1.0000")
    )
    # With -c, num_rel of all queries ignores -l.
    assert call("-q -c -l2 -m num_rel qrels run")[1] == lines_of(
        ("num_rel", 1, 0), ("num_rel", 2, 1), ("num_rel", "all", 3)
    )
    assert call("-q -l2 -m num_rel --as 9 qrels run")[1] == lines_of(("num_rel", 1, 0), ("num_rel", "all", 0))
    # trec_eval 9 counts such queries without listing them.
    assert call("-q -c --as 9 -m map -m gm_map -m num_q -m num_rel -m yaap qrels run")[1] == lines_of(
        ("num_rel", 1, 1),
        ("map", 1, "1.0000"),
        ("yaap", 1, "0.6931"),
        ("num_q", "all", 2),
        ("num_rel", "all", 3),
        ("map", "all", "0.5000"),
        ("gm_map", "all", "0.0032"),
        ("yaap", "all", "0.3466"),
    )
    everything = call("-c -m map -m num_q qrels run", None, "7 Q0 a 1 1 t\n")[1]
    assert everything == lines_of(("num_q", "all", 2), ("map", "all", "0.0000"))


@pytest.mark.parametrize("scan", dict.fromkeys([native, None]), ids=lambda scan: "native" if scan else "pure")
def test_scores_of_32_bits(call, scan):
    qrels, ranked = "1 0 a 1\n", "1 Q0 a 1 16777217 t\n1 Q0 b 1 16777216 t\n"
    huge = "1 Q0 a 1 1e39 t\n1 Q0 b 1 1e40 t\n1 Q0 c 1 -1e40 t\n"
    with scan_with(scan):
        assert "1.0000" in call("-m recip_rank qrels run", qrels, ranked)[1]
        assert "0.5000" in call("-m recip_rank --as 9 qrels run")[1]
        assert "0.5000" in call("-m recip_rank --as 9 qrels run", None, huge)[1]


def test_z_scores(call):
    files = {"z": "1 map 0.25 0.5\n2 map 0.5 0\n1 num_rel 1 0\n1 P_5 0 0\n1 gm_map -1 2\n1 bpref 0 nan\n"}
    code, out, _ = call("-q -Z z -m map -m num_rel -m P.5 -m relstring qrels run", QRELS, RUN, **files)
    assert code == 0
    assert out == (
        "Znum_rel               \t1\t0.0000\nZmap                   \t1\t0.5000\n"
        "ZP_5                   \t1\t-1000000.0000\n"
        "relstring             \t1\t'01'\n"
        "Znum_rel               \t2\t-1000000.0000\nZmap                   \t2\t0.0000\nZP_5                   \t2\t"
        "-1000000.0000\nrelstring             \t2\t'2-'\n"
        "Znum_rel               \tall\t-1000000.0000\nZmap                   \tall\t0.2500\n"
        "ZP_5                   \tall\t-1000000.0000\n"
    )
    only = call("-Z z -D0.1 -m runid -m num_q -m gm_map -m bpref qrels run")[1]
    assert only == (
        "runid                 \tall\tlast\nZnum_q                 \tall\t1.0000\n"
        "Zgm_map                \tall\t1.1658\nZbpref                 \tall\t   nan\n"
    )


def test_the_name_of_the_run_is_read_from_its_last_line(call):
    tail = "# an end\n\n" + "# more of it\n" * 2000
    assert call("-m runid qrels run", QRELS, RUN + tail)[1] == lines_of(("runid", "all", "last"))
    assert call("-m runid qrels run", QRELS, RUN.rstrip())[1] == lines_of(("runid", "all", "last"))


def test_ties_of_preferences(call):
    qrels, ranked = "1 0 a 1\n1 0 b 0\n1 0 c 0\n", "".join(f"1 Q0 {d} 1 1 t\n" for d in "abc")
    assert "1.0000" in call("-R qrels_prefs -m prefs_simp qrels run", qrels, ranked)[1]
    assert "0.3333" in call("-m recip_rank qrels run")[1]
