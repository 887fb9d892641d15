"""`cranfield gate`: stop a change that makes search worse. Exit 0: passed, 1: failed, 2: not decided."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.correcting_options import CorrectedOptions, corrected_source
from cranfield.cli.input_options import DocumentOptions, ReadingOptions, reading_options, shown_collection
from cranfield.cli.measure_options import MeasureOptions, PresetOptions
from cranfield.cli.options import argument, option
from cranfield.cli.output import shown_progress
from cranfield.cli.reviewing import ReviewOptions, links
from cranfield.cli.run_files import only, opened
from cranfield.comparison.gating import GATE_TESTS
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS
from cranfield.io.formats.store import JudgmentView, names_store
from cranfield.io.queries import Queries
from cranfield.io.streams import BUILT_IN_FILES, Stream
from cranfield.ranks.policy import settings_of

if TYPE_CHECKING:
    from cranfield.comparison.gating import GateResult
    from cranfield.show.review import Reviewed


class GateTestOptions(
    options.TestOptions,
    tests={name: TESTS[name] for name in GATE_TESTS},
    corrections=CORRECTIONS,
    usual="holm",
    from_file=True,
):
    """How a drop is tested."""


class GateOptions(GateTestOptions, section="Verdict"):
    """The runs, and when the gate fails; None if a file of settings may say it."""

    baseline: str | None = argument(required=False)
    candidate: str | None = argument(required=False)
    tolerance: float | None = option("--tolerance", type=float, metavar="N", help="A drop of up to N passes [0].")
    beyond_tolerance: bool | None = option(
        "--beyond-tolerance",
        is_flag=True,
        default=None,
        help="Fail only if a drop is significantly larger than the tolerance, not only than 0.",
    )
    gates: int | None = option(
        "--gates", type=int, metavar="N", help="N gates share alpha, such as 30 for a gate every day [1]."
    )
    detect: float | None = option(
        "--detect",
        type=float,
        metavar="N",
        help="The smallest difference that matters: say how likely such a drop is to be stopped.",
    )
    minimum: tuple[str, ...] = option(
        "--min", multiple=True, metavar="MEASURE=VALUE", help="Fail if MEASURE is below VALUE, significant or not."
    )
    require_improvement: bool | None = option(
        "--require-improvement", is_flag=True, default=None, help="Fail if no measure is significantly better."
    )
    non_inferiority: float | None = option(
        "--non-inferiority",
        type=float,
        metavar="N",
        help="Fail unless a true drop of N or more is ruled out, or no query changes.",
    )
    max_worse_queries: int | None = option(
        "--max-worse-queries", type=int, metavar="N", help="Fail if more than N queries got worse."
    )
    max_drop: float | None = option(
        "--max-drop", type=float, metavar="N", help="Fail if a query loses more than N, by the first measure."
    )
    may_become_empty: bool | None = option(
        "--may-become-empty",
        is_flag=True,
        default=None,
        help="Pass even if a query that returned documents now returns none.",
    )
    except_queries: tuple[str, ...] = option(
        "--except-query", multiple=True, metavar="ID", help="A query that may lose more, and may become empty."
    )
    max_p95: float | None = option(
        "--max-p95", type=float, metavar="S", help="Fail if the 95th percentile of latency is above S seconds."
    )
    max_p95_ratio: float | None = option(
        "--max-p95-ratio", type=float, metavar="N", help="Fail if it is more than N times that of BASELINE."
    )
    max_failed: float | None = option(
        "--max-failed", type=float, metavar="N", help="Fail if more than N queries failed; below 1, a share [0]."
    )
    max_empty: float | None = option(
        "--max-empty", type=float, metavar="N", help="Fail if more than N queries returned nothing; below 1, a share."
    )


class GateFileOptions(options.OptionGroup, section="Input"):
    """The file of settings."""

    config: Path | None = options.config(None)
    init: bool = option("--init", is_flag=True, hidden=True, help="Moved to 'cranfield init --ci'.")
    exists: str | None = options.file(
        "--exists", help="Documents that exist, as JSON lines with _id: leave others out of judgments and runs."
    )


class VerdictOptions(ReviewOptions, options.KeepOptions):
    """How the verdict is shown and kept, with which texts."""

    history: str | None = options.HISTORY
    collection: str | None = options.collection()
    segments: str | None = options.SEGMENTS


class GateJudgmentOptions(CorrectedOptions):
    """Judgments, which a file of settings may name."""

    qrels: str | None = argument(required=False)


@options.command(
    "gate",
    judgments=GateJudgmentOptions,
    given=GateOptions,
    measures=PresetOptions,
    shown=VerdictOptions,
    documents=DocumentOptions,
    file=GateFileOptions,
    reading=reading_options(),
)
def command(
    judgments: GateJudgmentOptions,
    given: GateOptions,
    measures: PresetOptions,
    shown: VerdictOptions,
    documents: DocumentOptions,
    file: GateFileOptions,
    reading: ReadingOptions,
) -> int:
    """Fail if CANDIDATE drops below BASELINE by more than the tolerance, and the drop is significant.

    Both are runs, or evaluations written by 'cranfield evaluate --save'. The exit code is 0 if it
    passes, 1 if it fails, and 2 if that cannot be decided, because something cannot be read or has changed since the
    baseline was saved. --config names a file with any of these settings; 'cranfield init --ci' writes one. With
    --correct-with, both must have the same judge: one model and one prompt.

    \b
    Example:
      cranfield gate builtin builtin:plain builtin:tuned --tolerance 0.01
    """
    if file.init:
        raise click.UsageError("--init is gone: 'cranfield init --ci github' writes a job, and the settings of a gate.")

    from cranfield.comparison.gating import deciding, gate
    from cranfield.comparison.limits import Asking, expectations
    from cranfield.show.gate_text import gate_text
    from cranfield.show.review import Reviewed, review_of_gate
    from cranfield.systems.misses import Lost, lost_most

    measures.import_measures()
    measures, reading = measures.completed(), measures.conventions(reading)
    settings = _read_config(file.config) if file.config else {}
    typed = {
        **vars(given),
        "minimum": None,
        "except_queries": list(given.except_queries) or None,
        "qrels": judgments.source,
        "lengths": documents.lengths,
        "weights": reading.weights,
        "segments": shown.segments,
    }
    from_options = {**typed, **reading.settings, "measures": measures.measures or None, "rel": measures.rel}
    settings |= {name: value for name, value in from_options.items() if value is not None}
    if measures.judged_only:
        settings["judged_only"] = True
    if given.minimum:
        settings["minimum"] = {**settings.get("minimum", {}), **dict(map(_floor, given.minimum))}
    if file.config and shown.form == "github" and (new := _without_baseline(file.config, settings)) is not None:
        shown.write(new)
        return 0
    if file.config:
        _check_files(file.config, {name: value for name, value in settings.items() if typed.get(name) is None})
    lacking = [name.upper() for name in FILES if name not in settings]
    if lacking:
        raise click.UsageError(f"Missing argument '{lacking[0]}'; give it here or in the --config file.")
    qrels, *runs = [settings.pop(name) for name in FILES]
    qrels = Stream(qrels) if isinstance(qrels, str | os.PathLike) else qrels
    reading = reading.replaced(**{name: settings.pop(name) for name in (*_POLICY, "weights") if name in settings})
    model, people = settings.pop("assessor", None), settings.pop("correct_with", None)
    if model and isinstance(qrels, Stream) and qrels.view is None:
        qrels = JudgmentView((model,)).of(qrels.name)
    named = [people] if isinstance(people, str) else people
    paths = list(map(only, runs))
    if file.config:
        settings["expect"] = expectations(settings.get("expect", ()), f"{file.config}: [[expect]]")
    collection = shown_collection(qrels, shown.collection)
    texts = collection.queries
    if isinstance(texts, Queries):
        settings["expect"] = (*settings.get("expect", ()), *expectations(texts, texts.place))
    asking = (Asking.beside(paths[0]), Asking.beside(paths[1]))
    source = corrected_source(qrels, judgments.correct_with or tuple(named or ()))
    judged, measured = documents.measured(source, opened(paths), paths)
    in_file = settings.pop("exists", None)
    kept_in = settings.pop("history", {})
    if corpus := file.exists or in_file:
        judged, measured, notes = _of_existing(corpus, judged, measured, reading)
        for note in notes:
            output.say(f"note: {note}", err=True)
    with shown_progress("comparing"):
        result = gate(judged, *measured, **{**_with_all(settings), **reading.arguments()}, recorded=asking, texts=texts)
    lost: tuple[Lost, ...] = ()
    if shown.forms & {"markdown", "github", "junit"} and result._evaluations is not None:
        lost = lost_most(deciding(result), result._evaluations, collection)
    reviewed = Reviewed(
        "gate",
        (review_of_gate(result, lost),),
        {
            "text": lambda width, paint: gate_text(result, width=width, paint=paint, texts=texts),
            "json": lambda width, paint: result.to_json(),
        },
        file=str(file.config or ""),
        links=links(),
    )
    shown.write(reviewed)
    store = _store(file.config, kept_in, shown.history)
    latency = asking[1].latency if asking[1] else {}
    if store and (note := shown.kept(lambda: _keep(store, result, latency, texts, paths[1]))):
        output.say(note, err=True)
    return 0 if result.passed else 1


def _store(config: Path | None, settings: Mapping[str, Any], chosen: str | None) -> str | None:
    """The history to append to: the one that was named, or that of the file of settings."""
    from cranfield.systems.history.opening import HistorySettings

    if chosen is not None or config is None:
        return chosen
    known = HistorySettings.of(settings, config)
    return known.store if known.keep else None


def _keep(
    store: str, result: GateResult, latency: Mapping[str, float], texts: Mapping[str, str], candidate: str
) -> None:
    from cranfield.systems.history.change import Moment
    from cranfield.systems.history.keeping import keep_gate

    keep_gate(store, result, Moment.now(Path()), latency=latency, texts=texts, candidate=candidate)


def _of_existing(
    corpus: str, qrels: Any, runs: list[Any], reading: ReadingOptions
) -> tuple[Any, list[Any], tuple[str, ...]]:
    """Judgments and runs without documents that are gone, and how many there are."""
    from cranfield.ranks.judgments import Judgments
    from cranfield.ranks.policy import Policy
    from cranfield.ranks.run import open_run
    from cranfield.systems.collection import open_documents
    from cranfield.systems.testing import Judged, without_documents

    if not isinstance(qrels, Stream | Judgments):
        raise click.UsageError("--exists takes judgments of documents, not of passages, and no corrected ones.")
    judgments = Judgments.read(qrels, reading.qrels_format)
    gone = frozenset({*judgments.document_ids}.difference(open_documents(corpus).ids()))
    judged = Judged.of(judgments, gone, corpus)
    policy = reading.arguments().get("policy") or Policy()
    left = [
        without_documents(open_run(run, reading.format), gone, policy) if gone and isinstance(run, Stream) else run
        for run in runs
    ]
    return judged.judgments, left, judged.notes


def _with_all(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, with --rel and --judged-only applied to every measure that they name."""
    from cranfield.comparison.gating import GATE_MEASURES
    from cranfield.measures import Measure, parse_measure

    for_all = MeasureOptions(rel=settings.pop("rel", None), judged_only=settings.pop("judged_only", False))

    def full(measure: str) -> Measure:
        return for_all.with_all(parse_measure(measure))

    by_measure = {
        name: {full(measure): number for measure, number in value.items()}
        for name, value in settings.items()
        if isinstance(value, dict)
    }
    return {**settings, **by_measure, "measures": [full(name) for name in settings.get("measures") or GATE_MEASURES]}


def _floor(text: str) -> tuple[str, float]:
    measure, equals, value = text.rpartition("=")
    try:
        if not equals:
            raise ValueError
        return measure, float(value)
    except ValueError:
        raise click.UsageError(f"--min {text}: write it as nDCG@10=0.4") from None


_POLICY = {name: setting.kind for name, setting in settings_of().items()}
# The settings of a config file, and their types.
SETTINGS: dict[str, type | tuple[type, ...]] = {
    **_POLICY,
    **dict.fromkeys(("qrels", "baseline", "candidate", "lengths", "weights", "segments", "exists"), str),
    **dict.fromkeys(("test", "correction", "assessor"), str),
    "correct_with": (str, list),
    **dict.fromkeys(("max_worse_queries", "seed", "permutations", "gates"), int),
    **dict.fromkeys(("alpha", "non_inferiority", "detect", "max_drop"), (int, float)),
    **dict.fromkeys(("max_p95", "max_p95_ratio", "max_failed", "max_empty"), (int, float)),
    **dict.fromkeys(("except_queries", "expect"), list),
    "tolerance": (int, float, dict),
    "minimum": dict,
    "history": dict,
    "measures": list,
    "rel": (int, float),
    **dict.fromkeys(("judged_only", "require_improvement", "beyond_tolerance", "may_become_empty"), bool),
}


# The files that a config file names, and what to do where one is missing.
FILES = {
    "qrels": "put the judgments there, or name another file as qrels",
    "baseline": "copy the run of the version in use to it, and commit it: cp YOUR.run {file}",
    "candidate": "write the run of the version under test to it; 'cranfield run' asks a system and writes one",
}


def _read_config(path: Path) -> dict[str, Any]:
    from cranfield.io.settings import check_settings, read_toml
    from cranfield.systems.project import HISTORY

    settings = read_toml(path)
    check_settings(settings, SETTINGS, str(path))
    check_settings(settings.get("history", {}), HISTORY, f"{path}: [history]")
    for name in (*FILES, "lengths", "weights", "segments", "exists"):
        if name in settings:
            settings[name] = str(path.parent / settings[name])
    return settings


def _without_baseline(config: Path, settings: dict[str, Any]) -> Reviewed | None:
    """The neutral review of a gate in CI that has nothing to compare with yet; None where it has."""
    from cranfield.show.review import Reviewed, new_review

    baseline = str(settings.get("baseline", ""))
    if not baseline or _exists(baseline):
        return None
    hint = "Accept the run of the version in use as the baseline, and commit it"
    command = shlex.join(["cp", str(settings.get("candidate", "YOUR.run")), baseline])
    fact = f"There is no {baseline} yet, so there is nothing to compare with."
    review = new_review(Path(baseline).name, fact, (hint, command))
    return Reviewed("gate", (review,), {}, file=str(config))


def _exists(file: str) -> bool:
    return os.path.exists(file) or file in BUILT_IN_FILES or names_store(file) or any(s in file for s in "*?[")


def _check_files(config: Path, settings: dict[str, Any]) -> None:
    """Refuse a config file that names files which do not exist, and say how to make them."""
    from cranfield.errors import InputError

    for name, hint in FILES.items():
        file = str(settings.get(name, ""))
        if file and not _exists(file):
            raise InputError(
                file, f"there is no such file; {config} names it as {name}.", hint=hint.format(file=shlex.quote(file))
            )
