"""Other tools, asked in their own words: each function gives the value of every query that the tool reports."""

import shutil

import numpy as np
import pytest


def trec_eval_9(name, qrels, run, *, rel=1, judged_only=False):
    """trec_eval 9 inside pytrec_eval; `name` as on its command line: "P.5", "map", "set_F.4"."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=rel, judged_docs_only_flag=judged_only)
    return {query: next(iter(values.values())) for query, values in evaluator.evaluate(run).items()}


def ir_measures(name, qrels, run):
    library = pytest.importorskip("ir_measures")
    if isinstance(run, list):
        run = [library.ScoredDoc(*row) for row in run]
    measure = library.parse_measure(name)
    return {each.query_id: each.value for each in library.iter_calc([measure], qrels, run)}


def gdeval(name, qrels, run):
    """gdeval, a Perl script that ir_measures calls."""
    if shutil.which("perl") is None:
        pytest.skip("gdeval needs Perl")
    return ir_measures(name, qrels, run)


def ir_measures_aggregate(name, qrels, run):
    library = pytest.importorskip("ir_measures")
    return next(iter(library.calc_aggregate([library.parse_measure(name)], qrels, run).values()))


def ranx(name, qrels, run):
    """ranx's own objects. Compiling takes it a minute, so numba is told to let the functions be Python."""
    pytest.importorskip("numba").config.DISABLE_JIT = True
    library = pytest.importorskip("ranx")
    judged, ranked = library.Qrels(qrels), library.Run(run)
    with np.errstate(all="ignore"):  # as in its compiled form
        library.evaluate(judged, ranked, name)
    return {query: float(value) for query, value in ranked.scores[name].items()}


def scikit_learn(name, qrels, run, **options):
    """A ranking as scikit-learn sees it: the grades and the scores of the documents retrieved, and no others."""
    metrics = pytest.importorskip("sklearn.metrics")
    values = {}
    for query, ranking in run.items():
        grades = [qrels[query].get(document, 0) for document in ranking]
        rows = (grades, list(ranking.values()))
        if name != "average_precision_score":  # the others take many rankings at once
            rows = tuple([row] for row in rows)
        values[query] = float(getattr(metrics, name)(*rows, **options))
    return values
