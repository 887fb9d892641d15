"""Output on a terminal: colours unless they are disabled, lines that fit the window, the verdict first."""

import os
import sys

import pytest

from cranfield import Decision, Judgments, compare, decide, open_store
from cranfield.show.comparison_text import comparison_text
from cranfield.show.layout import BAD, CLOSE, END, GOOD, Paint
from cranfield.show.layout import columns as columns_of
from tests.program import run
from tests.terminal import CODE, on_terminal, without_codes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs pseudo-terminals of Linux")

TEN = ("builtin:qrels", "builtin:keywords", "builtin:meaning")
GREEN, RED, AMBER, BOLD, DIM, PLAIN = (f"\x1b[{code}m" for code in (32, 31, 33, 1, 2, 0))
QUERIES = 40


def ranked(place):
    return [f"x{at}" for at in range(place)] + ["r"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Judgments, texts of queries, and runs: one that is best, some behind it, and some with odd names."""
    folder = tmp_path_factory.mktemp("runs")
    queries = [f"q{at}" for at in range(QUERIES)]
    judged = [f"{query} 0 r 1\n" + "".join(f"{query} 0 x{at} 0\n" for at in range(9)) for query in queries]
    (folder / "qrels.txt").write_text("".join(judged))
    (folder / "queries.tsv").write_text("".join(f"{query}\twhat people asked as {query}\n" for query in queries))
    (folder / "many").mkdir()
    (folder / "odd").mkdir()
    names = [f"many/system{at:02}" for at in range(20)] + [
        f"odd/{'a-system-whose-name-takes-more-room-than-there-is-in-a-line-' * 2}{at}" for at in range(3)
    ]
    for at, name in enumerate([*names, "odd/検索システム", "odd/\x1b[32mgreen\ufdd0er"]):
        lines = []
        for q, query in enumerate(queries):
            place = (q * (at + 3) + at) % (2 + at % 8)
            lines += [f"{query} Q0 {document} 0 {9 - rank} t\n" for rank, document in enumerate(ranked(place))]
        (folder / f"{name}.run").write_text("".join(lines))
    return folder


def test_verdicts_have_colours():
    output, code = on_terminal("compare", *TEN)
    assert code == 0
    assert output.startswith(f"{GREEN}Better{PLAIN}  meaning vs keywords: nDCG@10 +0.297 (+0.060 to +0.534), p = 0.020")
    assert f"{RED}▼ 2 worse{PLAIN}" in output
    assert f"{DIM}Paired t-test" in output
    worse, _ = on_terminal("compare", "builtin:qrels", "builtin:meaning", "builtin:keywords")
    assert worse.startswith(f"{RED}Worse{PLAIN}")
    close, _ = on_terminal("compare", *TEN, "-m", "R@1000")
    assert close.startswith(f"{AMBER}warning:{PLAIN} only 7 of 10 queries differ")
    assert f"\n{AMBER}Too close to call{PLAIN}" in close.replace("\r", "")
    failed, code = on_terminal("gate", "builtin:qrels", "builtin:meaning", "builtin:keywords")
    assert (failed.startswith(f"{RED}FAILED{PLAIN}"), code) == (True, 1)
    assert on_terminal("gate", *TEN)[0].startswith(f"{GREEN}PASSED{PLAIN}")


def test_errors_and_hints_have_colours():
    output, code = on_terminal("evaluate", "builtin:qrels", "builtin:nothing")
    assert code == 2
    assert output.startswith(f"{RED}cranfield:{PLAIN} builtin:nothing: ")
    assert "\x1b[36mHint:\x1b[0m there are " in output


def test_a_check_has_colours(tmp_path):
    output, code = on_terminal("check", "builtin", "builtin:plain")
    assert code == 0
    assert output.startswith(f"{AMBER}warning:{PLAIN} builtin:plain: query 'q52' ")
    assert "\n    \x1b[36mHint:\x1b[0m run the system on it" in output
    assert f"\n{BOLD}builtin{PLAIN}\n  60 queries" in output
    assert f"\n{BOLD}Measures{PLAIN}\n  nDCG@10 " in output
    assert f"{DIM}the judgments are graded" in output
    assert output.endswith(f"\n{AMBER}0 errors, 1 warning.{PLAIN}\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "good.run").write_text("1 Q0 a 1 2 t\n")
    (tmp_path / "bad.run").write_text("1 Q0 a 1 x t\n")
    good, _ = on_terminal("check", "qrels", "good.run", cwd=tmp_path)
    assert good.endswith(f"\n{GREEN}0 errors, 0 warnings.{PLAIN}\n")
    bad, _ = on_terminal("check", "qrels", "bad.run", cwd=tmp_path)
    assert bad.startswith(f"{RED}error:{PLAIN} bad.run:1: ")
    assert f"\n{RED}1 error, 0 warnings.{PLAIN}\n" in bad


COMMANDS = [
    ("compare", *TEN),
    ("evaluate", *TEN, "--worst", "2"),
    ("gate", *TEN),
    ("explain", "builtin:qrels", "builtin:meaning", "equal-scores"),
    ("check", *TEN),
    ("evaluate", "builtin:qrels", "nothing.run"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_no_colours_if_disabled_or_not_on_a_terminal(command):
    plain = run(*command, env={**os.environ, "COLUMNS": "80"})
    printed = plain.stdout + plain.stderr
    assert not CODE.search(printed)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CLICOLOR": "0"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        assert on_terminal(*command, env=env)[0] == printed
    coloured, _ = on_terminal(*command)
    assert CODE.search(coloured)
    assert without_codes(coloured) == printed
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        forced = run(*command, env={**os.environ, "COLUMNS": "80", name: "1"})
        assert forced.stdout + forced.stderr == coloured


def test_data_and_files_have_no_colours(tmp_path):
    for form in ("json", "markdown", "latex"):
        forced = run("compare", *TEN, "--format", form, env={**os.environ, "FORCE_COLOR": "1"})
        assert not CODE.search(forced.stdout)
        assert not CODE.search(on_terminal("compare", *TEN, "--format", form)[0])
    on_terminal("compare", *TEN, "-o", "found.txt", columns=120, cwd=tmp_path)
    kept = (tmp_path / "found.txt").read_text()
    assert kept == run("compare", *TEN).stdout
    assert max(map(len, kept.splitlines())) <= 80


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_lines_fit_the_window_and_use_it(folder, width):
    found = {}
    for runs in ("many", "odd"):
        for command in (
            ("compare", "qrels.txt", runs, "-m", "RR", "-m", "AP", "-m", "P@1"),
            ("compare", "qrels.txt", runs, "-m", "RR", "--pairs", "--explain"),
            ("compare", "qrels.txt", runs, "-m", "RR", "-b", f"{runs}/{sorted(os.listdir(folder / runs))[0]}"),
            ("evaluate", "qrels.txt", runs, "--worst", "2"),
        ):
            output, code = on_terminal(*command, columns=width, cwd=folder)
            assert code == 0
            lines = without_codes(output).splitlines()
            # A command to be copied is not broken inside a word.
            too_long = [line for line in lines if columns_of(line) > width and not line.startswith("   ")]
            assert not too_long, (command, too_long[:2])
            found[runs, command[1:]] = lines
    widest = max(columns_of(line) for line in found["many", ("qrels.txt", "many", "-m", "RR", "-m", "AP", "-m", "P@1")])
    assert widest > 0.75 * min(width, 120)


@pytest.mark.parametrize("width", [40, 120])
def test_a_check_fits_the_window_and_uses_it(folder, width):
    shown, code = on_terminal("check", "qrels.txt", "many/system00.run", "many/system05.run", columns=width, cwd=folder)
    assert code == 0
    assert 0.75 * width < max(map(columns_of, without_codes(shown).splitlines())) <= width


@pytest.mark.parametrize("width", [44, 60, 120])
def test_the_demonstration_fits_the_window(width):
    output, code = on_terminal("demo", columns=width)
    assert code == 0
    lines = [line for line in without_codes(output).splitlines() if not line.startswith("    cranfield ")]
    assert 0.75 * width < max(map(columns_of, lines)) <= width


def test_stability_of_one_run_has_no_tau():
    calls = [("stability", "builtin:ten", *runs, "-m", "RR", "--repeats", "2") for runs in (TEN[1:2], TEN[1:])]
    one, two = (on_terminal(*call)[0] for call in calls)
    assert "tau" not in without_codes(one).partition("left: judgments")[0]
    assert f"{DIM}Whether the order of runs changes (tau) takes at least two runs.{PLAIN}" in one
    assert " tau  lowest" in without_codes(two)
    assert "at least two runs" not in two


@pytest.mark.parametrize("width", [50, 80])
def test_a_test_of_systems_fits_the_window(tmp_path, width):
    assert on_terminal("init", "builtin", cwd=tmp_path)[1] == 0
    for verdict in (f"{BOLD}measured", f"{GREEN}passed"):  # green is for what was compared and stood the test
        output, code = on_terminal("test", "--worst", "1", columns=width, cwd=tmp_path)
        assert code == 0
        assert f"\nsqlite: {verdict}{PLAIN}, 60 of 60 queries answered" in output
        lines = without_codes(output).split("\r")[-1].splitlines()
        assert max(map(columns_of, lines)) <= width
        on_terminal("accept", cwd=tmp_path)
    output, code = on_terminal("run", "sqlite", "builtin", "-o", "x.run", columns=width, cwd=tmp_path)
    assert max(map(columns_of, without_codes(output).split("\r")[-1].splitlines())) <= width


def test_narrow_stability_tables_repeat_the_removed_share():
    output, _ = on_terminal("stability", *TEN, "-m", "RR", "--repeats", "1", columns=44)
    lines = without_codes(output).split("\r")[-1].splitlines()
    assert max(map(columns_of, lines)) <= 44
    assert sum(line.startswith("measure  removed") for line in lines) == 2


def test_measures_and_the_next_step_have_colours(tmp_path):
    assert on_terminal("measures")[0].startswith(f"{BOLD}The usual ones, and when to use them.{PLAIN}\n")
    assert f"\n{BOLD}Reference:{PLAIN} " in on_terminal("measures", "nDCG")[0]
    output, _ = on_terminal("pool", "judgments.db", "builtin", "builtin:plain", "--qrels", "builtin", cwd=tmp_path)
    assert output.endswith("Next: \x1b[36mcranfield judge judgments.db\x1b[0m\n")
    for name in ("ann", "bob"):
        run("convert", "builtin:ten", "two.db", "--assessor", name, "--kind", "person", cwd=tmp_path)
    agreed, _ = on_terminal("agreement", "two.db", cwd=tmp_path)
    assert f"\n{BOLD}Grades of ann (rows) and bob (columns){PLAIN}\n" in agreed
    assert f"\n{DIM}A kappa or alpha of 0 is agreement by chance" in agreed
    assert f"\n{DIM}Usual in this field: alpha 0.15" in agreed
    advice = run("evaluate", "judgments.db", "builtin:plain", cwd=tmp_path).stdout
    assert "QUERIES" not in advice
    run("convert", "builtin:plain", "plain.run", cwd=tmp_path)
    advice = run("evaluate", "judgments.db", "plain.run", cwd=tmp_path).stdout
    assert "  cranfield pool judgments.db QUERIES plain.run\n  where QUERIES is the file with the texts" in advice


def test_a_comparison_that_could_reverse_says_how_to_settle_it(tmp_path):
    for name in ("plain", "tuned"):
        run("convert", f"builtin:{name}", f"{name}.run", cwd=tmp_path)
    run("pool", "judgments.db", "builtin", "plain.run", "tuned.run", "--qrels", "builtin", cwd=tmp_path)
    look = Decision.of([tmp_path / "plain.run", tmp_path / "tuned.run"], "nDCG@10", "builtin").look()
    few, many = look.likely_needed
    advice = f"Judging {few} to {many} documents would probably settle it, the most informative first:"
    output = run("compare", "judgments.db", "plain.run", "tuned.run", cwd=tmp_path).stdout
    assert " ".join(output.split("\n\n")[-1].split()).startswith(advice)  # wherever its lines break
    assert output.endswith("\n  cranfield judge judgments.db --decide plain.run tuned.run -m nDCG@10\n")
    other = run("compare", "judgments.db", "plain.run", "tuned.run", "-b", "tuned.run", cwd=tmp_path).stdout
    assert other.endswith("--decide tuned.run plain.run -m nDCG@10\n")
    built_in = run("compare", "builtin", "builtin:plain", "builtin:tuned").stdout
    assert built_in.endswith("judge judgments.db --decide builtin:plain builtin:tuned -m nDCG@10\n")
    # No advice where it would not help: without texts, in other formats, of input that cannot be read again.
    assert "settle it" not in run("compare", "builtin:ten", "builtin:keywords", "builtin:meaning").stdout
    assert "settle it" not in run("compare", "judgments.db", "plain.run", "plain.run", cwd=tmp_path).stdout
    for more in (("--format", "json"), ("--assessor", "builtin"), ("--no-bounds",)):
        assert "settle it" not in run("compare", "judgments.db", "plain.run", "tuned.run", *more, cwd=tmp_path).stdout


def test_a_comparison_that_is_decided_asks_for_no_more_judging(tmp_path):
    """What was judged to decide between two runs leaves much unjudged: `compare` must not lead back to the start."""
    for name in ("plain", "tuned"):
        run("convert", f"builtin:{name}", f"{name}.run", cwd=tmp_path)
    known = Judgments.read("builtin").by_query
    look = decide(
        tmp_path / "judged.db",
        [tmp_path / "plain.run", tmp_path / "tuned.run"],
        assessor=lambda query, document: known.get(query, {}).get(document, 0),
    )
    assert look.state == "not worth judging further"
    output = run("compare", "judged.db", "plain.run", "tuned.run", "-m", "nDCG@10", cwd=tmp_path).stdout
    assert "Unjudged documents the runs returned could reverse this" in output
    assert f"By a model of the missing grades, enough is judged. {look.reason}" in " ".join(output.split())
    assert output.endswith("  cranfield evaluate judged.db plain.run tuned.run -m nDCG@10 --modelled\n")
    assert "--decide" not in output
    # Grades on another scale are those of the store.
    with open_store(tmp_path / "other.db", create=True) as store:
        store.set_scale({0: "no", 10: "yes"})
        for query, grades in list(known.items())[:8]:
            for document, grade in grades.items():
                store.judge(query, document, 10 * (grade > 1), assessor="ann")
        runs, qrels = [tmp_path / "plain.run", tmp_path / "tuned.run"], store.view()
        few, many = Decision.of(runs, "nDCG@10", qrels, scale=[0, 10]).look().likely_needed
        assert (few, many) != Decision.of(runs, "nDCG@10", qrels).look().likely_needed
    output = run("compare", "other.db", "plain.run", "tuned.run", "-m", "nDCG@10", cwd=tmp_path).stdout
    assert f"Judging {few} to {many} documents would probably settle it" in " ".join(output.split())


def test_perfect_queries_are_not_among_the_worst(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "half.run").write_text("1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n2 Q0 a 2 1 t\n")
    (tmp_path / "whole.run").write_text("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n")
    call = ("evaluate", "qrels", "half.run", "whole.run", "-m", "RR", "--worst", "3")
    output = run(*call, cwd=tmp_path).stdout
    assert "half: the worst query by RR\n" in output
    assert "whole: the worst queries by RR: none, all are perfect\n" in output
    assert '"worst": []' in run(*call, "--format", "json", cwd=tmp_path).stdout
    # `cranfield test` lists them too.
    (tmp_path / "queries.tsv").write_text("1\tcats\n2\tdogs\n")
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "a", "text": "cats dogs"}\n{"_id": "b", "text": "dogs, many dogs, and dogs"}\n'
    )
    (tmp_path / "cranfield.toml").write_text(
        'collection = "."\nmeasures = ["R@1000"]\n[systems.shop]\ntype = "sqlite"\n'
    )
    (tmp_path / "qrels").rename(tmp_path / "qrels.txt")
    assert "  the worst queries by R@1000: none, all are perfect\n" in run("test", cwd=tmp_path).stdout
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 c 1\n")
    with (tmp_path / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": "c", "text": "wolves"}\n')
    some = run("test", cwd=tmp_path).stdout
    assert "  the worst query by R@1000\n\n  0.000  2: dogs\n" in some


@pytest.mark.parametrize("width", [40, 60])
def test_two_runs_fit_a_narrow_window(width):
    output, code = on_terminal("compare", "builtin", "builtin:plain", "builtin:tuned", columns=width)
    assert code == 0
    assert f"{GREEN}▲ 23 better{PLAIN}" in output
    assert max(map(columns_of, without_codes(output).splitlines())) <= width


def test_escape_codes_in_names_are_not_printed(folder):
    for command in ("compare", "evaluate"):
        output, code = on_terminal(command, "qrels.txt", "odd", cwd=folder, columns=200)
        assert code == 0
        assert "\\u001b[32mgreen\\ufdd0er" in output
        assert "\x1b[32mgreen" not in output
        quiet = run(command, "qrels.txt", "odd", cwd=folder)
        assert "\x1b" not in quiet.stdout


def test_among_many_runs_red_is_significantly_worse_and_amber_may_be_the_best():
    measured = {f"q{q}": {"a": 1} for q in range(20)}
    good = {query: ["a", "b"] for query in measured}
    near = {query: ["a", "b"] if query != "q0" else ["b", "a"] for query in measured}
    far = {query: ["b", "a"] for query in measured}
    compared = compare(measured, {"good": good, "same": good, "near": near, "far": far}, "RR")
    text = comparison_text(compared, paint=Paint(True))
    assert f"{BAD}-0.500{END}" in text
    assert f"{CLOSE}-0.025{END}" in text
    assert f"{GOOD}+0.000{END}" not in text


def test_a_gate_that_passes_is_short():
    passed, _ = on_terminal("gate", "builtin", "builtin:plain", "builtin:tuned")
    assert len(passed.strip().splitlines()) < 14
    assert "got worse" not in passed
    failed, code = on_terminal("gate", "builtin:ten", "builtin:meaning", "builtin:keywords")
    assert code == 1
    assert "got worse" in failed


def test_many_runs_are_ranked(folder):
    done = run("compare", "qrels.txt", "many", "-m", "RR", cwd=folder)
    warning, _, rest = done.stdout.partition("\n\n")
    assert warning.startswith("warning: 17 of 20 runs return fewer documents than others")
    assert len(warning.splitlines()) <= 3
    lines = rest.splitlines()
    assert " leads on RR; " in lines[0]
    assert lines[2].split()[:4] == ["#", "run", "RR", "vs"]
    assert "rank, 95%" in lines[2]
    places = [int(line.split()[0]) for line in lines[3:23]]
    assert places == sorted(places)
    assert len(lines) < 40
    assert "All 190 pairs: --pairs" in done.stdout
    assert len(run("compare", "qrels.txt", "many", "-m", "RR", "--pairs", cwd=folder).stdout.splitlines()) > 300


def test_evaluate_ranks_many_runs_by_default_and_any_number_with_sort(folder):
    values = [line.split() for line in run("evaluate", "qrels.txt", "many", "-m", "RR", cwd=folder).stdout.splitlines()]
    assert values[0] == ["#", "run", "RR"]
    means = [float(row[2].rstrip("*")) for row in values[1:21]]
    assert means == sorted(means, reverse=True)
    given = run("evaluate", *TEN, "-m", "nDCG@10", "-m", "P@1").stdout
    assert given.index("keywords") < given.index("meaning")
    by_precision = run("evaluate", *TEN, "-m", "nDCG@10", "-m", "P@1", "--sort", "P_1").stdout.splitlines()
    assert by_precision[1].split()[:2] == ["1", "meaning"]
    rows = run("evaluate", *TEN, "--sort", "nDCG@10", "--format", "tsv").stdout.splitlines()
    assert rows[1].startswith("meaning\t")
    wrong = run("evaluate", *TEN, "-m", "RR", "--sort", "AP")
    assert wrong.returncode == 2
    assert "--sort AP: the measures are RR; add -m AP" in wrong.stderr


def test_query_texts_are_shown_with_their_ids(folder):
    runs = ("many/system00.run", "many/system05.run")
    text = "what people asked as q"
    assert text in run("compare", "qrels.txt", *runs, "-m", "RR", cwd=folder).stdout
    assert text in run("gate", "qrels.txt", *runs, "-m", "RR", cwd=folder).stdout
    assert f"query q7: {text}7" in run("explain", "qrels.txt", runs[0], "q7", cwd=folder).stdout
    assert text in run("evaluate", "qrels.txt", runs[0], "--worst", "2", cwd=folder).stdout
    (folder / "apart").mkdir()
    (folder / "apart" / "qrels.txt").write_bytes((folder / "qrels.txt").read_bytes())
    alone = ("compare", "apart/qrels.txt", *runs, "-m", "RR")
    assert text not in run(*alone, cwd=folder).stdout
    for collection in (".", "queries.tsv"):
        assert text in run(*alone, "--collection", collection, cwd=folder).stdout
    wrong = run(*alone, "--collection", "nowhere", cwd=folder)
    assert (wrong.returncode, "there is no such folder" in wrong.stderr) == (2, True)


def test_the_signature_is_printed_only_if_verbose(tmp_path):
    assert "qrels:" not in run("evaluate", *TEN).stdout
    verbose = run("evaluate", *TEN, "-v").stdout
    assert "qrels:" in verbose
    run("evaluate", *TEN, "-o", "kept.txt", cwd=tmp_path)
    assert (tmp_path / "kept.txt").read_text() == verbose
    assert '"signature"' in run("evaluate", *TEN, "--format", "json").stdout


def test_canonical_names_are_given_for_names_of_other_tools():
    call = ("evaluate", *TEN, "-m", "hit_rate@5", "-m", "AP")
    assert "\nhit\\_rate@5 is Success@5." in run(*call, "--format", "markdown").stdout
    assert "\n% hit\\_rate@5 is Success@5" in run(*call, "--format", "latex").stdout
    assert '"canonical_names": {\n    "hit_rate@5": "Success@5"\n  }' in run(*call, "--format", "json").stdout
    assert "canonical_names" not in run("evaluate", *TEN, "--format", "json").stdout


@pytest.mark.parametrize(("measure", "share"), [("AP", "22%"), ("nDCG@10", "30%")])
def test_the_judged_share_is_of_what_the_measure_reads(measure, share):
    lines = run("compare", *TEN, "-m", measure).stdout.splitlines()
    head, meaning = (next(line for line in lines if line.startswith(word)) for word in ("run ", "meaning "))
    assert (head.split()[-1], meaning.split()[-1]) == ("judged", share)
