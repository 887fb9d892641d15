"""A plugin for pytest: `search_quality(system).at_least("nDCG@10", 0.4)`.

The settings come from the nearest cranfield.toml at or above the test, as for `cranfield test`. The collection
may also come from the call, from the marker `@pytest.mark.search_quality(collection=…)`, or from the setting
`search_quality_collection` in pytest's own configuration. Nothing is imported before a test uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.systems.collection import Collection
    from cranfield.systems.project import Project
    from cranfield.systems.recorded import Recorded

_WORST = 3
_HOW = "Hint: run pytest once with --accept-search-quality, look at the result, and commit that folder"


@contextmanager
def _errors_only() -> Iterator[None]:
    """Errors of cranfield fail the test with their message alone: our code in the traceback would not help."""
    from cranfield.errors import CranfieldError

    try:
        yield
    except CranfieldError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


class SearchQuality:
    """A system that was asked all judged queries of a collection; its methods say what must hold."""

    def __init__(
        self,
        system: Any,
        project: Project,
        collection: Collection,
        folder: Path,
        *,
        name: str = "",
        accept: bool = False,
        **read: str | None,
    ) -> None:
        from cranfield.systems.asking import Silent
        from cranfield.systems.testing import asked

        self._project, self._collection, self._accept = project, collection, accept
        known = isinstance(system, str) and system in project.systems
        self._name = name or (system if known else "")
        called = self._name or getattr(system, "name", "") or getattr(system, "__name__", str(system))
        path = folder / (re.sub(r"[^\w.-]", "_", called) + ".run.tsv")
        described = dict(project.systems[system]) if known else system
        self.recorded: Recorded
        self.recorded, self._judged = asked(
            project, collection, described, self._name, path, lambda _: nullcontext(Silent()), **read
        )
        self._name = self._name or self.recorded.system

    @_errors_only()
    def evaluate(self, *measures: str) -> Evaluation:
        """The values of some measures; fails if a query was not answered, unless [gate] allows it by max_failed."""
        from cranfield.measures import parse_measures
        from cranfield.show.systems_text import recorded_lines
        from cranfield.systems.testing import enough, measured

        wanted = parse_measures([*measures, "Judged@10"])
        evaluation = measured(
            self.recorded, self._judged.judgments, wanted, self._project, self._name, self._judged.gone or frozenset()
        )
        if evaluation is None or not enough(self._project, self.recorded):
            pytest.fail("\n".join(recorded_lines(self.recorded)), pytrace=False)
        return evaluation

    @_errors_only()
    def not_worse_than_accepted(self) -> SearchQuality:
        """Fail if the system is worse than its accepted result, beyond the tolerance and beyond chance.

        The rules are those of [gate] in cranfield.toml, as for `cranfield test`; the accepted result is the one of the
        system's name in the folder that `baseline` names. With --accept-search-quality, the result is accepted.
        """
        from cranfield.io.target import locked
        from cranfield.systems.accepting import VALUES, Result, keep, reviewed, save_result
        from cranfield.systems.history.change import Moment
        from cranfield.systems.project import refuse_name
        from cranfield.systems.testing import beside_accepted

        refuse_name(self._name, "search_quality", hint='give it one: search_quality(…, name="…")')
        project, path = self._project, Path(self.recorded.path)
        names = (*project.measures, *project.gate.get("measures", ()), *project.gate.get("minimum", {}))
        evaluation = self.evaluate(*names)
        if self._accept:
            if not self.recorded.complete:
                pytest.fail("only a run with all queries answered is accepted", pytrace=False)
            saved = path.with_suffix(".values.json")
            moment = Moment.now(project.folder, (project.baseline,))
            save_result(evaluation, self.recorded, self._judged, saved, moment)
            with locked(project.result_path("lock"), "testing here", wait=True):  # for other workers of pytest
                review = reviewed(project, "accepted by pytest")
                keep(project, {self._name: Result(evaluation, saved, path)}, {self._name: review})
            return self
        beside = beside_accepted(project, self._collection, self._judged, evaluation, self.recorded)
        if beside is None:
            where = project.accepted_path(f"{self._name}{VALUES}")
            pytest.fail(f"nothing is accepted for '{self._name}' yet: {where} does not exist.\n{_HOW}", pytrace=False)
        failed = [check.message for check in beside.failed_checks]
        if failed:
            doubts = [f"warning: {text}" for text in beside.gate.warnings] if beside.gate is not None else []
            lines = [*doubts, f"{self._name} is worse than accepted", *failed, *beside.notes]
            pytest.fail("\n".join(lines), pytrace=False)
        return self

    def at_least(self, measure: str, value: float) -> SearchQuality:
        """Fail if the mean of a measure is below a value."""
        return self._hold(measure, value, "at least", lambda mean: mean >= value)

    def at_most(self, measure: str, value: float) -> SearchQuality:
        """Fail if the mean of a measure is above a value."""
        return self._hold(measure, value, "at most", lambda mean: mean <= value)

    def _hold(self, measure: str, value: float, side: str, holds: Callable[[float], bool]) -> SearchQuality:
        from cranfield.comparison.differences import value_text
        from cranfield.show.systems_text import miss_lines
        from cranfield.systems.misses import misses

        evaluation = self.evaluate(measure)
        if not holds(evaluation[measure]):
            missed = misses(evaluation, self._collection, measure, _WORST if side == "at least" else 0)
            name = evaluation.heading(next(iter(evaluation)))
            lines = [
                f"{evaluation.run}: {name} is {value_text(evaluation[measure], value)} and must be {side} {value:g}",
                f"{evaluation.describe_counts()}{_judged_text(evaluation)}",
                *self._judged.notes,
                *(["", "the worst query:" if len(missed) == 1 else "the worst queries:"] if missed else []),
            ]
            for miss in missed:
                lines += miss_lines(miss)
            pytest.fail("\n".join(lines), pytrace=False)
        return self


def _judged_text(evaluation: Evaluation) -> str:
    """How much of what was returned is judged: `Judged@10` also counts queries that returned nothing."""
    from cranfield.words import percent

    share = evaluation.facts("Judged@10").judged_share()
    return "" if share is None else f"; {percent(share)} of the returned top 10 judged"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The collection for tests that name none."""
    parser.addini("search_quality_collection", "the collection that search_quality uses: a folder or 'builtin'")
    help_text = "accept the results of search_quality, for not_worse_than_accepted() in later runs"
    parser.getgroup("cranfield").addoption("--accept-search-quality", action="store_true", help=help_text)


def pytest_configure(config: pytest.Config) -> None:
    """The marker."""
    config.addinivalue_line(
        "markers",
        "search_quality(collection=…, k=100, id=…, collapse=…): a test of a search system, and what to ask it; "
        "any setting of cranfield.toml",
    )


@pytest.fixture
def search_quality(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., SearchQuality]:
    """Ask a system all judged queries: search_quality(system, collection=…, k=100, id=…, collapse=…).

    Options are the settings of cranfield.toml; id, score and order, as `open_system` takes them; and name, under which
    results are accepted.
    """
    marker = request.node.get_closest_marker("search_quality")
    marked = dict(marker.kwargs) if marker else {}
    calls = 0

    @_errors_only()
    def ask(system: Any, collection: Any = None, **options: Any) -> SearchQuality:
        from cranfield.systems.collection import kept_in_memory, open_collection

        nonlocal calls
        calls += 1
        chosen = {**marked, **options}
        named = chosen.pop("collection", None) if collection is None else collection
        chosen.pop("collection", None)
        read = {key: chosen.pop(key, None) for key in ("id", "score", "order")}
        name = chosen.pop("name", "")
        project = _project(request).changed(chosen)
        usual = request.config.getini("search_quality_collection")
        if named is None and usual:
            named = usual if usual == "builtin" or ":" in usual else request.config.rootpath / usual
        if named is None and not project.collection:
            pytest.fail(
                "search_quality needs a collection: give one, or name it in cranfield.toml or in pytest's settings",
                pytrace=False,
            )
        opened = project.open_collection() if named is None else open_collection(named)
        project = project.expecting(opened.queries)
        folder = tmp_path / f"search_quality_{calls}"
        accept = request.config.getoption("--accept-search-quality")
        return SearchQuality(system, project, kept_in_memory(opened), folder, name=name, accept=accept, **read)

    return ask


def _project(request: pytest.FixtureRequest) -> Project:
    """The nearest cranfield.toml from the test's folder up to pytest's root; the default settings without one."""
    from cranfield.io.settings import SETTINGS_FILE
    from cranfield.systems.project import Project, read_project

    root = request.config.rootpath
    folder = request.node.path.parent
    for place in (folder, *folder.parents):
        if (place / SETTINGS_FILE).is_file():
            return read_project(place / SETTINGS_FILE)
        if place == root:
            break
    return Project(root / SETTINGS_FILE, "", {})
