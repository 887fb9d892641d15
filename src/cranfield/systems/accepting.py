"""The accepted results of systems: of each its values, NAME.json, and its run, NAME@HASH.run.tsv.gz.

The hash is that of the run's content, which the values name: neither file passes for the other's without being noticed.
A new result is written beside the old one. It counts from one moment on: when the file `COMMITTED` appears, for all
systems at once. Then the values are renamed; a process that is killed before leaves that to the next `accept`.
"""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.limits import Asking
from cranfield.errors import InputError, OutputError
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.saving import content_of, read, write
from cranfield.io.streams import Stream
from cranfield.io.target import locked, make_folder, open_target, reported
from cranfield.measures.lookup import comes_with_us
from cranfield.ranks.judgments import Judgments
from cranfield.systems.project import Project
from cranfield.systems.recorded import Recorded

VALUES = ".json"
COMMITTED = ".accepting"  # while it exists, staged values count
_ASKED = "asked"  # beside the values, and under the same checksum
_RUN, _STAGED = ".run.tsv.gz", f"{VALUES}.part"
_RESTORE = "restore the folder, such as with 'git checkout'; or accept a new result, which replaces it"


def save_result(evaluation: Evaluation, recorded: Recorded, qrels_sha256: str, path: Path) -> None:
    """Save values that may be accepted, with how the system was asked; the hash is that of the whole judgments."""
    failed = [*recorded.failed]
    known = {"latency": recorded.latency, "failed": failed, "not_asked": list(recorded.not_asked)}
    write(path, {**content_of(evaluation), _ASKED: {**known, "qrels_sha256": qrels_sha256}})


class Result(NamedTuple):
    """A complete result of a system: the saved evaluation, its file, and the file of the run that was evaluated."""

    evaluation: Evaluation
    values: Path
    run: Path


def accept(project: Project, systems: Sequence[str] = ()) -> dict[str, tuple[Evaluation | None, Evaluation]]:
    """Make the results of the last test the accepted ones: {system: (accepted before, accepted now)}."""
    judgments = project.open_collection().judgments()
    with locked(project.result_path("lock"), "testing here"):
        results = {name: _acceptable(project, name, judgments) for name in systems or project.systems}
        before = {name: _before(project, name) for name in results}
        keep(project, results)
    return {name: (before[name], result.evaluation) for name, result in results.items()}


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


def keep(project: Project, results: Mapping[str, Result]) -> None:
    """Accept results, all of them or none. The caller holds the lock of the project."""
    folder = project.accepted_path("")
    make_folder(folder)
    _finish(folder)
    _abandon(folder)
    try:
        for name, result in results.items():
            with (
                result.values.open("rb") as source,
                open_target(folder / f"{name}{_STAGED}") as target,
                target.opened() as file,
            ):
                shutil.copyfileobj(source, file)
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
    values = _values_path(project, name)
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
    return _judged_by(_values_path(project, values.run), values)


def _judged_by(path: Path, values: Evaluation) -> str:
    return str(_asked(path).get("qrels_sha256", values.qrels_sha256))


def accepted_asking(project: Project, name: str) -> Asking | None:
    """How a system was asked when its accepted result was made; None where an earlier version accepted it."""
    path = _values_path(project, name)
    known = _asked(path)
    asking = Asking.of(known)
    if known and asking is None:
        raise InputError(str(path), "what it says about how the system was asked is damaged.", hint=_RESTORE)
    return asking


def _asked(path: Path) -> Mapping[str, Any]:
    known = read(path).get(_ASKED, {})
    return known if isinstance(known, dict) else {"latency": None}  # damaged


def _values_path(project: Project, name: str) -> Path:
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
