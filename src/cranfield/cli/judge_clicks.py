"""`cranfield judge STORE --clicks LOG`: grades by what people clicked on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options, output
from cranfield.cli.options import OptionGroup, option
from cranfield.show.layout import wrapped
from cranfield.words import joined

if TYPE_CHECKING:
    from cranfield.judging.store import Store


class ClickOptions(OptionGroup, section="Clicks"):
    clicks: tuple[str, ...] = option(
        "--clicks",
        type=options.FILE,
        multiple=True,
        metavar="LOG",
        help="Grade by the clicks of LOG: a CSV file, JSON lines, Parquet or UBI; may be repeated.",
    )
    attraction: tuple[float, ...] | None = option(
        "--attraction",
        type=options.Read(options.numbers, "is not a list of shares, such as '0.1,0.2,0.4'."),
        metavar="SHARES",
        help="The lowest attraction for each grade above the lowest one [on a scale to 3: 0.125,0.25,0.5].",
    )
    least: float | None = option(
        "--least",
        type=float,
        metavar="N",
        help="Grade documents that at least N people looked at [20].",
    )

    @property
    def named(self) -> list[str]:
        """The options that were given although they only make sense with --clicks."""
        return [self.declared[name][0].names[0] for name in ("attraction", "least") if getattr(self, name) is not None]


def judge_with_clicks(store: Store, chosen: ClickOptions, names: tuple[str, ...], *, dry_run: bool) -> None:
    from cranfield.show.click_text import click_text
    from cranfield.traffic.click_judging import judge_by_clicks
    from cranfield.traffic.clicks import LEAST

    if len(names) > 1:
        raise click.UsageError(f"clicks have one name, not {joined(names, 'and')}.")
    with output.shown_progress("clicks"):
        report = judge_by_clicks(
            store,
            list(chosen.clicks),
            assessor=names[0] if names else "clicks",
            attraction=chosen.attraction,
            least=LEAST if chosen.least is None else chosen.least,
            dry_run=dry_run,
        )
    output.write([click_text(report, output.width(), output.paint())])
    if dry_run:
        output.say("Nothing was saved.")
    elif report.new:
        hint = f"Hint: cranfield agreement {store.name} --kind person --kind imported --kind clicks"
        output.write(wrapped(hint, "  ", hang=4, width=output.width()))
