"""`cranfield explain`: one query, rank by rank."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.view_options import view_options


@click.command("explain")
@click.argument("qrels")
@click.argument("run")
@click.argument("query")
@options.measures
@options.depth(10)
@options.policy
@options.printed("json")
@options.formats
@view_options
def command(
    qrels: str,
    run: str,
    query: str,
    k: int,
    form: str,
    file: str | None,
    measures: tuple[str, ...],
    rel: float | None,
    judged_only: bool,
    imports: tuple[str, ...],
    run_format: str | None,
    qrels_format: str | None,
    **policy: str | int | None,
) -> None:
    """Show rank by rank where the values of a QUERY of a RUN come from.

    A measure is shown at every cutoff down to k: its document, grade, gain and discount, and the value so far.

    \b
    Example:
      cranfield explain builtin:qrels builtin:meaning graded-relevance -m P -m nDCG -k 5
    """
    from cranfield.evaluation.explaining import Explanation, explain, explanation_text, without_cutoff
    from cranfield.show.explanation import as_json

    options.import_measures(imports)
    chosen = [
        options.with_all(measure, rel=rel, judged_only=judged_only)
        for measure in without_cutoff(measures or "P R nDCG")
    ]
    shown: Explanation = explain(
        qrels,
        options.only(run),
        query,
        chosen,
        k,
        policy=options.chosen_policy(**policy),
        format=run_format,
        qrels_format=qrels_format,
    )
    data = form == "json"
    output.write([as_json(shown) if data else explanation_text(shown, output.width())], file, data=data)
