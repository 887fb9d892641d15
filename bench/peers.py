"""One tool, one job, in a separate process: `python bench/peers.py TOOL JOB QRELS RUN`.

Jobs: "file" reads both files and evaluates; "files" does so for all runs of a folder; "dict" and "frame" evaluate what
is already in memory, and print how many seconds that took. "frames" does so for frames of all libraries, and for
pytrec_eval with the same in dicts, and prints the seconds of each as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TREC = {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000"}
OURS = "AP nDCG@10 RR P@10 R@1000"
RANX = ["map", "ndcg@10", "mrr", "precision@10", "recall@1000"]


def dicts(qrels: str, run: str) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    import pytrec_eval

    with open(qrels) as qrels_file, open(run) as run_file:
        return dict(pytrec_eval.parse_qrel(qrels_file)), dict(pytrec_eval.parse_run(run_file))


def columns(qrels: str, run: str) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    judged, ranked = dicts(qrels, run)
    out = []
    for rows, name in ((judged, "relevance"), (ranked, "score")):
        out.append(
            {
                "query_id": [q for q, row in rows.items() for _ in row],
                "doc_id": [d for row in rows.values() for d in row],
                name: [value for row in rows.values() for value in row.values()],
            }
        )
    return out[0], out[1]


def timed(work: Callable[[], Any]) -> None:
    print(seconds(work))


def mean(values: Any) -> dict[str, float]:
    rows = list(values.values())
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def pytrec_eval(job: str, qrels: str, run: str) -> None:
    import pytrec_eval

    judged, ranked = dicts(qrels, run)
    if job == "file":
        print(mean(pytrec_eval.RelevanceEvaluator(judged, TREC).evaluate(ranked)))
    elif job == "dict":
        evaluator = pytrec_eval.RelevanceEvaluator(judged, TREC)
        timed(lambda: evaluator.evaluate(ranked))
    else:
        import pandas

        frame = pandas.DataFrame(columns(qrels, run)[1])

        def work() -> Any:
            again: dict[str, dict[str, float]] = {}
            for query, document, score in zip(frame["query_id"], frame["doc_id"], frame["score"]):
                again.setdefault(query, {})[document] = score
            return pytrec_eval.RelevanceEvaluator(judged, TREC).evaluate(again)

        timed(work)


def ir_measures(job: str, qrels: str, run: str) -> None:
    import ir_measures as irm

    measures = [irm.AP, irm.nDCG @ 10, irm.RR, irm.P @ 10, irm.R @ 1000]
    if job == "file":
        print(irm.calc_aggregate(measures, irm.read_trec_qrels(qrels), irm.read_trec_run(run)))
    elif job == "files":
        evaluator = irm.evaluator(measures, irm.read_trec_qrels(qrels))
        for each in sorted(Path(run).glob("*.run")):
            print(each.name, evaluator.calc_aggregate(irm.read_trec_run(str(each))))
    elif job == "dict":
        judged, ranked = dicts(qrels, run)
        timed(lambda: irm.calc_aggregate(measures, judged, ranked))
    else:
        import pandas

        judged_frame, ranked_frame = map(pandas.DataFrame, columns(qrels, run))
        timed(lambda: irm.calc_aggregate(measures, judged_frame, ranked_frame))


def ranx(job: str, qrels: str, run: str) -> None:
    import ranx as module

    if job == "file":
        judged, ranked = module.Qrels.from_file(qrels, kind="trec"), module.Run.from_file(run, kind="trec")
        print(module.evaluate(judged, ranked, RANX, make_comparable=True))
    elif job == "dict":
        judged, ranked = dicts(qrels, run)
        timed(lambda: module.evaluate(module.Qrels(judged), module.Run(ranked), RANX, make_comparable=True))
    else:
        import pandas

        judged_columns, ranked_columns = columns(qrels, run)
        judged_frame, ranked_frame = pandas.DataFrame(judged_columns), pandas.DataFrame(ranked_columns)
        judged_frame = judged_frame.astype({"query_id": object, "doc_id": object})
        ranked_frame = ranked_frame.astype({"query_id": object, "doc_id": object})
        names = {"q_id_col": "query_id", "doc_id_col": "doc_id"}

        def work() -> Any:
            judged = module.Qrels.from_df(judged_frame, score_col="relevance", **names)
            ranked = module.Run.from_df(ranked_frame, score_col="score", **names)
            return module.evaluate(judged, ranked, RANX, make_comparable=True)

        timed(work)


def cranfield(job: str, qrels: str, run: str) -> None:
    from cranfield import evaluate

    if job == "frames":
        print(json.dumps(frames(qrels, run)))
        return
    judged, ranked = dicts(qrels, run)
    evaluate({"q": {"d": 1}}, {"q": ["d"]}, OURS)  # imports what any evaluation needs, as the others import themselves
    timed(lambda: evaluate(judged, ranked, OURS))


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    result = work()
    took = time.perf_counter() - start
    del result
    return took


def frames(qrels: str, run: str) -> dict[str, float]:
    """The seconds of the first evaluation of each kind of frame, and of pytrec_eval from dicts, in this process."""
    import pytrec_eval

    from cranfield import evaluate

    def made(table: dict[str, list[Any]], kind: str) -> Any:
        library, _, objects = kind.partition(", ")
        module = __import__(library)
        frame = module.table(table) if library == "pyarrow" else module.DataFrame(table)
        return frame.astype({"query_id": object, "doc_id": object}) if objects else frame

    judged, ranked = dicts(qrels, run)
    tables = columns(qrels, run)
    evaluate({"q": {"d": 1}}, {"q": ["d"]}, OURS)  # imports what any evaluation needs, as pytrec_eval is imported above
    found = {}
    for kind in ("polars", "pandas", "pandas, objects", "pyarrow"):
        judged_frame, ranked_frame = (made(table, kind) for table in tables)
        found[kind] = seconds(lambda: evaluate(judged_frame, ranked_frame, OURS))  # noqa: B023
    evaluator = pytrec_eval.RelevanceEvaluator(judged, TREC)
    found["pytrec_eval"] = seconds(lambda: evaluator.evaluate(ranked))
    return found


if __name__ == "__main__":
    tool, job, qrels, run = sys.argv[1:]
    globals()[tool](job, qrels, run)
