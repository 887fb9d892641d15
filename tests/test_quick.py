"""The quick `dataclass` makes the same classes as the standard one."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field

import pytest

from cranfield import quick


def of(dataclass):
    @dataclass(frozen=True, slots=True)
    class Slotted:
        """With slots."""

        name: str
        size: int = 3
        known: dict[str, int] = field(default_factory=dict, compare=False)
        made: str = field(init=False, compare=False, repr=False)

        def __post_init__(self):
            object.__setattr__(self, "made", self.name.upper())

    @dataclass(frozen=True, eq=False, repr=False)
    class Plain:
        """By identity, as it is printed."""

        name: str
        size: int = field(default=3)

        def __repr__(self):
            return f"<{self.name}>"

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Derived(Plain):
        """Of the standard library, from one of these."""

        more: int

    for kind in (Slotted, Plain, Derived):
        kind.__module__, kind.__qualname__ = __name__, kind.__name__
    return Slotted, Plain, Derived


def outcome(call):
    try:
        return repr(call())
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("place", range(3), ids=["slotted", "plain", "derived"])
def test_the_same_class_is_made(place, monkeypatch):
    found = []
    for dataclass in (quick.dataclass, dataclasses.dataclass):
        kind = of(dataclass)[place]
        monkeypatch.setitem(globals(), kind.__name__, kind)  # where pickle looks for it
        more = {"more": 1} if place == 2 else {}
        one, same, other = kind("a", **more), kind("a", 3, **more), kind("b", 4, **more)
        calls = [
            lambda kind=kind: inspect.signature(kind),
            lambda kind=kind: kind(),
            lambda kind=kind: kind("a", 1, unknown=2),
            lambda one=one: setattr(one, "size", 1),
            lambda one=one: delattr(one, "size"),
            lambda one=one, same=same, other=other: (one == same, one != other, one == "a", hash(one) == hash(same)),
            lambda one=one: dataclasses.replace(one, size=9).size,
            lambda one=one: dataclasses.asdict(one),
            lambda one=one: (vars(type(copy.copy(one))).get("__slots__"), copy.deepcopy(one).size),
            lambda one=one: [getattr(pickle.loads(pickle.dumps(one)), known.name) for known in dataclasses.fields(one)],
            lambda kind=kind: (kind.__match_args__, kind.__doc__, kind.__init__.__annotations__),
            lambda one=one: [one.name, one.size, *(known.name for known in dataclasses.fields(one))],
            lambda one=one: (one, hasattr(one, "__dict__")),
        ]
        found.append([outcome(call) for call in calls])
    assert found[0] == found[1]
