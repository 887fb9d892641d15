"""The accepted results of systems: of each its values, NAME.json, and its run, NAME@HASH.run.tsv.gz.

The hash is that of the run's content, which the values name: neither file passes for the other's without being noticed.
A new result is written beside the old one. It counts from one moment on: when the file `COMMITTED` appears, for all
systems at once. Then the values are renamed; a process that is killed before leaves that to the next `accept`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cranfield.comparison.limits import Asking
from cranfield.errors import InputError, OutputError
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.saving import CHECKSUM, content_of, read, write
from cranfield.io.streams import Stream
from cranfield.io.target import locked, make_folder, open_target, reported
from cranfield.measures.lookup import comes_with_us
from cranfield.ranks.judgments import Judgments
from cranfield.systems.history.change import Moment, stored_time, who
from cranfield.systems.project import Project
from cranfield.systems.recorded import Recorded

if TYPE_CHECKING:
    from cranfield.systems.testing import Judged

VALUES = ".json"
COMMITTED = ".accepting"  # while it exists, staged values count
# Beside the values, and under the same checksum: how the system was asked; when and of which commit it was measured, by
# how many judgments; what it was compared with; who accepted it and why.
_ASKED, MEASURED, _COMPARED, ACCEPTED = "asked", "measured", "compared", "accepted"
_RUN, _STAGED = ".run.tsv.gz", f"{VALUES}.part"
_RESTORE = "restore the folder, such as with 'git checkout'; or accept a new result, which replaces it"


class Verdict(NamedTuple):
    """What the test of a result said: the hash of the accepted run that it was compared with, and what failed."""

    accepted_run: str = ""
    failed: tuple[str, ...] = ()


class Review(NamedTuple):
    """Who accepted a result, when and why; worse: although it failed beside the one accepted before."""

    who: str = ""
    at: str = ""
    because: str = ""
    worse: bool = False


def save_result(
    evaluation: Evaluation,
    recorded: Recorded,
    judged: Judged,
    path: Path,
    moment: Moment,
    verdict: Verdict | None = None,
) -> None:
    """Save values that may be accepted, with how the system was asked, when, and what its test said."""
    failed = [*recorded.failed]
    known = {"latency": recorded.latency, "failed": failed, "not_asked": list(recorded.not_asked)}
    by = {"judged": len(judged.judgments.grades), "gone": sorted(judged.gone or ())}
    content = {
        **content_of(evaluation),
        _ASKED: {**known, "qrels_sha256": judged.sha256},
        MEASURED: {**moment.to_dict(), **by},
        **({_COMPARED: verdict._asdict()} if verdict else {}),
    }
    write(path, content)


class Result(NamedTuple):
    """A complete result of a system: the saved evaluation, its file, and the file of the run that was evaluated."""

    evaluation: Evaluation
    values: Path
    run: Path


def accept(
    project: Project, systems: Sequence[str] = (), *, because: str = "", worse: bool = False
) -> dict[str, tuple[Evaluation | None, Evaluation]]:
    """Make the results of the last test the accepted ones: {system: (accepted before, accepted now)}.

    because: why, for whoever asks later
    worse: also those that failed beside what is accepted now
    """
    judgments = project.open_collection().judgments()
    with locked(project.result_path("lock"), "testing here"):
        results = {name: _acceptable(project, name, judgments) for name in systems or project.systems}
        before = {name: _before(project, name) for name in results}
        failed = {name: _failed(result, before[name]) for name, result in results.items()}
        for name, reasons in failed.items():
            if reasons and not worse:
                more = f", and {len(reasons) - 1} more" if len(reasons) > 1 else ""
                fact = f"this result failed beside the accepted one: {reasons[0]}{more}."
                raise InputError(name, fact, hint="if that is intended: cranfield accept --worse --because '…'")
        review = reviewed(project, because)
        reviews = {name: review._replace(worse=bool(failed[name])) for name in results}
        if not because:  # what is accepted already stays accepted by whoever did it, and why
            reviews |= {name: earlier for name in results if (earlier := _review(project, name, results[name]))}
        keep(project, results, reviews)
    return {name: (before[name], result.evaluation) for name, result in results.items()}


def _review(project: Project, name: str, result: Result) -> Review | None:
    """Who accepted this very result before; None if another one is accepted, or none."""
    path = values_path(project, name)
    with suppress(InputError, TypeError):
        known = read(path) if path.is_file() else {}
        review = known.pop(ACCEPTED, None)
        if review is not None and _without_verdict(known) == _without_verdict(read(result.values)):
            return Review(**review)
    return None


def _without_verdict(content: Mapping[str, Any]) -> dict[str, Any]:
    return {part: value for part, value in content.items() if part not in (_COMPARED, CHECKSUM)}


def reviewed(project: Project, because: str) -> Review:
    """Accepted by whoever is at work, now."""
    return Review(who(project.folder), stored_time(datetime.now(UTC)), because)


def _failed(result: Result, before: Evaluation | None) -> tuple[str, ...]:
    """What failed when a result was compared with the accepted one; an error if another one was accepted since."""
    known = read(result.values).get(_COMPARED)
    if before is None or not isinstance(known, dict) or before.run_sha256 == result.evaluation.run_sha256:
        return ()
    if known.get("accepted_run") != before.run_sha256:
        fact = "another result was accepted since the last test."
        raise InputError(before.run, fact, hint="run 'cranfield test' again")
    return tuple(map(str, known.get("failed", ())))


def _acceptable(project: Project, name: str, judgments: Judgments) -> Result:
    path = project.result_path(f"{name}{VALUES}")
    if name not in project.systems or not path.is_file():
        hint = "run 'cranfield test'; every query must be answered"
        raise InputError(name, "there is no complete result to accept.", hint=hint)
    now = Evaluation.load(path)
    if _judged_by(path, now) != judgments.sha256:
        raise InputError(name, "the judgments have changed since the last test.", hint="run 'cranfield test' again")
    return Result(now, path, project.recorded_run(name))


def _before(project: Project, name: str) -> Evaluation | None:
    """What was accepted before; None also where it is damaged, since it is about to be replaced."""
    with suppress(InputError):
        return accepted_values(project, name)
    return None


def keep(project: Project, results: Mapping[str, Result], reviews: Mapping[str, Review]) -> None:
    """Accept results, all of them or none. The caller holds the lock of the project."""
    folder = project.accepted_path("")
    make_folder(folder)
    _finish(folder)
    _abandon(folder)
    try:
        for name, result in results.items():
            saved = _without_verdict(read(result.values))
            write(folder / f"{name}{_STAGED}", {**saved, ACCEPTED: reviews[name]._asdict()})
            _copy_run(result, folder / _run_name(name, result.evaluation.run_sha256))
        with reported(str(folder / COMMITTED)):
            (folder / COMMITTED).touch()
    except BaseException:  # also an interruption
        if not (folder / COMMITTED).exists():
            _abandon(folder)
        raise
    with suppress(OutputError):  # it counts: what cannot be renamed now is renamed the next time
        _finish(folder)
    for name, result in results.items():
        _remove_runs(folder, name, {_run_name(name, result.evaluation.run_sha256)})


def _copy_run(result: Result, path: Path) -> None:
    stream = Stream(result.run)
    with open_target(path, force=True) as target, target.opened() as file:
        for chunk in stream.chunks():
            file.write(chunk)
        if stream.sha256 != result.evaluation.run_sha256:
            fact = "this run has changed since it was measured."
            raise InputError(str(result.run), fact, hint="run 'cranfield test' again")


def _finish(folder: Path) -> None:
    """Rename the values that count already."""
    committed = folder / COMMITTED
    if committed.exists():
        for staged in sorted(folder.glob(f"*{_STAGED}")):
            values = folder / f"{staged.name.removesuffix(_STAGED)}{VALUES}"
            with reported(str(values)):
                staged.replace(values)
        with reported(str(committed)):
            committed.unlink()


def _abandon(folder: Path) -> None:
    """Remove what was written by a process that ended before it counted."""
    for staged in sorted(folder.glob(f"*{_STAGED}")):
        name = staged.name.removesuffix(_STAGED)
        values = folder / f"{name}{VALUES}"
        with suppress(InputError):  # damaged values do not tell which run is theirs, so it stays
            named = {_run_name(name, Evaluation.load(values).run_sha256), f"{name}{_RUN}"} if values.is_file() else ()
            _remove_runs(folder, name, named)
        with reported(str(staged)):  # now: until here it tells that a run without values is not one that lost them
            staged.unlink()
    _remove(folder.glob("*.part"))


def _remove_runs(folder: Path, name: str, named: Container[str]) -> None:
    _remove(run for run in _runs(folder, name) if run.name not in named)


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        with suppress(OSError):  # it is in use: the next time
            path.unlink()


def _runs(folder: Path, name: str) -> list[Path]:
    return [*folder.glob(f"{name}@*{_RUN}"), *folder.glob(f"{name}{_RUN}")]


def _run_name(name: str, sha256: str) -> str:
    return f"{name}@{sha256[:16]}{_RUN}"  # no name of a system has an @


def accepted_values(project: Project, name: str) -> Evaluation | None:
    """The accepted values of a system; None if nothing was accepted. Values of another system are an error."""
    values = values_path(project, name)
    if not values.is_file():
        if _runs(values.parent, name) and not project.accepted_path(f"{name}{_STAGED}").is_file():
            raise InputError(str(values), "the values of the accepted run are missing.", hint=_RESTORE)
        return None
    before = Evaluation.load(values)
    if before.run != name:
        raise InputError(str(values), f"these are the values of '{before.run}', not of '{name}'.", hint=_RESTORE)
    return before


def accepted_judgments(project: Project, values: Evaluation) -> str:
    """The hash of the collection's judgments when values were accepted."""
    return _judged_by(values_path(project, values.run), values)


def _judged_by(path: Path, values: Evaluation) -> str:
    return str(_asked(path).get("qrels_sha256", values.qrels_sha256))


def accepted_asking(project: Project, name: str) -> Asking | None:
    """How a system was asked when its accepted result was made; None where an earlier version accepted it."""
    path = values_path(project, name)
    known = _asked(path)
    asking = Asking.of(known)
    if known and asking is None:
        raise InputError(str(path), "what it says about how the system was asked is damaged.", hint=_RESTORE)
    return asking


def _asked(path: Path) -> Mapping[str, Any]:
    known = read(path).get(_ASKED, {})
    return known if isinstance(known, dict) else {"latency": None}  # damaged


def values_path(project: Project, name: str) -> Path:
    """The file of the accepted values of a system."""
    staged, values = (project.accepted_path(f"{name}{ending}") for ending in (_STAGED, VALUES))
    return staged if staged.is_file() and project.accepted_path(COMMITTED).exists() else values


def accepted_run(project: Project, before: Evaluation) -> Path:
    """The file of the run with these accepted values."""
    named = project.accepted_path(_run_name(before.run, before.run_sha256))
    if named.is_file():
        return named
    older = project.accepted_path(f"{before.run}{_RUN}")  # as earlier versions named it
    if not older.is_file():
        hint = f"'cranfield accept' saves it; commit it too. Or {_RESTORE}"
        raise InputError(str(named), "the accepted run is missing.", hint=hint)
    return older


def check_accepted(before: Evaluation, stream: Stream, again: Evaluation) -> None:
    """Raise an error unless a run that was read and measured again is the one with the accepted values."""
    if (stream.sha256 or stream.hash_again()) != before.run_sha256:
        raise InputError(stream.name, "this is not the run that was accepted: its content differs.", hint=_RESTORE)
    same = (before.qrels_sha256, before.policy, before.version) == (again.qrels_sha256, again.policy, again.version)
    if not same or before.query_ids != again.query_ids:
        return  # other values are right
    for measure in before.measures:
        ours = measure in again.measures and comes_with_us(measure.definition.function)
        if ours and not np.allclose(before._columns[measure], again._columns[measure], rtol=1e-6, atol=1e-6):
            fact = f"this run does not have the accepted values of {measure}."
            raise InputError(stream.name, fact, hint=_RESTORE)
