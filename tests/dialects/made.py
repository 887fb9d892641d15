"""Collections on which conventions differ: ties, short rankings, missing queries, queries with nothing relevant."""

import numpy as np


def collection(
    queries, seed=0, *, highest=3, depth=15, negative=0.0, own_id=False, near=False, complete=False, ties=True, least=1
):
    """{query: {document: grade}} and {query: {document: score}} of so many queries.

    negative: the share of judged documents with grade -1; own_id: whether documents may have the query's id
    near: whether some scores differ only beyond 32 bits; complete: whether both have all queries
    ties: whether scores may be tied; least: how many documents a ranking has at least
    """
    draw = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(queries):
        query = f"q{number}"
        documents = [f"d{at}" for at in draw.permutation(30)]
        if own_id and draw.random() < 0.3:
            documents[int(draw.integers(10))] = query
        judged = draw.choice(30, size=int(draw.integers(1, 14)), replace=False)
        chances = draw.dirichlet(np.ones(highest + 1))
        grades = draw.choice(highest + 1, size=len(judged), p=chances)
        grades[draw.random(len(judged)) < negative] = -1
        if draw.random() < 0.1:
            grades[:] = 0
        if grades.max() < 0:
            grades[0] = 0
        qrels[query] = {documents[at]: int(grade) for at, grade in zip(judged, grades, strict=True)}
        size = int(draw.integers(least, depth + 1))
        tied = draw.random() < 0.6 and ties
        scores = draw.integers(0, 8, size).astype(float) if tied else draw.permutation(size) + 0.5
        order = np.argsort(-scores, kind="stable") if draw.random() < 0.5 else np.arange(size)
        if near and draw.random() < 0.3:
            scores = scores + 16777216.0
            scores[0] += 1
        if complete or draw.random() > 0.1:
            run[query] = {documents[at]: float(scores[at]) for at in order}
    if not complete:
        del qrels["q1"]
        run.setdefault("q1", {"d1": 2.0, "d2": 1.0})
    return qrels, run
