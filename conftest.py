"""What needs an optional library is not collected without it; a measure that a test registers goes with the test."""

import os
from importlib.util import find_spec

import pytest

os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiling takes ranx a minute; it is asked as plain Python

collect_ignore = []
if not find_spec("torch"):
    collect_ignore.append("src/cranfield/torch")
elif not find_spec("triton"):
    collect_ignore.append("src/cranfield/torch/kernels.py")
if not find_spec("sqlalchemy"):
    collect_ignore += ["src/cranfield/judging", "tests/judging"]


@pytest.fixture(autouse=True)
def _registry_as_it_was():
    from cranfield.measures import registry

    kept = [(table, dict(table)) for table in (registry._definitions, registry._aliases)]
    yield
    for table, before in kept:
        if table != before:
            table.clear()
            table.update(before)
