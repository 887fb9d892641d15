"""Brute force: the difference of two runs for all grades, or many, that their unjudged documents may have."""

import itertools
from functools import cache

import numpy as np

from cranfield import Judgments, evaluate

LEVELS = (0, 1, 2)


def unjudged(judged, *rankings, unseen=0):
    """Documents of the rankings that were not judged, or only pooled; and so many others that are in none of them."""
    retrieved = [document for document in dict.fromkeys(itertools.chain(*rankings)) if judged.get(document, -1) < 0]
    return [*retrieved, *(f"unseen {at}" for at in range(unseen))]


def differences_of(measures, judged, baseline, run, completions, unseen=0):
    """run - baseline by each measure, for each way to judge the unjudged documents: a tuple of grades, or a dict.

    Several measures are hardly slower than one.
    """
    complete = {each: each.replace(judged_only=False) for each in measures}  # in a completion, every document is judged
    missing = unjudged(judged, baseline, run, unseen=unseen)
    qrels = {
        str(at): {**judged, **(grades if isinstance(grades, dict) else dict(zip(missing, grades, strict=True)))}
        for at, grades in enumerate(completions)
    }
    judgments = Judgments.read(qrels)
    distinct = list(dict.fromkeys(complete.values()))
    found = [evaluate(judgments, dict.fromkeys(qrels, ranking), distinct) for ranking in (baseline, run)]
    return {each: found[1].column(name) - found[0].column(name) for each, name in complete.items()}


def sufficient_grades(measure, levels):
    """The grades to try: two of them if a measure only sees whether a document is relevant."""
    defaults = measure.definition.defaults
    if "rel" in defaults and "gain" not in defaults and dict(measure.parameters).get("max_grade") is None:
        return 0, max(levels)
    return tuple(levels)


def all_differences(measures, judged, baseline, run, levels, unseen=0):
    """run - baseline for all completions, by measure; `unseen` documents that neither run has get grades, too."""
    of_retrieved = itertools.product(levels, repeat=len(unjudged(judged, baseline, run)))
    of_unseen = itertools.combinations_with_replacement(levels, unseen)  # their order makes no difference
    completions = ((*one, *other) for one, other in itertools.product(of_retrieved, of_unseen))
    return differences_of(measures, judged, baseline, run, completions, unseen)


def random_differences(measures, judged, baseline, run, levels, count, seed):
    """run - baseline for random completions, of which some have few relevant documents and some many, by measure."""
    missing = unjudged(judged, baseline, run)
    return differences_of(measures, judged, baseline, run, _drawn(levels, len(missing), count, seed))


@cache
def _drawn(levels, documents, count, seed):
    """Random grades of the documents, `count` times; the same for every measure."""
    chance = np.random.default_rng(seed)
    return [
        tuple(chance.choice(levels, documents, p=chance.dirichlet(np.ones(len(levels)))).tolist()) for _ in range(count)
    ]
