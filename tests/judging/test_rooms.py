"""Each room of judging has a front that says what it offers."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from cranfield import judging

ROOMS = sorted(path.parent.name for path in Path(judging.__file__).parent.glob("*/__init__.py"))


def test_judging_says_which_rooms_it_has():
    assert sorted(re.findall(r"^(\w+)  ", judging.__doc__, re.MULTILINE)) == ROOMS
    assert ROOMS == ["agree", "decide", "models", "page", "pool", "store"]


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_says_what_it_offers(room):
    front = import_module(f"cranfield.judging.{room}")
    assert front.__all__
    assert [name for name in front.__all__ if not hasattr(front, name)] == []
    assert [name for name in front.__all__ if f"`{name}`" not in front.__doc__] == []
