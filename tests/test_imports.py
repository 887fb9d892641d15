"""Imports define names and change nothing in the process; measures load no reader."""

import json
import subprocess
import sys

import pytest

from tests.source import SOURCE

# Libraries may change anything, so they are imported first.
WATCHED = """
import gc, importlib, json, os, signal, sys, threading
import click, httpx, jinja2, numpy, pyarrow, scipy.stats, sqlalchemy, starlette, uvicorn

def state():
    return {
        "garbage": [gc.isenabled(), *gc.get_threshold()],
        "environment": dict(os.environ),
        "threads": threading.active_count(),
        "switches": sys.getswitchinterval(),
        "recursion": sys.getrecursionlimit(),
        "interrupts": repr(signal.getsignal(signal.SIGINT)),
        "streams": [id(sys.stdin), id(sys.stdout), id(sys.stderr)],
        "path": sys.path,
    }

changed, before = {}, json.dumps(state())
for name in sys.argv[1:]:
    importlib.import_module(name)
    if json.dumps(state()) != before:
        changed[name], before = state(), json.dumps(state())
print(json.dumps(changed))
"""


def loaded(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_a_module_changes_nothing_in_the_process():
    for library in ("httpx", "jinja2", "pyarrow", "sqlalchemy", "starlette", "uvicorn"):
        pytest.importorskip(library)
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in sorted(SOURCE.rglob("*.py")))
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths if "torch" not in path.parts]
    assert len(names) > 300
    assert json.loads(loaded(WATCHED, *names)) == {}


def test_measures_load_no_reader():
    code = "import sys, cranfield; cranfield.catalogue(); cranfield.parse_measure('nDCG@10'); print(*sys.modules)"
    modules = loaded(code).split()
    assert "cranfield.measures.gain" in modules
    assert [name for name in modules if name.startswith(("cranfield.read", "cranfield.cli", "cranfield.engines"))] == []
