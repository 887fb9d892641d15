"""Other tools' numbers: `cranfield evaluate --like TOOL`, and `--theirs NUMBER`, which explains a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import output
from cranfield.cli.options import OptionGroup, option

if TYPE_CHECKING:
    from cranfield.cli.evaluate import EvaluationOptions
    from cranfield.cli.input_options import ReadingOptions
    from cranfield.cli.measure_options import MeasureOptions
    from cranfield.dialects.like import LikeEvaluation
    from cranfield.measures import Measure

PRINTED = ("text", "json")


class OtherToolOptions(OptionGroup, section="Other tools"):
    """Which tool's numbers are printed, or explained."""

    like: str | None = option(
        "--like", metavar="TOOL", help="Print the numbers of another tool, such as ranx, under its own names."
    )
    theirs: Sequence[str] = option(
        "--theirs",
        multiple=True,
        metavar="NUMBER",
        help="Explain why another tool gives this NUMBER: 0.5713, AP=0.301, or AP=FILE with a value for each query; "
        "may be repeated.",
    )
    tool: str | None = option("--tool", metavar="TOOL", help="With --theirs: the tool that gives the number, if known.")

    @property
    def given(self) -> bool:
        """Whether other numbers than ours are wanted."""
        if self.like and self.theirs:
            raise click.UsageError("--like and --theirs cannot be combined.")
        if self.tool and not self.theirs:
            raise click.UsageError("--tool needs --theirs; --like prints a tool's numbers.")
        return bool(self.like or self.theirs)


def print_other_numbers(
    asked: OtherToolOptions,
    qrels: Any,
    runs: Sequence[str],
    measures: MeasureOptions,
    shown: EvaluationOptions,
    reading: ReadingOptions,
    beside: dict[str, object],
) -> None:
    """The numbers of another tool, or why they differ from ours."""
    option = "--like" if asked.like else "--theirs"
    if shown.form not in PRINTED:
        raise click.UsageError(f"{option} prints text or JSON, not {shown.form}.")
    refused = [name for name, value in beside.items() if value]
    if refused:
        raise click.UsageError(f"{option} cannot be combined with {refused[0]}.")
    arguments = reading.arguments()
    kept = ("format", "qrels_format", "policy")
    known: dict[str, Any] = {name: value for name, value in arguments.items() if name in kept}
    measures.import_measures()
    texts = [_explained(asked, qrels, runs, measures, shown, known)] if asked.theirs else None
    output.write(
        texts or _like(asked.like or "", qrels, runs, measures, shown, known), shown.file, data=shown.form == "json"
    )


def _explained(
    asked: OtherToolOptions,
    qrels: Any,
    runs: Sequence[str],
    measures: MeasureOptions,
    shown: EvaluationOptions,
    known: dict[str, Any],
) -> str:
    from cranfield.dialects.why import why
    from cranfield.measures import parse_measure
    from cranfield.show.why_text import why_json, why_text

    if len(runs) > 1:
        raise click.UsageError("--theirs takes one run.")
    wanted = measures.chosen(()) if measures.measures else ()
    theirs: dict[str, Any] = {}
    for word in asked.theirs:
        name, value = _split(word, wanted)
        name = measures.with_all(parse_measure(name)).name
        if name in theirs:
            raise click.UsageError(f"--theirs gives {name} twice.")
        theirs[name] = value
    found = why(qrels, runs[0], theirs, tool=asked.tool, **known)
    if shown.form == "json":
        return why_json(found)
    return why_text(found, output.width(shown.file), output.paint(shown.file))


def _split(word: str, wanted: Sequence[Measure]) -> tuple[str, str]:
    """The measure and the number, or the file, of a value of --theirs."""
    name, equals, value = word.rpartition("=")
    if not equals:
        if len(wanted) != 1:
            raise click.UsageError(f"--theirs {word}: name its measure, as in nDCG@10={word}.")
        name, value = wanted[0].name, word
    return name, value


def _like(
    tool: str,
    qrels: Any,
    runs: Sequence[str],
    measures: MeasureOptions,
    shown: EvaluationOptions,
    known: dict[str, Any],
) -> list[str]:
    from cranfield.dialects.like import evaluate_like, known_names, listed
    from cranfield.dialects.tools import find_dialect
    from cranfield.show.why_text import like_json, like_text

    names: Sequence[Any] = list(measures.measures) or known_names(tool)
    if measures.rel is not None or measures.judged_only:
        dialect = find_dialect(tool)
        names = [measures.with_all(dialect.read(name).measure) for name in listed(dialect, names)]
    judged = _read_once(qrels, known)
    results: list[LikeEvaluation] = [evaluate_like(judged, run, tool, names, **known) for run in runs]
    if shown.form == "json":
        return [like_json(results)]
    width, paint = output.width(shown.file), output.paint(shown.file)
    texts = [like_text(each, width, paint, per_query=shown.per_query) for each in results]
    return ["\n\n".join(texts)]


def _read_once(qrels: Any, known: dict[str, Any]) -> Any:
    from cranfield.ranks.judgments import Judgments

    return Judgments.read(qrels, known.pop("qrels_format", None))
