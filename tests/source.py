"""The source of the library as syntax trees, for tests of what it must not contain."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import cranfield

SOURCE = Path(cranfield.__file__).parent


def trees_with(pattern: str) -> Iterator[tuple[str, ast.Module]]:
    """The files that match the pattern, each with its tree, because parsing all files takes a second."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(pattern, text, re.MULTILINE):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def files_that_compare_with(names: Collection[str]) -> set[str]:
    """The files that compare something with one of these names, which they should look up in a registry."""
    return {path for path, _ in names_compared(names)}


def names_compared(names: Collection[str]) -> set[tuple[str, str]]:
    """The same with the names: (file, name). The end of a text is compared as well."""
    return {
        (path, each.value)
        for path, tree in trees_with(rf"""["']({"|".join(map(re.escape, names))})["']""")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".endswith"))
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and each.value in names
    }
