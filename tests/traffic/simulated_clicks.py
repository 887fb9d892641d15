"""Logs of people whose behaviour is known: how attractive each document is, and how they look down a list.

position: a person looks at rank r with the chance r^-0.8, whatever stands above it
cascade: a person reads from the top and stops at the first click
satisfied: a person reads on with the chance 0.9, and after a click stops with the chance 0.5

The model that is fitted is the first one; the others break its assumption. A ranker orders documents by what is
attractive and by noise; `quality` is the correlation of its scores with attraction. A ranker that `moves` has four
versions in the course of the log, each with some noise of its own. One that does not shows each document at one rank.
One that chases moves because attraction does, as with the seasons: then movement tells nothing about examination.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.stats import kendalltau

from cranfield.traffic.clicks import LEAST, AttractionRule, Clicks, fit_clicks

DOCUMENTS, RANKS, VERSIONS = 20, 10, 4
EXAMINATION = 1 / np.arange(1, RANKS + 1) ** 0.8
RULE = AttractionRule((0.0, 1.0, 2.0, 3.0), (0.125, 0.25, 0.5), LEAST)
FIRST_OF_SCALE = 0.9  # the highest attraction


class Case(NamedTuple):
    behaviour: str
    quality: float
    moves: bool = True
    chases: bool = False


CASES = {
    f"{behaviour}, {ranker}, {'moves' if moves else 'one rank'}": Case(behaviour, quality, moves)
    for behaviour in ("position", "cascade", "satisfied")
    for ranker, quality in (("random", 0.0), ("fair", 0.5), ("good", 0.9))
    for moves in (True, False)
} | {"position, good, chases": Case("position", 0.9, chases=True)}


class Log(NamedTuple):
    attraction: np.ndarray  # by query and document
    rows: np.ndarray  # query, document, rank, impressions, clicks

    @property
    def table(self):
        query, document, rank, impressions, clicks = self.rows.T
        names = [f"q{one}d{other}" for one, other in zip(query.tolist(), document.tolist(), strict=True)]
        columns = {"query": [f"query {each}" for each in query.tolist()], "doc_id": names, "rank": rank}
        return pa.table({**columns, "impressions": impressions, "clicks": clicks})


def simulated(case, queries, searches, seed):
    """A log of this many searches for each query on average; few queries have most of them, as in production."""
    chance = np.random.default_rng(seed)
    attraction = chance.beta(0.6, 2.0, (queries, DOCUMENTS)) * FIRST_OF_SCALE
    share = 1 / np.arange(1, queries + 1)
    counts = np.maximum(searches * queries * share / share.sum(), 4 * VERSIONS).astype(int)
    rows = []
    for query, count in enumerate(counts.tolist()):
        its = attraction[query]
        spread = (its - its.mean()) / its.std()
        scores = case.quality * spread + np.sqrt(1 - case.quality**2) * chance.normal(size=DOCUMENTS)
        for _ in range(VERSIONS if case.moves else 1):
            moved = scores + 0.5 * chance.normal(size=DOCUMENTS) * (case.moves and not case.chases)
            if case.chases:
                its = np.minimum(attraction[query] * np.exp(0.5 * chance.normal(size=DOCUMENTS)), 1.0)
                moved = scores + 3 * (its - attraction[query])
            shown = np.argsort(-moved)[:RANKS]
            people = count // VERSIONS if case.moves else count
            clicks = clicked(case.behaviour, its[shown], people, chance)
            columns = (np.full(RANKS, query), shown, np.arange(1, RANKS + 1), np.full(RANKS, people), clicks)
            rows.append(np.stack(columns, axis=1))
    return Log(attraction, np.concatenate(rows))


def clicked(behaviour, attraction, people, chance):
    """How many of these people click on each of the documents shown, from the top."""
    if behaviour == "position":
        return chance.binomial(people, EXAMINATION * attraction)
    attracted = chance.random((people, RANKS)) < attraction
    stops, reads_on = (1.0, 1.0) if behaviour == "cascade" else (0.5, 0.9)
    reading, clicks = np.ones(people, bool), np.zeros(RANKS, int)
    for rank in range(RANKS):
        clicks[rank] = (clicking := reading & attracted[:, rank]).sum()
        reading &= ~(clicking & (chance.random(people) < stops)) & (chance.random(people) < reads_on)
    return clicks


class Found(NamedTuple):
    """How well attraction is found again.

    raw, by_rank, corrected: Kendall's τ_b with the truth, the mean over queries, of documents that people had a chance
        to look at: of clicks by impressions; of clicks by those that the mean rates of the ranks let expect; and ours
    right, right_raw: the share of documents with the right grade, by our attraction and by clicks by impressions
    identified: whether examination was
    """

    raw: float
    by_rank: float
    corrected: float
    right_raw: float
    right: float
    identified: bool


def found(log, clicks=None):
    clicks: Clicks = clicks or fit_clicks(log.table)
    query, document, rank, impressions, clicks_of = log.rows.T
    pair = query * DOCUMENTS + document
    rate = np.bincount(rank, clicks_of) / np.maximum(np.bincount(rank, impressions), 1)
    size = log.attraction.size
    shown, clicked, expected = (
        np.bincount(pair, column, size) for column in (impressions, clicks_of, impressions * rate[rank])
    )
    ours, seen = np.zeros(size), np.zeros(size)
    for each in clicks.documents():
        one, _, other = each.doc_id[1:].partition("d")
        ours[int(one) * DOCUMENTS + int(other)] = each.attraction
        seen[int(one) * DOCUMENTS + int(other)] = each.examined
    enough = seen >= LEAST
    raw = clicked / np.maximum(shown, 1)
    values = (raw, clicked / np.maximum(expected, 1e-12), ours)
    truth = RULE.grade(log.attraction.ravel()[enough])
    return Found(
        *(_order(log.attraction, value, enough) for value in values),
        *(float((RULE.grade(value[enough]) == truth).mean()) for value in (raw, ours)),
        clicks.identified,
    )


def _order(attraction, values, enough):
    taus = [
        kendalltau(true[chosen], value[chosen]).statistic
        for true, value, chosen in zip(
            attraction, values.reshape(attraction.shape), enough.reshape(attraction.shape), strict=True
        )
        if chosen.sum() > 2
    ]
    return float(np.nanmean(taus))
