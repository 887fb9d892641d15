"""The bytes that trec_eval 10.0 prints, and the program that prints them."""

import subprocess

import pytest

from cranfield.cli.trec_eval import run
from tests.trec_eval.conftest import CASES, GOLDEN, PROGRAM, QRELS, RUN, arguments_of, lines_of


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_output_equals_that_of_trec_eval_byte_by_byte(folder, capsysbinary):
    assert run(arguments_of(folder)) == 0
    out, err = capsysbinary.readouterr()
    assert out == (folder / "expected").read_bytes()
    assert err == b""


@pytest.mark.parametrize("name", ["official", "parameters", "preferences"])
@pytest.mark.parametrize("program", [[PROGRAM], [PROGRAM.with_name("cranfield"), "trec_eval"]])
def test_both_programs_print_the_expected_bytes(name, program):
    folder = GOLDEN / name
    done = subprocess.run([*program, *arguments_of(folder)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, (folder / "expected").read_bytes(), b"")


@pytest.mark.parametrize("program", [[PROGRAM], [PROGRAM.with_name("cranfield"), "trec_eval"]])
def test_exit_code_and_streams_of_the_program(program, tmp_path):
    (tmp_path / "qrels").write_text(QRELS + "3 0 e 1\n")
    (tmp_path / "run").write_text(RUN)
    done = subprocess.run([*program, "-q", "-m", "recip_rank", "qrels", "run"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 4
    assert done.stdout.decode() == lines_of(("recip_rank", 1, "0.5000"), ("recip_rank", 2, "1.0000"))
    assert b"the query '3' is judged, but missing from the run." in done.stderr
    bad = subprocess.run([*program, "-x"], capture_output=True, cwd=tmp_path)
    assert (bad.returncode, bad.stdout) == (1, b"")


def test_the_run_can_be_read_from_standard_input(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    whole = {"cwd": tmp_path, "capture_output": True, "text": True}
    piped = subprocess.run([PROGRAM, "qrels", "-"], input=RUN, **whole)
    with (tmp_path / "run").open() as file:
        redirected = subprocess.run([PROGRAM, "qrels", "-"], stdin=file, **whole)
    named = subprocess.run([PROGRAM, "qrels", "run"], **whole)
    assert piped.stdout == redirected.stdout == named.stdout
    assert named.stdout.startswith(lines_of(("runid", "all", "last"), ("num_q", "all", 2)))


def test_a_closed_pipe_is_quiet(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n" for q in range(3000)))
    (tmp_path / "run").write_text("".join(f"{q} Q0 a 1 1 t\n" for q in range(3000)))
    done = subprocess.run(f"'{PROGRAM}' -q qrels run | head -1", shell=True, capture_output=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"num_ret               \t0\t1\n", b"")
