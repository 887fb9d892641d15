"""Which source files compare something with a word: nobody should ask by name what a registry knows."""

import ast
from collections.abc import Collection
from pathlib import Path

import cranfield

SOURCE = Path(cranfield.__file__).parent


def files_that_compare_with(names: Collection[str]) -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                if words & set(names):
                    found.add(path.relative_to(SOURCE).as_posix())
    return found
