"""What is known of each query beside its judgments: its weight, its segment, its group. Read once, used everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from cranfield.errors import InputError
from cranfield.evaluation.weighting import Weights
from cranfield.io.query_columns import PARAMETERS, THRESHOLD

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.ranks.judgments import Judgments


class ColumnOptions(TypedDict, total=False):
    """The same as options of functions that evaluate."""

    query_columns: Any
    weights: Any
    segments: Any
    groups: Any
    answerable: Any
    threshold: Any


@dataclass(frozen=True, slots=True)
class QueryColumns:
    """The columns of queries by which evaluations are; None where all queries are alike.

    weights: how much each counts, and which groups of them count as one
    segments: the segment of each
    answerable: whether each has an answer; one that is not listed has
    threshold: documents of lower scores are not returned; "fitted" chooses it, see answering.py
    """

    weights: Weights | None = None
    segments: Mapping[str, str] | None = None
    answerable: Mapping[str, bool] | None = None
    threshold: Any = None

    @classmethod
    def read(
        cls,
        query_columns: Any = None,
        *,
        weights: Any = None,
        segments: Any = None,
        groups: Any = None,
        answerable: Any = None,
        threshold: Any = None,
    ) -> QueryColumns:
        """The columns of one file of queries, and those given by themselves, which come first.

        >>> known = QueryColumns.read(weights={"1": 3, "2": 1}, groups={"1": "a", "2": "a"})
        >>> known.weights.column(["1", "2"]).tolist(), known.weights.units
        ([0.375, 0.125], 1)
        """
        alone = {"weight": weights, "segment": segments, "group": groups, "answerable": answerable}
        if isinstance(query_columns, QueryColumns):
            return query_columns
        given = {name: source for name, source in alone.items() if source is not None}
        drawn = None
        if query_columns is not None:
            from cranfield.io.pairs import PROBABILITY, read_columns

            found = read_columns(query_columns)
            drawn = found.pop(PROBABILITY, None) if "weight" in found and weights is None else None
            given = {**found, **given}
        if threshold is not None and "answerable" not in given:
            fact = "is for queries of which some have no answer, and no column says which."
            hint = "say which, by a column 'answerable' of the queries"
            raise InputError("answerable", fact, parameter="threshold", value=threshold, hint=hint)
        if not given:
            return cls()
        from cranfield.io.pairs import read_answerable, read_probabilities, read_words

        counted = None
        if "weight" in given or "group" in given:
            counted = Weights.read(given.get("weight"), given.get("group"))
            if drawn is not None:
                counted = replace(counted, probability=read_probabilities(drawn, drawn.place))
        return cls(
            counted,
            read_words(given["segment"], "segment") if "segment" in given else None,
            read_answerable(given["answerable"]) if "answerable" in given else None,
            threshold,
        )

    @classmethod
    def taken(cls, options: Mapping[str, Any]) -> tuple[QueryColumns, dict[str, Any]]:
        """Those that options give, and the other options."""
        names = (*PARAMETERS, THRESHOLD)
        known = {name: options[name] for name in names if name in options}
        return cls.read(**known), {name: value for name, value in options.items() if name not in names}

    def applied(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with these columns; it keeps its own where there is none."""
        if self.segments is not None:
            evaluation = replace(evaluation, segments=self.segments)
        if self.weights is not None:
            evaluation = evaluation.weighted(self.weights)
        if self.answerable is None:
            return evaluation
        from cranfield.evaluation.answering import with_answering

        return with_answering(evaluation, self.answerable, self.threshold)

    def judged(self, judgments: Any) -> Any:
        """The judgments, with those of a group's name for each of its queries that has none of its own; and queries
        without an answer, which need none.

        So 'q7#1' and 'q7#2', which are in the group 'q7', are judged as 'q7' is, and take its place.

        >>> from cranfield import Judgments
        >>> known = QueryColumns.read(groups={"q7#1": "q7", "q7#2": "q7"})
        >>> known.judged(Judgments.read({"q7": {"a": 1}, "q8": {"b": 1}})).by_query
        {'q7#1': {'a': 1.0}, 'q7#2': {'a': 1.0}, 'q8': {'b': 1.0}}
        """
        groups = (None if self.weights is None else self.weights.groups) or {}
        without = [query for query, has_one in (self.answerable or {}).items() if not has_one]
        if judgments is None or not (groups or without):
            return judgments
        from cranfield.ranks.judgments import Judgments

        flat: Judgments | None = judgments if isinstance(judgments, Judgments) else getattr(judgments, "flat", None)
        if flat is None:
            return judgments
        members: dict[str, list[str]] = {}
        for query, group in groups.items():
            if query not in flat.number and group in flat.number:
                members.setdefault(group, []).append(query)
        added = [query for query in without if query not in flat.number]
        if not members and not added:
            return judgments
        if not isinstance(judgments, Judgments):
            fact = "only plain judgments take groups that share them, and queries without an answer."
            raise InputError(flat.name, fact, hint="judge each query, or measure without groups of judgments")
        by_query: dict[str, Mapping[str, float]] = {}
        for query, grades in judgments.by_query.items():
            if query in groups or query not in members:
                by_query[query] = grades
            by_query |= dict.fromkeys(members.get(query, ()), grades)
        by_query |= {query: {} for query in added if query not in by_query}
        return _of(by_query, judgments)

    def answered(self, judgments: Judgments) -> Judgments:
        """The judgments without queries that have no answer, for what is about relevant documents alone.

        >>> from cranfield import Judgments
        >>> known = QueryColumns.read(answerable={"2": False, "3": False})
        >>> list(known.answered(Judgments.read({"1": {"a": 1}, "2": {"b": 0}})).query_ids)
        ['1']
        """
        if self.threshold is not None:
            fact = "means nothing here, where queries without an answer are left out."
            raise InputError("answerable", fact, parameter="threshold", value=self.threshold)
        known = self.answerable or {}
        if all(known.get(query, True) for query in judgments.query_ids):
            return judgments
        return _of({query: its for query, its in judgments.by_query.items() if known.get(query, True)}, judgments)

    @property
    def unanswerable(self) -> int:
        """How many queries have no answer."""
        return sum(not has_one for has_one in (self.answerable or {}).values())


def _of(by_query: Mapping[str, Mapping[str, float]], judgments: Judgments) -> Judgments:
    """Judgments of other queries, from where these are."""
    from cranfield.ranks.judgments import Judgments

    name, provenance = judgments.name, judgments.provenance
    return Judgments(by_query, name=name, sha256=judgments.sha256, provenance=provenance)
