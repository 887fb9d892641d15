"""The measures of a command: -m, parameters for all of them, and users' own measures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cranfield.cli.options import FILE, collected
from cranfield.errors import InputError

if TYPE_CHECKING:
    from cranfield.measures import Measure

IMPORTS = click.option(
    "--import",
    "imports",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="A Python file that registers measures of your own.",
)


class MeasureOptions(NamedTuple):
    """The measures given, and the parameters set for all of them."""

    names: Sequence[str] = ()
    rel: float | None = None
    judged_only: bool = False
    imports: Sequence[str] = ()

    @classmethod
    def of(cls, *, measures: Sequence[str], **others: Any) -> MeasureOptions:
        """From the values of the options."""
        return cls(measures, **others)

    @property
    def usual(self) -> bool:
        """Whether no option about measures was given."""
        return not self.names and self.rel is None and not self.judged_only

    def chosen(self, default: Sequence[str]) -> tuple[Measure, ...]:
        """The measures given, or the command's default ones, with the parameters set for all of them."""
        from cranfield.measures import parse_measures

        import_measures(self.imports)
        return tuple(map(self.with_all, parse_measures(list(self.names or default))))

    def with_all(self, measure: Measure) -> Measure:
        """A measure with the parameters set for all measures, where it has them and does not set them itself."""
        wanted = {"rel": self.rel, "judged_only": self.judged_only or None}
        own = dict(measure.parameters)
        return measure.replace(
            **{
                name: value
                for name, value in wanted.items()
                if value is not None and name in measure.definition.kinds and name not in own
            }
        )


# A command's function gets these as `measures: MeasureOptions`.
measure_options = collected(
    "measures",
    MeasureOptions.of,
    click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated."),
    click.option("--rel", type=float, metavar="N", help="The lowest grade that is relevant, for all measures [1]."),
    click.option("--judged-only", is_flag=True, help="Leave unjudged documents out of the rankings."),
    IMPORTS,
)


def import_measures(paths: Iterable[str]) -> None:
    """Run users' Python files, for the measures that they register."""
    for path in paths:
        _run_file(path)


def _run_file(path: str) -> None:
    import runpy
    from traceback import walk_tb

    if not os.path.isfile(path):
        raise InputError(path, "there is no such file.", hint="--import takes the path of a Python file")
    try:
        runpy.run_path(path)
    except SyntaxError as error:
        raise InputError(path, f"SyntaxError: {error.msg}.", line=error.lineno) from error
    except (Exception, SystemExit) as error:
        lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
        raise InputError(path, f"{type(error).__name__}: {error}.", line=lines[-1] if lines else None) from error
