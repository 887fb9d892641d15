"""Where trec_eval errs: every difference is pinned."""

from pathlib import Path

import pytest

from cranfield.trec_eval.known_differences import DIFFERENCES
from tests.trec_eval.conftest import QRELS, RUN, lines_of

ONE = "1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n1 Q0 c 1 1 t\n"


def a_comment_everywhere(call):
    commented = "# one\n# two\n1 0 a 1\n  # three 2 3\n1 0 b 0\n# last"
    assert call("-m map qrels run", commented, ONE)[1] == lines_of(("map", "all", "1.0000"))


def a_blank_line(call):
    assert call("-m map qrels run", "1 0 a 1\n\n1 0 b 0\n\n", ONE)[1] == lines_of(("map", "all", "1.0000"))


def rbp_beside_others(call):
    call("", "1 0 a 1\n1 0 b 1\n", ONE)
    assert call("-m rbp qrels run")[1] == lines_of(("rbp", "all", "0.1900"))
    assert call("-m yaap -m dcg -m rbp qrels run")[1].endswith(lines_of(("rbp", "all", "0.1900")))
    four = "1 Q0 a 1 9 t\n1 Q0 b 1 8 t\n1 Q0 d 1 7 t\n1 Q0 c 1 6 t\n1 Q0 u 1 5 t\n"
    graded = call("-m rbp -m rbp_resid qrels run", "1 0 a 1\n1 0 b 2\n1 0 c 3\n1 0 d 0\n", four)[1]
    assert graded == lines_of(("rbp", "all", "0.1662"), ("rbp_resid", "all", "0.6561"))


def close_gains(call):
    gains = "-m ndcg.1=0.3,2=0.6,3=0.9 qrels run"
    assert call(gains, "1 0 a 3\n1 0 b 2\n1 0 c 1\n", ONE)[1] == lines_of(("ndcg_1=0.3,2=0.6,3=0.9", "all", "1.0000"))


def gains_of_each(call):
    code, out, _ = call("-m dcg.1=2 -m ideal_dcg.1=3 -m ndcg.1=4 qrels run", "1 0 a 1\n", ONE)
    rows = [("dcg_1=2", "all", "2.0000"), ("ideal_dcg_1=3", "all", "3.0000"), ("ndcg_1=4", "all", "1.0000")]
    assert (code, out) == (0, lines_of(*rows))


def gains_of_the_unjudged(call):
    code, out, err = call("-m ndcg.-1=0.5 qrels run", "1 0 a 1\n", ONE)
    assert (code, out) == (2, "")
    assert "invalid gain '{'-1': 0.5}' for nDCG." in err


def an_empty_ranking(call):
    zero = lines_of(("iprec_at_recall_0.00", "all", "0.0000"), ("11pt_avg", "all", "0.0000"))
    assert call("-J -m iprec_at_recall.0 -m 11pt_avg qrels run", "1 0 z 1\n", ONE)[1] == zero
    assert call("-M0 -m iprec_at_recall.0 -m 11pt_avg qrels run", "1 0 a 1\n", ONE)[1] == zero
    assert call("-M0 -m num_ret -m set_P qrels run")[1] == lines_of(("num_ret", "all", 0), ("set_P", "all", "0.0000"))


def points_in_any_order(call):
    seven = "".join(f"1 Q0 {d} 1 {9 - at} t\n" for at, d in enumerate("axybwvc"))
    qrels = "1 0 a 1\n1 0 b 1\n1 0 c 1\n"
    rising = call("-m 11pt_avg.0.2,0.5,0.8 qrels run", qrels, seven)[1].split()
    falling = call("-m 11pt_avg.0.8,0.5,0.2 qrels run")[1].split()
    assert (rising[0], falling[0]) == ("11pt_avg_0.2,0.5,0.8", "11pt_avg_0.8,0.5,0.2")
    assert rising[2] == falling[2] == "0.6667"


def negative_grades_only(call):
    code, out, _ = call("-q -m map -m ndcg -m rbp -m infAP -m num_rel qrels run", "1 0 a -1\n1 0 b -2\n", ONE)
    names = ("num_rel", "map", "infAP", "ndcg", "rbp")
    rows = [(name, query, "0" if name == "num_rel" else "0.0000") for query in (1, "all") for name in names]
    assert (code, out) == (0, lines_of(*rows))


def a_name_after_the_last(call):
    code, out, _ = call("-Z z -m utility qrels run", "1 0 a 1\n", ONE, z="1 P_5 0 1\n")
    assert (code, out) == (0, "Zutility               \tall\t-1000000.0000\n")


def negative_numbers(call):
    for option in ("-l-1", "-M-1", "-N -1"):
        code, out, err = call(f"{option} qrels run", QRELS, RUN)
        assert (code, out) == (1, "")
        assert "must not be negative." in err


def invalid_numbers(call):
    for qrels, ranked, fact in (
        ("1 0 a xyz\n", RUN, "qrels:1: grade 'xyz' is not a number."),
        ("1 0 a 1\n", "1 Q0 a 1 15,5 t\n", "run:1: score '15,5' is not a number."),
        ("1 0 a 1\n", "1 Q0 a 1 nan t\n", "run:1: score 'nan' is not a finite number."),
        ("1 0 a 1\n", "1 Q0 a 1 0x10 t\n", "run:1: score '0x10' is not a number."),
    ):
        code, out, err = call("qrels run", qrels, ranked)
        assert (code, out) == (2, "")
        assert fact in err
    assert call("-m P.5x qrels run", QRELS, RUN)[0] == 2
    assert call("-Mx qrels run", QRELS, RUN)[0] == 1


def grades_with_decimals(call):
    code, out, err = call("-m map qrels run", "1 0 a 1.9\n", ONE)
    assert (code, out) == (2, "")
    assert "qrels: the grade 1.9 of document 'a' for query '1' is not a whole number." in err
    assert call("-m map qrels run", "1 0 a 2.0\n", ONE)[1] == lines_of(("map", "all", "1.0000"))
    assert call("-R qrels_jg -m qrels_jg qrels run", "1 g a 1.5\n1 h a 2\n", ONE)[0] == 2
    assert call("-R qrels_prefs -m prefs_simp qrels run", "1 0 a 1.5\n1 0 b 1.2\n", ONE)[0] == 0


def hidden_duplicates(call):
    double = "1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n1 Q0 b 1 1 t\n"
    assert call("-q -M1 qrels run", "1 0 a 1\n", double)[:2] == (4, "")
    assert call("-q qrels run", "1 0 a 1\n", ONE + double.replace("1 Q0", "7 Q0"))[:2] == (4, "")


def a_true_message(call):
    code, out, err = call("-q -m map qrels run", "1 0 a 1\n2 0 a 1\n", ONE)
    assert (code, out) == (4, lines_of(("map", 1, "1.0000")))
    assert "the query '2' is judged, but missing from the run." in err


def no_gains(call):
    code, out, _ = call("-l 0 -m Rndcg qrels run", "1 0 a 0\n", ONE)
    assert (code, out) == (0, lines_of(("Rndcg", "all", "0.0000")))


def exponents(call):
    code, out, _ = call("-q -n -m relstring qrels run", "1 0 a 1e3\n1 0 b 1\n", ONE)
    assert (code, out) == (0, lines_of(("relstring", 1, "'>1-'")))
    code, _, err = call("-m P.1e1 qrels run")
    assert (code, err) == (2, "cranfield-trec_eval: '1e1' is not a whole number.\n")


def parameters_out_of_range(call):
    for measure, fact in (
        ("rbp.1=3", "rbp takes no gains."),
        ("rbp.p=0.5,2=7", "rbp takes no gains."),
        ("rbp.q=3", "'q' is neither p nor a grade."),
        ("ndcg.x=3", "'x' is neither p nor a grade."),
        ("ndcg.p=3", "ndcg takes no p."),
        ("rbp.p=1", "invalid p '1"),
        ("set_F.0", "invalid parameter 0 for set_F."),
        ("iprec_at_recall.1.5", "invalid recall '1.5"),
        ("11pt_avg.0.5,1.5", "invalid recall '1.5"),
        ("Rprec_mult.0", "invalid multiple '0"),
    ):
        code, _, err = call(f"-m {measure} qrels run", QRELS, RUN)
        assert code == 2
        assert err.startswith(f"cranfield-trec_eval: {fact}")


def bytes_that_are_not_utf_8(call):
    Path("latin").write_bytes(b"1 0 caf\xe9 1\n")
    code, _, err = call("-m map latin run", QRELS, RUN)
    assert code == 2
    assert "latin:1: byte 0xe9 at column 8 is not UTF-8." in err


def a_byte_order_mark(call):
    code, out, _ = call("-m recip_rank qrels run", "\ufeff1 0 a 1\n", "\ufeff" + RUN)
    assert (code, out) == (0, lines_of(("recip_rank", "all", "0.5000")))


PINNED = {
    "Rndcg without gains": no_gains,
    "numbers with exponents": exponents,
    "parameters out of range": parameters_out_of_range,
    "bytes that are not UTF-8": bytes_that_are_not_utf_8,
    "byte order mark": a_byte_order_mark,
    "message of a missing query": a_true_message,
    "comments in judgments": a_comment_everywhere,
    "blank lines in judgments": a_blank_line,
    "bounds of rbp": rbp_beside_others,
    "order of close gains": close_gains,
    "gains for several measures": gains_of_each,
    "gains of unjudged documents": gains_of_the_unjudged,
    "values of empty rankings": an_empty_ranking,
    "order of the points of 11pt_avg": points_in_any_order,
    "only negative grades": negative_grades_only,
    "names after the last z-score": a_name_after_the_last,
    "negative level": negative_numbers,
    "values that are not numbers": invalid_numbers,
    "grades with decimals": grades_with_decimals,
    "duplicates below the cutoff": hidden_duplicates,
}


@pytest.mark.parametrize("name", [one.name for one in DIFFERENCES])
def test_differences(name, call):
    PINNED[name](call)
