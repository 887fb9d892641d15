"""Judgments and a run read by the rules of trec_eval, into the tables that its measures need."""

from __future__ import annotations

from typing import Any

import numpy as np

from cranfield.errors import InputError
from cranfield.io.shapes import Text
from cranfield.io.source import open_source
from cranfield.io.streams import Stream
from cranfield.io.text import last_fields
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.grouped_judgments import GroupedJudgments
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.tables.groups import GroupRanks
from cranfield.ranks.tables.preferences import PreferenceRanks
from cranfield.ranks.tables.ranks import JudgedRanks

PREFERENCES = ("prefs", "qrels_prefs")


def read_judgments(path: str, format: str) -> Judgments | GroupedJudgments:
    """Read judgments in one of trec_eval's formats: "qrels", "qrels_jg", "prefs" or "qrels_prefs"."""
    if format == "qrels":
        judgments = Judgments.read(path, "trec")
        _refuse_fractions(judgments, judgments.grades, np.arange(len(judgments.grades)))
        return judgments
    grouped = GroupedJudgments.read(path, "prefs" if format == "prefs" else "trec")
    if format == "qrels_jg":
        _refuse_fractions(grouped.flat, grouped.grades, grouped.row)
    return grouped


def _refuse_fractions(judgments: Judgments, grades: Numbers, row: Integers) -> None:
    """Refuse grades with decimals, since trec_eval knows whole ones; `row` is the judgment that each grade is of."""
    broken = np.flatnonzero(grades != np.floor(grades))
    if len(broken):
        at = int(row[broken[0]])
        query, document = judgments.query_ids[int(judgments.query[at])], judgments.document_ids[at]
        raise InputError(
            judgments.name,
            f"the grade {grades[broken[0]]:g} of document '{document}' for query '{query}' is not a whole number.",
            hint="trec_eval would drop the decimals; 'cranfield evaluate' takes such grades",
        )


def scan(
    judgments: Judgments | GroupedJudgments, run: Stream, format: str, *, single: bool = False
) -> tuple[JudgedRanks, str]:
    """The judged ranks of a run, and the name that its last line gives it.

    Equal scores are ordered by id, the larger first; for preferences, the smaller first. With `single`, scores
    have 32 bits.
    """
    source = open_source(run, "run", "trec")
    assert isinstance(source, Text)
    source = source._replace(layout=source.layout._replace(single=single))
    policy = Policy(ties="smaller_doc_id" if format in PREFERENCES else "doc_id")
    flat = judgments if isinstance(judgments, Judgments) else judgments.flat
    judged = rank_run(flat, source, policy)
    return judged, last_fields(run, source.layout)[5].decode()


def tables(
    judgments: Judgments | GroupedJudgments, judged: JudgedRanks, format: str, depth: int | None, judged_only: bool
) -> dict[str, Any]:
    """The tables that measures read: rankings cut off at a depth, then without their unjudged documents."""
    judged = judged.cut(depth)
    by_kind: dict[str, Any] = {"ranks": judged.condensed if judged_only else judged}
    if isinstance(judgments, GroupedJudgments):
        if format in PREFERENCES:  # in which unjudged documents have no part
            by_kind["preferences"] = PreferenceRanks.of(judgments, judged)
        else:
            groups = GroupRanks.of(judgments, judged, Policy())
            by_kind["groups"] = groups.condensed if judged_only else groups
    return by_kind
