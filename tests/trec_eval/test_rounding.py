"""Values at the edge of rounding."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Judgments, Policy, parse_measure
from cranfield.io.source import open_source
from cranfield.ranks.ranking import rank_run
from tests.generated import collections
from tests.trec_eval.conftest import RUN, lines_of


def test_the_residual_is_added_up_as_trec_eval_does(call):
    qrels = "q1 0 z 0\nq2 0 j 0\nq2 0 k 0\n"
    ranked = "q1 Q0 u 1 1 t\n" + "".join(f"q2 Q0 {d} 1 {-n} t\n" for n, d in enumerate(("u1", "j", "u2", "k", "u3")))
    assert call("-m rbp_resid qrels run", qrels, ranked)[1] == lines_of(("rbp_resid", "all", "0.9186"))


@given(collections(), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_rbp_and_its_residual_equal_those_of_a_loop(collection, p):
    qrels, ranked = collection
    judged = rank_run(Judgments.read(qrels), open_source(ranked, "run"), Policy())
    names = (f"RBP(p={p}, max_grade=query)", f"RBPResidual(p={p}, tail=unjudged)")
    found = [parse_measure(name)(judged).tolist() for name in names]
    for place in range(len(judged)):
        rows = judged.only(place)
        grades = dict(zip(rows.rank.tolist(), rows.grade.tolist(), strict=True))
        top = max(1.0, rows.judged_grades.max(initial=0.0))
        gained, unjudged, weight = 0.0, 0.0, 1.0
        for rank in range(1, int(rows.retrieved[0]) + 1):
            grade = grades.get(rank, -1.0)
            if grade > 0:
                gained += grade / top * weight
            if grade < 0:
                unjudged += weight
            weight *= p
        assert found[0][place] == (1 - p) * gained
        assert found[1][place] == (weight + (1 - p) * unjudged if unjudged else 0)


def test_a_grade_of_minus_zero_is_zero(call):
    assert call("-q -n -m relstring qrels run", "1 0 a -0\n1 0 b 1\n", RUN)[1] == lines_of(("relstring", 1, "'10'"))
