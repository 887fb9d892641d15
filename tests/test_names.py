"""One meaning for each name: no class or type is defined twice, and no public function is called as a module."""

import ast
import inspect
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import cranfield

SOURCE = Path(cranfield.__file__).parent
PUBLIC = ["cranfield"] + (["cranfield.torch"] if find_spec("torch") else [])


def types_of(path: Path) -> Iterator[str]:
    """Every class in a file, and what its top level assigns to a name in CamelCase: aliases and type variables."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id[:1].isupper() | target.id.startswith("_"):
                bare = target.id.lstrip("_")
                if bare[:1].isupper() and not bare.isupper():
                    yield target.id


def test_every_class_and_type_is_defined_once():
    # An underscore does not make it another name for a reader.
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in types_of(path):
            homes[name.lstrip("_")].append(f"{path.relative_to(SOURCE)}: {name}")
    assert len(homes) > 100
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_public_function_has_the_name_of_a_module():
    # The files of the command line are called after their commands, and import nothing by that name.
    paths = [path for path in SOURCE.rglob("*.py") if path.parent.name != "cli"]
    modules = {path.parent.name if path.stem == "__init__" else path.stem for path in paths}
    functions = {
        name
        for module in PUBLIC
        for name in import_module(module).__all__
        if inspect.isfunction(getattr(import_module(module), name))
    }
    assert len(functions) > 30
    assert functions & modules == set()
