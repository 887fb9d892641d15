"""What `--format json` writes is what its schema says: real outputs of every command are validated."""

import json
import os
import re
import subprocess

import pytest

from cranfield import open_store
from cranfield.cli.commands import COMMANDS
from cranfield.cli.json_schemas import OUTPUTS, schema_of
from tests.cli.test_corrected import MODEL
from tests.cli.test_corrected import folder as corrected  # noqa: F401
from tests.program import run, shims

jsonschema = pytest.importorskip("jsonschema")
TWO = ("builtin", "builtin:plain", "builtin:tuned")
CALLS = {
    "sample": [("sample", "queries.txt"), ("sample", "queries.txt", "-n", "2", "--spread", "0.3")],
    "evaluate": [
        ("evaluate", *TWO, "-q", "--bounds", "--worst", "2"),
        (
            "evaluate",
            *TWO,
            "--segments",
            "segments.csv",
            "--weights",
            "weights.csv",
            "-m",
            "hit_rate@5",
            "-m",
            "NumRet",
        ),
        ("evaluate", "builtin:ten", "builtin:keywords", "builtin:meaning", "--modelled", "-m", "nDCG@10"),
    ],
    "evaluate (--theirs)": [
        ("evaluate", "builtin", "builtin:plain", "--theirs", "nDCG@10=0.4420"),
        ("evaluate", "builtin", "builtin:plain", "--theirs", "nDCG@10=0.99"),
    ],
    "evaluate (--like)": [("evaluate", "builtin", "builtin:plain", "builtin:tuned", "--like", "ranx")],
    "compare": [
        ("compare", *TWO, "--margin", "0.02", "-m", "nDCG@10", "-m", "AP"),
        ("compare", *TWO, "-b", "builtin:plain", "--no-bounds", "-m", "hit_rate@5"),
        ("compare", *TWO, "--segments", "segments.csv", "--weights", "weights.csv"),
        ("compare", "builtin", "builtin:plain", "builtin:plain", "builtin:tuned", "--test", "wilcoxon"),
    ],
    "diff": [
        ("diff", *TWO[1:], "--qrels", "builtin"),
        ("diff", *TWO[1:]),
        ("diff", "builtin:plain", "builtin:plain", "--depth", "20"),
    ],
    "diff (--exact)": [("diff", *TWO[1:], "--exact"), ("diff", *TWO[1:], "--exact", "--qrels", "builtin")],
    "frontier": [
        ("frontier", *TWO, "--cost", "--values", "costs.txt"),
        ("frontier", *TWO, "--values", "seconds.json"),
    ],
    "gate": [
        ("gate", *TWO, "--min", "nDCG@10=.9", "--max-drop", ".1", "--detect", "0.02", "--segments", "segments.csv"),
        ("gate", "builtin", "builtin:plain", "builtin:plain"),
        ("gate", *TWO, "--weights", "weights.csv", "--non-inferiority", "0.1"),
    ],
    "test": [("test",), ("accept",), ("test",), ("worsen",), ("test",)],
    "calls": [("calls", "tasks.qrels", "searches.csv")],
    "explain": [("explain", "builtin", "builtin:tuned", "q27", "-k", "3")],
    "check": [("check", *TWO), ("check", "broken.txt", "builtin:tuned")],
    "check (queries)": [("check", "builtin"), ("check", "queries.txt")],
    "stability": [("stability", *TWO), ("stability", *TWO, "--weights", "weights.csv")],
    "stability (--leave-out)": [("stability", *TWO, "--leave-out")],
    "agreement": [("agreement", "judgments.db")],
    "tune": [("tune", *TWO, "--try", "method=combsum")],
    "history": [("test",), ("accept",), ("history", "--note", "a note"), ("history",)],
    "history (--query)": [("test",), ("history", "--query", "q01")],
    "history (--check)": [("test",), ("accept",), ("history", "--check")],
}


@pytest.fixture
def folder(tmp_path):
    ids = [f"q{q:02}" for q in range(1, 61)]
    (tmp_path / "segments.csv").write_text(
        "\n".join(["query_id,segment", *(f"{q},{'ab'[int(q[1:]) % 2]}" for q in ids)])
    )
    (tmp_path / "weights.csv").write_text("\n".join(["query_id,weight", *(f"{q},{int(q[1:])}" for q in ids)]))
    (tmp_path / "costs.txt").write_text("plain 1\ntuned 2.5\n")
    seconds = {"plain": dict.fromkeys(ids, 0.02), "tuned": {q: 0.03 + int(q[1:]) / 1000 for q in ids}}
    (tmp_path / "seconds.json").write_text(json.dumps(seconds))
    (tmp_path / "broken.txt").write_text("q01 0 d1 one\nq01 0 d1\n")
    (tmp_path / "tasks.qrels").write_text("t 0 a 1\nt 0 b 1\n")
    (tmp_path / "searches.csv").write_text("task,step,doc_id,rank\nt,1,x,1\nt,2,a,1\n")
    (tmp_path / "queries.txt").write_text("red shoes\nblue hat\n")
    pytest.importorskip("sqlalchemy")
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.import_qrels("builtin", "small", kind="model")
        store.import_qrels("builtin", "ann")
        store.import_qrels("builtin", "bob")
        store.judge("q01", "rbo", 3, assessor="bob")
    assert run("init", "builtin", cwd=tmp_path).returncode == 0
    return tmp_path


@pytest.mark.parametrize("name", CALLS)
def test_real_outputs_are_valid(name, folder):
    validator = jsonschema.Draft202012Validator(schema_of(name))
    for command, *arguments in CALLS[name]:
        if command == "worsen":
            config = folder / "cranfield.toml"
            config.write_text(re.sub(r"^tuned = true.*", "", config.read_text(), flags=re.MULTILINE))
            continue
        silent = command == "accept" or "--note" in arguments
        form = () if silent else ("--format", "json")
        done = run(command, *arguments, *form, cwd=folder)
        assert done.returncode in (0, 1), (arguments, done.stderr)
        if silent or command != name.partition(" ")[0]:
            continue
        output = json.loads(done.stdout)
        assert [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(output)] == []
        # A key more, or one less, is noticed.
        one = output[0] if isinstance(output, list) else output
        first = next(iter(one))
        for changed in ({**one, "more": 1}, {key: value for key, value in one.items() if key != first}):
            assert list(validator.iter_errors([changed] if isinstance(output, list) else changed))


@pytest.mark.parametrize(("command", "runs"), [("evaluate", 1), ("compare", 2), ("gate", 2)])
def test_corrected_outputs_are_valid(command, runs, corrected):  # noqa: F811
    files = ["bm25.run", "dense.run"][:runs]
    done = run(command, "judgments.db", *files, "-m", "nDCG@5", *MODEL, "--format", "json", cwd=corrected)
    assert done.returncode in (0, 1), done.stderr
    output = json.loads(done.stdout)
    validator = jsonschema.Draft202012Validator(schema_of(command))
    assert [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(output)] == []
    assert output["basis"]["model"] == "gpt"


def test_every_command_that_writes_json_has_a_schema():
    writing = {name for name in COMMANDS if "json" in run(name, "--help").stdout.partition("--format FORMAT")[2][:200]}
    assert writing - {"trec_eval"} == {name.partition(" (")[0] for name in OUTPUTS if not name.startswith("mcp ")}
    assert set(CALLS) == {name for name in OUTPUTS if not name.startswith("mcp ")}


@pytest.mark.parametrize("name", OUTPUTS)
def test_schemas_are_sound_and_closed(name):
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    its = schema.get("items", schema)
    body = its if "properties" in its else schema["$defs"][its["$ref"].rpartition("/")[2]]
    assert body["additionalProperties"] is False
    used = set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema)))
    assert used == set(schema.get("$defs", {}))


def test_the_shell_sees_the_same(folder):
    """The output is one JSON document, whatever else is written."""
    done = subprocess.run(
        ["bash", "-c", f"{shims()}/cranfield test --format json --report r.html 2>/dev/null"],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["passed"] is True
