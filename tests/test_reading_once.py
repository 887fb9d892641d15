"""Each file is opened once and read once, by counting system calls; and parsed once."""

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest
from click.testing import CliRunner

import cranfield
from cranfield.cli.commands import program
from cranfield.io.streams import LOOK
from cranfield.ranks.judgments import Judgments

STRACE = shutil.which("strace")
traced = pytest.mark.skipif(STRACE is None, reason="counts system calls with strace, which is not installed")
PROGRAM = "from cranfield.cli.main import main; main()"
PROJECT = """
collection = "builtin"
measures = ["nDCG@10", "RR"]
[systems.plain]
type = "sqlite"
[systems.tuned]
type = "sqlite"
tuned = true
"""
CALL = re.compile(
    r'(open|openat|read|pread64|preadv|readv)\((?:AT_FDCWD[^,]*, ")?(?:\d+<)?([^">]+)[">].*= (\d+)(?:<.*>)?$'
)
UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")


class Calls:
    """How often each file of a folder was opened, and how many of its bytes were read, as a share of its size."""

    def __init__(self, text, folder):
        self.opened, self.size = Counter(), Counter()
        begun = {}
        for line in text.splitlines():
            if parted := UNFINISHED.match(line):
                begun[parted[1]] = parted[2]
                continue
            if rest := RESUMED.match(line):
                line = begun.pop(rest[1], "") + rest[2]
            if call := CALL.search(line):
                name = str((folder / call[2]).resolve())
                if call[1].startswith("open"):
                    self.opened[name] += 1
                else:
                    self.size[name] += int(call[3])

    def of(self, path):
        name = str(Path(path).resolve())
        return self.opened[name], self.size[name] / Path(path).stat().st_size


def traced_command(folder, *arguments):
    traced = ["-f", "-qq", "-y", "-e", "trace=open,openat,read,pread64,preadv,readv", "-o", folder / "calls.txt"]
    return [STRACE, *traced, sys.executable, "-c", PROGRAM, *arguments]


def traced_call(folder, *arguments):
    done = subprocess.run(traced_command(folder, *arguments), cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return Calls((folder / "calls.txt").read_text(errors="replace"), folder)


@pytest.fixture
def folder(tmp_path):
    """Judgments and runs larger than what is read at once, so that reading a beginning again would show."""
    data = files(cranfield) / "data" / "collection"
    header, *lines = (data / "qrels" / "test.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    rows += [
        (query, f"other-{number}", "0") for query in dict.fromkeys(row[0] for row in rows) for number in range(150)
    ]
    written = {
        "q.txt": "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows),
        "q.tsv": "".join(f"{line}\n" for line in (header, *map("\t".join, rows))),
        **{
            f"{name}.run": gzip.decompress((data / "runs" / f"{name}.run.gz").read_bytes()).decode()
            for name in ("plain", "tuned")
        },
    }
    for name, text in written.items():
        assert len(text) > 1.2 * LOOK
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


COMMANDS = {
    "evaluate": ("evaluate", "--worst", "3"),
    "evaluate -v": ("evaluate", "-v"),
    "compare": ("compare",),
    "compare --no-bounds": ("compare", "--no-bounds"),
    "compare -m AP": ("compare", "-m", "AP"),
    "gate": ("gate",),
    "stability": ("stability",),
    "leave out": ("stability", "--leave-out"),
    "check": ("check",),
    "report": ("report", "-o", "page.html", "--queries", "3"),
    "plot": ("plot", "difference", "-o", "chart.json"),
}


# Each command gets judgments and runs of both kinds, plain and compressed.
FILES = [("q.tsv", "plain.run", "tuned.run.gz"), ("q.txt.gz", "plain.run.gz", "tuned.run")]


def enlarge(run):
    """Make it a run of several blocks; only the first of them has judged queries."""
    text = run.read_text()
    copies = (f"{copy}-{line}\n" for copy in range(45) for line in text.splitlines())
    run.write_text(text + "".join(copies))


@traced
@pytest.mark.parametrize("files", FILES, ids=lambda files: files[0])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_opens_each_file_once_and_reads_it_once(folder, command, files):
    name, *others = COMMANDS[command]
    words = [name, *others[:1], *files, *others[1:]] if name == "plot" else [name, *files, *others]
    if name == "report":
        enlarge(next(folder / file for file in files if file.endswith(".run")))
    calls = traced_call(folder, *words)
    for file in files:
        # The block of the queries that are shown is read again, where a file is not compressed.
        shown = 0.2 if name == "report" and file.endswith(".run") else 0
        opened, read = calls.of(folder / file)
        assert opened == 1, file
        assert 1 <= read <= 1.1 + shown, file


@traced
@pytest.mark.parametrize("runs", [("plain.run", "tuned.run"), ("plain.run.gz", "tuned.run.gz")])
def test_files_that_are_scanned_ahead_are_opened_and_read_once(folder, runs):
    calls = traced_call(folder, "evaluate", "q.txt", *runs, "-m", "AP")
    assert {calls.of(folder / file) for file in ("q.txt", *runs)} == {(1, 1.0)}


@traced
def test_explaining_a_query_reads_its_run_once(folder):
    calls = traced_call(folder, "explain", "q.tsv", "plain.run", "q27")
    assert {calls.of(folder / file) for file in ("q.tsv", "plain.run")} == {(1, 1.0)}


@traced
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_deciding_reads_each_run_once(folder, ending):
    runs = [f"plain.run{ending}", f"tuned.run{ending}"]
    store = ["pool", "judgments.db", "builtin", *runs]
    assert subprocess.run([sys.executable, "-c", PROGRAM, *store], cwd=folder, capture_output=True).returncode == 0
    judge = ("judge", "judgments.db", "--decide", *runs, "-m", "nDCG@10", "--no-browser", "--port", "0")
    # The page is ready when the runs have been read; the process that serves it ends with its group.
    command = traced_command(folder, *judge)
    page = subprocess.Popen(command, cwd=folder, stdout=PIPE, stderr=STDOUT, text=True, start_new_session=True)
    try:
        assert any("http://" in line for line in page.stdout)
    finally:
        os.killpg(page.pid, signal.SIGKILL)
        page.communicate()
    calls = Calls((folder / "calls.txt").read_text(errors="replace"), folder)
    assert {calls.of(folder / file) for file in runs} == {(1, 1.0)}


@traced
def test_a_test_with_a_report_does_not_read_what_it_has_just_written(folder):
    (folder / "cranfield.toml").write_text(PROJECT)
    recorded = [folder / ".cranfield" / f"{name}.run.tsv" for name in ("plain", "tuned")]
    calls = traced_call(folder, "test", "--worst", "2", "--report", "page.html", "--no-history")
    assert {calls.of(run) for run in recorded} == {(0, 0.0)}
    calls = traced_call(folder, "test", "--worst", "2", "--report", "page.html")
    assert {calls.of(run) for run in recorded} == {(1, 1.0)}  # to be kept in the history
    traced_call(folder, "accept")
    calls = traced_call(folder, "test", "--worst", "2", "--report", "page.html")
    assert [calls.of(run) for run in (folder / "baseline").glob("*.run.tsv.gz")] == [(1, 1.0)] * 2


@traced
@pytest.mark.parametrize("name", ["q.tsv", "q.txt.gz"])
def test_a_test_with_a_report_reads_its_judgments_once(folder, name):
    data = files(cranfield) / "data" / "collection"
    collection = folder / "mine"
    collection.mkdir()
    for file in ("corpus.jsonl", "queries.jsonl"):
        shutil.copy(str(data / file), collection / file)
    judgments = collection / name.replace("q.", "qrels.")
    shutil.copy(folder / name, judgments)
    (folder / "cranfield.toml").write_text(PROJECT.replace('"builtin"', '"mine"'))
    for command in (("test",), ("accept",), ("test", "--worst", "2", "--report", "page.html")):
        calls = traced_call(folder, *command)
    opened, read = calls.of(judgments)
    assert opened == 1
    assert 1 <= read <= 1.1
    assert [calls.of(run) for run in (folder / "baseline").glob("*.run.tsv.gz")] == [(1, 1.0)] * 2


@pytest.fixture
def parsed(monkeypatch):
    """All judgments that were made, from any source."""
    made = []
    build, read = Judgments.__init__, Judgments._read_natively.__func__

    def counted(judgments, *arguments, **options):
        made.append(judgments)
        build(judgments, *arguments, **options)

    def counted_read(kind, *arguments):
        judgments = read(kind, *arguments)
        made.extend([] if judgments is None else [judgments])
        return judgments

    monkeypatch.setattr(Judgments, "__init__", counted)
    monkeypatch.setattr(Judgments, "_read_natively", classmethod(counted_read))
    return made


def ran(*arguments):
    result = CliRunner().invoke(program, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    return result.output


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cranfield.toml").write_text(PROJECT)
    return tmp_path


def test_a_test_parses_its_judgments_once(project, parsed):
    text = ran("test", "--worst", "2", "--report", "page.html")
    assert text.count("the worst queries by nDCG@10") == 2
    assert len(parsed) == 1
    ran("accept")
    parsed.clear()
    assert "since accepted" in ran("test", "--report", "page.html")
    assert len(parsed) == 1


def test_the_demonstration_parses_its_judgments_once(parsed):
    assert "tuned's worst queries" in ran("demo")
    assert len(parsed) == 1


@pytest.mark.parametrize("command", [("compare",), ("report", "-o", "page.html"), ("gate",)])
def test_a_command_parses_its_judgments_once(project, parsed, command):
    ran(command[0], "builtin:qrels", "builtin:keywords", "builtin:meaning", *command[1:])
    assert len(parsed) == 1
