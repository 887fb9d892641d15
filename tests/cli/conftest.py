"""Folders that commands are run in: judgments with two runs, and a project with a system."""

import pytest

ENGINE = """
import os
RANKINGS = {"one": ["a", "b"], "two": ["c", "a"], "three": ["b", "c"]}
def search(query, k):
    if os.environ.get("ENGINE") == "down":
        raise RuntimeError("no index")
    if os.environ.get("ENGINE") == "half" and query == "two":
        raise RuntimeError("no index")
    if os.environ.get("ENGINE") == "foreign":
        return ["x", "y"]
    if os.environ.get("ENGINE") == "empty":
        return []
    found = RANKINGS[query]
    return found[::-1] if os.environ.get("ENGINE") == "worse" else found
"""

CONFIG = """
collection = "."
measures = ["RR", "P@1"]
[gate]
measures = ["RR"]
tolerance = 0.1
alpha = 0.4
minimum = {"P@1" = 0.3}
[systems.mine]
type = "python"
object = "engine_under_test:search"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "engine_under_test.py").write_text(ENGINE)
    (tmp_path / "cranfield.toml").write_text(CONFIG)
    (tmp_path / "queries.tsv").write_text("1\tone\n2\ttwo\n3\tthree\n4\tnot judged\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 c 2\n2 0 a 0\n3 0 b 1\n")
    (tmp_path / "corpus.jsonl").write_text("".join(f'{{"_id": "{d}", "text": "Text of {d}."}}\n' for d in "abc"))
    return tmp_path


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    (tmp_path / "good.run").write_text("1 Q0 a 1 2 t\n2 Q0 c 1 1 t\n")
    (tmp_path / "bad.run").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    return tmp_path
