"""Orders of judging as naive loops, written from their descriptions: everything is recounted at each step.

Each function takes {run: ranking}, {document: relevant} and a random generator, and returns all documents in the order
in which they are judged. If several runs are tied, `chance` chooses from a list of them in the order of the runs: the
one convention that an oracle has to share.
"""

import math


def union(rankings):
    return list(dict.fromkeys(document for ranking in rankings.values() for document in ranking))


def move_to_front(rankings, relevant, chance):
    judged, priority, finished = [], dict.fromkeys(rankings, 0), set()
    while len(finished) < len(rankings):
        top = max(priority[run] for run in rankings if run not in finished)
        run = chance.choice([r for r in rankings if r not in finished and priority[r] == top])
        while True:
            fresh = [document for document in rankings[run] if document not in judged]
            if not fresh:
                finished.add(run)
                break
            judged.append(fresh[0])
            if not relevant[fresh[0]]:
                priority[run] -= 1
                break
    return judged


def bandit(rankings, relevant, chance, only_last):
    judged = []
    while len(judged) < len(union(rankings)):
        means = {}
        for run, ranking in rankings.items():
            seen = [relevant[document] for document in judged if document in ranking]
            if only_last:
                seen = seen[-1:]
            alpha, beta = 1 + seen.count(True), 1 + seen.count(False)
            if any(document not in judged for document in ranking):
                means[run] = alpha / (alpha + beta)
        run = chance.choice([run for run in means if means[run] == max(means.values())])
        judged.append(next(document for document in rankings[run] if document not in judged))
    return judged


def max_mean(rankings, relevant, chance):
    return bandit(rankings, relevant, chance, only_last=False)


def max_mean_last(rankings, relevant, chance):
    return bandit(rankings, relevant, chance, only_last=True)


def hedge_scores(rankings, relevant, judged):
    """Σ w ln(Z / rank) of each document, after some were judged."""
    everything = union(rankings)
    longest = max(len(ranking) for ranking in rankings.values())

    def vote(run, document):
        if document in rankings[run]:
            return math.log(longest / (rankings[run].index(document) + 1))
        beyond = [math.log(longest / rank) for rank in range(len(rankings[run]) + 1, len(everything) + 1)]
        return sum(beyond) / len(beyond)

    weight = dict.fromkeys(rankings, 1.0)
    for document in judged:
        for run in rankings:
            weight[run] *= 0.1 ** ((-1) ** relevant[document] * 0.5 * vote(run, document))
    return {document: sum(weight[run] * vote(run, document) for run in rankings) for document in everything}
