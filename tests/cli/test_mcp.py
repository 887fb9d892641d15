"""`cranfield mcp`, asked by the client of the protocol's own SDK, over standard input and output."""

import os
import sys
from pathlib import Path

import pytest

import cranfield
from cranfield.cli.json_schemas import schema_of
from cranfield.cli.mcp import TOOLS
from cranfield.systems.history.opening import open_history
from tests.systems.history.measuring import measured

pytest.importorskip("mcp.server.mcpserver", reason="needs mcp 2")
anyio = pytest.importorskip("anyio")
jsonschema = pytest.importorskip("jsonschema")
pytestmark = pytest.mark.filterwarnings("ignore")
QRELS, PLAIN, TUNED = "builtin", "builtin:plain", "builtin:tuned"


def asked(folder, questions):
    """Ask a server in a process of its own; `questions` gets a connected client."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def session():
        program = "from cranfield.cli.main import main; main()"
        paths = [str(Path(cranfield.__file__).parents[1]), *filter(None, sys.path)]
        server = StdioServerParameters(
            command=sys.executable, args=["-c", program, "mcp"], cwd=folder, env={"PYTHONPATH": ":".join(paths)}
        )
        with open(os.devnull, "w") as silent:
            async with Client(stdio_client(server, errlog=silent)) as client:
                return await questions(client)

    return anyio.run(session)


def test_the_tools_say_that_they_only_read_and_what_they_return(tmp_path):
    async def questions(client):
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asked(tmp_path, questions)}
    assert set(tools) == set(TOOLS)
    for name, tool in tools.items():
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.destructive_hint is False
        assert tool.output_schema == schema_of(TOOLS[name].output)
        assert tool.description
        assert all(its["description"] for its in tool.input_schema["properties"].values())
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def test_every_tool_gives_what_the_functions_give(tmp_path):
    calls = {
        "evaluate": {"qrels": QRELS, "runs": [PLAIN, TUNED], "measures": ["nDCG@10"], "per_query": True, "worst": 2},
        "compare": {"qrels": QRELS, "runs": [PLAIN, TUNED]},
        "explain": {"qrels": QRELS, "run": TUNED, "query": "q27", "k": 3},
        "worst_queries": {"qrels": QRELS, "run": TUNED, "n": 2},
        "check_files": {"qrels": QRELS, "runs": [TUNED]},
        "history": {"store": "history.db"},
    }
    with open_history(tmp_path / "history.db", create=True) as kept:
        kept.append([measured([1] * 40, 0), measured([1] * 30 + [4] * 10, 1)])
    before = (tmp_path / "history.db").read_bytes()
    assert set(calls) == set(TOOLS)

    async def questions(client):
        return {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}

    answers = asked(tmp_path, questions)
    for name, answer in answers.items():
        assert not answer.is_error, answer.content
        jsonschema.validate(answer.structured_content, schema_of(TOOLS[name].output))
    found = cranfield.evaluate_runs(QRELS, [PLAIN, TUNED], "nDCG@10")
    runs = answers["evaluate"].structured_content["runs"]
    assert {one["run"]: one["mean"]["nDCG@10"] for one in runs} == {name: one["nDCG@10"] for name, one in found.items()}
    assert runs[0]["per_query"].keys() == {*found["plain"].query_ids}
    [difference] = answers["compare"].structured_content["differences"]
    assert difference["sentence"] == cranfield.compare(QRELS, [PLAIN, TUNED], "nDCG@10").differences[0].sentence
    worst = answers["worst_queries"].structured_content["queries"]
    assert [query["query_id"] for query in worst] == [query.query_id for query in found["tuned"].worst("nDCG@10", 2)]
    assert worst[0]["text"]
    assert worst[0]["expected"][0]["title"]
    assert len(answers["explain"].structured_content["positions"]) == 3
    [line] = answers["history"].structured_content["lines"]
    assert [round(result["value"], 4) for result in line["results"]] == [1.0, 0.8125]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"history.db": before}  # nothing is written


def test_errors_name_the_place_and_give_the_hint(tmp_path):
    wrong = [
        ("evaluate", {"qrels": "none.txt", "runs": [TUNED]}, "none.txt"),
        ("evaluate", {"qrels": QRELS, "runs": ["-"]}, "give the path of a file"),
        ("evaluate", {"qrels": QRELS, "runs": [TUNED], "measures": ["nDGC@10"]}, "Hint:"),
        ("compare", {"qrels": QRELS, "runs": [TUNED]}, "compare needs at least two runs"),
        ("explain", {"qrels": QRELS, "run": TUNED, "query": "q999"}, "q999"),
    ]

    async def questions(client):
        answers = [await client.call_tool(name, arguments) for name, arguments, _ in wrong]
        again = await client.call_tool("explain", {"qrels": QRELS, "run": TUNED, "query": "q27"})
        return answers, again

    answers, again = asked(tmp_path, questions)
    for answer, (name, arguments, said) in zip(answers, wrong, strict=True):
        assert answer.is_error, (name, arguments)
        assert said in answer.content[0].text
        assert "Traceback" not in answer.content[0].text
    assert not again.is_error  # the server goes on
