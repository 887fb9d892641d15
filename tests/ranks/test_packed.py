"""Tables of ranks are kept packed, and unpack to the same table."""

import gc
import weakref
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings

from cranfield import Judgments, Policy, evaluate
from cranfield.evaluation import evaluating
from cranfield.io.source import open_source
from cranfield.ranks.ranking import SMALL, PackedRanks, packed, rank_run
from tests import generated

COLUMNS = ("query", "rank", "grade", "tied", "row")


@pytest.mark.parametrize("policy", [Policy(), Policy(ties="best", depth=2), Policy(complete=True)])
@settings(max_examples=30, deadline=None)
@given(generated.collections())
def test_a_packed_table_unpacks_to_the_same_table(policy, collection):
    qrels, run = collection
    table = rank_run(Judgments.read(qrels), open_source(run, "run"), policy)
    again = PackedRanks(table).table()
    for name in COLUMNS:
        assert getattr(again, name).dtype == getattr(table, name).dtype
        np.testing.assert_array_equal(getattr(again, name), getattr(table, name))
    for name in {field.name for field in fields(table)} - {*COLUMNS}:
        assert getattr(again, name) is getattr(table, name)


def test_large_numbers_are_not_packed():
    large = np.array([1, SMALL + 1])
    assert packed(large) is large
    assert packed(large[:1]).dtype == np.int32


def test_tables_are_freed_after_measuring(tmp_path, monkeypatch):
    """The tables of many runs would dominate memory, so none may wait for the garbage collector."""
    run = tmp_path / "mine.run"
    run.write_text("1 Q0 a 1 2.0 mine\n1 Q0 b 2 1.0 mine\n")
    tables = []
    original = evaluating.rank_scanned

    def ranked(*given):
        table = original(*given)
        tables.append(weakref.ref(table))
        return table

    monkeypatch.setattr(evaluating, "rank_scanned", ranked)
    gc.disable()
    try:
        result = evaluate({"1": {"a": 1, "b": 2}}, run, "RR AP nDCG@10")
        assert [table() for table in tables] == [None]
    finally:
        gc.enable()
    assert result.ranks.grade.tolist() == [1, 2]
