"""The commands about live systems: `cranfield init`, `test` and `accept`, with cranfield.toml; `run`, and `demo`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import ImportOptions
from cranfield.cli.options import argument, flag, number, option
from cranfield.cli.reviewing import ReviewOptions, links
from cranfield.io.corpus import USUAL_CORPUS
from cranfield.io.formats import FORMATS, writable
from cranfield.io.settings import SETTINGS_FILE
from cranfield.show.layout import wrapped
from cranfield.systems.collection_files import USUAL_QRELS, USUAL_QUERIES
from cranfield.systems.opening import rerankers, short_names
from cranfield.words import joined, percent

if TYPE_CHECKING:
    from cranfield.systems.collection import Collection
    from cranfield.systems.project import Project
    from cranfield.systems.recorded import Recorded
    from cranfield.systems.testing import ProjectTest


class ConfigOptions(options.OptionGroup, section="Input"):
    config: Path = options.config(SETTINGS_FILE)


class ProjectOptions(ImportOptions, ConfigOptions):
    """A project, and the measures that it may need."""


class ResultOptions(ReviewOptions, options.KeepOptions, section="Output"):
    worst: int | None = options.worst("3, and none if it passed")
    report: str | None = options.file(
        "--report",
        help="Write a page that compares each system with its accepted version, with the texts of queries and "
        "documents.",
    )


SYSTEMS = argument(nargs=-1, metavar="[SYSTEM]...")


class JobOptions(options.OptionGroup, section="Output"):
    ci: str | None = options.option(
        "--ci", choices=["github", "gitlab"], metavar="HOST", help="Write a job for CI instead."
    )


@options.command("init", collection=argument(required=False))
def init(collection: str | None, job: JobOptions) -> None:
    """Write a cranfield.toml for COLLECTION: a folder, 'builtin' or 'ir_datasets:ID'.

    Without COLLECTION, it uses the one in this folder or a subfolder, or else the built-in one. A folder
    needs queries, as QUERY_FILES (a query on each line); documents (CORPUS) and judgments (QRELS_FILES) may be
    missing: with 'cranfield judge' you make judgments yourself.

    With --ci, it writes a job that tests every pull request and comments on it: of the systems of cranfield.toml, or
    without that file of two runs, with a commented cranfield-gate.toml.

    \b
    Examples:
      cranfield init && cranfield test && cranfield accept
      cranfield init --ci github
    """
    if job.ci is not None:
        if collection is not None:
            raise click.UsageError("--ci needs no COLLECTION: cranfield.toml names it.")
        _write_job(job.ci)
        return

    from cranfield.io.target import write_text
    from cranfield.systems.collection import open_collection
    from cranfield.systems.project import project_template

    path = Path(SETTINGS_FILE)
    output.refuse_existing(path)
    name = _nearest_collection() if collection is None else collection
    opened = open_collection(name)
    next(opened.documents(), None)  # a corpus that is not understood is an error now, not in the first test
    judged = len(opened.judgments().query_ids) if opened.qrels is not None else 0
    write_text(path, project_template(name, corpus=opened.corpus is not None, judged=opened.qrels is not None))
    where = "this folder" if name == "." else name
    output.say(f"wrote {path}: {where}, {len(opened.queries)} queries, {judged} of them judged")
    output.say("")
    for line in _next_lines(path, runs=opened.corpus is not None, judged=opened.qrels is not None):
        output.say(line)


def _write_job(ci: str) -> None:
    """Write a job for CI: of the project here, or without one of a gate."""
    from cranfield.io.target import make_folder, write_text
    from cranfield.systems.jobs import GATE_NAME, JOBS, gate_settings, installed_from, needs_of_gate, needs_of_project
    from cranfield.systems.project import read_project

    config = Path(SETTINGS_FILE)
    needs = needs_of_project(read_project(config)) if config.is_file() else needs_of_gate()
    files = {Path(name): text for name, text in JOBS[ci](needs).items()}
    [job] = files
    if not config.is_file() and not Path(GATE_NAME).exists():
        files[Path(GATE_NAME)] = gate_settings()
    for path in files:
        output.refuse_existing(path)
    for path, text in files.items():
        make_folder(path.parent)
        write_text(path, text)
        output.say(f"wrote {path}")
    steps = [f"in {job}, say {step.unknown}" for step in needs.steps if step.unknown and step.command.startswith("./")]
    if not installed_from():
        steps.insert(0, f"in {job}, say where to install cranfield from")
    if not config.is_file():
        steps.insert(0, f"name your files in {GATE_NAME}; a live system needs 'cranfield init' first")
    steps += [f"add the secret {name} to the repository" for name in needs.secrets]
    commit = "commit it, and open a pull request"
    output.say("\nNext:")
    for place, step in enumerate((*steps, commit), 1):
        for line in wrapped(step, f"  {place}. ", width=output.width(), break_words=False):
            output.say(line)


def _next_lines(path: Path, *, runs: bool, judged: bool) -> Iterator[str]:
    """What to do next: commands to be run one after the other, as they are."""
    paint = output.paint()
    yield "Next:" if runs else f"Describe your system in {path}: its last lines show how. Then:"
    steps = {} if judged else {"cranfield judge": "judge what the systems return, on a page in your browser"}
    steps |= {
        "cranfield test": "ask the systems every query, and measure the answers",
        "cranfield accept": "make this the result that later tests are compared with",
    }
    width = max(map(len, steps))
    for step, meaning in steps.items():
        yield f"  {paint.hint(step)}{' ' * (width - len(step))}  {paint.dim(f'# {meaning}')}"


def _nearest_collection() -> str:
    from cranfield.errors import CranfieldError
    from cranfield.systems.collection import BUILTIN, open_collection

    for folder in (Path(), *sorted(path for path in Path().iterdir() if path.is_dir() and path.name[0] != ".")):
        try:
            open_collection(folder)
        except CranfieldError:
            continue
        return folder.as_posix()
    return BUILTIN


options.fill_help(init, QUERY_FILES=USUAL_QUERIES, CORPUS=USUAL_CORPUS, QRELS_FILES=USUAL_QRELS)


@options.command("test", systems=SYSTEMS)
def test(systems: tuple[str, ...], project: ProjectOptions, shown: ResultOptions) -> int:
    """Ask the systems of cranfield.toml every query, measure, and compare with the accepted result.

    It fails if a query fails, or returns nothing where it returned documents; if a measure falls below the accepted
    value, by more than the tolerance and significantly; or if a limit of [gate] or an [[expect]] is not met.

    \b
    Example:
      cranfield init && cranfield test && cranfield accept
    """
    from cranfield.cli.judging_hints import say_unjudged
    from cranfield.show.review import Reviewed, review_of_test
    from cranfield.show.systems_text import WORST, tested_lines
    from cranfield.systems.project import read_project
    from cranfield.systems.testing import run_test

    project.import_measures()
    settings = read_project(project.config)
    tested = run_test(settings, output.shown_asking, systems, WORST if shown.worst is None else shown.worst)
    kept = _kept(settings, shown, lambda: _keep_test(settings, tested))
    reviewed = Reviewed(
        "test",
        tuple(review_of_test(system, settings.baseline) for system in tested.systems),
        {
            "text": lambda width, paint: "\n".join(tested_lines(tested, shown.worst, width, paint)),
            "json": lambda width, paint: tested.to_json(),
        },
        file=str(project.config),
        links=links() if shown.report is not None else (),
    )
    shown.write(reviewed)
    if shown.form == "text" and shown.file is None:
        own = [] if str(project.config) == SETTINGS_FILE else ["--config", str(project.config)]
        evaluations = [system.evaluation for system in tested.systems if system.evaluation]
        say_unjudged(evaluations, lambda: ["cranfield", "judge", *own])
    if shown.report is not None:
        from cranfield.report import write_test

        written = write_test(tested, shown.report, command=output.command_line())
        size = f"{written.path}: {written.size / 1e6:.1f} MB" if written else ""
        said = size or "no query was answered, so no report was written"
        output.say(f"\n{said}", err=shown.form != "text")
    if kept:
        output.say(f"\n{kept}", err=True)
    return 0 if tested.passed else 1


def _keep_test(project: Project, tested: ProjectTest) -> None:
    from cranfield.systems.history.keeping import keep_test

    keep_test(project, tested)


def _kept(project: Project, keeping: options.KeepOptions, keep: Callable[[], None]) -> str:
    """Append to the history of a project, unless that is not wanted; a note if nothing was appended."""
    return "" if not project.history.get("keep", True) else keeping.kept(keep)


class AcceptOptions(options.KeepOptions):
    because: str = option(
        "--because", metavar="TEXT", default="", help="Why it is accepted; 'cranfield history' shows it."
    )
    worse: bool = flag("--worse", help="Accept a result that failed beside the one accepted before.")


@options.command("accept", systems=SYSTEMS)
def accept(systems: tuple[str, ...], project: ProjectOptions, review: AcceptOptions) -> None:
    """Accept the result of the last 'cranfield test', for all systems or some; later tests are compared with it.

    Who accepted it, when and why is kept with it. A result that failed its test is only accepted with --worse.

    \b
    Examples:
      cranfield init && cranfield test && cranfield accept
      cranfield accept --because "stop words, as agreed"
    """
    from cranfield.show.systems_text import accepted_line
    from cranfield.systems.accepting import accept
    from cranfield.systems.project import read_project

    project.import_measures()
    settings = read_project(project.config)
    accepted = accept(settings, systems, because=review.because, worse=review.worse)

    def keep() -> None:
        from cranfield.systems.history.keeping import keep_accepted

        keep_accepted(settings, [*accepted])

    for name, (before, now) in accepted.items():
        output.say(accepted_line(name, before, now))
    if note := _kept(settings, review, keep):
        output.say(note, err=True)


def depths(text: str) -> tuple[int, ...]:
    """Depths of rankings: 10,20,50."""
    words = text.split(",")
    if not all(word.strip().isdecimal() and int(word) for word in words):
        raise ValueError
    return tuple(map(int, words))


class RunOptions(options.AskingOptions, section="System"):
    k: int | None = number(
        "-k",
        least=1,
        default=None,
        help="How many documents of a ranking [as many as it returns; 100 if it needs a k].",
    )
    deepen: bool = flag("--deepen", help="Ask again for more chunks until there are k documents.")
    repeat: int = number(
        "--repeat",
        least=1,
        default=1,
        help="Ask each query N times, for systems that answer differently each time [1].",
    )
    rerank: str | None = option(
        "--rerank",
        metavar="RUN",
        help="Rerank the first documents of RUN: SYSTEM is a reranker.",
    )
    depth: int = options.depth_of_runs(100, "100")
    depths: tuple[int, ...] = option(
        "--depths",
        type=options.Read(depths, "are not depths, such as 10,20,50."),
        default=(),
        metavar="N,N...",
        help="With --rerank, also show what is gained and how long a query takes at these depths.",
    )
    retries: int = number("--retries", default=3, help="How often to try a failed query again [3].")
    give_up: int = number("--give-up", default=10, help="Stop after N failures in a row; 0 never stops [10].")


class WrittenOptions(options.OptionGroup, section="Output"):
    file: str = options.written(required=True)
    resume: bool = options.RESUME
    force: bool = options.FORCE


@options.command("run", system=argument(), queries=argument())
def run(system: str, queries: str, asking: RunOptions, written: WrittenOptions) -> None:
    """Ask SYSTEM all QUERIES and write its answers as a run, in the format of the file's extension: EXTENSIONS. Any
    other extension means trec.

    SYSTEM is package.module:name, a name in cranfield.toml, FILE.toml:NAME, or one of SHORT_NAMES. QUERIES is
    a file of queries, the folder of a collection, 'builtin' or 'ir_datasets:ID'. The exit code is 1 if a query failed.

    With --repeat, the run has the queries ID#1, ID#2, …, which the judgments of ID hold for. FILE.queries.tsv, beside
    the run, says that they are a group; give it as --query-columns to 'cranfield evaluate' and 'cranfield compare'.

    With --rerank, SYSTEM is a reranker instead: package.module:name of a function (query, documents) that returns a
    score for each, or of an object of sentence-transformers, LangChain or LlamaIndex; or RERANKERS. It gets the first
    documents of each ranking, with their texts; with judgments, you learn how much of what an ideal order would gain it
    has gained, and with --depths which queries it hurts, and how long it takes at each depth.

    \b
    Example:
      cranfield run sqlite builtin -k 100 -o sqlite.run
    """
    from cranfield.io.queries import read_queries
    from cranfield.systems.collection import open_collection, open_documents
    from cranfield.systems.opening import open_system
    from cranfield.systems.recording import record
    from cranfield.systems.repeats import repeated, write_queries

    if asking.repeat > 1 and asking.rerank is not None:
        raise click.UsageError("--repeat asks a system; it cannot be used with --rerank.")
    file = written.file
    say = partial(output.say, err=file == "-")  # where the run itself goes to standard output
    collection = open_documents(asking.corpus) if asking.corpus else None
    if os.path.isfile(queries):
        texts: dict[str, str] = read_queries(queries)
    else:
        asked = open_collection(queries)
        collection, texts = collection or asked, asked.judged_queries()
        if len(texts) < len(asked.queries):
            say(f"{queries}: {len(texts)} of {len(asked.queries)} queries are judged; only these are asked.")
    if asking.depths and asking.rerank is None:
        raise click.UsageError("--depths needs --rerank.")
    if asking.repeat > 1:
        texts, columns = repeated(texts, asking.repeat)
    if asking.rerank is not None:
        _rerank(system, asking.rerank, texts, collection, asking, written, say)
        return
    opened = open_system(system, collection, timeout=asking.timeout)
    known = collection.ids if collection and collection.corpus else None
    try:
        with output.shown_asking(opened.name) as progress:
            recorded = record(
                opened,
                texts,
                file,
                asking.k,
                on_start=progress.start,
                on_answer=progress.answer,
                known=known,
                **written.values("resume", "force"),
                **asking.values("deepen", "collapse", "jobs", "retries", "give_up"),
            )
    finally:
        opened.close()

    beside = write_queries(columns, file) if asking.repeat > 1 and file != "-" else ""
    _say_recorded(recorded, file, say)
    if beside:
        say(f"  {beside}: which queries are repeats, for --query-columns")


def _rerank(
    reranker: str,
    run: str,
    texts: dict[str, str],
    collection: Collection | None,
    asking: RunOptions,
    written: WrittenOptions,
    say: Callable[[str], None],
) -> None:
    """Rerank a run; with judgments, say how much of what is possible was gained."""
    from cranfield.evaluation.reranking import headroom
    from cranfield.systems.reranking import rerank

    with output.shown_asking(reranker) as progress:
        recorded = rerank(
            run,
            reranker,
            texts,
            collection,
            asking.depth,
            path=written.file,
            on_start=progress.start,
            on_answer=progress.answer,
            **written.values("resume", "force"),
            **asking.values("jobs", "retries", "give_up"),
        )
    if collection is not None and collection.qrels is not None and recorded.answered and written.file != "-":
        from cranfield.evaluation.evaluating import evaluate
        from cranfield.show.layout import wrapped

        judgments = collection.judgments()
        room = headroom(judgments, run, depth=asking.depth)
        after = evaluate(judgments, recorded, room.measure)[room.measure]
        gained = room.gained(after)
        share = f"{percent(gained)} of the possible gain" if gained > 0 else "so nothing is gained"
        told = f"Before: {room.sentence}. After: {after:.4f}, {share}."
        for line in wrapped(told, width=output.width()):
            say(line)
        if asking.depths:
            from cranfield.show.reranking_text import depths_text
            from cranfield.systems.reranking_depths import rerank_by_depth

            how: dict[str, Any] = asking.values("jobs", "retries", "give_up")
            found = rerank_by_depth(judgments, run, reranker, texts, collection, asking.depths, room.measure, **how)
            say(depths_text(found, room.measure, output.width(), output.paint()))
    _say_recorded(recorded, written.file, say)


def _say_recorded(recorded: Recorded, file: str, say: Callable[[str], None]) -> None:
    from cranfield.show.systems_text import recorded_lines

    for line in recorded_lines(recorded, output.width(), output.paint()):
        say(line)
    if not recorded.complete:
        if os.path.exists(f"{file}.partial"):
            say("  Hint: run the same command with --resume to ask only the missing queries")
        click.get_current_context().exit(1)


_EXTENSIONS = (FORMATS[name].extensions[0] for name in writable(["run"]) if FORMATS[name].extensions)
options.fill_help(
    run,
    SHORT_NAMES=", ".join(short_names()),
    RERANKERS=joined(rerankers(), "or"),
    EXTENSIONS=joined(_EXTENSIONS, "or"),
)


@options.command("demo")
def demo() -> None:
    """Ask two live search engines sixty queries, measure them, and compare them."""
    from cranfield.show.systems_text import demonstration_lines
    from cranfield.systems.testing import demonstrate

    for line in demonstration_lines(demonstrate(), output.width(), output.paint()):
        output.say(line)
