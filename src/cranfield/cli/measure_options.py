"""The measures of a command: -m, parameters for all of them, and users' own measures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import click

from cranfield.cli.options import OptionGroup, file, flag, option
from cranfield.errors import InputError

if TYPE_CHECKING:
    from cranfield.cli.input_options import ReadingOptions
    from cranfield.evaluation.collection_presets import CollectionPreset
    from cranfield.evaluation.result import Evaluation
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

    def one(self, default: Sequence[str], why: str) -> Measure:
        """The measure given, or the command's default one; why: what is said of several."""
        measure, *others = self.chosen(default)
        if others:
            raise click.UsageError(why)
        return measure

    def with_all(self, measure: Measure) -> Measure:
        """A measure with the parameters set for all measures, where it has them and does not set them itself."""
        wanted = {"rel": self.rel, "judged_only": self.judged_only or None}
        free = measure.definition.kinds.keys() - dict(measure.parameters).keys()
        return measure.replace(**{name: value for name, value in wanted.items() if value is not None and name in free})


class PresetOptions(MeasureOptions):
    preset: str | None = option(
        "--preset",
        metavar="NAME",
        help="The official measures and conventions of a collection: dl21, msmarco, beir and others; other options "
        "change parts of them.",
    )
    imports: Sequence[str] = IMPORTS  # also here, as the last one

    @property
    def known(self) -> CollectionPreset | None:
        if self.preset is None:
            return None
        from cranfield.evaluation.collection_presets import preset

        return preset(self.preset)

    def completed(self) -> Self:
        """With what the preset says and no option does."""
        if (known := self.known) is None:
            return self
        rel = known.rel if self.rel is None else self.rel
        return self.replaced(measures=self.measures or tuple(known.official.split()), rel=rel)

    def conventions(self, reading: ReadingOptions) -> ReadingOptions:
        """How judgments and runs are read, with what the preset says and no option does."""
        if (known := self.known) is None:
            return reading
        given = {name: value for name, value in known.settings.items() if getattr(reading, name, None) is None}
        return reading.replaced(**given)

    def say_preset(self, evaluations: Sequence[Evaluation], *, chosen: bool = False) -> None:
        """Name the preset of the judgments, if they look like a collection that is usually measured differently.

        chosen: whether the measures are right for many collections, even where none was given
        """
        from cranfield.cli import output
        from cranfield.evaluation.collection_presets import preset_hint
        from cranfield.show.layout import wrapped

        reading = evaluations[0]._evidence.reading
        if self.preset is not None or reading is None:
            return
        hint = preset_hint(reading.judgments, evaluations[0].measures, usual=not (self.measures or chosen))
        if hint:
            output.say("")
            output.write(wrapped(hint, width=output.width()))


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
