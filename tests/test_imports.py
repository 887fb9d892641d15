"""Imports change nothing in the process, and none gets around the import contracts."""

import ast
import json
import re
import subprocess
import sys

import pytest

from tests.program import SOURCE

# Libraries may change anything, so they are imported first.
WATCHED = """
import gc, importlib, json, os, signal, sys, threading
import click, jinja2, numpy, pyarrow, scipy.stats, sqlalchemy, starlette, uvicorn

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
    for library in ("jinja2", "pyarrow", "sqlalchemy", "starlette", "uvicorn"):
        pytest.importorskip(library)
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in sorted(SOURCE.rglob("*.py")))
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths if "torch" not in path.parts]
    assert "cranfield.measures.registry" in names
    assert json.loads(loaded(WATCHED, *names)) == {}


# The door through which results draw themselves and stores are read; CONTRIBUTING.md says why.
BY_NAME = {"drawing.py"}


def test_no_other_room_is_imported_by_name():
    # Read from the source, because import-linter does not see imports by name.
    found = set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE)
        if place.name == "__init__.py" or "import_module" not in (text := path.read_text()):
            continue
        named = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
        ours = [name for name in named if isinstance(name, str) and re.fullmatch(r"cranfield\.[\w.]+", name)]
        if any(name.split(".")[1] != place.parts[0] for name in ours):
            found.add(place.as_posix())
    assert found == BY_NAME
