"""`cranfield pool`: collect documents for judging."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output, system_options
from cranfield.cli.input_options import FormatOptions
from cranfield.cli.options import argument, option
from cranfield.cli.pool_sources import asked, documents_of, failures, named
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError
from cranfield.io.source import run_name
from cranfield.io.streams import stream_name
from cranfield.judging.pool import ORDERS
from cranfield.judging.pool.choice import PoolPlan
from cranfield.systems.opening import short_names

if TYPE_CHECKING:
    from cranfield.systems.collection import Collection


class ShareOfAll(click.ParamType[float]):
    """A share of something: 10% or 0.1."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A number from 0 to 1."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            number = -1.0
        return number if 0 <= number <= 1 else self.fail(f"'{value}' is not a share such as 10%.", param, ctx)


class PoolOptions(options.OptionGroup, section="Pool"):
    """Which documents are pooled."""

    depth: int = system_options.depth(10, "10")
    query_ids: tuple[str, ...] = system_options.QUERY_IDS
    limit: int | None = option(
        "--limit",
        type=click.IntRange(1),
        metavar="N",
        help="Take at most N documents for each query, the first in the order.",
    )
    order: str | None = system_options.order()
    sample: int | None = option(
        "--sample", type=click.IntRange(1), metavar="N", help="People judge N random queries; models judge all queries."
    )
    sample_below: int = option(
        "--sample-below",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Also take N random documents for each query from below the depth.",
    )
    sample_depth: int = option(
        "--sample-depth", type=click.IntRange(1), default=100, metavar="N", help="How deep --sample-below goes [100]."
    )
    overlap: float = option(
        "--overlap",
        type=ShareOfAll(),
        default="0",
        metavar="SHARE",
        help="The share of documents that two assessors judge, such as 10%.",
    )
    seed: int = options.SEED

    def arguments(self) -> dict[str, Any]:
        """The settings of a pool, by the names that `pool` gives them."""
        wanted = ("sample_below", "sample_depth", "limit", "order", "overlap", "seed")
        return {name: getattr(self, name) for name in wanted} | {"sample": self.sample or 0}


class AskedOptions(system_options.AskingOptions, section="System"):
    """The live systems to pool from."""

    systems: tuple[str, ...] = option(
        "--system", multiple=True, metavar="SYSTEM", help="A live system to ask; may be repeated."
    )


class PoolInputOptions(FormatOptions):
    """Judgments that are there already."""

    qrels: str | None = option(
        "--qrels", metavar="QRELS", help="Judgments to import into the store first: a file or a collection."
    )


class SheetOptions(options.OptionGroup, section="Output"):
    """The sheet to fill in."""

    sheet: str | None = options.file("--sheet", help="Also write the waiting documents as a CSV sheet to fill in.")
    force: bool = options.FORCE


@options.command(
    "pool",
    store=argument(),
    queries=argument(required=False),
    runs=argument(nargs=-1, metavar="[RUN]..."),
    pooling=PoolOptions,
    asking=AskedOptions,
    reading=PoolInputOptions,
    written=SheetOptions,
)
def command(
    store: str,
    queries: str | None,
    runs: tuple[str, ...],
    pooling: PoolOptions,
    asking: AskedOptions,
    reading: PoolInputOptions,
    written: SheetOptions,
) -> int:
    """Collect the first documents of all RUNs in STORE for judging, except those already judged.

    STORE is a file, created if there is none, or the URL of a PostgreSQL database. QUERIES is a file of queries, the
    folder of a collection, 'builtin' or 'ir_datasets:ID'. A RUN is a file, a pattern or a folder; a SYSTEM is
    package.module:name, a name in cranfield.toml, FILE.toml:NAME, or one of SHORT_NAMES. Texts of documents come from
    the collection, or from the answers of a system. The exit code is 1 if a query to a system failed.

    With STORE and --sheet alone, it writes the documents that already wait.

    With --order, documents are judged in that order; otherwise in random order, and a limit keeps the best ranks:

    \b
    ORDERS

    Orders marked with * follow the grades in the store: pool, judge, then pool again for the next documents. Their
    judgments are a biased sample: never estimate from them how many documents are relevant.

    \b
    Examples:
      cranfield pool judgments.db builtin --system sqlite --system sqlite:tuned \\
        --qrels builtin
      cranfield pool judgments.db builtin --system sqlite --depth 5 \\
        --sheet sheet.csv
      cranfield pool judgments.db builtin --system sqlite --system sqlite:tuned \\
        --depth 50 --order mm-ns --limit 10
      cranfield pool judgments.db builtin --system sqlite --sample 20 --seed 7
    """
    sheet = written.sheet
    if queries is None and sheet is None:
        raise click.UsageError(
            "Missing argument 'QUERIES'; without it, --sheet writes the documents that already wait."
        )
    if queries is not None and not (runs or asking.systems):
        raise click.UsageError("there is nothing to pool; give a RUN or a --system.")
    if reading.qrels_format is not None and reading.qrels is None:
        raise click.UsageError("--qrels-format needs --qrels.")
    PoolPlan(pooling.depth, **pooling.arguments()).check()
    say = partial(output.say, err=sheet == "-")  # where the sheet itself goes to standard output
    failed = False
    if queries is not None:
        from cranfield.judging.pool import pool
        from cranfield.judging.pool.returned import chosen_queries
        from cranfield.show.judging_text import pool_lines

        described, collection = _opened(queries, asking.corpus)
        wanted = chosen_queries(pooling.query_ids or list(described), list(described), queries)
        texts = {query: described[query]["text"] for query in wanted}
        deepest = max(pooling.depth, pooling.sample_depth if pooling.sample_below else 1)
        how: dict[str, Any] = {"timeout": asking.timeout, "collapse": asking.collapse, "jobs": asking.jobs}
        answers = [asked(system, collection, texts, deepest, **how) for system in asking.systems]
        if reading.qrels is not None:
            say(_import_judgments(reading.qrels, store, reading.qrels_format))
        pooled = pool(
            store,
            described,
            named(expanded(runs), answers),
            pooling.depth,
            documents=documents_of(answers, collection),
            query_ids=wanted,
            format=reading.format,
            **pooling.arguments(),
        )
        for line in (*pool_lines(pooled, output.width()), *failures(answers)):
            say(line)
        if not os.path.isfile(queries) and collection and collection.qrels is not None and not pooled.judged:
            say(f"  the judgments of {queries} are not in it; --qrels {queries} imports them")
        failed = any(answer.failed for answer in answers)
    if sheet is not None:
        for line in _save_sheet(store, sheet, written.force):
            say(line)
    judge = shlex.join(["cranfield", "judge", stream_name(store)])
    say(f"Next: {output.paint(err=sheet == '-').hint(judge)}")
    return 1 if failed else 0


_WIDEST = max(map(len, ORDERS))
_ORDERS = (f"{name:{_WIDEST}} {'*' if order.follows_grades else ' '} {order.meaning}" for name, order in ORDERS.items())
options.fill_help(command, SHORT_NAMES=", ".join(short_names()), ORDERS="\n    ".join(_ORDERS))


def _opened(queries: str, corpus: str | None) -> tuple[dict[str, dict[str, str]], Collection | None]:
    """The texts and narratives of the queries, and the collection that has the documents."""
    from cranfield.systems.collection import open_collection
    from cranfield.systems.query_files import read_query_texts

    collection = open_collection(corpus) if corpus else None
    if os.path.isfile(queries):
        return {query: text._asdict() for query, text in read_query_texts(queries).items()}, collection
    asked = open_collection(queries)
    narratives = asked.narratives
    described = {query: {"text": text, "narrative": narratives.get(query, "")} for query, text in asked.queries.items()}
    return described, collection or asked


def _import_judgments(qrels: str, store: str, format: str | None) -> str:
    """Import judgments from a file or a collection; returns what was imported."""
    from cranfield.judging.store import import_file
    from cranfield.systems.collection import BUILTIN, IR_DATASETS, open_collection

    held: Any = qrels
    if qrels == BUILTIN or qrels.startswith(IR_DATASETS) or os.path.isdir(qrels):
        held = open_collection(qrels).qrels
        if held is None:
            raise InputError(qrels, "this collection has no judgments.")
    return str(import_file(held, store, run_name(qrels), format=format))


def _save_sheet(store: str, sheet: str, force: bool) -> Iterator[str]:
    from cranfield.judging.store import open_store, save_sheet
    from cranfield.show.judging_text import sheet_lines

    with open_store(store, read_only=True) as opened:
        written = save_sheet(opened, sheet, force=force)
    return sheet_lines(written, opened.name, output.width())
