"""Every promised function says what its parameters mean, as lines "name: meaning", and what it returns."""

import inspect
import re

import pytest

from tests.test_surface import MODULES, public

for module in MODULES:
    __import__(module)
FUNCTIONS = [
    pytest.param(thing, id=f"{module}.{name}")
    for module in MODULES
    for name, thing in public(module)
    if inspect.isfunction(thing)
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_parameter_is_described(function):
    described = {
        name.strip()
        for names in re.findall(r"^(\w+(?:, \w+)*): ", inspect.getdoc(function), flags=re.MULTILINE)
        for name in names.split(",")
    }
    wanted = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is not inspect.Parameter.VAR_KEYWORD  # options that are passed on
    ]
    assert [name for name in wanted if name not in described] == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_returned_is_described(function):
    if inspect.signature(function).return_annotation not in ("None", None):
        assert re.search(r"^Returns ", inspect.getdoc(function), flags=re.MULTILINE)
