"""trec_eval's measures and their parameters."""

import math
import random

from tests.trec_eval.conftest import lines_of


def test_the_order_of_lines_is_fixed(call):
    code, out, _ = call("-n -q -m unj.3 -m yaap -m P.3 -m num_rel -m dcg qrels run", "1 0 a 1\n", "1 Q0 a 1 2 t\n")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["num_rel", "P_3", "dcg", "yaap", "unj_3"]


def test_nicknames_and_the_first_parameters(call):
    _, out, _ = call("-n -q -m official.9 -m P.3 -m P.4 -m map.7 qrels run", "1 0 a 1\n", "1 Q0 a 1 2 t\n")
    names = [line.split()[0] for line in out.splitlines()]
    assert names[3:6] == ["map", "Rprec", "bpref"]
    assert names[-1] == "P_3"
    assert len(names) == 3 + 4 + 11 + 1
    assert call("-m prefs -n -q -R qrels_prefs qrels run")[1].count("\n") == 6
    assert call("-m all_trec qrels run")[1].count("\n") == 99


def test_printed_names_and_values(call):
    qrels = "1 0 a 1\n1 0 b 1\n1 0 z 1\n1 0 d 0\n"
    ranked = "1 Q0 a 1 9 t\n1 Q0 b 1 8 t\n1 Q0 d 1 7 t\n1 Q0 c 1 6 t\n1 Q0 u 1 5 t\n"
    command = (
        "-n -q -m set_F.4 -m iprec_at_recall..25,.1 -m 11pt_avg..4,.8 -m utility.2,-1,0,1 -N 10 -m rbp.p=0.5 "
        "-m rbp_resid.p=0.5 -m ndcg.0=1,1=3 -m Rprec_mult.0.3,1.5 -m relstring.3 -m ndcg_cut.10,23.4 -m success.2"
    )
    assert call(f"{command} qrels run", qrels, ranked)[1] == lines_of(
        ("iprec_at_recall_0.10", 1, "1.0000"),
        ("iprec_at_recall_0.25", 1, "1.0000"),
        ("relstring_3", 1, "'110'"),
        ("Rprec_mult_0.30", 1, "1.0000"),
        ("Rprec_mult_1.50", 1, "0.4000"),
        ("utility_2,-1,0,1", 1, "5.0000"),
        ("11pt_avg_.4,.8", 1, "1.0000"),
        ("ndcg_0=1,1=3", 1, "0.7903"),
        ("ndcg_cut_10", 1, "0.7654"),
        ("ndcg_cut_23", 1, "0.7654"),
        ("success_2", 1, "1.0000"),
        ("set_F_4", 1, "0.5882"),
        ("rbp_p=0.5", 1, "0.7500"),
        ("rbp_resid_p=0.5", 1, "0.1250"),
    )


def test_values_that_trec_eval_is_known_to_print(call):
    seven = "1 Q0 a 1 9 t\n1 Q0 x 1 8 t\n1 Q0 y 1 7 t\n1 Q0 b 1 6 t\n1 Q0 w 1 5 t\n1 Q0 v 1 4 t\n1 Q0 c 1 3 t\n"
    three = "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 x 0\n"
    measures = "-m iprec_at_recall.0.4,0.8 -m 11pt_avg"
    ten = [("iprec_at_recall_0.40", "all", "1.0000"), ("iprec_at_recall_0.80", "all", "0.5000")]
    assert call(f"{measures} qrels run", three, seven)[1] == lines_of(*ten, ("11pt_avg", "all", "0.7143"))
    nine = [("iprec_at_recall_0.40", "all", "0.5000"), ("iprec_at_recall_0.80", "all", "0.4286")]
    assert call(f"--as 9 {measures} qrels run")[1] == lines_of(*nine, ("11pt_avg", "all", "0.6623"))

    qrels, ranked = "1 0 a 1\n1 0 b 0\n1 0 d -1\n", "1 Q0 u 1 5 t\n1 Q0 d 1 4 t\n1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n"
    measures = "-n -q -m map -m num_ret -m rbp_resid -m relstring"
    assert call(f"{measures} qrels run", qrels, ranked)[1] == lines_of(
        ("num_ret", 1, 4), ("map", 1, "0.3333"), ("relstring", 1, "'-.10'"), ("rbp_resid", 1, "0.8461")
    )
    assert call(f"{measures} -J qrels run")[1] == lines_of(
        ("num_ret", 1, 2), ("map", 1, "1.0000"), ("relstring", 1, "'10'"), ("rbp_resid", 1, "0.0000")
    )
    # -M first, then -J.
    assert call(f"{measures} -J -M3 qrels run")[1].startswith(lines_of(("num_ret", 1, 1), ("map", 1, "1.0000")))
    grades = "1 0 a 3\n1 0 b 1\n1 0 z 2\n"
    cut = call("-M1 -m ndcg -m ndcg_cut.1,2 qrels run", grades, "1 Q0 a 1 .9 t\n1 Q0 b 1 .8 t\n")[1]
    assert cut == lines_of(("ndcg", "all", "0.6300"), ("ndcg_cut_1", "all", "1.0000"), ("ndcg_cut_2", "all", "0.7039"))


def test_queries_are_in_the_order_of_their_bytes(call):
    ids = ["10", "2", "9", "a", "é", "𝄞"]
    qrels = "".join(f"{q} 0 d 1\n" for q in reversed(ids))
    ranked = "".join(f"{q} Q0 d 1 1 t\n" for q in ids)
    assert call("-nq -m recip_rank qrels run", qrels, ranked)[1] == lines_of(
        *[("recip_rank", q, "1.0000") for q in ids]
    )


def test_option_l_sets_the_lowest_relevant_grade(call):
    qrels, ranked = (
        "1 0 a 2\n1 0 b 1\n1 0 c 0\n1 0 d -1\n",
        "1 Q0 c 1 3 t\n1 Q0 d 1 2.5 t\n1 Q0 b 1 2 t\n1 Q0 a 1 1 t\n",
    )
    measures = "-n -q -m num_rel -m num_rel_ret -m recip_rank -m bpref -m ndcg"
    shown = {
        level: [line.split()[2] for line in call(f"{measures} -l{level} qrels run", qrels, ranked)[1].splitlines()]
        for level in (0, 1, 2, 3)
    }
    assert shown[0] == ["3", "3", "1.0000", "1.0000", shown[1][4]]
    assert shown[1][:4] == ["2", "2", "0.0000", "0.3333"]
    assert shown[2][:4] == ["1", "1", "0.0000", "0.2500"]
    assert shown[3] == ["0", "0", "0.0000", "0.0000", shown[1][4]]
    # Rndcg respects the level only if no document reaches it.
    assert (
        call("-l2 -m Rndcg qrels run")[1] == call("-l1 -m Rndcg qrels run")[1] != lines_of(("Rndcg", "all", "0.0000"))
    )
    assert call("-l3 -m Rndcg.1=2 qrels run")[1] == lines_of(("Rndcg_1=2", "all", "0.0000"))


def test_means_are_added_in_the_order_of_query_ids(call):
    # trec_eval adds in the order of the ids as bytes, and these values are rounded otherwise in any other order.
    draw = random.Random(8)
    hits = {str(q): draw.randrange(11) for q in range(1, 2001)}
    qrels = "".join(f"{q} 0 {d} 1\n" for q in hits for d in range(10))
    ranked = "".join(f"{q} Q0 {d} 1 1 t\n" for q, hit in hits.items() for d in range(hit)) + "".join(
        f"{q} Q0 x 1 0 t\n" for q in hits
    )
    in_order = total_of(hits[q] / 10 for q in sorted(hits))
    assert f"{in_order / 2000:6.4f}" != f"{total_of(hits[q] / 10 for q in hits) / 2000:6.4f}"
    assert f"{in_order / 2000:6.4f}" != f"{math.fsum(hit / 10 for hit in hits.values()) / 2000:6.4f}"
    _, out, _ = call("-m P.10 qrels run", qrels, ranked)
    assert out == lines_of(("P_10", "all", f"{in_order / 2000:6.4f}"))


def total_of(values):
    total = 0.0  # Python's sum() is more exact than plain addition from 3.12 on
    for value in values:
        total += value
    return total
