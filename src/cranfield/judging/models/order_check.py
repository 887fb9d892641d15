"""Whether a model's preference between two documents depends on which of them comes first, and fits its grades."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from cranfield.judging.models.assessor import hash_of
from cranfield.judging.models.model_report import OrderCheck
from cranfield.judging.models.prompts import NO_NARRATIVE, PromptTemplate, fence_of, fenced
from cranfield.judging.models.showing import Shown
from cranfield.judging.random_orders import place
from cranfield.judging.waiting import WaitingItem


class DocumentPair(NamedTuple):
    """Two documents of one query, with their grades."""

    one: WaitingItem
    other: WaitingItem
    grades: tuple[float, float]


def choose_pairs(grades: Mapping[WaitingItem, float], count: int, seed: str) -> list[DocumentPair]:
    """So many pairs of documents of one query at random; those with different grades come first.

    From every query one pair at a time, so that no query makes up most of them.
    """
    by_query: dict[str, list[WaitingItem]] = {}
    for item in grades:
        by_query.setdefault(item[0], []).append(item)
    found: list[tuple[bool, int, int, DocumentPair]] = []
    for query, items in by_query.items():
        near = sorted(items, key=lambda item: place(seed, *item))[:20]  # 190 pairs are enough of one query
        pairs = [DocumentPair(one, other, (grades[one], grades[other])) for one, other in combinations(near, 2)]
        pairs.sort(key=lambda pair: (pair.grades[0] == pair.grades[1], place(seed, *pair.one, *pair.other)))
        found += [
            (pair.grades[0] == pair.grades[1], at, place(seed, query), pair) for at, pair in enumerate(pairs[:count])
        ]
    return [row[-1] for row in sorted(found)[:count]]


def order_prompt(template: PromptTemplate, first: Shown, second: Shown, asked: str) -> str:
    """The prompt about two documents in this order."""
    return template.filled(
        {
            "query": first.query,
            "narrative": first.narrative or NO_NARRATIVE,
            "first": fenced(first.document, fence_of(first.document, asked)),
            "second": fenced(second.document, fence_of(second.document, asked)),
        }
    )


def order_key(first: Shown, second: Shown, asked: str) -> str:
    """The key under which the reply is kept."""
    return hash_of([asked, first.query, first.narrative, first.document, second.document])


def summed_up(answers: Mapping[DocumentPair, tuple[str, str]]) -> OrderCheck:
    """By pair, what was preferred with its first document first, and with its second: "A", "B", or "" (not read)."""
    read = {pair: both for pair, both in answers.items() if all(both)}
    # Whoever prefers one document says A, and B after they changed places.
    steady = {pair: both for pair, both in read.items() if both[0] != both[1]}
    graded = {pair: both for pair, both in steady.items() if pair.grades[0] != pair.grades[1]}
    wrong = sum((both[0] == "A") != (pair.grades[0] > pair.grades[1]) for pair, both in graded.items())
    return OrderCheck(len(answers), len(read), len(read) - len(steady), len(graded), wrong)
