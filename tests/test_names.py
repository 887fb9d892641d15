"""One meaning for each name: no class or type is defined twice, and no public function has the name of a module."""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from tests.source import SOURCE, trees_with

WRITING, VARIABLE = ("write_", "save_", "convert_", "record"), inspect.Parameter.VAR_KEYWORD
PUBLIC = ["cranfield"] + (["cranfield.torch"] if find_spec("torch") else [])


def types_of(tree: ast.Module) -> Iterator[str]:
    """Every class in a file, and every alias and type variable in CamelCase at its top level."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name.lstrip("_")  # to a reader, an underscore makes no difference
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            bare = target.id.lstrip("_") if isinstance(target, ast.Name) else ""
            if bare[:1].isupper() and not bare.isupper():
                yield bare


def test_every_class_and_type_is_defined_once():
    homes = defaultdict(list)
    for path, tree in trees_with(r"^ *class |^_*[A-Z]\w*[a-z]\w* ="):
        for name in types_of(tree):
            homes[name].append(path)
    assert len(homes) > 100
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_public_function_has_the_name_of_a_module():
    # Files of commands and charts are named after what users type, and no user imports from them.
    paths = [path for path in SOURCE.rglob("*.py") if path.parent.name not in ("cli", "charts")]
    modules = {path.parent.name if path.stem == "__init__" else path.stem for path in paths}
    functions = {
        name
        for module in PUBLIC
        for name in import_module(module).__all__
        if inspect.isfunction(getattr(import_module(module), name))
    }
    assert len(functions) > 30
    assert functions & modules == set()


def test_writers_take_the_path_in_the_same_place():
    """First the content, then the path, then optional arguments: save_chart(spec, path), record(system, …, path)."""
    found = {}
    for module in map(import_module, PUBLIC):
        for name in module.__all__:
            thing = getattr(module, name)
            writers = [thing] if name.startswith(WRITING) else [getattr(thing, "save", None)]
            for function in filter(inspect.isfunction, writers):
                needed = [
                    each for each in inspect.signature(function).parameters.values() if each.default is each.empty
                ]
                found[f"{name}: {function.__name__}"] = [each.name for each in needed if each.kind is not VARIABLE][-1]
    assert len(found) >= 8
    assert {name: last for name, last in found.items() if last not in ("path", "target")} == {}
