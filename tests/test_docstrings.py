"""Every promised function and method describes its parameters, as lines "name: meaning", and its result."""

import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_surface import members, public

TORCH = Path(__file__).with_name("surface-torch.txt")


def functions(module):
    """All callables: (full name, function). A property takes no arguments, so its summary is enough."""
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
    """The functions of cranfield.torch by name, and whether they take arguments; test_surface.py checks the list.

    Importing its dependencies takes six seconds, so only the worker that tests it does.
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
def test_the_result_is_described(function):
    if inspect.signature(function).return_annotation not in ("None", None):
        assert re.search(r"^Returns ", inspect.getdoc(function), flags=re.MULTILINE)


@pytest.mark.parametrize("function", TAKING, indirect=True)
def test_parameters_are_described_together_in_order_before_the_result(function):
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
