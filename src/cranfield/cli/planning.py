"""`cranfield pool --plan`: how many documents must be judged, and the command that draws them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import MEASURES
from cranfield.cli.options import option
from cranfield.errors import InputError
from cranfield.io.formats.store import StoreFormat

if TYPE_CHECKING:
    from cranfield.ranks.judgments import Judgments

ONLY_PLANNED = ("plan", "measures")
# What a plan cannot be combined with: it chooses the sample itself, and stores nothing.
CHOSEN_BY_PLAN = ("sample_below", "limit", "order", "sample", "overlap", "sheet", "force", "scale")


class PlanOptions(options.OptionGroup, section="Pool"):
    plan: float | None = option(
        "--plan",
        parameter="within",
        type=float,
        metavar="WIDTH",
        help="Store nothing; say how many documents --sample-below must draw to know a measure within WIDTH, such as "
        "0.02: xinfAP, infNDCG or statAP [xinfAP].",
    )
    measures: tuple[str, ...] = MEASURES

    @property
    def measure(self) -> str:
        return self.measures[0] if self.measures else "xinfAP"

    def check(self) -> None:
        """Refuse what means nothing beside --plan, or without it, before any system is asked."""
        for parameter in _given(click.get_current_context()):
            if self.plan is not None and parameter.name in CHOSEN_BY_PLAN:
                fact = f"--plan chooses the sample and stores nothing: leave out {_name(parameter)}."
                raise click.UsageError(fact)
            if self.plan is None and parameter.name in ONLY_PLANNED:
                raise click.UsageError(f"{_name(parameter)} needs --plan.")
        if self.plan is not None:
            from cranfield.judging.pool.planning import estimator_of

            if len(self.measures) > 1:
                raise click.UsageError("a plan is about one measure; give -m once.")
            estimator_of(self.measure, self.plan)


def show_plan(
    store: str,
    queries: Mapping[str, Any],
    runs: Mapping[str, Any],
    width: float,
    measure: str,
    qrels: Judgments | None,
    **how: Any,
) -> None:
    """Print a plan, and the command that draws its sample. qrels: judgments that are not in the store yet."""
    from cranfield.judging.pool.planning import plan_sample
    from cranfield.judging.store import open_store
    from cranfield.show.judging_text import plan_lines

    exists = store.startswith(StoreFormat.addresses) or os.path.exists(store)
    if exists and qrels is not None:
        fact = "there is a store already, so the judgments of --qrels cannot be planned with."
        raise InputError(store, fact, hint="import them first: cranfield convert QRELS STORE --assessor NAME")
    opened: AbstractContextManager[Any] = open_store(store, read_only=True) if exists else nullcontext(qrels)
    with opened as judgments, output.shown_progress("simulating samples"):
        plan = plan_sample(queries, runs, width, measure, judgments=judgments, **how)
    for line in plan_lines(plan, output.width(), output.paint()):
        output.say(line)
    if plan.chosen.documents:
        drawn = ["--sample-below", str(plan.chosen.sample_below)]
        output.say(f"Next: {output.paint().hint(shlex.join(['cranfield', 'pool', *_again(), *drawn]))}")


def _again() -> list[str]:
    """The arguments and options of this call, without those that only plan."""
    context = click.get_current_context()
    words: list[str] = []
    for parameter in _given(context):
        value = context.params[parameter.name or ""]
        values = value if isinstance(value, tuple) else [value]
        if isinstance(parameter, click.Argument):
            words += map(str, values)
        elif parameter.name not in ONLY_PLANNED:
            name = _name(parameter)
            words += [name] if getattr(parameter, "is_flag", False) else [w for v in values for w in (name, str(v))]
    return words


def _given(context: click.Context) -> Sequence[click.Parameter]:
    source = click.core.ParameterSource.COMMANDLINE
    return [it for it in context.command.params if context.get_parameter_source(it.name or "") is source]


def _name(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len)
