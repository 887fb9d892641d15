"""`cranfield diff`: what changed between two runs, and how good an approximate search is."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import ReadingOptions, ViewOptions, reading_options, shown_collection
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import argument, flag, number, option
from cranfield.cli.run_files import only
from cranfield.io.settings import SETTINGS_FILE
from cranfield.words import percent

if TYPE_CHECKING:
    from cranfield.changes.neighbours import NeighbourRecall
    from cranfield.changes.run_diff import RunDiff

ON_PAGE = 20  # queries that changed most
WITHOUT_EXACT = ("depth", "p", "max_changed", "to_judge", "collection", "history")
_RESULT = re.compile(r"(?:.+@)?[0-9a-fA-F]{4,64}\+?")


class ComparedOptions(options.OptionGroup, section="Comparison"):
    one: str = argument(metavar="A")
    other: str | None = argument(required=False, metavar="[B]")
    k: int = options.depth(10)
    depth: int | None = options.depth_of_runs(None, "all")
    p: float = option(
        "--rbo-p",
        parameter="p",
        type=float,
        default=0.9,
        metavar="P",
        help="How persistent the reader of RBO is [0.9].",
    )
    max_changed: float | None = option(
        "--max-changed",
        type=options.SHARE,
        metavar="SHARE",
        help="Exit with 1 if the first documents changed for a larger share of the queries, such as 0.2 or 20%.",
    )


class NeighbourOptions(options.OptionGroup, section="Approximate search"):
    exact: bool = flag("--exact", help="Count how many of the neighbours in A, the run of an exact index, B finds.")
    vectors: str | None = options.file(
        "--vectors",
        help="Vectors for the distances: an .npz file with query_ids, queries, document_ids and documents.",
    )
    metric: str = option(
        "--metric", choices=("l2", "dot", "cosine"), default="l2", metavar="NAME", help="The distance of vectors [l2]."
    )
    epsilon: float | None = option(
        "--epsilon", type=float, metavar="E", help="How much further than the k-th neighbour still counts [1e-6]."
    )


class JudgedOptions(ViewOptions):
    qrels: str | None = option(
        "--qrels",
        metavar="QRELS",
        help="Judgments, to see how much of the change is judged, and whether it is better.",
    )

    @property
    def source(self) -> Any:
        """The judgments; a view of a store if the options choose one."""
        if self.view is not None and self.qrels is None:
            raise click.UsageError("these options choose assessors from --qrels, which is missing.")
        return self.qrels if self.view is None or self.qrels is None else self.view.of(self.qrels)


class ShownOptions(options.MarkdownOptions, section="Output"):
    """How it is shown; a FILE.html is the page."""

    writes_page = True

    most: int | None = number("--queries", help="How many queries to show rankings for [3; 20 on a page].")
    to_judge: int = number("--to-judge", default=20, help="How many documents to judge first [20].")
    collection: str | None = options.collection("beside QRELS")


class ResultOptions(options.OptionGroup, section="Input"):
    config: Path = options.config(SETTINGS_FILE)
    history: str | None = options.HISTORY


@options.command("diff", reading=reading_options(settings=("ties", "duplicates", "same_id", "negative"), means=False))
def command(
    compared: ComparedOptions,
    neighbours: NeighbourOptions,
    judged: JudgedOptions,
    measures: MeasureOptions,
    shown: ShownOptions,
    kept: ResultOptions,
    reading: ReadingOptions,
) -> int:
    """Show what changed from run A to run B, with judgments or without.

    A and B are runs, or results in the history, named by the first letters of their commits or ids, or by SYSTEM@COMMIT
    where several systems were tested. You see how much the first documents overlap, which documents enter and leave,
    and both lists of the queries that changed most; with --qrels, also how much of the change is judged. With -o
    FILE.html, it is written as a page.

    With --exact, A is the run of an exact index, and B that of an approximate one. With --vectors as well, you may give
    the approximate run alone: the exact neighbours are then calculated.

    \b
    Examples:
      cranfield diff builtin:plain builtin:tuned
      cranfield diff builtin:plain builtin:tuned --qrels builtin -o diff.html
      cranfield diff builtin:plain builtin:plain --max-changed 0
      cranfield diff builtin:plain builtin:tuned --exact
    """
    measure = measures.one(("nDCG@10",), "a diff is by one measure; give one -m.")
    one, other = compared.one, compared.other
    common: dict[str, Any] = {
        "k": compared.k,
        "qrels": judged.source,
        "measure": measure,
        **reading.arguments(),
    }
    if neighbours.exact:
        _show_neighbours(one, other, neighbours, shown, common)
        return 0
    if other is None:
        raise click.UsageError("missing argument 'B': diff takes two runs; with --exact and --vectors, one.")
    options.refuse("{} needs --exact.", "vectors", "metric", "epsilon")
    from cranfield.changes.diff import diff

    most = shown.most if shown.most is not None else ON_PAGE if shown.is_page or shown.form != "text" else 3
    with output.shown_progress("comparing"):
        found = diff(
            _run_named(one),
            _run_named(other),
            depth=compared.depth,
            p=compared.p,
            rel=1 if measures.rel is None else measures.rel,
            most_changed=most,
            to_judge=shown.to_judge,
            collection=_texts(judged.qrels, shown.collection),
            history=_history(kept, one, other),
            **common,
        )
    _show(found, shown, most)
    if compared.max_changed is None or found.same(compared.max_changed):
        return 0
    allowed = percent(compared.max_changed) if compared.max_changed else "none"
    data = shown.form != "text" and shown.file is None  # on standard output, for a program
    output.say(f"failed: {percent(found.changed)} of the queries changed; --max-changed allows {allowed}", err=data)
    return 1


def _run_named(name: str) -> str:
    return name if _RESULT.fullmatch(name) and not os.path.exists(name) else only(name)


def _texts(qrels: str | None, collection: str | None) -> Any:
    return shown_collection(qrels, collection) if qrels is not None or collection is not None else None


def _history(kept: ResultOptions, *names: str) -> str | None:
    """Where results are looked up; None if all names are those of files."""
    if not any(_RESULT.fullmatch(name) and not os.path.exists(name) for name in names):
        return None
    from cranfield.systems.history.opening import USUAL_HISTORY, HistorySettings

    known: dict[str, Any] = {}
    if kept.config.is_file():
        from cranfield.systems.project import read_project

        known = dict(read_project(kept.config).history)
    if kept.history is not None:
        return kept.history
    found = kept.config.is_file() or (kept.config.parent / USUAL_HISTORY).is_file()
    return HistorySettings.of(known, kept.config).store if found else None


def _show(found: RunDiff, shown: ShownOptions, most: int) -> None:
    from cranfield.show.diff_text import diff_lines, diff_markdown

    if shown.is_page:
        from cranfield.report.diff import write_diff

        written = write_diff(found, shown.file or "", command=output.command_line())
        output.say(f"{written.path}: {written.size / 1e6:.1f} MB")
    else:
        shown.write(found, diff_markdown, partial(diff_lines, most=most))


def _show_neighbours(
    one: str,
    other: str | None,
    asked: NeighbourOptions,
    shown: ShownOptions,
    common: dict[str, Any],
) -> None:
    from cranfield.changes.neighbours import EPSILON, neighbour_recall
    from cranfield.show.neighbours_text import neighbours_lines, neighbours_markdown

    if shown.is_page:
        raise click.UsageError("--exact has no page; write .txt, .md or .json.")
    options.refuse("{} cannot be used with --exact.", *WITHOUT_EXACT)
    if asked.vectors is None:
        options.refuse("{} needs --vectors.", "metric")
    if other is None and asked.vectors is None:
        raise click.UsageError("missing argument 'B': --exact takes two runs; with --vectors, one.")
    exact, run = (None, only(one)) if other is None else (only(one), only(other))
    with output.shown_progress("finding neighbours"):
        found: NeighbourRecall = neighbour_recall(
            run,
            exact,
            vectors=asked.vectors,
            metric=asked.metric,
            epsilon=EPSILON if asked.epsilon is None else asked.epsilon,
            worst=10 if shown.most is None else shown.most,
            **common,
        )
    shown.write(found, neighbours_markdown, neighbours_lines)
