"""`cranfield explain`: one query, rank by rank; and `cranfield measures`: the catalogue."""

from __future__ import annotations

from cranfield.cli import options, output
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, query_texts, reading_options
from cranfield.cli.measure_options import ImportOptions, MeasureOptions
from cranfield.cli.options import argument, flag
from cranfield.cli.run_files import only
from cranfield.show.layout import Paint


class ExplanationOptions(options.JsonOptions):
    k: int = options.depth(10)
    collection: str | None = options.collection()


@options.command("explain", run=argument(), query=argument(), reading=reading_options(means=False))
def command(
    judgments: JudgmentOptions,
    run: str,
    query: str,
    measures: MeasureOptions,
    shown: ExplanationOptions,
    reading: ReadingOptions,
) -> None:
    """Show how the values of a QUERY of a RUN are calculated, rank by rank.

    Each rank down to k is shown with its document, grade, gain and discount, and the value of each measure so far.

    \b
    Example:
      cranfield explain builtin builtin:tuned q27 -m P -m nDCG -k 5
    """
    from cranfield.evaluation.explaining import USUAL, Explanation, explain, without_cutoff
    from cranfield.show.explanation_text import explanation_json, explanation_text

    measures.import_measures()
    qrels = judgments.source
    chosen = map(measures.with_all, without_cutoff(measures.measures or USUAL))
    explained: Explanation = explain(qrels, only(run), query, chosen, shown.k, **reading.arguments())

    def text(width: int, paint: Paint) -> str:
        return explanation_text(explained, width, paint, query_texts(qrels, shown.collection).get(query, ""))

    shown.write(lambda: explanation_json(explained), text)


class CatalogueOptions(ImportOptions, section="Output"):
    bibtex: bool = flag("--bibtex", help="Print the papers behind the measures as BibTeX.")
    file: str | None = options.written()


@options.command("measures", names=argument(nargs=-1, metavar="[NAME]..."))
def measures(names: tuple[str, ...], shown: CatalogueOptions) -> None:
    """List all measures, or describe those named in full.

    \b
    Example:
      cranfield measures nDCG
    """
    from cranfield.measures.references import bibtex
    from cranfield.measures.syntax import find_definition
    from cranfield.show.measure_text import measure_text, measures_text

    shown.import_measures()
    definitions = [find_definition(name) for name in names]
    width, paint = output.width(shown.file), output.paint(shown.file)
    if shown.bibtex:
        text = bibtex([definition.name for definition in definitions] or None).rstrip("\n")
    elif definitions:
        text = "\n\n\n".join(measure_text(definition, width, paint) for definition in definitions)
    else:
        text = measures_text(width, paint)
    output.write([text], shown.file)
