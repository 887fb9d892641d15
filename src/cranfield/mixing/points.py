"""The settings of a live system that are tried: values of its parameters, and how it is opened with them.

A parameter is a path into the settings of the system, such as body.size, or else an argument: what a function takes by
name, and a request or SQL has a place for, such as {weights.title}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from cranfield.errors import InputError, given
from cranfield.mixing.candidates import MOST, POINTS, RANGE
from cranfield.systems.queries import REQUIRED, leaves

ARGUMENTS = "arguments"
FEWEST_AT_EDGE = 3  # values of a parameter whose smallest and largest are told to be at the edge
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is tuned of a system.

    path: its place among the settings, or below their `arguments`
    values: those that are tried
    usual: the value that the system is configured with, if that is known
    """

    path: tuple[str, ...]
    values: tuple[Any, ...]
    usual: Any = _UNKNOWN

    @property
    def name(self) -> str:
        return ".".join(self.path[1:] if self.path[0] == ARGUMENTS else self.path)


@dataclass(frozen=True, slots=True)
class Point:
    """A setting: the value of each parameter; of the untuned one, of those that are known.

    settings: those of the system, with these values
    """

    values: Mapping[str, Any]
    settings: Mapping[str, Any]
    name: str

    @property
    def key(self) -> str:
        """Its name in the file of answers."""
        return json.dumps(self.values, sort_keys=True, default=repr)

    @property
    def numbers(self) -> dict[str, float]:
        """Its parameters that are numbers; other values are part of the names."""
        return {
            (name if _is_number(value) else f"{name} = {value}"): float(value) if _is_number(value) else 0.0
            for name, value in self.values.items()
        }


def parameters_of(
    tried: Mapping[str, Any], settings: Mapping[str, Any], known: Mapping[str, Any], takes: Mapping[str, Any] | None
) -> list[Parameter]:
    """The parameters to tune.

    tried: values by name, in tables or with dots
    settings: those that the system is configured with; known: the names of all that its kind has
    takes: what arguments it takes, with their defaults
    """
    found = []
    for path, (_, values) in zip(paths_of(tried), leaves(tried), strict=True):
        if path[0] not in known:
            path = (ARGUMENTS, *path)
        usual = _value_at(settings, path)
        if usual is _UNKNOWN and path[0] == ARGUMENTS:
            usual = _default(path[1:], takes or {})
        name = ".".join(path)
        parameter = Parameter(path, _values(name, values), usual)
        found.append(parameter if usual is not REQUIRED else Parameter(path, parameter.values, parameter.values[0]))
    if not found:
        hint = f"such as {given('tried', ['boost=0.5,1,2'])}, or a table [systems.NAME.tune]"
        raise InputError("try", "there is no parameter to tune.", hint=hint)
    return found


def paths_of(tried: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The paths of parameters, given in tables or with dots.

    >>> paths_of({"weights": {"title": [1, 2]}, "body.size": [10, 20]})
    [('weights', 'title'), ('body', 'size')]
    """
    return [tuple(part for step in path for part in step.split(".")) for path, _ in leaves(tried)]


def _default(path: Sequence[str], takes: Mapping[str, Any]) -> Any:
    """The default of an argument, by its own name or in a table."""
    joined = "_".join(path)
    if joined in takes or path[0] not in takes:
        return takes.get(joined, _UNKNOWN)
    table = takes[path[0]]
    return REQUIRED if table is REQUIRED else _value_at(table, path[1:])


def _values(name: str, values: Any) -> tuple[Any, ...]:
    """The values of a parameter: a list of them, or a range such as 0.5..4."""
    if isinstance(values, str) and ".." in values:
        low, _, high = values.partition("..")
        try:
            values = [float(f"{value:.6g}") for value in np.linspace(float(low), float(high), RANGE).tolist()]
        except ValueError:
            raise InputError("try", f"{name}: '{values}' is not a range of numbers.", hint="such as 0.5..4") from None
    listed = tuple(values) if isinstance(values, list | tuple) else (values,)
    if not listed:
        raise InputError("try", f"{name} has no values to try.")
    unlike = {type(value) for value in listed} - {int, float}
    if len(unlike) > 1 or (unlike and len({type(value) for value in listed}) > 1):
        raise InputError("try", f"the values of {name} are of several kinds: {listed!r:.60}.")
    return tuple(value for at, value in enumerate(listed) if value not in listed[:at])


def points(parameters: Sequence[Parameter], settings: Mapping[str, Any]) -> list[Point]:
    """The settings to try: the untuned one, then those that differ least from it.

    These are all combinations, or if there are more than 512 and more than two parameters, 512 that are spread evenly.
    """
    usual = {parameter.name: parameter.usual for parameter in parameters if parameter.usual is not _UNKNOWN}
    found = [_point(usual, parameters, settings)]
    others = sorted(
        (dict(zip((its.name for its in parameters), chosen, strict=True)) for chosen in _chosen(parameters)),
        key=lambda values: sum(values[name] != value for name, value in usual.items()),
    )
    found += [_point(values, parameters, settings) for values in others if values != usual]
    return list({point.key: point for point in found}.values())


def _chosen(parameters: Sequence[Parameter]) -> Iterator[tuple[Any, ...]]:
    every = [parameter.values for parameter in parameters]
    size = prod(map(len, every))
    varying = sum(len(values) > 1 for values in every)
    if size <= POINTS or varying <= 2:
        if size > MOST:
            raise InputError("try", f"these are {size:,} settings.", hint=f"try {MOST:,} at most")
        yield from product(*every)
        return
    from scipy.stats import qmc  # takes a second to import

    for point in qmc.Sobol(len(every), scramble=False).random(POINTS):
        yield tuple(values[int(share * len(values))] for values, share in zip(every, point.tolist(), strict=True))


def _point(values: Mapping[str, Any], parameters: Sequence[Parameter], settings: Mapping[str, Any]) -> Point:
    told = ", ".join(f"{name} = {in_words(value)}" for name, value in values.items())
    for parameter in parameters:
        if parameter.name in values:
            settings = _changed(settings, parameter.path, values[parameter.name], parameter.name)
    return Point(values, settings, told or "as configured")


def in_words(value: Any) -> str:
    """A value as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


def _value_at(table: Any, path: Sequence[str]) -> Any:
    for step in path:
        try:
            table = table[int(step)] if isinstance(table, list) else table[step]
        except (LookupError, TypeError, ValueError):
            return _UNKNOWN
    return table


def _changed(table: Any, path: Sequence[str], value: Any, name: str) -> Any:
    """A table in which one value is another."""
    if not path:
        return value
    step, *rest = path
    if isinstance(table, list) and step.isdecimal() and int(step) < len(table):
        return [_changed(its, rest, value, name) if at == int(step) else its for at, its in enumerate(table)]
    if not isinstance(table, Mapping):
        what = f"{len(table)} values" if isinstance(table, list) else type(table).__name__
        raise InputError("try", f"{name}: there is no '{step}' in {what}.", hint="a parameter is a path into a table")
    return {**table, step: _changed(table.get(step, {}), rest, value, name)}


def at_edges(point: Point, parameters: Sequence[Parameter]) -> Iterator[tuple[str, float, str]]:
    """The parameters whose value is the smallest or the largest tried."""
    for parameter in parameters:
        numbers = [value for value in parameter.values if _is_number(value)]
        value = point.values.get(parameter.name)
        if len(numbers) < FEWEST_AT_EDGE or not _is_number(value):
            continue
        if value == max(numbers):
            yield parameter.name, value, "largest"
        elif value == min(numbers) and value != 0:  # below it, most parameters have no meaning
            yield parameter.name, value, "smallest"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
