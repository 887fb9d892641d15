"""The commands about files: `cranfield check`, `convert` and `completion`."""

from __future__ import annotations

import os
from typing import Literal

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, ViewOptions, reading_options
from cranfield.cli.options import argument, flag, option
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError, OutputError
from cranfield.io.compression import EXTENSIONS as COMPRESSED
from cranfield.io.formats import readable, writable
from cranfield.io.formats.store import names_store
from cranfield.io.streams import BUILT_IN_FILES, DATA, Stream
from cranfield.show.layout import wrapped
from cranfield.words import count, joined


class CheckOptions(options.JsonOptions):
    strict: bool = flag("--strict", help="Fail on warnings, too.")
    corpus: str | None = option(
        "--corpus",
        metavar="FILE",
        help=f"{options.CORPUS}: find judged documents whose text has other ids, too.",
    )


# The two settings say which documents count as judged.
@options.command(
    "check", runs=options.ANY_RUNS, reading=reading_options(settings=("negative", "complete"), means=False)
)
def check(judgments: JudgmentOptions, runs: tuple[str, ...], shown: CheckOptions, reading: ReadingOptions) -> int:
    """Find all errors in the judgments in QRELS and in RUNs; or show how a file of queries is read.

    Lists the problems with file and line, then what the files contain, and which measures suit them. The exit code is
    0 if nothing is wrong, 1 if there are errors (or, with --strict, warnings), and 2 if a file cannot be read.

    Without a RUN, QRELS is a file of queries, or a folder that has one: it shows the format, which column is the id and
    which the text, the columns that are kept, and the first queries.

    \b
    Examples:
      cranfield check builtin builtin:plain builtin:tuned
      cranfield check builtin
    """
    if not runs:
        _check_queries(judgments, shown)
        return 0
    from cranfield.evaluation.checking import check_files
    from cranfield.show.check_text import check_json, check_text
    from cranfield.systems.collection import open_documents

    corpus = None if shown.corpus is None else open_documents(shown.corpus)
    with output.shown_progress("checking"):
        report = check_files(judgments.source, expanded(runs), corpus=corpus, **reading.arguments())
    shown.write(lambda: check_json(report), lambda width, paint: check_text(report, width, paint))
    return 2 if report.unreadable else 0 if report.passes(strict=shown.strict) else 1


def _check_queries(judgments: JudgmentOptions, shown: CheckOptions) -> None:
    """Show how a file of queries is read."""
    from cranfield.io.compression import first_file
    from cranfield.io.formats import fitting_roles
    from cranfield.io.queries import queries_of
    from cranfield.io.query_tables import read_query_table
    from cranfield.show.check_text import queries_json, queries_text
    from cranfield.systems.collection_files import QUERY_FILES

    given = judgments.qrels or ""
    folder = os.path.join(DATA, "collection") if given == "builtin" and not os.path.exists(given) else given
    file = first_file(folder, QUERY_FILES) if os.path.isdir(folder) else given
    missing = click.UsageError("Missing argument 'RUN...'; without it, only a file of queries can be checked.")
    if not file or (file in BUILT_IN_FILES and not os.path.exists(file)) or judgments.view is not None:
        raise missing
    try:
        table = read_query_table(file)
        queries = queries_of(table)
    except InputError:
        if os.path.isfile(file) and fitting_roles(Stream(file))["qrels"] is None:
            raise missing from None
        raise
    shown.write(lambda: queries_json(table, queries), lambda width, paint: queries_text(table, queries, width, paint))


class ConversionOptions(options.OptionGroup, section="Output"):
    target_format: str | None = option(
        "--to", choices=writable(), metavar="FORMAT", help="The format of OUT [from its extension]."
    )
    name: str | None = option("--tag", metavar="NAME", help="The name of the run, for trec.")
    force: bool = options.FORCE
    scale: tuple[tuple[float, str, str], ...] = options.SCALE


class SourceOptions(options.OptionGroup, section="Input"):
    format: str | None = option(
        "--from", choices=readable(), metavar="FORMAT", help="The format of IN, if it cannot be detected."
    )
    role: Literal["qrels", "run"] | None = option(
        "--as", type=click.Choice(["qrels", "run"]), help="What IN contains, if it cannot be detected."
    )


@options.command("convert", source=argument(metavar="IN"), target=argument(metavar="OUT"))
def convert(source: str, target: str, given: SourceOptions, wanted: ConversionOptions, chosen: ViewOptions) -> None:
    """Write the judgments or the run in IN to OUT, in another format.

    Either may be - for standard input or output; IN may also be a pattern that matches one file. OUT is compressed if
    its name ends in COMPRESSED. Whatever the new format cannot store is listed on standard error.

    If OUT is a store of judgments (judgments.db, or a PostgreSQL URL), judgments or a sheet that was filled in are
    imported as those of --assessor [the name of the file]. Judgments that are already there are not added again.

    If IN contains traces and OUT is a folder (traces/), their queries, the texts of documents, all searches by task and
    step, and a run with its latency are written there.

    \b
    Examples:
      cranfield convert builtin:tuned tuned.jsonl.gz
      cranfield convert builtin - --to beir
      cranfield convert builtin judgments.db --assessor trec
    """
    if not names_store(source) and not os.path.isdir(source):  # then it may be a pattern
        files = expanded([source])
        if len(files) > 1:
            raise InputError(source, f"this pattern matches {len(files)} files.", hint="convert one file at a time")
        source = files[0]
    if wanted.target_format is None and names_store(target):
        several = len(chosen.assessors) > 1 or len(chosen.kinds) > 1
        if given.role == "run" or wanted.name or chosen.merge or chosen.pooled or several:
            raise click.UsageError("only one --assessor and one --kind can be imported at a time.")
        if wanted.scale:
            from cranfield.cli.pool import set_scale

            set_scale(target, wanted.scale)
        _into_store(source, target, next(iter(chosen.assessors), None), next(iter(chosen.kinds), None), given.format)
        return
    if wanted.scale:
        raise click.UsageError("--grade is for a store of judgments, which OUT is not.")
    if target.endswith(("/", os.sep)) or os.path.isdir(target):
        _into_folder(source, target, wanted.force)
        return
    from cranfield.io.converting import convert_file

    view = chosen.view
    with output.shown_progress("converting"):
        done = convert_file(
            source if view is None else view.of(source),
            target,
            format=given.format,
            target_format=wanted.target_format,
            role=given.role or ("qrels" if view else None),
            name=wanted.name,
            force=wanted.force,
        )
    for note in done.notes:
        output.say(f"cranfield: {done.source}: {note}", err=True)


options.fill_help(convert, COMPRESSED=joined(COMPRESSED, "or"))


def _into_store(source: str, target: str, assessor: str | None, kind: str | None, format: str | None) -> None:
    from cranfield.judging.store import import_file

    if source == "-" and assessor is None:
        raise click.UsageError("standard input has no file name to use; give --assessor.")
    with output.shown_progress("importing"):
        done = import_file(source, target, assessor, kind=kind, format=format)
    output.say(str(done))
    for note in done.notes:
        output.say(f"  {note}")


def _into_folder(source: str, target: str, force: bool) -> None:
    """Traces hold several things, for which one file has no place."""
    from cranfield.io.trace_folders import are_traces, convert_traces

    stream = Stream(source)
    if not are_traces(stream):
        hint = "give the path of a file; only traces are written to a folder"
        raise OutputError(target, "this is a folder.", hint=hint)
    with output.shown_progress("converting"):
        done = convert_traces(stream, target, force=force)
    written = f"{count(done.searches, 'search', 'searches')} in {joined(done.files, 'and')}"
    output.write(wrapped(written, hang=2, width=output.width(), break_words=False))
    for note in done.notes:
        output.say(f"cranfield: {stream.name}: {note}", err=True)


@options.command("completion", shell=argument(type=click.Choice(("bash", "zsh", "fish"))))
def completion(shell: str) -> None:
    """Print the script that makes a SHELL complete commands and options.

    \b
    Example, for the start file of bash:
      eval "$(cranfield completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    program = click.get_current_context().find_root().command
    output.write([kind(program, {}, "cranfield", "_CRANFIELD_COMPLETE").source()])
