"""`cranfield evaluate`: measure runs."""

from __future__ import annotations

import click


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@click.option("-q", "--per-query", is_flag=True, help="Also print the values of every query.")
@click.option("--worst", type=int, default=0, metavar="N", help="List the N queries that perform worst.")
@click.option("--save", metavar="FILE", help="Save the evaluation of one run, to compare with later.")
@click.option("--ties", help="Order of equal scores: doc_id, smaller_doc_id, file, best, worst.")
@click.option("--missing", help="A judged query that the run lacks: zero, skip, error.")
@click.option("--duplicates", help="A document twice in a ranking: error, first, last, best.")
@click.option("--depth", type=int, help="The deepest rank read.")
@click.option("--run-format", help="trec, msmarco, csv, tsv, json, jsonl or parquet, if it cannot be told.")
@click.option("--qrels-format", help="The same for the judgments, or prefs.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    worst: int,
    save: str | None,
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

    if save and len(runs) > 1:
        raise click.UsageError("--save takes one run.")
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
    if save:
        found[0].save(save)
    if per_query:
        for line in per_query_lines(found):
            click.echo(line)
        click.echo()
    click.echo(evaluations_table(found))
    if worst:
        for result in found:
            click.echo()
            click.echo(worst_table(result, worst))
