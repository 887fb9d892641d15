"""trec_eval's command line: the same bytes for the same arguments, and the right thing where trec_eval errs."""

import io
import math
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Judgments, Policy, parse_measure
from cranfield.cli.trec_eval import run
from cranfield.measures.trec_eval_names import ENTRIES, NICKNAMES
from cranfield.ranks.ranking import rank_run
from cranfield.ranks.scan.native import native
from cranfield.read.source import open_source
from cranfield.trec_eval.differences import DIFFERENCES
from tests.generated import collections, plain, scan_with

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(GOLDEN.iterdir())
PROGRAM = Path(sys.executable).with_name("cranfield-trec_eval")


def arguments_of(folder):
    return [*shlex.split((folder / "args").read_text()), str(folder / "qrels"), str(folder / "run")]


@pytest.fixture
def call(tmp_path, monkeypatch, capsysbinary):
    """Run the program on judgments and a run, given as text, in a folder of their own: exit code, output, messages."""
    monkeypatch.chdir(tmp_path)

    def call(command, qrels=None, ranked=None, **files):
        for name, text in {"qrels": qrels, "run": ranked, **files}.items():
            if text is not None:
                (tmp_path / name).write_text(text)
        code = run(shlex.split(command))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    return call


def lines_of(*rows):
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in rows)


QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 1\n"
RUN = "1 Q0 b 1 2 tag\n1 Q0 a 2 1 tag\n2 Q0 c 1 5 tag\n2 Q0 x 2 4 last\n"


# What trec_eval 10.0 prints.


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_the_same_bytes(folder, capsysbinary):
    assert run(arguments_of(folder)) == 0
    out, err = capsysbinary.readouterr()
    assert out == (folder / "expected").read_bytes()
    assert err == b""


@pytest.mark.parametrize("name", ["official", "parameters", "preferences"])
@pytest.mark.parametrize("program", [[PROGRAM], [PROGRAM.with_name("cranfield"), "trec_eval"]])
def test_the_program(name, program):
    folder = GOLDEN / name
    done = subprocess.run([*program, *arguments_of(folder)], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, (folder / "expected").read_bytes(), b"")


@pytest.mark.parametrize("program", [[PROGRAM], [PROGRAM.with_name("cranfield"), "trec_eval"]])
def test_exit_code_and_streams_of_the_program(program, tmp_path):
    (tmp_path / "qrels").write_text(QRELS + "3 0 e 1\n")
    (tmp_path / "run").write_text(RUN)
    done = subprocess.run([*program, "-q", "-m", "recip_rank", "qrels", "run"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 4
    assert done.stdout.decode() == lines_of(("recip_rank", 1, "0.5000"), ("recip_rank", 2, "1.0000"))
    assert b"the query '3' is judged, but the run lacks it." in done.stderr
    bad = subprocess.run([*program, "-x"], capture_output=True, cwd=tmp_path)
    assert (bad.returncode, bad.stdout) == (1, b"")


def test_the_run_from_standard_input(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    whole = {"cwd": tmp_path, "capture_output": True, "text": True}
    piped = subprocess.run([PROGRAM, "qrels", "-"], input=RUN, **whole)
    with (tmp_path / "run").open() as file:
        redirected = subprocess.run([PROGRAM, "qrels", "-"], stdin=file, **whole)
    named = subprocess.run([PROGRAM, "qrels", "run"], **whole)
    assert piped.stdout == redirected.stdout == named.stdout
    assert named.stdout.startswith(lines_of(("runid", "all", "last"), ("num_q", "all", 2)))


def test_a_closed_pipe_is_quiet(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n" for q in range(3000)))
    (tmp_path / "run").write_text("".join(f"{q} Q0 a 1 1 t\n" for q in range(3000)))
    done = subprocess.run(f"'{PROGRAM}' -q qrels run | head -1", shell=True, capture_output=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"num_ret               \t0\t1\n", b"")


def test_nothing_heavy_is_imported():
    folder = GOLDEN / "official"
    code = (
        "import sys; from cranfield.cli.trec_eval import run; sys.argv = [''];"
        f"run({arguments_of(folder)!r});"
        "heavy = {'scipy', 'pandas', 'polars', 'pyarrow', 'narwhals', 'rich', 'click', 'zlib_ng', 'csv_ng'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


# The command line.


@pytest.mark.parametrize(
    "command",
    [
        "-q -n -m P.2,1 -l 2 qrels run",
        "-qnmP.2,1 -l2 qrels run",
        "qrels run -q -n -m P.2,1 -l 2",
        "qrels -l2 run -nq -mP.1,2",
        "--query_eval_wanted --nosummary --measure=P.2,1 --level_for_rel 2 qrels run",
        "-q -n -m P.2,1 -m P.5 -o -D 3 -T trec_results -R qrels -l2.7 -- qrels run",
        "--query --nosum -q -n -m P.2.9,1 -l2 -M 100 -N5 qrels run",
    ],
)
def test_ways_to_write_options(call, command):
    code, out, err = call(command, QRELS, RUN)
    assert (code, err) == (0, "")
    rows = [("P_1", 1, "0.0000"), ("P_2", 1, "0.0000"), ("P_1", 2, "1.0000"), ("P_2", 2, "0.5000")]
    assert out == lines_of(*rows)


def test_help_and_version(call):
    code, out, err = call("-h -m map -m relstring -m runid")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: cranfield-trec_eval")
    assert "map\n  Mean of the precisions at the relevant documents" in out
    assert all(difference.here in out for difference in DIFFERENCES)
    code, out, err = call("-v -m whatever")
    assert (code, out) == (0, "")
    assert err.startswith("trec_eval version 10.0 (cranfield ")


def test_every_measure_has_help(call):
    for name in NICKNAMES:
        assert call(f"-h -m {name}")[0] == 0
    assert call("-h " + " ".join(f"-m {name}" for name in ENTRIES))[1].count("\n\n") > len(ENTRIES)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("qrels", 1, "two files are needed"),
        ("qrels run more", 1, "two files are needed"),
        ("-x qrels run", 1, "option -x not recognized"),
        ("qrels run -m", 1, "option -m requires argument"),
        ("-m Map qrels run", 1, "trec_eval has no measure 'Map'.\nHint: did you mean map?"),
        ("-m P_5 qrels run", 1, "trec_eval has no measure 'P_5'."),
        ("-m ndcg_p qrels run", 1, "trec_eval has no measure 'ndcg_p'."),
        ("-m P. qrels run", 1, "no parameters follow the point of 'P.'."),
        ("-l x qrels run", 1, "-l x: 'x' is not a number."),
        ("-M x qrels run", 1, "-M x: 'x' is not a number."),
        ("--as 8 qrels run", 1, "--as 8: it may be 9 or 10."),
        ("-m P.0 qrels run", 2, "invalid cutoff '0' for P."),
        ("-m P.-5 qrels run", 2, "invalid cutoff '-5' for P."),
        ("-m P.5,5 qrels run", 2, "P is given the cutoff 5 twice."),
        ("-m P.5, qrels run", 2, "'' is not a number."),
        ("-m recall.5,10,5.2 qrels run", 2, "recall is given the cutoff 5 twice."),
        ("-m iprec_at_recall.0.5,.5 qrels run", 2, "iprec_at_recall is given the cutoff 0.5 twice."),
        ("-m ndcg.1=3,2 qrels run", 2, "'2' is not a parameter of ndcg."),
        ("-m ndcg.1=3,1=2 qrels run", 2, "ndcg is given two gains for the grade 1."),
        ("-m ndcg.1=x qrels run", 2, "'x' is not a number."),
        ("-m ndcg.p=0.5 qrels run", 2, "ndcg takes no p."),
        ("-m rbp.p=2 qrels run", 2, "invalid p '2.0' for RBP."),
        ("-m set_F.0 qrels run", 2, "invalid parameter 0 for set_F."),
        ("-m utility.1,2,x,4 qrels run", 2, "'x' is not a number."),
        ("-R nothing qrels run", 2, "there is no format 'nothing' of judgments."),
        ("-T nothing qrels run", 2, "there is no format 'nothing' of runs."),
        ("none run", 2, "none: cannot be read: no such file or directory."),
        ("qrels none", 2, "none: cannot be read: no such file or directory."),
        ("- run", 2, "judgments cannot be read from standard input."),
        ("qrels empty", 2, "empty: this file is empty."),
        ("empty run", 2, "empty: this file is empty."),
        ("run qrels", 2, "run:1: 6 columns where 4 are needed."),
        ("qrels qrels", 2, "qrels:1: 4 columns where at least 6 are needed."),
        ("-m utility.1,2 qrels run", 4, "utility needs four parameters."),
        ("-m prefs_simp qrels run", 4, "prefs_simp needs judgments in the format prefs or qrels_prefs, not qrels."),
        ("-m map_avgjg qrels run", 4, "map_avgjg needs judgments in the format qrels_jg, not qrels."),
        ("-R qrels_prefs -m map qrels run", 4, "map needs judgments in the format qrels, not qrels_prefs."),
        ("-R qrels_jg qrels run", 4, "num_ret needs judgments in the format qrels, not qrels_jg."),
        ("qrels twice.run", 4, "twice.run:2: document 'a' appears twice in the ranking of query '1'."),
        ("twice run", 4, "twice:2: document 'a' is judged twice for query '1' (1 and 0)."),
        ("-R qrels_jg -m qrels_jg twice run", 2, "document 'a' is judged twice for query '1' in group '0' (1 and 0)."),
        ("-R qrels_jg -m qrels_jg qrels twice.run", 4, "appears twice"),
        ("-R prefs -m prefs circle run", 4, "of group '1'"),
        ("--as 9 qrels other.run", 7, "there is no query that is both judged and in the run."),
        ("--as 9 -c qrels other.run", 7, "there is no query that is both judged and in the run."),
        ("-D 1.other qrels run", 7, "there is no query that is both judged and in the run."),
        ("qrels other.run", 4, "the query '1' is judged, but the run lacks it.\nHint: -c counts such queries"),
        ("-Z none qrels run", 255, "none: cannot be read: no such file or directory."),
        ("-Z empty qrels run", 255, "empty: this file is empty."),
        ("-Z qrels qrels run", 255, "qrels:1: 'a 1' are not two numbers."),
        ("-Z z qrels run", 255, "z:2: 0 columns where 4 are needed."),
    ],
)
def test_failures(call, command, code, message):
    files = {
        "empty": "",
        "twice": "1 0 a 1\n1 0 a 0\n",
        "twice.run": "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n",
        "other.run": "7 Q0 a 1 2 t\n",
        "circle": "1 1 1 a 2\n1 1 1 b 1\n1 1 2 b 2\n1 1 2 a 1\n2 1 1 c 1\n",
        "z": "1 map 0 1\n\n",
    }
    status, out, err = call(command, QRELS, RUN, **files)
    assert err.startswith("cranfield-trec_eval: ")
    assert message in err
    assert (status, out) == (code, "")


# Measures and their parameters.


def test_the_order_of_lines_is_fixed(call):
    code, out, _ = call("-n -q -m unj.3 -m yaap -m P.3 -m num_rel -m dcg qrels run", "1 0 a 1\n", "1 Q0 a 1 2 t\n")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["num_rel", "P_3", "dcg", "yaap", "unj_3"]


def test_nicknames_and_the_first_parameters(call):
    _, out, _ = call("-n -q -m official.9 -m P.3 -m P.4 -m map.7 qrels run", "1 0 a 1\n", "1 Q0 a 1 2 t\n")
    names = [line.split()[0] for line in out.splitlines()]
    assert names[3:6] == ["map", "Rprec", "bpref"]
    assert names[-1] == "P_3"
    assert len(names) == 3 + 4 + 11 + 1
    assert call("-m prefs -n -q -R qrels_prefs qrels run")[1].count("\n") == 6
    assert call("-m all_trec qrels run")[1].count("\n") == 99


def test_printed_names_and_values(call):
    qrels = "1 0 a 1\n1 0 b 1\n1 0 z 1\n1 0 d 0\n"
    ranked = "1 Q0 a 1 9 t\n1 Q0 b 1 8 t\n1 Q0 d 1 7 t\n1 Q0 c 1 6 t\n1 Q0 u 1 5 t\n"
    command = (
        "-n -q -m set_F.4 -m iprec_at_recall..25,.1 -m 11pt_avg..4,.8 -m utility.2,-1,0,1 -N 10 -m rbp.p=0.5 "
        "-m rbp_resid.p=0.5 -m ndcg.0=1,1=3 -m Rprec_mult.0.3,1.5 -m relstring.3 -m ndcg_cut.10,23.4 -m success.2"
    )
    assert call(f"{command} qrels run", qrels, ranked)[1] == lines_of(
        ("iprec_at_recall_0.10", 1, "1.0000"),
        ("iprec_at_recall_0.25", 1, "1.0000"),
        ("relstring_3", 1, "'110'"),
        ("Rprec_mult_0.30", 1, "1.0000"),
        ("Rprec_mult_1.50", 1, "0.4000"),
        ("utility_2,-1,0,1", 1, "5.0000"),
        ("11pt_avg_.4,.8", 1, "1.0000"),
        ("ndcg_0=1,1=3", 1, "0.7903"),
        ("ndcg_cut_10", 1, "0.7654"),
        ("ndcg_cut_23", 1, "0.7654"),
        ("success_2", 1, "1.0000"),
        ("set_F_4", 1, "0.5882"),
        ("rbp_p=0.5", 1, "0.7500"),
        ("rbp_resid_p=0.5", 1, "0.1250"),
    )


def test_values_that_trec_eval_is_known_to_print(call):
    seven = "1 Q0 a 1 9 t\n1 Q0 x 1 8 t\n1 Q0 y 1 7 t\n1 Q0 b 1 6 t\n1 Q0 w 1 5 t\n1 Q0 v 1 4 t\n1 Q0 c 1 3 t\n"
    three = "1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 x 0\n"
    measures = "-m iprec_at_recall.0.4,0.8 -m 11pt_avg"
    ten = [("iprec_at_recall_0.40", "all", "1.0000"), ("iprec_at_recall_0.80", "all", "0.5000")]
    assert call(f"{measures} qrels run", three, seven)[1] == lines_of(*ten, ("11pt_avg", "all", "0.7143"))
    nine = [("iprec_at_recall_0.40", "all", "0.5000"), ("iprec_at_recall_0.80", "all", "0.4286")]
    assert call(f"--as 9 {measures} qrels run")[1] == lines_of(*nine, ("11pt_avg", "all", "0.6623"))

    qrels, ranked = "1 0 a 1\n1 0 b 0\n1 0 d -1\n", "1 Q0 u 1 5 t\n1 Q0 d 1 4 t\n1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n"
    measures = "-n -q -m map -m num_ret -m rbp_resid -m relstring"
    assert call(f"{measures} qrels run", qrels, ranked)[1] == lines_of(
        ("num_ret", 1, 4), ("map", 1, "0.3333"), ("relstring", 1, "'-.10'"), ("rbp_resid", 1, "0.8461")
    )
    assert call(f"{measures} -J qrels run")[1] == lines_of(
        ("num_ret", 1, 2), ("map", 1, "1.0000"), ("relstring", 1, "'10'"), ("rbp_resid", 1, "0.0000")
    )
    # -M first, then -J.
    assert call(f"{measures} -J -M3 qrels run")[1].startswith(lines_of(("num_ret", 1, 1), ("map", 1, "1.0000")))
    grades = "1 0 a 3\n1 0 b 1\n1 0 z 2\n"
    cut = call("-M1 -m ndcg -m ndcg_cut.1,2 qrels run", grades, "1 Q0 a 1 .9 t\n1 Q0 b 1 .8 t\n")[1]
    assert cut == lines_of(("ndcg", "all", "0.6300"), ("ndcg_cut_1", "all", "1.0000"), ("ndcg_cut_2", "all", "0.7039"))


def test_queries_stand_in_the_order_of_their_bytes(call):
    ids = ["10", "2", "9", "a", "é", "𝄞"]
    qrels = "".join(f"{q} 0 d 1\n" for q in reversed(ids))
    ranked = "".join(f"{q} Q0 d 1 1 t\n" for q in ids)
    assert call("-nq -m recip_rank qrels run", qrels, ranked)[1] == lines_of(
        *[("recip_rank", q, "1.0000") for q in ids]
    )


def test_the_lowest_grade_that_is_relevant(call):
    qrels, ranked = (
        "1 0 a 2\n1 0 b 1\n1 0 c 0\n1 0 d -1\n",
        "1 Q0 c 1 3 t\n1 Q0 d 1 2.5 t\n1 Q0 b 1 2 t\n1 Q0 a 1 1 t\n",
    )
    measures = "-n -q -m num_rel -m num_rel_ret -m recip_rank -m bpref -m ndcg"
    shown = {
        level: [line.split()[2] for line in call(f"{measures} -l{level} qrels run", qrels, ranked)[1].splitlines()]
        for level in (0, 1, 2, 3)
    }
    assert shown[0] == ["3", "3", "1.0000", "1.0000", shown[1][4]]
    assert shown[1][:4] == ["2", "2", "0.0000", "0.3333"]
    assert shown[2][:4] == ["1", "1", "0.0000", "0.2500"]
    assert shown[3] == ["0", "0", "0.0000", "0.0000", shown[1][4]]
    # Rndcg heeds the level where no document reaches it, and only there.
    assert (
        call("-l2 -m Rndcg qrels run")[1] == call("-l1 -m Rndcg qrels run")[1] != lines_of(("Rndcg", "all", "0.0000"))
    )
    assert call("-l3 -m Rndcg.1=2 qrels run")[1] == lines_of(("Rndcg_1=2", "all", "0.0000"))


def test_means_are_added_in_order(call):
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1; the one is printed as 0.0000, the other as 0.0001.
    qrels = "1 0 a 1\n" + "".join(f"{q} 0 a 1\n" for q in range(2, 12))
    ranked = "".join(f"{q} Q0 {'a' if q < 4 else 'x'} 1 1 t\n" for q in range(1, 12))
    _, out, _ = call("-m P.16 -m num_q qrels run", qrels, ranked)
    total = 0.0
    for q in sorted(map(str, range(1, 12))):
        total += 1 / 16 if int(q) < 4 else 0.0
    assert out == lines_of(("num_q", "all", 11), ("P_16", "all", f"{total / 11:6.4f}"))


# Queries that the run lacks.


def test_missing_queries_end_trec_eval_10_and_are_skipped_by_9(call):
    qrels = QRELS + "10 0 e 1\n"
    code, out, err = call("-q -m map -m num_q qrels run", qrels, RUN)
    assert (code, out) == (4, lines_of(("map", 1, "0.5000")))
    assert err.splitlines()[0] == "cranfield-trec_eval: the query '10' is judged, but the run lacks it."
    assert call("-m map qrels run")[:2] == (4, "")
    code, out, err = call("-q --as 9 -m map -m num_q qrels run")
    assert (code, err) == (0, "")
    rows = [("map", 1, "0.5000"), ("map", 2, "0.5000"), ("num_q", "all", 2), ("map", "all", "0.5000")]
    assert out == lines_of(*rows)
    assert call("-q -D 0.2 -m map -m num_q qrels run")[1] == lines_of(
        ("map", 2, "0.5000"), ("num_q", "all", 1), ("map", "all", "0.5000")
    )


def test_the_complete_set(call):
    qrels = "1 0 a 1\n2 0 b 2\n2 0 c 1\n2 0 d 0\n"
    measures = (
        "-m num_q -m num_ret -m num_rel -m map -m gm_map -m ideal_dcg -m yaap -m unj.5 -m utility -m rbp_resid "
        "-m relstring -m set_F"
    )
    shown = call(f"-q -c {measures} qrels run", qrels, "1 Q0 a 1 1 t\n")[1]
    assert (
        lines_of(
            ("num_ret", 2, 0),
            ("num_rel", 2, 2),
            ("map", 2, "0.0000"),
            ("relstring", 2, "''"),
            ("utility", 2, "0.0000"),
            ("ideal_dcg", 2, "2.6309"),
            ("set_F", 2, "0.0000"),
            ("yaap", 2, "-1.0986"),
            ("rbp_resid", 2, "0.0000"),
            ("unj_5", 2, "0.0000"),
            ("num_q", "all", 2),
            ("num_ret", "all", 1),
            ("num_rel", "all", 3),
            ("map", "all", "0.5000"),
            ("gm_map", "all", "0.0032"),
            ("utility", "all", "0.5000"),
            ("ideal_dcg", "all", "1.8155"),
        )
        in shown
    )
    # Lines with parameters are not known by name, and keep what the dummy document scores.
    left = call("-q -n -c -m utility.2,-1,5,0 -m rbp_resid.p=0.5 -m relstring.4 -D0.2 qrels run")[1]
    assert left == lines_of(
        ("relstring_4", 2, "'-'"), ("utility_2,-1,5,0", 2, "9.0000"), ("rbp_resid_p=0.5", 2, "1.0000")
    )
    # num_rel of all queries does not heed -l under -c.
    assert call("-q -c -l2 -m num_rel qrels run")[1] == lines_of(
        ("num_rel", 1, 0), ("num_rel", 2, 1), ("num_rel", "all", 3)
    )
    assert call("-q -l2 -m num_rel --as 9 qrels run")[1] == lines_of(("num_rel", 1, 0), ("num_rel", "all", 0))
    # trec_eval 9 counts such queries without listing them.
    assert call("-q -c --as 9 -m map -m gm_map -m num_q -m num_rel -m yaap qrels run")[1] == lines_of(
        ("num_rel", 1, 1),
        ("map", 1, "1.0000"),
        ("yaap", 1, "0.6931"),
        ("num_q", "all", 2),
        ("num_rel", "all", 3),
        ("map", "all", "0.5000"),
        ("gm_map", "all", "0.0032"),
        ("yaap", "all", "0.3466"),
    )
    everything = call("-c -m map -m num_q qrels run", None, "7 Q0 a 1 1 t\n")[1]
    assert everything == lines_of(("num_q", "all", 2), ("map", "all", "0.0000"))


@pytest.mark.parametrize("scan", dict.fromkeys([native, None]), ids=lambda scan: "native" if scan else "pure")
def test_scores_of_32_bits(call, scan):
    qrels, ranked = "1 0 a 1\n", "1 Q0 a 1 16777217 t\n1 Q0 b 1 16777216 t\n"
    huge = "1 Q0 a 1 1e39 t\n1 Q0 b 1 1e40 t\n1 Q0 c 1 -1e40 t\n"
    with scan_with(scan):
        assert "1.0000" in call("-m recip_rank qrels run", qrels, ranked)[1]
        assert "0.5000" in call("-m recip_rank --as 9 qrels run")[1]
        assert "0.5000" in call("-m recip_rank --as 9 qrels run", None, huge)[1]


def test_z_scores(call):
    files = {"z": "1 map 0.25 0.5\n2 map 0.5 0\n1 num_rel 1 0\n1 P_5 0 0\n1 gm_map -1 2\n1 bpref 0 nan\n"}
    code, out, _ = call("-q -Z z -m map -m num_rel -m P.5 -m relstring qrels run", QRELS, RUN, **files)
    assert code == 0
    assert out == (
        "Znum_rel               \t1\t0.0000\nZmap                   \t1\t0.5000\n"
        "ZP_5                   \t1\t-1000000.0000\n"
        "relstring             \t1\t'01'\n"
        "Znum_rel               \t2\t-1000000.0000\nZmap                   \t2\t0.0000\nZP_5                   \t2\t"
        "-1000000.0000\nrelstring             \t2\t'2-'\n"
        "Znum_rel               \tall\t-1000000.0000\nZmap                   \tall\t0.2500\n"
        "ZP_5                   \tall\t-1000000.0000\n"
    )
    only = call("-Z z -D0.1 -m runid -m num_q -m gm_map -m bpref qrels run")[1]
    assert only == (
        "runid                 \tall\tlast\nZnum_q                 \tall\t1.0000\n"
        "Zgm_map                \tall\t1.1658\nZbpref                 \tall\t   nan\n"
    )


def test_the_name_of_the_run_stands_in_its_last_line(call):
    tail = "# an end\n\n" + "# more of it\n" * 2000
    assert call("-m runid qrels run", QRELS, RUN + tail)[1] == lines_of(("runid", "all", "last"))
    assert call("-m runid qrels run", QRELS, RUN.rstrip())[1] == lines_of(("runid", "all", "last"))


def test_ties_of_preferences(call):
    qrels, ranked = "1 0 a 1\n1 0 b 0\n1 0 c 0\n", "".join(f"1 Q0 {d} 1 1 t\n" for d in "abc")
    assert "1.0000" in call("-R qrels_prefs -m prefs_simp qrels run", qrels, ranked)[1]
    assert "0.3333" in call("-m recip_rank qrels run")[1]


# Where trec_eval errs.

ONE = "1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n1 Q0 c 1 1 t\n"


def a_comment_everywhere(call):
    commented = "# one\n# two\n1 0 a 1\n  # three 2 3\n1 0 b 0\n# last"
    assert call("-m map qrels run", commented, ONE)[1] == lines_of(("map", "all", "1.0000"))


def a_blank_line(call):
    assert call("-m map qrels run", "1 0 a 1\n\n1 0 b 0\n\n", ONE)[1] == lines_of(("map", "all", "1.0000"))


def rbp_beside_others(call):
    call("", "1 0 a 1\n1 0 b 1\n", ONE)
    assert call("-m rbp qrels run")[1] == lines_of(("rbp", "all", "0.1900"))
    assert call("-m yaap -m dcg -m rbp qrels run")[1].endswith(lines_of(("rbp", "all", "0.1900")))
    four = "1 Q0 a 1 9 t\n1 Q0 b 1 8 t\n1 Q0 d 1 7 t\n1 Q0 c 1 6 t\n1 Q0 u 1 5 t\n"
    graded = call("-m rbp -m rbp_resid qrels run", "1 0 a 1\n1 0 b 2\n1 0 c 3\n1 0 d 0\n", four)[1]
    assert graded == lines_of(("rbp", "all", "0.1662"), ("rbp_resid", "all", "0.6561"))


def close_gains(call):
    gains = "-m ndcg.1=0.3,2=0.6,3=0.9 qrels run"
    assert call(gains, "1 0 a 3\n1 0 b 2\n1 0 c 1\n", ONE)[1] == lines_of(("ndcg_1=0.3,2=0.6,3=0.9", "all", "1.0000"))


def gains_of_each(call):
    code, out, _ = call("-m dcg.1=2 -m ideal_dcg.1=3 -m ndcg.1=4 qrels run", "1 0 a 1\n", ONE)
    rows = [("dcg_1=2", "all", "2.0000"), ("ideal_dcg_1=3", "all", "3.0000"), ("ndcg_1=4", "all", "1.0000")]
    assert (code, out) == (0, lines_of(*rows))


def gains_of_the_unjudged(call):
    code, out, err = call("-m ndcg.-1=0.5 qrels run", "1 0 a 1\n", ONE)
    assert (code, out) == (2, "")
    assert "invalid gain '{'-1': 0.5}' for nDCG." in err


def an_empty_ranking(call):
    zero = lines_of(("iprec_at_recall_0.00", "all", "0.0000"), ("11pt_avg", "all", "0.0000"))
    assert call("-J -m iprec_at_recall.0 -m 11pt_avg qrels run", "1 0 z 1\n", ONE)[1] == zero
    assert call("-M0 -m iprec_at_recall.0 -m 11pt_avg qrels run", "1 0 a 1\n", ONE)[1] == zero
    assert call("-M0 -m num_ret -m set_P qrels run")[1] == lines_of(("num_ret", "all", 0), ("set_P", "all", "0.0000"))


def points_in_any_order(call):
    seven = "".join(f"1 Q0 {d} 1 {9 - at} t\n" for at, d in enumerate("axybwvc"))
    qrels = "1 0 a 1\n1 0 b 1\n1 0 c 1\n"
    rising = call("-m 11pt_avg.0.2,0.5,0.8 qrels run", qrels, seven)[1].split()
    falling = call("-m 11pt_avg.0.8,0.5,0.2 qrels run")[1].split()
    assert (rising[0], falling[0]) == ("11pt_avg_0.2,0.5,0.8", "11pt_avg_0.8,0.5,0.2")
    assert rising[2] == falling[2] == "0.6667"


def negative_grades_only(call):
    code, out, _ = call("-q -m map -m ndcg -m rbp -m infAP -m num_rel qrels run", "1 0 a -1\n1 0 b -2\n", ONE)
    names = ("num_rel", "map", "infAP", "ndcg", "rbp")
    rows = [(name, query, "0" if name == "num_rel" else "0.0000") for query in (1, "all") for name in names]
    assert (code, out) == (0, lines_of(*rows))


def a_name_behind_the_last(call):
    code, out, _ = call("-Z z -m utility qrels run", "1 0 a 1\n", ONE, z="1 P_5 0 1\n")
    assert (code, out) == (0, "Zutility               \tall\t-1000000.0000\n")


def negative_numbers(call):
    for option in ("-l-1", "-M-1", "-N -1"):
        code, out, err = call(f"{option} qrels run", QRELS, RUN)
        assert (code, out) == (1, "")
        assert "it cannot be below 0." in err


def no_numbers(call):
    for qrels, ranked, fact in (
        ("1 0 a xyz\n", RUN, "qrels:1: grade 'xyz' is not a number."),
        ("1 0 a 1\n", "1 Q0 a 1 15,5 t\n", "run:1: score '15,5' is not a number."),
        ("1 0 a 1\n", "1 Q0 a 1 nan t\n", "run:1: score 'nan' is not a finite number."),
        ("1 0 a 1\n", "1 Q0 a 1 0x10 t\n", "run:1: score '0x10' is not a number."),
    ):
        code, out, err = call("qrels run", qrels, ranked)
        assert (code, out) == (2, "")
        assert fact in err
    assert call("-m P.5x qrels run", QRELS, RUN)[0] == 2
    assert call("-Mx qrels run", QRELS, RUN)[0] == 1


def grades_with_decimals(call):
    code, out, err = call("-m map qrels run", "1 0 a 1.9\n", ONE)
    assert (code, out) == (2, "")
    assert "qrels: the grade 1.9 of document 'a' for query '1' is not a whole number." in err
    assert call("-m map qrels run", "1 0 a 2.0\n", ONE)[1] == lines_of(("map", "all", "1.0000"))
    assert call("-R qrels_jg -m qrels_jg qrels run", "1 g a 1.5\n1 h a 2\n", ONE)[0] == 2
    assert call("-R qrels_prefs -m prefs_simp qrels run", "1 0 a 1.5\n1 0 b 1.2\n", ONE)[0] == 0


def hidden_duplicates(call):
    double = "1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n1 Q0 b 1 1 t\n"
    assert call("-q -M1 qrels run", "1 0 a 1\n", double)[:2] == (4, "")
    assert call("-q qrels run", "1 0 a 1\n", ONE + double.replace("1 Q0", "7 Q0"))[:2] == (4, "")


def a_true_message(call):
    code, out, err = call("-q -m map qrels run", "1 0 a 1\n2 0 a 1\n", ONE)
    assert (code, out) == (4, lines_of(("map", 1, "1.0000")))
    assert "the query '2' is judged, but the run lacks it." in err


def no_gains(call):
    code, out, _ = call("-l 0 -m Rndcg qrels run", "1 0 a 0\n", ONE)
    assert (code, out) == (0, lines_of(("Rndcg", "all", "0.0000")))


def exponents(call):
    code, out, _ = call("-q -n -m relstring qrels run", "1 0 a 1e3\n1 0 b 1\n", ONE)
    assert (code, out) == (0, lines_of(("relstring", 1, "'>1-'")))
    code, _, err = call("-m P.1e1 qrels run")
    assert (code, err) == (2, "cranfield-trec_eval: '1e1' is not a whole number.\n")


def parameters_out_of_range(call):
    for asked, fact in (
        ("rbp.1=3", "rbp takes no gains."),
        ("rbp.p=0.5,2=7", "rbp takes no gains."),
        ("rbp.q=3", "'q' is neither p nor a grade."),
        ("ndcg.x=3", "'x' is neither p nor a grade."),
        ("ndcg.p=3", "ndcg takes no p."),
        ("rbp.p=1", "invalid p '1"),
        ("set_F.0", "invalid parameter 0 for set_F."),
        ("iprec_at_recall.1.5", "invalid recall '1.5"),
        ("11pt_avg.0.5,1.5", "invalid recall '1.5"),
        ("Rprec_mult.0", "invalid multiple '0"),
    ):
        code, _, err = call(f"-m {asked} qrels run", QRELS, RUN)
        assert code == 2
        assert err.startswith(f"cranfield-trec_eval: {fact}")


def other_bytes(call):
    Path("latin").write_bytes(b"1 0 caf\xe9 1\n")
    code, _, err = call("-m map latin run", QRELS, RUN)
    assert code == 2
    assert "latin:1: byte 0xe9 at column 8 is not UTF-8." in err


def a_byte_order_mark(call):
    code, out, _ = call("-m recip_rank qrels run", "\ufeff1 0 a 1\n", "\ufeff" + RUN)
    assert (code, out) == (0, lines_of(("recip_rank", "all", "0.5000")))


PINNED = {
    "Rndcg without gains": no_gains,
    "numbers with exponents": exponents,
    "parameters out of range": parameters_out_of_range,
    "bytes that are not UTF-8": other_bytes,
    "byte order mark": a_byte_order_mark,
    "message of a missing query": a_true_message,
    "comments in judgments": a_comment_everywhere,
    "blank lines in judgments": a_blank_line,
    "bounds of rbp": rbp_beside_others,
    "order of close gains": close_gains,
    "gains for several measures": gains_of_each,
    "gains of unjudged documents": gains_of_the_unjudged,
    "values of empty rankings": an_empty_ranking,
    "order of the points of 11pt_avg": points_in_any_order,
    "only negative grades": negative_grades_only,
    "names behind the last z-score": a_name_behind_the_last,
    "negative level": negative_numbers,
    "numbers that are none": no_numbers,
    "grades with decimals": grades_with_decimals,
    "duplicates out of sight": hidden_duplicates,
}


@pytest.mark.parametrize("name", [one.name for one in DIFFERENCES])
def test_differences(name, call):
    PINNED[name](call)


# trec_eval 9, which pytrec_eval runs.

STANDARD = (
    "map gm_map map_cut Rprec Rprec_mult bpref gm_bpref recip_rank iprec_at_recall 11pt_avg P recall relative_P "
    "success infAP utility ndcg ndcg_cut ndcg_rel Rndcg binG G set_P set_relative_P set_recall set_map set_F "
    "num_ret num_rel num_rel_ret num_nonrel_judged_ret"
)


@settings(max_examples=60, deadline=None)
@given(collections(grades=st.integers(-1, 3)), st.integers(1, 3), st.booleans())
def test_the_values_of_trec_eval_9(tmp_path_factory, collection, level, judged_only):
    qrels, ranked = collection
    for judged in qrels.values():  # pytrec_eval crashes where all grades are negative
        judged["only-here"] = 0
    folder = tmp_path_factory.mktemp("as9")
    rows = [(q, "0", d, str(grade)) for q, judged in qrels.items() for d, grade in judged.items()]
    (folder / "qrels").write_bytes(plain(rows))
    rows = [(q, "Q0", d, "1", repr(score), "t") for q, scores in ranked.items() for d, score in scores.items()]
    (folder / "run").write_bytes(plain(rows))
    measures = [word for name in STANDARD.split() for word in ("-m", name)]
    arguments = [
        "-q",
        "-n",
        "--as",
        "9",
        f"-l{level}",
        *(["-J"] * judged_only),
        *measures,
        str(folder / "qrels"),
        str(folder / "run"),
    ]
    output = io.TextIOWrapper(io.BytesIO())
    before, sys.stdout = sys.stdout, output
    try:
        code = run(arguments)
    finally:
        sys.stdout = before
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(STANDARD.split()), relevance_level=level, judged_docs_only_flag=judged_only
    )
    expected = evaluator.evaluate(ranked)
    assert code == (0 if expected else 7)
    printed = {}
    for line in output.buffer.getvalue().decode().splitlines():
        name, query, value = line.split("\t")
        printed[query, name.strip()] = float(value)
    wanted = {
        (query, name): value
        for query, values in expected.items()
        for name, value in values.items()
        if not name.startswith("gm_")
    }
    assert printed.keys() == wanted.keys()
    for key, value in wanted.items():
        value = 0.0 if math.isnan(value) else value  # of an empty ranking
        assert printed[key] == pytest.approx(value, abs=0.5e-4 + 1e-9), key


# Values at the edge of rounding.


def test_the_residual_is_added_up_as_trec_eval_does(call):
    qrels = "q1 0 z 0\nq2 0 j 0\nq2 0 k 0\n"
    ranked = "q1 Q0 u 1 1 t\n" + "".join(f"q2 Q0 {d} 1 {-n} t\n" for n, d in enumerate(("u1", "j", "u2", "k", "u3")))
    assert call("-m rbp_resid qrels run", qrels, ranked)[1] == lines_of(("rbp_resid", "all", "0.9186"))


@given(collections(), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
@settings(max_examples=60, deadline=None)
def test_rbp_and_its_residual_are_those_of_the_loop(collection, p):
    qrels, ranked = collection
    judged = rank_run(Judgments.read(qrels), open_source(ranked, "run"), Policy())
    names = (f"RBP(p={p}, max_grade=query)", f"RBPResidual(p={p}, tail=unjudged)")
    found = [parse_measure(name)(judged).tolist() for name in names]
    for place in range(len(judged)):
        rows = judged.only(place)
        grades = dict(zip(rows.rank.tolist(), rows.grade.tolist(), strict=True))
        top = max(1.0, rows.judged_grades.max(initial=0.0))
        gained, unjudged, weight = 0.0, 0.0, 1.0
        for rank in range(1, int(rows.retrieved[0]) + 1):
            grade = grades.get(rank, -1.0)
            if grade > 0:
                gained += grade / top * weight
            if grade < 0:
                unjudged += weight
            weight *= p
        assert found[0][place] == (1 - p) * gained
        assert found[1][place] == (weight + (1 - p) * unjudged if unjudged else 0)


def test_a_grade_of_minus_zero_is_zero(call):
    assert call("-q -n -m relstring qrels run", "1 0 a -0\n1 0 b 1\n", RUN)[1] == lines_of(("relstring", 1, "'10'"))
