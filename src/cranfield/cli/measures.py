"""`cranfield measures`: the catalogue."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import IMPORTS, import_measures


@click.command("measures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--bibtex", is_flag=True, help="Print the papers behind the measures as BibTeX.")
@IMPORTS
@options.written()
def command(names: tuple[str, ...], bibtex: bool, imports: tuple[str, ...], file: str | None) -> None:
    """List all measures, or describe those named in full.

    \b
    Example:
      cranfield measures nDCG
    """
    from cranfield.measures.references import bibtex as entries
    from cranfield.measures.syntax import find_definition
    from cranfield.show.measure_text import measure_text, measures_text

    import_measures(imports)
    definitions = [find_definition(name) for name in names]
    width, paint = output.width(file), output.paint(file)
    if bibtex:
        text = entries([each.name for each in definitions] or None).rstrip("\n")
    elif definitions:
        text = "\n\n\n".join(measure_text(each, width, paint) for each in definitions)
    else:
        text = measures_text(width, paint)
    output.write([text], file)
