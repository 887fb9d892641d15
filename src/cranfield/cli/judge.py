"""`cranfield judge`: a page on which people judge the waiting documents."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import RunFormatOptions
from cranfield.cli.judge_clicks import ClickOptions, judge_with_clicks
from cranfield.cli.judge_model import ModelOptions, decide_with_model, judge_with_model
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import argument, flag, number, option
from cranfield.cli.run_files import expanded
from cranfield.judging.pool import DECIDE, ORDERS, FollowPlan, Order, add_missing_texts
from cranfield.words import count, listed

if TYPE_CHECKING:
    from cranfield.judging.page.finding import SystemSearch
    from cranfield.judging.store import Store
    from cranfield.systems.collection import Collection
    from cranfield.systems.opening import System
    from cranfield.systems.project import Project


class JudgedRunOptions(RunFormatOptions):
    config: Path = options.config("cranfield.toml")


class DecisionOptions(JudgedRunOptions, section="Comparison"):
    decide: bool = flag(
        "--decide", help="Judge until it is decided whether the other RUNs are better or worse than the first."
    )
    all_pairs: bool = flag("--all", help="With --decide, compare every RUN with every other: decide their order.")
    order: str | None = options.order()
    depth: int | None = options.depth_of_runs(None, "10, or the cutoff of the measure")

    def check(self, runs: tuple[str, ...]) -> Order | None:
        """The order that is chosen; options that contradict each other are refused."""
        if self.decide and self.order not in (None, DECIDE.name):
            raise click.UsageError(f"--decide is the order {DECIDE.name}; give that or --order {self.order}.")
        if not (self.decide or self.order) and (self.all_pairs or self.depth is not None):
            raise click.UsageError("--all and --depth need --decide or --order.")
        chosen = DECIDE if self.decide else ORDERS.get(self.order or "")
        if (chosen is None) == bool(runs):
            raise click.UsageError("--decide and --order need RUNs, and RUNs need one of them.")
        return chosen


class JudgingPageOptions(options.OptionGroup, section="Page"):
    assessor: str | None = option(
        "--me", metavar="NAME", help="Your name, under which grades are saved [your user name]."
    )
    scale: tuple[tuple[float, str, str], ...] = options.SCALE
    host: str = option(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="The address to listen on; any other address requires a token [127.0.0.1].",
    )
    port: int | None = number("--port", most=65535, help="The port [8765, or a free one].")
    names: tuple[str, ...] = option(
        "--known-as", multiple=True, metavar="HOST", help="Another host name of this machine."
    )
    pictures: str | None = option(
        "--pictures", type=options.FILE, metavar="FOLDER", help="Where images of documents are [beside STORE]."
    )
    corpus: str | None = option(
        "--corpus",
        metavar="FILE",
        help=f"{options.CORPUS}: texts for those that have none [beside STORE].",
    )
    no_browser: bool = flag("--no-browser", help="Only print the address.")
    no_answer: tuple[str, ...] = option(
        "--no-answer", multiple=True, metavar="ID", help="Open no page: mark this query as having no answer."
    )
    has_answer: tuple[str, ...] = option(
        "--has-answer", multiple=True, metavar="ID", help="Open no page: take back that this query has no answer."
    )


@options.command("judge", store=argument(required=False), runs=options.ANY_RUNS)
def command(
    store: str | None,
    runs: tuple[str, ...],
    decision: DecisionOptions,
    measures: MeasureOptions,
    page: JudgingPageOptions,
    model: ModelOptions,
    clicks: ClickOptions,
) -> None:
    """Open a page on which people judge the documents that wait in STORE.

    Every grade is saved to disk before the page moves on. The page contacts no other machine; Ctrl-C stops it. With
    --host 0.0.0.0 others can judge too, at the address that is printed, which contains a token. STORE is a file or the
    URL of a PostgreSQL database, filled by `cranfield pool`.

    Without STORE, the systems of cranfield.toml are asked all queries, and the first documents that they return wait
    to be judged, unless somebody has judged them. They are saved in the store that cranfield.toml names, or in
    judgments.db beside it.

    With --decide, the page starts with the documents whose grades say most about whether the other RUNs are better or
    worse than the first one. It says when the verdict is final, or when judging more is not worth it. With another
    --order, the first documents of the RUNs come in that order, ten documents of a query at a time; `cranfield pool
    --help` explains the orders. Judgments chosen by grades are a biased sample: never estimate from them how many
    documents are relevant.

    If a query has no answer, press Q on the page, or say so with --no-answer. Commands that measure then take STORE as
    --answerable, and it counts as right to return nothing for this query.

    With --assessor, no page is opened: a model is asked about every waiting document that it has not judged. Its grades
    are kept apart from those of people. You can interrupt it at any moment: the same command continues, and repeats no
    question that was answered. With --decide as well, the model is asked only until its own grades decide.

    With --clicks, no page is opened either: the documents of the store's queries get grades by what people clicked on,
    corrected for the ranks at which they were shown, if the log tells how many people look at which rank. They are kept
    apart like those of a model. Clicks favour the system that the log comes from, so compare runs by them only with
    --correct-with people.

    \b
    Examples:
      cranfield judge judgments.db --me ann
      cranfield judge judgments.db --decide old.run new.run -m nDCG@10
      cranfield judge judgments.db --order mm-ns --depth 50 bm25.run dense.run
      cranfield judge judgments.db --grade '0=Off topic' --grade '1=On topic'
      cranfield judge judgments.db --assessor small --dry-run
      cranfield judge judgments.db --clicks events.jsonl --clicks queries.jsonl
    """
    from cranfield.evaluation.naming import named_runs
    from cranfield.judging.decide import FollowedDecision
    from cranfield.judging.page import Listening, serve
    from cranfield.judging.page.serving import has_screen, is_shared
    from cranfield.judging.store import open_store
    from cranfield.show.judging_text import decision_cost
    from cranfield.show.layout import wrapped

    chosen = decision.check(runs)
    if clicks.clicks:
        if store is None or runs or page.assessor is not None or set(model.named) - {"--dry-run"}:
            raise click.UsageError(
                "--clicks takes STORE, --attraction, --least, --assessor, --grade and --dry-run alone."
            )
        with open_store(store) as opened:
            if page.scale:
                opened.set_scale(page.scale)
            judge_with_clicks(opened, clicks, model.model_assessors, dry_run=model.dry_run)
        return
    if clicks.named:
        raise click.UsageError(f"{clicks.named[0]} needs --clicks.")
    if not model.model_assessors and model.named:
        raise click.UsageError(f"{model.named[0]} needs --assessor.")
    if model.model_assessors and chosen not in (None, DECIDE):
        rest = "a model judges everything that waits, or with --decide only what matters."
        raise click.UsageError(f"--order {decision.order} is for people; {rest}")
    if model.model_assessors and page.assessor is not None:
        raise click.UsageError("--me names a person and --assessor a model: give only one of them.")
    shared = is_shared(page.host, page.names)
    if shared and page.assessor is not None:
        fact = "--me gives one name, but others can open this page: everyone enters their own name there."
        raise click.UsageError(fact)
    measures.import_measures()  # a project may measure by them, too
    measures = measures.replaced(imports=())
    where = store if store is not None else _pooled(decision.config)
    plan = FollowPlan(decision.depth, all_pairs=decision.all_pairs, format=decision.format)
    with open_store(where) as opened, ExitStack() as asked:
        if page.scale:
            opened.set_scale(page.scale)
        if page.no_answer or page.has_answer:
            _mark_answers(opened, page)
            return
        corpus = _corpus(page.corpus, where, decision.config)
        documents = corpus.documents if corpus else None
        lacking = 0 if documents is None else add_missing_texts(opened, documents)
        if lacking and page.corpus:
            output.say(f"{page.corpus}: {count(lacking, 'document is', 'documents are')} not in it.")
        for name in model.model_assessors:
            if chosen is None:
                judge_with_model(opened, name, model, decision.config)
            else:
                begin = DECIDE.beginning(opened, named_runs(expanded(runs)), _plan(DECIDE, measures, plan))
                decide_with_model(opened, name, model, decision.config, begin)
        if model.model_assessors:
            return
        followed = None
        if chosen is not None:  # the documents wait in the store, all at once or as they are chosen
            files = expanded(runs)
            followed = chosen.follow(opened, named_runs(files), _plan(chosen, measures, plan))
            followed.wait(f"order {chosen.name}: {', '.join(files[:3])}{', …' if len(files) > 3 else ''}")
            if documents is not None:
                add_missing_texts(opened, documents, (document for _, document in followed.unjudged()))

        def started(listening: Listening) -> None:
            left = count(listening.progress.left, "document")
            output.say(f"Judging in {opened.name}, {left} left. Ctrl-C ends it.")
            if isinstance(followed, FollowedDecision):
                output.write(wrapped(decision_cost(followed.look()), width=output.width()))
            for address in listening.addresses:
                output.say(f"  {address}")
            sys.stdout.flush()  # also when output goes to a pipe
            if has_screen() and not page.no_browser:
                import webbrowser

                webbrowser.open(listening.addresses[0])

        done = serve(
            opened,
            page.assessor if page.assessor is not None else "" if shared else _user_name(),
            host=page.host,
            port=page.port,
            names=page.names,
            pictures=Path(page.pictures) if page.pictures else None,
            followed=followed,
            documents=documents,
            system=None if corpus else _system_search(where, decision.config, asked),
            next_steps=_next_steps(where, runs, _plan(chosen, measures, plan)) if chosen and chosen.measure else None,
            on_start=started,
        )
        unclear = list(dict.fromkeys(flag.query_id for flag in opened.flags() if not flag.unanswerable))
        unanswerable = opened.unanswerable()
        look = followed.last_look() if isinstance(followed, FollowedDecision) else None
    if look is None:
        pooled = count(done.documents, "document")
        output.say(f"\n{opened.name}: {done.documents - done.left:,} of {pooled} judged, {done.left:,} left")
    else:  # what waits is only a part of what these runs return first
        output.say(f"\n{opened.name}: {look.judged:,} of {count(look.documents, 'document')} judged")
        output.write(wrapped(look.reason, "  ", width=output.width()))
    if unclear:
        output.say(f"  flagged as unclear: {listed(unclear)}")
    if unanswerable:
        output.say(f"  without an answer: {listed(unanswerable)}")


def _mark_answers(store: Store, page: JudgingPageOptions) -> None:
    """Mark queries as having no answer, or take that back, without a page."""
    who = page.assessor or _user_name()
    for queries, withdrawn in ((page.no_answer, False), (page.has_answer, True)):
        for query in queries:
            store.flag(query, assessor=who, unanswerable=True, withdrawn=withdrawn)
    without = store.unanswerable()
    have = "has" if len(without) == 1 else "have"
    told = f": {listed(without)}" if without else ""
    output.say(f"{store.name}: {count(len(without), 'query', 'queries')} {have} no answer{told}")


def _plan(order: Order, measures: MeasureOptions, plan: FollowPlan) -> FollowPlan:
    """The plan with the measure that decides, if the order compares runs."""
    if not order.measure and (plan.all_pairs or not measures.usual):
        raise click.UsageError(f"the order {order.name} compares no runs; leave --all and -m out.")
    chosen = measures.chosen((order.measure,)) if order.measure else ()
    if len(chosen) > 1:
        raise click.UsageError("give only one measure: it decides.")
    return plan._replace(measure=next(iter(chosen), None))


def _corpus(corpus: str | None, store: str, config: Path) -> Collection | None:
    """What has the corpus: the one given, or that of the project that the store belongs to, or one beside it."""
    from cranfield.errors import CranfieldError
    from cranfield.io.corpus import corpus_in
    from cranfield.systems.collection import kept_in_memory, open_documents

    if corpus is not None:
        return kept_in_memory(replace(open_documents(corpus), qrels=None))
    project = _project_of(store, config)
    try:
        found: Collection | None
        if project is not None:
            found = project.open_collection()
        else:
            beside = None if "://" in store else corpus_in(os.path.dirname(store) or os.curdir)
            found = open_documents(beside) if beside else None
        if found is None or found.corpus is None:
            return None
        next(found.corpus(), None)  # whether it can be read at all
        return kept_in_memory(replace(found, qrels=None))
    except CranfieldError as error:  # judging goes on without it
        output.say_error("cranfield judge", str(error))
        return None


def _project_of(store: str, config: Path) -> Project | None:
    """The project that a store belongs to."""
    from cranfield.errors import CranfieldError
    from cranfield.io.formats.store import same_store
    from cranfield.systems.project import read_project

    with suppress(CranfieldError):  # the file may describe nothing but assessors
        project = read_project(config) if config.is_file() else None
        return project if project is not None and same_store(project.judged_in, store) else None
    return None


def _system_search(store: str, config: Path, opened: ExitStack) -> SystemSearch | None:
    """A search by the systems of the project that the store belongs to: what they return first, in turns."""
    from cranfield.errors import CranfieldError
    from cranfield.io.corpus import Document
    from cranfield.systems.asking import first_answers
    from cranfield.systems.collapse import collapse_by
    from cranfield.systems.opening import open_system

    project = _project_of(store, config)
    if project is None or not project.systems:
        return None
    to_document = collapse_by(project.collapse) if project.collapse else None
    systems: dict[str, System] = {}

    def search(words: str, count: int) -> Iterator[Document]:
        rankings: list[list[str]] = []
        texts: dict[str, Mapping[str, str]] = {}
        failure = None
        for name, settings in project.systems.items():
            try:
                if name not in systems:
                    systems[name] = open_system(dict(settings), name=name)
                    opened.callback(systems[name].close)
                answer = first_answers(systems[name], {"": words}, count, to_document=to_document, **project.asking)
            except CranfieldError as error:  # the others may answer
                failure = error
                continue
            rankings += answer.rankings.values()
            texts.update(answer.texts)
        if failure is not None and not rankings:
            raise failure
        ids = dict.fromkeys(doc_id for turn in zip_longest(*rankings) for doc_id in turn if doc_id is not None)
        for doc_id in ids:
            fields = texts.get(doc_id, {})
            yield Document(doc_id, *(fields.get(name, "") for name in Document._fields[1:]))

    return search


def _next_steps(store: str, runs: Sequence[str], plan: FollowPlan) -> dict[str, str]:
    """What to do once a comparison is decided; the runs are named as they were here."""
    measure = ["-m", plan.measure.name] if plan.measure else []
    compared = [store, *runs, *measure]
    return {
        "Compare them": shlex.join(["cranfield", "compare", *compared]),
        "Estimate their values": shlex.join(["cranfield", "evaluate", *compared, "--modelled"]),
        "Write a report": shlex.join(["cranfield", "report", *compared, "-o", "report.html"]),
    }


def _pooled(config: Path) -> str:
    """Pool what is to be judged in a project; returns the name of its store."""
    from cranfield.cli.pool import pool_project
    from cranfield.errors import InputError
    from cranfield.io.formats.store import STORE
    from cranfield.systems.project import read_project

    if not config.is_file():
        fact = "there is no such file, and no STORE is given."
        raise InputError(str(config), fact, hint="cranfield judge judgments.db; 'cranfield pool' fills a store")
    project = read_project(config)
    store = pool_project(project)
    if project.store is None:
        for line in (f"To test with these judgments, add to {config}:", "  [judgments]", f'  store = "{STORE}"'):
            output.say(line)
    return store


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
