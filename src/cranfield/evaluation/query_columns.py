"""What is known of each query beside its judgments: its weight, its segment, its group. Read once, used everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from cranfield.errors import InputError
from cranfield.evaluation.weighting import Weights, _name
from cranfield.io.query_columns import PARAMETERS

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.ranks.judgments import Judgments


class ColumnOptions(TypedDict, total=False):
    """The same as options of functions that evaluate."""

    query_columns: Any
    weights: Any
    segments: Any
    groups: Any


@dataclass(frozen=True, slots=True)
class QueryColumns:
    """The columns of queries by which evaluations are; None where all queries are alike.

    weights: how much each counts, and which groups of them count as one
    segments: the segment of each
    """

    weights: Weights | None = None
    segments: Mapping[str, str] | None = None

    @classmethod
    def read(
        cls, query_columns: Any = None, *, weights: Any = None, segments: Any = None, groups: Any = None
    ) -> QueryColumns:
        """The columns of one file of queries, and those given by themselves, which come first.

        >>> known = QueryColumns.read(weights={"1": 3, "2": 1}, groups={"1": "a", "2": "a"})
        >>> known.weights.column(["1", "2"]).tolist(), known.weights.units
        ([0.75, 0.25], 1)
        """
        alone = {"weight": weights, "segment": segments, "group": groups}
        if isinstance(query_columns, QueryColumns):
            return query_columns
        given = {name: source for name, source in alone.items() if source is not None}
        name = ""
        if query_columns is not None:
            from cranfield.io.pairs import read_columns

            found = read_columns(query_columns)
            name = _name(getattr(query_columns, "place", query_columns))
            given = {**found, **given}
        if not given:
            return cls()
        from cranfield.io.pairs import read_segments

        counted = None
        if "weight" in given or "group" in given:
            counted = Weights.read(given.get("weight"), given.get("group"))
            if alone["weight"] is None and "weight" in given:
                counted = replace(counted, source=name)
            if alone["group"] is None and "group" in given:
                counted = replace(counted, grouped_by=name)
        return cls(counted, read_segments(given["segment"]) if "segment" in given else None)

    @classmethod
    def taken(cls, options: Mapping[str, Any]) -> tuple[QueryColumns, dict[str, Any]]:
        """Those that options give, and the other options."""
        known = {name: options[name] for name in PARAMETERS if name in options}
        return cls.read(**known), {name: value for name, value in options.items() if name not in PARAMETERS}

    def applied(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with these columns; it keeps its own where there is none."""
        if self.segments is not None:
            evaluation = replace(evaluation, segments=self.segments)
        return evaluation if self.weights is None else evaluation.weighted(self.weights)

    def judged(self, judgments: Any) -> Any:
        """The judgments, with those of a group's name for each of its queries that has none of its own.

        So 'q7#1' and 'q7#2', which are in the group 'q7', are judged as 'q7' is, and take its place.

        >>> from cranfield import Judgments
        >>> known = QueryColumns.read(groups={"q7#1": "q7", "q7#2": "q7"})
        >>> known.judged(Judgments.read({"q7": {"a": 1}, "q8": {"b": 1}})).by_query
        {'q7#1': {'a': 1.0}, 'q7#2': {'a': 1.0}, 'q8': {'b': 1.0}}
        """
        groups = None if self.weights is None else self.weights.groups
        if not groups or judgments is None:
            return judgments
        from cranfield.ranks.judgments import Judgments

        flat: Judgments | None = judgments if isinstance(judgments, Judgments) else getattr(judgments, "flat", None)
        if flat is None:
            return judgments
        members: dict[str, list[str]] = {}
        for query, group in groups.items():
            if query not in flat.number and group in flat.number:
                members.setdefault(group, []).append(query)
        if not members:
            return judgments
        if not isinstance(judgments, Judgments):
            fact = "only plain judgments are passed on from a group to its queries."
            raise InputError(flat.name, fact, hint="judge each query, or measure without groups of judgments")
        by_query: dict[str, Mapping[str, float]] = {}
        for query, grades in judgments.by_query.items():
            if query in groups or query not in members:
                by_query[query] = grades
            by_query |= dict.fromkeys(members.get(query, ()), grades)
        name, provenance = judgments.name, judgments.provenance
        return Judgments(by_query, name=name, sha256=judgments.sha256, provenance=provenance)
