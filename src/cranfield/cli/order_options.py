"""The options that say which documents are judged first."""

from __future__ import annotations

import click

from cranfield.cli.options import Decorator
from cranfield.judging.ordering import ORDERS
from cranfield.layout import joined

ORDER = click.option(
    "--order",
    type=click.Choice(list(ORDERS)),
    metavar="ORDER",
    help=f"The order in which documents are judged: {joined(ORDERS, 'or')} [at random].",
)


def depth(default: int | None, shown: str) -> Decorator:
    """How deep runs are read."""
    return click.option("--depth", type=int, default=default, metavar="N", help=f"The deepest rank read [{shown}].")
