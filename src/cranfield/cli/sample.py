"""`cranfield sample`: draw queries from a log."""

from __future__ import annotations

import json
from pathlib import Path

from cranfield.cli import options, output
from cranfield.cli.options import argument, flag, number, option
from cranfield.cli.run_files import expanded
from cranfield.io.target import STANDARD_OUTPUT
from cranfield.traffic.personal_data import KINDS
from cranfield.traffic.sampling import SPREAD


class DrawOptions(options.OptionGroup, section="Queries"):
    size: int = number("-n", "--size", least=2, default=200, help="How many queries to draw [200].")
    seed: int = options.SEED
    any_order: bool = flag("--any-order", help="Count queries with the same words in another order as one.")
    same_case: bool = flag("--same-case", help="Take queries that differ by case as two.")
    keep: tuple[str, ...] = option(
        "--keep",
        multiple=True,
        choices=KINDS,
        metavar="KIND",
        help="Do not leave out this kind of personal data; may be repeated.",
    )
    spread: float = option(
        "--spread",
        type=float,
        default=SPREAD,
        metavar="N",
        help=f"The standard deviation of differences by query that is assumed for what can be detected [{SPREAD:g}].",
    )


class LogOptions(options.OptionGroup, section="Input"):
    query: str | None = option(
        "--query-column", parameter="query", metavar="COLUMN", help="The column with the texts [by its name]."
    )
    count: str | None = option(
        "--count-column",
        parameter="count",
        metavar="COLUMN",
        help="The column that says how often each was asked [by its name].",
    )
    skip_bad: bool = flag("--skip-bad", help="Leave out and count lines that cannot be read.")


class SampleOutput(options.PrintOptions, formats=("tsv", "csv", "json", "jsonl"), section="Output"):
    force: bool = options.FORCE


@options.command("sample", logs=argument(nargs=-1, required=True, metavar="LOG..."))
def command(logs: tuple[str, ...], drawing: DrawOptions, reading: LogOptions, shown: SampleOutput) -> None:
    """Draw queries to judge, and to evaluate with, from LOGs of searches.

    A LOG is CSV, TSV, JSON lines, UBI queries or one text per line, and may be compressed. Queries that differ only by
    case or blanks count as one. What looks like personal data is left out and counted; patterns find no names, so read
    the sample before you share it.

    Frequent queries are more likely to be drawn. The file has the probability of each query, which intervals use, and
    two columns of weights: 'weight' is for the mean over searches, 'distinct_weight' for that over distinct queries. A
    larger sample with the same seed has all queries of a smaller one.

    Without -o and --format, it only says what the sample would stand for. To evaluate with the sample, give
    --weights queries.tsv or --weights queries.tsv:distinct_weight.

    \b
    Examples:
      cranfield sample searches.tsv
      cranfield sample searches.tsv -n 200 -o queries.tsv
      cranfield sample searches.tsv --keep number -o products.csv
    """
    from cranfield.show.sampling_text import sample_text
    from cranfield.traffic.sampling import sample_queries

    files = [Path(name) for name in expanded(logs)]
    with output.shown_progress("sampling"):
        sample = sample_queries(
            files,
            drawing.size,
            seed=drawing.seed,
            query=reading.query,
            count=reading.count,
            any_order=drawing.any_order,
            same_case=drawing.same_case,
            keep=drawing.keep,
            skip_bad=reading.skip_bad,
        )
    if shown.form == "json":
        facts = sample.to_dict(spread=drawing.spread)
        output.write([json.dumps(facts, indent=2, ensure_ascii=False)], shown.file, data=True)
        return
    path = shown.file or STANDARD_OUTPUT
    queries_printed = path == STANDARD_OUTPUT and (shown.form != "text" or shown.file is not None)
    lines = list(sample_text(sample, path, drawing.spread, output.width(), output.paint(err=queries_printed)))
    if queries_printed or shown.file is not None:
        sample.save(path, format=shown.form if shown.form != "text" else None, force=shown.force)
    for line in lines:
        output.say(line, err=queries_printed)
