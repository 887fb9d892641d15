"""The two runs of a diff, opened: files, anything else that is a run, and results that a history keeps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.errors import InputError
from cranfield.evaluation.naming import named_runs, numbered, own_name
from cranfield.mixing.reading import RankingFile, open_rankings
from cranfield.ranks.overlap import SHOWN
from cranfield.ranks.policy import Policy
from cranfield.ranks.rising import rises
from cranfield.ranks.run import Run, open_run

if TYPE_CHECKING:
    from cranfield.changes.kept import Kept


class OpenSide(NamedTuple):
    """One of the two runs. kept: the result of a history that it is, if it is one; rising: whether its scores rise"""

    name: str
    run: Run
    kept: Kept | None
    rising: bool


def opened_sides(one: Any, other: Any, history: Any, format: str | None, stack: ExitStack) -> tuple[OpenSide, OpenSide]:
    """Both runs opened; what is kept in a history is unpacked until the stack is closed."""
    given = (one, other)
    kept = [_kept(thing, history, stack) for thing in given]
    names = list(named_runs(given))
    if any(kept):
        first, second = (its.name if its else own_name(thing) for thing, its in zip(given, kept, strict=True))
        names = [first, numbered(second, [first])]
    sides = []
    for name, thing, its in zip(names, given, kept, strict=True):
        run = open_run(its.path if its else thing, format, name=name)
        sides.append(OpenSide(name, run, its, rises(run.source)))
    return sides[0], sides[1]


def _kept(thing: Any, history: Any, stack: ExitStack) -> Kept | None:
    """The result of a history that is named; None for anything else."""
    if history is None or not isinstance(thing, str) or os.path.exists(thing):
        return None
    from cranfield.changes.kept import kept_result

    return kept_result(thing, history, stack)


def opened_files(runs: Sequence[Run], policy: Policy, stack: ExitStack) -> list[RankingFile]:
    """Both runs by query; they must have a query in common."""
    files = open_rankings(runs, policy, stack)
    for file in files:
        if not file.sizes:
            raise InputError(file.name, "it contains no rankings.")
    if not files[0].sizes.keys() & files[1].sizes.keys():
        some = "; ".join(f"{file.name}: {', '.join(list(file.sizes)[:SHOWN])}" for file in files)
        raise InputError("diff", f"the runs have no query in common: {some}.", hint="are the ids written differently?")
    return files
