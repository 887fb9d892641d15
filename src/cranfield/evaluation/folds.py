"""Cross-fitting: settings are chosen on some queries and measured on others, again and again.

    values: queries × settings ──chosen on four fifths──▶ measured on the other fifth, 20 times over 5 folds

The mean of the values so measured is that of tuning as a procedure: what to expect of settings that are chosen in this
way on about as many queries. The value of the best setting on all queries is higher, by luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.evaluation.estimating import SAME
from cranfield.ranks.columns import Integers, Numbers

REPEATS, FOLDS = 20, 5


class CrossFitted(NamedTuple):
    """The outcome of cross-fitting.

    value: of each query, the mean over the repeats
    chosen: which setting each fold of each repeat chose
    best: the setting with the highest mean over all queries, and `optimistic` that mean
    """

    value: Numbers
    chosen: Integers
    best: int
    optimistic: float


def folds_of(
    group: Integers, stratum: Integers, chance: np.random.Generator, repeats: int = REPEATS, folds: int = FOLDS
) -> Integers:
    """The fold of each query, a row for each repeat: groups stay together, and strata are spread over all folds.

    >>> import numpy as np
    >>> group, stratum = np.array([0, 0, 1, 2, 3, 4, 5, 6]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> found = folds_of(group, stratum, np.random.default_rng(0), 1, 2)[0]
    >>> bool(found[0] == found[1]), np.bincount(found).tolist(), np.bincount(found[4:]).tolist()
    (True, [5, 3], [2, 2])
    """
    numbers, members = np.unique(group, return_inverse=True)
    members = members.reshape(-1)
    size = np.bincount(members)
    if len(numbers) == len(group):
        its_stratum = stratum[np.argsort(members)]
    else:
        its_stratum = np.array([_most_frequent(stratum[members == at]) for at in range(len(numbers))])
    found = np.empty((repeats, len(group)), dtype=np.int64)
    for repeat in range(repeats):
        # Dealt out in turn, stratum by stratum and the largest groups first.
        order = np.lexsort((chance.random(len(numbers)), -size, its_stratum))
        fold = np.empty(len(numbers), dtype=np.int64)
        fold[order] = chance.permutation(folds)[np.arange(len(numbers)) % folds]
        found[repeat] = fold[members]
    return found


def _most_frequent(values: Integers) -> int:
    return int(Counter(values.tolist()).most_common(1)[0][0])


def cross_fitted(values: Numbers, fold: Integers, weight: Numbers | None = None) -> CrossFitted:
    """Choose a setting on all folds but one, and take its values on that one.

    values: a row for each query and a column for each setting; higher is better
    fold: of each query, a row for each repeat
    weight: how much each query counts
    Of settings with equal means, the first is chosen.
    """
    weight = np.ones(len(values)) if weight is None else weight
    weighted = values * weight[:, None]
    total = weighted.sum(axis=0)
    best = first_best(total / weight.sum())
    folds = int(fold.max(initial=0)) + 1
    value, chosen = np.zeros(len(values)), np.empty((len(fold), folds), dtype=np.int64)
    rows = np.arange(len(values))
    for repeat, its in enumerate(fold):
        inside = (its == np.arange(folds)[:, None]).astype(np.float64)
        rest = np.maximum(weight.sum() - inside @ weight, np.finfo(float).tiny)
        means = (total - inside @ weighted) / rest[:, None]
        chosen[repeat] = [first_best(row) for row in means]
        value += values[rows, chosen[repeat][its]]
    return CrossFitted(value / len(fold), chosen, best, float(total[best] / weight.sum()))


def first_best(means: Numbers) -> int:
    """The first of the highest values; differences due to rounding count as none."""
    return int(np.argmax(means >= means.max() - SAME))


def numbered(labels: Sequence[str]) -> Integers:
    """A number for each label."""
    return np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1].reshape(-1)
