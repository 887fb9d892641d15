"""Every claim is printed as it is listed, and held by a test; no sentence that could be a claim is missing."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("sqlalchemy")
from docs.site.claims import page
from tests.claims import CLAIMS, GROUPS, example

ROOT = Path(__file__).parents[1]
SOURCES = (
    "show",
    "report",
    "comparison",
    "judging/agree",
    "judging/decide",
    "evaluation",
    "mixing",
    "traffic",
    "changes",
)
CLAIMING = re.compile(
    r"interval|signific|confiden|detect|revers|\bhold|correct(ed|ion)|inferior|likely|of the time|narrow|rough"
    "|cannot be estimated|differs between|ties matter",
    re.IGNORECASE,
)
# Hints, representations, what is read aloud instead of a drawing, and parts of a sentence for other numbers.
OTHERS = {
    "corrected values have no bounds; others have them unless bounds are switched off",
    "corrected on",
    "The interval of the mean",
    "from the runs that are significantly better to those that are significantly worse",
    "Each run is compared with its own baseline; other pairs are corrected for all pairs of runs",
    "the significant difference",
    "interval alpha",
    "no interval: too few units",
    "line: 95% interval of the mean",
}


def test_every_sentence_is_printed():
    sentences = [sentence for claim in CLAIMS for sentence in claim.sentences]
    assert [sentence for sentence in sentences if example(sentence) is None] == []
    assert len(set(sentences)) == len(sentences)


def test_every_claim_has_tests_that_exist():
    for claim in CLAIMS:
        assert claim.tests
        for test in claim.tests:
            file, _, name = test.partition("::")
            assert f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_every_claim_says_what_it_promises():
    for claim in CLAIMS:
        assert claim.group in GROUPS
        assert claim.promise.endswith(".")
    assert {claim.group for claim in CLAIMS} == set(GROUPS)


def fragments(path: Path) -> Iterator[str]:
    """The parts of texts in a file that could be read as a claim; docstrings and messages of errors are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.Raise | ast.AnnAssign):
            silent |= {id(part) for part in ast.walk(node) if isinstance(node, ast.Raise) or part is node.value}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            part = " ".join(node.value.split()).strip(" .,;:()%")
            if " " in part and CLAIMING.search(part) and "\\" not in part:
                yield part


def test_no_claim_is_missing():
    """Only the source knows what is printed in cases that nobody thought of."""
    known = "\n".join(sentence for claim in CLAIMS for sentence in claim.sentences)
    files = sorted(file for room in SOURCES for file in (ROOT / "src" / "cranfield" / room).rglob("*.py"))
    missing = {part: file.name for file in files for part in fragments(file) if part not in known}
    assert {part: file for part, file in missing.items() if part not in OTHERS} == {}


def test_the_page_is_current():
    assert (ROOT / "docs" / "claims.md").read_text(encoding="utf-8") == page()
