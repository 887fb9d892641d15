"""`cranfield fuse` and `cranfield tune` on the command line."""

import json
import re

import pytest

import cranfield
from cranfield.mixing.methods import METHODS
from cranfield.mixing.normalising import NORMALISATIONS
from tests.program import run

RUNS = ("builtin:plain", "builtin:tuned")


def flat(text):
    return " ".join(text.split())


def test_a_run_is_written_and_told(tmp_path):
    done = run("fuse", *RUNS, "-o", "fused.run", cwd=tmp_path)
    assert flat(done.stdout) == "Written: fused.run, 59 queries, 4,996 documents: rrf, k = 60, of plain and tuned"
    assert done.returncode == 0
    again = run("fuse", *RUNS, "-o", "fused.run", cwd=tmp_path)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert "--force" in again.stderr
    compared = run("compare", "builtin", "builtin:plain", "fused.run", cwd=tmp_path)
    assert "fused vs plain" in compared.stdout


def test_a_run_goes_to_standard_output(tmp_path):
    done = run("fuse", *RUNS, "--method", "combsum", "--run-weights", "0.3,0.7", "--no-metadata", "--depth", "5")
    lines = done.stdout.splitlines()
    assert len({line.split()[0] for line in lines}) == 59
    assert re.fullmatch(r"q01 Q0 \S+ 1 \S+ fused", lines[0])
    assert "combsum of min-max" in flat(done.stderr.lower())
    wanted = cranfield.fuse(RUNS, "combsum", weights=(0.3, 0.7), depth=5).rankings
    assert [line.split()[2] for line in lines] == [document for its in wanted.values() for document in its]


def test_help_names_every_method_and_normalisation():
    shown = flat(run("fuse", "--help").stdout)
    for entry in [*METHODS.values(), *NORMALISATIONS.values()]:
        assert f"{entry.name} " in shown
        assert entry.summary in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--k", "-1"), "rrf: k cannot be -1.0."),
        (("--method", "rff"), "did you mean rrf?"),
        (("--run-weights", "1;2"), "'1;2' are not weights, such as 0.3,0.7."),
        (("--run-weights", "1"), "1 for 2 runs."),
        (("--normalisation", "sum"), "leave out --normalisation"),
        (("--method", "combmax", "--run-weights", "1,2"), "its runs have no weights."),
        (("--duplicates", "never"), "--duplicates"),
    ],
)
def test_bad_options_of_fuse(arguments, message, tmp_path):
    done = run("fuse", *RUNS, *arguments, "-o", "fused.run", cwd=tmp_path)
    assert done.returncode == 2
    assert message in flat(done.stderr)
    assert not list(tmp_path.iterdir())


def test_tune_prints_the_verdict_first_and_what_not_to_report(tmp_path):
    done = run("tune", "builtin", *RUNS, "--try", "method=combsum", "--settings", "2", "--run", "f.run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    warnings, verdict, *_ = text.split("\n\n")
    assert "unjudged documents decide, not the settings" in flat(warnings)
    assert verdict.startswith("Too close to call  tuned mixture vs tuned: nDCG@10 ")
    assert "Final setting: combsum of min-max, plain × 0.15, tuned × 0.85\n" in text
    assert "On the 60 queries that chose it among 22 settings it has nDCG@10" in flat(text)
    assert "do not report that" in flat(text)
    assert "No better than rrf, k = 60 (plain reciprocal rank fusion), as far as 60 queries can tell" in flat(text)
    assert "No better than tuned (the best single run)" in flat(text)
    assert "Written: f.run, 59 queries" in text
    assert max(map(len, text.splitlines())) <= 80
    compared = run("compare", "builtin", "builtin:plain", "f.run", cwd=tmp_path)
    assert "the best of 22 settings on 60 of 60 queries compared here" in flat(compared.stdout)


def test_tune_as_json_is_the_result_of_python():
    done = run(
        "tune", "builtin", *RUNS, "--try", "method=rrf", "--try", "k=10,60", "--equal-weights", "--format", "json"
    )
    found = cranfield.tune("builtin", RUNS, tried={"method": ["rrf"], "k": [10, 60], "weights": False})
    assert json.loads(done.stdout) == json.loads(found.to_json())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--try", "k"), "'k' is not a parameter with its values"),
        (("--try", "kk=1,2"), "there is no parameter 'kk'."),
        (("-m", "AP", "-m", "RR"), "settings are tuned for one measure; give -m once."),
        (("--run", ""), "a file name is needed"),
        (("--curve", "curve.gif"), "unsupported image format '.gif'"),
        (("--try", "weights=0.1,0.2"), "unless all runs count alike: --equal-weights"),
    ],
)
def test_bad_options_of_tune(arguments, message):
    done = run("tune", "builtin", *RUNS, *arguments)
    assert done.returncode == 2
    assert message in flat(done.stderr)


def test_nothing_is_tuned_for_a_file_that_exists(tmp_path):
    (tmp_path / "mine.run").write_text("mine")
    done = run("tune", "no.qrels", *RUNS, "--run", "mine.run", cwd=tmp_path)
    assert "mine.run: this file already exists." in done.stderr
    assert "give QRELS, then two RUNs or more" in run("tune", *RUNS, cwd=tmp_path).stderr


def test_the_commands_that_judge_what_decides_work(tmp_path):
    done = run("tune", "builtin", *RUNS, "--try", "method=combsum", cwd=tmp_path)
    _, commands = done.stdout.split("To judge what decides, then tune again:\n")
    lines = commands.replace("\\\n", " ").splitlines()
    names = [line.split()[1] for line in lines]
    assert names == ["fuse", "fuse", "pool", "judge", "tune"]
    for line in lines:
        if " judge " not in line:
            done = run(*line.split()[1:], cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    assert "tuned mixture vs " in done.stdout
