"""A chart is one file and one entry: command line, help, errors and documentation follow from it."""

import importlib
import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner

import cranfield
from cranfield import CranfieldError, Evaluation
from cranfield.evaluation.evaluating import Evaluations
from cranfield.show import charts
from cranfield.show.charts.chart import Chart
from cranfield.show.charts.parts import Spec

TABLES = Path(cranfield.__file__).parents[2] / "docs" / "site" / "tables.py"
COUNTED = Chart(
    name="counted",
    meaning="how many queries there are",
    draw=lambda results, measure: Spec(title=f"{measure}: {len(results[0].query_ids)}"),
)


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setitem(charts.CHARTS, "counted", COUNTED)


def test_a_new_chart_is_drawn(counted):
    assert cranfield.draw_chart("counted", {"1": {"a": 1}}, [{"1": ["a"]}], "RR") == {"title": "RR: 1"}


def test_a_new_chart_appears_in_help_errors_and_documentation(counted, monkeypatch):
    plot = importlib.import_module("cranfield.cli.plot")
    shown = CliRunner().invoke(importlib.reload(plot).command, ["--help"]).output
    assert "counted                how many queries there are" in shown
    with pytest.raises(CranfieldError) as caught:
        cranfield.draw_chart("pie")
    assert caught.value.hint.endswith(", counted")
    filled = runpy.run_path(str(TABLES))["filled"]
    assert "| `counted` | how many queries there are | `nDCG@10` |" in filled("<!-- table: charts -->\n<!-- end -->")
    monkeypatch.undo()
    assert "counted" not in CliRunner().invoke(importlib.reload(plot).command, ["--help"]).output


@pytest.mark.parametrize("chart", charts.CHARTS.values(), ids=lambda chart: chart.name)
def test_every_chart_has_a_file_of_its_own(chart):
    homes = [
        path.stem
        for path in Path(charts.__file__).parent.glob("*.py")
        if getattr(importlib.import_module(f"cranfield.show.charts.{path.stem}"), "CHART", None) is chart
    ]
    assert len(homes) == 1


def test_the_methods_of_evaluations_document_their_charts():
    made = [chart for chart in charts.CHARTS.values() if chart.of in ("evaluations", "curves")]
    for method, runs in ((Evaluation.plot, None), (Evaluations.plot, 2)):
        documented = re.search("kind: (.*?) measure: ", method.__doc__, re.S)[1]
        assert set(re.findall('"(.*?)"', documented)) == {chart.name for chart in made if chart.runs == runs}
