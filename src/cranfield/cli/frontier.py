"""`cranfield frontier`: which runs are worth their latency or their cost."""

from __future__ import annotations

from cranfield.cli import options
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import flag, option
from cranfield.cli.run_files import expanded


class FrontierOptions(options.OptionGroup, section="Frontier"):
    by: str | None = flag("--cost", flag_value="cost", default=None, help="Compare costs instead of latencies.")
    taken: str | None = options.file(
        "--values",
        parameter="values",
        help="The latency or cost of runs for which none was recorded: a file of run and number, or JSON {run: {query: "
        "number}}.",
    )
    margin: float | None = option(
        "--margin", type=float, metavar="N", help="How much worse is still good enough [0.01]."
    )
    alpha: float | None = option("--alpha", type=float, metavar="P", help="The level of significance [0.05].")


@options.command("frontier", runs=options.RUNS, reading=reading_options())
def command(
    judgments: JudgmentOptions,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    compared: FrontierOptions,
    shown: options.MarkdownOptions,
    reading: ReadingOptions,
) -> None:
    """Show which RUNs are worth their latency or cost: the frontier of quality and speed.

    A run is dominated if another one is shown to be faster, and to be worse by at most a margin. 'cranfield run' and
    'cranfield test' keep the latency of every query beside the runs that they record. 'cranfield plot frontier' draws
    the frontier.

    \b
    Examples:
      cranfield run sqlite builtin -o plain.run
      cranfield run sqlite:tuned builtin -o tuned.run
      cranfield frontier builtin plain.run tuned.run
    """
    from cranfield.comparison.frontier import frontier
    from cranfield.show.frontier_text import frontier_lines, frontier_markdown

    measure = measures.one(("nDCG@10",), "a frontier is by one measure; give one -m.")
    found = frontier(judgments.source, expanded(runs), measure, **compared.arguments(), **reading.arguments())
    shown.write(found, frontier_markdown, frontier_lines)
