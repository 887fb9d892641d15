"""Values of tools that are not installed beside us: `python tests/dialects/recording.py xgboost lightgbm …`.

It needs Python with these tools, numpy, and nothing of cranfield; it adds to recorded.json, which test_tools.py reads.
"""

import asyncio
import copy
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

RECORDED = Path(__file__).with_name("recorded.json")


def case():
    """A collection of 200 queries, made once."""
    if not RECORDED.exists():
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from tests.dialects.made import collection

        qrels, run = collection(200, 7, own_id=True)
        RECORDED.write_text(json.dumps({"qrels": qrels, "run": run, "values": {}}), encoding="utf-8")
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def lists(qrels, run):
    for query, ranking in run.items():
        if query in qrels:
            yield query, qrels[query], sorted(ranking, key=lambda document: -ranking[document])


def xgboost(qrels, run):
    import xgboost as library

    found = {}
    for query, judged, _ in lists(qrels, run):
        grades = [judged.get(document, 0) for document in run[query]]
        binary = [int(grade > 0) for grade in grades]
        for labels, names in ((grades, ["ndcg@5", "ndcg@5-"]), (binary, ["pre@5", "map@5", "map@5-"])):
            data = library.DMatrix(np.zeros((len(labels), 1)), label=labels)
            data.set_group([len(labels)])
            data.set_base_margin(np.array(list(run[query].values()), dtype=np.float32))
            options = {"objective": "reg:squarederror", "eval_metric": names, "verbosity": 0}
            for part in library.train(options, data, num_boost_round=0).eval(data).split("\t")[1:]:
                name, value = part.rsplit(":", 1)
                found.setdefault(name.split("-", 1)[1], {})[query] = float(value)
    return "XGBoost", found


def lightgbm(qrels, run):
    import lightgbm as library

    found = {"ndcg@5": {}, "map@5": {}}
    for query, judged, _ in lists(qrels, run):
        labels = [judged.get(document, 0) for document in run[query]]
        scores = np.array(list(run[query].values()))
        data = library.Dataset(np.zeros((len(labels), 1)), label=labels, group=[len(labels)], init_score=scores)
        options = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [5], "verbosity": -1}
        seen = {}
        library.train(
            {**options, "min_data_in_leaf": 10**6},  # no tree: the scores stay as they are
            data,
            num_boost_round=1,
            valid_sets=[data],
            valid_names=["it"],
            callbacks=[library.record_evaluation(seen)],
        )
        for name, values in found.items():
            values[query] = seen["it"][name][-1]
    return "LightGBM", found


def rectools(qrels, run):
    import pandas as pd
    from rectools import Columns, metrics

    ranked = [(query, document, at) for query, _, docs in lists(qrels, run) for at, document in enumerate(docs, 1)]
    liked = [(query, document) for query, judged in qrels.items() for document, grade in judged.items() if grade > 0]
    tables = (
        pd.DataFrame(ranked, columns=[Columns.User, Columns.Item, Columns.Rank]),
        pd.DataFrame(liked, columns=[Columns.User, Columns.Item]),
    )
    asked = [
        *("MAP(k=5)", "MAP(k=5, divide_by_k=True)", "NDCG(k=5)", "NDCG(k=5, divide_by_achievable=True)"),
        *("Precision(k=5)", "Precision(k=5, r_precision=True)", "Recall(k=5)", "HitRate(k=5)", "MRR(k=5)"),
    ]
    called = {name: eval(f"metrics.{name}", {"metrics": metrics}) for name in asked}
    return "RecTools", {name: dict(metric.calc_per_user(*tables).items()) for name, metric in called.items()}


def haystack(qrels, run):
    from haystack import Document
    from haystack.components import evaluators

    truths = [[Document(content=d, score=float(g)) for d, g in judged.items() if g > 0] for judged in qrels.values()]
    answers = [
        [Document(content=d) for d in sorted(run.get(query, {}), key=lambda d: -run[query][d])] for query in qrels
    ]
    recall = evaluators.DocumentRecallEvaluator
    asked = {
        "DocumentMAPEvaluator": evaluators.DocumentMAPEvaluator(),
        "DocumentMRREvaluator": evaluators.DocumentMRREvaluator(),
        "DocumentNDCGEvaluator": evaluators.DocumentNDCGEvaluator(),
        'DocumentRecallEvaluator(mode="single_hit")': recall(mode="single_hit"),
        'DocumentRecallEvaluator(mode="multi_hit")': recall(mode="multi_hit"),
    }
    found = {}
    for name, evaluator in asked.items():
        values = evaluator.run(ground_truth_documents=truths, retrieved_documents=answers)["individual_scores"]
        found[name] = dict(zip(qrels, map(float, values), strict=True))
    return "Haystack", found


def beir(qrels, run):
    from beir.retrieval.evaluation import EvaluateRetrieval

    evaluator = EvaluateRetrieval()
    found = {}
    for values in evaluator.evaluate(qrels, copy.deepcopy(run), [5], ignore_identical_ids=True):
        found |= values
    judged = {query: ranking for query, ranking in run.items() if query in qrels}
    for metric in ("mrr", "acc"):
        found |= evaluator.evaluate_custom(qrels, copy.deepcopy(judged), [5], metric=metric)
    return "BEIR", found


def mteb(qrels, run):
    from mteb._evaluators import retrieval_metrics

    judged = {query: ranking for query, ranking in run.items() if query in qrels}
    result = retrieval_metrics.calculate_retrieval_scores(judged, qrels, [5])
    flat = {name: value for part in result if isinstance(part, dict) for name, value in part.items()}
    ours = {"NDCG": "ndcg", "MAP": "map", "Recall": "recall", "P": "precision", "HitRate": "hit_rate", "MRR": "mrr"}
    return "MTEB", {f"{ours[name]}_at_5": float(flat[f"{name}@5"]) for name in ours}


def ragas(qrels, run):
    import types

    # It imports a module that langchain-community no longer has, for a model that is not asked here.
    stub = types.ModuleType("langchain_community.chat_models.vertexai")
    stub.ChatVertexAI = type("ChatVertexAI", (), {})
    sys.modules.setdefault(stub.__name__, stub)
    from ragas import metrics
    from ragas.dataset_schema import SingleTurnSample

    def text(document):
        return hashlib.sha512(document.encode()).hexdigest()

    asked = [
        getattr(metrics, name)()
        for name in (
            *("NonLLMContextPrecisionWithReference", "NonLLMContextRecall"),
            *("IDBasedContextPrecision", "IDBasedContextRecall"),
        )
    ]
    found = {type(metric).__name__: {} for metric in asked}
    for query, judged, documents in lists(qrels, run):
        relevant = [document for document, grade in judged.items() if grade > 0]
        sample = SingleTurnSample(
            user_input=query,
            retrieved_contexts=list(map(text, documents)),
            reference_contexts=list(map(text, relevant)),
            retrieved_context_ids=documents,
            reference_context_ids=relevant,
        )
        for metric in asked if relevant else ():
            found[type(metric).__name__][query] = float(asyncio.run(metric.single_turn_ascore(sample)))
    return "ragas", found


def rounded(values):
    return {key: rounded(value) if isinstance(value, dict) else round(float(value), 7) for key, value in values.items()}


def main():
    for asked in sys.argv[1:]:
        known = case()
        tool, values = globals()[asked](known["qrels"], copy.deepcopy(known["run"]))
        known["values"][tool] = rounded(values)
        RECORDED.write_text(json.dumps(known) + "\n", encoding="utf-8")
        print(tool, len(values))


if __name__ == "__main__":
    main()
