"""Every promised function and method says what its parameters mean, as lines "name: meaning", and what it returns."""

import inspect
import re

import pytest

from tests.test_surface import MODULES, members, public

for module in MODULES:
    __import__(module)


def functions():
    """What can be called: (full name, function). A property takes nothing, so its summary says all."""
    for module in MODULES:
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


FUNCTIONS = [pytest.param(function, id=name) for name, function in functions()]
TAKING = [pytest.param(function, id=name) for name, function in functions() if parameters(function)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_parameter_is_described(function):
    described = {
        name.strip()
        for names in re.findall(r"^(\w+(?:, \w+)*): ", inspect.getdoc(function), flags=re.MULTILINE)
        for name in names.split(",")
    }
    assert [name for name in parameters(function) if name not in described] == []


@pytest.mark.parametrize("function", TAKING)
def test_what_is_returned_is_described(function):
    if inspect.signature(function).return_annotation not in ("None", None):
        assert re.search(r"^Returns ", inspect.getdoc(function), flags=re.MULTILINE)


@pytest.mark.parametrize("function", TAKING)
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
