"""`cranfield run`: ask a live system and write its run."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.options import argument, option
from cranfield.cli.system_options import AskingOptions
from cranfield.io.formats import FORMATS, writable
from cranfield.systems.opening import short_names
from cranfield.words import joined


class RunOptions(AskingOptions, section="System"):
    k: int = options.depth(100)
    retries: int = option(
        "--retries", type=click.IntRange(0), default=3, metavar="N", help="How often to try a failed query again [3]."
    )
    give_up: int = option(
        "--give-up",
        type=click.IntRange(0),
        default=10,
        metavar="N",
        help="Stop after N failures in a row; 0 never stops [10].",
    )


class WrittenOptions(options.OptionGroup, section="Output"):
    file: str = options.written(required=True)
    resume: bool = option("--resume", is_flag=True, help="Finish a run that an earlier call began.")
    force: bool = options.FORCE


@options.command("run", system=argument(), queries=argument())
def command(system: str, queries: str, asking: RunOptions, written: WrittenOptions) -> None:
    """Ask SYSTEM all QUERIES and write its answers as a run, in the format of its name: EXTENSIONS; otherwise trec.

    SYSTEM is package.module:name, a name in cranfield.toml, FILE.toml:NAME, or one of SHORT_NAMES. QUERIES is
    a file of queries, the folder of a collection, 'builtin' or 'ir_datasets:ID'. The exit code is 1 if a query failed.

    \b
    Example:
      cranfield run sqlite builtin -k 100 -o sqlite.run
    """
    import os
    from functools import partial

    from cranfield.cli.progress import shown_asking
    from cranfield.systems.collapse import collapse_by
    from cranfield.systems.collection import open_collection
    from cranfield.systems.opening import open_system
    from cranfield.systems.query_files import read_queries
    from cranfield.systems.recording import record

    file = written.file
    say = partial(output.say, err=file == "-")  # where the run itself goes to standard output
    collection = open_collection(asking.corpus) if asking.corpus else None
    if os.path.isfile(queries):
        texts = read_queries(queries)
    else:
        asked = open_collection(queries)
        collection, texts = collection or asked, asked.judged_queries()
        if len(texts) < len(asked.queries):
            say(f"{queries}: {len(texts)} of {len(asked.queries)} queries are judged; only these are asked.")
    opened = open_system(system, collection, timeout=asking.timeout)
    known = collection.ids if collection and collection.corpus else None
    to_document = collapse_by(asking.collapse) if asking.collapse else None
    try:
        with shown_asking(opened.name) as progress:
            recorded = record(
                opened,
                texts,
                file,
                asking.k,
                resume=written.resume,
                force=written.force,
                on_start=progress.start,
                on_answer=progress.answer,
                jobs=asking.jobs,
                retries=asking.retries,
                give_up=asking.give_up,
                to_document=to_document,
                known=known,
                conditions={"collapse": asking.collapse or ""},
            )
    finally:
        opened.close()

    from cranfield.show.systems_text import recorded_lines

    for line in recorded_lines(recorded, output.width(), output.paint()):
        say(line)
    if not recorded.complete:
        if os.path.exists(f"{file}.partial"):
            say("  Hint: run the same command with --resume to ask only the missing queries")
        click.get_current_context().exit(1)


_EXTENSIONS = (FORMATS[name].extensions[0] for name in writable(["run"]) if FORMATS[name].extensions)
options.fill_help(command, SHORT_NAMES=", ".join(short_names()), EXTENSIONS=joined(_EXTENSIONS, "or"))
