"""Every promised function and method says what its parameters mean, as lines "name: meaning", and what it returns."""

import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_surface import members, public

TORCH = Path(__file__).with_name("surface-torch.txt")


def functions(module):
    """What can be called: (full name, function). A property takes nothing, so its summary says all."""
    importlib.import_module(module)
    for name, thing in public(module):
        if inspect.isfunction(thing):
            yield f"{module}.{name}", thing
        elif inspect.isclass(thing):
            for each, function, kind in members(thing):
                if kind != "property":
                    yield f"{module}.{name}.{each}", function


def parameters(function):
    """The parameters that a caller passes: neither `self` nor options that are passed on."""
    return [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.name not in ("self", "cls") and each.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def named_in_torch():
    """Those of cranfield.torch by name, and whether they take something; test_surface.py checks the list.

    Importing all that it builds on takes six seconds, which are left to the worker that tests it.
    """
    if find_spec("torch"):
        surface = TORCH.read_text(encoding="utf-8")
        for name, taken in re.findall(r"^(cranfield\.torch(?:\.\w+\.\w+|\.[a-z]\w*))\((.*)", surface, re.MULTILINE):
            yield name, not taken.startswith("self)")


OURS = dict(functions("cranfield"))
FUNCTIONS = [*OURS, *(name for name, _ in named_in_torch())]
TAKING = [
    *(name for name, function in OURS.items() if parameters(function)),
    *(name for name, takes in named_in_torch() if takes),
]


@pytest.fixture
def function(request):
    return OURS.get(request.param) or dict(functions("cranfield.torch"))[request.param]


@pytest.mark.parametrize("function", FUNCTIONS, indirect=True)
def test_every_parameter_is_described(function):
    described = {
        name.strip()
        for names in re.findall(r"^(\w+(?:, \w+)*): ", inspect.getdoc(function), flags=re.MULTILINE)
        for name in names.split(",")
    }
    assert [name for name in parameters(function) if name not in described] == []


@pytest.mark.parametrize("function", TAKING, indirect=True)
def test_what_is_returned_is_described(function):
    if inspect.signature(function).return_annotation not in ("None", None):
        assert re.search(r"^Returns ", inspect.getdoc(function), flags=re.MULTILINE)


@pytest.mark.parametrize("function", TAKING, indirect=True)
def test_parameters_stand_together_in_their_order_and_what_is_returned_follows(function):
    text = inspect.getdoc(function).partition(">>>")[0].rstrip()
    known = list(inspect.signature(function).parameters)
    described = [name for name in re.findall(r"^(\w+)(?:, \w+)*: ", text, flags=re.MULTILINE) if name in known]
    assert described == sorted(described, key=known.index)
    [parameters] = [
        part for part in text.split("\n\n") if re.search(rf"^{described[0]}\b[\w, ]*: ", part, re.MULTILINE)
    ]
    starts = [line for line in parameters.split("\n") if not line.startswith("    ")]
    count = len(described)
    assert all(re.match(r"\w+(, \w+)*: ", line) for line in starts[:count])
    assert [line.partition(" ")[0] for line in starts[count : count + 1]] == ["Returns"] * ("\nReturns " in text)
    assert text.count("\nReturns ") <= 1
