"""The measures of a command: -m, parameters for all of them, and users' own measures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.cli.options import OptionGroup, file, flag, option
from cranfield.errors import InputError

if TYPE_CHECKING:
    from cranfield.measures import Measure


MEASURES = option(
    "-m", "--measure", multiple=True, metavar="MEASURE", help="A measure such as nDCG@10; may be repeated."
)
REL = option("--rel", type=float, metavar="N", help="The lowest grade that is relevant, for all measures [1].")
IMPORTS = file("--import", multiple=True, help="A Python file that registers measures of your own.")


class ImportOptions(OptionGroup, section="Measures"):
    imports: Sequence[str] = IMPORTS

    def import_measures(self) -> None:
        """Run the files, for the measures that they register."""
        for path in self.imports:
            _run_file(path)


class MeasureOptions(ImportOptions):
    measures: Sequence[str] = MEASURES
    rel: float | None = REL
    judged_only: bool = flag("--judged-only", help="Leave unjudged documents out of the rankings.")
    imports: Sequence[str] = IMPORTS  # also here, as the last one

    @property
    def usual(self) -> bool:
        return not self.measures and self.rel is None and not self.judged_only

    def chosen(self, default: Sequence[str]) -> tuple[Measure, ...]:
        """The measures given, or the command's default ones, with the parameters set for all of them."""
        from cranfield.measures import parse_measures

        self.import_measures()
        return tuple(map(self.with_all, parse_measures(list(self.measures or default))))

    def with_all(self, measure: Measure) -> Measure:
        """A measure with the parameters set for all measures, where it has them and does not set them itself."""
        wanted = {"rel": self.rel, "judged_only": self.judged_only or None}
        free = measure.definition.kinds.keys() - dict(measure.parameters).keys()
        return measure.replace(**{name: value for name, value in wanted.items() if value is not None and name in free})


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
