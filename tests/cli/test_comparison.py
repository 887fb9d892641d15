"""The commands compare, stability and gate, as people run them."""

import json
import re

import pytest

from tests.program import run


@pytest.fixture
def files(tmp_path):
    queries = range(1, 13)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 r 1\n{q} 0 x 0\n{q} 0 y 0\n" for q in queries))
    for name, ranking in (("good", "rxy"), ("bad", "xry"), ("worst", "xyr")):
        lines = [f"{q} Q0 {d} {i} {-i} t\n" for q in queries for i, d in enumerate(ranking if q > 1 else "xry", 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_compare(files):
    done = run("compare", "qrels", "bad.run", "good.run", "worst.run", "-m", "RR", "-m", "P@1", "--pairs", cwd=files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("good leads on RR; both other runs are significantly worse\n")
    assert "▲  good - bad" in done.stdout
    assert "family of 3" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    options = ("-m", "RR", "-b", "bad.run", "--correction", "bh", "--alpha", "0.01", "--format")
    done = run("compare", "qrels", "good.run", "worst.run", *options, "json", "--test", "tukey", cwd=files)
    found = json.loads(done.stdout)
    assert (found["runs"], found["baseline"], found["alpha"]) == (["bad", "good", "worst"], "bad", 0.01)
    assert [each["run"] for each in found["differences"]] == ["good", "worst"]
    assert run("compare", "qrels", "good.run", "bad.run", *options, "markdown", cwd=files).stdout.startswith("**")
    assert r"\toprule" in run("compare", "qrels", "good.run", "bad.run", *options, "latex", cwd=files).stdout


@pytest.mark.parametrize(
    "command", [("compare", "--format", "json", "-o", "out"), ("report", "--no-charts", "-o", "out")]
)
def test_a_baseline_is_one_of_the_runs_by_file_or_name_or_a_further_file(files, command):
    name, *options = command

    def compared(*runs):
        done = run(name, "qrels", *runs, "-m", "RR", *options, cwd=files)
        return done.returncode, done.stderr, (files / "out").read_text() if done.returncode == 0 else ""

    expected = "good vs bad" if name == "report" else '"baseline": "bad"'
    for runs in (
        ["good.run", "bad.run", "-b", "bad"],
        ["good.run", "bad.run", "-b", "bad.run"],
        ["good.run", "-b", "bad.run"],
    ):
        code, error, text = compared(*runs)
        assert (code, expected in text) == (0, True), error
    for mistyped in ("god", "nosuch.run"):
        code, error, _ = compared("good.run", "bad.run", "-b", mistyped)
        assert code == 2
        assert f"no run is called '{mistyped}'" in error
    code, error, _ = compared("good.run", "-b", "good.run")
    assert code == 2
    assert "compare" in error


def test_a_report_compares_with_a_saved_baseline(files):
    run("evaluate", "qrels", "bad.run", "-m", "RR", "--save", "before.json", cwd=files)
    done = run(
        "report", "qrels", "good.run", "-b", "before.json", "-m", "RR", "--no-charts", "-o", "page.html", cwd=files
    )
    assert done.returncode == 0, done.stderr
    assert "good vs bad" in (files / "page.html").read_text()


def test_stability(files):
    done = run("stability", "qrels", "good.run", "bad.run", "-m", "RR", "--remove", "0.5", "--repeats", "3", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "36 judgments of 12 queries, 2 runs" in done.stdout
    assert " 50%" in done.stdout
    assert "(design per-query)" in done.stdout
    done = run(
        "stability", "qrels", "good.run", "--design", "uniform", "--remove", "0.5", "--format", "json", cwd=files
    )
    assert json.loads(done.stdout)["design"] == "uniform"
    assert json.loads(done.stdout)["rows"][0]["left"] == 18
    done = run("stability", "qrels", "good.run", "--format", "json", "--repeats", "2", cwd=files)
    assert [row["removed"] for row in json.loads(done.stdout)["rows"]][:5] == [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("bad.run", "good.run"), 0),
        (("good.run", "bad.run"), 1),
        (("good.run", "bad.run", "--tolerance", "0.6"), 0),
        (("good.run", "bad.run", "--alpha", "1e-12"), 0),
        (("good.run", "good.run", "--min", "RR=0.99"), 1),
        (("good.run", "good.run", "--min", "RR=0.9"), 0),
        (("good.run", "good.run", "--require-improvement"), 1),
        (("bad.run", "good.run", "--require-improvement"), 0),
        (("good.run", "bad.run", "--tolerance", "0.6", "--max-worse-queries", "3"), 1),
        (("good.run", "none.run"), 2),
        (("good.run",), 2),
        (("good.run", "bad.run", "--min", "RR"), 2),
        (("good.run", "bad.run", "--min", "RR=x"), 2),
        (("good.run", "bad.run", "--alpha", "2"), 2),
        (("good.run", "bad.run", "--test", "tukey"), 2),
    ],
)
def test_exit_codes_of_the_gate(files, arguments, code):
    done = run("gate", "qrels", *arguments, "-m", "RR", cwd=files)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith({0: "PASSED", 1: "FAILED", 2: ""}[code])
    assert bool(done.stderr) == (code == 2)


def test_a_saved_baseline_and_changed_judgments(files):
    done = run("evaluate", "qrels", "good.run", "-m", "RR", "--save", "base.json", cwd=files)
    assert done.returncode == 0, done.stderr
    assert run("gate", "qrels", "base.json", "good.run", "-m", "RR", cwd=files).returncode == 0
    assert run("gate", "qrels", "base.json", "bad.run", "-m", "RR", cwd=files).returncode == 1
    assert run("compare", "qrels", "base.json", "bad.run", "-m", "RR", cwd=files).returncode == 0
    other = run("gate", "qrels", "base.json", "good.run", "-m", "RR", "--ties", "worst", cwd=files)
    assert (other.returncode, "different policies" in other.stderr) == (2, True)
    (files / "qrels").write_text((files / "qrels").read_text() + "13 0 r 1\n")
    changed = run("gate", "qrels", "base.json", "good.run", "-m", "RR", cwd=files)
    assert (changed.returncode, "different judgments" in changed.stderr) == (2, True)
    assert run("evaluate", "qrels", "good.run", "bad.run", "--save", "x.json", cwd=files).returncode == 2


def test_the_formats_of_the_gate(files):
    for name, start in (
        ("junit", "<?xml"),
        ("markdown", "<!-- cranfield: gate -->\n\n### ▼ Search got worse: RR "),
        ("github", "::error title="),
        ("json", "{"),
    ):
        done = run("gate", "qrels", "good.run", "bad.run", "-m", "RR", "--format", name, cwd=files)
        assert done.returncode == 1
        assert done.stdout.startswith(start)
    assert json.loads(done.stdout)["passed"] is False


def test_a_file_of_settings(files):
    done = run("init", "--ci", "github", cwd=files)
    assert done.returncode == 0, done.stderr
    config = files / "cranfield-gate.toml"
    (files / "qrels.txt").write_bytes((files / "qrels").read_bytes())
    (files / "candidate.run").write_bytes((files / "bad.run").read_bytes())
    (files / "baseline.run").write_bytes((files / "good.run").read_bytes())
    # Paths in it are relative to it, wherever the command is run.
    assert run("gate", "--config", str(config), cwd=files.parent).returncode == 1
    assert run("gate", "--config", str(config), "--tolerance", "0.9", cwd=files).returncode == 0
    for wrong in ("tolerence = 1\n", 'alpha = "x"\n', "max_worse_queries = true\n", "not toml\n"):
        (files / "wrong.toml").write_text(wrong)
        done = run("gate", "--config", "wrong.toml", cwd=files)
        assert (done.returncode, "wrong.toml" in done.stderr) == (2, True), done.stderr
    assert run("gate", "--config", "none.toml", cwd=files).returncode == 2
    gone = run("gate", "--init", cwd=files)
    assert (gone.returncode, "'cranfield init --ci github' writes a job" in gone.stderr) == (2, True)


def test_help_names_the_commands():
    done = run("--help")
    for name in ("compare", "stability", "gate"):
        assert f"  {name} " in done.stdout


def test_a_gate_says_which_file_is_missing_and_how_to_make_it(files):
    assert run("init", "--ci", "gitlab", cwd=files).returncode == 0
    call = ("gate", "--config", "cranfield-gate.toml")
    (files / "qrels").rename(files / "qrels.txt")
    done = run(*call, cwd=files)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "cranfield: baseline.run: there is no such file; cranfield-gate.toml names it as baseline.\n"
        "Hint: copy the run of the version in use to it, and commit it: cp YOUR.run baseline.run\n"
    )
    (files / "good.run").rename(files / "baseline.run")
    assert "'cranfield run' asks a system" in run(*call, cwd=files).stderr
    (files / "bad.run").rename(files / "candidate.run")
    assert run(*call, cwd=files).returncode == 1
    (files / "cranfield-gate.toml").write_text(
        'qrels = "builtin"\nbaseline = "builtin:plain"\ncandidate = "builtin:tuned"\n'
    )
    assert run(*call, cwd=files).returncode == 0


def test_unseen_documents_widen_the_bounds(files):
    command = ("compare", "qrels", "bad.run", "good.run", "-m", "nDCG@10")
    plain, wider = (
        json.loads(run(*command, *more, "--format", "json", cwd=files).stdout)["differences"][0]["reach"]
        for more in ((), ("--unseen", "3"))
    )
    assert (plain["unseen"], wider["unseen"]) == (0, 3)
    assert 0 < wider["low"] < plain["low"] == plain["high"] == wider["high"]
    refused = run(*command, "--unseen", "3", "--no-bounds", cwd=files)
    assert refused.returncode == 2
    assert "--unseen: 3 belongs to the bounds of unjudged documents" in refused.stderr
    assert run(*command, "--unseen", "-1", cwd=files).returncode == 2
    page = run("report", "qrels", "bad.run", "good.run", "--unseen", "3", "--no-charts", "-o", "-", cwd=files).stdout
    assert "returned, and 3 for each query that they did not, can&#39;t reverse this" in page


def test_one_run_is_not_compared(files):
    done = run("compare", "qrels", "good.run", cwd=files)
    assert done.returncode == 2
    assert done.stderr == (
        "cranfield: compare needs at least two runs, and there is only good.run.\n"
        "Hint: add another run; or measure this one: cranfield evaluate qrels good.run\n"
    )


def test_json_gives_canonical_names_for_names_of_other_tools(files):
    call = ("compare", "qrels", "good.run", "bad.run", "--format", "json")
    assert json.loads(run(*call, "-m", "hit_rate@5", cwd=files).stdout)["canonical_names"] == {
        "hit_rate@5": "Success@5"
    }
    assert "canonical_names" not in json.loads(run(*call, "-m", "RR", cwd=files).stdout)


def test_compare_by_segment(files):
    (files / "segments.tsv").write_text("".join(f"{q}\t{'few' if q > 22 else 'many'}\n" for q in range(1, 25)))
    (files / "qrels").write_text("".join(f"{q} 0 r 1\n" for q in range(1, 25)))
    for name, ranking in (("good", "rxy"), ("bad", "xry"), ("worst", "xyr")):
        lines = [f"{q} Q0 {d} {i} {-i} t\n" for q in range(1, 25) for i, d in enumerate(ranking if q > 1 else "xry", 1)]
        (files / f"{name}.run").write_text("".join(lines))
    command = ("compare", "qrels", "bad.run", "good.run", "-m", "RR", "--by", "segments.tsv")
    done = run(*command, cwd=files)
    assert done.returncode == 0, done.stderr
    text = done.stdout.split("By segment: good vs bad, RR\n")[1]
    assert re.search(r"few +2 .* +- +-\n", text)
    assert re.search(r"▲ many +22 +0.500 +0.977 +\+0.477 ", text)
    assert "Fewer than two segments have enough queries to tell whether the effect differs." in text
    assert max(map(len, done.stdout.splitlines())) <= 80
    found = json.loads(run(*command, "--format", "json", cwd=files).stdout)
    assert found["segments"]["queries"] == {"few": 2, "many": 22}
    assert found["segments"]["differences"][0]["low"] is None
    assert "| RR | good - bad |" in run(*command, "--format", "markdown", cwd=files).stdout
    refused = run(*command, "--format", "latex", cwd=files)
    assert (refused.returncode, "--segments cannot be used with --format latex" in refused.stderr) == (2, True)
    several = run("compare", "qrels", *(f"{name}.run" for name in ("bad", "good", "worst")), *command[4:], cwd=files)
    assert several.stdout.count("By segment: ") == 3


def test_a_gate_leaves_out_documents_that_are_gone(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a{q} 1\n{q} 0 b{q} 1\n" for q in range(20)))
    both = "".join(f"{q} Q0 a{q} 1 2 t\n{q} Q0 b{q} 2 1 t\n" for q in range(20))
    (tmp_path / "old.run").write_text(both)
    (tmp_path / "new.run").write_text(
        "".join(line + "\n" for line in both.splitlines() if " a" not in line or " a1" in line)
    )
    left = [f"a1{n}" for n in range(10)] + ["a1"] + [f"b{q}" for q in range(20)]
    (tmp_path / "corpus.jsonl").write_text("".join(f'{{"_id": "{document}"}}\n' for document in left))
    gate = ("gate", "qrels", "old.run", "new.run", "-m", "R@10", "--format", "json")
    assert run(*gate, cwd=tmp_path).returncode == 1
    passed = run(*gate, "--exists", "corpus.jsonl", cwd=tmp_path)
    assert passed.returncode == 0, passed.stderr
    assert "note: 9 of 40 judged documents no longer exist" in passed.stderr
    found = json.loads(passed.stdout)
    assert found["measures"][0]["baseline"] == found["measures"][0]["candidate"] == 1.0
    assert all("|gone:9|" in signature for signature in found["signatures"])
    assert (found["baseline"], found["candidate"]) == ("old", "new")
    (tmp_path / "gate.toml").write_text('exists = "corpus.jsonl"\n')
    for option in ((), ("--exists", "corpus.jsonl")):
        assert run(*gate, "--config", "gate.toml", *option, cwd=tmp_path).returncode == 0
    assert "there is no such file" in run(*gate, "--exists", "nowhere.jsonl", cwd=tmp_path).stderr
