"""`cranfield explain`: one query, rank by rank."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.known_queries import query_texts
from cranfield.cli.measure_options import MeasureOptions, import_measures, measure_options
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import only
from cranfield.cli.view_options import view_options


@click.command("explain")
@click.argument("qrels")
@click.argument("run")
@click.argument("query")
@measure_options
@options.depth(10)
@options.printed("json")
@options.collection()
@reading_options(id_check=False)
@view_options
def command(
    qrels: str,
    run: str,
    query: str,
    k: int,
    form: str,
    file: str | None,
    collection: str | None,
    measures: MeasureOptions,
    reading: ReadingOptions,
) -> None:
    """Show how the values of a QUERY of a RUN are calculated, rank by rank.

    Each rank down to k is shown with its document, grade, gain and discount, and the value of each measure so far.

    \b
    Example:
      cranfield explain builtin builtin:tuned q27 -m P -m nDCG -k 5
    """
    from cranfield.evaluation.explaining import USUAL, Explanation, explain, explanation_text, without_cutoff
    from cranfield.show.explanation import as_json

    import_measures(measures.imports)
    chosen = map(measures.with_all, without_cutoff(measures.names or USUAL))
    shown: Explanation = explain(qrels, only(run), query, chosen, k, **reading.arguments())
    data = form == "json"
    text = as_json(shown) if data else ""
    if not data:
        asked = query_texts(qrels, collection).get(query, "")
        text = explanation_text(shown, output.width(file), output.paint(file), asked)
    output.write([text], file, data=data)
