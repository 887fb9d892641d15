"""`cranfield trec_eval`: passes its arguments to the program, which does not use click."""

from __future__ import annotations

import click


@click.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS] QRELS RUN")
def command(arguments: tuple[str, ...]) -> int:
    """Evaluate a RUN as trec_eval does, with its options and its output; -h lists them."""
    from cranfield.cli.trec_eval import run

    return run(arguments)
