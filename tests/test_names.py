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
            yield node.name.lstrip("_")  # an underscore does not make it another name for a reader
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            bare = target.id.lstrip("_") if isinstance(target, ast.Name) else ""
            if bare[:1].isupper() and not bare.isupper():
                yield bare


def test_every_class_and_type_is_defined_once():
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in types_of(path):
            homes[name].append(str(path.relative_to(SOURCE)))
    assert len(homes) > 100
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_no_public_function_has_the_name_of_a_module():
    # What users type names the file that has it: a command, a chart. Nobody imports from those.
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
    # write_report(path, …), but save_chart(spec, path), as evaluation.save(path): what is saved comes first.
    places = {"write": set(), "save": set()}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            verb = node.name.split("_")[0] if isinstance(node, ast.FunctionDef) else ""
            names = (
                [each.arg for each in node.args.args if verb == "save" or each.arg != "self"] if verb in places else []
            )
            if "path" in names:
                places[verb].add(names.index("path"))
    assert places == {"write": {0}, "save": {1}}
