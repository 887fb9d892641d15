"""`cranfield init` and `cranfield gate --init`: the files they write and the next steps they print work."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from cranfield import open_collection, open_store
from cranfield.io.queries import read_queries
from cranfield.systems.project import _dsn_parts
from tests.cli.test_judge import Served
from tests.program import run, shims

CORPUS = "".join(
    json.dumps({"_id": name, "text": text}) + "\n"
    for name, text in {"d1": "red shoes for children", "d2": "a blue hat", "d3": "red hats"}.items()
)
QUERIES = {
    "queries.txt": "id|query\n1|red shoes\n2|blue hat\n",
    "queries.csv": 'query_id,text\n1,red shoes\n2,"blue hat"\n',
    "queries.tsv": "1\tred shoes\n2\tblue hat\n",
    "topics.jsonl": '{"_id": "1", "text": "red shoes"}\n{"_id": "2", "text": "blue hat"}\n',
}
TEXTS = {"1": "red shoes", "2": "blue hat"}


def steps(printed):
    """The commands that are printed to be copied."""
    return [line.partition("#")[0].split() for line in printed.splitlines() if line.startswith("  cranfield ")]


@pytest.mark.parametrize("queries", QUERIES)
def test_without_judgments_init_leads_to_judging(tmp_path, queries):
    pytest.importorskip("starlette")
    (tmp_path / queries).write_text(QUERIES[queries])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 queries, 0 of them judged" in done.stdout
    judge, *others = steps(done.stdout)
    assert (judge, others) == (["cranfield", "judge"], [["cranfield", "test"], ["cranfield", "accept"]])
    early = run("test", cwd=tmp_path)
    assert (early.returncode, "Hint: 'cranfield judge' opens a page" in early.stderr) == (2, True)
    served = Served(tmp_path, *judge[2:])
    assert served.address
    served.end()
    with open_store(tmp_path / "judgments.db") as store:
        store.judge("1", "d1", 1, assessor="ann")
        store.judge("2", "d2", 1, assessor="ann")
    for command in others:
        done = run(*command[1:], cwd=tmp_path)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    again = run("test", cwd=tmp_path)
    assert "since accepted" in again.stdout


def test_init_finds_judgments_in_csv(tmp_path):
    (tmp_path / "queries.csv").write_text(QUERIES["queries.csv"])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\n1,d1,1\n2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert "2 queries, 2 of them judged" in done.stdout
    assert steps(done.stdout) == [["cranfield", "test"], ["cranfield", "accept"]]
    for command in steps(done.stdout):
        assert run(*command[1:], cwd=tmp_path).returncode == 0


def test_without_documents_init_asks_for_a_system(tmp_path):
    (tmp_path / "queries.txt").write_text(QUERIES["queries.txt"])
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade\n1,d1,1\n2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert "Describe your system in cranfield.toml" in done.stdout
    # Uncomment one of the examples in the file.
    written = (tmp_path / "cranfield.toml").read_text()
    described = re.sub(r"^# (\[systems\.mine\]|type = \"python\"|object = .*)$", r"\1", written, flags=re.MULTILINE)
    assert described != written
    (tmp_path / "cranfield.toml").write_text(described.replace("mypackage.search:search", "mine:search"))
    (tmp_path / "mine.py").write_text("def search(query, k):\n    return ['d1', 'd2']\n")
    for command in steps(done.stdout):
        found = run(*command[1:], cwd=tmp_path)
        assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("name", QUERIES)
def test_queries_in_all_formats(tmp_path, name):
    (tmp_path / name).write_text(QUERIES[name])
    assert open_collection(tmp_path).queries == TEXTS


def test_csv_without_a_header_and_with_a_narrative(tmp_path):
    (tmp_path / "q.csv").write_text("1,red shoes\n2,blue hat\n")
    assert read_queries(tmp_path / "q.csv") == TEXTS
    (tmp_path / "topics.csv").write_text('text,narrative,id\nred shoes,"For children, mostly.",1\nblue hat,,2\n')
    opened = open_collection(tmp_path)
    assert (opened.queries, opened.narratives) == (TEXTS, {"1": "For children, mostly."})


@pytest.fixture
def jobs(tmp_path):
    """The shell commands of the jobs that `gate --init` writes, in a folder with all files they need."""
    yaml = pytest.importorskip("yaml")
    done = run("gate", "--init", cwd=tmp_path)
    assert done.returncode == 0
    workflow = yaml.safe_load((tmp_path / ".github/workflows/search-quality.yml").read_text())
    data = open_collection("builtin")
    shutil.copy(data.qrels, tmp_path / "qrels.txt")
    for run_name in ("baseline", "candidate"):
        run("convert", "builtin:tuned", f"{run_name}.run", cwd=tmp_path)
    os.rename(tmp_path / "candidate.run", tmp_path / "made.run")
    script = tmp_path / "make-run"
    script.write_text("#!/bin/sh\ncat made.run\n")
    script.chmod(0o755)
    run("init", "builtin", cwd=tmp_path)
    return workflow


def executed(folder, workflow, job, installed_from, **others):
    """Run the commands of a job in a shell; pip only records what it would install."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    python = tools / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >> {folder}/installed\n')
    python.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{tools}:{shims()}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **workflow["env"],
        **workflow["jobs"][job].get("env", {}),
        **others,
        "CRANFIELD": installed_from,
    }
    for step in workflow["jobs"][job]["steps"]:
        if "run" in step:
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=folder, env=env, capture_output=True, text=True
            )
            if done.returncode:
                return done
    return done


@pytest.mark.skipif(sys.platform != "linux", reason="needs a POSIX shell and forks")
def test_the_jobs_of_a_gate_work(tmp_path, jobs):
    assert set(jobs["jobs"]) == {"gate", "test"}
    for job in jobs["jobs"]:
        # Nothing is installed from an index that does not have it.
        unedited = executed(tmp_path, jobs, job, jobs["env"]["CRANFIELD"])
        assert unedited.returncode != 0
        assert "name in this file where cranfield is installed from" in unedited.stderr
        done = executed(tmp_path, jobs, job, "git+https://git.example.com/you/cranfield")
        assert done.returncode == 0, (done.stdout, done.stderr)
    installed = (tmp_path / "installed").read_text().splitlines()
    assert set(installed) == {"-m pip install git+https://git.example.com/you/cranfield"}
    assert (tmp_path / "summary.md").read_text().startswith("### ✅")
    # A run that got worse fails the gate.
    run("convert", "builtin:plain", "made.run", "--force", cwd=tmp_path)
    assert executed(tmp_path, jobs, "gate", "elsewhere").returncode == 1


SHOP = """
collection = "."
[judgments]
store = "judgments.db"
[systems.shop]
type = "postgres"
dsn = "dbname=shop user=reader port=5544 password=${SHOP_PASSWORD}"
sql = "select sku, title from shop_products where title ilike '%' || {query} || '%' order by sku limit {k}"
[systems.staging]
type = "elasticsearch"
url = "https://search.example.com/_search"
headers = { Authorization = "ApiKey ${SEARCH_KEY}" }
body = { query = "{query}" }
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a POSIX shell and forks")
def test_the_job_of_a_project_starts_what_it_uses(tmp_path, dsn):
    yaml = pytest.importorskip("yaml")
    psycopg = pytest.importorskip("psycopg")
    (tmp_path / "queries.tsv").write_text(QUERIES["queries.tsv"])
    (tmp_path / "cranfield.toml").write_text(SHOP)
    done = run("gate", "--init", cwd=tmp_path)
    assert "the run, and which command fills the PostgreSQL database" in " ".join(done.stdout.split())
    workflow = yaml.safe_load((tmp_path / ".github/workflows/search-quality.yml").read_text())
    job = workflow["jobs"]["test"]
    made = job["services"]["postgres"]["env"]
    assert (made["POSTGRES_USER"], made["POSTGRES_DB"]) == ("reader", "shop")
    assert job["services"]["postgres"]["ports"] == ["5544:5432"]
    assert job["env"]["SHOP_PASSWORD"] == job["env"]["PGPASSWORD"] == made["POSTGRES_PASSWORD"]
    assert job["env"]["SEARCH_KEY"] == "${{ secrets.SEARCH_KEY }}"
    assert (job["env"]["PGUSER"], job["env"]["PGDATABASE"]) == ("reader", "shop")
    # The same steps with the server of the tests, and without the system that is elsewhere.
    own = dict(part.split("=") for part in dsn.split())
    here = SHOP.partition("[systems.staging]")[0].replace("dbname=shop user=reader port=5544", dsn)
    (tmp_path / "cranfield.toml").write_text(here)
    script = tmp_path / "fill-database"
    script.write_text(
        f"#!{sys.executable}\nimport psycopg\nwith psycopg.connect() as connection:\n"
        "    connection.execute('drop table if exists shop_products')\n"
        "    connection.execute('create table shop_products (sku text, title text)')\n"
        "    connection.execute(\"insert into shop_products values ('d1', 'red shoes'), ('d2', 'blue hat')\")\n"
    )
    script.chmod(0o755)
    server = {"PGHOST": own["host"], "PGUSER": own["user"], "PGDATABASE": own["dbname"]}
    unjudged = executed(tmp_path, workflow, "test", "elsewhere", **server)
    assert (unjudged.returncode, unjudged.args[-1]) == (1, "test -s judgments.db")
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("1", "d1", 1, assessor="ann")
        store.judge("2", "d2", 1, assessor="ann")
    done = executed(tmp_path, workflow, "test", "elsewhere", **server)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "shop" in done.stdout
    installed = (tmp_path / "installed").read_text().splitlines()
    assert installed[:2] == ["-m pip install elsewhere", "-m pip install cranfield[judge,postgres]"]
    with psycopg.connect(dsn) as connection:
        connection.execute("drop table shop_products")


@pytest.mark.parametrize(
    ("dsn", "parts"),
    [
        ("", {}),
        ("dbname=shop user='reader' host=db", {"dbname": "shop", "user": "reader", "host": "db"}),
        ("postgresql://reader:${PW}@db:5433/shop", {"dbname": "shop", "user": "reader", "host": "db", "port": "5433"}),
        ("postgresql://reader@db:${PORT}/shop", {"dbname": "shop", "user": "reader", "host": "db"}),
        ("host=db port=5433", {"host": "db", "port": "5433"}),
    ],
)
def test_the_parts_of_a_dsn(dsn, parts):
    assert _dsn_parts(dsn) == parts


def test_judgments_of_other_ids_are_refused_before_anything_is_written(tmp_path):
    """The ids of queries in a file without ids are made from the texts, so judgments of q1 and q2 match none."""
    (tmp_path / "queries.txt").write_text("red shoes\nblue hat\n")
    (tmp_path / "qrels.csv").write_text("query,document,grade\nq1,d1,1\nq2,d2,1\n")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 2
    assert "2 judged queries have no text: q1, q2." in done.stderr
    assert "Hint: the ids of the queries are red-shoes-61959b3a, blue-hat-c1fb4ade; " in done.stderr
    assert not (tmp_path / "cranfield.toml").exists()


def test_nothing_can_be_accepted_before_anything_is_judged(tmp_path):
    (tmp_path / "queries.txt").write_text(QUERIES["queries.txt"])
    (tmp_path / "corpus.jsonl").write_text(CORPUS)
    assert run("init", cwd=tmp_path).returncode == 0
    accepted, tested = run("accept", cwd=tmp_path), run("test", cwd=tmp_path)
    assert accepted.returncode == tested.returncode == 2
    assert "there are no judgments yet." in accepted.stderr
    assert accepted.stderr == tested.stderr
