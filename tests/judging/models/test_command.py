"""`cranfield judge STORE --assessor NAME`: what it prints, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from cranfield import open_store
from tests.judging.models.server import ModelServer, completion
from tests.program import run
from tests.waiting import until


def good(request):
    return json.dumps({"grade": 1 if "\n\ntext of " in request.document else 0})


@pytest.fixture
def project(filled, tmp_path):
    """A folder with a store, and a cranfield.toml that names a server."""
    filled(queries=2, documents=5).close()

    def write(server, **settings):
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        text = "\n".join(["[assessors.small]", f'url = "{server.url}"', 'model = "test-model"', *lines])
        (tmp_path / "cranfield.toml").write_text(text + "\n")
        return tmp_path

    return write


def judge(folder, *options, **how):
    return run("judge", "judgments.db", "--assessor", *options, cwd=folder, **how)


def test_from_an_endpoint_to_grades(project):
    with ModelServer(good, count_tokens=lambda request: (300, 10)) as server:
        folder = project(server)
        dry = judge(folder, "small", "--dry-run")
        assert judge(folder, "small", "--estimate").stdout == dry.stdout
        assert server.requests == []
        done = judge(folder, "small")
        again = judge(folder, "small")
        assert len(server.requests) == 20
    assert dry.returncode == done.returncode == again.returncode == 0, done.stderr
    assert dry.stdout.startswith("small: 10 documents to judge\n  20 requests, 10 canaries among them; about ")
    assert done.stdout.startswith(dry.stdout)
    assert "small: 10 documents graded; 20 requests, 6,200 tokens\n" in done.stdout
    assert "0 of 10 canaries were graded 1 or higher\n" in done.stdout
    assert again.stdout.startswith("small: 0 documents to judge, 10 judged before\n  0 requests\n")
    assert done.stderr == ""
    with open_store(folder / "judgments.db") as store:
        assert len(list(store.events(assessor="small"))) == 10


def test_a_dry_run_needs_no_key(project, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    folder = project(SimpleNamespace(url="http://localhost:1/v1"), key="NO_SUCH_KEY")
    dry, asked = judge(folder, "small", "--dry-run"), judge(folder, "small")
    assert (dry.returncode, dry.stdout.startswith("small: 10 documents to judge")) == (0, True), dry.stderr
    assert (asked.returncode, "the environment variable NO_SUCH_KEY is not set." in asked.stderr) == (2, True)


def test_missing_grades_are_printed_with_their_reason(project):
    def behave(request):
        return "I cannot say." if "q0d3" in request.document else good(request)

    with ModelServer(behave) as server:
        folder = project(server)
        done = judge(folder, "small")
        shown = judge(folder, "small", "--show-missing")
        assert len(server.requests) == 20
        judge(folder, "small", "--again")
        assert len(server.requests) == 21
    assert "  1 document without a grade:\n    1  no JSON: the reply has no JSON object\n" in done.stdout
    assert "Hint: --show-missing lists them; --again asks again" in done.stdout
    assert shown.stdout.startswith("small: 0 documents to judge, 9 judged before, 1 whose reply could not be read\n")
    assert "q0     q0d3      no JSON: the reply has no JSON object\n" in shown.stdout


def test_an_assessor_of_the_command_line(project):
    with ModelServer(good) as server:
        folder = project(server)
        (folder / "cranfield.toml").unlink()
        (folder / "own.txt").write_text("Is {document} about {query}?")
        described = ["--set", f"url={server.url}", "--set", "model=m", "--set", "prompt=own.txt", "--set", "samples=2"]
        done = judge(folder, "other", *described, "--canaries", "0", "--limit", "7", "--jobs", "1")
        assert len(server.requests) == 7
        assert server.requests[0].prompt.endswith("?")
    assert "other: 3 documents graded; 7 requests" in done.stdout
    assert "The request limit is reached. 7 documents left; the same command continues from here." in done.stdout
    assert "100% of 3 documents got the same grade in all samples; mean spread 0.00" in done.stdout


def test_a_function(project, tmp_path):
    with ModelServer(good) as server:
        folder = project(server)
    (folder / "mine.py").write_text("def words(query, document):\n    return 2\n")
    done = judge(folder, "mine:words")
    assert done.returncode == 0, done.stderr
    assert "mine:words: 10 documents graded; 20 requests\n" in done.stdout
    assert "10 of 10 canaries were graded 1 or higher\n    5 of 5 with a claim" in done.stdout


def test_several_models_are_asked_one_after_the_other(project):
    with ModelServer(good) as server:
        folder = project(server)
        (folder / "mine.py").write_text("def words(query, document):\n    return 2\n")
        done = judge(folder, "small", "--assessor", "mine:words", "--canaries", "0")
    assert "small: 10 documents graded; 10 requests" in done.stdout
    assert "mine:words: 10 documents graded; 10 requests" in done.stdout
    with open_store(folder / "judgments.db") as store:
        assert len(list(store.events())) == 20


def test_order_and_budget(project):
    def behave(request):
        if len(request.documents) == 2:
            return '{"better": "A"}'
        return json.dumps({"grade": int(request.document[-1]) % 2}) if "\n\n" in request.document else '{"grade": 0}'

    with ModelServer(behave, count_tokens=lambda request: (500, 10)) as server:
        folder = project(server, budget=1_000_000)
        done = judge(folder, "small", "--check-order", "3")
        assert "  3 of 3 pairs of documents: the answer depends on their order\n" in done.stdout
        assert "with a clear answer" not in done.stdout
        stopped = judge(folder, "small", "--budget", "14000", "--set", "temperature=0.7")
        assert server.tokens <= 14_000
    assert "budget: 14,000 tokens in all, " in stopped.stdout
    assert "The token budget is reached." in stopped.stdout
    assert "a larger budget continues from here" in stopped.stdout


@pytest.mark.parametrize(
    ("behave", "message"),
    [
        (lambda request: (401, "bad key sk-12345678"), "is the environment variable SMALL_KEY the right key?"),
        (lambda request: (404, "no such model"), "check url and model"),
        (lambda request: (200, "<html>hello</html>"), "is not a chat completion: <html>hello</html>"),
    ],
)
def test_an_unusable_endpoint_is_an_error_without_a_traceback(behave, message, project):
    environment = {**os.environ, "SMALL_KEY": "sk-12345678"}
    with ModelServer(behave) as server:
        folder = project(server, key="SMALL_KEY")
        done = judge(folder, "small", "--set", "timeout=5", env=environment)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert "sk-12345678" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nobody"], "there is no assessor 'nobody'"),
        (["small", "--set", "colour=3"], "there is no setting 'colour'"),
        (["small", "--set", "samples=many"], "samples must be a whole number"),
        (["small", "--set", "samples"], "is not a setting"),
        (["small", "--set", "prompt=no.txt"], "no.txt: the prompt cannot be read"),
        (["small", "--set", "key=NO_SUCH_KEY"], "the environment variable NO_SUCH_KEY is not set"),
        (["no.module:name"], "there is no module 'no'"),
        (["small", "--me", "ann"], "--me names a person"),
        (["small", "--set", "url=nowhere"], "the url is not that of an endpoint"),
    ],
)
def test_invalid_options_are_refused_without_a_request(options, message, project):
    with ModelServer(good) as server:
        done = judge(project(server), *options)
        assert server.requests == []
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_options_that_need_an_assessor(project):
    with ModelServer(good) as server:
        done = run("judge", "judgments.db", "--dry-run", cwd=project(server))
    assert (done.returncode, "--dry-run needs --assessor." in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_the_grades_and_prints_how_to_continue(project):
    waiting = []

    def behave(request):
        if len(server.requests) > 15:
            waiting.append(request)
            until(lambda: interrupted)
        return good(request)

    interrupted = []
    with ModelServer(behave) as server:
        folder = project(server)
        command = [Path(sys.executable).with_name("cranfield"), "judge", "judgments.db", "--assessor", "small"]
        program = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: len(waiting) == 4)
        program.send_signal(signal.SIGINT)
        interrupted.append(True)
        out, err = program.communicate(timeout=60)
        assert program.returncode == 130
        assert "Waiting for 4 requests in progress" in err
        assert "Traceback" not in err
        assert "Interrupted." in out
        assert "the same command continues from here." in out
        asked = len(server.requests)
        judge(folder, "small")
        assert len(server.requests) == 20
        assert asked == 19  # the replies in progress were kept
    with open_store(folder / "judgments.db") as store:
        assert len(list(store.events(assessor="small"))) == 10


def test_a_project_may_describe_assessors(tmp_path):
    run("init", "builtin", cwd=tmp_path)
    with open(tmp_path / "cranfield.toml", "a") as file:
        file.write('\n[assessors.small]\nurl = "http://127.0.0.1:1/v1"\nmodel = "m"\n')
    assert run("test", cwd=tmp_path).returncode in (0, 1)


def test_the_price_is_told_before_and_after(project):
    prices = {"prompt_price": 2.0, "reply_price": 10.0}
    with ModelServer(good, count_tokens=lambda request: (300, 10)) as server:
        folder = project(server, **prices)
        done = judge(folder, "small", "--canaries", "0")
        assert server.tokens == 3_100
    tokens = re.search(r"about ([\d,]+) tokens, at most ([\d,]+)\n", done.stdout)
    about, most = (int(number.replace(",", "")) for number in tokens.groups())
    replies, most_replies = 10 * 40, 10 * 300
    price = (2 * (about - replies) + 10 * replies) / 1e6
    most_price = (2 * (most - most_replies) + 10 * most_replies) / 1e6
    assert f"\n  price: about {price:.4f}, at most {most_price:.4f}\n" in done.stdout
    assert "10 requests, 3,100 tokens, price 0.0070\n" in done.stdout  # 3,000 · 2 + 100 · 10 of a million


@pytest.mark.parametrize(
    ("usage", "tokens", "price"),
    [
        ({"prompt_tokens": 300, "completion_tokens": 10, "total_tokens": 330}, 330, "0.0009"),  # 20 of thoughts
        ({"total_tokens": 310}, 310, "0.0031"),  # all as replies, which cost more
    ],
)
def test_what_is_printed_is_what_the_endpoint_counted(usage, tokens, price, project):
    with ModelServer(lambda request: {**completion(good(request)), "usage": usage}) as server:
        folder = project(server, prompt_price=2, reply_price=10)
        done = judge(folder, "small", "--canaries", "0", "--limit", "1")
    assert f"; 1 request, {tokens} tokens, price {price}\n" in done.stdout


def test_replies_without_a_count_are_told(project):
    with ModelServer(good) as server:
        done = judge(project(server), "small", "--canaries", "0", "--limit", "2")
    assert re.search(r"; 2 requests, [\d,]+ tokens \(at most: 2 replies came without a count\)\n", done.stdout)


def test_one_price_is_not_enough(project):
    with ModelServer(good) as server:
        done = judge(project(server, prompt_price=2.0), "small", "--dry-run")
    assert done.stderr == "cranfield: small: the assessor has no reply_price.\nHint: costs need both prices\n"
