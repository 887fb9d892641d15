"""Deliberate differences from other tools: one table, tested row by row, from which a page is made."""

import math
from typing import Any, NamedTuple

from cranfield import evaluate_like, known_dialects
from tests import peers

TE9, TE10, IRM, RANX, SKLEARN = "trec_eval 9", "trec_eval 10", "ir_measures", "ranx", "scikit-learn"
GDEVAL, IRM_GDEVAL, CWL, BEIR = "gdeval", "gdeval in ir_measures", "cwl-eval", "BEIR"
SAMPLE_EVAL = "sample_eval"

# Tools that the tests can run. The values of the others are worked out from their rules.
ASKED = {
    TE9: peers.trec_eval_9,
    IRM: peers.ir_measures,
    IRM_GDEVAL: peers.gdeval,
    RANX: peers.ranx,
    SKLEARN: peers.scikit_learn,
}


class Difference(NamedTuple):
    """One row. A value is the mean over the queries that the tool counts, or the name of an error."""

    peer: str
    what: str
    asked: str  # the measure's name in the other tool
    measure: str  # our name for it
    qrels: dict[str, dict[str, float]]
    run: Any
    theirs: float | str
    ours: float | str
    why: str


class FusionDifference(NamedTuple):
    """One row about fusing. Values are by document, or the name of an error."""

    what: str
    asked: dict[str, Any]  # the arguments of ranx.fuse
    method: str
    runs: tuple[dict[str, dict[str, float]], ...]
    theirs: dict[str, float] | str
    ours: dict[str, float]
    why: str


ONE = {"q": {"a": 1}}
PAIR = {"q": {"a": 1, "b": 0}}
TWO_QUERIES, ONE_ANSWERED = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}}
TIE = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
ORDERED = {"q": {"a": 2.0, "b": 1.0}}
FINE, FINE_RUN = {"q": {"a": 1.9, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
SET = {"q": {"a": 1, "b": 1, "z": 1, "d": 0}}
SET_RUN = {"q": {"a": 9.0, "b": 8.0, "d": 7.0, "c": 6.0, "u": 5.0}}
CURVE = {"q": {"a": 1, "b": 1, "c": 1, "x": 0}}
CURVE_RUN = {"q": {"a": 9.0, "x": 8.0, "y": 7.0, "b": 6.0, "w": 5.0, "v": 4.0, "c": 3.0}}
GRADED = {"q": {"a": 1, "b": 2, "c": 3, "d": 0}}
GRADED_RUN = {"q": {"a": 9.0, "b": 8.0, "d": 7.0, "c": 6.0, "u": 5.0}}

TENTHS = {"q": {f"d{n:02}": 1 for n in range(10)}}
TENTHS_RUN = {"q": {f"d{n:02}": 20.0 - n for n in range(20)}}

DIFFERENCES = [
    Difference(
        *(TE9, "32-bit scores", "recip_rank", "RR", PAIR, {"q": {"a": 16777217.0, "b": 16777216.0}}, 0.5, 1.0),
        "It keeps 32 bits of a score, in which these two are tied, up to 9.0.7 and the first 9.0.8, and so does "
        "pytrec_eval. We keep 64, as later versions do.",
    ),
    Difference(
        *(TE9, "queries missing from the run", "recip_rank", "RR", TWO_QUERIES, ONE_ANSWERED, 1.0, 0.5),
        "It leaves them out of the mean. We count 0, so that not answering never pays; Policy(missing='skip') leaves "
        "them out.",
    ),
    Difference(
        *(TE9, "the parameter of F", "set_F.4", "SetF(beta=4)", SET, SET_RUN, 0.588235, 0.641509),
        "Its parameter is β². Ours is β, as in the formula: SetF(beta=2) gives its value.",
    ),
    Difference(
        *(TE9, "recall levels", "iprec_at_recall.0.35", "IPrec@0.35", CURVE, CURVE_RUN, 1.0, 0.5),
        "A recall of 0.35 of 3 documents takes 2, the ceiling of 1.05. It adds 0.9 and rounds down, which makes 1; "
        "rule=trec9 does the same.",
    ),
    Difference(
        *(TE9, "recall levels in floating point", "iprec_at_recall.0.70", "IPrec@0.7", CURVE, CURVE_RUN, 0.5, 0.428571),
        "A recall of 0.7 of 3 documents takes 3. With its 0.9 the 2.1 becomes a little less than 3, and so 2.",
    ),
    Difference(
        *(TE9, "grades that are not whole", "ndcg", "nDCG", FINE, FINE_RUN, "TypeError", 0.868758),
        "pytrec_eval refuses them. Grades may be any number here.",
    ),
    Difference(
        *(TE9, "a threshold for gains", "Rndcg -l 2", "RnDCG", ONE, {"q": {"a": 1.0}}, 0.0, 1.0),
        "A query without a document of the level scores 0 there, though the level plays no other part in a measure of "
        "gains. It plays none here.",
    ),
    Difference(
        *(TE9, "nothing left to rank", "iprec_at_recall.0.0 -J", "IPrec(judged_only=True)@0", ONE, {"q": {"u": 1.0}}),
        *(math.nan, 0.0),
        "It divides 0 by 0, as trec_eval 10 does, and the mean becomes NaN. A ranking without documents has no "
        "precision: 0.",
    ),
    Difference(
        *(TE9, "the geometric mean, query by query", "gm_map", "GMAP", {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}),
        *(-0.693147, 0.5),
        "There the value of a query is its logarithm, and pytrec_eval leaves the mean to its user. Ours is the "
        "value itself, and the mean over queries is geometric.",
    ),
    Difference(
        *(TE10, "queries missing from the run", "recip_rank", "RR", TWO_QUERIES, ONE_ANSWERED, "exit 4", 0.5),
        "It stops without -c, and counts 0 with it. We count 0.",
    ),
    Difference(
        *(TE10, "grades that are not whole", "ndcg", "nDCG", FINE, FINE_RUN, 1.0, 0.868758),
        "It reads 1.9 as 1. Grades may be any number here.",
    ),
    Difference(
        *(TE10, "recall levels", "iprec_at_recall_0.40", "IPrec@0.4", CURVE, CURVE_RUN, 1.0, 0.5),
        "It rounds 1.2 documents to 1, and so gives the precision at a lower recall than was asked for. We take the "
        "ceiling; rule=trec10 rounds.",
    ),
    Difference(
        *(TE10, "recall levels, all eleven", "11pt_avg", "IAP", CURVE, CURVE_RUN, 0.714286, 0.655844),
        "The same rule.",
    ),
    Difference(
        *(TE10, "RBP: p and the gain", "rbp", "RBP", GRADED, GRADED_RUN, 0.166233, 0.4624),
        "It has p = 0.9 and the gain grade / highest grade of the query. Ours are p = 0.8 and 1 for what is relevant; "
        "RBP(p=0.9, max_grade=query) is its measure.",
    ),
    Difference(
        *(TE10, "RBP: the residual", "rbp_resid", "RBPResidual(p=0.9)", PAIR, ORDERED, 0.0, 0.81),
        "What is below the end of a ranking is unknown, and belongs to the residual (Moffat & Zobel 2008). It "
        "leaves that out where all that was retrieved is judged.",
    ),
    Difference(
        *(
            TE10,
            "RBP: the residual of a missing query",
            "rbp_resid -c",
            "RBPResidual(p=0.9)",
            TWO_QUERIES,
            ONE_ANSWERED,
        ),
        *(0.0, 0.95),
        "It sets a missing query to 0, which says that nothing is unknown. Nothing is known of it: 1.",
    ),
    Difference(
        *(TE10, "share judged of a short ranking", "1 - unj_5", "Judged@5", ONE, ORDERED, 0.8, 0.5),
        "It counts ranks below the end as judged. We divide by the documents that are there; Unjudged@5 is its unj_5.",
    ),
    Difference(
        *(TE10, "counting relevant documents", "num_rel -c -l 2", "NumRel(rel=2)", {"q": {"a": 2, "b": 1}}, ORDERED),
        *(2.0, 1.0),
        "With -c it forgets the threshold.",
    ),
    Difference(
        *(TE10, "a score that is not a number", "recip_rank", "RR", PAIR, b"q Q0 a 1 abc t\nq Q0 b 2 -1 t\n"),
        *(1.0, "InputError"),
        "It reads 0. We name the line.",
    ),
    Difference(
        *(TE10, "a query with negative grades only", "map", "AP", {"q": {"a": -1}}, ORDERED, "exit 4", 0.0),
        "It stops, and pytrec_eval crashes. The query has no relevant document and counts 0.",
    ),
    Difference(
        *(IRM, "ties at a cutoff", "RR@10", "RR@10", ONE, TIE, 1.0, 0.333333),
        "RR is computed with one tie rule and RR@k with another, the smaller id first. Ours is the same for all: the "
        "larger first, as in trec_eval.",
    ),
    Difference(
        *(IRM, "ties in Judged", "Judged@1", "Judged@1", ONE, TIE, 1.0, 0.0),
        "The same: the smaller id first.",
    ),
    Difference(
        *(IRM, "ties in Compat", "Compat", "Compat(depth=rankings)", ONE, TIE, 1.0, 0.169404),
        "The same: the smaller id first.",
    ),
    Difference(
        *(IRM, "the depth of Compat", "Compat", "Compat", {"q": {"a": 1, "c": 1}}, ORDERED, 0.75641, 0.594219),
        "It measures the overlap down to the end of the longer of the two rankings. We go down to rank 1,000, as the "
        "program of the authors does, so that a document that is missing counts at all ranks below, too; "
        "Compat(depth=rankings) is its value.",
    ),
    Difference(
        *(IRM, "Compat of negative scores", "Compat", "Compat(depth=rankings)", {"q": {"a": 1, "b": 1}}),
        *({"q": {"a": -2.0}}, 0.24359, 0.75641),
        "In its ideal ranking a document that is not retrieved has the score 0, and stands above one with a negative "
        "score. Ours has those of equal grade in the order of the ranking, and what it lacks last.",
    ),
    Difference(
        *(IRM, "negative grades in Judged", "Judged@2", "Judged@2", {"q": {"a": 1, "b": -1}}, ORDERED, 1.0, 0.5),
        "A negative grade means pooled, not judged, as in trec_eval. It counts as judged there, and here with "
        "Policy(negative='nonrelevant').",
    ),
    Difference(
        *(IRM, "the parameter of F", "SetF(beta=4.0)", "SetF(beta=4)", SET, SET_RUN, 0.588235, 0.641509),
        "It hands its beta to trec_eval, where it is β². Ours is β.",
    ),
    Difference(
        *(IRM, "recall levels", "IPrec@0.35", "IPrec@0.35", CURVE, CURVE_RUN, 1.0, 0.5),
        "It has the rule of trec_eval 9; we take the ceiling.",
    ),
    Difference(
        *(IRM, "what a missing query counts", "NumRel", "NumRel", TWO_QUERIES, ONE_ANSWERED, 1.0, 2.0),
        "Its relevant documents do not vanish because the run lacks the query.",
    ),
    Difference(
        *(IRM, "the number of queries", "NumQ", "NumQ", TWO_QUERIES, ONE_ANSWERED, 1.0, 2.0),
        "It counts those answered, and yet divides by all. Ours is the number averaged over.",
    ),
    Difference(
        *(IRM, "Accuracy", "Accuracy@10", "Accuracy(documents=3)", PAIR, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}),
        *(1.0, 0.333333),
        "Theirs is the share of pairs in the right order, PairAccuracy here. Ours is the classifier's: what was "
        "rightly retrieved or left out.",
    ),
    Difference(
        *(IRM, "a document twice", "AP", "AP", {"q": {"a": 1, "b": 1}}),
        *([("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)], 1.0, "InputError"),
        "The last one silently wins there. It is a mistake in the run, and we name it; Policy(duplicates=…) keeps one.",
    ),
    Difference(
        *(IRM, "grades that are not whole", "nDCG@10", "nDCG@10", FINE, FINE_RUN, "TypeError", 0.868758),
        "Grades may be any number here.",
    ),
    Difference(
        *(IRM_GDEVAL, "decimals", "ERR@10", "ERR@10", {"1": {"a": 1, "b": 3}}, {"1": {"a": 2.0, "b": 1.0}}),
        *(0.26758, 0.267578),
        "Values come back from its printed output, with five decimals.",
    ),
    Difference(
        *(
            IRM_GDEVAL,
            "grades above 4",
            "ERR@10",
            "ERR@10",
            {"1": {"a": 5}},
            {"1": {"a": 2.0}},
            "CalledProcessError",
            1.0,
        ),
        "It takes no higher grade. Here such a document satisfies everybody; max_grade=5 makes room for it.",
    ),
    Difference(
        *(GDEVAL, "a document twice", "ndcg@20", "nDCG(gain=exponential)@20", {"1": {"a": 1}}),
        *([("1", "a", 2.0), ("1", "a", 1.0)], 1.63093, "InputError"),
        "It counts it twice, and nDCG exceeds 1.",
    ),
    Difference(
        *(GDEVAL, "queries without relevant documents", "ndcg@20", "nDCG(gain=exponential)@20"),
        *({"1": {"a": 1}, "2": {"b": 0}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}, 1.0, 0.5),
        "It leaves them out. They count 0 here, and the counts beside every result say how many there are.",
    ),
    Difference(
        *(
            RANX,
            "Bpref without irrelevant documents",
            "bpref",
            "Bpref",
            {"q": {"a": 1, "b": 1}},
            ORDERED,
            math.nan,
            1.0,
        ),
        "It divides by 0. No irrelevant document is ranked above a relevant one: 1, as in trec_eval.",
    ),
    Difference(
        *(RANX, "Bpref of negative grades", "bpref", "Bpref", {"q": {"a": 1, "d": 1, "b": -1, "c": 0}}),
        *({"q": {"b": 2.0, "a": 1.0}}, 0.25, 0.5),
        "It counts them as judged and not relevant. A negative grade means pooled, not judged.",
    ),
    Difference(
        *(RANX, "RBP of grades", "rbp.90", "RBP(p=0.9)", {"q": {"a": 1, "b": 2, "c": 3}}),
        *({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, 0.523, 0.271),
        "Its gain is the grade itself, so that values may exceed 1. Ours is 1 for a relevant document.",
    ),
    Difference(
        *(
            RANX,
            "the persistence of RBP in its name",
            "rbp.50",
            "rbp.50",
            {"q": {"a": 1}},
            ORDERED,
            0.5,
            "MeasureError",
        ),
        "Its rbp.50 and rbp@50 are RBP(p=0.5). Elsewhere the number is a cutoff, so we ask for one or the other.",
    ),
    Difference(
        *(RANX, "ties", "mrr", "RR", {"q": {"a": 1, "b": 0, "c": 0}}, TIE, 1.0, 0.333333),
        "Ties keep the order of the dict there, in short rankings. Ours do not depend on how the run was written.",
    ),
    Difference(
        *(RANX, "queries missing from the run", "mrr", "RR", TWO_QUERIES, ONE_ANSWERED, "AssertionError", 0.5),
        "It refuses, unless make_comparable=True. We count 0, and say how many.",
    ),
    Difference(
        *(RANX, "a threshold for nDCG", "ndcg@3-l2", "ndcg@3-l2", {"q": {"a": 1, "b": 2, "c": 3}}),
        *({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, 0.648041, "MeasureError"),
        "Grades below the threshold gain nothing there. Our nDCG has gains instead of a threshold.",
    ),
    Difference(
        *(RANX, "grades that are not whole", "ndcg", "nDCG", FINE, FINE_RUN, 1.0, 0.868758),
        "It reads 1.9 as 1.",
    ),
    Difference(
        *(SKLEARN, "the ideal ranking", "ndcg_score", "nDCG", {"q": {"a": 1, "b": 0, "c": 3}}, ORDERED, 1.0, 0.275412),
        "It knows only the documents it is given, so the best one, which was not retrieved, is not missed. Our ideal "
        "ranking is that of all judged documents.",
    ),
    Difference(
        *(SKLEARN, "ties in nDCG", "ndcg_score", "nDCG", PAIR, {"q": {"a": 1.0, "b": 1.0}}, 0.815465, 0.63093),
        "It takes the mean over all orders of a tie. By default we have one order, the same for all "
        "measures; Policy(ties='expected') gives its value.",
    ),
    Difference(
        *(SKLEARN, "relevant documents not retrieved", "average_precision_score", "AP"),
        *({"q": {"a": 1, "b": 0, "c": 1}}, ORDERED, 1.0, 0.5),
        "It averages over the relevant documents it is given. One that is not retrieved counts 0 here.",
    ),
    Difference(
        *(SKLEARN, "ties in AP", "average_precision_score", "AP", {"q": {"a": 0, "b": 1}}, {"q": {"a": 1.0, "b": 1.0}}),
        *(0.5, 1.0),
        "There, all tied documents have the last rank of the tie. Here the larger id comes first.",
    ),
    Difference(
        *(SKLEARN, "queries without relevant documents", "label_ranking_average_precision_score", "AP"),
        *({"q": {"a": 0, "b": 0}}, ORDERED, 1.0, 0.0),
        "It calls any order of nothing perfect. Such a query counts 0 here, and is counted.",
    ),
    Difference(
        *(SKLEARN, "negative grades", "ndcg_score", "nDCG", {"q": {"a": 1, "b": -1}}, ORDERED, "ValueError", 1.0),
        "A negative grade means pooled, not judged, and gains nothing.",
    ),
    Difference(
        *(SKLEARN, "a single document", "ndcg_score", "nDCG", ONE, {"q": {"a": 1.0}}, "ValueError", 1.0),
        "It refuses a ranking of one document, which a search may well return.",
    ),
    Difference(
        *(CWL, "AP as a user model", "AP", "AP", {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0}}, 1.0, 0.5),
        "It divides by the relevant documents retrieved. We divide by all; denominator=found does the same.",
    ),
    Difference(
        *(
            CWL,
            "BPM: gains that are not whole",
            "BPM(T=1, K=20)",
            "BPM(max_grade=10)@20",
            TENTHS,
            TENTHS_RUN,
            0.05,
            0.1,
        ),
        "Ten gains of 0.1 add up to a little less than 1 in floating point, so that its user goes on to the end. Ours "
        "has what was wanted, and stops.",
    ),
    Difference(
        *(CWL, "TBG", "TBG", "TBG", {"q": {"a": 1, "b": 1}}, ORDERED, 0.006462, 1.99691),
        "It divides by what users see in all, as the framework has it. Ours is the gain that is collected, as in the "
        "paper; TBG(view=utility) is its value.",
    ),
    Difference(
        *(CWL, "U", "U-measure(L=1000)", "U(L=1000)", {"q": {"a": 1, "b": 1}}, ORDERED, 0.003994, 1.997),
        "The same, and there a document counts by the text before it. Ours counts by the text to its end, as in the "
        "paper, which has L = 132000; U(L=1000, view=utility) is its value.",
    ),
    Difference(
        *(BEIR, "queries missing from the run", "NDCG@10", "nDCG@10", TWO_QUERIES, ONE_ANSWERED, 1.0, 0.5),
        "It divides by the queries answered. We count 0.",
    ),
    Difference(
        *(BEIR, "the query (q) among its results", "NDCG@10", "nDCG@10", ONE),
        *({"q": {"q": 2.0, "a": 1.0}}, 1.0, 0.63093),
        "It removes a document with the query's id before scoring. Here Policy(same_id='drop') does, and the signature "
        "shows it.",
    ),
    Difference(
        *(SAMPLE_EVAL, "grades of two digits", "infNDCG", "infNDCG", {"q": {"a": 10, "b": 2}}, ORDERED, 1.355331, 1.0),
        "It sorts grades as texts, so that its ideal ranking has 2 before 10. We sort them as numbers.",
    ),
    Difference(
        *(SAMPLE_EVAL, "fractions of documents", "infNDCG", "infNDCG", {"q": {"a": 1, "b": 0, "c": -1}}, ORDERED),
        *(1.0, 0.760188),
        "Each judged document stands for 1.5 documents, so the ideal ranking has 1.5 relevant ones. It drops the half, "
        "which makes means too high. We count it; infNDCG(fractions=dropped) is its value.",
    ),
    Difference(
        *(SAMPLE_EVAL, "queries missing from the run", "infAP", "xinfAP", TWO_QUERIES, ONE_ANSWERED, 1.0, 0.5),
        "It leaves them out of the mean. We count 0; Policy(missing='skip') leaves them out.",
    ),
]

FUSION_DIFFERENCES = [
    FusionDifference(
        *("a list of one document, or of equal scores", {"norm": "min-max", "method": "sum"}, "combsum"),
        ({"q": {"a": 2.0}}, {"q": {"b": 3.0, "c": 1.0}}),
        {"a": 0.0, "b": 1.0, "c": 0.0},
        {"a": 1.0, "b": 1.0, "c": 0.0},
        "It gives such a list 0, as if nothing had been found. Here it gets `constant`, which is 1: constant=0 does "
        "the same as ranx, 0.5 as Vespa and Qdrant.",
    ),
    FusionDifference(
        *("documents of a single run", {"norm": None, "method": "log_isr"}, "log-isr"),
        ({"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1.0}}),
        {"a": 0.0, "b": 0.866434},
        {"a": 0.00995, "b": 0.872668},
        "The logarithm of one run is 0, so all documents that one run alone returns are tied there. Ours is its "
        "logn_isr; sigma=0 does the same.",
    ),
    FusionDifference(
        *("queries that a run lacks", {"norm": None, "method": "rrf"}, "rrf"),
        ({"q": {"a": 2.0}, "p": {"b": 1.0}}, {"q": {"a": 1.0}}),
        "AssertionError",
        {"a": 0.032787},
        "It refuses them. Here they are fused from the runs that have them, and counted.",
    ),
    FusionDifference(
        *("Condorcet", {"norm": None, "method": "condorcet"}, "condorcet"),
        ({"q": {"a": 9.0, "b": 6.0, "c": 3.0}}, {"q": {"b": 0.8, "d": 0.7, "a": 0.2}}),
        "another order with another PYTHONHASHSEED",
        {"a": 1.0, "b": 2.0, "c": 0.0, "d": 0.0},
        "Where votes are tied or go round in a circle, its order depends on that of a set. Ours counts how many "
        "documents each one beats.",
    ),
]

DIALECTS = {TE9: "pytrec_eval", TE10: "trec_eval"}
# What their dialects do not reproduce: means of logarithms, and grades that are cut to whole numbers.
BEYOND = {"the geometric mean, query by query", "grades that are not whole", "a score that is not a number"}


def reproduced(row):
    """Their value as our dialect of the tool has it; None if there is no dialect, or the name is not in it."""
    dialect = known_dialects().get(DIALECTS.get(row.peer, row.peer))
    if dialect is None or isinstance(row.theirs, str) or row.what in BEYOND:
        return None
    if not any(name.reads(row.asked) for name in dialect.names):
        return None
    return evaluate_like(row.qrels, row.run, dialect.name, [row.asked])[row.asked]
