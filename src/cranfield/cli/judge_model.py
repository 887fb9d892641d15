"""`cranfield judge STORE --assessor NAME`: a model judges what waits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import output
from cranfield.cli.model_options import ModelOptions
from cranfield.errors import InputError
from cranfield.layout import count, visible

if TYPE_CHECKING:
    from cranfield.judging.models.asking import ModelProgress
    from cranfield.judging.models.assessor import ModelAssessor
    from cranfield.judging.store import Store

INTERRUPTED = 130


def judge_with_model(store: Store, name: str, options: ModelOptions, config: Path) -> None:
    """Ask a model about what waits, and print what came of it."""
    from cranfield.judging.models.asked_text import asked_lines, estimate_lines, missing_lines
    from cranfield.judging.models.session import Asking

    assessor = chosen_assessor(name, options, config)
    with Asking(
        store, assessor, jobs=options.jobs, requests=options.limit, budget=options.budget, again=options.again
    ) as asking:
        estimate = asking.plan(options.canaries, options.check_order)
        for line in estimate_lines(assessor.name, estimate, asking.budget, asking.spent, counted=assessor.call is None):
            output.say(line)
        if options.dry_run:
            return
        sys.stdout.flush()
        with _shown_progress(assessor.name, options.check_order) as progress:
            asked = asking.run(progress)
    output.write(asked_lines(asked, output.width()))
    if options.show_missing:
        output.write(missing_lines(asked.missing))
    elif asked.missing:
        output.say("  Hint: --show-missing lists them; --again asks again where a reply could not be read")
    if asked.stopped == "interrupted":
        click.get_current_context().exit(INTERRUPTED)


def chosen_assessor(name: str, options: ModelOptions, config: Path) -> ModelAssessor:
    """The model that the command line names, or describes."""
    from cranfield.judging.models.assessor import ModelAssessor
    from cranfield.read.settings import read_toml
    from cranfield.systems.python import load_object

    settings: dict[str, Any] = dict(options.settings)
    described: Any = read_toml(config).get("assessors", {}) if config.is_file() else {}
    where = f"{config}: [assessors.{name}]"
    if not isinstance(described, dict):
        raise InputError(str(config), "assessors is not a table.", hint="describe an assessor in [assessors.NAME]")
    if name in described:
        if not isinstance(described[name], dict):
            raise InputError(str(config), f"assessors.{name} is not a table.")
        settings = {**described[name], **settings}
    elif ":" in name and "url" not in settings:
        settings = {"object": name, **settings}
    elif not settings:
        known = (
            f"{config} describes {', '.join(described)}"
            if described
            else "cranfield.toml describes one in [assessors.NAME]"
        )
        hint = f"{known}; or --set url=… --set model=…, or package.module:name"
        raise InputError(str(config), f"there is no assessor '{name}'.", hint=hint)
    else:
        where = f"--assessor {name}"
    return ModelAssessor._of_settings(name, settings, where, folder=config.parent, load=load_object)


@contextmanager
def _shown_progress(name: str, pairs: int) -> Iterator[ModelProgress]:
    """A bar on a terminal while the block runs."""
    from cranfield.cli.progress import bar_on_terminal
    from cranfield.judging.models.asking import ModelProgress
    from cranfield.judging.models.work import AskingEstimate

    class BarProgress(ModelProgress):
        def __init__(self, bar: Any) -> None:
            self._bar, self._failed, self._task = bar, 0, None

        def start(self, estimate: AskingEstimate) -> None:
            total = estimate.documents + estimate.unread + estimate.canaries + pairs
            if self._bar is not None:
                self._task = self._bar.add_task(visible(name), total=total, failed=0)

        def document(self, failed: bool) -> None:
            self._failed += failed
            if self._bar is not None:
                self._bar.update(self._task, advance=1, failed=self._failed)

        def stopping(self, under_way: int) -> None:
            if under_way:
                waited = f"Waiting for {count(under_way, 'request')} under way; Ctrl-C again ends at once."
                output.say(waited, err=True)

    with bar_on_terminal() as bar:
        yield BarProgress(bar)
