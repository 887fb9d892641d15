"""A plugin for pytest: `search_quality(system).at_least("nDCG@10", 0.4)`.

The collection comes from the call, from the marker `@pytest.mark.search_quality(collection=…)`, or from the setting
`search_quality_collection` in pytest's own configuration. Nothing is imported before a test uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cranfield.result import Evaluation
    from cranfield.systems.collection import Collection
    from cranfield.systems.recording import Recorded

_WORST = 3


class SearchQuality:
    """A system that was asked all judged queries of a collection; `at_least` and `at_most` say what must hold."""

    def __init__(self, system: Any, collection: Collection, folder: Path, *, k: int = 100, **options: Any) -> None:
        from cranfield.systems.opening import open_system
        from cranfield.systems.recording import record

        self._collection = collection
        opened = open_system(system, collection)
        try:
            name = re.sub(r"[^\w.-]", "_", opened.name)
            self.recorded: Recorded = record(opened, collection.judged_queries(), folder / f"{name}.tsv", k, **options)
        finally:
            opened.close()

    def evaluate(self, *measures: str) -> Evaluation:
        """The values of some measures; fails if a query was not answered."""
        from cranfield.show.recorded import recorded_lines
        from cranfield.systems.testing import measured

        evaluation = measured(self.recorded, self._collection, measures)
        if not self.recorded.complete or evaluation is None:
            pytest.fail("\n".join(recorded_lines(self.recorded)), pytrace=False)
        return evaluation

    def at_least(self, measure: str, value: float) -> SearchQuality:
        """Fail if the mean of a measure is below a value."""
        return self._hold(measure, value, "at least", lambda mean: mean >= value)

    def at_most(self, measure: str, value: float) -> SearchQuality:
        """Fail if the mean of a measure is above a value."""
        return self._hold(measure, value, "at most", lambda mean: mean <= value)

    def _hold(self, measure: str, value: float, side: str, holds: Callable[[float], bool]) -> SearchQuality:
        from cranfield.show.tested import miss_lines
        from cranfield.systems.misses import misses

        evaluation = self.evaluate(measure)
        if not holds(evaluation[measure]):
            poor = evaluation.worst(measure, _WORST) if side == "at least" else []
            name = next(iter(evaluation))
            lines = [
                f"{evaluation.run}: {name} is {evaluation[measure]:.4f} and must be {side} {value:g}",
                f"{evaluation.describe_counts()}; Judged@10 {evaluation['Judged@10']:.4f}",
                *(["", "the worst queries:"] if poor else []),
            ]
            for miss in misses(evaluation, self.recorded.path, self._collection, poor):
                lines += miss_lines(miss)
            pytest.fail("\n".join(lines), pytrace=False)
        return self


def pytest_addoption(parser: pytest.Parser) -> None:
    """The collection for tests that name none."""
    parser.addini("search_quality_collection", "the collection that search_quality asks about: a folder or 'builtin'")


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers",
        "search_quality(collection=…, k=100, jobs=1): a test of a search system, and what search_quality() asks it",
    )


@pytest.fixture
def search_quality(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., SearchQuality]:
    """Ask a system all judged queries: search_quality(system, collection=…, k=100, jobs=1)."""
    marker = request.node.get_closest_marker("search_quality")
    marked = dict(marker.kwargs) if marker else {}
    usual = request.config.getini("search_quality_collection")
    calls = 0

    def ask(system: Any, collection: Any = None, **options: Any) -> SearchQuality:
        from cranfield.systems.collection import open_collection

        nonlocal calls
        calls += 1
        chosen = {**marked, **options}
        named = collection or chosen.pop("collection", None)
        chosen.pop("collection", None)
        if named is None and usual:
            named = usual if usual == "builtin" or ":" in usual else request.config.rootpath / usual
        if named is None:
            pytest.fail(
                "search_quality needs a collection: give one, or set search_quality_collection in pytest's settings",
                pytrace=False,
            )
        folder = tmp_path / f"search_quality_{calls}"
        return SearchQuality(system, open_collection(named), folder, **chosen)

    return ask
