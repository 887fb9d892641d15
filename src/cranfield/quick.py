"""`dataclass` as in the standard library, made in a third of the time, for what every evaluation imports.

That one compiles each method of a class by itself, up to seven of them; together they took a twentieth of the start.
Here only `__init__` is compiled, and `__repr__` where it is wanted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool = False, eq: bool = True, repr: bool = True) -> Callable[[type], type]:
        """The same for a frozen class with a docstring, whose bases are no dataclasses and have no slots."""
        assert frozen, "others are made fast enough"

        def made(cls: type) -> type:
            cls = dataclasses.dataclass(init=False, eq=False, repr=repr, slots=slots)(cls)
            vars(cls)["__dataclass_params__"].frozen, vars(cls)["__dataclass_params__"].eq = True, eq
            for method in (
                _init(cls),
                *_refusing(cls),
                *(_comparing(cls) if eq else ()),
                *(_state(cls) if slots else ()),
            ):
                if method.__name__ not in vars(cls):
                    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
                    setattr(cls, method.__name__, method)
            return cls

        return made


Method = Callable[..., Any]


class _Factory:
    """Stands for the default of a field that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _init(cls: type) -> Method:
    known: dict[str, Any] = {"_set": object.__setattr__, "_factory": _FACTORY}
    arguments, lines = ["self"], []
    fields = [field for field in dataclasses.fields(cls) if field.init]
    for field in dataclasses.fields(cls):
        name = value = field.name
        if field.default is not dataclasses.MISSING:
            known[f"_{name}"] = field.default
            arguments += [f"{name}=_{name}"] * field.init
            value = name if field.init else f"_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_{name}"] = field.default_factory
            arguments += [f"{name}=_factory"] * field.init
            value = f"_{name}() if {name} is _factory else {name}" if field.init else f"_{name}()"
        elif field.init:
            arguments.append(name)
        else:
            continue  # set by __post_init__
        lines.append(f"    _set(self, {name!r}, {value})")
    lines += ["    self.__post_init__()"] * hasattr(cls, "__post_init__")
    exec(f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines), known)
    init: Method = known["__init__"]
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return init


def _refusing(cls: type) -> Iterator[Method]:
    names = {field.name for field in dataclasses.fields(cls)}

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    yield from (__setattr__, __delattr__)


def _comparing(cls: type) -> Iterator[Method]:
    values = attrgetter(*[field.name for field in dataclasses.fields(cls) if field.compare])

    def __eq__(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    yield from (__eq__, __hash__)


def _state(cls: type) -> Iterator[Method]:
    """How objects with slots are pickled and copied."""
    names = [field.name for field in dataclasses.fields(cls)]

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    yield from (__getstate__, __setstate__)
