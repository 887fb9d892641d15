"""Judgments and a run without problems, and a check of them or of others."""

from pathlib import Path

import pytest

from cranfield import check_files

QRELS = b"1 0 a 1\n1 0 b 0\n2 0 c 2\n"


RUN = b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 c 1 1 t\n"


LINE = "a line is: query Q0 document rank score name"


@pytest.fixture
def check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def check(qrels=QRELS, run=RUN, name="run", **options):
        Path("qrels").write_bytes(qrels)
        Path(name).write_bytes(run)
        return check_files("qrels", [name], **options)

    return check
