"""`cranfield judge STORE --assessor NAME`: a model judges the waiting documents."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import output
from cranfield.cli.options import OptionGroup, Read, flag, jobs, number, option
from cranfield.cli.process import INTERRUPTED
from cranfield.errors import InputError
from cranfield.judging.models.ask_model import CANARIES
from cranfield.show.layout import wrapped
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.judging.decide import Decision, PairLook
    from cranfield.judging.models import ModelAssessor, ModelProgress
    from cranfield.judging.models.session import Asking
    from cranfield.judging.store import Store


def setting(text: str) -> tuple[str, Any]:
    """A setting of an assessor and its value, as TOML writes it: temperature=0.5."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):  # then it is text
        return name.strip(), value


class ModelOptions(OptionGroup, section="Model"):
    model_assessors: tuple[str, ...] = option(
        "--assessor",
        multiple=True,
        metavar="NAME",
        help="The model to ask: a name in cranfield.toml, or package.module:name; may be repeated. With --clicks, the "
        "name under which grades are saved [clicks].",
    )
    settings: tuple[tuple[str, Any], ...] = option(
        "--set",
        type=Read(setting, "is not a setting, such as 'temperature=0.5'."),
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the model: url, model, key (an environment variable), prompt, samples, …",
    )
    jobs: int = jobs(4)
    limit: int | None = number("--limit", least=1, help="At most N requests.")
    budget: int | None = option(
        "--budget", type=click.IntRange(1), metavar="TOKENS", help="Spend at most TOKENS tokens on this assessor."
    )
    canaries: int = number(
        "--canaries", most=1000, default=CANARIES, help=f"Add N decoy documents that only look relevant [{CANARIES}]."
    )
    check_order: int = number(
        "--check-order",
        most=100_000,
        default=0,
        help="Ask which of two documents is better, for N pairs in both orders [0].",
    )
    again: bool = flag("--again", help="Ask again about documents for which the model's reply could not be read.")
    dry_run: bool = flag(
        "--dry-run",
        "--estimate",
        help="Only print how many requests and tokens it would take, and the price; or grades by clicks.",
    )
    show_missing: bool = flag("--show-missing", help="List the documents that the model did not grade, and why.")

    @property
    def named(self) -> list[str]:
        """The options that were given although they only make sense with --assessor."""
        fields = ("settings", "limit", "budget", "check_order", "again", "dry_run", "show_missing")
        return [self.declared[name][0].names[0] for name in fields if getattr(self, name)]


def judge_with_model(store: Store, name: str, options: ModelOptions, config: Path) -> None:
    from cranfield.show.judging_text import estimate_lines, missing_lines, report_lines

    assessor = _chosen_assessor(name, options, config)
    with _asking(store, assessor, options) as asking:
        estimate = asking.plan(options.canaries, options.check_order)
        for line in estimate_lines(assessor.name, estimate, asking.budget, asking.costs, counted=assessor.call is None):
            output.say(line)
        if options.dry_run:
            return
        sys.stdout.flush()
        with _shown_progress(assessor.name, options.check_order) as progress:
            asked = asking.run(progress)
    output.write(report_lines(asked, output.width()))
    if options.show_missing:
        output.write(missing_lines(asked.missing))
    elif asked.missing:
        output.say("  Hint: --show-missing lists them; --again asks again where a reply could not be read")
    if asked.stopped == "interrupted":
        click.get_current_context().exit(INTERRUPTED)


def decide_with_model(
    store: Store, name: str, options: ModelOptions, config: Path, make: Callable[[Any], Decision]
) -> None:
    """Ask a model until it is decided which run is better by its grades, and print the verdict."""
    from cranfield.judging.models.session import decide_by_model, most_to_ask
    from cranfield.show.judging_text import check_lines, failed_text, most_lines, spent_text, stopped_line

    if options.check_order or options.show_missing:
        raise click.UsageError("--check-order and --show-missing cannot be used with --decide.")
    assessor = _chosen_assessor(name, options, config)
    with _asking(store, assessor, options) as asking:
        if options.dry_run:
            look, most = most_to_ask(store, asking, make, options.canaries)
            for line in most_lines(assessor.name, look, most, asking.budget, asking.costs, assessor.call is None):
                output.say(line)
            return
        decision, reports = decide_by_model(store, asking, make, options.canaries)
    for last in reports[-1:]:
        output.say(f"{assessor.name}: {spent_text(last)}")
        if last.failed:
            output.say(f"  {failed_text(last.failed, last.failed_tokens)}, counted in the budget")
        output.write(check_lines(reports[0]))
    look = decision.look()
    output.say(f"By the grades of {assessor.name}, {count(look.judged, 'document')} judged:")
    for pair in look.pairs:
        output.write(wrapped(" ".join([pair.reason, *_difference(pair)]), "  ", width=output.width()))
    output.say("  Hint: 'cranfield agreement' and --correct-with show whether people would agree")
    if reports and reports[-1].stopped:
        output.say(stopped_line(reports[-1]))
        if reports[-1].stopped == "interrupted":
            click.get_current_context().exit(INTERRUPTED)


def _difference(pair: PairLook) -> Iterator[str]:
    if pair.difference is not None and pair.low is not None and pair.high is not None:
        yield f"Difference {pair.difference:+.4f}, {pair.low:+.4f} to {pair.high:+.4f}."


def _asking(store: Store, assessor: ModelAssessor, options: ModelOptions) -> Asking:
    from cranfield.judging.models.session import Asking

    return Asking(store, assessor, jobs=options.jobs, limit=options.limit, budget=options.budget, again=options.again)


def _chosen_assessor(name: str, options: ModelOptions, config: Path) -> ModelAssessor:
    from cranfield.io.settings import read_toml
    from cranfield.judging.models import ModelAssessor
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
        usual = "cranfield.toml describes one in [assessors.NAME]"
        known = f"{config} describes {', '.join(described)}" if described else usual
        hint = f"{known}; or --set url=… --set model=…, or package.module:name"
        raise InputError(str(config), f"there is no assessor '{name}'.", hint=hint)
    else:
        where = f"--assessor {name}"
    return ModelAssessor._of_settings(name, settings, where, folder=config.parent, load=load_object)


@contextmanager
def _shown_progress(name: str, pairs: int) -> Iterator[ModelProgress]:
    """Show the progress of the model on a terminal while the block runs."""
    from cranfield.io.progress import WorkProgress
    from cranfield.judging.models import ModelProgress
    from cranfield.judging.models.work import AskingEstimate

    class ShownProgress(ModelProgress):
        def __init__(self, shown: WorkProgress) -> None:
            self._shown = shown

        def start(self, estimate: AskingEstimate) -> None:
            self._shown.begin(0, estimate.documents + estimate.unread + estimate.canaries + pairs)

        def document(self, failed: bool) -> None:
            self._shown.advance(failed=failed)

        def stopping(self, under_way: int) -> None:
            if under_way:
                waited = f"Waiting for {count(under_way, 'request')} in progress; press Ctrl-C again to stop at once."
                output.say(waited, err=True)

    with output.shown_progress(name) as shown:
        yield ShownProgress(shown)
