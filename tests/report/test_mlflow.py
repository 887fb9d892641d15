"""Results in MLflow, the real one, offline: metrics, table, tags and the report."""

import json

import pytest

from cranfield import compare, evaluate, gate
from cranfield.measures.flat_names import flat_name

pytest.importorskip("pandas")
mlflow = pytest.importorskip("mlflow", reason="needs mlflow-skinny")
MEASURES = "nDCG@10 P(rel=2)@5 RR"
QRELS, GOOD, BAD = "builtin", "builtin:tuned", "builtin:plain"


@pytest.fixture
def tracked(tmp_path, monkeypatch):
    """MLflow with a folder of its own; called with a run's id, it gives the run and its artifacts."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    mlflow.set_tracking_uri((tmp_path / "tracked").as_uri())

    def found(run):
        data = mlflow.get_run(run)
        folder = tmp_path / "artifacts"
        mlflow.artifacts.download_artifacts(run_id=run, dst_path=str(folder))
        return data.data, folder, data.info

    yield found
    while mlflow.active_run():
        mlflow.end_run()


@pytest.mark.filterwarnings("ignore")
def test_an_evaluation(tracked):
    result = evaluate(QRELS, GOOD, MEASURES)
    data, folder, info = tracked(result.to_mlflow())
    assert data.metrics == {
        "nDCG_at_10": result["nDCG@10"],
        "P_rel2_at_5": result["P(rel=2)@5"],
        "RR": result["RR"],
        "queries": len(result.query_ids),
    }
    assert data.metrics == result.to_dict(flat=True)
    assert data.tags["cranfield.signature"] == result.signature
    assert info.status == "FINISHED"
    table = json.loads((folder / "by_query.json").read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    by_query = {row["query_id"]: row["value"] for row in rows if row["measure"] == "nDCG@10"}
    assert by_query == pytest.approx(result.by_query("nDCG@10"), abs=1e-9)  # it keeps ten decimals
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.filterwarnings("ignore")
def test_a_comparison_and_a_gate_in_a_run_of_your_own(tracked):
    compared, gated = compare(QRELS, [BAD, GOOD], MEASURES), gate(QRELS, GOOD, BAD, "nDCG@10")
    with mlflow.start_run() as own:
        assert compared.to_mlflow(report=False) == own.info.run_id
        assert gated.to_mlflow() == own.info.run_id
        assert mlflow.active_run().info.run_id == own.info.run_id
    data, folder, _ = tracked(own.info.run_id)
    [difference] = compared.of("nDCG@10")
    assert data.metrics["tuned_vs_plain/nDCG_at_10/difference"] == difference.difference
    assert data.metrics["plain/P_rel2_at_5"] == compared.means["P(rel=2)@5"]["plain"]
    assert data.metrics["passed"] == gated.passed
    assert data.metrics["nDCG_at_10/drop"] == gated.measures[0].drop
    assert data.tags["cranfield.signature.tuned"] == compared.signatures["tuned"]
    assert data.tags["cranfield.signature.candidate"] == gated.signatures[1]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "passed" in page.lower() or "failed" in page.lower()


@pytest.mark.filterwarnings("ignore")
def test_a_run_of_ours_that_fails_is_ended_and_marked(tracked, monkeypatch):
    result = evaluate(QRELS, GOOD, "RR")

    def broken(*arguments):
        raise RuntimeError("no room")

    monkeypatch.setattr(mlflow, "log_table", broken)
    with pytest.raises(RuntimeError, match="no room"):
        result.to_mlflow()
    assert mlflow.active_run() is None
    [run] = mlflow.search_runs(output_format="list")
    assert run.info.status == "FAILED"


@pytest.mark.parametrize("name", ["nDCG@10", "P(rel=2)@5", "nDCG(dcg='exp-log2')@10", "AP(rel=1.5)", "a/b:c ü\n"])
def test_names_are_those_that_mlflow_takes(name):
    from mlflow.utils.validation import _validate_metric_name

    _validate_metric_name(flat_name(name))
