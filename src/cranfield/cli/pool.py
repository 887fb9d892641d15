"""`cranfield pool`: collect documents for judging."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, order_options, output, system_options
from cranfield.cli.pool_sources import asked, documents_of, failures, named
from cranfield.cli.reading_options import QRELS_FORMAT, RUN_FORMAT
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError
from cranfield.judging.ordering import ORDERS
from cranfield.judging.pool_choice import PoolPlan
from cranfield.read.source import run_name
from cranfield.read.streams import stream_name
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


@click.command("pool")
@click.argument("store")
@click.argument("queries", required=False)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--system", "systems", multiple=True, metavar="SYSTEM", help="A live system to ask; may be repeated.")
@order_options.depth(10, "10")
@system_options.QUERY_IDS
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="Take at most N documents for each query, the first in the order.",
)
@order_options.ORDER
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="People judge N random queries; models judge all queries."
)
@click.option(
    "--sample-below",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Also take N random documents for each query from below the depth.",
)
@click.option(
    "--sample-depth", type=click.IntRange(1), default=100, metavar="N", help="How deep --sample-below goes [100]."
)
@click.option(
    "--overlap",
    type=ShareOfAll(),
    default="0",
    metavar="SHARE",
    help="The share of documents that two assessors judge, such as 10%.",
)
@click.option("--qrels", metavar="QRELS", help="Judgments to import into the store first: a file or a collection.")
@system_options.corpus()
@system_options.JOBS
@system_options.TIMEOUT
@system_options.COLLAPSE
@RUN_FORMAT
@QRELS_FORMAT
@options.seed()
@click.option(
    "--sheet", type=options.FILE, metavar="FILE", help="Also write the waiting documents as a CSV sheet to fill in."
)
@options.force
def command(
    store: str,
    queries: str | None,
    runs: tuple[str, ...],
    systems: tuple[str, ...],
    depth: int,
    query_ids: tuple[str, ...],
    limit: int | None,
    order: str | None,
    sample: int | None,
    sample_below: int,
    sample_depth: int,
    overlap: float,
    qrels: str | None,
    corpus: str | None,
    jobs: int,
    timeout: float | None,
    collapse: str | None,
    run_format: str | None,
    qrels_format: str | None,
    seed: int,
    sheet: str | None,
    force: bool,
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
    if queries is None and sheet is None:
        raise click.UsageError(
            "Missing argument 'QUERIES'; without it, --sheet writes the documents that already wait."
        )
    if queries is not None and not (runs or systems):
        raise click.UsageError("there is nothing to pool; give a RUN or a --system.")
    if qrels_format is not None and qrels is None:
        raise click.UsageError("--qrels-format needs --qrels.")
    PoolPlan(depth, sample_below, sample_depth, limit, overlap, seed, sample or 0, order).check()
    say = partial(output.say, err=sheet == "-")  # where the sheet itself goes to standard output
    failed = False
    if queries is not None:
        from cranfield.judging.pool_text import pool_lines
        from cranfield.judging.pooling import chosen_queries, pool

        described, collection = _opened(queries, corpus)
        wanted = chosen_queries(query_ids or list(described), list(described), queries)
        texts = {query: described[query]["text"] for query in wanted}
        deepest = max(depth, sample_depth if sample_below else 1)
        answers = [
            asked(system, collection, texts, deepest, timeout=timeout, collapse=collapse, jobs=jobs)
            for system in systems
        ]
        if qrels is not None:
            say(_import_judgments(qrels, store, qrels_format))
        found = pool(
            store,
            described,
            named(expanded(runs), answers),
            depth,
            documents=documents_of(answers, collection),
            query_ids=wanted,
            sample=sample or 0,
            sample_below=sample_below,
            sample_depth=sample_depth,
            limit=limit,
            order=order,
            overlap=overlap,
            seed=seed,
            format=run_format,
        )
        for line in (*pool_lines(found, output.width()), *failures(answers)):
            say(line)
        if not os.path.isfile(queries) and collection and collection.qrels is not None and not found.judged:
            say(f"  the judgments of {queries} are not in it; --qrels {queries} imports them")
        failed = any(answer.failed for answer in answers)
    if sheet is not None:
        for line in _save_sheet(store, sheet, force):
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
        return {query: each._asdict() for query, each in read_query_texts(queries).items()}, collection
    asked = open_collection(queries)
    narratives = asked.narratives
    described = {query: {"text": text, "narrative": narratives.get(query, "")} for query, text in asked.queries.items()}
    return described, collection or asked


def _import_judgments(qrels: str, store: str, format: str | None) -> str:
    """Import judgments from a file or a collection; returns what was imported."""
    from cranfield.judging.importing import import_file
    from cranfield.systems.collection import BUILTIN, IR_DATASETS, open_collection

    held: Any = qrels
    if qrels == BUILTIN or qrels.startswith(IR_DATASETS) or os.path.isdir(qrels):
        held = open_collection(qrels).qrels
        if held is None:
            raise InputError(qrels, "this collection has no judgments.")
    return str(import_file(held, store, run_name(qrels), format=format))


def _save_sheet(store: str, sheet: str, force: bool) -> Iterator[str]:
    from cranfield.judging.pool_text import sheet_lines
    from cranfield.judging.sheets import save_sheet
    from cranfield.judging.store import open_store

    with open_store(store, read_only=True) as opened:
        written = save_sheet(opened, sheet, force=force)
    return sheet_lines(written, opened.name, output.width())
