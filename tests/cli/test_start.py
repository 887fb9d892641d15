"""Small evaluations start fast: they import no heavy library. `bench/run.py start` measures how fast."""

import subprocess
import sys

import pytest

# In its own process: the program, which lists at its end the libraries that it has imported.
PROGRAM = """
import importlib, os, sys
leave = os._exit

def ended(code):
    sys.stdout.flush()
    os.write(2, ("\\n" + " ".join({name.partition(".")[0] for name in sys.modules})).encode())
    leave(code)

os._exit = ended
importlib.import_module(f"cranfield.cli.{sys.argv.pop(1)}").main()
"""
PYTHON = """
import sys, cranfield
cranfield.evaluate(sys.argv[1], sys.argv[2])
cranfield.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'RR')
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""
HEAVY = {
    *("scipy", "pandas", "polars", "pyarrow", "narwhals", "duckdb", "pyspark", "torch", "ibis"),
    *("sqlalchemy", "starlette", "uvicorn", "httpx", "jinja2", "vl_convert", "bm25s", "psycopg"),
}
EVALUATE = ["evaluate", "qrels.txt", "good.run"]


def imported(code, *arguments, folder):
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n")
    (tmp_path / "good.run").write_text("q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq1 Q0 x 3 1 t\nq2 Q0 c 1 1 t\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        EVALUATE,
        [*EVALUATE, "-m", "AP", "-m", "nDCG@10", "-m", "RR", "-m", "P@10", "-m", "R@1000"],
        [*EVALUATE, "--worst", "1", "--format", "json"],
        [*EVALUATE, "--save", "saved.json"],
    ],
    ids=" ".join,
)
def test_an_evaluation_imports_no_heavy_library(folder, arguments):
    assert not HEAVY & imported(PROGRAM, "main", *arguments, folder=folder)


def test_the_drop_in_imports_no_heavy_library(folder):
    found = imported(PROGRAM, "trec_eval", "qrels.txt", "good.run", folder=folder)
    assert not {*HEAVY, "click"} & found


def test_an_evaluation_in_python_imports_no_heavy_library(folder):
    assert not {*HEAVY, "click"} & imported(PYTHON, "qrels.txt", "good.run", folder=folder)


def test_the_list_of_commands_imports_no_numbers(folder):
    assert not {*HEAVY, "numpy"} & imported(PROGRAM, "main", "--help", folder=folder)
