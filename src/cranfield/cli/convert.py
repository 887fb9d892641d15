"""`cranfield convert`: write judgments or a run in another format."""

from __future__ import annotations

import os
from typing import Literal

import click

from cranfield.cli import options, output
from cranfield.cli.progress import shown_progress
from cranfield.cli.run_files import expanded
from cranfield.cli.view_options import ASSESSORS, KINDS_OF_ASSESSORS, MERGE, POOLED, chosen_view
from cranfield.errors import InputError
from cranfield.layout import joined
from cranfield.read.compression import EXTENSIONS as COMPRESSED
from cranfield.read.formats import readable, writable
from cranfield.read.formats.store import names_store


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "format", type=click.Choice(readable()), help="The format of IN, if it cannot be detected.")
@click.option("--to", "target_format", type=click.Choice(writable()), help="The format of OUT [from its extension].")
@click.option("--as", "role", type=click.Choice(["qrels", "run"]), help="What IN contains, if it cannot be detected.")
@click.option("--tag", "name", metavar="NAME", help="The name of the run, for trec.")
@options.force
@ASSESSORS
@MERGE
@KINDS_OF_ASSESSORS
@POOLED
def command(
    source: str,
    target: str,
    format: str | None,
    target_format: str | None,
    role: Literal["qrels", "run"] | None,
    name: str | None,
    force: bool,
    assessors: tuple[str, ...],
    merge: str | None,
    kinds: tuple[str, ...],
    pooled: bool,
) -> None:
    """Write the judgments or the run in IN to OUT, in another format.

    Either may be - for standard input or output; IN may also be a pattern that matches one file. OUT is compressed if
    its name ends in COMPRESSED. Whatever the new format cannot store is listed on standard error.

    If OUT is a store of judgments (judgments.db, or a PostgreSQL URL), judgments or a sheet that was filled in are
    imported as those of --assessor [the name of the file]. Judgments that are already there are not added again.

    \b
    Examples:
      cranfield convert builtin:tuned tuned.jsonl.gz
      cranfield convert builtin - --to beir
      cranfield convert builtin judgments.db --assessor trec
    """
    source = _one_file(source)
    if target_format is None and names_store(target):
        if role == "run" or name or merge or pooled or len(assessors) > 1 or len(kinds) > 1:
            raise click.UsageError("only one --assessor and one --kind can be imported at a time.")
        _into_store(source, target, next(iter(assessors), None), next(iter(kinds), None), format)
        return
    from cranfield.files.converting import convert_file

    view = chosen_view(assessors, kinds, merge, pooled)
    with shown_progress("converting"):
        done = convert_file(
            source if view is None else view.of(source),
            target,
            format=format,
            target_format=target_format,
            role=role or ("qrels" if view else None),
            name=name,
            force=force,
        )
    for note in done.notes:
        output.say(f"cranfield: {done.source}: {note}", err=True)


options.fill_help(command, COMPRESSED=joined(COMPRESSED, "or"))


def _one_file(source: str) -> str:
    """The file for a pattern; any other name stays as it is."""
    found = [source] if names_store(source) or os.path.isdir(source) else expanded([source])
    if len(found) > 1:
        raise InputError(source, f"this pattern matches {len(found)} files.", hint="convert one file at a time")
    return found[0]


def _into_store(source: str, target: str, assessor: str | None, kind: str | None, format: str | None) -> None:
    from cranfield.judging.importing import import_file

    if source == "-" and assessor is None:
        raise click.UsageError("standard input has no file name to use; give --assessor.")
    with shown_progress("importing"):
        done = import_file(source, target, assessor, kind=kind, format=format)
    output.say(str(done))
    for note in done.notes:
        output.say(f"  {note}")
