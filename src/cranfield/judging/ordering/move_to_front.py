"""mtf: move-to-front pooling (Cormack, Palmer and Clarke 1998)."""

from __future__ import annotations

from cranfield.judging.ordering.order import Order, RankedQuery, Steps, query_by_query


def move_to_front(ranked: RankedQuery) -> Steps:
    """Go down the ranking of a run while its documents are relevant; after one that is not, its priority falls by 1.

    All runs begin with the same priority; the next one is drawn from those with the highest. A document whose grade is
    not known yet counts like one that is not relevant, so several documents at once come from several runs.
    """
    chance = ranked.chance()
    priority = dict.fromkeys(ranked.rankings, 0)
    rest = {run: iter(ranking) for run, ranking in ranked.rankings.items()}
    asked: set[str] = set()
    while priority:
        highest = max(priority.values())
        run = chance.choice([each for each, its in priority.items() if its == highest])
        for document in rest[run]:
            if document in asked:
                continue
            asked.add(document)
            if not (yield document):
                priority[run] -= 1
                break
        else:
            del priority[run]


MOVE_TO_FRONT = Order(
    name="mtf",
    meaning="move-to-front: stay with a run while it returns relevant documents",
    advice="you want many relevant documents early, by a method that is easy to explain",
    begin=query_by_query(move_to_front),
    follows_grades=True,
)
