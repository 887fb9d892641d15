"""`cranfield convert`, as people run it."""

import os
import signal
import subprocess

import pytest

from tests.cli.test_program import PROGRAM
from tests.program import run
from tests.waiting import LIMIT, unread, until

RUN = "1 Q0 a 1 2.5 mine\n1 Q0 b 2 1.5 mine\n"
NOTES = (
    "cranfield: a.run: the name of the run is not kept: 'mine'.\n"
    "cranfield: a.run: the rank column is not kept; ranks follow from the scores.\n"
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.run").write_text(RUN)
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "blank.json").write_text('{"1": {"a": 1, "an id": 2}}')
    return tmp_path


def test_to_a_file(files):
    done = run("convert", "a.run", "out.csv", cwd=files)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", NOTES)
    assert (files / "out.csv").read_text() == "query_id,doc_id,score\n1,a,2.5\n1,b,1.5\n"
    mode = (files / "out.csv").stat().st_mode & 0o777
    (files / "plain").touch()
    assert mode == (files / "plain").stat().st_mode & 0o777
    back = run("convert", "out.csv", "back.run", "--as", "run", "--tag", "mine", cwd=files)
    assert (back.returncode, back.stderr) == (0, "")
    assert (files / "back.run").read_text() == RUN


def test_standard_input_and_output(files):
    done = run("convert", "-", "-", "--to", "msmarco", cwd=files, input=RUN)
    assert (done.returncode, done.stdout) == (0, "1\ta\t1\n1\tb\t2\n")
    assert "standard input: the scores are not kept: msmarco has only ranks" in done.stderr
    done = run("convert", "-", "-", "--from", "msmarco", "--to", "trec", "--tag", "x", cwd=files, input=done.stdout)
    assert done.stdout == "1 Q0 a 1 -1 x\n1 Q0 b 2 -2 x\n"
    assert done.stderr == (
        "cranfield: standard input: there are ranks but no scores; minus the rank was written as the score.\n"
    )
    piped = subprocess.run(
        f"'{PROGRAM}' convert a.run - --to parquet 2>&- | '{PROGRAM}' convert - - --as run --to csv",
        shell=True,
        capture_output=True,
        text=True,
        cwd=files,
    )
    assert piped.stdout == "query_id,doc_id,score\n1,a,2.5\n1,b,1.5\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none", "x.csv"), "none: cannot be read: no such file or directory."),
        (("a.run", "qrels"), "qrels: this file already exists.\nHint: --force replaces it"),
        (("a.run", "-"), "standard output: its format must be given.\nHint: give --to: trec, msmarco"),
        (("a.run", "x.y"), "x.y: the extension '.y' is not that of a known format."),
        (("blank.json", "x.csv"), "blank.json: these may be judgments or a run"),
        (
            ("blank.json", "x.run"),
            "blank.json: the id 'an id' contains a blank, which trec cannot store.\n"
            "Hint: write jsonl, json or parquet, or change the id",
        ),
        (("a.run", "x.tsv", "--to", "beir", "--as", "run"), "x.tsv: beir is a format of judgments."),
        (("a.run", "x.csv", "--to", "odd"), "'odd' is not one of"),
        (("a.run",), "missing argument 'OUT'"),
    ],
)
def test_errors_are_messages(files, arguments, message):
    before = sorted(os.listdir(files))
    done = run("convert", *arguments, cwd=files)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(files)) == before


def test_force(files):
    assert run("convert", "a.run", "qrels", "--force", cwd=files).returncode == 0
    assert (files / "qrels").read_text() == RUN


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_an_interruption_leaves_no_file(files):
    os.mkfifo(files / "pipe.run")
    process = subprocess.Popen([PROGRAM, "convert", "pipe.run", "out.csv"], cwd=files, stderr=subprocess.PIPE)
    with open(files / "pipe.run", "w") as pipe:  # the program waits for more than this
        pipe.write(RUN)
        pipe.flush()
        until(lambda: not unread(pipe), "nothing was read")
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"Traceback" not in error
    assert sorted(os.listdir(files)) == ["a.run", "blank.json", "pipe.run", "qrels"]
