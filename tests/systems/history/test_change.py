"""Which commit, branch and pull request is measured."""

import subprocess

import pytest

from cranfield.systems.history.change import Change, Moment, measured_change, pull_request, who


def git(folder, *arguments):
    settings = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    pytest.importorskip("shutil").which("git") or pytest.skip("there is no git")
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "search.py").write_text("1")
    (tmp_path / "baseline").mkdir()
    (tmp_path / "baseline" / "mine.json").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Stop words, off\n\nBecause of Hamlet.")
    return tmp_path


def test_the_commit_that_is_checked_out(repository):
    head = git(repository, "rev-parse", "HEAD")
    assert measured_change(repository, {}) == Change(head, "Stop words, off", "main", False, "")
    (repository / "search.py").write_text("2")
    assert measured_change(repository, {}).dirty
    assert measured_change(repository / "baseline", {}).dirty  # also seen from a folder of it


def test_accepted_results_and_untracked_files_do_not_make_it_dirty(repository):
    (repository / "baseline" / "mine.json").write_text("2")
    (repository / "new.txt").write_text("1")
    assert measured_change(repository, {}).dirty
    assert not measured_change(repository, {}, apart=("baseline",)).dirty


def test_a_commit_alone_has_the_branch_that_ci_names(repository):
    git(repository, "checkout", "-q", "--detach")
    assert measured_change(repository, {}).branch == ""
    assert measured_change(repository, {"GITHUB_REF_NAME": "release"}).branch == "release"


def test_githubs_merge_of_a_pull_request_stands_for_its_change(repository):
    git(repository, "checkout", "-q", "-b", "change")
    (repository / "search.py").write_text("2")
    git(repository, "commit", "-q", "-a", "-m", "Synonyms")
    change = git(repository, "rev-parse", "HEAD")
    main = git(repository, "rev-parse", "main")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", f"Merge {change} into {main}", "change")
    environment = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/17/merge", "GITHUB_HEAD_REF": "change"}
    assert measured_change(repository, environment) == Change(change, "Synonyms", "change", False, "17")
    assert measured_change(repository, {}).subject == f"Merge {change} into {main}"


def test_without_git_ci_still_names_the_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert measured_change(tmp_path, {"GITHUB_SHA": "abc"}) == Change("abc")
    assert measured_change(tmp_path, {}) == Change()


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({}, ""),
        ({"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main"}, ""),
        ({"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/17/merge"}, "17"),
        ({"GITHUB_EVENT_NAME": "pull_request_target", "GITHUB_REF": "refs/heads/main"}, "?"),
        ({"GITHUB_EVENT_NAME": "merge_group"}, "?"),
        ({"CI_MERGE_REQUEST_IID": "4"}, "4"),
        ({"BUILDKITE_PULL_REQUEST": "false"}, ""),
        ({"BUILDKITE_PULL_REQUEST": "12"}, "12"),
        ({"CIRCLE_PULL_REQUEST": "https://github.com/shop/search/pull/9"}, "9"),
        ({"SYSTEM_PULLREQUEST_PULLREQUESTID": "31"}, "31"),
    ],
)
def test_pull_requests_are_known_by_cis_variables(environment, number):
    assert pull_request(environment) == number


def test_a_moment_is_written_and_read(repository):
    moment = Moment.now(repository)
    assert Moment.of(moment.to_dict()) == moment
    assert Moment.of({"at": 3}) is None
    assert Moment.of({}) is None


def test_who_is_at_work(repository, monkeypatch):
    git(repository, "config", "user.name", "Bob")
    assert who(repository, {}) == "Bob"
    assert who(repository, {"GIT_AUTHOR_NAME": "Cem"}) == "Cem"
