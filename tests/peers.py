"""Other tools, with their own measure names: each function returns the value of every query that the tool reports."""

import shutil

import numpy as np
import pytest


def trec_eval_9_values(names, qrels, run, *, rel=1, judged_only=False):
    """{query: {printed name: value}} of trec_eval 9 inside pytrec_eval; names as on its command line: "P.5,10"."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    return pytrec_eval.RelevanceEvaluator(
        qrels, set(names), relevance_level=rel, judged_docs_only_flag=judged_only
    ).evaluate(run)


def trec_eval_9(asked, qrels, run):
    """One measure, perhaps with an option after it: "Rndcg -l 2", "map -J"."""
    name, _, level = asked.removesuffix(" -J").partition(" -l ")
    found = trec_eval_9_values([name], qrels, run, rel=int(level or 1), judged_only=asked.endswith(" -J"))
    return {query: next(iter(values.values())) for query, values in found.items()}


def ir_measures_values(names, qrels, run):
    """{(name, query): value}."""
    library = pytest.importorskip("ir_measures")
    if isinstance(run, list):
        run = [library.ScoredDoc(*row) for row in run]
    measures = {library.parse_measure(name): name for name in names}
    return {(measures[each.measure], each.query_id): each.value for each in library.iter_calc(measures, qrels, run)}


def ir_measures(name, qrels, run):
    return {query: value for (_, query), value in ir_measures_values([name], qrels, run).items()}


def gdeval(name, qrels, run):
    """gdeval, a Perl script that ir_measures calls."""
    if shutil.which("perl") is None:
        pytest.skip("gdeval needs Perl")
    return ir_measures(name, qrels, run)


def ir_measures_aggregate(name, qrels, run):
    library = pytest.importorskip("ir_measures")
    return next(iter(library.calc_aggregate([library.parse_measure(name)], qrels, run).values()))


def ranx_values(names, qrels, run):
    """{name: {query: value}}."""
    library = pytest.importorskip("ranx")
    judged, ranked = library.Qrels(qrels), library.Run(run)
    with np.errstate(all="ignore"):  # as in its compiled form
        library.evaluate(judged, ranked, list(names))
    return ranked.scores


def ranx(name, qrels, run):
    return ranx_values([name], qrels, run)[name]


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
