"""Options about live systems, and about which documents are judged in which order."""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli.options import OptionGroup, option
from cranfield.words import joined

QUERY_IDS = option("--query", multiple=True, metavar="ID", help="Only this query; may be repeated.")


def jobs(default: int) -> Any:
    help_text = f"How many requests run at a time [{default}]."
    return option("--jobs", type=click.IntRange(1, 256), default=default, metavar="N", help=help_text)


class AskingOptions(OptionGroup, section="System"):
    jobs: int = jobs(1)
    timeout: float | None = option(
        "--timeout", type=click.FloatRange(0.001), metavar="SECONDS", help="Seconds to wait for a server's answer."
    )
    collapse: str | None = option(
        "--collapse",
        metavar="RULE",
        help="Turn ids of chunks into ids of documents: a separator such as '#', a regular expression with one group, "
        "or a file of two columns.",
    )
    corpus: str | None

    def __init_subclass__(cls, **others: Any) -> None:
        from cranfield.systems.opening import KINDS

        names = joined((name for name, kind in KINDS.items() if kind.short), "and")
        help_text = f"The collection with the documents that {names} search."
        cls.corpus = option("--corpus", metavar="COLLECTION", help=help_text)
        super().__init_subclass__(**others)


def order() -> Any:
    from cranfield.judging.pool import ORDERS

    help_text = f"The order in which documents are judged: {joined(ORDERS, 'or')} [at random]."
    return option("--order", type=click.Choice(list(ORDERS)), metavar="ORDER", help=help_text)


def depth(default: int | None, shown: str) -> Any:
    return option("--depth", type=int, default=default, metavar="N", help=f"The deepest rank read [{shown}].")
