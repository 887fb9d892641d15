"""cranfield pool, importing sheets and judgments into a store, and commands that read judgments from a store."""

import csv
import io

import pytest

from cranfield import open_store
from cranfield.errors import InputError
from tests.cli.test_judge import Served
from tests.program import run

pytest.importorskip("sqlalchemy")

ENGINE = """
def search(query, k):
    if query == "broken":
        raise RuntimeError("no index")
    return [{"id": f"{query}-{n}", "title": f"{query} {n}", "url": "https://x"} for n in range(k)]

def nothing(query, k):
    raise RuntimeError("no index")
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "queries.tsv").write_text("1\tcats\n2\tdogs\n3\tfish\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n1 0 z -1\n2 0 c 2\n")
    (tmp_path / "bm25.run").write_text("1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n1 Q0 d 3 7 x\n2 Q0 c 1 9 x\n9 Q0 c 1 9 x\n")
    (tmp_path / "dense.run").write_text("1 Q0 e 1 9 x\n1 Q0 d 2 8 x\n")
    (tmp_path / "pool_engine.py").write_text(ENGINE)
    return tmp_path


def pool(folder, *words):
    return run("pool", "judgments.db", *words, cwd=folder)


def waiting(folder):
    with open_store(folder / "judgments.db") as store:
        return {(task.query_id, task.doc_id) for task in store.next_several("nobody", 1000)}


def test_pool_prints_a_summary(folder):
    done = pool(folder, "queries.tsv", "bm25.run", "dense.run", "--qrels", "qrels.txt", "--depth", "3")
    assert done.stdout.splitlines() == [
        "judgments.db: 3 new judgments by qrels",
        "judgments.db: 2 documents of 1 query wait to be judged",
        "  5 documents in the pool of 2 runs, 3 of them judged already",
        "  2 documents have no text: d, e; give their texts with --corpus",
        "  1 query got no document from any run: 3",
        "  bm25: 1 query is not among the queries and left out",
        "Next: cranfield judge judgments.db",
    ]
    assert done.returncode == 0
    assert waiting(folder) == {("1", "d"), ("1", "e")}


def test_pool_takes_patterns_a_limit_and_queries(folder):
    done = pool(folder, "queries.tsv", "*.run", "--limit", "1", "--query", "1", "--query", "2")
    assert "3 unjudged documents left out by the limit" in done.stdout
    assert len(waiting(folder)) == 2
    wrong = pool(folder, "queries.tsv", "*.run", "--query", "7")
    assert wrong.returncode == 2
    assert "queries.tsv: query '7' is not among the queries." in wrong.stderr


def test_pooling_a_live_system_keeps_texts_and_reports_failures(folder):
    (folder / "queries.tsv").write_text("1\tcats\n2\tbroken\n")
    done = pool(folder, "queries.tsv", "bm25.run", "--system", "pool_engine:search", "--depth", "2")
    assert done.returncode == 1
    assert "search: 1 query failed; 2: RuntimeError: no index" in done.stdout
    assert waiting(folder) == {("1", "a"), ("1", "b"), ("1", "cats-0"), ("1", "cats-1"), ("2", "c")}
    with open_store(folder / "judgments.db") as store:
        shown = {task.doc_id: (task.title, task.url) for task in store.next_several("nobody", 9)}
    assert shown["cats-1"] == ("cats 1", "https://x")
    assert "3 documents have no text: a, b, c" in done.stdout
    broken = pool(folder, "queries.tsv", "--system", "pool_engine:nothing")
    assert broken.returncode == 2
    assert "nothing: every query failed" in broken.stderr


def test_pooling_a_collection_keeps_texts_narratives_and_judgments(folder):
    corpus = folder / "mine"
    corpus.mkdir()
    (corpus / "corpus.jsonl").write_text('{"_id": "d", "title": "Dogs", "text": "Dogs bark."}\n')
    (corpus / "queries.jsonl").write_text('{"_id": "1", "text": "cats", "narrative": "Pet cats."}\n')
    (corpus / "qrels.txt").write_text("1 0 a 1\n")
    done = pool(folder, "mine", "dense.run")
    assert "the judgments of mine are not in it; --qrels mine imports them" in done.stdout
    assert "1 document has no text: e;" in done.stdout
    assert "1 new judgment by mine" in pool(folder, "mine", "bm25.run", "--qrels", "mine").stdout
    with open_store(folder / "judgments.db") as store:
        tasks = {task.doc_id: task for task in store.next_several("nobody", 9)}
    assert set(tasks) == {"b", "d", "e"}
    assert (tasks["d"].text, tasks["d"].narrative) == ("Dogs bark.", "Pet cats.")


def test_narratives_are_read_from_a_table(folder):
    (folder / "queries.tsv").write_text("query_id\ttext\tnarrative\n1\tcats\tPet cats.\n2\tdogs\t\n")
    pool(folder, "queries.tsv", "dense.run")
    with open_store(folder / "judgments.db") as store:
        task = store.next_for("ann")
    assert (task.query, task.narrative) == ("cats", "Pet cats.")


def test_documents_below_the_depth_are_sampled(folder):
    done = pool(folder, "queries.tsv", "bm25.run", "--depth", "1", "--sample-below", "1", "--sample-depth", "3")
    assert "1 of those that wait was drawn at random; 1 more" in done.stdout
    with open_store(folder / "judgments.db") as store:
        store.judge("1", "a", 1, assessor="ann")
    run("convert", "judgments.db", "sampled.txt", "--pooled", cwd=folder)
    grades = sorted(line.split()[2:] for line in (folder / "sampled.txt").read_text().splitlines())
    assert grades == [["a", "1"], ["b", "-1"], ["d", "-1"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "missing argument 'QUERIES'"),
        (("queries.tsv",), "there is nothing to pool"),
        (("nothing.tsv", "bm25.run"), "there is no such folder"),
        (("queries.tsv", "nothing.run"), "nothing.run: cannot be read"),
        (("queries.tsv", "bm25.run", "--overlap", "150%"), "is not a share such as 10%"),
        (("queries.tsv", "bm25.run", "--depth", "0"), "nothing is pooled"),
        (("queries.tsv", "--system", "nowhere:search"), "there is no module 'nowhere'"),
    ],
)
def test_invalid_arguments_are_refused(folder, words, message):
    done = pool(folder, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_sheet_is_written_and_read_back(folder):
    done = pool(folder, "queries.tsv", "bm25.run", "--sheet", "sheet.csv")
    assert "sheet.csv: 4 documents to be judged" in done.stdout
    assert "cranfield convert sheet.csv judgments.db --assessor NAME" in done.stdout
    assert "this file already exists" in pool(folder, "--sheet", "sheet.csv").stderr
    before = (folder / "sheet.csv").read_bytes()
    assert pool(folder, "--sheet", "sheet.csv", "--force").returncode == 0
    assert (folder / "sheet.csv").read_bytes() == before
    rows = list(csv.DictReader(io.StringIO(before.decode("utf-8-sig"), newline="")))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
    writer.writeheader()
    writer.writerows({**row, "grade": "" if row["doc_id"] == "d" else "2"} for row in rows)
    (folder / "sheet.csv").write_text(out.getvalue(), encoding="utf-8-sig", newline="")
    done = run("convert", "sheet.csv", "judgments.db", "--assessor", "ann", cwd=folder)
    assert done.stdout == "judgments.db: 3 new judgments by ann\n  1 row has no grade and was left out\n"
    again = run("convert", "sheet.csv", "judgments.db", "--assessor", "ann", cwd=folder)
    assert "0 new judgments by ann; 3 were there already" in again.stdout
    (folder / "sheet.csv").write_text(out.getvalue().replace(";2;", ";5;"))
    wrong = run("convert", "sheet.csv", "judgments.db", "--assessor", "bob", cwd=folder)
    assert wrong.returncode == 2
    assert "sheet.csv:2: '5' is not a grade" in wrong.stderr
    with open_store(folder / "judgments.db") as store:
        assert {event.assessor for event in store.events()} == {"ann"}


def test_judgments_are_imported_and_exported(folder):
    done = run("convert", "qrels.txt", "judgments.db", cwd=folder)
    assert done.stdout == "judgments.db: 3 new judgments by qrels\n  1 negative grade was left out\n"
    run("convert", "qrels.txt", "judgments.db", "--assessor", "gpt", "--kind", "model", cwd=folder)
    with open_store(folder / "judgments.db") as store:
        assert {(event.assessor, event.kind) for event in store.events()} == {("qrels", "imported"), ("gpt", "model")}
    run("convert", "judgments.db", "out.txt", cwd=folder)
    assert (folder / "out.txt").read_text() == "1 0 a 1\n1 0 b 0\n2 0 c 2\n"
    for words in (("--merge", "max"), ("--assessor", "a", "--assessor", "b"), ("--as", "run"), ("--pooled",)):
        wrong = run("convert", "qrels.txt", "judgments.db", *words, cwd=folder)
        assert wrong.returncode == 2
        assert "only one --assessor and one --kind can be imported at a time" in wrong.stderr
    run_file = run("convert", "bm25.run", "other.db", cwd=folder)
    assert run_file.returncode == 2
    assert not (folder / "other.db").exists()


def test_a_table_of_judgments_that_looks_like_a_sheet(folder):
    (folder / "qrels.csv").write_text("query_id,query,doc_id,grade\n1,cats,a,1\n")
    run("convert", "qrels.txt", "judgments.db", cwd=folder)
    (folder / "sheet.csv").write_text("query_id,query,doc_id,grade\n1,cats,new,1\n")
    wrong = run("convert", "sheet.csv", "judgments.db", cwd=folder)
    assert wrong.returncode == 2
    assert "sheet.csv:2: document 'new' was never waiting for query '1' in judgments.db." in wrong.stderr
    assert "--from csv" in wrong.stderr
    done = run("convert", "sheet.csv", "judgments.db", "--from", "csv", cwd=folder)
    assert done.stdout == "judgments.db: 1 new judgment by sheet\n"
    model = run("convert", "qrels.csv", "judgments.db", "--kind", "model", cwd=folder)
    assert "a sheet is filled in by a person" in model.stderr
    absent = run("convert", "qrels.csv", "nothing.db", cwd=folder)
    assert "there is no such store" in absent.stderr
    assert not (folder / "nothing.db").exists()


@pytest.fixture
def judged(folder):
    with open_store(folder / "judgments.db", create=True) as store:
        for who, grade in (("ann", 3), ("bob", 0), ("cid", 0)):
            store.judge("1", "a", grade, assessor=who)
        store.judge("1", "b", 2, assessor="gpt", kind="model")
        store.judge("2", "c", 1, assessor="ann")
    return folder


VIEWED = {
    "evaluate": ("evaluate", "QRELS", "bm25.run", "-m", "RR"),
    "compare": ("compare", "QRELS", "bm25.run", "dense.run", "-m", "RR", "--no-id-check"),
    "gate": ("gate", "QRELS", "bm25.run", "bm25.run", "-m", "RR"),
    "report": ("report", "QRELS", "bm25.run", "-m", "RR", "-o", "page.html"),
    "check": ("check", "QRELS", "bm25.run"),
    "explain": ("explain", "QRELS", "bm25.run", "1"),
    "stability": ("stability", "QRELS", "bm25.run", "dense.run", "--repeats", "2", "--no-id-check"),
    "plot": ("plot", "distribution", "QRELS", "bm25.run", "-m", "RR", "-o", "plot.json"),
    "convert": ("convert", "QRELS", "out.txt", "--force"),
}


@pytest.mark.parametrize("name", VIEWED)
def test_every_command_takes_assessors_and_merge_rules(judged, name):
    def called(qrels, *words):
        return run(*(qrels if word == "QRELS" else word for word in VIEWED[name]), *words, cwd=judged)

    done = called("judgments.db", "--assessor", "ann", "--assessor", "bob", "--merge", "max")
    assert done.returncode in (0, 1), done.stderr
    unknown = called("judgments.db", "--assessor", "eve")
    assert unknown.returncode == 2
    assert "there is no assessor 'eve'" in unknown.stderr
    plain = called("qrels.txt", "--merge", "median")
    assert plain.returncode == 2
    assert "qrels.txt: these judgments are not in a store" in plain.stderr
    assert "cranfield convert" in plain.stderr


def test_options_choose_which_judgments_count(judged):
    def precision(*words):
        done = run("evaluate", "judgments.db", "bm25.run", "-m", "P@1", "--format", "tsv", *words, cwd=judged)
        return done.stdout.split()[-1]

    assert float(precision()) == 0.5  # 'a' is 0 by majority
    assert float(precision("--merge", "max")) == 1.0
    assert float(precision("--assessor", "bob")) == 0.0
    assert "To judge" in run("evaluate", "judgments.db", "bm25.run", cwd=judged).stdout
    done = run("evaluate", "judgments.db", "bm25.run", "--merge", "max", "--kind", "model", "-v", cwd=judged)
    assert "To judge" not in done.stdout  # others may have judged it
    assert "judges:1|merge:max|kinds:model" in done.stdout.replace("\n", "")


def test_a_gate_config_can_name_a_store(judged):
    (judged / "gate.toml").write_text('qrels = "judgments.db"\nbaseline = "bm25.run"\ncandidate = "bm25.run"\n')
    assert run("gate", "--config", "gate.toml", cwd=judged).returncode == 0
    wrong = run("gate", "--config", "gate.toml", "--assessor", "ann", cwd=judged)
    assert wrong.returncode == 2
    assert "which is missing; give it here" in wrong.stderr


PROJECT = """
collection = "mine"
measures = ["P@1"]
k = 1
[systems.fixed]
type = "python"
object = "pool_engine:search"
"""


@pytest.fixture
def project(judged):
    corpus = judged / "mine"
    corpus.mkdir()
    (corpus / "queries.tsv").write_text("1\tcats\n")
    (judged / "cranfield.toml").write_text(PROJECT)
    return judged


def test_a_project_chooses_assessors(project):
    with open_store(project / "mine" / "judgments.db", create=True) as store:
        store.judge("1", "cats-0", 2, assessor="ann")
        store.judge("1", "cats-0", 0, assessor="bob")
    assert "0.0000" in run("test", "--worst", "0", cwd=project).stdout
    for chosen in ("assessors = ['ann']", "merge = 'max'"):
        (project / "cranfield.toml").write_text(f"{PROJECT}[judgments]\n{chosen}\n")
        assert "1.0000" in run("test", "--worst", "0", cwd=project).stdout
    for wrong, message in (
        ("assessor = 'ann'", "there is no setting 'assessor'"),
        ("merge = 'mean'", "there is no rule 'mean'"),
        ("assessors = 'ann'", "assessors must be a list"),
        ("kinds = ['robot']", "there is no kind of assessor 'robot'"),
    ):
        (project / "cranfield.toml").write_text(f"{PROJECT}[judgments]\n{wrong}\n")
        done = run("test", cwd=project)
        assert done.returncode == 2
        assert message in done.stderr


def test_a_project_without_a_store_has_no_assessors(project):
    (project / "mine" / "qrels.txt").write_text("1 0 a 1\n")
    (project / "cranfield.toml").write_text(f"{PROJECT}[judgments]\nmerge = 'max'\n")
    done = run("test", cwd=project)
    assert done.returncode == 2
    assert "these judgments are not in a store" in done.stderr


def test_evaluate_reports_unjudged_documents_and_how_to_judge_them(folder):
    done = run("evaluate", "qrels.txt", "bm25.run", "-m", "RR", cwd=folder)
    message = "1 document in the first 10 of 2 queries is unjudged. To judge it:"
    assert message in done.stdout.splitlines()
    command = done.stdout.splitlines()[-1].split()
    # queries.tsv is beside the judgments, so the folder is a collection
    assert command == ["cranfield", "pool", "judgments.db", ".", "bm25.run", "--qrels", "qrels.txt"]
    assert run(*command[1:], cwd=folder).returncode == 0
    assert waiting(folder) == {("1", "d")}
    stored = run("evaluate", "judgments.db", "bm25.run", "dense.run", "--no-id-check", cwd=folder).stdout
    assert stored.splitlines()[-2:] == [
        "Up to 2 documents in the first 10 of 2 queries are unjudged. To judge them:",
        "  cranfield pool judgments.db . bm25.run dense.run",
    ]
    for words in (("--format", "json"), ("--format", "tsv"), ("-o", "out.txt"), ("--complete",)):
        assert "To judge" not in run("evaluate", "qrels.txt", "bm25.run", *words, cwd=folder).stdout
    assert "To judge" not in run("evaluate", "builtin:qrels", "builtin:meaning", cwd=folder).stdout
    judged = "".join(f"1 0 {document} 1\n" for document in "abd")
    (folder / "qrels.txt").write_text(f"{judged}2 0 c 1\n")
    assert "To judge" not in run("evaluate", "qrels.txt", "bm25.run", cwd=folder).stdout


def test_names_in_the_suggested_command_are_quoted(folder):
    (folder / "my runs").mkdir()
    (folder / "my runs" / "a b.run").write_text("1 Q0 x 1 1 t\n")
    (folder / "queries.tsv").unlink()
    done = run("evaluate", "qrels.txt", "my runs/a b.run", "--no-id-check", cwd=folder)
    assert "cranfield pool judgments.db QUERIES 'my runs/a b.run' --qrels qrels.txt" in done.stdout
    many = run("evaluate", "qrels.txt", *["bm25.run"] * 6, cwd=folder)
    assert "cranfield pool judgments.db QUERIES RUN... --qrels qrels.txt" in many.stdout


def test_cranfield_test_reports_unjudged_documents(project):
    (project / "mine" / "qrels.txt").write_text("1 0 a 1\n")
    done = run("test", "--worst", "0", cwd=project)
    assert done.stdout.splitlines()[-2:] == [
        "1 document in the first 10 of 1 query is unjudged. To judge it:",
        "  cranfield judge",
    ]


def test_a_store_never_takes_its_own_view_back(folder):
    (folder / "qrels.txt").unlink()
    with open_store(folder / "judgments.db", create=True) as store:
        for who, grade in (("ann", 1), ("bob", 3)):
            store.judge("2", "c", grade, assessor=who)
    again = pool(folder, ".", "dense.run")
    assert again.returncode == 0
    assert "--qrels" not in again.stdout  # the judgments of the folder are those of the store
    for words in (
        ["pool", "judgments.db", ".", "dense.run", "--qrels", "."],
        ["convert", "./judgments.db", "judgments.db"],
    ):
        done = run(*words, cwd=folder)
        assert (done.returncode, "these judgments are a view of this very store." in done.stderr) == (2, True)
    (folder / "cranfield.toml").write_text(
        'collection = "."\n[systems.s]\ntype = "python"\nobject = "pool_engine:search"\n'
    )
    assert "new judgments by collection" not in Served(folder).end()
    with open_store(folder / "judgments.db") as store:
        assert {event.assessor for event in store.events()} == {"ann", "bob"}
        with pytest.raises(InputError, match="a view of this very store"):
            store.import_qrels(store.view(), "everybody")


def test_grades_off_the_scale_are_refused_by_every_way_in(folder):
    (folder / "five.txt").write_text("1 0 a 1\n1 0 b 5\n1 0 z -1\n")
    told = "document 'b' of query '1' has the grade 5, which is not on the scale."
    for words in (
        ["pool", "judgments.db", "queries.tsv", "bm25.run", "--qrels", "five.txt"],
        ["convert", "five.txt", "judgments.db"],
    ):
        done = run(*words, cwd=folder)
        assert (done.returncode, told in done.stderr) == (2, True)
        assert "Hint: grades are 0, 1, 2, 3; --grade sets others" in done.stderr
    with open_store(folder / "judgments.db") as store:
        assert list(store.events()) == []
        with pytest.raises(InputError, match=r"store\.set_scale sets others"):
            store.judge("1", "b", 5, assessor="ann")
    grades = [word for grade in (0, 1, 5) for word in ("--grade", f"{grade}=G{grade}")]
    assert run("convert", "five.txt", "judgments.db", *grades, cwd=folder).stdout.startswith("judgments.db: 2 new")
    other = pool(folder, "queries.tsv", "bm25.run", "--grade", "0=No", "--grade", "7=Yes")
    assert other.returncode == 0
    with open_store(folder / "judgments.db") as store:
        assert store.scale.names == {0.0: "No", 7.0: "Yes"}
    assert run("convert", "five.txt", "five.csv", *grades, cwd=folder).returncode == 2


@pytest.mark.parametrize("lost", ["query_id", "doc_id", "grade"])
def test_a_sheet_with_a_damaged_header_is_refused(folder, lost):
    pool(folder, "queries.tsv", "bm25.run", "--sheet", "sheet.csv")
    sheet = folder / "sheet.csv"
    sheet.write_text(sheet.read_text(encoding="utf-8-sig").replace(f'"{lost}"', '"nr"', 1))
    done = run("convert", "sheet.csv", "judgments.db", "--assessor", "ann", cwd=folder)
    assert done.returncode == 2
    assert f"sheet.csv:1: the column '{lost}' is missing." in done.stderr


def test_a_sheet_has_only_the_queries_asked_for(folder):
    pool(folder, "queries.tsv", "bm25.run", "--query", "2", "--sheet", "two.csv")
    pool(folder, "queries.tsv", "bm25.run", "--query", "1", "--sheet", "one.csv")
    run("pool", "judgments.db", "--sheet", "alone.csv", "--query", "1", cwd=folder)
    rows = {
        name: list(csv.DictReader(io.StringIO((folder / name).read_text(encoding="utf-8-sig"))))
        for name in ("one.csv", "two.csv", "alone.csv")
    }
    assert {name: {row["query_id"] for row in its} for name, its in rows.items()} == {
        "one.csv": {"1"},
        "two.csv": {"2"},
        "alone.csv": {"1"},
    }
    done = run("pool", "judgments.db", "--sheet", "none.csv", "--query", "9", cwd=folder)
    assert (done.returncode, "there is no query '9'." in done.stderr) == (2, True)
    assert not (folder / "none.csv").exists()


@pytest.fixture
def ranked(folder):
    """Two runs of 40 documents, of which the second returns some that the first does not."""
    for name, step in (("one", 1), ("two", 3)):
        lines = [f"{q} Q0 d{step * n % 50} {n} {100 - n} x\n" for q in "123" for n in range(40)]
        (folder / f"{name}.run").write_text("".join(lines))
    return folder


def test_a_plan_says_what_to_judge_and_the_command_that_draws_it(ranked):
    words = ("queries.tsv", "one.run", "two.run", "--depth", "5", "--sample-depth", "40", "--seed", "3")
    done = pool(ranked, *words, "--plan", "0.2", "-m", "AP")
    assert done.returncode == 0
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("To know xinfAP within 0.2, judge ")
    assert not (ranked / "judgments.db").exists()
    command = last.removeprefix("Next: cranfield ").split()
    assert command[:-2] == ["pool", "judgments.db", *words]
    assert command[-2] == "--sample-below"
    drawn = run(*command, cwd=ranked)
    documents = first.split("judge ")[1].split(" ")[0]
    assert drawn.stdout.splitlines()[0].startswith(f"judgments.db: {documents} documents of 3 queries wait")


def test_a_plan_uses_judgments_of_the_store_or_of_a_file(ranked):
    (ranked / "known.qrels").write_text("".join(f"{q} 0 d{n} {n % 2}\n" for q in "123" for n in range(40)))
    words = ("queries.tsv", "one.run", "two.run", "--depth", "5", "--sample-depth", "40", "--plan", "0.2")
    of_file = pool(ranked, *words, "--qrels", "known.qrels").stdout
    assert "  120 of the pool are judged already" in of_file
    assert " --qrels known.qrels --sample-below " in of_file
    run("convert", "known.qrels", "judgments.db", "--assessor", "ann", cwd=ranked)
    assert "  120 of the pool are judged already" in pool(ranked, *words).stdout
    both = pool(ranked, *words, "--qrels", "known.qrels")
    assert both.stderr.splitlines() == [
        "cranfield: judgments.db: there is a store already, so the judgments of --qrels cannot be planned with.",
        "Hint: import them first: cranfield convert QRELS STORE --assessor NAME",
    ]


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("--plan", "0.1", "--order", "mtf"), "--plan chooses the sample and stores nothing: leave out --order."),
        (("--plan", "0.1", "--sample-below", "3"), "leave out --sample-below."),
        (("--plan", "0.1", "--sheet", "x.csv"), "leave out --sheet."),
        (("-m", "AP"), "--measure needs --plan."),
        (("--plan", "0.1", "-m", "AP", "-m", "nDCG"), "a plan is about one measure; give -m once."),
        (("--plan", "-1"), "--plan: -1 is not a number above 0."),
        (("--plan", "0.1", "-m", "nDCG@10"), "nDCG@10 is not estimated from a sample."),
        (("--plan", "0.1", "--depth", "40"), "no run returns a document between rank 41 and rank 100"),
    ],
)
def test_plans_that_make_no_sense_are_errors(ranked, words, fact):
    done = pool(ranked, "queries.tsv", "one.run", "two.run", *words)
    assert done.returncode == 2
    assert fact in done.stderr
    assert not (ranked / "judgments.db").exists()
