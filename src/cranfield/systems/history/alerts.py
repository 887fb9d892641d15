"""Whether an alarm is due: the last result is worse than the accepted one, or the last ten slide.

Both rules share alpha / (2 · looks), over the measures of the gate by Holm's correction; see comparison/sliding.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.comparison.gate_checks import Check
from cranfield.comparison.gating import tolerances_of
from cranfield.comparison.multiple_testing import holm
from cranfield.comparison.sliding import EARLIER, WINDOW, Noise, Tested, drop_since, noise_of, slide
from cranfield.errors import ComparisonError
from cranfield.measures import Measure, parse_measure
from cranfield.systems.history.lines import Line, line_of
from cranfield.systems.history.results import Result
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.systems.history.history import History

_LOOKED_AT = 10 * (WINDOW + EARLIER)  # results that are read: those on the last stretch count


class Alert(NamedTuple):
    """What a look at the history of a system found.

    checks: of both rules, for each measure
    noise: what varies by chance, and how that was seen
    open: what could not be tested, and why
    level: of each rule
    """

    system: str
    checks: tuple[Check, ...]
    noise: Noise
    open: tuple[str, ...]
    level: float
    alpha: float
    looks: int

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def noise_words(self) -> str:
        """What was taken for chance, and why."""
        return _noise_words(self.noise)

    def to_dict(self) -> dict[str, Any]:
        """The alert as plain values, ready for JSON."""
        return {
            **self._asdict(),
            "passed": self.passed,
            "checks": [check._asdict() for check in self.checks],
            "noise": self.noise._asdict(),
        }


def alert_of(
    history: History,
    system: str,
    measures: Sequence[str],
    *,
    tolerance: float | Mapping[str, float] = 0.0,
    alpha: float = 0.05,
    looks: int = 30,
    branch: str = "",
) -> Alert:
    """Look at the last result of a system.

    measures: those that may not get worse
    tolerance: the drop since what was accepted that is allowed, as `gate` takes it
    """
    if not 0 < alpha < 0.5:
        hint = "it lies between 0 and 0.5"
        raise ComparisonError("is not a level of an alarm.", parameter="alpha", value=alpha, hint=hint)
    if looks < 1:
        raise ComparisonError("is not a number of looks.", parameter="looks", value=looks, hint="30 for one every day")
    wanted = [parse_measure(name) for name in measures]
    allowed = tolerances_of(tolerance, wanted)
    level = alpha / (2 * looks)
    lines = (line_of(history, system, measure.name, last=_LOOKED_AT, branch=branch) for measure in wanted)
    found = [_looked(history, line) for line in lines]
    open_ = list(dict.fromkeys(reason for look in found for reason in look.open))
    checks: list[Check] = []
    for name in ("drop", "slide"):
        tests = [(measure, test) for measure, look in zip(wanted, found, strict=True) if (test := getattr(look, name))]
        for (measure, test), p in zip(tests, _corrected([test for _, test in tests]), strict=True):
            if p is not None:
                checks.append(_check(name, measure, test, p, level, allowed[measure]))
    return Alert(system, tuple(checks), found[0].noise, tuple(open_), level, alpha, looks)


class _Look(NamedTuple):
    drop: Tested | None
    slide: Tested | None
    noise: Noise
    open: tuple[str, ...]


def _looked(history: History, line: Line) -> _Look:
    stretch, open_ = line.stretches[-1], []
    results = [point.result for point in stretch.points]
    accepted = line.standing.acceptance if line.standing is not None else None
    names = [result.id for result in results]
    wanted = list(dict.fromkeys([*names, *([accepted.result] if accepted else [])]))
    columns = history.columns(line.measure, stretch.basis.id, wanted)
    known = [name for name in wanted if name in columns]
    of_queries = np.stack([columns[name] for name in known], axis=1)
    _, weight, of_units = history.units(stretch.basis.id, of_queries)
    columns = dict(zip(known, of_units.T, strict=True))
    higher = -1.0 if line.lower_is_better else 1.0
    values = higher * np.stack([columns[name] for name in names], axis=1)
    noise = noise_of(values, [_commit(result) for result in results], weight)
    drop = slid = None
    if accepted is None:
        open_.append("nothing is accepted yet, so no result can be worse than it: cranfield accept")
    elif accepted.result not in columns:
        open_.append("the accepted result is not comparable with the last one: cranfield test measures it again")
    elif names[-1] != accepted.result:
        drop = drop_since(values, higher * columns[accepted.result], noise, weight)
    since = _since(line, results)
    if len(since) < WINDOW:
        more = WINDOW - len(since)
        open_.append(f"a slide needs {WINDOW} comparable results in a row: {more} more to come")
    else:
        slid = slide(values, noise, weight)
    if any(test is not None and test.p is None for test in (drop, slid)):
        open_.append("days shake all queries together: 30 comparable results in a row must show first how far")
    return _Look(drop, slid, noise, tuple(open_))


def _since(line: Line, results: Sequence[Result]) -> list[Result]:
    """The results since something worse was accepted: a loss that was accepted is no slide."""
    worse = [its.at for its, _ in line.acceptances if its.worse]
    known = {its.result for its, _ in line.acceptances if its.worse}
    return [
        *takewhile(
            lambda result: not worse or result.at >= worse[-1] or result.id in known,
            reversed(results),
        )
    ]


def _commit(result: Result) -> str:
    return "" if result.change.dirty else result.change.commit


def _corrected(tests: Sequence[Tested]) -> list[float | None]:
    """p-values by Holm's correction; None where one is not known."""
    known = np.array([1.0 if test.p is None else test.p for test in tests])
    return [None if test.p is None else p for test, p in zip(tests, holm(known).tolist(), strict=True)] if tests else []


def _check(name: str, measure: Measure, test: Tested, p: float, level: float, tolerance: float) -> Check:
    lower = measure.definition.lower_is_better
    verb = "rose" if lower else "fell"
    shown = "< 0.0001" if p < 0.0001 else f"= {p:.4f}"
    beside = f"one-sided p {shown}, alarm at {level:.2g}"
    if name == "drop":
        far = test.loss > tolerance
        said = f"{measure.name} {verb} by {test.loss:.4f} since it was accepted"
        if test.loss <= 0:
            return Check("worse than accepted", True, f"{measure.name} is not worse than accepted")
        if not far:
            said += f", within the tolerance of {tolerance:g}"
        return Check("worse than accepted", not (far and p <= level), f"{said} ({beside})")
    said = f"{measure.name} {verb} by {test.loss:.4f} over the last {WINDOW} results"
    if test.loss <= 0:
        return Check("slide", True, f"{measure.name} does not slide")
    if p == 1:
        return Check("slide", True, f"{said}, but the last result is not below their mean")
    return Check("slide", p > level, f"{said} ({beside})")


def _noise_words(noise: Noise) -> str:
    seen = {
        "repeats": f"in {count(noise.pairs, 'repeat')} of a commit",
        "earlier": f"in {count(noise.pairs, 'step')} between earlier results",
    }.get(noise.seen, "")
    if not seen:
        return (
            f"assumed: {noise.kind}; repeats of a commit would show it, or {EARLIER} results before the last {WINDOW}"
        )
    if noise.ratio is None:
        return f"nothing varies by itself, as seen {seen}"
    return f"{noise.kind}, as seen {seen}: the variance of means is {noise.ratio:.1f} times what queries alone make it"
