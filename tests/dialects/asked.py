"""Other tools asked directly: {name: {query: value}} of every query that they count, or {name: mean}."""

import math

import numpy as np
import pytest

from tests import peers
from tests.dialects.oracle import own_threshold


def as_lists(qrels, run):
    """(query, grades by document, documents best first) of the queries that the tool is given."""
    for query, ranking in run.items():
        if query in qrels:
            yield query, qrels[query], sorted(ranking, key=lambda document: -ranking[document])


def pytrec_eval(names, qrels, run):
    return {name: value for rel in (1, 2) for name, value in _at_level(names, qrels, run, rel).items()}


def _at_level(names, qrels, run, rel):
    """The names that are told this lowest relevant grade, or 1 if none."""
    level = f" (relevance_level={rel})"
    wanted = {
        name.removesuffix(level): name for name in names if name.endswith(level) or (rel == 1 and "=" not in name)
    }
    # It reads ndcg_cut.5 and prints ndcg_cut_5; iprec_at_recall.0.35 likewise.
    asked = {name.rpartition("_")[0] + "." + name.rpartition("_")[2] if _ends(name) else name for name in wanted}
    found = peers.trec_eval_9_values(asked, qrels, run, rel=rel)
    return {wanted[name]: {query: values[name] for query, values in found.items()} for name in wanted}


def _ends(name):
    return name.rpartition("_")[2].replace(".", "").isdigit()


def ir_measures(names, qrels, run):
    condensed = peers.ir_measures_values(names, qrels, run)
    return {name: {q: value for (its, q), value in condensed.items() if its == name} for name in names}


def ranx(names, qrels, run):
    return peers.ranx_values(names, qrels, run)


def scikit_learn(names, qrels, run):
    metrics = pytest.importorskip("sklearn.metrics")
    found = {name: {} for name in names}
    for query, ranking in run.items():
        if query not in qrels:
            continue
        rows = [qrels[query].get(document, 0) for document in ranking], list(ranking.values())
        binary = [int(grade > 0) for grade in rows[0]]
        for name in names:
            called, _, k = name.rstrip(")").partition("(k=")
            if called == "average_precision_score":
                value = metrics.average_precision_score(binary, rows[1]) if any(binary) else 0.0
            elif called == "label_ranking_average_precision_score":
                value = metrics.label_ranking_average_precision_score([binary], [rows[1]])
            else:
                value = getattr(metrics, called)([rows[0]], [rows[1]], **({"k": int(k)} if k else {}))
            found[name][query] = float(value)
    return found


def torchmetrics(names, qrels, run):
    torch = pytest.importorskip("torch")
    library = pytest.importorskip("torchmetrics.functional.retrieval")
    functions = {
        "RetrievalNormalizedDCG": library.retrieval_normalized_dcg,
        "RetrievalMAP": library.retrieval_average_precision,
        "RetrievalMRR": library.retrieval_reciprocal_rank,
        "RetrievalPrecision": library.retrieval_precision,
        "RetrievalRecall": library.retrieval_recall,
        "RetrievalHitRate": library.retrieval_hit_rate,
        "RetrievalRPrecision": library.retrieval_r_precision,
    }
    found = {name: {} for name in names}
    for query, ranking in run.items():
        if query not in qrels:
            continue
        grades = torch.tensor([qrels[query].get(document, 0) for document in ranking])
        scores = torch.tensor(list(ranking.values()), dtype=torch.float32)
        for name in names:
            called, _, options = name.rstrip(")").partition("(")
            pairs = dict(option.split("=") for option in options.split(", ") if option)
            options = {key: value == "True" if key == "adaptive_k" else int(value) for key, value in pairs.items()}
            target = grades if called == "RetrievalNormalizedDCG" else grades > 0
            value = functions[called](scores, target, **options) if (grades > 0).any() else 0.0
            found[name][query] = float(value)
    return found


def sentence_transformers(names, qrels, run):
    evaluation = pytest.importorskip("sentence_transformers.evaluation")
    documents = {document: "" for ranking in run.values() for document in ranking}
    relevant = {query: {d for d, grade in judged.items() if grade > 0} for query, judged in qrels.items()}
    ks = sorted({int(name.partition("@")[2]) for name in names})
    evaluator = evaluation.InformationRetrievalEvaluator(
        dict.fromkeys(qrels, ""),
        documents,
        relevant,
        mrr_at_k=ks,
        ndcg_at_k=ks,
        accuracy_at_k=ks,
        precision_recall_at_k=ks,
        map_at_k=ks,
    )
    kept, found = list(evaluator.queries_ids), {name: {} for name in names}
    for query in kept:
        evaluator.queries_ids = evaluator.queries = [query]
        hits = [{"corpus_id": document, "score": score} for document, score in run.get(query, {}).items()]
        values = evaluator.compute_metrics([hits])
        for name in names:
            called, _, k = name.removeprefix("cosine_").partition("@")
            found[name][query] = float(values[f"{called}@k"][int(k)])
    return found


def llama_index(names, qrels, run):
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    found = {name: {} for name in names}
    for query, judged, documents in as_lists(qrels, run):
        expected = [document for document, grade in judged.items() if grade > 0]
        for name in names if expected else ():
            metric = metrics.METRIC_REGISTRY[name]()
            found[name][query] = metric.compute(expected_ids=expected, retrieved_ids=documents).score
    return found


def spark(names, qrels, run, context):
    """{name: mean}."""
    from pyspark.mllib.evaluation import RankingMetrics

    rows = [
        (documents, [d for d, grade in judged.items() if grade > 0]) for _, judged, documents in as_lists(qrels, run)
    ]
    metrics = RankingMetrics(context.parallelize(rows, 2))
    found = {}
    for name in names:
        called, _, k = name.rstrip(")").partition("(")
        value = getattr(metrics, called)
        found[name] = float(value(int(k)) if k else value)
    return found


def open_search(names, qrels, run):
    """Not asked, since it is a server: written from the code of its Search Relevance Workbench."""
    found = {name: {} for name in names}
    for query, judged in qrels.items():
        ranking = run.get(query, {})
        documents = sorted(ranking, key=lambda document: -ranking[document])
        least = own_threshold(judged.values())
        for name in names:
            called, _, k = name.replace(" of the first ", "@").partition("@")
            k = int(k) if k else len(documents)
            top = documents[:k]
            hits = [judged.get(document, 0) > 0 and judged[document] >= least for document in top]
            relevant = sum(grade > 0 and grade >= least for grade in judged.values())
            gains, best = ([judged.get(d, 0) for d in top], sorted(judged.values(), reverse=True)[:k])
            precisions = [sum(hits[:at]) / at for at, hit in enumerate(hits, 1) if hit]
            value, of = {
                "Precision": (sum(hits), len(top)),
                "Recall": (sum(hits), relevant),
                "MAP": (sum(precisions), relevant),
                "MRR": (max((1 / at for at, hit in enumerate(hits, 1) if hit), default=0), 1),
                "NDCG": (dcg(gains), dcg(best)),
                "DCG": (dcg(gains), 1),
                "Coverage": (sum(document in judged for document in top), len(top)),
            }[called]
            found[name][query] = math.floor(value / of * 100 + 0.5) / 100 if of else 0.0
    return found


def elasticsearch(names, qrels, run):
    """Not asked, since it is a server: written from the code of its ranking evaluation."""
    found = {name: {} for name in names}
    for query, judged in qrels.items():
        ranking = run.get(query, {})
        documents = sorted(ranking, key=lambda document: -ranking[document])
        for name in names:
            called, _, options = name.rstrip(")").partition("(")
            given = dict(option.split("=") for option in options.split(", "))
            grades = [judged.get(document, 0) for document in documents[: int(given["k"])]]
            hits = [grade >= 1 for grade in grades]
            value, of = sum(hits), len(hits)
            if called == "recall":
                of = sum(grade >= 1 for grade in judged.values())
            elif called == "mean_reciprocal_rank":
                value, of = max((1 / at for at, hit in enumerate(hits, 1) if hit), default=0), 1
            elif called == "dcg":
                best = sorted(judged.values(), reverse=True)[: len(grades)]
                value, of = dcg(grades), dcg(best) if "normalize" in given else 1
            elif called == "expected_reciprocal_rank":
                value, of, goes_on = 0, 1, 1
                for at, grade in enumerate(grades, 1):
                    stops = (2**grade - 1) / 2 ** int(given["maximum_relevance"])
                    value, goes_on = value + goes_on * stops / at, goes_on * (1 - stops)
            found[name][query] = value / of if of else 0.0
    return found


def dcg(grades):
    return sum((2**grade - 1) / math.log2(at + 1) for at, grade in enumerate(grades, 1))


def means(found):
    return {name: float(np.mean(list(values.values()))) for name, values in found.items()}
