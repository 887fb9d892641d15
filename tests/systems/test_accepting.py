"""Accepting is all or nothing, and what was accepted is noticed if it is no longer what it was."""

import errno
import gzip
import json
import os
import shutil
import sys
from contextlib import nullcontext
from threading import Thread

import pytest

from cranfield.errors import InputError, OutputError
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.saving import CHECKSUM, read, write
from cranfield.io.streams import Stream
from cranfield.io.target import locked
from cranfield.systems.accepting import Result, Review, accept, accepted_run, accepted_values, keep
from cranfield.systems.asking import Silent
from cranfield.systems.project import read_project
from cranfield.systems.testing import run_test
from tests import program

CONFIG = """
collection = "."
measures = ["RR"]
k = {k}
[systems.plain]
type = "sqlite"
[systems.tuned]
type = "sqlite"
tuned = true
"""
SYSTEMS = ("plain", "tuned")
KILLED, FULL, UNSTOPPED = 9, 2, 1


def at_depth(folder, k):
    """The project after a test that asked for k documents, so that each k has runs of its own."""
    (folder / "cranfield.toml").write_text(CONFIG.format(k=k))
    project = read_project(folder / "cranfield.toml")
    assert all(tested.recorded.complete for tested in tried(project).systems)
    return project


def tried(project):
    return run_test(project, lambda _: nullcontext(Silent()))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "queries.tsv").write_text("1\tblue cats\n2\tgreen dogs\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 d 1\n2 0 a 0\n")
    texts = {"a": "cats", "b": "blue cats cat", "c": "dogs", "d": "green dogs dog"}
    (tmp_path / "corpus.jsonl").write_text("".join(f'{{"_id": "{d}", "text": "{t}"}}\n' for d, t in texts.items()))
    return tmp_path


@pytest.fixture
def accepted(folder):
    project = at_depth(folder, 1)
    accept(project)
    return project


def state(project):
    """The hash of each accepted run, by the values and by the file that belongs to them; None without any."""
    found = {}
    for name in SYSTEMS:
        values = accepted_values(project, name)
        found[name] = values and values.run_sha256
        assert values is None or Stream(accepted_run(project, values)).hash_again() == values.run_sha256
    return found


def as_before(folder):
    """Rename the accepted runs to what they were named without a hash."""
    for run in folder.glob("*@*"):
        run.rename(folder / f"{run.name.partition('@')[0]}.run.tsv.gz")


def stopped(project, baseline, step, *, kill):
    """Accept in a process that is killed, or fails for want of space, at the nth change of the folder."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = step

    def watch(event, arguments):
        nonlocal left
        changes = event in ("os.rename", "os.remove") or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if changes and str(arguments[0]).startswith(str(baseline)):
            left -= 1
            if left == 0 and kill:
                os._exit(KILLED)
            if left == 0:
                raise OSError(errno.ENOSPC, "No space left on device")

    try:
        sys.addaudithook(watch)
        accept(project)
        os._exit(UNSTOPPED if left > 0 else 0)
    except OutputError as error:
        os._exit(FULL if "no space left on device" in str(error) else 3)
    finally:
        os._exit(4)


@pytest.mark.fault(
    "`accept` is killed, or the disk is full, at every change of its folder",
    "All systems are accepted or none, and what it says is true.",
)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
@pytest.mark.parametrize("kill", [True, False], ids=["killed", "full"])
@pytest.mark.parametrize("earlier", ["nothing", "accepted", "without a hash"])
def test_accepting_is_all_or_nothing_wherever_it_ends(folder, earlier, kill):
    baseline, copy = folder / "baseline", folder / "copy"
    baseline.mkdir()
    if earlier != "nothing":
        accept(at_depth(folder, 1))
    if earlier == "without a hash":
        as_before(baseline)
    shutil.copytree(baseline, copy)
    project = at_depth(folder, 2)
    old = state(project)
    before = sorted(path.name for path in baseline.iterdir())
    accept(project)
    new = state(project)
    after = sorted(path.name for path in baseline.iterdir())
    assert len(after) == 4
    assert not {*old.values()} & {*new.values()}
    seen = []
    for step in range(1, 100):
        shutil.rmtree(baseline)
        shutil.copytree(copy, baseline)
        tried(project)  # a result is accepted beside the one that it was compared with
        code = stopped(project, baseline, step, kill=kill)
        if code == UNSTOPPED:
            break
        found = state(project)
        seen.append(found == new)
        assert code == KILLED if kill else code == (0 if found == new else FULL)  # what it says is so
        assert found in (old, new)
        if code == FULL:
            assert sorted(path.name for path in baseline.iterdir()) == before
        assert all(tested.gate is not None or found == old for tested in tried(project).systems)
        accept(project)
        assert state(project) == new
        assert sorted(path.name for path in baseline.iterdir()) == after
    assert seen == sorted(seen)  # it counts from one moment on
    assert {*seen} == {False, True}
    assert len(seen) > 10


def test_a_write_that_fails_changes_nothing(accepted, folder):
    resource = pytest.importorskip("resource")
    project = at_depth(folder, 2)
    old = state(project)
    before = {path.name: path.read_bytes() for path in (folder / "baseline").iterdir()}
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        for size in (0, 50, 1000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limit[1]))
            with pytest.raises(OutputError, match="cannot be written"):
                accept(project)
            assert {path.name: path.read_bytes() for path in (folder / "baseline").iterdir()} == before
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert state(project) == old


def test_one_system_that_cannot_be_accepted_stops_all(accepted, folder):
    project = at_depth(folder, 2)
    old = state(project)
    run = project.recorded_run("tuned")
    run.write_text(run.read_text() + "2\tc\t0.1\n")
    with pytest.raises(InputError, match="has changed since it was measured"):
        accept(project)
    assert state(project) == old
    assert len(list((folder / "baseline").iterdir())) == 4
    accept(project, ["plain"])
    assert [state(project)[name] == old[name] for name in SYSTEMS] == [False, True]


def test_leftovers_that_cannot_be_removed_never_count(accepted, folder):
    project = at_depth(folder, 2)
    old = state(project)
    left = folder / "baseline" / "other.json.part"
    left.mkdir()
    with pytest.raises(OutputError, match=r"other\.json\.part: cannot be written"):
        accept(project)
    assert state(project) == old
    left.rmdir()
    for name in (".cranfield-0123.part", "other.json.part", "other@0123456789abcdef.run.tsv.gz"):
        (folder / "baseline" / name).write_text("cut o")
    accept(project)
    assert len(list((folder / "baseline").iterdir())) == 4


def rewritten(path, change):
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()))))


def cut_run(plain, tuned, folder):
    rewritten(plain, lambda content: content[: content.rindex(b"\n", 0, -1) + 1])


def cut_file(plain, tuned, folder):
    plain.write_bytes(plain.read_bytes()[:-12])


def emptied(plain, tuned, folder):
    rewritten(plain, lambda content: content[: content.index(b"\n") + 1])


def altered(plain, tuned, folder):
    rewritten(plain, lambda content: content.replace(b"b\t", b"z\t"))


def exchanged_run(plain, tuned, folder):
    shutil.copy(tuned, plain)


def exchanged_pair(plain, tuned, folder):
    shutil.copy(tuned, folder / f"plain@{tuned.name.partition('@')[2]}")
    shutil.copy(folder / "tuned.json", folder / "plain.json")


def exchanged_values(plain, tuned, folder):
    content = read(folder / "tuned.json")
    write(folder / "plain.json", {**content, "run": "plain"})


def altered_values(plain, tuned, folder):
    values = folder / "plain.json"
    values.write_text(values.read_text().replace('"queries": 2', '"queries": 3'))


def other_values(plain, tuned, folder):
    content = {name: value for name, value in read(folder / "plain.json").items() if name != CHECKSUM}
    content["values"]["RR"] = [0.125, 0.125]
    write(folder / "plain.json", content)


def lost_values(plain, tuned, folder):
    (folder / "plain.json").unlink()


def lost_run(plain, tuned, folder):
    plain.unlink()


DAMAGES = [
    *(cut_run, cut_file, emptied, altered, exchanged_run, exchanged_pair, exchanged_values),
    *(altered_values, other_values, lost_values, lost_run),
]


@pytest.mark.fault("accepted results that are cut, changed, exchanged or lost", "An error; they never pass a test.")
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("named", [True, False], ids=["with a hash", "without"])
def test_a_damaged_result_is_an_error_and_can_be_replaced(accepted, folder, damage, named):
    baseline = folder / "baseline"
    if not named:
        as_before(baseline)
    assert all(tested.passed for tested in tried(accepted).systems)
    damage(*(next(baseline.glob(f"{name}*.run.tsv.gz")) for name in SYSTEMS), baseline)
    with pytest.raises(InputError) as caught:
        tried(accepted)
    assert "baseline" in str(caught.value)
    done = program.run("test", cwd=folder)
    assert done.returncode == 2
    accept(accepted)
    assert all(tested.passed for tested in tried(accepted).systems)


def test_the_same_content_in_another_compression_or_layout_is_the_same_result(accepted, folder):
    for run in (folder / "baseline").glob("*.gz"):
        run.write_bytes(gzip.compress(gzip.decompress(run.read_bytes()), compresslevel=1, mtime=5))
    for values in (folder / "baseline").glob("*.json"):
        values.write_bytes(values.read_bytes().replace(b"\n", b"\r\n"))
    assert all(tested.gate.passed for tested in tried(accepted).systems)


def test_values_of_another_version_or_policy_need_not_be_the_same(accepted, folder):
    content = {name: value for name, value in read(folder / "baseline" / "plain.json").items() if name != CHECKSUM}
    content["values"]["RR"] = [0.125, 0.125]
    write(folder / "baseline" / "plain.json", {**content, "version": "0.0.1"})
    assert all(tested.gate.passed for tested in tried(accepted).systems)


def test_a_run_without_any_document_can_be_accepted(folder):
    (folder / "queries.tsv").write_text("1\tbirds\n2\tfish\n")
    project = at_depth(folder, 1)
    accept(project)
    assert all(tested.gate is not None for tested in tried(project).systems)
    assert json.loads((folder / "baseline" / "plain.json").read_text())["run_sha256"]
    assert Evaluation.load(folder / "baseline" / "plain.json")["RR"] == 0


def test_accepting_the_same_result_again_changes_no_file(accepted, folder):
    before = {path.name: path.read_bytes() for path in (folder / "baseline").iterdir()}
    accept(accepted)
    assert {path.name: path.read_bytes() for path in (folder / "baseline").iterdir()} == before


def test_another_worker_of_pytest_waits_until_it_may_accept(accepted):
    values = accepted.result_path("plain.json")
    result = Result(Evaluation.load(values), values, accepted.recorded_run("plain"))
    lock = accepted.result_path("lock")

    def work():
        with locked(lock, "testing here", wait=True):
            keep(accepted, {"plain": result}, {"plain": Review()})
            done.append(True)

    done = []
    with locked(lock, "testing here"):
        with pytest.raises(OutputError, match="another process is testing here"):
            accept(accepted)
        worker = Thread(target=work)
        worker.start()
        assert not done
    worker.join()
    assert done
