"""An order of judging is one file and one entry: command line, help, errors and documentation follow from it."""

import importlib
import runpy

import pytest
from click.testing import CliRunner

from cranfield import InputError, pool
from cranfield.judging.pool import orders as ordering
from cranfield.judging.pool.order import Order, in_fixed_order, query_by_query
from tests.program import ROOT

ALPHABET = Order(
    name="alphabet",
    meaning="by the names of documents",
    advice="nothing else helps",
    begin=query_by_query(in_fixed_order(lambda ranked: sorted(ranked.best_ranks))),
)
QUERIES, RUNS = {"q1": "cats"}, {"x": {"q1": ["d", "c", "b", "a"]}}


@pytest.fixture
def alphabet(monkeypatch):
    monkeypatch.setitem(ordering.ORDERS, "alphabet", ALPHABET)


def table():
    filled = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))["filled"]
    return filled("<!-- table: orders -->\n<!-- end -->")


def test_a_new_order_is_used_and_named(alphabet, store):
    pool(store, QUERIES, RUNS, 4, order="alphabet")
    assert [task.doc_id for task in store.next_several("ann", 10)] == ["a", "b", "c", "d"]
    found = pool(store, {"q2": "dogs"}, {"x": {"q2": ["d", "c", "b", "a"]}}, 4, order="alphabet", limit=2)
    assert (found.waiting, found.beyond_limit) == (2, 2)
    assert [task.doc_id for task in store.next_several("ann", 10) if task.query_id == "q2"] == ["a", "b"]
    with pytest.raises(InputError, match="there is no order of judging 'random'") as caught:
        pool(store, QUERIES, RUNS, order="random")
    assert caught.value.hint.endswith(", alphabet")


def test_a_new_order_appears_in_help_errors_and_documentation(alphabet, monkeypatch):
    commands = [importlib.import_module(f"cranfield.cli.{name}") for name in ("pool", "judge")]
    for command in commands:
        reloaded = importlib.reload(command).command
        shown = " ".join(CliRunner().invoke(reloaded, ["--help"]).output.split())
        assert "or alphabet" in shown
        refused = CliRunner().invoke(reloaded, ["judgments.db", "queries", "x.run", "--order", "unheard"])
        assert refused.exit_code == 2
        assert "'alphabet'" in refused.output
    shown = CliRunner().invoke(commands[0].command, ["--help"]).output
    assert "alphabet   by the names of documents" in shown
    assert "| `alphabet` | by the names of documents | no | nothing else helps |" in table()
    monkeypatch.undo()
    for command in commands:
        importlib.reload(command)


def test_the_page_is_current():
    assert table() in (ROOT / "docs" / "judging.md").read_text(encoding="utf-8")
