"""What is measured: the commit, its branch, and the pull request that it belongs to, from CI's variables and Git."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

# Variables of CI that name a pull request, and what in them is its number. One that says "false" names none.
_PULLS = {
    "CI_MERGE_REQUEST_IID": r"\d+",  # GitLab
    "BITBUCKET_PR_ID": r"\d+",
    "CHANGE_ID": r".+",  # Jenkins
    "SYSTEM_PULLREQUEST_PULLREQUESTID": r"\d+",  # Azure
    "CIRCLE_PULL_REQUEST": r"\d+$",
    "BUILDKITE_PULL_REQUEST": r"\d+",
    "TRAVIS_PULL_REQUEST": r"\d+",
    "DRONE_PULL_REQUEST": r"\d+",
}
_ON_GITHUB = ("pull_request", "pull_request_target", "merge_group")
# The branch of what is measured, where CI has checked out a commit alone.
_BRANCHES = (
    "GITHUB_HEAD_REF",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
    "GITHUB_REF_NAME",
    "CI_COMMIT_BRANCH",
    "BITBUCKET_BRANCH",
    "CHANGE_BRANCH",
    "BRANCH_NAME",
    "BUILD_SOURCEBRANCHNAME",
    "CIRCLE_BRANCH",
    "BUILDKITE_BRANCH",
    "TRAVIS_BRANCH",
    "DRONE_BRANCH",
)
_PATIENCE = 5  # seconds for Git


class Change(NamedTuple):
    """What was measured; empty where it is not known.

    subject: the first line of the commit's message
    dirty: whether files differed from the commit
    pull: the number of the pull request, or "?" where CI says only that it is one
    """

    commit: str = ""
    subject: str = ""
    branch: str = ""
    dirty: bool = False
    pull: str = ""


UNKNOWN = Change()


def measured_change(folder: Path, environment: Mapping[str, str] = os.environ, apart: tuple[str, ...] = ()) -> Change:
    """The commit that is checked out in a folder; `apart`: paths in it that do not make it dirty."""
    pull = pull_request(environment)
    branch = next((name for name in map(environment.get, _BRANCHES) if name), "")
    told = _git(folder, "log", "-1", "--decorate=short", "--format=%H%n%P%n%D%n%s")
    if told is None:
        return Change(environment.get("GITHUB_SHA") or environment.get("CI_COMMIT_SHA") or "", "", branch, False, pull)
    commit, parents, names, subject = told.split("\n", 3)
    if pull and len(parents.split()) == 2 and re.fullmatch(r"Merge \w{40} into \w{40}", subject.strip()):
        commit = parents.split()[1]  # GitHub checks out a merge that nobody has made: the change is its second parent
        subject = _git(folder, "log", "-1", "--format=%s", commit) or ""
    excepted = [f":(exclude){path}" for path in apart]
    status = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":/", *excepted)
    head = re.match(r"HEAD -> ([^,]+)", names)
    return Change(commit, subject.strip(), branch or (head[1] if head else ""), bool((status or "").strip()), pull)


class Moment(NamedTuple):
    """When something was measured, and of which commit."""

    at: datetime
    change: Change = UNKNOWN

    @classmethod
    def now(cls, folder: Path, apart: tuple[str, ...] = ()) -> Moment:
        return cls(datetime.now(UTC), measured_change(folder, apart=apart))

    def to_dict(self) -> dict[str, Any]:
        return {"at": stored_time(self.at), **self.change._asdict()}

    @classmethod
    def of(cls, known: Mapping[str, Any]) -> Moment | None:
        """What `to_dict` returned, among other things; None where it is not there."""
        try:
            return cls(time_from(known["at"]), Change(**{name: known[name] for name in Change._fields}))
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def stored_time(at: datetime) -> str:
    """A time in UTC as text, which sorts by time."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


time_from = datetime.fromisoformat


def pull_request(environment: Mapping[str, str] = os.environ) -> str:
    """The number of the pull request that CI is working on; "?" if it has none, empty if this is no pull request."""
    if environment.get("GITHUB_EVENT_NAME") in _ON_GITHUB:
        number = re.match(r"refs/pull/(\d+)/", environment.get("GITHUB_REF", ""))
        return number[1] if number else "?"
    for name, pattern in _PULLS.items():
        value = environment.get(name, "")
        if value and value != "false" and (number := re.search(pattern, value)):
            return number[0]
    return ""


def who(folder: Path, environment: Mapping[str, str] = os.environ) -> str:
    """The name of whoever is at work, as Git knows it."""
    name = environment.get("GIT_AUTHOR_NAME") or _git(folder, "config", "user.name") or ""
    actor = environment.get("GITHUB_ACTOR") or environment.get("GITLAB_USER_NAME") or ""
    return name.strip() or actor or environment.get("USER") or environment.get("USERNAME") or ""


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotepath=off", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").rstrip("\n") if done.returncode == 0 else None
