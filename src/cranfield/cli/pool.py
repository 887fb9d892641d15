"""`cranfield pool`: collect documents for judging, from runs, live systems, or all systems of a project."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import FormatOptions
from cranfield.cli.options import argument, number, option
from cranfield.cli.planning import PlanOptions, show_plan
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError
from cranfield.io.formats.store import same_store
from cranfield.io.source import run_name
from cranfield.io.streams import stream_name
from cranfield.judging.pool import ORDERS
from cranfield.judging.pool.choice import PoolPlan
from cranfield.ranks.judgments import Judgments
from cranfield.show.layout import wrapped
from cranfield.systems.opening import short_names
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.judging.pool import Pooled
    from cranfield.systems.asking import FirstAnswers
    from cranfield.systems.collection import Collection
    from cranfield.systems.project import Project

DEPTH = 10
EARLIER = "collection"  # the assessor of the judgments that a collection came with


class PoolOptions(options.OptionGroup, section="Pool"):
    depth: int = options.depth_of_runs(DEPTH, str(DEPTH))
    query_ids: tuple[str, ...] = options.QUERY_IDS
    limit: int | None = number(
        "--limit", least=1, help="Take at most N documents for each query, the first in the order."
    )
    order: str | None = options.order()
    sample: int | None = number("--sample", least=1, help="People judge N random queries; models judge all queries.")
    sample_below: int = number(
        "--sample-below", default=0, help="Also take N random documents for each query from below the depth."
    )
    sample_depth: int = number("--sample-depth", least=1, default=100, help="How deep --sample-below goes [100].")
    overlap: float = option(
        "--overlap",
        type=options.SHARE,
        default="0",
        metavar="SHARE",
        help="The share of documents that two assessors judge, such as 10%.",
    )
    seed: int = options.SEED

    def arguments(self) -> dict[str, Any]:
        plain = self.values("sample_below", "sample_depth", "limit", "order", "overlap", "seed")
        return {**plain, "sample": self.sample or 0}


class AskedOptions(options.AskingOptions, section="System"):
    systems: tuple[str, ...] = option(
        "--system", multiple=True, metavar="SYSTEM", help="A live system to ask; may be repeated."
    )


class PoolInputOptions(FormatOptions):
    qrels: str | None = option(
        "--qrels", metavar="QRELS", help="Judgments to import into the store first: a file or a collection."
    )


class SheetOptions(options.OptionGroup, section="Output"):
    sheet: str | None = options.file("--sheet", help="Also write the waiting documents as a CSV sheet to fill in.")
    force: bool = options.FORCE
    scale: tuple[tuple[float, str, str], ...] = options.SCALE


@options.command("pool", store=argument(), queries=argument(required=False), runs=options.ANY_RUNS)
def command(
    store: str,
    queries: str | None,
    runs: tuple[str, ...],
    pooling: PoolOptions,
    planned: PlanOptions,
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

    With --plan, nothing is stored: you learn how many documents to judge, and which command draws them.

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
      cranfield pool sampled.db builtin --system sqlite --plan 0.02 -m infNDCG
    """
    sheet = written.sheet
    if queries is None and sheet is None:
        fact = "Missing argument 'QUERIES'; without it, --sheet writes the documents that already wait."
        raise click.UsageError(fact)
    if queries is not None and not (runs or asking.systems):
        raise click.UsageError("there is nothing to pool; give a RUN or a --system.")
    if reading.qrels_format is not None and reading.qrels is None:
        raise click.UsageError("--qrels-format needs --qrels.")
    planned.check()
    PoolPlan(pooling.depth, **pooling.arguments()).check()
    say = partial(output.say, err=sheet == "-")  # where the sheet itself goes to standard output
    failed = False
    if written.scale:
        set_scale(store, written.scale)
    if queries is not None:
        from cranfield.evaluation.naming import named_runs, numbered
        from cranfield.judging.pool.order import chosen_queries

        described, collection = _opened(queries, asking.corpus)
        wanted = chosen_queries(pooling.query_ids or list(described), list(described), queries)
        texts = {query: described[query]["text"] for query in wanted}
        sampled = pooling.sample_below or planned.plan is not None
        deepest = max(pooling.depth, pooling.sample_depth if sampled else 1)
        how = asking.values("timeout", "collapse", "jobs")
        answers = [_asked(system, collection, texts, deepest, **how) for system in asking.systems]
        if planned.plan is None and reading.qrels is not None:
            say(_import_judgments(reading.qrels, store, reading.qrels_format))
        named = named_runs(expanded(runs))
        for answer in answers:
            named[numbered(answer.system, named)] = answer.rankings
        if planned.plan is not None:
            how = {**pooling.values("depth", "sample_depth", "seed"), "query_ids": wanted, "format": reading.format}
            known = None
            if reading.qrels is not None:
                known = Judgments.read(_judgments_in(reading.qrels), reading.qrels_format)
            show_plan(store, described, named, planned.plan, planned.measure, known, **how)
            return 1 if any(answer.failed for answer in answers) else 0
        chosen: dict[str, Any] = {"query_ids": wanted, "format": reading.format, **pooling.arguments()}
        pooled = _pooled(store, described, named, answers, collection, say, depth=pooling.depth, **chosen)
        earlier = None if collection is None or os.path.isfile(queries) else collection.qrels
        if earlier is not None and not pooled.judged and not same_store(earlier, store):
            say(f"  the judgments of {queries} are not in it; --qrels {queries} imports them")
        failed = any(answer.failed for answer in answers)
    if sheet is not None:
        from cranfield.judging.store import open_store, save_sheet
        from cranfield.show.judging_text import sheet_lines

        with open_store(store, read_only=True) as opened:
            saved = save_sheet(opened, sheet, query_ids=pooling.query_ids or None, force=written.force)
        for line in sheet_lines(saved, opened.name, output.width()):
            say(line)
    judge = shlex.join(["cranfield", "judge", stream_name(store)])
    say(f"Next: {output.paint(err=sheet == '-').hint(judge)}")
    return 1 if failed else 0


_WIDEST = max(map(len, ORDERS))
_ORDERS = (f"{name:{_WIDEST}} {'*' if order.follows_grades else ' '} {order.meaning}" for name, order in ORDERS.items())
options.fill_help(command, SHORT_NAMES=", ".join(short_names()), ORDERS="\n    ".join(_ORDERS))


def _opened(queries: str, corpus: str | None) -> tuple[dict[str, dict[str, str]], Collection | None]:
    """The texts and narratives of the queries, and the collection that has the documents."""
    from cranfield.io.queries import read_queries
    from cranfield.systems.collection import open_collection, open_documents

    collection = open_documents(corpus) if corpus else None
    if os.path.isfile(queries):
        read = read_queries(queries)
        return _described(read, read.narratives), collection
    asked = open_collection(queries)
    return _described(asked.queries, asked.narratives), collection or asked


def _described(queries: Mapping[str, str], narratives: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {query: {"text": text, "narrative": narratives.get(query, "")} for query, text in queries.items()}


def set_scale(store: str, scale: Sequence[Any]) -> None:
    from cranfield.judging.store import open_store

    with open_store(store, create=True) as opened:
        opened.set_scale(scale)


def _import_judgments(qrels: str, store: str, format: str | None) -> str:
    """Import judgments from a file or a collection; returns what was imported."""
    from cranfield.judging.store import import_file

    return str(import_file(_judgments_in(qrels), store, run_name(qrels), format=format))


def _judgments_in(qrels: str) -> Any:
    """The judgments of a collection; any other source as it is."""
    from cranfield.systems.collection import BUILTIN, IR_DATASETS, open_collection

    if qrels != BUILTIN and not qrels.startswith(IR_DATASETS) and not os.path.isdir(qrels):
        return qrels
    held = open_collection(qrels).qrels
    if held is None:
        raise InputError(qrels, "this collection has no judgments.")
    return held


def _asked(
    system: Any,
    collection: Collection | None,
    queries: Mapping[str, str],
    k: int,
    *,
    timeout: float | None,
    collapse: Any,
    name: str = "",
    **asking: Any,
) -> FirstAnswers:
    from cranfield.systems.asking import first_answers
    from cranfield.systems.collapse import collapse_by
    from cranfield.systems.opening import open_system

    opened = open_system(system, collection, name=name, timeout=timeout)
    to_document = collapse_by(collapse) if collapse else None
    try:
        with output.shown_asking(opened.name) as progress:
            return first_answers(opened, queries, k, progress, to_document=to_document, deepen=True, **asking)
    finally:
        opened.close()


def _pooled(
    store: str,
    described: Mapping[str, Any],
    runs: Mapping[str, Any],
    answers: Sequence[FirstAnswers],
    collection: Collection | None,
    say: Callable[[str], None],
    **options: Any,
) -> Pooled:
    """Pool documents with their texts, and say what was pooled and which queries failed."""
    from cranfield.judging.pool import pool
    from cranfield.show.judging_text import pool_lines

    def documents() -> Iterator[Any]:
        for answer in answers:
            yield from answer.texts.items()
        if collection is not None:  # last, so that its texts take precedence
            yield from collection.documents()

    pooled = pool(store, described, runs, documents=documents(), **options)
    lines = list(pool_lines(pooled, output.width()))
    for answer in answers:
        if answer.failed:
            query, error = next(iter(answer.failed.items()))
            failed = count(len(answer.failed), "query failed", "queries failed")
            fact, _, hint = error.partition("\nHint: ")
            lines += wrapped(f"{answer.system}: {failed}; {query}: {fact}", "  ", width=output.width())
            lines += wrapped(hint, "  Hint: ", width=output.width()) * bool(hint)
    for line in lines:
        say(line)
    return pooled


def pool_project(project: Project) -> str:
    """Pool the first documents of all systems; returns the name of the store.

    Runs recorded by the last test are used if the collection has the texts; other queries are asked now.
    """
    from cranfield.judging.store import import_file

    collection = project.open_collection()
    store = project.judged_in
    if project.scale is not None:
        set_scale(store, project.scale)
    if project.store is None and collection.qrels is not None and not same_store(collection.qrels, store):
        output.say(str(import_file(collection.qrels, store, EARLIER)))
    runs: dict[str, Any] = {}
    answers: list[FirstAnswers] = []
    for name, settings in project.systems.items():
        runs[name] = _recorded(project, collection, name)
        missing = {query: text for query, text in collection.queries.items() if query not in runs[name]}
        if missing:
            how: dict[str, Any] = {
                "timeout": None if "timeout" in settings else project.timeout,
                "collapse": project.collapse,
            }
            answers.append(_asked(dict(settings), collection, missing, DEPTH, name=name, **how, **project.asking))
            runs[name] |= answers[-1].rankings
    _pooled(
        store, _described(collection.queries, collection.narratives), runs, answers, collection, output.say, depth=DEPTH
    )
    return store


def _recorded(project: Project, collection: Collection, name: str) -> dict[str, Any]:
    """The first documents of a system by query, of those that the last test recorded."""
    from cranfield.io.source import open_source
    from cranfield.ranks.first_documents import first_documents
    from cranfield.ranks.policy import Policy

    recorded = project.recorded_run(name)
    if collection.corpus is None or not os.path.isfile(recorded):
        return {}
    wanted: dict[str, dict[str, float]] = {query: {} for query in collection.queries}
    return dict(first_documents(open_source(recorded, "run"), wanted, DEPTH, Policy()))
