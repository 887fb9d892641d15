"""`cranfield measures`: the catalogue."""

from __future__ import annotations

import click

from cranfield.cli import output
from cranfield.cli.measure_options import IMPORTS, import_measures


@click.command("measures")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--bibtex", is_flag=True, help="Print the papers behind the measures as BibTeX.")
@IMPORTS
def command(names: tuple[str, ...], bibtex: bool, imports: tuple[str, ...]) -> None:
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
    if bibtex:
        output.write([entries([each.name for each in definitions] or None).rstrip("\n")])
    elif definitions:
        output.write(["\n\n\n".join(measure_text(each, output.width(), output.paint()) for each in definitions)])
    else:
        output.write([measures_text(output.width(), output.paint())])
