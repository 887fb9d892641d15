"""The program, as people run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cranfield

PROGRAM = Path(sys.executable).with_name("cranfield")


def run(*arguments, **options):
    command = [PROGRAM] if PROGRAM.exists() else [sys.executable, "-c", "from cranfield.cli.main import main; main()"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, **options)


def test_version_says_which_scan():
    from cranfield.native import native

    name = "native" if native else "pure Python"
    assert run("--version").stdout == f"cranfield {cranfield.__version__} ({name} scan)\n"
    pure = run("--version", env={**os.environ, "CRANFIELD_SCAN": "pure"})
    assert "(pure Python scan)" in pure.stdout


SMALLER = (
    "import sys; from cranfield.ranks.scan import text; text.LARGE = int(sys.argv.pop(1));"
    "from cranfield.cli.main import main; main()"
)


@pytest.mark.parametrize(("scan", "large", "said"), [("pure", 10, 1), ("pure", 10_000, 0), ("", 10, 0)])
def test_a_large_file_without_the_compiled_scan_is_said_once(files, scan, large, said):
    from cranfield.native import native

    if not (scan or native):
        pytest.skip("the native scan is not built")
    command = [sys.executable, "-c", SMALLER, str(large), "evaluate", "qrels", "good.run", "bad.run", "-m", "RR"]
    env = {**os.environ, "CRANFIELD_SCAN": scan}
    done = subprocess.run(command, cwd=files, env=env, capture_output=True, text=True)
    assert done.stdout.startswith("run       RR")
    fact = "cranfield: warning: large files are read by pure Python, about 20 times slower than by the compiled scan."
    assert done.stderr.splitlines() == [fact, "Hint: unset CRANFIELD_SCAN"] * said


def test_evaluate(files):
    done = run("evaluate", "qrels", "good.run", "bad.run", "-m", "RR", "-m", "P@1", cwd=files)
    assert done.returncode == 0
    assert done.stdout.splitlines()[:3] == ["run       RR      P@1", "good  1.0000*  1.0000*", "bad   0.2500   0.0000"]
    assert "bad: 2 queries; 1 judged but not in the run (counts 0)" in done.stdout
    done = run("evaluate", "qrels", "-", "-q", "-m", "RR", "--worst", "1", cwd=files, input="1 Q0 b 1 1 t\n")
    assert "standard input, query by query\nquery      RR\n1      0.0000\n2      0.0000\n" in done.stdout
    assert "none of 1 relevant among 1 retrieved" in done.stdout
    skipping = run("evaluate", "qrels", "bad.run", "-m", "RR", "--missing", "skip", cwd=files)
    assert "0.5000" in skipping.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "none", "good.run"), "cranfield: none: cannot be read: no such file or directory."),
        (("evaluate", "qrels", "qrels"), "are the judgments and the run in the wrong order?"),
        (("evaluate", "qrels", "good.run", "-m", "nDGC@10"), "did you mean nDCG@10?"),
        (("evaluate", "qrels", "good.run", "--ties", "odd"), "--ties: 'odd' is not one of doc_id, "),
        (("evaluate", "qrels"), "cranfield evaluate: missing argument 'RUN...'."),
        (("evaluat",), "there is no command 'evaluat'.\nHint: did you mean evaluate?"),
        (("evaluate", "qrels", "good.run", "--depth", "x"), "--depth: 'x' is not a whole number."),
    ],
)
def test_errors_are_messages(files, arguments, message):
    done = run(*arguments, cwd=files)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


RUNS = ("qrels", "good.run", "bad.run")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("--versoin",), "--version"),
        (("evaluate", *RUNS, "--measur", "AP"), "--measure"),  # the nearest of several matches
        (("evaluate", *RUNS, "--format", "jsn"), "json"),
        (("evaluate", *RUNS, "--engine", "polar"), "polars"),
        (("evaluate", *RUNS, "--ties", "bst"), "best"),
        (("evaluate", *RUNS, "--kind", "persn"), "person"),
        (("evaluate", *RUNS, "--merge", "majorty"), "majority"),
        (("evaluate", *RUNS, "--run-format", "terc"), "trec"),
        (("evaluate", *RUNS, "-m", "P(reel=2)"), "rel"),
        (("evaluate", "qrles", "good.run"), "qrels"),
        (("evaluate", "qrels", "god.run"), "good.run"),
        (("evaluate", "bultin", "builtin:plain"), "builtin"),
        (("evaluate", "builtin", "builtin:plan"), "builtin:plain"),
        (("compare", *RUNS, "--test", "wilcoxn"), "wilcoxon"),
        (("compare", *RUNS, "--correction", "hom"), "holm"),
        (("gate", *RUNS, "--test", "randomization"), "randomisation"),
        (("gate", *RUNS, "--config", "gat.toml"), "gate.toml"),
        (("gate", *RUNS, "--config", "gate.toml"), "tolerance"),
        (("stability", *RUNS, "--design", "perquery"), "per-query"),
        (("report", *RUNS, "-b", "god", "-o", "page.html"), "good"),
        (("plot", "distributon", *RUNS, "-o", "chart.svg"), "distribution"),
        (("plot", "distribution", *RUNS, "--highlight", "god", "-o", "chart.svg"), "good"),
        (("explain", "builtin", "builtin:plain", "Q27"), "q27"),
        (("convert", "good.run", "x", "--to", "jsn"), "json"),
        (("convert", "good.run", "x", "--as", "rn"), "run"),
        (("completion", "bsh"), "bash"),
        (("run", "sqlit", "builtin", "-o", "x.run"), "sqlite"),
        (("run", "sqlite", "bultin", "-o", "x.run"), "builtin"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_typos_get_a_suggestion(files, arguments, meant):
    (files / "gate.toml").write_text("tolerence = 0.1\n")
    done = run(*arguments, cwd=files)
    assert done.returncode == 2
    assert f"did you mean {meant}?" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_argument_errors_name_the_command(files):
    missing = run("evaluate", *RUNS, "--save", cwd=files).stderr
    assert missing.startswith("cranfield evaluate: option '--save' requires an argument.\nHint: 'cranfield evaluate")
    assert "cranfield plot: KIND: 'pie' is not one of" in run("plot", "pie", cwd=files).stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a shell with head")
def test_demo():
    before = os.times()
    done = run("demo")
    after = os.times()
    assert after.children_user - before.children_user < 10
    assert done.returncode == 0, done.stderr
    assert "Is tuned better than plain?" in done.stdout
    assert "tuned's worst queries: expected vs returned" in done.stdout
    assert "no word with the query" in done.stdout
    # A share of the returned documents: queries that returned none do not count.
    share = cranfield.evaluate("builtin", "builtin:tuned", "nDCG@10").facts("nDCG@10").judged_share()
    assert f"{1 - share:.0%} of tuned's first ten documents have no judgment" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert run("demo").stdout == done.stdout


def test_a_shell_can_complete_commands():
    settings = {**os.environ, "_CRANFIELD_COMPLETE": "bash_complete", "COMP_WORDS": "cranfield ev", "COMP_CWORD": "1"}
    done = run(env=settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,evaluate\n", "")
