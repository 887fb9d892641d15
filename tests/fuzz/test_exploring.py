"""A few inputs of every kind; failures are detected and can be reproduced."""

import os
import random
import re

import pytest

from cranfield.native import native
from tests.fuzz.exploring import KINDS, one
from tests.program import run


@pytest.mark.fault(
    "the compiled scan, with random and damaged input",
    "It agrees with the scan in Python, or leaves the input to it.",
    tries=250,
)
@pytest.mark.skipif(native is None, reason="the native scan is not built")
@pytest.mark.parametrize("kind", KINDS)
def test_the_native_part_agrees_with_its_twin(kind, tries):
    many = tries if KINDS[kind].share >= 2 else 10  # of those that take long
    outcomes = [one(kind, 1, number) for number in range(many)]
    assert outcomes.count("compared") > many // 10


CODE = """
import os
from tests.fuzz.exploring import Kind, explore

def draw(chance):
    if chance.random() < 0.05:
        {act}
    return "compared"

raise SystemExit(not explore(2000, 7, 2, {{"made-up": Kind(draw, 1)}}, "command {{}}"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the inputs are tried in processes that fork")
@pytest.mark.parametrize("act", ["os.abort()", "assert False", "os._exit(1)", "return 'left to the twin'"])
def test_failures_are_detected_and_can_be_reproduced(act):
    done = run(CODE.format(act=act), program="script")
    if act.startswith("return"):
        assert done.returncode == 0
        assert re.search(r"made-up +1\d\d\d +\d+ +0", done.stdout)
    else:
        assert done.returncode == 1
        number = int(re.search(r"again: command --seed 7 --kind made-up --only (\d+)", done.stdout)[1])
        assert random.Random(f"7 made-up {number}").random() < 0.05


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the inputs are tried in processes that fork")
def test_comparing_hardly_anything_is_a_failure():
    code = CODE.format(act="pass").replace('"compared"', '"refused"')
    done = run(code, program="script")
    assert done.returncode == 1
    assert "hardly anything was compared: made-up" in done.stdout
