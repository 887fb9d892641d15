"""trec_eval's command line: the same bytes for the same arguments, and the right thing where trec_eval errs."""

import shlex
import sys
from pathlib import Path

import pytest

from cranfield.cli.trec_eval import run

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(GOLDEN.iterdir())
PROGRAM = Path(sys.executable).with_name("cranfield-trec_eval")


def arguments_of(folder):
    return [*shlex.split((folder / "args").read_text()), str(folder / "qrels"), str(folder / "run")]


@pytest.fixture
def call(tmp_path, monkeypatch, capsysbinary):
    """Run the program on judgments and a run, given as text, in a folder of their own: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)

    def call(command, qrels=None, ranked=None, **files):
        for name, text in {"qrels": qrels, "run": ranked, **files}.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        code = run(shlex.split(command))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


def lines_of(*rows):
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in rows)


QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 1\n"
RUN = "1 Q0 b 1 2 tag\n1 Q0 a 2 1 tag\n2 Q0 c 1 5 tag\n2 Q0 x 2 4 last\n"
