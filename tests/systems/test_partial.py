"""Protection of a run: a lock, checksums, and a record of how it was made."""

import json
import os
import random
import subprocess
import sys
import threading

import pytest

from cranfield import InputError, OutputError, evaluate, record
from tests.program import run
from tests.waiting import LIMIT, until

PROGRAM = [sys.executable, "-c", "from cranfield.cli.main import main; main()"]
QUERIES = {f"q{n}": f"text {n}" for n in range(8)}
SLOW = """
import os, time
def search(query, k):
    while not os.path.exists("go"):
        time.sleep(0.01)
    number = query.split()[1]
    return [(f"d{number}-{rank}", 1 / rank) for rank in range(1, 4)]
def quick(query, k):
    return [("other", 1.0)]
"""


def good(query, k):
    number = query.split()[1]
    return [(f"d{number}-{rank}", 1 / rank) for rank in range(1, 4)]


EXPECTED = "".join(f"q{n} Q0 d{n}-{rank} {rank} {1 / rank!r} good\n" for n in range(8) for rank in range(1, 4))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "slow_search_under_test.py").write_text(SLOW)
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUERIES.items()))
    return tmp_path


def test_a_second_process_cannot_write_the_same_run(folder):
    command = ["run", "slow_search_under_test:search", "queries.tsv", "-o", "c.run"]
    for _ in range(2):
        for path in [*folder.glob("c.run*"), *folder.glob("go")]:
            path.unlink()
        first = subprocess.Popen(
            [*PROGRAM, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until((folder / "c.run.partial").exists)
        for more in (["--resume"], ["--force"], []):
            other = run(*command, *more, cwd=folder)
            assert "another process is writing this run" in other.stderr
            assert other.returncode == 2
        (folder / "go").touch()
        output, errors = first.communicate(timeout=LIMIT)
        assert first.returncode == 0, errors
        assert "8 of 8 queries answered" in output
        assert (folder / "c.run").read_text() == EXPECTED.replace("good", "search")


def test_a_second_thread_cannot_write_the_same_run(tmp_path):
    started, go = threading.Event(), threading.Event()

    def waiting(query, k):
        started.set()
        go.wait(LIMIT)
        return good(query, k)

    thread = threading.Thread(target=lambda: record(waiting, QUERIES, tmp_path / "o.run"))
    thread.start()
    started.wait(LIMIT)
    try:
        with pytest.raises(OutputError, match="another process is writing this run"):
            record(good, QUERIES, tmp_path / "o.run", resume=True)
    finally:
        go.set()
        thread.join(10)


@pytest.mark.fault(
    "an unfinished run that was damaged", "It is refused, or asked again; the run is never wrong.", tries=400
)
def test_a_damaged_unfinished_run_never_gives_a_wrong_run(tmp_path, tries):
    """A changed unfinished run is refused, or its changed queries are asked again."""

    def failing(query, k):
        if query == "text 7":
            raise ValueError
        return good(query, k)

    failing.__name__ = "good"
    out = tmp_path / "out.run"
    record(failing, QUERIES, out)
    whole = (tmp_path / "out.run.partial").read_bytes()
    chance = random.Random(3)
    refused = 0
    for _ in range(tries):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 1, 3))):
            at = chance.randrange(len(damaged))
            kind = chance.randrange(4)
            if kind == 0:
                damaged[at] = (damaged[at] + chance.randrange(1, 256)) % 256
            elif kind == 1:
                del damaged[at : at + chance.randint(1, 40)]
            elif kind == 2:
                damaged[at:at] = bytes(chance.choices(b'\n 0123456789[],"', k=3))
            else:
                start = chance.randrange(len(damaged))
                damaged[at:at] = damaged[start : start + 60]
        (tmp_path / "out.run.partial").write_bytes(damaged)
        try:
            record(good, QUERIES, out, resume=True)
        except InputError:
            refused += 1
        else:
            assert out.read_text() == EXPECTED
    assert refused > 0.75 * tries


def test_a_finished_run_is_not_written_over(tmp_path):
    out = tmp_path / "out.tsv"
    record(good, QUERIES, out)
    before = out.read_bytes()
    with pytest.raises(OutputError, match="this file already exists"):
        record(good, QUERIES, out)
    for changed in ({"k": 2}, {"collapse": "#"}, {"queries": {"q0": "text 0"}}):
        options = {"queries": QUERIES, **changed}
        with pytest.raises(OutputError, match="this run was made in a different way, or has changed since"):
            record(good, options.pop("queries"), out, resume=True, **options)
    assert out.read_bytes() == before
    assert record(good, QUERIES, out, resume=True).complete
    out.write_bytes(before.replace(b"d0-1", b"d9-9"))
    with pytest.raises(OutputError, match="has changed since"):
        record(good, QUERIES, out, resume=True)
    (tmp_path / "out.tsv.json").write_text("{")
    with pytest.raises(OutputError, match="has changed since"):
        record(good, QUERIES, out, resume=True)
    record(good, QUERIES, out, force=True)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tsv", "out.tsv.json"]


def test_a_run_cannot_be_resumed_with_other_settings(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    settings = {"type": "python", "object": "slow_search_under_test:quick"}
    from cranfield import open_system

    record(open_system(settings, name="s"), QUERIES, folder / "o.run")
    with pytest.raises(OutputError, match="made in a different way"):
        record(open_system({**settings, "order": "rank"}, name="s"), QUERIES, folder / "o.run", resume=True)


@pytest.mark.fault(
    "odd ids in answers of a system, by format of the run", "They are read back as they were, or their query fails."
)
@pytest.mark.parametrize("name", ["o.tsv", "o.csv", "o.jsonl", "o.json", "o.parquet", "o.tsv.gz"])
def test_odd_ids_are_read_back_as_they_were_or_fail_their_query(tmp_path, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    odd = {
        "1": '"d1"',
        "2": '"d1',
        "3": "d 1",
        "4": "#d1",
        "5": " d1 ",
        "6": "d\t1",
        "7": "d1 1 9 x\n2 Q0 evil 1 99 x\n1 Q0 z",
        "8": "d\x85\x1c",
    }
    recorded = record(lambda query, k: [odd[query], "last"], {query: query for query in odd}, tmp_path / name)
    answered = {query: {odd[query]: 1} for query in odd if query not in recorded.failed}
    assert "1" in answered
    result = evaluate(answered, tmp_path / name, "RR NumRet")
    assert result.by_query("RR") == dict.fromkeys(answered, 1.0)
    assert result.by_query("NumRet") == dict.fromkeys(answered, 2.0)
    assert result.counts.extra == 0
    for error in recorded.failed.values():
        assert "cannot store" in error


def test_ids_cannot_write_lines_for_other_queries(tmp_path):
    evil = ["d1 1 9 x\nq2 Q0 evil 1 99 x\nq1 Q0 z", *(f"d {n}" for n in range(12))]
    recorded = record(lambda query, k: evil, {"q1": "a", "q2": "b"}, tmp_path / "o.run")
    assert set(recorded.failed) == {"q1", "q2"}
    assert (tmp_path / "o.run").read_text() == ""


def test_query_ids_that_a_format_would_lose_are_refused_at_once(tmp_path):
    asked = []
    for query in ("#1", "a b", "a\nb"):
        with pytest.raises(Exception, match="cannot store"):
            record(lambda query, k: asked.append(query) or ["a"], {query: "x"}, tmp_path / "o.run")
    assert asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_a_link_stays_a_link(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    thread = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    thread.start()
    record(good, QUERIES, tmp_path / "pipe")
    thread.join(10)
    assert read == [EXPECTED]
    (tmp_path / "real.run").write_text("old\n")
    (tmp_path / "link.run").symlink_to(tmp_path / "real.run")
    record(good, QUERIES, tmp_path / "link.run", force=True)
    assert (tmp_path / "link.run").is_symlink()
    assert (tmp_path / "real.run").read_text() == EXPECTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.run", "link.run.json", "pipe", "real.run"]


def test_queries_without_results_are_listed(tmp_path):
    recorded = record(lambda query, k: [] if query == "none" else ["a"], {"1": "x", "2": "none"}, tmp_path / "o.run")
    saved = json.loads((tmp_path / "o.run.json").read_text())
    assert recorded.empty == ("2",)
    assert saved["empty"] == ["2"]
