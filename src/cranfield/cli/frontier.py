"""`cranfield frontier`: which runs are worth their latency or their cost."""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import flag, option
from cranfield.cli.run_files import expanded


class FrontierOptions(options.OptionGroup, section="Frontier"):
    cost: bool = flag("--cost", help="Compare costs instead of latencies.")
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

    def arguments(self) -> dict[str, Any]:
        """Those that were given, as arguments of `frontier`."""
        given = {**self.values("margin", "alpha"), "values": self.taken, "by": "cost" if self.cost else None}
        return {name: value for name, value in given.items() if value is not None}


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
    from cranfield.show.frontier_text import frontier_json, frontier_lines, frontier_markdown

    chosen = measures.chosen(("nDCG@10",))
    if len(chosen) > 1:
        raise click.UsageError("a frontier is by one measure; give one -m.")
    found = frontier(judgments.source, expanded(runs), chosen[0], **compared.arguments(), **reading.arguments())
    shown.write(
        lambda: frontier_json(found),
        lambda: frontier_markdown(found),
        lambda width, paint: frontier_lines(found, width, paint),
    )
