"""`cranfield calls`: what does each search of an agent add?"""

from __future__ import annotations

from cranfield.cli import options
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import REL
from cranfield.cli.options import argument, option
from cranfield.cli.run_files import only


class CallOptions(options.JsonOptions, section="Output"):
    cutoff: int | None = option("--cutoff", type=int, metavar="K", help="Count the first K documents of each search.")
    rel: float | None = REL


@options.command("calls", run=argument(), reading=reading_options(means=False))
def command(judgments: JudgmentOptions, run: str, shown: CallOptions, reading: ReadingOptions) -> None:
    """Show what each search of the tasks in RUN adds, by the judgments of tasks in QRELS.

    For each call: its recall alone, that of all calls up to it together, how often it is the first to find something,
    how often it finds something new, and what it fetches again. RUN contains traces, or a table with the columns task,
    step, doc_id and score.

    \b
    Example:
      cranfield calls tasks.qrels traces.jsonl --cutoff 5
    """
    from cranfield.evaluation.calls import calls
    from cranfield.show.calls_text import calls_text

    found = calls(
        judgments.source,
        only(run),
        cutoff=shown.cutoff,
        rel=1 if shown.rel is None else shown.rel,
        **reading.arguments(),
    )
    shown.write(found.to_json, lambda width, paint: calls_text(found, width, paint))
