"""`cranfield convert`: write judgments or a run in another format."""

from __future__ import annotations

from typing import Literal

import click

from cranfield.cli import options, output
from cranfield.read.formats import readable, writable


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "format", type=click.Choice(readable()), help="The format of IN, if it cannot be detected.")
@click.option(
    "--to", "target_format", type=click.Choice(writable()), help="The format of OUT; else its extension says it."
)
@click.option("--as", "role", type=click.Choice(["qrels", "run"]), help="What IN holds, if it cannot be detected.")
@click.option("--tag", "name", metavar="NAME", help="The name of the run, for trec.")
@options.force
def command(
    source: str,
    target: str,
    format: str | None,
    target_format: str | None,
    role: Literal["qrels", "run"] | None,
    name: str | None,
    force: bool,
) -> None:
    """Write the judgments or the run in IN to OUT, in another format.

    Either may be - for standard input or output. OUT is compressed if its name ends in .gz, .bz2, .xz or .zst. What the
    new format cannot hold is said on standard error.

    \b
    Examples:
      cranfield convert builtin:keywords keywords.jsonl.gz
      cranfield convert builtin:qrels - --to beir
    """
    from cranfield.files.converting import convert_file

    done = convert_file(source, target, format=format, target_format=target_format, role=role, name=name, force=force)
    for note in done.notes:
        output.say(f"cranfield: {done.source}: {note}", err=True)
