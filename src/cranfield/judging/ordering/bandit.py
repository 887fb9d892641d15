"""Runs as the arms of a bandit (Losada, Parapar and Barreiro 2016): the part that max_mean and max_mean_last share."""

from __future__ import annotations

from collections.abc import Callable

from cranfield.judging.ordering.order import RankedQuery, Steps


def best_mean(keep: float) -> Callable[[RankedQuery], Steps]:
    """Take the next document of the run with the largest mean of its Beta distribution; of several, one at random.

    Beta(1 + relevant, 1 + judged − relevant) has the mean (1 + relevant) / (2 + judged). A judgment counts for all runs
    that return the document.

    keep: how much of the earlier counts stays at each judgment: all (1) or nothing (0)
    """

    def steps(ranked: RankedQuery) -> Steps:
        chance = ranked.chance()
        relevant = dict.fromkeys(ranked.rankings, 0.0)
        judged = dict.fromkeys(ranked.rankings, 0.0)
        members = {run: set(ranking) for run, ranking in ranked.rankings.items()}
        rest = {run: list(reversed(ranking)) for run, ranking in ranked.rankings.items()}
        asked: set[str] = set()
        while True:
            for ranking in rest.values():
                while ranking and ranking[-1] in asked:
                    ranking.pop()
            means = {run: (1 + relevant[run]) / (2 + judged[run]) for run, ranking in rest.items() if ranking}
            if not means:
                return
            largest = max(means.values())
            run = chance.choice([each for each, its in means.items() if its == largest])
            document = rest[run].pop()
            asked.add(document)
            judged_relevant = yield document
            if judged_relevant is not None:
                for each, its in members.items():
                    if document in its:
                        relevant[each] = keep * relevant[each] + judged_relevant
                        judged[each] = keep * judged[each] + 1

    return steps
