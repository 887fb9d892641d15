"""Which model is corrected, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click

from cranfield.cli.input_options import JudgmentOptions
from cranfield.cli.options import option
from cranfield.io.streams import Stream


class CorrectedOptions(JudgmentOptions):
    """Judgments; those of a model in a store may be corrected."""

    correct_with: tuple[str, ...] = option(
        "--correct-with",
        multiple=True,
        metavar="WHO",
        help="Correct the model named by --assessor, by 'people' or these assessors, on sampled queries.",
    )


class CorrectionOptions(NamedTuple):
    """A store, the model in it, the people who correct it, and how their grades are merged."""

    store: str
    model: str
    people: str | tuple[str, ...]
    merge: str

    @classmethod
    def of(cls, qrels: Any, correct_with: Sequence[str]) -> CorrectionOptions:
        """From the judgments of a command, which are a view of a store if --assessor was given."""
        view = qrels.view if isinstance(qrels, Stream) else None
        models = view.assessors or () if view else ()
        if view is None or len(models) != 1:
            raise click.UsageError("--correct-with corrects one model of a store; name it with --assessor.")
        if view.pooled or (view.kinds and view.kinds != ("model",)):
            raise click.UsageError("--correct-with cannot be used with --kind or --pooled.")
        [model] = models
        people = tuple(correct_with)
        return cls(
            qrels.address or qrels.name, model, people[0] if people == ("people",) else people, view.merge or "majority"
        )

    def arguments(self) -> dict[str, Any]:
        """The arguments of functions that correct, besides the store."""
        return {"model": self.model, "people": self.people, "merge": self.merge}


def refuse_beside(given: Mapping[str, Any]) -> None:
    """Refuse options that do not apply to corrected values: {option: whether it was given}."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"{name} cannot be used with --correct-with.")
