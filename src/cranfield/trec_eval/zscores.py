"""trec_eval's file of reference values of other systems: a mean and a deviation by query and measure."""

from __future__ import annotations

from cranfield.errors import InputError
from cranfield.read.streams import Stream

HINT = "a line is: query measure mean deviation"


def read_zscores(source: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and deviation by query and measure; a deviation may be nan, as trec_eval's own example has it."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    data = Stream(source).content()
    if not data:
        raise InputError(source, "it is empty.", hint=HINT)
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        try:
            fields = line.decode().split()
        except UnicodeDecodeError:
            raise InputError(source, "this is not UTF-8 text.", line=number) from None
        if len(fields) != 4:
            raise InputError(source, f"{len(fields)} columns where 4 are needed.", line=number, hint=HINT)
        query, name, *numbers = fields
        try:
            mean, deviation = map(float, numbers)
        except ValueError:
            raise InputError(source, f"'{' '.join(numbers)}' are not two numbers.", line=number, hint=HINT) from None
        if (query, name) in found:
            raise InputError(source, f"the query '{query}' has '{name}' twice.", line=number)
        found[query, name] = mean, deviation
    return found
