"""Jobs for GitHub's and GitLab's CI: what a project needs, written as a file that works as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cranfield.io.formats.store import names_store
from cranfield.systems.opening import KINDS
from cranfield.systems.presets import PRESETS, Service
from cranfield.systems.project import TEMPLATES, Project

GATE_NAME = "cranfield-gate.toml"
PASSWORD = "only-for-this-job"
LOCAL = ("localhost", "127.0.0.1")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PASSWORD = re.compile(r"(?:password\s*=\s*'?|:)\$\{(\w+)\}")
_OUTPUTS = "--also search-quality.xml"
_BODY = "-o search-quality.md"
_REPORT = "--report search-quality.html"


class Step(NamedTuple):
    """A step that a project needs before it is tested.

    unknown: the program that must do it, where cranfield cannot know how, and why it is needed
    """

    name: str
    command: str
    unknown: str = ""


class Started(NamedTuple):
    """A service that a job starts: its name, and the port at which the project expects it."""

    name: str
    service: Service
    port: str


@dataclass(frozen=True, slots=True)
class Needs:
    """What the job of a project needs: extras of the package, services, environment variables and steps."""

    extras: frozenset[str]
    services: tuple[Started, ...]
    own: Mapping[str, str]  # variables with values that the job sets
    secrets: tuple[str, ...]  # variables whose values are secrets of the repository
    steps: tuple[Step, ...]
    baseline: str
    command: str


def needs_of_project(project: Project) -> Needs:
    """What testing a project takes."""
    described = list(project.systems.values())
    kinds = {str(its.get("type")) for its in described}
    extras = {KINDS[kind].extra for kind in kinds if kind in KINDS} - {""} | {"report", "history"}
    qrels = project.open_collection().qrels
    judged = project.judged_in if project.store is not None else str(getattr(qrels, "name", qrels))
    extras |= {"judge"} if names_store(judged) else set()
    own: dict[str, str] = {}
    services: list[Started] = []
    steps: list[Step] = []
    if "python" in kinds:
        steps += _packages(project.folder)
    dsns = [str(its.get("dsn", "")) for its in described if its.get("type") == "postgres"]
    here = [dsn for dsn in dsns if dsn_parts(dsn).get("host", LOCAL[0]) in LOCAL]
    if here:
        parts = dsn_parts(here[0])
        user = parts.get("user", "postgres")
        database = parts.get("dbname", user)
        made = {"POSTGRES_USER": user, "POSTGRES_PASSWORD": PASSWORD, "POSTGRES_DB": database}
        services.append(Started("postgres", POSTGRES._replace(env=made), parts.get("port", "5432")))
        own |= dict.fromkeys(_PASSWORD.findall(" ".join(here)), PASSWORD)
        own |= {"PGHOST": LOCAL[0], "PGUSER": user, "PGPASSWORD": PASSWORD, "PGDATABASE": database}
        steps.append(Step("Fill PostgreSQL", "./fill-database", f"which command fills the database {database}"))
    for address, kind in _local_servers(described):
        port, service = str(address.port or 80), PRESETS[kind].service
        if service is not None:
            services.append(Started(kind, service, port))
            steps.append(Step(f"Fill {kind}", f"./fill-{kind}", f"which command fills {kind} at port {port}"))
        else:
            steps.append(Step(f"Start {kind}", f"./start-{kind}", f"which command starts {address.netloc}"))
    if names_store(judged) and "://" not in judged:
        steps.append(_store_step(os.path.relpath(judged, project.folder)))
    wanted = _VARIABLE.findall(json.dumps([*described, judged]))
    secrets = tuple(name for name in dict.fromkeys(wanted) if name not in own)
    command = f"cranfield test {_REPORT}"
    return Needs(frozenset(extras), tuple(services), own, secrets, tuple(steps), project.baseline, command)


def needs_of_gate() -> Needs:
    """What comparing two runs by a file of settings takes."""
    made = Step("Make the run", "./make-run > candidate.run", "which command makes the run of this version")
    command = f"cranfield gate --config {GATE_NAME}"
    return Needs(frozenset({"report", "history"}), (), {}, (), (made,), "baseline.run", command)


def _store_step(store: str) -> Step:
    why = f"the judgments: commit {store}, or instead of it what 'cranfield convert {store} qrels.txt' writes"
    return Step("The judgments", f"test -s {shlex.quote(store)}", why)


def _packages(folder: Path) -> Iterator[Step]:
    """How the project's own code is installed, which a system in Python needs."""
    if (folder / "pyproject.toml").is_file() or (folder / "setup.py").is_file():
        yield Step("Install this project", "python -m pip install -e .")
    elif (folder / "requirements.txt").is_file():
        yield Step("Install what this project needs", "python -m pip install -r requirements.txt")


def _local_servers(described: list[Mapping[str, Any]]) -> Iterator[tuple[Any, str]]:
    for its in described:
        if its.get("type") in PRESETS:
            address = urlsplit(str(its.get("url", "")))
            if address.hostname in LOCAL:
                yield address, str(its["type"])


def dsn_parts(dsn: str) -> dict[str, str]:
    """The host, port, user and dbname that a dsn names, as `dbname=shop user=reader` or as a URL."""
    if "://" not in dsn:
        return dict(re.findall(r"\b(host|port|user|dbname)\s*=\s*'?([^\s']+)", dsn))
    url = urlsplit(dsn)
    port = re.search(r":(\d+)$", url.netloc)  # which may be a variable, and then is no port to urlsplit
    parts = {"host": url.hostname, "port": port and port[1], "user": url.username, "dbname": url.path.lstrip("/")}
    return {name: value for name, value in parts.items() if value}


POSTGRES = Service("postgres:17", "5432", {}, "pg_isready")


def installed_from() -> str:
    """What pip is told to install the cranfield that runs here; empty where another machine cannot get it."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        ours = distribution("cranfield")
        origin = json.loads(ours.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url, version = str(origin.get("url", "")), origin.get("vcs_info", {})
    if not origin:
        return f"cranfield=={ours.version}"
    who = urlsplit(url).netloc.rpartition("@")[0]
    if not url.startswith(("https://", "ssh://")) or who not in ("", "git"):  # here alone, or with a password
        return ""
    return f"{version.get('vcs', 'git')}+{url}@{version.get('commit_id', '')}" if version else url


def github_job(needs: Needs) -> dict[str, str]:
    """The workflow of GitHub's CI."""
    name = ".github/workflows/search-quality.yml"
    services = "".join(_github_service(each) for each in needs.services)
    lines = f"    services:\n{services}" if services else ""
    env = {**needs.own, **{secret: f"${{{{ secrets.{secret} }}}}" for secret in needs.secrets}}
    lines += "    env:\n" + "".join(f'      {key}: "{value}"\n' for key, value in env.items()) if env else ""
    steps = "".join(_github_step(step, name) for step in needs.steps) + github_steps(needs)
    return {name: _filled("github.yml", needs, {"services": lines, "steps": indent(steps, "      ")})}


def github_steps(needs: Needs) -> str:
    """The steps that every job of GitHub's has, also the composite action."""
    command = f"{needs.command} --format github {_BODY} {_OUTPUTS}"
    texts = {"baseline": shlex.quote(needs.baseline), "command": command, "what": "Measure, and compare"}
    return _replaced((TEMPLATES / "github-steps.yml").read_text(encoding="utf-8"), texts)


def _github_service(started: Started) -> str:
    env = ", ".join(f'{name}: "{value}"' for name, value in started.service.env.items())
    checked = f'--health-cmd "{started.service.health}" --health-interval 2s --health-retries 60'
    return (
        f"      {started.name}:\n"
        f"        image: {started.service.image}\n"
        f"        env: {{ {env} }}\n"
        f'        ports: ["{started.port}:{started.service.port}"]\n'
        f"        options: >-\n          {checked}\n"
    )


def _github_step(step: Step, file: str) -> str:
    marked = f"{step.name} (edit this step)" if step.unknown else step.name
    return f"- name: {marked}\n  run: |\n" + indent("\n".join(_commands(step, f"::error file={file}::")) + "\n", "    ")


def _commands(step: Step, mark: str) -> Iterator[str]:
    """The lines of a step; one that cranfield cannot know fails with its reason, unless there is such a program."""
    program = step.command.partition(" ")[0]
    if step.unknown and program.startswith("./"):
        reason = f"cranfield cannot know {step.unknown}: write {program}, or replace this step."
        yield f"test -x {program} || {{ echo {shlex.quote(mark + reason)}; exit 1; }}"
    elif step.unknown:
        yield f"{step.command} || {{ echo {shlex.quote(f'{mark}There is nothing in {step.unknown}.')}; exit 1; }}"
        return
    yield step.command


def gitlab_job(needs: Needs) -> dict[str, str]:
    """The job of GitLab's CI."""
    own = {**needs.own, **({"PGHOST": "postgres"} if "PGHOST" in needs.own else {})}
    variables = "".join(f'    {key}: "{value}"\n' for key, value in own.items())
    services = "".join(_gitlab_service(each) for each in needs.services)
    commands = [line for step in needs.steps for line in _commands(step, "")]
    command = f"{needs.command} --also search-quality.md {_OUTPUTS}"
    texts = {
        "variables": variables,
        "services": f"  services:\n{services}" if services else "",
        "steps": "".join(f"    - {json.dumps(line)}\n" for line in commands),
        "command": command,
    }
    file = ".gitlab-ci.yml"
    return {file: _filled("gitlab.yml", needs, texts)}


def _gitlab_service(started: Started) -> str:
    env = ", ".join(f'{name}: "{value}"' for name, value in started.service.env.items())
    return f"    - name: {started.service.image}\n      alias: {started.name}\n      variables: {{ {env} }}\n"


def _filled(template: str, needs: Needs, texts: Mapping[str, str]) -> str:
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return _replaced(text, {"installed": installed_from(), "extras": ",".join(sorted(needs.extras)), **texts})


def _replaced(text: str, texts: Mapping[str, str]) -> str:
    for name, value in texts.items():
        text = text.replace(f"<{name}>", value)
    return text


# The places that run jobs; each gives the files of one.
JOBS: dict[str, Callable[[Needs], dict[str, str]]] = {"github": github_job, "gitlab": gitlab_job}


def gate_settings() -> str:
    """A commented file of the settings of `cranfield gate`."""
    from cranfield.comparison.gating import GATE_TESTS

    others = ", ".join(f'"{name}"' for name in GATE_TESTS if name != "t")
    return (TEMPLATES / GATE_NAME).read_text(encoding="utf-8").replace("<others>", others)


def action() -> str:
    """The composite action of this repository: the same steps, for a project in the current folder."""
    command = f'cranfield test --config "$CRANFIELD_CONFIG" {_REPORT}'
    needs = Needs(frozenset(), (), {}, (), (), '"$CRANFIELD_BASELINE"', command)
    steps = github_steps(needs).replace(shlex.quote(needs.baseline), needs.baseline)
    return _replaced((TEMPLATES / "action.yml").read_text(encoding="utf-8"), {"steps": indent(steps, "    ")})
