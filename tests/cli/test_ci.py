"""`cranfield init --ci` and `cranfield comment`: every shell step of the jobs runs here, against a fake API."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from cranfield import open_collection, open_store
from cranfield.systems.history.opening import open_history
from cranfield.systems.jobs import JOBS, action, dsn_parts, installed_from, needs_of_project
from cranfield.systems.project import read_project
from tests.local_server import LocalServer
from tests.program import run, shims

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(sys.platform != "linux", reason="needs a POSIX shell and forks")
WORKFLOW = ".github/workflows/search-quality.yml"
TOKEN = "s3cret-token"


class FakeHost(LocalServer):
    """The parts of GitHub's and GitLab's APIs that the jobs use; it checks the token."""

    def __init__(self, *, may_write=True, failures=0):
        super().__init__()
        self.comments, self.kept, self.refused = [], {}, 0
        self.may_write, self.failures = may_write, failures

    def note(self, path, headers, body):
        token = headers.get("Authorization", "") + headers.get("PRIVATE-TOKEN", "")
        self.requests.append({"path": path, "token": token, "body": body})
        return self.requests[-1]

    def answer(self, handler, noted):
        status, data = self.answered(handler.command, noted)
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        handler.send_response(status)
        if isinstance(data, str):  # an address to go to
            handler.send_header("Location", data)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)

    def answered(self, method, noted):
        address = urlsplit(noted["path"])
        if address.path.startswith("/blob/"):
            return 200, self.kept[address.path.removeprefix("/blob/")]
        if not noted["token"].endswith(TOKEN):
            self.refused += 1
            return 401, {}
        if self.failures and method == "GET":
            self.failures -= 1
            return 502, {}
        if address.path.endswith("/actions/artifacts"):
            assert parse_qs(address.query)["name"] == ["cranfield-history"]
            return 200, {"artifacts": [self.artifact(name) for name in self.kept]}
        if "/artifacts/" in address.path:
            return 302, f"{self.url.replace('127.0.0.1', 'localhost')}/blob/{address.path.rpartition('/')[2]}"
        if method == "GET":
            asked = parse_qs(address.query)
            size, page = int(asked["per_page"][0]), int(asked["page"][0])
            return 200, self.comments[(page - 1) * size : page * size]
        if not self.may_write:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "POST":
            self.comments.append({"id": len(self.comments) + 1, "body": noted["body"]["body"]})
            return 201, self.comments[-1]
        assert method in ("PATCH", "PUT")
        self.comments[int(address.path.rpartition("/")[2]) - 1]["body"] = noted["body"]["body"]
        return 200, {}

    def artifact(self, name):
        """A name says where it comes from: main-…, other-…, fork-…, expired-…"""
        where = name.partition("-")[0]
        branch = "main" if where in ("main", "fork", "expired") else "topic"
        return {
            "archive_download_url": f"{self.url}/repos/me/shop/actions/artifacts/{name}",
            "expired": where == "expired",
            "workflow_run": {"head_branch": branch, "repository_id": 1, "head_repository_id": 1 + (where == "fork")},
        }

    def keep(self, name, files):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            for file, text in files.items():
                archive.writestr(file, text)
        self.kept[name] = data.getvalue()


@pytest.fixture
def host():
    with FakeHost() as server:
        yield server


def tools(folder):
    """A Python that a job finds first: pip only records what it would install."""
    made = folder / ".tools"
    made.mkdir(exist_ok=True)
    python = made / "python"
    python.write_text(
        f'#!/bin/sh\nif [ "$2" = pip ]; then echo "$@" >> {made}/installed; else exec {sys.executable} "$@"; fi\n'
    )
    python.chmod(0o755)
    return made


class Job:
    """A job of GitHub's CI, whose shell steps are run in a folder; actions are noted."""

    def __init__(self, folder, host, *, event="pull_request", number=17, fork=False, installed="./cranfield.whl"):
        self.folder = folder
        payload = {
            "repository": {"default_branch": "main"},
            "pull_request": {
                "head": {"repo": {"full_name": "you/shop" if fork else "me/shop"}},
                "base": {"repo": {"full_name": "me/shop"}},
            },
        }
        (folder / "event.json").write_text(json.dumps(payload))
        pull = event == "pull_request"
        self.context = {
            "github.token": TOKEN,
            "github.event.repository.default_branch": "main",
            "github.event_name": event,
            "github.ref_name": "17/merge" if pull else "main",
        }
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))},
            "PATH": f"{tools(folder)}:{shims()}:{os.environ['PATH']}",
            "GITHUB_API_URL": host.url,
            "GITHUB_SERVER_URL": "https://github.example.com",
            "GITHUB_REPOSITORY": "me/shop",
            "GITHUB_RUN_ID": "99",
            "GITHUB_REF": f"refs/pull/{number}/merge" if pull else "refs/heads/main",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "NO_PROXY": "127.0.0.1",
        }
        self.installed = installed
        self.uploaded, self.failed, self.skipped = {}, [], []

    def value(self, text):
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda name: self.context.get(name[1], f"<{name[1]}>"), str(text))

    def holds(self, condition):
        expression = condition.removeprefix("${{ ").removesuffix(" }}").replace("!cancelled()", "True")
        for name in sorted(self.context, key=len, reverse=True):
            expression = expression.replace(name, repr(self.context[name]))
        return eval(expression.replace("&&", "and"))

    def run(self):
        workflow = yaml.safe_load((self.folder / WORKFLOW).read_text())
        [job] = workflow["jobs"].values()
        env = {**self.env, **workflow["env"], **{k: self.value(v) for k, v in job.get("env", {}).items()}}
        env["CRANFIELD"] = workflow["env"]["CRANFIELD"] or self.installed
        for step in job["steps"]:
            condition = step.get("if", "")
            if (self.failed and not condition) or (condition and not self.holds(condition)):
                self.skipped.append(step.get("name"))
                continue
            if "uses" in step:
                if "upload-artifact" in step["uses"]:
                    its = step["with"]
                    paths = [self.folder / path for path in its["path"].split()]
                    self.uploaded[its["name"]] = [path.name for path in paths if path.exists()]
                continue
            own = {name: self.value(value) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.folder,
                env={**env, **own},
                capture_output=True,
                text=True,
            )
            self.printed = getattr(self, "printed", "") + done.stdout + done.stderr
            if done.returncode and not step.get("continue-on-error"):
                self.failed.append(step.get("name"))
            elif done.returncode:
                self.skipped.append(step.get("name"))
        return self


def project(folder, *, tuned=True):
    (folder / "cranfield.toml").unlink(missing_ok=True)
    assert run("init", "builtin", cwd=folder).returncode == 0
    if not tuned:
        worse(folder)


def worse(folder):
    config = folder / "cranfield.toml"
    config.write_text(re.sub(r"^tuned = true.*", "", config.read_text(), flags=re.MULTILINE))


@POSIX
def test_the_first_pull_request_is_neutral_and_says_how_to_accept(tmp_path, host):
    project(tmp_path)
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    job = Job(tmp_path, host).run()
    assert job.failed == [], job.printed
    [comment] = host.comments
    assert comment["body"].startswith("<!-- cranfield: test cranfield.toml -->\n\n### Measured: nDCG@10 ")
    assert "**Neutral.** Nothing is accepted yet for sqlite" in comment["body"]
    command = re.search(r"`(cranfield accept [^`]+)`", comment["body"])[1]
    assert "::notice file=cranfield.toml,title=sqlite::Measured" in job.printed
    assert command in job.printed
    assert (tmp_path / "summary.md").read_text() == (tmp_path / "search-quality.md").read_text().rstrip("\n")
    assert job.uploaded == {"search-quality": ["search-quality.html", "search-quality.md", "search-quality.xml"]}
    assert TOKEN not in job.printed
    assert (tmp_path / ".tools/installed").read_text().splitlines() == [
        "-m pip install ./cranfield.whl",
        "-m pip install cranfield[history,report]",
    ]


@POSIX
def test_a_worse_pull_request_is_red_and_its_one_comment_is_updated(tmp_path, host):
    project(tmp_path)
    assert run("test", cwd=tmp_path).returncode == 0
    assert run("accept", cwd=tmp_path).returncode == 0
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    host.comments += [{"id": 1, "body": "looks good to me"}, {"id": 2, "body": None}]
    host.comments += [{"id": n, "body": "<!-- cranfield: gate -->\n\nanother job's"} for n in range(3, 151)]
    green = Job(tmp_path, host).run()
    assert green.failed == [], green.printed
    assert len(host.comments) == 151
    assert "### No difference: nDCG@10 0.472" in host.comments[150]["body"]
    worse(tmp_path)
    red = Job(tmp_path, host).run()
    assert red.failed == ["Measure, and compare"]
    assert (
        "::error file=cranfield.toml,title=sqlite%3A nDCG@10 does not drop::nDCG@10 fell significantly, 0.472 → 0.435"
        in red.printed
    )
    assert len(host.comments) == 151
    body = host.comments[150]["body"]
    assert "### ▼ Search got worse: nDCG@10 0.472 → 0.435" in body
    assert "[Full report](https://github.example.com/me/shop/actions/runs/99#artifacts)" in body
    assert host.comments[0]["body"] == "looks good to me"
    assert red.uploaded["search-quality"] == ["search-quality.html", "search-quality.md", "search-quality.xml"]


@POSIX
def test_a_fork_may_only_read_and_gets_the_summary(tmp_path):
    project(tmp_path)
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    with FakeHost(may_write=False) as host:
        job = Job(tmp_path, host, fork=True).run()
        assert job.failed == [], job.printed
        assert "a pull request from a fork may only read" in job.printed
        assert "### Measured: nDCG@10" in (tmp_path / "summary.md").read_text()
        # Not from a fork, the workflow itself lacks the permission, which is an error that says so.
        own = Job(tmp_path, host).run()
        assert own.failed == ["The comment, written once and then updated"]
        assert "Hint: the workflow needs permissions: pull-requests: write" in own.printed
        assert host.comments == []


def kept_results(folder):
    with open_history(str(folder / ".cranfield/history.db"), read_only=True) as history:
        return {result.id for result in history.results("sqlite")}


@POSIX
def test_the_history_and_a_baseline_of_the_default_branch_are_restored(tmp_path, host):
    project(tmp_path)
    assert run("test", cwd=tmp_path).returncode == 0
    assert run("accept", cwd=tmp_path).returncode == 0
    baseline = {f"baseline/{path.name}": path.read_bytes() for path in (tmp_path / "baseline").iterdir()}
    shutil.rmtree(tmp_path / "baseline")
    first = (tmp_path / ".cranfield/history.db").read_bytes()
    ids = kept_results(tmp_path)
    (tmp_path / ".cranfield/history.db").unlink()
    assert run("test", cwd=tmp_path).returncode == 0
    last = (tmp_path / ".cranfield/history.db").read_bytes()
    ids |= kept_results(tmp_path)
    (tmp_path / ".cranfield/history.db").unlink()
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    host.keep("main-1", {"history.db": first, **baseline})
    for name in ("fork-2", "topic-3", "expired-4"):
        host.keep(name, {"history.db": "not of the default branch"})
    host.keep("main-5", {"history.db": last})
    job = Job(tmp_path, host).run()
    assert job.failed == [], job.printed
    assert "No difference: nDCG@10" in host.comments[0]["body"]
    assert len(ids) == 2
    assert kept_results(tmp_path) >= ids
    # The token goes to the API, and not to where the files are.
    assert {noted["token"] for noted in host.requests if noted["path"].startswith("/blob/")} == {""}


@POSIX
def test_a_push_to_the_default_branch_keeps_the_history_and_comments_nowhere(tmp_path, host):
    project(tmp_path)
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    (tmp_path / ".cranfield").mkdir(exist_ok=True)
    job = Job(tmp_path, host, event="push").run()
    assert job.failed == [], job.printed
    assert job.uploaded["cranfield-history"] == ["kept"]
    assert (tmp_path / ".cranfield/kept/history.db").exists()
    assert host.comments == []
    assert "The comment, written once and then updated" in job.skipped


@POSIX
def test_an_api_that_fails_stops_no_verdict(tmp_path):
    project(tmp_path)
    assert run("init", "--ci", "github", cwd=tmp_path).returncode == 0
    with FakeHost(failures=2) as host:  # the artifacts, then the list of comments once
        job = Job(tmp_path, host).run()
        assert job.failed == [], job.printed
        assert job.skipped[0] == "Earlier results, of the default branch"
        assert len(host.comments) == 1


@POSIX
def test_without_a_project_the_job_compares_two_runs(tmp_path, host):
    done = run("init", "--ci", "github", cwd=tmp_path)
    assert "name your files in cranfield-gate.toml" in " ".join(done.stdout.split())
    shutil.copy(open_collection("builtin").qrels, tmp_path / "qrels.txt")
    run("convert", "builtin:tuned", "made.run", cwd=tmp_path)
    unknown = Job(tmp_path, host).run()
    assert unknown.failed == ["Make the run (edit this step)"]
    assert "cannot know which command makes the run of this version: write ./make-run" in unknown.printed
    make = tmp_path / "make-run"
    make.write_text("#!/bin/sh\ncat made.run\n")
    make.chmod(0o755)
    neutral = Job(tmp_path, host).run()
    assert neutral.failed == [], neutral.printed
    assert "`cp candidate.run baseline.run`" in host.comments[-1]["body"]
    shutil.copy(tmp_path / "made.run", tmp_path / "baseline.run")
    assert Job(tmp_path, host).run().failed == []
    run("convert", "builtin:plain", "made.run", "--force", cwd=tmp_path)
    assert Job(tmp_path, host).run().failed == ["Measure, and compare"]
    assert len(host.comments) == 1
    assert "### ▼ Search got worse" in host.comments[0]["body"]


@POSIX
def test_where_to_install_from_must_be_said_where_it_is_not_known(tmp_path, host):
    project(tmp_path)
    done = run("init", "--ci", "github", cwd=tmp_path)
    job = Job(tmp_path, host, installed="").run()
    if installed_from():
        assert job.failed == []
    else:
        assert "say where to install cranfield from" in " ".join(done.stdout.split())
        assert job.failed == ["Install cranfield"]
        assert "say in this file where cranfield is installed from" in job.printed


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, "cranfield==1.2"),
        ({"url": "https://git.example.com/me/c", "vcs_info": {"vcs": "git", "commit_id": "abc"}}, "git+https://git.example.com/me/c@abc"),
        ({"url": "https://me:pw@git.example.com/c", "vcs_info": {"vcs": "git", "commit_id": "abc"}}, ""),
        ({"url": "https://example.com/c-1.2-py3-none-any.whl", "archive_info": {}}, "https://example.com/c-1.2-py3-none-any.whl"),
        ({"url": "file:///home/me/cranfield", "dir_info": {"editable": True}}, ""),
    ],
)  # fmt: skip
def test_what_another_machine_can_install(monkeypatch, origin, expected):
    class Ours:
        version = "1.2"

        def read_text(self, name):
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Ours())
    assert installed_from() == expected


SHOP = """
collection = "."
[judgments]
store = "judgments.db"
[systems.shop]
type = "postgres"
dsn = "dbname=shop user=reader port=5544 password=${SHOP_PASSWORD}"
sql = "select sku, title from shop_products where title ilike '%' || {query} || '%' order by sku limit {k}"
"""
STAGING = """
[systems.staging]
type = "elasticsearch"
url = "https://search.example.com/_search"
headers = { Authorization = "ApiKey ${SEARCH_KEY}" }
body = { query = "{query}" }
"""
LOCAL = """
[systems.index]
type = "opensearch"
url = "http://localhost:9201/_search"
[systems.own]
type = "http"
url = "http://127.0.0.1:8080/search"
[systems.code]
type = "python"
object = "mine:search"
"""


def shop(folder, text):
    (folder / "queries.tsv").write_text("1\tred shoes\n2\tblue hat\n")
    (folder / "cranfield.toml").write_text(SHOP + text)


@POSIX
def test_the_job_of_a_project_starts_what_it_uses(tmp_path, host, dsn):
    psycopg = pytest.importorskip("psycopg")
    shop(tmp_path, STAGING)
    done = run("init", "--ci", "github", cwd=tmp_path)
    assert "add the secret SEARCH_KEY to the repository" in done.stdout
    assert "say which command fills the database shop" in " ".join(done.stdout.split())
    [job] = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"].values()
    made = job["services"]["postgres"]["env"]
    assert (made["POSTGRES_USER"], made["POSTGRES_DB"]) == ("reader", "shop")
    assert job["services"]["postgres"]["ports"] == ["5544:5432"]
    assert job["env"]["SHOP_PASSWORD"] == job["env"]["PGPASSWORD"] == made["POSTGRES_PASSWORD"]
    assert job["env"]["SEARCH_KEY"] == "${{ secrets.SEARCH_KEY }}"
    # The same steps with the server of the tests, and without the system that is elsewhere.
    own = dict(part.split("=") for part in dsn.split())
    (tmp_path / "cranfield.toml").write_text(SHOP.replace("dbname=shop user=reader port=5544", dsn))
    server = {"PGHOST": own["host"], "PGUSER": own["user"], "PGDATABASE": own["dbname"]}
    workflow = (tmp_path / WORKFLOW).read_text()
    for name, value in server.items():
        workflow = re.sub(rf'{name}: ".*"', f'{name}: "{value}"', workflow)
    (tmp_path / WORKFLOW).write_text(workflow)
    unfilled = Job(tmp_path, host).run()
    assert unfilled.failed == ["Fill PostgreSQL (edit this step)"]
    assert f"::error file={WORKFLOW}::cranfield cannot know which command fills the database shop" in unfilled.printed
    script = tmp_path / "fill-database"
    script.write_text(
        f"#!{sys.executable}\nimport psycopg\nwith psycopg.connect() as connection:\n"
        "    connection.execute('drop table if exists shop_products')\n"
        "    connection.execute('create table shop_products (sku text, title text)')\n"
        "    connection.execute(\"insert into shop_products values ('d1', 'red shoes'), ('d2', 'blue hat')\")\n"
    )
    script.chmod(0o755)
    unjudged = Job(tmp_path, host).run()
    assert unjudged.failed == ["The judgments (edit this step)"]
    assert "commit judgments.db" in unjudged.printed
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("1", "d1", 1, assessor="ann")
        store.judge("2", "d2", 1, assessor="ann")
    job = Job(tmp_path, host).run()
    assert job.failed == [], job.printed
    assert "Nothing is accepted yet for shop" in host.comments[0]["body"]
    installed = (tmp_path / ".tools/installed").read_text().splitlines()
    assert installed[1] == "-m pip install cranfield[history,judge,postgres,report]"
    with psycopg.connect(dsn) as connection:
        connection.execute("drop table shop_products")


def test_servers_on_this_machine_are_started_or_asked_for(tmp_path):
    shop(tmp_path, LOCAL)
    (tmp_path / "requirements.txt").write_text("numpy\n")
    needs = needs_of_project(read_project(tmp_path / "cranfield.toml"))
    assert [step.command for step in needs.steps] == [
        "python -m pip install -r requirements.txt",
        "./fill-database",
        "./fill-opensearch",
        "./start-http",
        "test -s judgments.db",
    ]
    for host in JOBS:
        [(_, text)] = JOBS[host](needs).items()
        job = yaml.safe_load(text)
        services = job["jobs"]["search-quality"]["services"] if host == "github" else job["search-quality"]["services"]
        assert "opensearchproject/opensearch" in json.dumps(services)
        assert "9201:9200" in text or host == "gitlab"
        assert "which command starts 127.0.0.1:8080" in text


@POSIX
def test_the_job_of_gitlab(tmp_path, host):
    project(tmp_path)
    assert run("test", cwd=tmp_path).returncode == 0
    assert run("accept", cwd=tmp_path).returncode == 0
    worse(tmp_path)
    assert run("init", "--ci", "gitlab", cwd=tmp_path).returncode == 0
    job = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text())["search-quality"]
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))},
        "PATH": f"{tools(tmp_path)}:{shims()}:{os.environ['PATH']}",
        "CRANFIELD": "./cranfield.whl",
        "CI_API_V4_URL": f"{host.url}/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "17",
        "CI_JOB_URL": "https://gitlab.example.com/me/shop/-/jobs/5",
    }

    def script(part, **others):
        how = {"cwd": tmp_path, "env": {**env, **others}, "capture_output": True, "text": True}
        return [subprocess.run(["bash", "-e", "-c", line], **how) for line in job[part]]

    assert [done.returncode for done in script("script")] == [0, 0, 1]
    reports = job["artifacts"]["reports"]["junit"], *job["artifacts"]["paths"]
    assert all((tmp_path / name).exists() for name in reports)
    [untold] = script("after_script")
    assert (untold.returncode, "there is no CRANFIELD_TOKEN" in untold.stdout) == (0, True)
    for _ in range(2):
        [told] = script("after_script", CRANFIELD_TOKEN=TOKEN)
        assert told.returncode == 0, told.stderr
    [comment] = host.comments
    assert "### ▼ Search got worse" in comment["body"]
    assert "https://gitlab.example.com/me/shop/-/jobs/5/artifacts/browse" in comment["body"]
    assert {noted["path"].partition("?")[0] for noted in host.requests} == {
        "/api/v4/projects/7/merge_requests/17/notes",
        "/api/v4/projects/7/merge_requests/17/notes/1",
    }


def test_comment_outside_of_a_pull_request(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI"))}
    (tmp_path / "c.md").write_text("<!-- cranfield: test -->\n\n### fine\n")
    done = run("comment", "c.md", cwd=tmp_path, env=env)
    assert (done.returncode, "not a job of a pull request" in done.stdout) == (0, True)
    pull = {**env, "GITHUB_REF": "refs/pull/3/merge", "GITHUB_REPOSITORY": "me/shop"}
    done = run("comment", "c.md", cwd=tmp_path, env=pull)
    assert (done.returncode, "Hint: in the step, set env: GITHUB_TOKEN" in done.stderr) == (2, True)
    done = run("comment", "none.md", cwd=tmp_path, env=pull)
    assert (done.returncode, "none.md" in done.stderr) == (2, True)


def test_files_that_exist_are_not_overwritten(tmp_path):
    project(tmp_path)
    (tmp_path / ".github/workflows").mkdir(parents=True)
    (tmp_path / WORKFLOW).write_text("mine")
    done = run("init", "--ci", "github", cwd=tmp_path)
    assert (done.returncode, "already exists" in done.stderr) == (2, True)
    assert (tmp_path / WORKFLOW).read_text() == "mine"
    done = run("init", "builtin", "--ci", "gitlab", cwd=tmp_path)
    assert (done.returncode, "--ci needs no COLLECTION" in done.stderr) == (2, True)


def test_the_composite_action_has_the_steps_of_the_job():
    file = ROOT / "action.yml"
    if os.environ.get("UPDATE"):
        file.write_text(action())
    assert file.read_text() == action()
    runs = yaml.safe_load(action())["runs"]
    assert runs["using"] == "composite"
    for step in runs["steps"]:
        assert "shell" in step or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])


@pytest.mark.parametrize("host", JOBS)
def test_actions_are_pinned_by_commit(tmp_path, host):
    project(tmp_path)
    [(_, text)] = JOBS[host](needs_of_project(read_project(tmp_path / "cranfield.toml"))).items()
    used = re.findall(r"uses: (\S+)", text)
    ours = (ROOT / ".github/workflows/ci.yml").read_text()
    assert all(action in ours for action in used)
    assert len(used) == (4 if host == "github" else 0)


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
    assert dsn_parts(dsn) == parts
