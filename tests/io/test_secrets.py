"""No secret is shown, for any system, any failure and any encoding of the secret."""

import base64
import html
import json
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield import CranfieldError, open_collection, open_system, record
from cranfield.io.secrets import Secrets
from cranfield.show.systems_text import recorded_lines
from cranfield.systems.presets import PRESETS
from tests.program import run
from tests.systems.server import Server

PLACE = "${RANDOM_SECRET}"
FORMS = {
    "as it is": str,
    "quoted": lambda secret: quote(secret, safe=""),
    "quoted plus": quote_plus,
    "path": quote,
    "json": json.dumps,
    "json twice": lambda secret: json.dumps(json.dumps(secret)),
    "json unescaped": lambda secret: json.dumps(secret, ensure_ascii=False).replace("/", "\\/"),
    "repr": repr,
    "bytes": lambda secret: repr(secret.encode()),
    "html": html.escape,
    "collapsed": lambda secret: " ".join(secret.split()),
    "stripped": str.strip,
    "lower": str.lower,
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 inside": lambda secret: base64.b64encode(b"me:" + secret.encode()).decode(),
    "base64 shifted": lambda secret: base64.urlsafe_b64encode(b"user:" + secret.encode() + b";x").decode(),
}
# No message contains eight of these letters in a row.
LETTERS = "QXZJKVqxzjkv"
secrets = st.builds(
    lambda start, rest, end: start + rest + end,
    st.text(LETTERS, min_size=8, max_size=40),
    st.text(LETTERS + " \t\n\"'\\/%+&=<>{}é€😀.:-_#?0123456789", max_size=150),
    st.sampled_from(["", "\n", " ", "=="]),
)


def parts(secret):
    """Every eight consecutive letters of the secret and of its base64 forms."""
    texts = [
        secret,
        base64.b64encode(secret.encode()).decode(),
        base64.b64encode(b"me:" + secret.encode()).decode()[4:],
    ]
    return {text[at : at + 8].lower() for text in texts for at in range(len(text) - 7) if text[at : at + 8].isalpha()}


def assert_hidden(secret, *shown):
    for text in shown:
        leaked = [part for part in parts(secret) if part in text.lower()]
        assert not leaked, (leaked, text)


@pytest.mark.fault("secrets in URLs, JSON, HTML, quotes and base64", "They are hidden in everything that is shown.")
@settings(max_examples=150, deadline=None)
@given(secrets, st.sampled_from(sorted(FORMS)), st.text("xyz <>\n", max_size=130))
def test_a_secret_is_hidden_in_every_form(secret, form, before):
    kept = Secrets("s")
    kept.keep(secret, PLACE)
    text = f"{before}{FORMS[form](secret)} end"
    assert_hidden(secret, kept.hide(text), kept.excerpt(text.encode()))


def test_secrets_are_hidden_before_the_text_is_cut():
    kept = Secrets("s")
    token = "eyJhbGciOiJIUzI1NiJ9." + "a1B2c3D4" * 400
    kept.keep(token, PLACE)
    for before in range(0, 200, 7):
        assert_hidden(token, kept.excerpt(b"x" * before + token.encode()))
    assert_hidden(token, kept.excerpt(token.encode() * 40))  # far longer than the part that is searched
    assert len(kept.excerpt(b"x " * 500)) <= 120


HTTP_PLACES = (
    *("url", "path", "port", "host", "header", "auth", "param", "body"),
    *("order", "method", "results", "id", "id_pattern", "empty"),
)
FAULTS = ("echo", "denied", "wrong key", "html", "not JSON", "no results", "odd id", "odd score", "drop", "twice")


def http_settings(place, url):
    table = {"url": f"{url}/x", "timeout": 2}
    more = {
        "url": {"url": f"{url}/{PLACE}?key={PLACE}"},
        "path": {"url": f"{url}/a{PLACE}/b"},
        "port": {"url": f"http://127.0.0.1:{PLACE}/"},
        "host": {"url": f"http://{PLACE}/"},
        "header": {"headers": {"Authorization": f"Bearer {PLACE}"}},
        "auth": {"auth": f"me:{PLACE}"},
        "param": {"params": {"key": PLACE}},
        "body": {"body": {"query": "{query}", "key": PLACE}},
    }
    return {**table, **more.get(place, {place: PLACE})}


def answer(fault, sent):
    return {
        "echo": json.dumps({"error": sent}).encode(),
        "denied": (403, sent),
        "wrong key": (401, sent),
        "html": f"<p>{html.escape(sent)}</p>".encode(),
        "not JSON": sent.encode(),
        "no results": {"message": sent},
        "odd id": {"results": [{"id": {"x": sent}}], "hits": [{"id": [sent]}], "response": {"docs": [{"id": [sent]}]}},
        "odd score": {"results": [{"id": "a", "score": sent}], "hits": {"hits": [{"_id": "a", "_score": sent}]}},
        "drop": None,
        "twice": {"results": [{"id": "a"}, {"id": "a"}]},
    }[fault]


@pytest.fixture(scope="module")
def server():
    running = Server(lambda query, attempt: {})
    yield running
    running.close()


def shown_by(settings, folder):
    """Everything a user sees when a system fails: errors, the program's lines, and the files."""
    try:
        system = open_system(settings, open_collection("builtin"), name="s", timeout=2)
        with closing(system):
            recorded = record(system, {"1": "q", "2": "r"}, f"{folder}/out.run", 5, retries=0, wait=0.01)
    except CranfieldError as error:
        return [str(error), repr(error), error.fact, error.hint]
    return [str(recorded), *recorded_lines(recorded), *(path.read_text() for path in Path(folder).iterdir())]


@pytest.mark.fault(
    "servers and systems that repeat secrets in their errors", "They are hidden in everything that is shown."
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_servers_show_no_secret(server, monkeypatch, data):
    secret = data.draw(secrets)
    kind, place = data.draw(st.sampled_from(sorted(PRESETS))), data.draw(st.sampled_from(HTTP_PLACES))
    fault, form = data.draw(st.sampled_from(FAULTS)), data.draw(st.sampled_from(sorted(FORMS)))
    monkeypatch.setenv("RANDOM_SECRET", secret)
    sent = FORMS[form](secret) * data.draw(st.integers(1, 3))
    server.behave = lambda query, attempt: answer(fault, sent)
    with TemporaryDirectory() as folder:
        assert_hidden(secret, *shown_by({"type": kind, **http_settings(place, server.url)}, folder))


@pytest.mark.fault(
    "servers and systems that repeat secrets in their errors", "They are hidden in everything that is shown."
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    secrets,
    st.sampled_from(
        [
            {"type": "python", "object": PLACE},
            {"type": "python", "object": f"os:{PLACE}"},
            {"type": "python", "object": f"{PLACE}:x"},
            {"type": "python", "object": "os:getcwd", "order": PLACE},
            {"type": "sqlite", "weights": {"title": PLACE}},
            {"type": "sqlite", "weights": {PLACE: 1}},
            {"type": "bm25s", "method": PLACE},
            {"type": "bm25s", "stopwords": PLACE},
            {"type": "postgres", "dsn": PLACE},
            {"type": "postgres", "dsn": f"password={PLACE} host=/nowhere", "sql": "select %(query)s"},
            {"type": "postgres", "dsn": f"postgresql://me:{PLACE}@localhost:1/x", "sql": "select %(query)s"},
            {"type": "postgres", "dsn": f"host={PLACE}", "sql": "select %(query)s"},
            {"type": "postgres", "dsn": "host=/nowhere", "sql": f"select %({PLACE})s"},
            {"type": "postgres", "dsn": "host=/nowhere", "table": "t", "columns": ["c"], "match": PLACE},
            {"type": "postgres", "dsn": "host=/nowhere", "sql": "select %(query)s", "order": PLACE},
        ]
    ),
)
def test_other_systems_show_no_secret(monkeypatch, secret, settings):
    if settings["type"] in ("bm25s", "postgres"):
        pytest.importorskip("bm25s" if settings["type"] == "bm25s" else "psycopg")
    monkeypatch.setenv("RANDOM_SECRET", secret)
    with TemporaryDirectory() as folder:
        assert_hidden(secret, *shown_by(settings, folder))


def test_a_token_with_a_newline_is_refused_without_showing_it(server, tmp_path, monkeypatch):
    (tmp_path / "s.toml").write_text(
        f'type = "http"\nurl = "{server.url}"\nheaders = {{ Authorization = "Bearer ${{TOK}}" }}\n'
    )
    (tmp_path / "queries.tsv").write_text("1\tone\n")
    monkeypatch.setenv("TOK", "s3cr3t-token\n")
    done = run("run", "s.toml", "queries.tsv", "-o", "o.run", cwd=tmp_path)
    assert done.returncode == 2
    assert "the header 'Authorization' contains a line break" in done.stderr
    assert "s3cr3t" not in done.stdout + done.stderr
