"""`cranfield agreement`: how far do assessors agree?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.judging.events import BY_PEOPLE, KINDS


@click.command("agreement")
@click.argument("store")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="By which RUNs are put in order.")
@click.option("--assessor", "assessors", multiple=True, metavar="NAME", help="Only these; may be repeated.")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(list(KINDS)),
    multiple=True,
    help=f"Kinds of assessors; may be repeated [{', '.join(BY_PEOPLE)}].",
)
@click.option("--worst", type=int, default=10, show_default=True, help="How many disagreements to list.")
@click.option("--draws", type=int, default=2000, show_default=True, help="Of the queries, for intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--format", "shown", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    store: str,
    runs: tuple[str, ...],
    measure: str,
    assessors: tuple[str, ...],
    kinds: tuple[str, ...],
    worst: int,
    draws: int,
    seed: int,
    shown: str,
) -> None:
    """Show how far the assessors of STORE agree on the documents that several of them judged.

    Cohen's kappa, weighted kappa and Krippendorff's alpha for each pair of assessors and all together, by grade and by
    query, and the documents whose grades are furthest apart. With RUNs, whether their order changes with whose grades
    are used. STORE is a file or the URL of a PostgreSQL database.

    \b
    Example:
      cranfield agreement judgments.db --assessor ann --assessor bob
      cranfield agreement judgments.db runs/*.run -m AP
    """
    from cranfield.judging.agreeing import agreement
    from cranfield.judging.agreement_text import agreement_text

    found = agreement(
        store,
        assessors or None,
        runs=options.expanded(runs) or None,
        measure=measure,
        kinds=kinds or BY_PEOPLE,
        worst=worst,
        draws=draws,
        seed=seed,
    )
    if shown == "json":
        output.write([found.to_json()], data=True)
    else:
        output.say(agreement_text(found, output.width(), output.head_style()))
