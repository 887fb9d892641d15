"""Which model is corrected, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cranfield.cli.input_options import InheritingOptions
from cranfield.cli.options import option
from cranfield.io.streams import Stream


class CorrectedOptions(InheritingOptions):
    """Judgments; those of a model in a store may be corrected."""

    correct_with: tuple[str, ...] = option(
        "--correct-with",
        multiple=True,
        metavar="WHO",
        help="Correct the model named by --assessor, by 'people' or these assessors, on sampled queries.",
    )


def corrected_source(qrels: Any, correct_with: Sequence[str]) -> Any:
    """The judgments of a command: a view of a store, corrected if --correct-with was given."""
    if not correct_with:
        return qrels
    if not isinstance(qrels, Stream):
        raise click.UsageError("--correct-with cannot be used with --same-text.")
    view = qrels.view
    models = view.assessors or () if view else ()
    if view is None or len(models) != 1:
        raise click.UsageError("--correct-with corrects one model of a store; name it with --assessor.")
    if view.pooled or (view.kinds and view.kinds != ("model",)):
        raise click.UsageError("--correct-with cannot be used with --kind or --pooled.")
    from cranfield.judging.pool.corrected_judgments import PEOPLE, corrected_judgments

    people = PEOPLE if tuple(correct_with) == (PEOPLE,) else tuple(correct_with)
    store = qrels.address or qrels.name
    return corrected_judgments(store, model=models[0], people=people, merge=view.merge or "majority")


def refuse_beside(given: Mapping[str, Any]) -> None:
    """Refuse options that do not apply to corrected values: {option: whether it was given}."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"{name} cannot be used with --correct-with.")
