"""Every deliberate difference from another tool is as the table says."""

import math
from pathlib import Path

import pytest

import cranfield
from docs.site.differences import page
from tests import peers
from tests.differences import ASKED, DIFFERENCES, FUSION_DIFFERENCES, GDEVAL, IRM, reproduced

rows = pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: f"{row.peer}: {row.what}")


def our_value(row):
    run = row.run
    if isinstance(run, bytes):
        import io

        run = io.BytesIO(run)
    return cranfield.evaluate(row.qrels, run, row.measure)[row.measure]


@rows
def test_our_value_is_as_listed(row):
    if isinstance(row.ours, str):
        with pytest.raises(getattr(cranfield, row.ours)):
            our_value(row)
    else:
        assert our_value(row) == pytest.approx(row.ours, abs=5e-7)


@rows
def test_their_value_is_as_listed(row):
    if row.peer not in ASKED:
        pytest.skip(f"{row.peer} cannot be run here")
    if isinstance(row.theirs, str):
        with pytest.raises(Exception) as caught:
            ASKED[row.peer](row.asked, row.qrels, row.run)
        assert caught.type.__name__ == row.theirs
        return
    values = ASKED[row.peer](row.asked, row.qrels, row.run)
    mean = math.fsum(values.values()) / len(values)
    if row.peer == IRM and not isinstance(row.run, list):
        mean = peers.ir_measures_aggregate(row.asked, row.qrels, row.run)
    assert mean == pytest.approx(row.theirs, abs=5e-7, nan_ok=True)


def test_dialects_give_the_values_that_are_listed_for_their_tools():
    found = {row.what: (reproduced(row), row.theirs) for row in DIFFERENCES if reproduced(row) is not None}
    assert len(found) > 12
    for what, (value, theirs) in found.items():
        assert value == pytest.approx(theirs, abs=5e-7), what


@rows
def test_every_row_is_a_difference(row):
    assert row.why.endswith(".")
    assert row.theirs != row.ours


@pytest.mark.parametrize("row", FUSION_DIFFERENCES, ids=lambda row: row.what)
def test_fused_values_are_as_listed(row):
    assert cranfield.fuse(row.runs, row.method).rankings["q"] == pytest.approx(row.ours, abs=5e-7)
    assert row.theirs != row.ours
    library = pytest.importorskip("ranx")
    runs = [library.Run(run) for run in row.runs]
    if isinstance(row.theirs, dict):
        assert dict(library.fuse(runs, **row.asked).to_dict()["q"]) == pytest.approx(row.theirs, abs=5e-7)
    elif row.theirs.endswith("Error"):
        with pytest.raises(Exception) as caught:
            library.fuse(runs, **row.asked)
        assert caught.type.__name__ == row.theirs


def test_no_difference_is_listed_twice():
    names = [(row.peer, row.what) for row in DIFFERENCES]
    assert len(set(names)) == len(names)
    assert {row.peer for row in DIFFERENCES} == {*ASKED, "trec_eval 10", GDEVAL, "cwl-eval", "BEIR", "sample_eval"}


def test_the_page_is_current():
    written = Path(__file__).parents[1] / "docs" / "differences.md"
    assert written.read_text(encoding="utf-8") == page()
    lines, fusion = (part.splitlines() for part in page().split("## Fusion in ranx"))
    assert sum(line.startswith("|") for line in fusion) == len(FUSION_DIFFERENCES) + 2
    table = [line for line in lines if line.startswith("|") and line.count("|") > 3]
    tools = {row.peer for row in DIFFERENCES}
    assert len(table) == len(DIFFERENCES) + 2 * len(tools)
    assert {line.count("|") for line in table} == {6}
    assert sum(line.endswith("†") or "† |" in line for line in table) == sum(
        reproduced(row) is not None for row in DIFFERENCES
    )
