"""ComparedPair: two runs of a decision, and what follows from the grades so far, calculated when needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cranfield.judging.deciding.candidates import Candidates
from cranfield.judging.deciding.choosing import ScoredPlaces, choose, slopes, weights_of
from cranfield.judging.deciding.grade_model import GradeModel, features, fit
from cranfield.judging.deciding.verdicts import Outlook, differences, drawn, outlook
from cranfield.measures.completion import is_sum
from cranfield.measures.registry import Measure
from cranfield.ranks.columns import Flags, Numbers


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """A baseline and a run, as their numbers."""

    candidates: Candidates
    measure: Measure
    runs: tuple[int, int]
    alpha: float
    seed: int

    @cached_property
    def differing(self) -> bool:
        """Whether the two rank anything differently."""
        return bool(self.candidates.differing(*self.runs).any())

    @cached_property
    def matters(self) -> Flags:
        """The unjudged documents whose grades can change the difference."""
        known = self.candidates
        ranks = known.rank[list(self.runs)]
        can = known.differing(*self.runs)[known.query] & known.returned
        if is_sum(self.measure):  # then a document at the same rank in both adds the same to both
            can &= ranks[0] != ranks[1]
        return np.asarray(can & ~known.judged)

    @property
    def left(self) -> int:
        """How many these are."""
        return int(self.matters.sum())

    @cached_property
    def model(self) -> GradeModel:
        """The model of the grades."""
        known = self.candidates
        baseline, run = self.runs
        x = features(known.rank[run], known.rank[baseline])
        return fit(x, known.query, len(known.query_ids), known.grade, known.observed, max(known.scale))

    @cached_property
    def completions(self) -> Numbers:
        """Several ways in which the grades may turn out, or one if nothing is left that matters."""
        known = self.candidates
        return drawn(known, self.model, self.seed) if self.left else known.rounded(np.zeros((1, len(known.query))))

    @cached_property
    def differences(self) -> Numbers:
        """Of the queries, in a line for each completion."""
        return differences(self.candidates, self.measure, self.runs, self.completions)

    @cached_property
    def outlook(self) -> Outlook:
        """How probable each verdict is."""
        return outlook(self.differences, self.alpha, self.measure.definition.lower_is_better)

    @cached_property
    def weights(self) -> Numbers:
        """How each unknown grade moves the end of the interval that is nearer to 0."""
        slope = np.where(self.matters, slopes(self.candidates, self.measure, self.runs, self.completions), 0.0)
        return weights_of(self.differences, slope, self.candidates.query, self.critical)

    @cached_property
    def critical(self) -> float:
        """The t-value that is significant."""
        from scipy.stats import t

        return float(t.isf(self.alpha / 2, len(self.candidates.query_ids) - 1))

    def next(self, count: int) -> ScoredPlaces:
        """The documents to judge next."""
        return choose(self.model, self.weights, self.matters, count)

    def needed(self, confidence: float) -> int:
        """About how many judgments make a verdict sure, if the t-value stays and its variance falls as expected."""
        from scipy.stats import norm

        found = self.outlook
        distance = abs(abs(found.t) - self.critical)
        wanted = (distance / float(norm.ppf(confidence))) ** 2
        if found.t_deviation**2 <= wanted:
            return 0
        return int(np.searchsorted(-self._left_after, -wanted / found.t_deviation**2))

    @property
    def _left_after(self) -> Numbers:
        """The share of the variance that is left after 0, 1, 2 … judgments, those with the largest weights first.

        The noise of a judged document is gone. The shared part still moves all unjudged documents together.
        """
        weight = np.append(np.sort(np.abs(self.weights[self.matters]))[::-1], 0.0)
        total = max(float(self.weights @ self.model.covariance_with(self.weights)), 1e-300)
        noise = self.model.variances.noise * np.cumsum(weight[::-1] ** 2)[::-1]
        others = np.cumsum(weight[::-1])[::-1] / max(float(weight.sum()), 1e-300)
        return np.asarray((noise + max(total - noise[0], 0.0) * others**2) / total)
