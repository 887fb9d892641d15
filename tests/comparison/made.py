"""Runs with chosen values: the RR of a query whose relevant document is at rank r is 1/r."""

import numpy as np


def run_of_ranks(ranks):
    """{query: [documents]}, the relevant one, r, at the wanted rank; at rank 0 the query finds nothing relevant."""
    return {str(q): [f"x{i}" for i in range(1, rank)] + ["r"] if rank else ["x1"] for q, rank in enumerate(ranks)}


def qrels_for(queries, depth=50):
    """Everything that `run_of_ranks` retrieves is judged."""
    return {str(q): {"r": 1, **{f"x{i}": 0 for i in range(1, depth)}} for q in range(queries)}


def random_runs(seed, queries, systems, worse=0):
    """Runs whose ranks are drawn, in each system from a range that is `worse` longer than in the one before."""
    chance = np.random.default_rng(seed)
    return {f"run{s}": run_of_ranks(chance.integers(1, 6 + worse * s, queries).tolist()) for s in range(systems)}
