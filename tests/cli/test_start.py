"""What the program imports at start-up, which takes half of the time of a small evaluation.

A module takes a tenth of a millisecond, a dataclass half of one. So a plain evaluation imports only what it needs, and
classes used only inside an evaluation are not dataclasses.
"""

import json
import re
import subprocess
import sys

import pytest

from cranfield.ranks.scan.native import native

# Run in its own process: prints the modules imported besides numpy and click, and the dataclasses defined.
CODE = """
import json, os, sys
import click, numpy
import cranfield.cli.main

before, leave = set(sys.modules), os._exit

def ended(code):
    sys.stdout.flush()
    new = {name: module for name, module in list(sys.modules.items()) if name not in before}
    made = {
        thing.__qualname__
        for name, module in new.items() if name.startswith("cranfield.")
        for thing in vars(module).values() if "__dataclass_fields__" in getattr(thing, "__dict__", ())
    }
    print(json.dumps({"code": code, "modules": sorted(new), "dataclasses": sorted(made)}), file=sys.stderr)
    sys.stderr.flush()
    leave(code)

os._exit = ended
sys.argv[0] = "cranfield"
cranfield.cli.main.main()
"""

LIBRARIES = {"scipy", "pandas", "polars", "torch", "pyspark", "pyarrow", "narwhals", "rich"}
# Libraries for other tasks, slow parts of the standard library, and packages that are not needed.
NEEDLESS = {
    *LIBRARIES,
    "numpy.typing",
    *(
        "argparse",
        "asyncio",
        "concurrent.futures",
        "csv",
        "difflib",
        "email",
        "glob",
        "hashlib",
        "http",
        "json",
        "logging",
    ),
    *("multiprocessing", "pathlib", "queue", "random", "shutil", "socket", "ssl", "string", "subprocess", "tempfile"),
    *("traceback", "unicodedata", "urllib.parse", "zipfile"),
    *("cranfield.comparison", "cranfield.files", "cranfield.report", "cranfield.torch", "cranfield.trec_eval"),
    *(
        "cranfield.engines.registry",
        "cranfield.evaluation.query_facts",
        "cranfield.evaluation.saving",
        "cranfield.judging.store",
    ),
    *("cranfield.measures.completion", "cranfield.measures.trec_eval_names"),
    *(f"cranfield.measures.{name}" for name in ("cwl", "diversity", "incomplete", "preferences", "sampled", "text")),
    *(
        "cranfield.ranks.passages",
        "cranfield.ranks.scan.memory",
        "cranfield.read.placed_rows",
        "cranfield.read.records",
    ),
}
MOST_MODULES = 92  # of cranfield, without those that hold a format
MOST_DATACLASSES = 10


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n")
    (tmp_path / "good.run").write_text("q1 Q0 a 1 2.5 t\nq1 Q0 b 2 1.5 t\nq1 Q0 x 3 1 t\nq2 Q0 c 1 1 t\n")
    return tmp_path


def started(*arguments, cwd):
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], cwd=cwd, capture_output=True, text=True)
    found = json.loads(done.stderr.splitlines()[-1])
    assert found["code"] == 0, done.stderr
    return found


@pytest.mark.skipif(native is None, reason="the scan in pure Python imports more")
@pytest.mark.parametrize("measures", [(), ("-m", "AP", "-m", "nDCG@10", "-m", "RR", "-m", "P@10", "-m", "R@1000")])
def test_a_plain_evaluation_imports_only_what_it_needs(files, measures):
    found = started("evaluate", "qrels.txt", "good.run", *measures, cwd=files)
    assert not NEEDLESS & set(found["modules"])
    ours = [name for name in found["modules"] if re.match(r"cranfield\.(?!read\.formats\.)", name)]
    assert len(ours) <= MOST_MODULES, (len(ours), ours)
    assert len(found["dataclasses"]) <= MOST_DATACLASSES, found["dataclasses"]


def test_worst_queries_import_no_further_library(files):
    assert not LIBRARIES & set(started("evaluate", "qrels.txt", "good.run", "--worst", "1", cwd=files)["modules"])


def test_the_list_of_commands_imports_none_of_them(files):
    found = started("--help", cwd=files)
    assert "dataclasses" not in found["modules"]
    assert len([name for name in found["modules"] if name.startswith("cranfield.")]) <= 8, found["modules"]
