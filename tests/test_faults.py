"""The table of faults in SECURITY.md is the one that the tests declare, with the numbers that they try."""

import sys
from pathlib import Path

import pytest

from docs.site.tables import filled
from tests.faults import ROOT, faults, tried

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="some of the tests need Linux")
def test_the_table_is_current():
    assert "<!-- table: faults -->" in SECURITY
    assert filled(SECURITY) == SECURITY, "make pages"


@pytest.mark.skipif(sys.platform != "linux", reason="some of the tests need Linux")
def test_every_fault_is_worded_in_a_line():
    found = list(faults())
    assert len({(each.attack, each.promise) for each in found}) > 30
    for attack, promise, tries, file in found:
        assert not attack[0].isupper()
        assert promise[0].isupper()
        assert promise.endswith(".")
        assert not {"|", "\n"} & {*attack, *promise}
        assert tries >= 1
        assert Path(ROOT, file).exists()


def test_parameters_and_examples_are_counted():
    from hypothesis import given, settings
    from hypothesis import strategies as st

    mark = pytest.mark.fault("attack", "Promise.").mark

    @pytest.mark.parametrize("one", "abc")
    @pytest.mark.parametrize("two", [1, 2])
    @settings(max_examples=50)
    @given(st.none())
    def test_one(drawn, one, two):
        pass

    assert tried(test_one, mark, test_one.pytestmark) == 300


def test_a_number_that_the_test_does_not_take_is_refused():
    mark = pytest.mark.fault("attack", "Promise.", tries=5).mark
    assert tried(lambda tries: None, mark, []) == 5
    with pytest.raises(AssertionError, match="must take `tries`"):
        tried(lambda: None, mark, [])
    with pytest.raises(AssertionError, match="must take `tries`"):
        tried(lambda tries: None, pytest.mark.fault("attack", "Promise.").mark, [])
