"""The file of a corrected evaluation: its basis, and the evaluations by the model's and by people's grades."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from cranfield.comparison.corrected import CorrectedEvaluation, CorrectionBasis, corrected_evaluation
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.saving import content_of, evaluation_from, is_saved, read, write

CORRECTED_FORMAT = "cranfield corrected evaluation"


def save_corrected(found: CorrectedEvaluation, path: str | os.PathLike[str]) -> None:
    """Write the corrected evaluation of one run."""
    if len(found.runs) != 1:
        raise ComparisonError("a corrected evaluation of one run can be saved.", hint="evaluate the runs one by one")
    content = {
        "basis": asdict(found.basis),
        "alpha": found.alpha,
        "by_model": content_of(found._by_model[0]),
        "by_people": content_of(found._by_people[0]),
    }
    write(path, content, CORRECTED_FORMAT)


def is_saved_corrected(path: Any) -> bool:
    """Whether a path is that of a saved corrected evaluation."""
    return is_saved(path, CORRECTED_FORMAT)


def load_corrected(path: str | os.PathLike[str]) -> CorrectedEvaluation:
    """Read a saved corrected evaluation; an error where it is not one, or a broken one."""
    content = read(path, CORRECTED_FORMAT)
    by_model, by_people = (evaluation_from(content.get(name, {}), path) for name in ("by_model", "by_people"))
    try:
        basis = dict(content["basis"])
        return corrected_evaluation(
            [by_model],
            [by_people],
            by_model.measures,
            CorrectionBasis(**{**basis, "people": tuple(basis["people"])}),
            float(content["alpha"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(os.fspath(path), f"this version cannot read the saved evaluation: {error}") from None
