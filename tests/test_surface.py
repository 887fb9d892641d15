"""The public surface: what it is, that it changes only on purpose, and that every part of it is shown by an example.

`surface.txt` holds every public name with its signature; UPDATE=1 writes it again. What is not in it may change in any
version.
"""

import dataclasses
import importlib
import inspect
import os
import re
import subprocess
import sys
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import pytest

import cranfield
from tests.program import printed

MODULES = ["cranfield"] + (["cranfield.torch"] if find_spec("torch") else [])

RESULTS = (
    cranfield.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR"),
    cranfield.Judgments.read({"q": {"a": 1}}),
    cranfield.GroupedJudgments.read({"q": {"a": 1}}),
    cranfield.InputError("a file", "it is empty.", line=1),
)


def public(module):
    """Everything that a module promises: (name, object)."""
    space = sys.modules[module]
    return [(name, getattr(space, name)) for name in space.__all__ if not name.startswith("_")]


def members(kind):
    """The public methods and properties of a class: (name, function, how it is written)."""
    ours = [base for base in reversed(kind.__mro__) if base.__module__.startswith("cranfield")]
    for name, member in {name: member for base in ours for name, member in vars(base).items()}.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property | cached_property):
            yield name, member.fget if isinstance(member, property) else member.func, "property"
        elif isinstance(member, classmethod):
            yield name, member.__func__, "classmethod"
        elif inspect.isfunction(member):
            yield name, member, "method"


class Written(str):
    """An annotation, which a signature then shows as it is written."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def written(annotation):
    text = getattr(annotation, "__forward_arg__", annotation)
    return annotation if text is inspect.Parameter.empty else Written(text)


def signature(function):
    found = inspect.signature(function)
    arguments = [each.replace(annotation=written(each.annotation)) for each in found.parameters.values()]
    return found.replace(parameters=arguments, return_annotation=written(found.return_annotation))


def fields(kind):
    """The attributes of an instance and their types: declared by its class or set by itself."""
    if dataclasses.is_dataclass(kind):
        own = [each for each in dataclasses.fields(kind) if not each.name.startswith("_")]
        return [(each.name, each.type) for each in own]
    if hasattr(kind, "_fields"):
        return list(kind.__annotations__.items())
    instance = next((each for each in RESULTS if type(each) is kind), None)
    if instance is not None:
        listed = {name for name, *_ in members(kind)}  # a cached property may or may not have its value yet
        own = {name: value for name, value in vars(instance).items() if not name.startswith("_") and name not in listed}
        return [(name, type(value).__name__) for name, value in own.items()]
    # Attributes that `__init__` sets are promised as well; the source names them without making an instance.
    made = inspect.getsource(kind.__init__) if inspect.isfunction(kind.__init__) else ""
    return [
        (name, "set by __init__") for name in re.findall(r"^ +self\.([a-z]\w*)(?:: [^=\n]+)? = ", made, re.MULTILINE)
    ]


def lines(full, function, written_as=""):
    """A function with its arguments, one below the other where they are many."""
    found = signature(function)
    line = f"{written_as}{full}{found}"
    if len(line) <= 120:
        return [line]
    result = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    inside = str(found.replace(return_annotation=found.empty))[1:-1]
    # A comma ends an argument unless it is inside brackets.
    parts = re.split(r", (?![^\[(]*[\])])", inside)
    return [f"{written_as}{full}(", *(f"    {part}," for part in parts), f"){result}"]


def described(module):
    found = []
    for name, thing in public(module):
        full = f"{module}.{name}"
        if not inspect.isclass(thing):
            found += lines(full, thing)
            continue
        foreign = ("builtins", "sentence_transformers")  # the second only where it is installed
        named = [base for base in thing.__bases__ if not base.__module__.startswith(foreign)]
        bases = ", ".join(base.__name__ for base in named)
        found.append(f"class {full}" + (f" is {bases}" if bases else ""))
        if module != "cranfield":  # results are made by functions; these are made by users
            found += lines(full, thing)
        found += [f"{full}.{each}: {written(annotation)}" for each, annotation in fields(thing)]
        for each, function, kind in sorted(members(thing), key=lambda member: member[0]):
            if kind == "property":
                found.append(f"{full}.{each}: {signature(function).return_annotation}")
            else:
                found += lines(f"{full}.{each}", function, "classmethod " if kind == "classmethod" else "")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_the_surface_is_unchanged(module):
    __import__(module)
    path = Path(__file__).parent / f"surface{module.removeprefix('cranfield').replace('.', '-')}.txt"
    found = "\n".join(described(module)) + "\n"
    if os.environ.get("UPDATE"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("module", MODULES)
def test_all_is_sorted_and_complete(module):
    __import__(module)
    names = sys.modules[module].__all__
    assert sorted(set(names)) == names
    assert set(names) <= set(dir(sys.modules[module]))


@pytest.mark.parametrize("module", MODULES)
def test_writers_take_the_content_then_the_path(module):
    """The path is the last argument that must be given: save_chart(spec, path)."""
    __import__(module)
    last = {}
    for name, thing in public(module):
        writer = thing if name.startswith(("write_", "save_", "convert_")) else getattr(thing, "save", None)
        if inspect.isfunction(writer):
            parameters = inspect.signature(writer).parameters.values()
            needed = [
                each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD
            ]
            last[f"{name}: {writer.__name__}"] = needed[-1]
    assert last or module != "cranfield"
    assert {name: parameter for name, parameter in last.items() if parameter not in ("path", "target")} == {}


def test_the_imports_for_type_checkers_are_the_names_that_resolve():
    for name, home in cranfield._homes().items():
        assert getattr(cranfield, name) is getattr(importlib.import_module(home), name)
    everything = {}
    exec("from cranfield import *", everything)
    assert set(cranfield.__all__) <= set(everything)


def test_the_package_is_imported_without_reading_its_names():
    code = "import sys; sys.modules['ast'] = None; import cranfield; print(cranfield.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == cranfield.__version__


def typed(text):
    """The lines of an example that are typed."""
    return "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)$", text or "", flags=re.MULTILINE))


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_is_shown_by_an_example(module):
    """A function or class by its own; a method by its own, or in that of its class."""
    __import__(module)
    lacking = []
    for name, thing in public(module):
        example = typed(inspect.getdoc(thing))
        if not example:
            lacking.append(name)
        if inspect.isclass(thing):
            for each, function, _ in members(thing):
                assert function.__doc__, f"{name}.{each}"
                if not re.search(rf"\.{each}\b", example) and not typed(function.__doc__):
                    lacking.append(f"{name}.{each}")
    assert lacking == []


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("RelevanceEvaluator", r"by_query\('AP'\)"),
        ("Qrels", "pass dicts, frames and paths directly"),
        ("calc_aggregate", "evaluate"),
        ("nDCG", "'nDCG@10'"),
        ("evaluate_run", "did you mean cranfield.evaluate_runs"),
    ],
)
def test_names_of_other_tools_have_a_hint(name, hint):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'\nHint: .*{hint}"):
        getattr(cranfield, name)


def test_an_unknown_name_is_an_attribute_error_without_a_hint():
    with pytest.raises(AttributeError, match=r"no attribute 'zzz'$"):
        _ = cranfield.zzz


def test_importing_a_submodule_does_not_load_the_measures():
    code = "import sys; from cranfield import io; print('cranfield.measures' in sys.modules)"
    assert printed(code) == "False\n"
