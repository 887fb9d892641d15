"""`cranfield run`: ask a live system and write its run."""

from __future__ import annotations

import click

from cranfield.cli import options, output, system_options
from cranfield.layout import joined
from cranfield.read.formats import FORMATS, writable
from cranfield.systems.opening import short_names


@click.command("run")
@click.argument("system")
@click.argument("queries")
@options.depth(100)
@options.written(required=True)
@system_options.JOBS
@system_options.TIMEOUT
@click.option("--retries", type=click.IntRange(0), default=3, help="How often to try a failed query again [3].")
@click.option(
    "--give-up",
    type=click.IntRange(0),
    default=10,
    help="Stop after N failures in a row; 0 never stops [10].",
)
@click.option("--resume", is_flag=True, help="Finish a run that an earlier call began.")
@options.force
@system_options.COLLAPSE
@system_options.corpus()
def command(
    system: str,
    queries: str,
    k: int,
    file: str,
    jobs: int,
    timeout: float | None,
    retries: int,
    give_up: int,
    resume: bool,
    force: bool,
    collapse: str | None,
    corpus: str | None,
) -> None:
    """Ask SYSTEM all QUERIES and write its answers as a run, in the format of its name: EXTENSIONS; otherwise trec.

    SYSTEM is package.module:name, a name in cranfield.toml, FILE.toml:NAME, or one of SHORT_NAMES. QUERIES is
    a file of queries, the folder of a collection, 'builtin' or 'ir_datasets:ID'. The exit code is 1 if a query failed.

    \b
    Example:
      cranfield run sqlite builtin -k 100 -o sqlite.run
    """
    import os
    from functools import partial

    from cranfield.cli.asking_progress import shown_asking
    from cranfield.systems.collapse import collapse_by
    from cranfield.systems.collection import open_collection
    from cranfield.systems.opening import open_system
    from cranfield.systems.query_files import read_queries
    from cranfield.systems.recording import record

    say = partial(output.say, err=file == "-")  # where the run itself goes to standard output
    collection = open_collection(corpus) if corpus else None
    if os.path.isfile(queries):
        texts = read_queries(queries)
    else:
        asked = open_collection(queries)
        collection, texts = collection or asked, asked.judged_queries()
        if len(texts) < len(asked.queries):
            say(f"{queries}: {len(texts)} of {len(asked.queries)} queries are judged; only these are asked.")
    opened = open_system(system, collection, timeout=timeout)
    to_document = collapse_by(collapse) if collapse else None
    known = collection.ids if collection and collection.corpus else None
    try:
        with shown_asking(opened.name) as progress:
            recorded = record(
                opened,
                texts,
                file,
                k,
                resume=resume,
                force=force,
                on_start=progress.start,
                on_answer=progress.answer,
                jobs=jobs,
                retries=retries,
                give_up=give_up,
                to_document=to_document,
                known=known,
                conditions={"collapse": collapse or ""},
            )
    finally:
        opened.close()

    from cranfield.systems.text.recorded import recorded_lines

    for line in recorded_lines(recorded, output.width(), output.paint()):
        say(line)
    if not recorded.complete:
        if os.path.exists(f"{file}.partial"):
            say("  Hint: run the same command with --resume to ask only the missing queries")
        click.get_current_context().exit(1)


_EXTENSIONS = (FORMATS[name].extensions[0] for name in writable(["run"]) if FORMATS[name].extensions)
options.fill_help(command, SHORT_NAMES=", ".join(short_names()), EXTENSIONS=joined(_EXTENSIONS, "or"))
