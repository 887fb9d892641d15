"""Documentation and examples use promised names only: `cranfield.__all__` and `cranfield.torch.__all__`."""

import ast
import json
import re
from pathlib import Path

import pytest

import cranfield
from tests.pages import ROOT, blocks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.*"))
# From the source, because importing cranfield.torch takes seconds, and it may not be installed.
TORCH = re.search(r"__all__ = (\[.*?\])", (Path(cranfield.__file__).parent / "torch" / "__init__.py").read_text(), re.S)
PROMISED = {"cranfield": set(cranfield.__all__), "cranfield.torch": set(re.findall(r'"(\w+)"', TORCH[1]))}


def python_of(path: Path) -> str:
    """The Python that a page, a notebook or a script shows, without what it prints, and without IPython's own lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        return re.sub(r"^[%!].*$", "", "\n".join("".join(cell["source"]) for cell in cells), flags=re.MULTILINE)
    if path.suffix == ".py":
        return text
    shown = [block.text for block in blocks(text) if block.language == "python"]
    return "\n".join(typed(each) if ">>>" in each else each for each in shown)


def typed(block: str) -> str:
    return "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) ?(.*)$", block, flags=re.MULTILINE))


def unpromised(code: str) -> list[str]:
    """The names that code imports or takes from cranfield although they are not promised."""
    tree, found = ast.parse(code), []  # parsed, because some examples need servers, models or hours to run
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if ours(each.name) and each.name not in PROMISED]
        elif isinstance(node, ast.ImportFrom) and ours(node.module or ""):
            names = {each.name for each in node.names} - PROMISED.get(node.module, set()) - {"torch", "*"}
            found += [f"{node.module}.{name}" for name in sorted(names)]
        elif isinstance(node, ast.Attribute) and (home := ast.unparse(node.value)) in PROMISED:
            found += [f"{home}.{node.attr}"] if node.attr not in PROMISED[home] | {"torch"} else []
    return found


def ours(module: str) -> bool:
    return module.split(".")[0] == "cranfield"


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES], ids=lambda path: str(path.relative_to(ROOT)))
def test_only_promised_names_are_used(path):
    assert unpromised(python_of(path)) == []


@pytest.mark.parametrize(
    "code",
    [
        "from cranfield.measures.arithmetic import ratio",
        "import cranfield.engines.lazy_run",
        "cranfield.engines.lazy_run.collected()",
        "from cranfield import evaluate, nothing",
        "from cranfield.torch import (\n    FullCorpus,\n    Nothing,\n)",
    ],
)
def test_names_that_are_not_promised_are_found(code):
    assert len(unpromised(code)) == 1
