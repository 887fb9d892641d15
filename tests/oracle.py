"""The expected value of every measure, by naive loops straight from the definitions: one for each, in `ORACLES`.

Nothing here is shared with the package. The loops are in oracle_relevance.py, oracle_gains.py and oracle_users.py.

A ranking is the list of its documents' grades in rank order: None for an unjudged document, a negative number for one
that was pooled but not judged. `judged` are the grades of all judged documents of the query, retrieved or not.
"""

from tests.oracle_gains import (
    binary_gain,
    dcg,
    gain_of,
    ideal_gains,
    misplaced_gain,
    ndcg,
    ndcg_rel,
    q_measure,
    r_ndcg,
    scaled_dcg,
)
from tests.oracle_relevance import (
    accuracy,
    ap_with_denominator,
    average_precision,
    bpref,
    eleven_points,
    f_measure,
    inf_ap,
    interpolated_precision,
    judged_share,
    n_found,
    n_relevant,
    pair_accuracy,
    precision,
    precision_at_recall,
    r_precision_multiple,
    recall,
    reciprocal_rank,
    relative_precision,
    set_f,
    success,
    utility,
    yaap,
)
from tests.oracle_users import compatibility, err, insq, nerr, rbp, rbp_residual, u_measure, user_model


def _worth(grade):
    """The order in ties: by grade, then those that were only pooled, and last those without a judgment."""
    return -2 if grade is None else -1 if grade < 0 else grade


def rank(scores, grades, ties="doc_id"):
    """The documents of a ranking, best first, by a plain sort."""
    order = list(scores)
    if ties == "smaller_doc_id":
        order.sort(key=lambda d: d.encode())
    elif ties in ("doc_id", "expected"):  # of a mean over all orders, one is shown
        order.sort(key=lambda d: d.encode(), reverse=True)
    elif ties in ("best", "worst"):
        order.sort(key=lambda d: d.encode(), reverse=True)
        order.sort(key=lambda d: _worth(grades.get(d)), reverse=ties == "best")
    return sorted(order, key=lambda d: -scores[d])  # sorted() is stable


ORACLES = {
    "INSQ": user_model(lambda i, gain, all_, T=1: insq(i, T)),
    "INST": user_model(lambda i, gain, all_, T=1: ((i + 2 * T - all_ - 1) / (i + 2 * T - all_)) ** 2),
    "BPM": user_model(lambda i, gain, all_, cutoff, T=1: float(all_ < T and i < cutoff)),
    "NERR8": user_model(lambda i, gain, all_, cutoff: (1 - gain) * (i < cutoff)),
    "NERR9": user_model(lambda i, gain, all_, cutoff: i / (i + 1) * (1 - gain) * (i < cutoff)),
    "NERR10": user_model(lambda i, gain, all_, p=0.9: p * (1 - gain)),
    "TBG": user_model(lambda i, gain, all_, h=224: 2 ** (-1 / h), "total"),
    "U": u_measure,
    "NERR11": user_model(lambda i, gain, all_, T=1: insq(i, T) * (1 - gain)),
    "Compat": compatibility,
    "NumQ": lambda ranking, judged: 1,
    "NumRet": lambda ranking, judged: len(ranking),
    "NumRel": lambda ranking, judged, *, rel=1: n_relevant(judged, rel),
    "NumRelRet": lambda ranking, judged, *, rel=1: n_found(ranking, rel),
    "NumNonRelRet": lambda ranking, judged, *, rel=1: sum(g is not None and 0 <= g < rel for g in ranking),
    "Judged": judged_share,
    "Unjudged": lambda ranking, judged, *, cutoff: sum(g is None or g < 0 for g in ranking[:cutoff]) / cutoff,
    "SetP": lambda ranking, judged, *, rel=1: n_found(ranking, rel) / len(ranking) if ranking else 0,
    "SetR": lambda ranking, judged, *, rel=1: recall(ranking, judged, cutoff=None, rel=rel),
    "SetF": set_f,
    "E": lambda ranking, judged, *, beta=1, rel=1: 1 - set_f(ranking, judged, beta=beta, rel=rel),
    "SetRelP": lambda ranking, judged, *, rel=1: relative_precision(ranking, judged, cutoff=len(ranking), rel=rel),
    "SetAP": lambda ranking, judged, *, rel=1: (
        n_found(ranking, rel) ** 2 / (len(ranking) * n_relevant(judged, rel))
        if ranking and n_relevant(judged, rel)
        else 0
    ),
    "Utility": utility,
    "Accuracy": accuracy,
    "P": precision,
    "R": recall,
    "F": f_measure,
    "AP": ap_with_denominator,
    "GMAP": average_precision,
    "RR": reciprocal_rank,
    "Rprec": r_precision_multiple,
    "RelP": relative_precision,
    "R_cap": relative_precision,
    "Hits": lambda ranking, judged, *, cutoff, rel=1: n_found(ranking[:cutoff], rel),
    "Success": success,
    "YAAP": yaap,
    "PairAccuracy": pair_accuracy,
    "IPrec": interpolated_precision,
    "IAP": eleven_points,
    "PrecAtRecall": precision_at_recall,
    "CG": lambda ranking, judged, *, cutoff=None, gain="linear": sum(gain_of(g, gain) for g in ranking[:cutoff]),
    "DCG": lambda ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all": dcg(
        [gain_of(grade, gain) for grade in ranking[:cutoff]], base, discount
    ),
    "IDCG": lambda ranking, judged, *, cutoff=None, gain="linear", base=2, discount="all": dcg(
        ideal_gains(judged, gain)[:cutoff], base, discount
    ),
    "nDCG": ndcg,
    "SDCG": scaled_dcg,
    "binG": binary_gain,
    "G": misplaced_gain,
    "nDCGrel": ndcg_rel,
    "RnDCG": r_ndcg,
    "Q": q_measure,
    "RBP": rbp,
    "RBPResidual": rbp_residual,
    "ERR": err,
    "nERR": nerr,
    "Bpref": bpref,
    "GMBpref": bpref,
    "Bpref10": lambda ranking, judged, *, rel=1: bpref(ranking, judged, rel=rel, extra=10),
    "infAP": inf_ap,
}


def value(measure, ranking, judged):
    """The expected value of a parsed measure."""
    parameters = dict(measure.parameters)
    if parameters.pop("judged_only", False):
        ranking = [grade for grade in ranking if grade is not None and grade >= 0]
    return ORACLES[measure.definition.name](ranking, judged, **parameters)


def values(measure, qrels, run, ties="doc_id", depth=None):
    """The expected value for every judged query of dicts of dicts."""
    found = {}
    for query, grades in qrels.items():
        order = rank(run.get(query, {}), grades, ties)[:depth]
        found[query] = value(measure, [grades.get(document) for document in order], list(grades.values()))
    return found
