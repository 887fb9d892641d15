"""Processes that share a corpus all get the ranks that one process gets of all of it."""

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.distributed.is_available():
    pytest.skip("PyTorch has no distributed package here", allow_module_level=True)

from cranfield import InputError  # noqa: E402
from cranfield.torch import FullCorpus  # noqa: E402
from tests.torch.sharing import KINDS, MEASURES  # noqa: E402
from tests.torch.test_corpus import embeddings  # noqa: E402


def test_processes_share_a_corpus(tmp_path):
    commands = [[sys.executable, "-m", "tests.torch.sharing", str(rank), str(tmp_path)] for rank in range(2)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    assert [(each.communicate(timeout=300)[1], each.returncode)[1] for each in running] == [0, 0]
    first, second = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    assert second == first  # to the last bit, on every process
    assert "is not a finite number" in first.pop("error")
    for name, found in first.items():
        queries, documents, judgments = embeddings(4, dtype=KINDS.get(name.split()[0], torch.float32))
        whole = FullCorpus(judgments, queries, documents, tile=8)
        assert found == [whole.ranks().rank.tolist(), whole.evaluate(MEASURES).to_dict(per_query=True)["per_query"]], (
            name
        )


def test_a_group_needs_processes():
    queries, documents, judgments = embeddings(4)
    with pytest.raises(InputError, match="no processes yet") as error:
        FullCorpus(judgments, queries, documents, group=object())
    assert "init_process_group" in error.value.hint
