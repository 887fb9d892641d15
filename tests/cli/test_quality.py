"""cranfield init, test and accept, as people run them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cranfield import gate
from cranfield.evaluation.saving import read, write
from tests import program
from tests.cli.conftest import CONFIG, ENGINE
from tests.program import ROOT
from tests.waiting import LIMIT, until

PROGRAM = [sys.executable, "-c", "from cranfield.cli.main import main; main()"]


def run(folder, *arguments, engine=""):
    return program.run(*arguments, cwd=folder, env={**os.environ, "ENGINE": engine})


def test_from_the_first_test_to_a_regression_and_back(project):
    first = run(project, "test")
    assert first.returncode == 0, first.stderr
    assert "mine: passed, 3 of 3 queries answered\n  nothing accepted yet: cranfield accept\n" in first.stdout
    assert "ok      P@1 is 1.000 and must be at least 0.3" in first.stdout
    accepted = run(project, "accept")
    assert accepted.stdout == "mine: accepted RR 1.0000\n"
    same = run(project, "test")
    assert same.returncode == 0
    assert "RR 1.000, unchanged: no regression" in same.stdout
    worse = run(project, "test", "--worst", "1", engine="worse")
    assert worse.returncode == 1
    assert "since accepted  -0.5000" in worse.stdout
    assert "FAILED  RR fell significantly, 1.000 → 0.500: more than the 0.1 allowed" in worse.stdout
    assert "FAILED  P@1 is 0.000 and must be at least 0.3" in worse.stdout
    assert "warning only 3 queries" in worse.stdout
    assert "1.000 → 0.500  1: one" in worse.stdout
    assert "the first relevant at rank 2, previously 1" in worse.stdout
    assert "expected     2. grade 1      a  Text of a." in worse.stdout
    assert "returned     1. not judged   b  Text of b." in worse.stdout
    assert max(map(len, worse.stdout.splitlines())) <= 80
    assert "this result failed beside the accepted one: RR fell significantly, 1.000" in run(project, "accept").stderr
    assert run(project, "accept", "--worse").stdout == "mine: accepted RR 0.5000, previously 1.0000\n"
    assert "RR 0.500, unchanged" in run(project, "test", engine="worse").stdout


def test_a_failed_query_fails_the_test_and_does_not_count_as_0(project):
    run(project, "test")
    run(project, "accept")
    half = run(project, "test", engine="half")
    assert half.returncode == 1
    assert "mine: FAILED, 2 of 3 queries answered; the values are over these queries only" in half.stdout
    assert "2: RuntimeError: no index" in half.stdout
    assert half.stdout.splitlines()[1].split()[:3] == ["mine", "1.0000", "1.0000"]
    refused = run(project, "accept")
    assert refused.returncode == 2
    assert "there is no complete result to accept" in refused.stderr
    down = run(project, "test", engine="down")
    assert down.returncode == 1
    assert "0 of 3 queries answered" in down.stdout
    assert down.stderr == ""


def test_unknown_ids_and_empty_rankings_fail_the_test(project):
    done = run(project, "test", engine="foreign")
    assert done.returncode == 1
    assert "2 documents are not in the corpus: x, y" in done.stdout
    assert "does the system use the same ids as the" in " ".join(done.stdout.split())
    empty = run(project, "test", engine="empty")
    assert empty.returncode == 1
    assert "3 queries returned no documents: 1, 2, 3" in empty.stdout
    assert "is judged" not in empty.stdout  # there was no document to be judged


def with_settings(folder, gate="", more=""):
    settings = (folder / "cranfield.toml").read_text()
    (folder / "cranfield.toml").write_text(settings.replace("[gate]", f"[gate]\n{gate}") + more)


def test_an_engine_that_returns_nothing_fails_even_the_first_time(project):
    (project / "cranfield.toml").write_text(CONFIG.replace('minimum = {"P@1" = 0.3}', ""))
    empty = run(project, "test", engine="empty")
    assert empty.returncode == 1
    assert "FAILED  no query returned a document" in empty.stdout
    run(project, "accept")
    assert "FAILED  no query returned a document" in run(project, "test", engine="empty").stdout


def test_single_queries_have_limits_and_expectations(project):
    expect = """
[[expect]]
query = 1
find = "b"
in_first = 1
[[expect]]
query = "2"
measure = "P@1"
at_least = 1
"""
    with_settings(project, "max_drop = 0.4\nexcept_queries = [3]\n", expect)
    first = run(project, "test")
    assert first.returncode == 1
    assert "FAILED  1 (one): b is at rank 2 and must be in the first 1" in first.stdout
    assert "ok      2 (two): P@1 is 1.000 and must be at least 1" in first.stdout
    run(project, "accept")
    worse = " ".join(run(project, "test", engine="worse").stdout.split())
    assert "FAILED 2 queries got worse by more than 0.4 in RR: 1 (one) 1.000 → 0.500, 2 (two)" in worse
    assert "judge these first: 1 (one): b" not in worse  # it was returned before
    assert "FAILED 2 (two): P@1 is 0.000 and must be at least 1" in worse


def test_a_query_without_judgments_may_have_to_find_something(project):
    (project / "engine_under_test.py").write_text(ENGINE.replace('"three"', '"not judged": ["b", "a"], "three"'))
    with_settings(project, more="[[expect]]\nquery = 4\nfind = ['a', 'b']\nin_first = 1\n")
    done = run(project, "test")
    assert done.returncode == 1
    assert "mine: FAILED, 4 of 4 queries answered" in done.stdout
    assert "FAILED  4 (not judged): a is at rank 2 and must be in the first 1" in done.stdout
    assert "ok      4 (not judged): b is at rank 1 and must be in the first 1" in done.stdout
    assert "has no judgments and was not asked" not in done.stdout
    assert done.stdout.splitlines()[1].split()[:2] == ["mine", "1.0000"]
    run(project, "accept")
    assert "RR 1.000, unchanged: no regression" in run(project, "test").stdout
    with_settings(project, more="[[expect]]\nquery = 4\nmeasure = 'RR'\nat_least = 1\n")
    assert "4 (not judged): RR is not known" in run(project, "test").stdout


def test_the_file_of_queries_says_what_they_must_find(project):
    (project / "queries.tsv").unlink()
    golden = "query_id,query,must_find,in_first\n1,one,b,1\n2,two,,\n3,three,b,\n4,not judged,a,1\n"
    (project / "queries.csv").write_text(golden)
    (project / "engine_under_test.py").write_text(ENGINE.replace('"three"', '"not judged": ["a"], "three"'))
    done = run(project, "test")
    assert done.returncode == 1
    assert "FAILED  1 (one): b is at rank 2 and must be in the first 1" in done.stdout
    assert "ok      3 (three): b is at rank 1 and must be in the first 10" in done.stdout
    assert "ok      4 (not judged): a is at rank 1 and must be in the first 1" in done.stdout
    files = (".cranfield/mine.run.tsv",) * 2
    gated = run(project, "gate", "qrels.txt", *files)
    assert gated.returncode == 1
    assert "FAILED  1 (one): b is at rank 2 and must be in the first 1" in gated.stdout
    (project / "queries.csv").write_text(golden.replace("b,1", "b,x"))
    for command in (["test"], ["gate", "qrels.txt", *files]):
        wrong = run(project, *command)
        assert (wrong.returncode, "queries.csv: query '1': in_first = 'x' is not a number" in wrong.stderr) == (2, True)


def test_a_query_that_becomes_empty_fails(project):
    run(project, "test")
    run(project, "accept")
    (project / "engine_under_test.py").write_text(ENGINE.replace('["c", "a"]', "[]"))
    dead = run(project, "test")
    assert dead.returncode == 1
    assert "FAILED  1 query that returned documents returns none now: 2 (two)" in dead.stdout


def test_some_queries_may_fail(project):
    run(project, "test")
    run(project, "accept")
    with_settings(project, "max_failed = 1\n")
    half = run(project, "test", engine="half")
    assert half.returncode == 0, half.stdout
    assert "mine: passed, 2 of 3 queries answered; the values are over these queries only" in half.stdout
    assert "ok      1 of 3 queries failed; at most 1 may: 2 (two)" in half.stdout
    assert "RR 1.000, unchanged: no regression" in half.stdout
    assert run(project, "accept").returncode == 2


DEAD = ENGINE.replace('["c", "a"]', "[]")  # for one of its queries
# limit: the setting, options and arguments that are always on, the engine, and whether it passes with the limit; it
# does the opposite without
LIMITS = {
    "max_drop": (0.4, {}, "worse", False),
    "may_become_empty": (True, {}, "dead", True),
    "except_queries": (["2"], {}, "dead", True),
    "max_p95": (1e-9, {}, "", False),
    "max_p95_ratio": (1e-9, {}, "", False),
    "max_failed": (1, {}, "half", True),
    "max_empty": (0, {"may_become_empty": True}, "dead", False),
    "expect": ([{"query": "1", "find": "b", "in_first": 1}], {}, "", False),
}


def as_options(settings):
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if name == "except_queries":
            yield from (text for query in value for text in ("--except-query", query))
        else:
            yield from [option] if value is True else [option, f"{value}"]


@pytest.mark.parametrize("limit", LIMITS)
def test_every_limit_decides_in_the_file_of_settings_as_an_option_and_in_python(project, limit):
    value, always, engine, passes = LIMITS[limit]
    (project / "cranfield.toml").write_text(CONFIG.replace('minimum = {"P@1" = 0.3}', "").replace("= 0.1", "= 1"))
    for command in ("test", "accept"):
        assert run(project, command).returncode == 0
    recorded = project / ".cranfield" / "mine.run.tsv"
    before = [project / "before.run.tsv", project / "before.run.tsv.json"]
    for source, target in zip((recorded, Path(f"{recorded}.json")), before, strict=True):
        target.write_bytes(source.read_bytes())
    if engine == "dead":
        (project / "engine_under_test.py").write_text(DEAD)
    plain = (project / "cranfield.toml").read_text()
    files = ("qrels.txt", "before.run.tsv", ".cranfield/mine.run.tsv")
    for settings, expected in (({**always, limit: value}, passes), (always, not passes)):
        expect = settings.get("expect", [])
        rest = {name: setting for name, setting in settings.items() if name != "expect"}
        lines = "".join(f"{name} = {json.dumps(setting)}\n" for name, setting in rest.items())
        tables = "".join(
            "[[expect]]\n" + "".join(f"{name} = {json.dumps(its)}\n" for name, its in each.items()) for each in expect
        )
        (project / "cranfield.toml").write_text(plain.replace("[gate]", f"[gate]\n{lines}") + tables)
        assert run(project, "test", engine=engine).returncode == (0 if expected else 1)
        (project / "gate.toml").write_text(lines + tables)
        common = ("gate", *files, "-m", "RR", "--tolerance", "1")
        by_file = run(project, *common, "--config", "gate.toml")
        assert by_file.returncode == (0 if expected else 1), by_file.stderr
        if not expect:  # which is no option
            assert run(project, *common, *as_options(rest)).returncode == (0 if expected else 1)
        paths = [project / name for name in files]
        assert gate(*paths, "RR", tolerance=1, **settings).passed == expected


def test_the_guide_has_an_example_of_every_limit():
    guide = (ROOT / "docs" / "guides" / "ci-gate.md").read_text(encoding="utf-8")
    for limit in {*LIMITS} - {"expect"}:
        option = "--except-query" if limit == "except_queries" else f"--{limit.replace('_', '-')}"
        assert f"\n| `{limit} = " in guide, limit
        assert f"`{option}" in guide, option
    assert "[[expect]]" in guide


def test_a_slower_engine_fails(project):
    with_settings(project, "max_p95_ratio = 1.5\nmax_p95 = 100\n")
    run(project, "test")
    assert run(project, "accept").returncode == 0
    values = project / "baseline" / "mine.json"
    content = read(values)
    assert content["asked"]["latency"]["p95"] > 0
    content["asked"]["latency"]["p95"] = 1e-9
    write(values, {name: value for name, value in content.items() if name != "checksum"})
    slower = run(project, "test")
    assert slower.returncode == 1
    assert "it may be at most 1.5 times what it was" in " ".join(slower.stdout.split())
    assert "and must be at most 100 s" in slower.stdout
    del content["asked"]  # as earlier versions accepted it
    write(values, {name: value for name, value in content.items() if name != "checksum"})
    assert "FAILED the latency of accepted is not known" in " ".join(run(project, "test").stdout.split())
    content["asked"] = {"latency": {"p95": "fast"}}
    write(values, {name: value for name, value in content.items() if name != "checksum"})
    damaged = run(project, "test")
    assert damaged.returncode == 2
    assert "how the system was asked is damaged" in damaged.stderr


def test_the_accepted_run_is_measured_again_when_judgments_change(project):
    run(project, "test")
    run(project, "accept")
    values, kept = sorted((project / "baseline").iterdir())
    assert values.name == "mine.json"
    assert kept.name == f"mine@{json.loads(values.read_text())['run_sha256'][:16]}.run.tsv.gz"
    (project / "qrels.txt").write_text("1 0 a 1\n2 0 c 2\n3 0 c 1\n")
    assert "the judgments have changed since the last test" in run(project, "accept").stderr
    done = run(project, "test")
    assert done.returncode == 0, done.stderr
    output = " ".join(done.stdout.split())
    assert "so the accepted run was measured again: RR 0.8333 (then 1.0000)" in output
    assert "RR 0.833, unchanged: no regression" in output
    (project / "qrels.txt").write_text("1 0 a 1\n2 0 c 2\n3 0 c 1\n4 0 a 1\n")
    (project / "engine_under_test.py").write_text(ENGINE.replace('"three"', '"not judged": ["b", "a"], "three"'))
    more = run(project, "test")
    output = " ".join(more.stdout.split())
    assert "1 query is new since then and not compared: 4" in output, more.stderr
    assert "RR 0.833, unchanged: no regression" in output  # over the three queries; with the new one it is 0.75
    assert more.stdout.splitlines()[1].split()[:2] == ["mine", "0.7500"]
    assert more.stdout.splitlines()[2].split()[:4] == ["3", "queries", "compared", "0.8333"]
    kept.unlink()
    lost = run(project, "test")
    assert lost.returncode == 2
    assert "the accepted run is missing" in lost.stderr


def test_queries_skipped_after_giving_up_do_not_count_as_0(project):
    settings = (project / "cranfield.toml").read_text()
    (project / "cranfield.toml").write_text("give_up = 1\n" + settings)
    done = run(project, "test", engine="half")
    assert done.returncode == 1
    assert "mine: FAILED, 1 of 3 queries answered; the values are over these queries only" in done.stdout
    assert "gave up: 1 query was not asked" in done.stdout
    assert done.stdout.splitlines()[1].split()[:3] == ["mine", "1.0000", "1.0000"]


def test_a_second_test_at_the_same_time_is_refused(project):
    (project / "engine_under_test.py").write_text(
        "import time\n"
        + ENGINE.replace("    found =", "    while not os.path.exists('go'):\n        time.sleep(0.01)\n    found =")
    )
    first = subprocess.Popen([*PROGRAM, "test"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until((project / ".cranfield" / "mine.run.tsv.partial").exists)
    second = run(project, "test")
    (project / "go").touch()
    assert second.returncode == 2
    assert "another process is testing here" in second.stderr
    output, errors = first.communicate(timeout=LIMIT)
    assert first.returncode == 0, errors
    assert "mine: passed, 3 of 3 queries answered" in output


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("jobs = true\n", "jobs must be a whole number"),
        ("kk = 3\n", "there is no setting 'kk'"),
        ("measures = ['nope']\ncollection = '.'\n[systems.a]\n", "nope"),
        ("= 3\n", "this is not TOML"),
        ("collection = 'nowhere'\n[systems.a]\ntype = 'sqlite'\n", "there is no such folder"),
        ("collection = '.'\n", "it describes no system"),
        ("[systems.a]\ntype = 'sqlite'\n", "it names no collection"),
        ("collection = '.'\n[systems.a]\ntype = 'sqlit'\n", "type = 'sqlit' is not a type of system"),
        ("collection = '.'\n[systems.a]\n[[expect]]\nquery = 1\n", "cranfield.toml: [[expect]] 1: it does not say"),
        (
            "collection = '.'\n[systems.a]\n[gate]\nmax_dropp = 1\n",
            "cranfield.toml: [gate]: there is no setting 'max_dropp'",
        ),
        ("collection = '.'\n[systems.'a/b']\ntype = 'sqlite'\n", "is not a valid file name"),
    ],
)
def test_settings_are_checked(project, settings, message):
    (project / "cranfield.toml").write_text(settings)
    done = run(project, "test")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("gate", "more", "message"),
    [
        (
            "",
            "[[expect]]\nquery = '5'\nfind = 'a'\n",
            "cranfield.toml: [[expect]] 1: query '5' is not one of the judged",
        ),
        ("except_queries = ['5']\n", "", "cranfield.toml: [gate] except_queries: query '5' is not one of the judged"),
        ("max_drop = -1\n", "", "cranfield.toml: [gate]: max_drop=-1 is not a limit"),
    ],
)
def test_limits_are_checked(project, gate, more, message):
    with_settings(project, gate, more)
    done = run(project, "test")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Hint: " in done.stderr


def test_queries_and_judgments_must_fit(project):
    (project / "queries.tsv").write_text("1\tone\n")
    assert "2 judged queries have no text: 2, 3." in run(project, "test").stderr
    (project / "qrels.txt").unlink()
    assert "there are no judgments yet" in run(project, "test").stderr
    assert "there is no system 'other' in it" in run(project, "test", "other").stderr


def test_init_finds_the_collection(project, tmp_path_factory):
    refused = run(project, "init")
    assert refused.returncode == 2
    assert "already exists and was not changed" in refused.stderr
    (project / "cranfield.toml").unlink()
    done = run(project, "init")
    assert "wrote cranfield.toml: this folder, 4 queries, 3 of them judged" in done.stdout
    (project / "corpus.jsonl").write_text('{"_id": "a", "text": "The one."}\n')
    tested = run(project, "test")
    assert tested.returncode == 0, tested.stderr
    assert "sqlite: measured" in tested.stdout
    elsewhere = tmp_path_factory.mktemp("empty")
    assert "builtin, 60 queries" in run(elsewhere, "init").stdout


def test_run_accepts_the_name_of_a_system_in_the_settings(project):
    done = run(project, "run", "mine", ".", "-o", "mine.run", "-k", "1")
    assert done.returncode == 0, done.stderr
    assert ".: 3 of 4 queries are judged; only these are asked." in done.stdout
    assert (
        project / "mine.run"
    ).read_text() == "1 Q0 a 1 2.0 mine_(k=1)\n2 Q0 c 1 2.0 mine_(k=1)\n3 Q0 b 1 2.0 mine_(k=1)\n"
    assert json.loads((project / "mine.run.json").read_text())["short"] == 0
    assert "this is not a system" in run(project / "..", "run", "mine", "builtin", "-o", "x.run").stderr
