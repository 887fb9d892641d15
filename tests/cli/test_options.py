"""An option means the same in every command that has it, and every command that could have it does."""

import inspect
import re
from collections import defaultdict

import click
import pytest
from click.testing import CliRunner

import cranfield
from cranfield.cli import options
from cranfield.cli.commands import COMMANDS, program
from cranfield.cli.input_options import reading_options
from cranfield.cli.options import SECTIONS, OptionGroup, argument
from tests.program import run

CONTEXT = click.Context(program)
FILES = {name: program.get_command(CONTEXT, name) for name in COMMANDS}
OF_RUNS = [name for name, command in FILES.items() if any(each.name == "runs" for each in command.params)]
OF_MEASURES = ["evaluate", "explain", "compare", "diff", "frontier", "stability", "report", "plot", "gate", "tune"]


def options_of(command):
    return [each for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)]


def meaning(option):
    """The type and the help of an option, without its default and its choices."""
    stem = re.sub(r"(: .*)?( \[[^]]*\])?\.?( \[[^]]*\])?$", "", option.help or "")
    return type(option.type).__name__, option.is_flag, option.multiple, option.metavar, stem


# In `judge`, --assessor is who judges, and elsewhere whose judgments count; --limit counts other things there; the
# documents of --corpus are shown, and elsewhere searched.
# `history` merges files, and measures again; -n is how many results it shows, and in `sample` how many are drawn. A
# frontier has a margin of its own; `diff` needs no judgments.
OWN = {
    "judge": {"--assessor", "--limit", "--corpus"},
    "history": {"--merge", "--again", "-n"},
    "frontier": {"--margin"},
    "plot": {"--margin"},
    "diff": {"--qrels"},
}


def test_an_option_means_the_same_in_every_command():
    meanings = defaultdict(lambda: defaultdict(list))
    for name, command in FILES.items():
        for option in options_of(command):
            for spelling in {*option.opts, *option.secondary_opts} - OWN.get(name, set()):
                meanings[spelling][meaning(option)].append(name)
    assert len(meanings) > 50
    assert {name: dict(found) for name, found in meanings.items() if len(found) > 1} == {}


def test_every_option_has_help():
    assert [
        (name, each.opts)
        for name, command in FILES.items()
        for each in options_of(command)
        if not (each.help or each.hidden)
    ] == []


def test_defaults_are_shown_in_one_form():
    for name, command in FILES.items():
        shown = command.get_help(click.Context(command))
        assert "[default" not in shown, name
        for option in options_of(command):
            has_default = isinstance(option.default, int | float | str) and not (option.is_flag or option.count)
            if has_default and option.default not in ("", 0, "0"):
                assert re.search(rf"\[{re.escape(str(option.default))}\]", option.help), (name, option.opts)


class Size(OptionGroup, section="Output"):
    width: str | None = options.option("--width", help="How wide.")
    height: str = options.option("--height", default="3", help="How high [3].")


class Box(Size, section="Input"):
    depth: str | None = options.option("--depth", help="How deep.")


def test_a_group_of_options_is_one_object():
    @options.command("draw", what=argument(), box=Box)
    def command(what, box):
        click.echo(f"{what} {box.width} {box.height} {box.depth}")

    assert [parameter.name for parameter in command.params] == ["what", "width", "height", "depth"]
    assert CliRunner().invoke(command, ["it", "--width", "2"]).output == "it 2 3 None\n"
    shown = CliRunner().invoke(command, ["--help"]).output
    assert shown.index("\nOutput:\n  --width") < shown.index("\nInput:\n  --depth") < shown.index("\nHelp:\n  --help")
    assert Box(depth="1").replaced(width="2").__dict__ == {"width": "2", "height": "3", "depth": "1"}


def test_a_command_has_the_groups_that_its_parameters_name():
    @options.command("draw", what=argument())
    def command(what: str, box: Box) -> None:
        click.echo(f"{what} {box.depth}")

    assert [parameter.name for parameter in command.params] == ["what", "width", "height", "depth"]
    assert CliRunner().invoke(command, ["it", "--depth", "2"]).output == "it 2\n"


def test_no_command_has_many_parameters():
    for name, command in FILES.items():
        assert len(inspect.signature(inspect.unwrap(command.callback)).parameters) <= 8, name


def test_every_option_has_a_section():
    for command in FILES.values():
        assert {option.section for option in command.params if isinstance(option, click.Option)} <= {*SECTIONS}


@pytest.mark.parametrize("name", OF_MEASURES)
def test_measure_and_reading_options_arrive_as_one_object_each(name):
    assert set(inspect.signature(inspect.unwrap(FILES[name].callback)).parameters) >= {"measures", "reading"}


def test_only_given_reading_options_are_passed_on():
    assert reading_options()(check_ids=None).arguments() == {}
    some = reading_options()(format="csv", check_ids=False, ties="best", depth=None)
    assert some.arguments() == {"policy": cranfield.Policy(ties="best"), "format": "csv", "check_ids": False}


@pytest.mark.parametrize("name", OF_MEASURES)
def test_commands_that_measure_take_all_measure_options(name):
    has = {spelling for option in options_of(FILES[name]) for spelling in option.opts}
    assert has >= {"--measure", "--rel", "--judged-only", "--import", "--run-format", "--qrels-format", "--ties"}


# Further options that commands take because the functions they call do.
ALSO = {
    "--import": ("agreement", "judge", "measures", "test", "accept", "history"),
    "--rel": ("agreement", "judge", "calls"),
    "--judged-only": ("agreement", "judge"),
    "--lengths": ("evaluate", "compare", "gate", "report", "plot"),
    "--chunks": ("evaluate", "compare", "gate", "report", "plot"),
    "--documents": ("evaluate", "compare", "gate", "report", "plot"),
    "--test": ("compare", "gate", "report"),
    "--correction": ("compare", "gate", "report"),
    "--alpha": ("compare", "gate", "report"),
    "--collection": ("evaluate", "explain", "compare", "gate", "report"),
    "--run-format": ("check", "fuse", "pool", "judge", "agreement", "calls"),
    "--qrels-format": ("check", "pool", "calls"),
    "--output": (*OF_MEASURES, "check", "fuse", "agreement", "run", "measures", "history", "test", "sample", "calls"),
}


@pytest.mark.parametrize("option", ALSO)
def test_every_command_that_could_take_an_option_has_it(option):
    having = {name for name, command in FILES.items() if any(option in each.opts for each in options_of(command))}
    assert having >= {*ALSO[option]}
    assert having <= {*ALSO[option], *OF_MEASURES}


def test_commands_that_print_in_several_formats_write_files():
    for name, command in FILES.items():
        has = {spelling for option in options_of(command) for spelling in option.opts}
        assert "--format" not in has or "--output" in has, name


def test_formats_have_one_name_each():
    for command in FILES.values():
        for option in options_of(command):
            if "--format" in option.opts:
                assert set(option.type.choices) <= set(options.PRINTED)
                assert option.type.choices[0] == "text"  # the default, unless the extension of the file says otherwise


CALLS = {
    "evaluate": ("evaluate", "qrels", "RUNS", "-m", "RR"),
    "compare": ("compare", "qrels", "RUNS", "-m", "RR"),
    "stability": ("stability", "qrels", "RUNS", "-m", "RR", "--repeats", "2", "--format", "json"),
    "report": ("report", "qrels", "RUNS", "-m", "RR", "-o", "-"),
    "check": ("check", "qrels", "RUNS"),
    "agreement": ("agreement", "judgments.db", "RUNS", "-m", "RR", "--format", "json"),
    "fuse": ("fuse", "RUNS"),
    "frontier": ("frontier", "qrels", "RUNS", "-m", "RR", "--cost", "--values", "costs.txt"),
    "plot": ("plot", "distribution", "qrels", "RUNS", "-m", "RR", "-o", "plot.json"),
}


# judge serves: see test_judge.py; tune needs more queries: see test_mixing.py
@pytest.mark.parametrize("name", [name for name in OF_RUNS if name not in ("judge", "tune")])
@pytest.mark.parametrize("given", ["*.run", "folder"])
def test_patterns_and_folders(name, given, files):
    (files / "folder").mkdir()
    for each in ("good.run", "bad.run"):
        (files / "folder" / each).write_bytes((files / each).read_bytes())
    if name == "agreement":
        pytest.importorskip("sqlalchemy")
        with cranfield.open_store(files / "judgments.db", create=True) as store:
            for assessor in ("ann", "bob"):
                store.import_qrels(files / "qrels", assessor)
    if name == "pool":
        pytest.importorskip("sqlalchemy")
        (files / "queries.tsv").write_text("1\tcats\n")
        done = run("pool", "judgments.db", "queries.tsv", given, cwd=files)
        assert "in the pool of 2 runs" in done.stdout, done.stderr
        return
    (files / "costs.txt").write_text("good 1\nbad 2\n")
    done = run(*(given if word == "RUNS" else word for word in CALLS[name]), cwd=files)
    assert done.returncode in (0, 1), done.stderr
    shown = (files / "plot.json").read_text() if name == "plot" else done.stdout
    assert "good" in shown
    assert "bad" in shown


def test_a_single_run_may_be_a_pattern_with_one_match(files):
    assert run("explain", "qrels", "g*.run", "1", cwd=files).returncode == 0
    assert run("gate", "qrels", "g*.run", "good.*", cwd=files).returncode == 0
    several = run("explain", "qrels", "*.run", "1", cwd=files)
    assert several.returncode == 2
    assert "*.run: these are 2 files, but only one run is needed." in several.stderr


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("compare", "qrels", "good.run", "bad.run"), "nDCG(judged_only=True)@10"),
        (("gate", "qrels", "good.run", "good.run"), "nDCG(judged_only=True)@10"),
        (("gate", "qrels", "good.run", "good.run", "--min", "P@1=0.1"), "P(rel=2, judged_only=True)@1"),
        (("stability", "qrels", "good.run", "bad.run", "--repeats", "2"), "AP(rel=2, judged_only=True)"),
    ],
)
def test_rel_and_judged_only_apply_to_all_measures(command, shown, files):
    done = run(*command, "--rel", "2", "--judged-only", cwd=files)
    assert shown in done.stdout, done.stderr


def test_a_gate_config_can_set_rel_and_judged_only(files):
    (files / "gate.toml").write_text("rel = 2\njudged_only = true\ntolerance = 0.9\n[minimum]\n'P@1' = 0.1\n")
    command = ("gate", "qrels", "good.run", "bad.run", "--config", "gate.toml", "--format", "json")
    measured = run(*command, cwd=files).stdout
    assert "P(rel=2, judged_only=True)@1" in measured
    assert '"tolerance": 0.9' in measured
    assert '"tolerance": 0.0' in run(*command, "--tolerance", "0", cwd=files).stdout
    assert "nDCG(judged_only=True)@10" in measured


def test_imported_measures_work_in_compare_and_gate(files):
    (files / "mine.py").write_text(
        "from cranfield import measure\n\n"
        '@measure("Ones")\n'
        "def ones(judged):\n"
        '    """One.\n\n    Ones = 1\n    """\n'
        "    return judged.retrieved * 0.0 + 1\n"
    )
    for command in (("compare", "qrels", "good.run", "bad.run"), ("gate", "qrels", "good.run", "good.run")):
        done = run(*command, "-m", "Ones", "--import", "mine.py", cwd=files)
        assert done.returncode == 0, done.stderr
        assert "Ones" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "qrels", "good.run", "bad.run"),
        ("gate", "qrels", "bad.run", "good.run"),
        ("plot", "difference", "qrels", "good.run", "bad.run", "-o", "chart.json"),
        ("report", "qrels", "good.run", "bad.run", "--no-charts", "-o", "page.html"),
    ],
    ids=lambda command: command[0],
)
def test_lengths_of_documents(command, files):
    (files / "lengths.txt").write_text("".join(f"{document} 9000\n" for document in "abcdefgxyz"))
    (files / "gate.toml").write_text("lengths = 'lengths.txt'\n")

    def shown(*words):
        done = run(*command, "-m", "TBG", *words, cwd=files)
        assert done.returncode == 0, done.stderr
        return (files / command[-1]).read_text() if "-o" in command else done.stdout

    usual = shown()
    assert shown("--lengths", "lengths.txt") != usual
    if command[0] == "gate":
        assert shown("--config", "gate.toml") == shown("--lengths", "lengths.txt")
    if command[0] == "plot":
        stable = ("plot", "stability", "qrels", "good.run", "-o", "x.json", "--lengths", "lengths.txt")
        assert "--lengths cannot be used with stability." in run(*stable, cwd=files).stderr


def test_a_report_uses_the_given_test_and_alpha(files):
    command = ("report", "builtin", "builtin:plain", "builtin:tuned", "--no-charts", "-o", "page.html")
    pages = []
    for settings in ((), ("--test", "sign"), ("--alpha", "0.2")):
        assert run(*command, *settings, cwd=files).returncode == 0
        pages.append((files / "page.html").read_text(encoding="utf-8"))
    assert ["median of the queries that differ" in page for page in pages] == [False, True, False]
    assert ["80% interval" in page for page in pages] == [False, False, True]
    assert "--test: 'coin' is not one of t, " in run(*command, "--test", "coin", cwd=files).stderr
    alone = ("report", "builtin", "builtin:plain", "-o", "page.html")  # a single run has intervals, too
    assert "--alpha: 7 is not a level of significance." in run(*alone, "--alpha", "7", cwd=files).stderr


def test_measures_go_to_a_file(files):
    assert run("measures", "nDCG", "--bibtex", "-o", "papers.bib", cwd=files).stdout == ""
    assert (files / "papers.bib").read_text() == run("measures", "nDCG", "--bibtex", cwd=files).stdout


def test_pool_reads_judgments_in_the_given_format(files):
    pytest.importorskip("sqlalchemy")
    (files / "queries.tsv").write_text("1\tcats\n")
    (files / "table").write_text("query_id,doc_id,grade\n1,a,1\n")
    pool = ("pool", "judgments.db", "queries.tsv", "good.run")
    done = run(*pool, "--qrels", "table", "--qrels-format", "csv", cwd=files)
    assert "1 new judgment by table" in done.stdout, done.stderr
    assert "--qrels-format needs --qrels." in run(*pool, "--qrels-format", "csv", cwd=files).stderr


def test_a_project_can_use_imported_measures(project):
    (project / "mine.py").write_text(
        "from cranfield import measure\n\n"
        '@measure("Ones")\n'
        "def ones(judged):\n"
        '    """One.\n\n    Ones = 1\n    """\n'
        "    return judged.retrieved * 0.0 + 1\n"
    )
    config = project / "cranfield.toml"
    config.write_text(config.read_text().replace('measures = ["RR", "P@1"]', 'measures = ["RR", "P@1", "Ones"]'))
    assert "there is no measure 'Ones'" in run("test", cwd=project).stderr
    done = run("test", "--import", "mine.py", cwd=project)
    assert "Ones" in done.stdout, done.stderr
    assert run("accept", "--import", "mine.py", cwd=project).returncode == 0
