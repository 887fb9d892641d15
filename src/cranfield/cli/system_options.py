"""Options about asking a live system, and about which queries and documents it is asked for."""

from __future__ import annotations

import click

from cranfield.cli.options import Decorator
from cranfield.layout import joined


def jobs(default: int) -> Decorator:
    """How many requests are under way at a time."""
    help_text = f"How many requests run at a time [{default}]."
    return click.option("--jobs", type=click.IntRange(1, 256), default=default, help=help_text)


def corpus() -> Decorator:
    """The documents for systems that index them."""
    from cranfield.systems.opening import KINDS

    names = joined((name for name, kind in KINDS.items() if kind.short), "and")
    help_text = f"The collection with the documents that {names} search."
    return click.option("--corpus", metavar="COLLECTION", help=help_text)


JOBS = jobs(1)
TIMEOUT = click.option("--timeout", type=click.FloatRange(0.001), help="Seconds to wait for a server's answer.")
COLLAPSE = click.option(
    "--collapse",
    metavar="RULE",
    help="Turn ids of chunks into ids of documents: a separator such as '#', a regular expression with one group, "
    "or a file of two columns.",
)
QUERY_IDS = click.option("--query", "query_ids", multiple=True, metavar="ID", help="Only this query; may be repeated.")
