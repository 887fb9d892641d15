"""Errors speak of options, not of Python; suggestions are near; one sentence for every wrong choice."""

import io
import pickle

import pytest

import cranfield
from cranfield.comparison.stability import DESIGNS
from cranfield.errors import CranfieldError, any_of, either, given, in_words, nearest
from tests.program import run

RUNS = ("qrels", "a.run", "b.run")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (tmp_path / "a.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n2 Q0 c 1 1 x\n")
    (tmp_path / "b.run").write_text("1 Q0 b 1 3 y\n1 Q0 a 2 2 y\n2 Q0 c 1 1 y\n")
    (tmp_path / "part.run").write_text("1 Q0 a 1 3 x\n")
    (tmp_path / "foreign.run").write_text("9 Q0 a 1 3 x\n")
    (tmp_path / "twice.run").write_text("1 Q0 a 1 3 x\n1 Q0 a 2 2 x\n")
    return tmp_path


def error_of(folder, *words):
    done = run(*words, cwd=folder)
    assert done.returncode == 2, done.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("evaluate", "qrels", "a.run", "--depth", "0"),
            "--depth: 0 is not a rank.\nHint: --depth is a whole number from 1\n",
        ),
        (
            ("evaluate", "qrels", "a.run", "--cover=2"),
            "--cover: 2 is not a share.\nHint: --cover is a number above 0, ",
        ),
        (("gate", *RUNS, "--max-worse-queries", "-1"), "--max-worse-queries: -1 is not a number of queries.\n"),
        (("compare", *RUNS, "--margin", "-1"), "--margin: -1 is not a margin.\n"),
        (("compare", *RUNS, "--permutations", "0"), "--permutations: 0 is too few.\n"),
        (("stability", *RUNS, "--repeats", "0"), "--repeats: 0 is too few.\n"),
        (("agreement", "j.db", "--draws", "0"), "cranfield: --draws: 0 is too small.\n"),
        (("pool", "j.db", "builtin", "a.run", "--depth", "-1"), "--depth: -1 is not a whole number from 0.\n"),
        (("pool", "j.db", "builtin", "a.run", "--depth", "0"), "Hint: give a depth, or --sample-below\n"),
        (("evaluate", "qrels", "a.run", "--complete", "--judged-only"), "cranfield: --judged-only leaves out unjudged"),
        (("evaluate", "qrels", "foreign.run"), "To evaluate the run anyway: --no-id-check\n"),
        (("evaluate", "qrels", "twice.run"), "Hint: keep one, or choose which with --duplicates first, last or best\n"),
        (("evaluate", "qrels", "a.run", "-m", "odd"), "Hint: 'cranfield measures' lists them\n"),
        (("agreement", "none.db"), "Hint: 'cranfield pool' makes one\n"),
        (("run", "sqlite", "builtin", "-o", "a.run"), "a.run: this file already exists.\nHint: --force replaces it\n"),
        (("evaluate", "qrels", "part.run", "--missing", "error"), "part.run: 1 judged query is not in the run: 2.\n"),
        (("stability", "qrels", "part.run", "--missing", "error"), "part.run: 1 judged query is not in the run: 2.\n"),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_errors_name_options(folder, words, message):
    if "j.db" in words or "none.db" in words:
        pytest.importorskip("sqlalchemy")
    assert message in error_of(folder, *words)


def test_a_setting_of_a_file_is_not_an_option(folder):
    (folder / "gate.toml").write_text("max_worse_queries = -1\n")
    assert "cranfield: max_worse_queries=-1 is not" in error_of(folder, "gate", *RUNS, "--config", "gate.toml")


def test_an_option_of_another_command_is_not_suggested(folder):
    twice = ("qrels", "twice.run")
    assert "Hint: keep one, or choose which with --duplicates" in error_of(folder, "evaluate", *twice)
    pytest.importorskip("sqlalchemy")
    with cranfield.open_store(folder / "judgments.db", create=True) as store:
        for assessor in ("ann", "bob"):
            store.import_qrels(str(folder / "qrels"), assessor)
    assert error_of(folder, "agreement", "judgments.db", "twice.run", "a.run").endswith("Hint: keep one\n")


def test_errors_carry_facts():
    with pytest.raises(cranfield.PolicyError) as caught:
        cranfield.Policy(depth=0)
    assert (caught.value.parameter, caught.value.value, caught.value.place) == ("depth", 0, "")
    with pytest.raises(cranfield.InputError) as caught:
        cranfield.evaluate({"q": {"a": 1}}, io.BytesIO(b"q Q0 a 1 0.5 mine\nq Q0 b 2 high mine\n"))
    assert (caught.value.place, caught.value.line) == ("an open file:2", 2)
    twice = pickle.loads(pickle.dumps(duplicate()))
    assert (twice.fact, twice.hint, str(twice)) == (duplicate().fact, duplicate().hint, str(duplicate()))
    assert in_words(twice, Named()) == (twice.fact, "keep one, or choose which with --duplicates first")


def duplicate():
    with pytest.raises(cranfield.DuplicateError) as caught:
        cranfield.evaluate({"q": {"a": 1}}, {"q": ["a", "b", "a"]}, "AP")
    return caught.value


class Named:
    """The options of a program that has every one."""

    def name(self, parameter, values):
        return f"--{parameter} {values[0]}"

    def fact(self, error, said):
        return f"--{error.parameter}: {error.value} {said}"


def test_marks_are_worded():
    hint = any_of(f"use {given('a', 1, 2)}", f"{either('f()', given('b', True))}")
    error = CranfieldError("is odd.", parameter="a", value=3, hint=hint, place="x")
    assert str(error) == "x: a=3 is odd.\nHint: use a=1 or 2, or f()"
    assert in_words(error, Named()) == ("--a: 3 is odd.", "use --a 1, or --b True")


def test_python_is_told_what_python_needs():
    with pytest.raises(cranfield.PolicyError, match=r"^depth=0 is not a rank\.\nHint: depth is .*, or None$"):
        cranfield.Policy(depth=0)


@pytest.mark.parametrize(
    ("command", "option", "choices"),
    [
        ("evaluate", "--format", "text, tsv, csv, json, jsonl, markdown, latex"),
        ("evaluate", "--ties", "doc_id, smaller_doc_id, file, best, worst"),
        ("evaluate", "--run-format", "trec, "),
        ("compare", "--test", "t, randomisation, bootstrap, wilcoxon, sign, tukey"),
        ("gate", "--correction", "holm, "),
        ("stability", "--design", ", ".join(DESIGNS)),
    ],
)
def test_a_wrong_choice_has_one_wording(folder, command, option, choices):
    error = error_of(folder, command, *RUNS, option, "odd")
    assert error.startswith(f"cranfield {command}: {option}: 'odd' is not one of ")
    assert choices in error
    assert error.endswith(f"\nHint: 'cranfield {command} --help' lists the options\n")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("polt",), "plot"),
        (("EVALUATE",), "evaluate"),
        (("eval",), "evaluate"),
        (("compare", *RUNS, "--format", "ltex"), "latex"),
        (("evaluate", *RUNS, "--run_format", "trec"), "--run-format"),
    ],
)
def test_suggestions_are_near(folder, words, meant):
    assert f"Hint: did you mean {meant}?\n" in error_of(folder, *words)


@pytest.mark.parametrize(
    "words", [("check", *RUNS, "--format", "latex"), ("run", "--format"), ("measures", "--format"), ("frobnicate",)]
)
def test_nothing_is_suggested_that_is_not_near(folder, words):
    assert "did you mean" not in error_of(folder, *words)


def test_long_names_are_not_compared():
    assert nearest("a" * 200, ["a" * 201]) == ""


def test_check_names_the_command_that_can_leave_queries_out(folder):
    done = run("check", "qrels", "part.run", cwd=folder)
    assert "'cranfield evaluate --missing skip'" in " ".join(done.stdout.split())


def test_convert_takes_a_pattern_that_matches_one_file(folder):
    assert run("convert", "par*.run", "part.jsonl", cwd=folder).returncode == 0
    assert (folder / "part.jsonl").exists()
    assert "*.run: this pattern matches 5 files.\n" in error_of(folder, "convert", "*.run", "out.jsonl")
    assert "no file matches this pattern" in error_of(folder, "convert", "no*.run", "out.jsonl")


def test_judgments_in_a_plain_file_have_nothing_to_choose(folder):
    for words, problem in (
        (("--assessor", "ann"), "assessors cannot be chosen"),
        (("--kind", "model"), "assessors cannot be chosen"),
        (("--merge", "max"), "there are no grades to merge"),
        (("--pooled",), "it is not known which documents were pooled"),
    ):
        error = error_of(folder, "evaluate", "qrels", "a.run", *words)
        assert f"qrels: these judgments are not in a store, so {problem}.\n" in error


def test_agreement_and_judge_take_the_format_of_runs(folder):
    pytest.importorskip("sqlalchemy")
    for name in ("a", "b"):
        rows = (line.split() for line in (folder / f"{name}.run").read_text().splitlines())
        (folder / f"{name}.txt").write_text("".join(f"{row[0]}\t{row[2]}\t{row[4]}\n" for row in rows))
    with cranfield.open_store(folder / "judgments.db", create=True) as store:
        for assessor in ("ann", "bob"):
            store.import_qrels(str(folder / "qrels"), assessor)
    agreed = ("agreement", "judgments.db", "a.txt", "b.txt")
    assert "three columns and no header" in error_of(folder, *agreed)
    assert run(*agreed, "--run-format", "tsv", cwd=folder).returncode == 0
    judged = ("judge", "judgments.db", "--order", "mtf", "a.txt", "--depth", "2", "--no-browser")
    assert "three columns and no header" in error_of(folder, *judged)
    assert "--depth: 0 is not a rank" in error_of(folder, *judged, "--run-format", "tsv", "--depth", "0")


def test_empty_and_blank_input(folder):
    (folder / "blank.txt").write_text("\n\n")
    done = run("evaluate", "-", "a.run", cwd=folder, input="")
    assert done.stderr == "cranfield: standard input: it is empty.\n"
    assert "blank.txt: contains only blank lines and comments.\n" in error_of(folder, "evaluate", "blank.txt", "a.run")


def test_hints_in_python_are_python_that_works(folder, tmp_path):
    """What a hint tells to write is accepted where the error was raised."""
    with pytest.raises(cranfield.InputError) as caught:
        cranfield.evaluate(folder / "qrels", folder / "twice.run", "AP")
    assert "policy=Policy(duplicates='first') or 'last' or 'best'" in caught.value.hint
    policy = cranfield.Policy(duplicates="first")
    assert cranfield.evaluate(folder / "qrels", folder / "twice.run", "AP", policy=policy)["AP"] == 0.5
    assert error_of(folder, "evaluate", "qrels", "twice.run").endswith("--duplicates first, last or best\n")
    (tmp_path / "there.csv").write_text("")
    with pytest.raises(cranfield.CranfieldError, match="Hint: force=True replaces it"):
        cranfield.convert_file(folder / "a.run", tmp_path / "there.csv")
