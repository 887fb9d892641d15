"""Results for MLflow: values as metrics, values by query as a table, signatures as tags, the report as an artifact."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.gating import GateResult
from cranfield.errors import CranfieldError, need
from cranfield.evaluation.result import Evaluation
from cranfield.measures.flat_names import flat_name
from cranfield.report.writing import write_comparison, write_report
from cranfield.version import __version__

TABLE, REPORT = "by_query.json", "report.html"
_LONGEST = 4000  # characters of a tag, of which no version takes fewer


def log_to_mlflow(result: Evaluation | Comparison | GateResult, *, report: bool = True) -> str:
    """Log a result to the active run of MLflow, or to one of its own; returns the id of the run."""
    mlflow = need("mlflow", purpose="to_mlflow")
    need("pandas", purpose="the table by query in MLflow")
    evaluations, name, tags = _described(result)
    active = mlflow.active_run()
    run = active or mlflow.start_run(run_name=name)
    try:
        mlflow.log_metrics(result.to_dict(flat=True))
        mlflow.set_tags({key: value[:_LONGEST] for key, value in tags.items()})
        mlflow.log_table(_table(evaluations), TABLE)
        if report and evaluations[0].basis is None:  # a page shows values of queries, and only means are corrected
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / REPORT
                _write(result, evaluations, path)
                mlflow.log_artifact(str(path))
    except BaseException:
        if active is None:
            mlflow.end_run("FAILED")
        raise
    if active is None:
        mlflow.end_run()
    return str(run.info.run_id)


def _described(result: Any) -> tuple[Sequence[Evaluation], str, Mapping[str, str]]:
    """The evaluations of a result, its name, and its tags."""
    tags = {"cranfield.version": __version__}
    if isinstance(result, Evaluation):
        return (result,), result.run, {**tags, "cranfield.signature": result.signature}
    if isinstance(result, Comparison):
        signed = {f"cranfield.signature.{flat_name(run)}": text for run, text in result.signatures.items()}
        return result.evaluations, ", ".join(result.runs), {**tags, **signed}
    if result._evaluations is None:
        raise CranfieldError("this result was not made by gate, so the values of its queries are not known.")
    roles = zip(("baseline", "candidate"), result.signatures, strict=True)
    signed = {f"cranfield.signature.{role}": text for role, text in roles}
    verdict = {"cranfield.passed": str(result.passed).lower()}
    return result._evaluations, f"{result.candidate} against {result.baseline}", {**tags, **verdict, **signed}


def _table(evaluations: Sequence[Evaluation]) -> dict[str, list[Any]]:
    rows = [row for evaluation in evaluations for row in evaluation.per_query]
    return {
        "run": [row.run for row in rows],
        "query_id": [row.query_id for row in rows],
        "measure": [row.measure for row in rows],
        "value": [row.value for row in rows],
    }


def _write(result: Any, evaluations: Sequence[Evaluation], path: Path) -> None:
    if isinstance(result, Comparison):
        write_comparison(result, path)
        return
    more: dict[str, Any] = {}
    if isinstance(result, GateResult):
        reasons = [check.message for check in result.checks if check.passed == result.passed]
        more = {"baseline": result.baseline, "passed": result.passed, "reasons": reasons, "alpha": result.alpha}
        more["test"] = result.test
    write_report(None, {evaluation.run: evaluation for evaluation in evaluations}, path, **more)
