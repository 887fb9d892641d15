"""What `test`, `accept` and `gate` append to a history."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cranfield.comparison.gating import GateResult
from cranfield.errors import InputError
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.saving import read
from cranfield.io.compression import EXTENSIONS
from cranfield.io.streams import Stream
from cranfield.systems.accepting import ACCEPTED, MEASURED, accepted_run, accepted_values, values_path
from cranfield.systems.collection import Collection
from cranfield.systems.history.change import UNKNOWN, Moment, time_from
from cranfield.systems.history.opening import HistorySettings, open_history
from cranfield.systems.history.packing import content_id
from cranfield.systems.history.results import BASELINE, Acceptance, Again, KeptRun, Measured
from cranfield.systems.opening import TUNE
from cranfield.systems.project import Project
from cranfield.systems.queries import leaves
from cranfield.systems.testing import ProjectTest, Tested

HIDDEN = "hidden"
_SECRET = re.compile("secret|passw|credential|cookie|authoriz|(token|key|auth)$", re.IGNORECASE)
_WITH_PASSWORD = re.compile(r"://[^/\"]*@")


def keep_test(project: Project, test: ProjectTest) -> None:
    """Append the results of a test, and the accepted ones that they were compared with."""
    results: list[Measured] = []
    again: list[Again] = []
    acceptances: list[Acceptance] = []
    runs: list[KeptRun] = []
    documents, corpus = _corpus(test.collection)
    for tested in test.systems:
        if tested.evaluation is None or tested.moment is None or tested.judged is None:
            continue
        before = None
        if tested.accepted is not None and (values := accepted_values(project, tested.system)) is not None:
            before, acceptance, kept = _of_baseline(project, tested.system, values, {})
            results.append(before)
            again.append(Again(before.id, tested.accepted, _judged(tested)))
            acceptances.append(acceptance)
            runs.append(kept)
        now = _measured(tested, test.collection.queries, before.id if before else "")
        settings = shown_settings(project, tested.system)
        results.append(replace(now, settings=settings, documents=documents, corpus=corpus))
        if not tested.moment.change.pull:
            runs.append(_kept(tested.evaluation, Path(tested.recorded.path)))
    with open_history(HistorySettings.of(project.history, project.path).store, create=True) as history:
        history.append(results, again=again, acceptances=acceptances, runs=runs)


def shown_settings(project: Project, system: str) -> dict[str, str]:
    """The settings of a system, and those of the project that decide what it is asked for; as JSON, without secrets."""
    own = {"k": project.k, "deepen": project.deepen or None, "corpus": project.corpus, "split": project.split}
    own |= {name: value for name, value in project.systems[system].items() if name != TUNE}
    return {".".join(path): _shown(path, value) for path, value in leaves(own) if value is not None}


def _shown(path: Sequence[str], value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return HIDDEN if any(map(_SECRET.search, path)) or _WITH_PASSWORD.search(text) else text


def _corpus(collection: Collection) -> tuple[int | None, str]:
    """How many documents there are, and a hash of their ids in any order; None where they are not known."""
    if collection.corpus is None:
        return None, ""
    number = total = 0
    for document in collection.ids():
        number += 1
        total += int.from_bytes(hashlib.blake2b(document.encode(errors="surrogatepass"), digest_size=8).digest())
    return number, f"{total % 2**64:016x}"


def keep_accepted(project: Project, systems: Sequence[str]) -> None:
    """Append what was accepted just now, and the results, where no test has appended them."""
    texts = project.open_collection().queries
    accepted = {name: accepted_values(project, name) for name in systems}
    known = [_of_baseline(project, name, values, texts) for name, values in accepted.items() if values is not None]
    with open_history(HistorySettings.of(project.history, project.path).store, create=True) as history:
        history.append(
            [measured for measured, _, _ in known],
            acceptances=[acceptance for _, acceptance, _ in known],
            runs=[run for _, _, run in known],
        )


def keep_gate(
    store: str,
    result: GateResult,
    moment: Moment,
    *,
    latency: Mapping[str, float],
    texts: Mapping[str, str],
    candidate: str,
) -> None:
    """Append the candidate of a gate, and its baseline as what was accepted. Its system is the name of its run.

    candidate: its file, which is kept
    """
    assert result._evaluations is not None
    before, after = result._evaluations
    if after.basis is not None:
        raise InputError(store, "values of a model that people correct are not kept: they are not those of queries.")
    system = after.run
    reference = Measured(before, system, Moment(moment.at), BASELINE, texts=texts)
    measured = Measured(after, system, moment, "gate", result.passed, reference.id, latency=latency, texts=texts)
    accepted = Acceptance(content_id(system, reference.id), system, moment.at, reference.id, "", "baseline of the gate")
    runs = [_kept(after, Path(candidate))] if os.path.isfile(candidate) and not moment.change.pull else []
    with open_history(store, create=True) as history:
        history.append([reference, measured], acceptances=[accepted], runs=runs)


def _measured(tested: Tested, texts: Mapping[str, str], accepted: str) -> Measured:
    assert tested.evaluation is not None
    assert tested.moment is not None
    recorded = tested.recorded
    return Measured(
        tested.evaluation,
        tested.system,
        tested.moment,
        "test",
        tested.passed if tested.gate is not None or tested.checks else None,
        accepted,
        latency=recorded.latency,
        failed=recorded.queries - recorded.answered,
        judged=_judged(tested),
        gone=sorted(tested.judged.gone or ()) if tested.judged else (),
        texts=texts,
    )


def _judged(tested: Tested) -> int:
    return len(tested.judged.judgments.grades) if tested.judged is not None else 0


def _of_baseline(
    project: Project, name: str, values: Evaluation, texts: Mapping[str, str]
) -> tuple[Measured, Acceptance, KeptRun]:
    """The accepted result of a system as its file tells it: one of an earlier version does not say when it was made."""
    path = values_path(project, name)
    content = read(path)
    known, review = (_table(content, part) for part in (MEASURED, ACCEPTED))
    moment = Moment.of(known)
    asked = _table(content, "asked")
    latency = asked.get("latency")
    measured = Measured(
        values,
        name,
        moment or Moment(time_from("1970-01-01T00:00:00Z"), UNKNOWN),
        "accept" if moment else BASELINE,
        latency=latency if isinstance(latency, dict) else {},
        judged=int(known.get("judged", 0)),
        gone=tuple(map(str, known.get("gone", ()))),
        texts=texts,
    )
    at = str(review.get("at", "")) or "1970-01-01T00:00:00Z"
    said = {word: str(review.get(word, "")) for word in ("who", "because")}
    worse = bool(review.get("worse", False))
    acceptance = Acceptance(
        content_id(name, measured.id, at, said), name, time_from(at), measured.id, **said, worse=worse
    )
    return measured, acceptance, _kept(values, accepted_run(project, values))


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    its = content.get(name, {})
    return its if isinstance(its, dict) else {}


def _kept(evaluation: Evaluation, path: Path) -> KeptRun:
    name = next((path.stem for ending in EXTENSIONS if path.name.lower().endswith(ending)), path.name)
    return KeptRun(evaluation.run_sha256, name, lambda: b"".join(Stream(path).chunks()))
