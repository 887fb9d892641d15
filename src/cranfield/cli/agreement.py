"""`cranfield agreement`: how far do assessors agree?"""

from __future__ import annotations

from cranfield.cli import options
from cranfield.cli.input_options import AssessorOptions, RunFormatOptions
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import argument, number, option
from cranfield.cli.run_files import expanded
from cranfield.judging.store import BY_PEOPLE


class AgreementOptions(AssessorOptions, options.JsonOptions, section="Output"):
    disagreements: int = number(
        "--disagreements", default=10, parameter="worst", help="How many disagreements to list [10]."
    )
    draws: int = option(
        "--draws",
        type=int,
        default=2000,
        metavar="N",
        help="How many samples of the queries are drawn for intervals [2000].",
    )
    seed: int = options.SEED


@options.command("agreement", store=argument(), runs=options.ANY_RUNS)
def command(
    store: str, runs: tuple[str, ...], measures: MeasureOptions, shown: AgreementOptions, reading: RunFormatOptions
) -> None:
    """Show how well the assessors of STORE agree on the documents that several of them judged.

    First in a sentence, then in figures: Cohen's kappa, weighted kappa and Krippendorff's alpha for each pair of
    assessors and all together, by grade and by query, and the documents whose grades are furthest apart. With RUNs,
    also whether their order depends on whose grades are used. STORE is a file or the URL of a PostgreSQL database.

    Assessors are people, unless --kind names other kinds: --kind person --kind model compares models with people,
    shows documents that they grade differently, and says which of two models agrees better with people.

    \b
    Examples:
      cranfield agreement judgments.db --assessor ann --assessor bob
      cranfield agreement judgments.db runs/*.run -m AP
    """
    from cranfield.judging.agree import agreement
    from cranfield.show.judging_text import agreement_text

    measure = measures.one(("nDCG@10",), "the runs are ranked by one measure; give -m once.")
    agreed = agreement(
        store,
        shown.assessors or None,
        runs=expanded(runs) or None,
        measure=measure.name,
        kinds=shown.kinds or BY_PEOPLE,
        worst=shown.disagreements,
        format=reading.format,
        **shown.values("draws", "seed"),
    )
    shown.write(agreed.to_json, lambda width, paint: agreement_text(agreed, width, paint))
