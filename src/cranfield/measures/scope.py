"""What a measure looks at: which documents are relevant to it, and how far down a ranking it goes.

Facts about a query beside a value (how many relevant documents were found, where the first one is, how many are not
judged) are counted by the scope of the measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from cranfield.measures.arithmetic import gains, multiple_of_relevant
from cranfield.measures.lookup import comes_with_us
from cranfield.measures.parameters import GainMap
from cranfield.measures.registry import REQUIRED, Measure
from cranfield.ranks.columns import Flags, Integers, Numbers
from cranfield.ranks.grades import reaches
from cranfield.ranks.tables.ranks import JudgedRanks


class Scope(NamedTuple):
    """What a measure looks at.

    rel: the lowest grade that is relevant; None if a positive gain means relevant
    cutoff: the deepest rank; None for the whole ranking
    multiple: ... or the depth as a multiple of the number of relevant documents
    judged_only: ranks are those among the judged documents, because the measure leaves the others out
    """

    rel: float | None
    gain: str | GainMap
    cutoff: int | None
    multiple: float | None
    judged_only: bool

    @classmethod
    @lru_cache(maxsize=256)  # needed again and again for every measure
    def of(cls, measure: Measure) -> Scope:
        chosen = chosen_parameters(measure)
        # With a max_grade, RBP takes its gains from the grades and not from rel.
        graded = chosen.get("max_grade") is not None
        return cls(
            rel=None if graded else chosen.get("rel"),
            gain=chosen.get("gain", "linear"),
            cutoff=chosen.get("cutoff"),
            multiple=chosen.get("multiple"),
            judged_only=bool(chosen["judged_only"]) or measure.definition.skips_unjudged,
        )

    @property
    def one_depth(self) -> bool:
        """Whether the measure looks at the same ranks of every ranking: down to a fixed cutoff, or all."""
        return self.multiple is None and not self.judged_only

    def relevant(self, grades: Numbers) -> Flags:
        return reaches(grades, self.rel) if self.rel is not None else gains(grades, self.gain) > 0

    def best_first(self, judged: Mapping[str, float]) -> list[str]:
        """The relevant ones of some documents with their grades, the best first; equal grades by id."""
        kept = self.relevant(np.array(list(judged.values()), dtype=np.float64))
        return sorted(compress(judged, kept), key=lambda document: (-judged[document], document))

    def n_relevant(self, judged: JudgedRanks) -> Integers:
        if self.rel is not None:
            return judged.n_relevant(self.rel).astype(np.int64)

        def count() -> Integers:
            return judged.judged_sum(self.relevant(judged.judged_grades)).astype(np.int64)

        known: Integers = judged.all_judged.kept(("gaining", self.gain), count)
        return known.copy()

    def depth(self, judged: JudgedRanks) -> Integers | None:
        """The deepest rank of each query that counts; None if all do."""
        if self.multiple is not None:
            return multiple_of_relevant(self.n_relevant(judged), self.multiple).astype(np.int64)
        return None if self.cutoff is None else np.full(len(judged), self.cutoff)


def chosen_parameters(measure: Measure) -> dict[str, Any]:
    known = {name: value for name, value in measure.definition.defaults.items() if value is not REQUIRED}
    return {**known, **dict(measure.parameters)}


def last_rank(measure: Measure) -> int | None:
    """The deepest rank whose document can change a value; None if any can, or if that is not known.

    A measure that does not come with cranfield may mean something else by its cutoff.
    """
    scope = Scope.of(measure)
    return scope.cutoff if scope.one_depth and comes_with_us(measure.definition.function) else None


def rels_of(measures: Iterable[Measure]) -> list[float]:
    """The lowest relevant grades of some measures, the lowest first; none if no measure has any."""
    rels = {Scope.of(measure).rel for measure in measures}
    return sorted(rel for rel in rels if rel is not None)


def without_relevant(measures: Iterable[Measure], judged: JudgedRanks) -> tuple[Flags, Flags]:
    """The queries without a relevant document: for some of the measures, and for all of them.

    Measures of the unjudged documents do not look for relevant ones, so they count only where there are no others.
    """
    known = list(measures)
    looking = [measure for measure in known if not measure.definition.of_holes] or known
    criteria = {(scope.rel, scope.gain): scope for scope in map(Scope.of, looking)}
    lacking = [scope.n_relevant(judged) == 0 for scope in criteria.values()]
    return reduce(np.logical_or, lacking), reduce(np.logical_and, lacking)
