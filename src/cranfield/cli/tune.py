"""`cranfield tune`: which mixture of runs, or which setting of a system, is best, and how good it really is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, query_column_options, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import file, number, option
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError, choice_hint
from cranfield.evaluation.folds import FOLDS, REPEATS
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.io.settings import SETTINGS_FILE
from cranfield.io.target import refuse_existing
from cranfield.mixing.candidates import POINTS, USUAL_METHODS, read_try
from cranfield.mixing.halving import BUDGET
from cranfield.mixing.mixture import DEPTH
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.measures import Measure
    from cranfield.mixing.tuning import Setting, Tuning
    from cranfield.systems.project import Project


ONE_MEASURE = "settings are tuned for one measure; give -m once."


class SpaceOptions(options.OptionGroup, section="Fusion"):
    tried: tuple[tuple[str, list[Any]], ...] = option(
        "--try",
        parameter="tried",
        type=options.Read(read_try, "is not a parameter with its values, such as k=10,60 or k=1..100."),
        multiple=True,
        metavar="NAME=VALUES",
        help="Values to try of a parameter: k=10,60 or k=1..100, normalisation=min-max,z-score, depth=10,100; may be "
        f"repeated. 'cranfield fuse --help' lists methods and parameters [method={','.join(USUAL_METHODS)}]. Of a "
        "SYSTEM, any of its settings and arguments [those of its table 'tune'].",
    )
    equal: bool = options.flag("--equal-weights", help="Let all runs count alike, instead of tuning their weights.")
    depth: int = options.depth_of_runs(DEPTH, str(DEPTH))


class FoldOptions(options.OptionGroup, section="Comparison"):
    seed: int = options.SEED


class LiveOptions(options.OptionGroup, section="System"):
    budget: int = number(
        "--requests",
        parameter="budget",
        least=1,
        default=BUDGET,
        help=f"Ask a SYSTEM at most N questions [{BUDGET}].",
    )
    resume: bool = options.RESUME
    config: Path = options.config(SETTINGS_FILE)


class TunedOptions(options.JsonOptions, section="Output"):
    run: str | None = file("--run", help="Write the run of the final setting to FILE.")
    curve: str | None = file("--curve", help="Draw how each parameter changes the measure, as svg, png or pdf.")
    settings: int = number("--settings", default=0, help="Also list the N best settings [0].")
    force: bool = options.FORCE


class TunedReading(
    reading_options(  # type: ignore[misc]  # made from the policy
        settings=("ties", "missing", "duplicates", "same_id", "negative", "complete"), means=False
    ),
    query_column_options(("weight", "segment", "group")),  # type: ignore[misc]
):
    """How judgments and runs are read; depth and cover are not settings of a mixture."""


class TunedJudgments(JudgmentOptions):
    qrels: str | None = options.argument(required=False, metavar="[QRELS|SYSTEM]")


@options.command(
    "tune",
    judgments=TunedJudgments,
    runs=options.ANY_RUNS,
    reading=TunedReading,
)
def command(
    judgments: JudgmentOptions,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    space: SpaceOptions,
    live: LiveOptions,
    folding: FoldOptions,
    shown: TunedOptions,
    reading: ReadingOptions,
) -> None:
    """Find out which mixture of RUNs is best by the judgments in QRELS, or which setting of a SYSTEM of cranfield.toml,
    and how good it really is.

    Settings that were chosen on some queries look better on these than they are. So they are chosen on four fifths of
    the queries and measured on the rest, REPEATS times over FOLDS folds: the value is what to expect of settings that
    are chosen like this. Up to two parameters are tried on a grid, more of them at POINTS points. Without -m, the
    measure is nDCG@10, or the first one of cranfield.toml.

    A SYSTEM is asked no more questions than --requests says: all settings are tried on few queries, the better ones on
    more, and so on, each time without the queries that measure. Its table 'tune' has the values to try, such as
    boost = [1, 2, 4]. All answers are kept: if it is interrupted, --resume continues.

    \b
    Examples:
      cranfield tune builtin builtin:plain builtin:tuned
      cranfield tune builtin builtin:plain builtin:tuned \\
        --try method=rrf --try k=1..100 --equal-weights --run fused.run
      cranfield init && cranfield tune sqlite --try weights.title=1,2,4
    """
    from cranfield.show.tuning_text import tuning_text

    _refuse_targets(shown)
    if runs:
        files, wanted = expanded(runs), measures.one(("nDCG@10",), ONE_MEASURE)
        if len(files) < 2:
            raise click.UsageError("give QRELS, then two RUNs or more.")
        tuning = _of_runs(judgments, files, wanted, space, folding, reading)
        file = shown.run
    else:
        system, project = _system(judgments.qrels, live.config)
        wanted = measures.one(project.measures[:1], ONE_MEASURE)
        tuning = _of_system(system, project, wanted, space, live, folding, reading, shown.force)
        file = shown.run or str(project.result_path(f"{system}.tuned.run.tsv"))
    written = None if file is None else tuning.run(file, force=shown.force or not shown.run)
    if tuning.rival is None or file == "-":
        next_steps = []
    elif runs:
        next_steps = _commands_to_judge(tuning, tuning.rival, judgments.source, files, file)
    else:
        next_steps = _commands_to_judge_answers(tuning, tuning.rival, project, str(file))
    if shown.curve is not None:
        from cranfield.report.plotting import save_chart

        save_chart(tuning.plot(), shown.curve)
    shown.write(tuning.to_json, lambda width, paint: tuning_text(tuning, width, paint, most=shown.settings))
    for line in [*next_steps, *([""] if next_steps and (file or shown.curve) else [])]:
        output.say(line, err=shown.form == "json")
    if file is not None and written is not None:
        output.say(f"Written: {file}, {count(written.queries, 'query', 'queries')}", err=shown.form == "json")
    if shown.curve is not None:
        output.say(f"Written: {shown.curve}", err=shown.form == "json")


def _refuse_targets(shown: TunedOptions) -> None:
    """Refuse files that could not be written, before anything is tuned."""
    from cranfield.report.plotting import image_format

    if shown.run is not None and not shown.force:
        refuse_existing(shown.run)
    if shown.curve is not None:
        image_format(shown.curve)


def _of_runs(
    judgments: JudgmentOptions,
    runs: Sequence[str],
    measure: Measure,
    space: SpaceOptions,
    folding: FoldOptions,
    reading: ReadingOptions,
) -> Tuning:
    from cranfield.mixing.tuning_runs import tune

    tried: dict[str, Any] = dict(space.tried)
    if space.equal:
        tried["weights"] = False
    arguments = reading.arguments()
    with output.shown_progress("tuning") as progress:
        return tune(
            judgments.source,
            runs,
            measure,
            tried=tried,
            depth=space.depth,
            seed=folding.seed,
            on_start=lambda queries: progress.begin(0, queries),
            on_queries=progress.advance,
            **arguments,
        )


def _system(name: str | None, config: Path) -> tuple[str, Project]:
    """The system to tune: the one named, or the only one that has something to tune."""
    from cranfield.systems.opening import TUNE
    from cranfield.systems.project import read_project

    if not config.is_file():
        raise click.UsageError(f"give QRELS and two RUNs or more; a SYSTEM is described in {SETTINGS_FILE}.")
    project = read_project(config)
    known = [system for system, settings in project.systems.items() if TUNE in settings]
    if name is None and len(known) == 1:
        return known[0], project
    if name in project.systems:
        return str(name), project
    if name is not None and not project.systems.get(name):
        hint = f"{choice_hint('systems are', list(project.systems), name)}; a mixture needs QRELS and two RUNs or more"
        raise InputError(str(config), f"there is no system '{name}' in it.", hint=hint)
    fact = f"{len(known)} of its systems have a table 'tune'."
    raise InputError(str(config), fact, hint=choice_hint("systems are", list(project.systems), ""))


def _of_system(
    name: str,
    project: Project,
    measure: Measure,
    space: SpaceOptions,
    live: LiveOptions,
    folding: FoldOptions,
    reading: ReadingOptions,
    force: bool,
) -> Tuning:
    from cranfield.io.target import make_folder
    from cranfield.mixing.tuning_systems import tune_system

    path = project.result_path(f"{name}.answers")
    columns, _ = QueryColumns.taken(reading.arguments())
    make_folder(path.parent)
    with output.shown_asking(name) as progress:
        return tune_system(
            project.systems[name],
            project.open_collection(),
            measure,
            tried={parameter: list(map(_whole, values)) for parameter, values in space.tried} or None,
            name=name,
            path=path,
            force=force,
            query_columns=project.columns if columns == QueryColumns() else columns,
            seed=folding.seed,
            policy=project.policy,
            on_start=progress.start,
            on_answer=progress.answer,
            k=project.k,
            deepen=project.deepen,
            collapse=project.collapse,
            timeout=project.timeout,
            **live.values("budget", "resume"),
            **project.asking,
        )


def _whole(value: Any) -> Any:
    """A whole number as one: 10 and not 10.0, which a limit of rows would not be."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _commands_to_judge(tuning: Tuning, rival: Setting, qrels: Any, runs: Sequence[str], final: str | None) -> list[str]:
    """The commands with which the documents that decide between two mixtures are judged."""
    from cranfield.io.formats.store import STORE, names_store
    from cranfield.mixing.tuning_runs import fuse_command
    from cranfield.systems.settling_commands import judging_commands

    paths = ["rival.run", final or "tuned.run"]
    judging = judging_commands(qrels, paths, tuning.measure)
    if not judging or "-" in runs:
        return []
    made = [] if final else [fuse_command(tuning.final.arguments, runs, paths[1])]
    made.append(fuse_command(rival.arguments, runs, paths[0]))
    store = judging[0][2] if names_store(judging[0][2]) else STORE
    again = ["cranfield", "tune", store, *runs, "-m", tuning.measure]
    return _told("To judge what decides, then tune again:", [*made, *judging, again])


def _commands_to_judge_answers(tuning: Tuning, rival: Setting, project: Project, final: str) -> list[str]:
    """The same for two settings of a system; the run of the rival is written for it."""
    from cranfield.io.formats.store import STORE
    from cranfield.systems.settling_commands import settling_commands

    [system] = tuning.runs
    path = str(project.result_path(f"{system}.rival.run.tsv"))
    tuning.run(path, name="rival", setting=rival, force=True)
    qrels = project.judged_in if project.has_store else project.open_collection().qrels
    commands = settling_commands(qrels, [path, final], tuning.measure)
    if not commands:
        return []
    store = f'store = "{STORE}" in [judgments] of {project.path.name}, and '
    told = f"To judge what decides, then tune again with {'' if project.store else store}all answers kept:"
    return _told(told, [*commands, ["cranfield", "tune", system, "--resume"]])


def _told(what: str, commands: Sequence[Sequence[str]]) -> list[str]:
    from cranfield.cli.judging_hints import folded
    from cranfield.show.layout import wrapped

    return ["", *wrapped(what, width=output.width()), *(line for words in commands for line in folded(words))]


options.fill_help(command, REPEATS=str(REPEATS), FOLDS=str(FOLDS), POINTS=str(POINTS))
