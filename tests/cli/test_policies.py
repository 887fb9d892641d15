"""--negative and --complete, and the same settings in files, as people use them."""

import json

import pytest

from tests.program import run

from .test_quality import run as run_in

JUNK, COMPLETE = ("--negative", "nonrelevant"), ("--complete",)
UNJUDGED = ("njudged", "not judged", "could be reversed", "could reverse", "pooled")


@pytest.fixture
def files(tmp_path):
    queries = range(6)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 spam -2\n{q} 0 good 1\n{q} 0 bad 0\n" for q in queries))
    for name, ranking in (("old", ["spam", "good", "bad"]), ("new", ["u1", "u2", "good"])):
        lines = (f"{q} Q0 {d} 1 {9 - at} {name}\n" for q in queries for at, d in enumerate(ranking))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def values(files, *arguments):
    done = run("evaluate", "qrels", "old.run", *arguments, "--format", "json", cwd=files)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["runs"]
    return list(found["mean"].values()), found["signature"]


def test_evaluate(files):
    assert values(files, "-m", "RR", "--judged-only")[0] == [1.0]
    found, signature = values(files, "-m", "RR", "--judged-only", *JUNK)
    assert found == [0.5]
    assert "|negative:nonrelevant|" in signature
    found, signature = values(files, "-m", "RR", "-m", "Judged@10", *COMPLETE)
    assert found == [0.5, 1.0]
    assert "|complete:yes|" in signature


def test_contradictory_options_are_refused(files):
    for given in (("--judged-only",), ("--bounds", "--unseen", "2")):
        done = run("evaluate", "qrels", "old.run", "-m", "RR", *given, *COMPLETE, cwd=files)
        assert done.returncode == 2
        assert "complete judgments" in done.stderr
        assert "Hint: leave out one of them" in done.stderr
    done = run("evaluate", "qrels", "old.run", "--negative", "odd", cwd=files)
    assert "--negative: 'odd' is not one of unjudged, nonrelevant." in done.stderr


def test_complete_judgments_leave_nothing_undecided(files):
    wanted = ("-m", "nDCG@10", "-m", "AP")
    commands = [
        ("evaluate", "qrels", "new.run", *wanted, "--worst", "2", "--bounds"),
        ("compare", "qrels", "old.run", "new.run", *wanted),
        ("gate", "qrels", "old.run", "new.run", *wanted),
        ("check", "qrels", "old.run", "new.run"),
        ("explain", "qrels", "new.run", "1"),
        ("stability", "qrels", "old.run", "new.run", "-m", "AP", "--remove", "0.5", "--repeats", "3"),
    ]
    for command in commands:
        done = run(*command, *COMPLETE, cwd=files)
        assert done.returncode in (0, 1), done.stderr
        output = " ".join(done.stdout.split())
        assert not [word for word in UNJUDGED if word in output.replace("0 not judged", "")], output
    done = run("report", "qrels", "old.run", "new.run", "-o", "page.html", "--bounds", *COMPLETE, cwd=files)
    assert done.returncode == 0, done.stderr
    page = (files / "page.html").read_text()
    assert "complete:yes" in page
    assert "unjudged in the top" not in page
    assert "are not judged, and count" not in page


def test_saved_evaluations_of_complete_judgments(files):
    for name in ("old", "new"):
        run("evaluate", "qrels", f"{name}.run", "-m", "RR", "--save", f"{name}.json", *COMPLETE, cwd=files)
    done = run("compare", "qrels", "old.json", "new.json", "-m", "RR", *COMPLETE, cwd=files)
    assert done.returncode == 0, done.stderr
    assert "njudged" not in done.stdout


def test_check_warns_about_grades_below_minus_1(files):
    done = run("check", "qrels", "old.run", "--strict", cwd=files)
    output = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "6 judgments have a grade below -1 (-2), which usually means junk or spam that was judged" in output
    assert "--negative nonrelevant" in output
    assert "judged: 67% of all retrieved" in output
    explicit = run("check", "qrels", "old.run", "--strict", *JUNK, cwd=files).stdout
    assert "below -1" not in explicit
    assert "judged: 100% of all retrieved" in explicit
    assert "infAP" not in explicit
    for given in (("--negative", "unjudged"), COMPLETE):
        assert "below -1" not in run("check", "qrels", "old.run", *given, cwd=files).stdout
    (files / "qrels").write_text("1 0 good 1\n1 0 pooled -1\n")
    assert "below -1" not in run("check", "qrels", "old.run", cwd=files).stdout


def test_a_gate_config_can_declare_judgments_complete(files):
    (files / "gate.toml").write_text(
        'qrels = "qrels"\nbaseline = "old.run"\ncandidate = "new.run"\nmeasures = ["RR"]\ncomplete = true\n'
    )
    done = run("gate", "--config", "gate.toml", cwd=files)
    assert "100% of the returned documents judged, previously 100%" in " ".join(done.stdout.split())
    (files / "gate.toml").write_text('complete = "yes"\n')
    assert run("gate", "--config", "gate.toml", cwd=files).returncode == 2


def test_project_settings_can_declare_judgments_complete(project):
    settings = (project / "cranfield.toml").read_text()
    (project / "qrels.txt").write_text("1 0 a 1\n1 0 b -2\n2 0 c 2\n3 0 b 1\n")
    assert " are unjudged" in run_in(project, "test").stdout
    (project / "cranfield.toml").write_text(f"complete = true\n{settings}")
    done = run_in(project, "test")
    assert done.returncode in (0, 1), done.stderr
    assert " unjudged" not in done.stdout
    assert "Judged@10" in done.stdout
    saved = json.loads((project / ".cranfield" / "mine.json").read_text())
    assert saved["policy"]["complete"] is True
    assert saved["mean"]["Judged@10"] == 1.0
    (project / "cranfield.toml").write_text(f'negative = "odd"\n{settings}')
    assert "negative may be 'unjudged', 'nonrelevant'" in run_in(project, "test").stderr
