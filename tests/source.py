"""The source of the library as trees, for tests of what it may not say."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import cranfield

SOURCE = Path(cranfield.__file__).parent


def trees_with(pattern: str) -> Iterator[tuple[str, ast.Module]]:
    """The files whose text has a match of the pattern, each with its tree: parsing all of them takes a second."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(pattern, text, re.MULTILINE):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def files_that_compare_with(names: Collection[str]) -> set[str]:
    """Which files compare something with one of the words: nobody should ask by name what a registry knows."""
    return {
        path
        for path, tree in trees_with(rf"""["']({"|".join(map(re.escape, names))})["']""")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and not {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}.isdisjoint(names)
    }
