"""Which judgments of a store: whose they are, and how several of one document are merged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from cranfield.judging.kinds import BY_PEOPLE, KINDS
from cranfield.judging.merging import RULES
from cranfield.read.formats.store import JudgmentView

ASSESSORS = click.option(
    "--assessor", "assessors", multiple=True, metavar="NAME", help="An assessor of a store; may be repeated."
)
KINDS_OF_ASSESSORS = click.option(
    "--kind",
    "kinds",
    type=click.Choice(list(KINDS)),
    multiple=True,
    help=f"With a store: a kind of assessor; may be repeated [{', '.join(BY_PEOPLE)}].",
)
MERGE = click.option(
    "--merge",
    type=click.Choice(list(RULES)),
    help=f"With a store: which grade counts where assessors differ [{next(iter(RULES))}].",
)
POOLED = click.option(
    "--pooled", is_flag=True, help="With a store: include documents that were pooled but not judged, as -1, for infAP."
)


def chosen_view(
    assessors: tuple[str, ...], kinds: tuple[str, ...], merge: str | None, pooled: bool
) -> JudgmentView | None:
    """The view that the options choose; None if none was given."""
    if not (assessors or kinds or merge or pooled):
        return None
    return JudgmentView(assessors or None, merge, kinds or None, pooled)


def view_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that turn a command's `qrels` into a view of a store; without them, `qrels` stay as they are."""

    @functools.wraps(function)
    def command(
        assessors: tuple[str, ...], kinds: tuple[str, ...], merge: str | None, pooled: bool, **values: Any
    ) -> Any:
        view = chosen_view(assessors, kinds, merge, pooled)
        if view is not None:
            if values["qrels"] is None:
                raise click.UsageError("these options choose assessors from QRELS, which is missing; give it here.")
            values["qrels"] = view.of(values["qrels"])
        return function(**values)

    for option in (POOLED, KINDS_OF_ASSESSORS, MERGE, ASSESSORS):
        option(command)
    return command
