"""`cranfield evaluate`: its output in every format, and its messages for bad input."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import cranfield
from tests.cli.test_program import PROGRAM
from tests.program import run
from tests.waiting import LIMIT, unread, until

EXPECTED = Path(__file__).with_name("expected")
DATA = Path(cranfield.__file__).with_name("data")
RUNS = ("evaluate", "qrels.txt", "keywords.run", "meaning.run", "-m", "nDCG@10", "-m", "AP", "-m", "NumRel")

WEIGHTS = (3, 0, *[1] * 8)
PRINTED = {
    "text": (*RUNS, "--worst", "2"),
    "bounds": (*RUNS, "--bounds"),
    "unseen": (*RUNS, "--bounds", "--unseen", "5", "--scale", "0,1,2,3,4"),
    "per_query": ("evaluate", "qrels.txt", "keywords.run", "-q"),
    "segments": (*RUNS, "--by", "segments.tsv"),
    "weights": (*RUNS, "--weights", "weights.txt"),
    "tsv": (*RUNS, "-q", "--format", "tsv"),
    "csv": (*RUNS, "--by", "segments.tsv", "--format", "csv"),
    "json": (*RUNS, "-q", "--bounds", "--worst", "1", "--by", "segments.tsv", "--format", "json"),
    "jsonl": (*RUNS, "-q", "--format", "jsonl"),
    "markdown": (*RUNS, "--format", "markdown"),
    "latex": (*RUNS, "--bounds", "--format", "latex"),
    "narrow": (*RUNS, "-m", "R@100", "-m", "P(rel=2)@5", "-m", "Judged@10", "--worst", "2"),
}


@pytest.fixture
def folder(tmp_path):
    for name in ("qrels.txt", "keywords.run", "meaning.run"):
        shutil.copy(DATA / name, tmp_path)
    queries = list(cranfield.Judgments.read(DATA / "qrels.txt").query_ids)
    lines = (f"{query}\t{'long' if len(query) > 16 else 'short'}\n" for query in queries)
    (tmp_path / "segments.tsv").write_text("query_id\tsegment\n" + "".join(lines))
    weights = (f"{query} {weight}\n" for query, weight in zip(queries, WEIGHTS, strict=True))
    (tmp_path / "weights.txt").write_text("".join(weights))
    return tmp_path


@pytest.mark.parametrize("name", PRINTED)
def test_output_matches_the_expected_file(folder, name):
    """The files in `expected` hold the output as last reviewed; UPDATE=1 writes them again."""
    columns = "60" if name == "narrow" else "80"
    done = run(*PRINTED[name], cwd=folder, env={**os.environ, "COLUMNS": columns})
    assert (done.returncode, done.stderr) == (0, "")
    path = EXPECTED / f"{name}.txt"
    shown = done.stdout.replace(cranfield.__version__, "VERSION")
    if os.environ.get("UPDATE"):
        path.write_text(shown)
    assert shown == path.read_text()
    assert name in ("tsv", "csv", "json", "jsonl", "latex") or max(map(len, shown.split("\n"))) <= int(columns)


def test_json_has_the_documented_shape(folder):
    found = json.loads(run(*RUNS, "--format", "json", cwd=folder).stdout)
    assert list(found) == ["measures", "runs", "counts", "signature"]
    assert found["measures"] == ["nDCG@10", "AP", "NumRel"]
    assert [each["run"] for each in found["runs"]] == ["keywords", "meaning"]
    assert "per_query" not in found["runs"][0]
    result = cranfield.evaluate(DATA / "qrels.txt", DATA / "keywords.run", found["measures"])
    assert found["runs"][0]["mean"] == dict(result)
    each = json.loads(run(*RUNS, "-q", "--format", "json", cwd=folder).stdout)["runs"][0]
    assert each["per_query"]["equal-scores"]["AP"] == result.by_query("AP")["equal-scores"]
    assert found["counts"]["queries"] == 10


def test_weights_and_segments(folder):
    done = json.loads(run(*RUNS, "--weights", "weights.txt", "--format", "json", cwd=folder).stdout)
    result = cranfield.evaluate(DATA / "qrels.txt", DATA / "keywords.run", "AP")
    weights = dict(zip(result.query_ids, WEIGHTS, strict=True))
    assert done["runs"][0]["mean"]["AP"] == result.aggregate("AP", weights=weights)
    done = json.loads(run(*RUNS, "--by", "segments.tsv", "--format", "json", cwd=folder).stdout)
    segments = {query: "long" if len(query) > 16 else "short" for query in result.query_ids}
    assert {name: means["AP"] for name, means in done["runs"][0]["segments"].items()} == result.by_segment(
        "AP", segments
    )


def test_settings_for_all_measures(folder):
    printed = run(*RUNS, "-m", "P(rel=1)@5", "--rel", "2", "--judged-only", cwd=folder).stdout
    assert "AP(rel=2, judged_only=True)" in printed
    assert "nDCG(judged_only=True)@10" in printed
    policy = run(
        *RUNS, "--ties", "worst", "--missing", "skip", "--depth", "5", "--same-id", "drop", "-v", cwd=folder
    ).stdout
    assert "ties:worst|missing:skip|duplicates:error|depth:5|same_id:drop" in policy


def test_folders_patterns_and_names(folder):
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    for place in ("a", "b"):
        shutil.copy(folder / "keywords.run", folder / place / "same.run")

    def names(*arguments):
        done = run("evaluate", "qrels.txt", *arguments, "-m", "AP", "--format", "json", cwd=folder)
        return [each["run"] for each in json.loads(done.stdout)["runs"]]

    assert names("*.run") == ["keywords", "meaning"]
    assert names("a", "b") == ["a/same", "b/same"]
    assert names("a/same.run", "a/same.run") == ["same", "same (2)"]
    assert names("meaning.run", "a/same.run", "--names", "tag") == ["meaning", "keywords"]


def test_own_measures_can_be_imported(folder):
    (folder / "mine.py").write_text(
        "from cranfield import measure\n\n"
        '@measure("Ones")\n'
        "def ones(judged, *, times: float = 1):\n"
        '    """One.\n\n    Ones = 1\n    """\n'
        "    return judged.retrieved * 0.0 + times\n"
    )
    done = run("evaluate", "qrels.txt", "meaning.run", "-m", "Ones(times=2)", "--import", "mine.py", cwd=folder)
    assert done.stdout.splitlines()[:2] == ["run      Ones(times=2)", "meaning         2.0000"]
    assert "Ones" in run("measures", "--import", "mine.py", cwd=folder).stdout
    (folder / "mine.py").write_text("import cranfield\n\n1 / 0\n")
    failed = run("evaluate", "qrels.txt", "meaning.run", "--import", "mine.py", cwd=folder)
    assert (failed.returncode, failed.stderr) == (2, "cranfield: mine.py:3: ZeroDivisionError: division by zero.\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "qrels.txt", "no/*.run"), "no/*.run: no file matches this pattern."),
        (("evaluate", "qrels.txt", "empty"), "empty: there is no file in this folder."),
        ((*RUNS, "--by", "none"), "none: cannot be read: no such file or directory."),
        ((*RUNS, "--weights", "segments.tsv"), "is not a number from 0."),
        ((*RUNS, "-m", "P@0"), "invalid cutoff '0' for P."),
        ((*RUNS, "--format", "xml"), "'xml' is not one of"),
        ((*RUNS, "--import", "none.py"), "none.py: there is no such file."),
        ((*RUNS, "-o", "no/such/place"), "no/such/place: cannot be written: no such file or directory."),
        (("evaluate", "qrels.txt", "bad.run"), "bad.run:2: score 'x' is not a number."),
    ],
)
def test_bad_input(folder, arguments, message):
    (folder / "empty").mkdir()
    (folder / "bad.run").write_text("1 Q0 a 1 2.5 t\n1 Q0 b 2 x t\n")
    before = sorted(os.listdir(folder))
    done = run(*arguments, *(() if "-o" in arguments else ("-o", "out.txt")), cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert sorted(os.listdir(folder)) == before


def test_output_files_are_complete_or_absent(folder):
    done = run(*RUNS, "-o", "out.txt", cwd=folder)
    assert done.stdout == ""
    written, printed = (folder / "out.txt").read_text(), run(*RUNS, "-v", cwd=folder).stdout
    assert printed.startswith(written)
    assert "cranfield pool" in printed.removeprefix(written)  # advice that is printed but not written
    reading, writing = os.pipe()
    command = [PROGRAM, "evaluate", "qrels.txt", "-", "-o", "half.txt"]
    process = subprocess.Popen(command, cwd=folder, stdin=reading, stderr=subprocess.PIPE)
    os.write(writing, b"1 Q0 a 1 2.5 t\n")
    until(lambda: not unread(writing), "nothing was read")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=LIMIT)
    os.close(writing)
    assert process.returncode == 130
    assert b"Traceback" not in error
    assert not [name for name in os.listdir(folder) if name.startswith("half")]


def test_a_closed_pipe_is_quiet(folder):
    many = "".join(f"{query} Q0 d 1 1 t\n" for query in range(20_000))
    (folder / "long.run").write_text(many)
    (folder / "long.qrels").write_text(many.replace("Q0 d 1 1 t", "0 d 1"))
    command = f"'{PROGRAM}' evaluate long.qrels long.run -q --format tsv | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("run\tquery_id\tmeasure\tvalue\n", "")


def test_no_colour_in_a_pipe_or_with_no_color(folder):
    script = shutil.which("script")
    if script is None:
        pytest.skip("the program `script`, which emulates a terminal, is not installed")
    command = f"{PROGRAM} evaluate qrels.txt meaning.run -m AP"
    colours = {"TERM": "xterm", "PATH": os.environ["PATH"]}
    shown = [
        subprocess.run([script, "-qec", command, "/dev/null"], cwd=folder, capture_output=True, env=env).stdout
        for env in (colours, {**colours, "NO_COLOR": "1"})
    ]
    assert b"\x1b[1m" in shown[0]
    assert b"\x1b" not in shown[1]
    assert "\x1b" not in run("evaluate", "qrels.txt", "meaning.run", "-m", "AP", cwd=folder).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--unseen", "2"), "--unseen needs --bounds."),
        (("--scale", "0,1"), "--scale needs --bounds or --modelled."),
        (("--bounds", "--unseen", "-1"), "--unseen: -1 is not a whole number from 0."),
        (("--bounds", "--scale", "0,x"), "the scale: 'x' is not a grade."),
    ],
)
def test_invalid_options_for_bounds_are_refused(folder, options, message):
    done = run(*RUNS, *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_only_one_run_is_saved(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "runs").mkdir()
    for name in ("one", "other"):
        (tmp_path / "runs" / name).write_text("q Q0 a 1 1 x\n")
    for runs in (["runs"], ["runs/*"], ["runs/one", "runs/other"]):
        done = run("evaluate", "qrels", *runs, "-m", "RR", "--save", "saved.json", cwd=tmp_path)
        assert done.returncode == 2
        assert "--save takes one run" in done.stderr
    assert not (tmp_path / "saved.json").exists()
    assert run("evaluate", "qrels", "runs/on*", "-m", "RR", "--save", "saved.json", cwd=tmp_path).returncode == 0


def test_the_extension_of_the_output_file_chooses_the_format(tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "good.run").write_text("q Q0 a 1 1 x\n")
    arguments = ("evaluate", "qrels", "good.run", "-m", "RR")
    for extension in (".csv", ".JSON", ".md"):
        form = {".csv": "csv", ".JSON": "json", ".md": "markdown"}[extension]
        assert run(*arguments, "-o", f"values{extension}", cwd=tmp_path).returncode == 0
        run(*arguments, "-o", "named", "--format", form, cwd=tmp_path)
        assert (tmp_path / f"values{extension}").read_text() == (tmp_path / "named").read_text()
    run(*arguments, "-o", "values.csv", "--format", "json", cwd=tmp_path)
    assert (tmp_path / "values.csv").read_text().startswith("{")
    done = run("compare", "qrels", "good.run", "good.run", "-m", "RR", "-o", "new.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "this command cannot write csv, only text, json, junit, markdown, latex or github" in done.stderr
    for name in ("new.pdf", "page.html", "NEW.XLSX"):
        done = run("compare", "qrels", "good.run", "good.run", "-m", "RR", "-o", name, cwd=tmp_path)
        assert f"-o {name}: this command cannot write {name.lower().partition('.')[2]}, only text," in done.stderr
        done = run("diff", "good.run", "good.run", "-o", name, cwd=tmp_path)
        assert done.returncode == (0 if name == "page.html" else 2)
        assert (tmp_path / name).exists() == (name == "page.html")
    done = run("report", "qrels", "good.run", "-m", "RR", "-o", "new.pdf", cwd=tmp_path)
    assert done.returncode == 2
    assert "a report is an HTML page, not .pdf." in done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new")]


def test_the_folder_of_a_collection_stands_for_its_judgments(tmp_path):
    for layout, file in (("trec", "qrels.txt"), ("beir", "qrels/test.tsv")):
        (tmp_path / layout / file).parent.mkdir(parents=True)
        (tmp_path / layout / file).write_text(
            "query-id\tcorpus-id\tscore\n1\ta\t1\n2\ta\t1\n" if layout == "beir" else "1 0 a 1\n2 0 a 1\n"
        )
    (tmp_path / "a.run").write_text("1 Q0 b 1 3 x\n1 Q0 a 2 2 x\n2 Q0 b 1 3 x\n2 Q0 a 2 2 x\n")
    (tmp_path / "b.run").write_text("1 Q0 b 1 3 x\n1 Q0 a 2 2 x\n2 Q0 a 1 3 x\n")
    for layout in ("trec", "beir"):
        for words in (["evaluate", layout, "a.run", "-m", "RR"], ["compare", layout, "a.run", "b.run", "-m", "RR"]):
            done = run(*words, cwd=tmp_path)
            assert (done.returncode, "0.500" in done.stdout) == (0, True), done.stderr
    (tmp_path / "empty").mkdir()
    done = run("evaluate", "empty", "a.run", cwd=tmp_path)
    assert done.stderr == (
        "cranfield: empty: there are no judgments in this folder.\nHint: put them into qrels.tsv, .txt or .csv\n"
    )
