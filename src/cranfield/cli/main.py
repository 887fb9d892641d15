"""The program `cranfield`: its commands, and how it ends."""

from __future__ import annotations

import gc
import sys

from cranfield.cli import process

# isort: split
import click

from cranfield.errors import CranfieldError
from cranfield.version import __version__


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from cranfield.judge.native import native

        click.echo(f"cranfield {__version__} ({'native' if native else 'pure Python'} scan)")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    callback=_show_version,
    expose_value=False,
    is_eager=True,
    help="Show the version and which scan is in use.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def program() -> None:
    """Find out how good search results are."""


@program.command()
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@click.option("-q", "--per-query", is_flag=True, help="Also print the values of every query.")
@click.option("--worst", type=int, default=0, metavar="N", help="List the N queries that perform worst.")
@click.option("--ties", help="Order of equal scores: doc_id, smaller_doc_id, file, best, worst.")
@click.option("--missing", help="A judged query that the run lacks: zero, skip, error.")
@click.option("--duplicates", help="A document twice in a ranking: error, first, last, best.")
@click.option("--depth", type=int, help="The deepest rank read.")
@click.option("--run-format", help="trec, msmarco, csv, tsv, json, jsonl or parquet, if it cannot be told.")
@click.option("--qrels-format", help="The same for the judgments, or prefs.")
def evaluate(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    worst: int,
    run_format: str | None,
    qrels_format: str | None,
    **policy: str | int | None,
) -> None:
    """Evaluate one or more RUNs against the judgments in QRELS.

    \b
    Example:
      cranfield evaluate qrels.txt bm25.run -m nDCG@10 -m AP
    """
    from cranfield.read.streams import Stream

    opened = [Stream(run) for run in runs]
    opened[0].hash_ahead()  # while the libraries are imported

    from cranfield.evaluation import DEFAULT_MEASURES, evaluate_runs
    from cranfield.judge.policy import Policy
    from cranfield.show.text import evaluations_table, per_query_lines, worst_table

    chosen = Policy(**{name: value for name, value in policy.items() if value is not None})  # type: ignore[arg-type]
    results = evaluate_runs(
        qrels, opened, measures or DEFAULT_MEASURES, policy=chosen, format=run_format, qrels_format=qrels_format
    )
    found = list(results.values())
    if per_query:
        for line in per_query_lines(found):
            click.echo(line)
        click.echo()
    click.echo(evaluations_table(found))
    if worst:
        for result in found:
            click.echo()
            click.echo(worst_table(result, worst))


@program.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS] QRELS RUN")
def trec_eval(arguments: tuple[str, ...]) -> int:
    """Evaluate a RUN as trec_eval does, with its options and its output; -h lists them."""
    from cranfield.cli.trec_eval import run

    return run(arguments)


@program.command()
def demo() -> None:
    """Evaluate two small built-in runs."""
    from importlib.resources import files

    from cranfield.evaluation import evaluate_runs
    from cranfield.show.text import evaluations_table, worst_table

    data = files("cranfield") / "data"
    runs = {name: str(data / f"{name}.run") for name in ("keywords", "meaning")}
    results = list(evaluate_runs(str(data / "qrels.txt"), runs).values())
    click.echo("Two systems answer ten questions about search evaluation.\n")
    click.echo(evaluations_table(results))
    click.echo()
    click.echo(worst_table(results[0], 3))


def main() -> None:
    """Run the program; every error ends in a message and an exit code, never in a traceback."""
    debug = "--debug" in sys.argv
    gc.enable()
    try:
        code = program(prog_name="cranfield", standalone_mode=False) or 0
    except click.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except CranfieldError as error:
        if debug:
            raise
        click.echo(f"cranfield: {error}", err=True)
        code = 2
    except BrokenPipeError:
        process.close_output()
        code = 0
    except Exception as error:
        if debug:
            raise
        click.echo(f"cranfield: this should not have happened: {type(error).__name__}: {error}", err=True)
        click.echo("Hint: run it again as 'cranfield --debug …', and report what it prints", err=True)
        code = 2
    process.leave(code)
