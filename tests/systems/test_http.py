"""Servers behind HTTP, and everything that goes wrong with them; against a real server on this machine."""

import json
import socket
import threading

import pytest

from cranfield.errors import InputError, SystemFailure
from cranfield.systems.asking import GaveUp, ask
from cranfield.systems.http import HttpSearch
from cranfield.systems.opening import open_system
from cranfield.systems.queries import Query
from cranfield.systems.recording import record
from tests.program import run
from tests.systems.server import Server, elastic

BODY = {"query": "{query}", "size": "{k}"}


@pytest.fixture
def serve():
    servers = []

    def start(behave):
        servers.append(Server(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(autouse=True)
def _closing(monkeypatch):
    opened = []
    build = HttpSearch.__init__

    def remembered(self, *arguments, **options):
        build(self, *arguments, **options)
        opened.append(self)

    monkeypatch.setattr(HttpSearch, "__init__", remembered)
    yield
    for asked in opened:
        asked.close()


def system(server, preset="elasticsearch", **settings):
    return opened({"url": f"{server.url}/i/_search", "timeout": 2, "body": BODY, **settings}, preset)


def opened(settings, preset="http"):
    return open_system({"type": preset, **settings}, name="s")


def answers(asked, queries, k=10, **options):
    listed = [(query, query) for query in queries]
    return {answer.query_id: answer for answer in ask(asked, listed, k, **{"wait": 0.01, **options})}


def test_a_query_is_sent_as_it_is_and_the_answer_is_read(serve):
    server = serve(lambda query, attempt: elastic([("b", 2.5), ("a", 1.0)]))
    odd = 'say "{k}" \\ & ünï'
    assert system(server).search(odd, 7) == [("b", 2.5), ("a", 1.0)]
    path, headers, body = server.requests[0]
    assert (path, body) == ("/i/_search", {"query": odd, "size": 7})
    assert headers["Content-Type"] == "application/json"


def test_columns_of_a_query_are_sent_and_a_server_that_needs_no_k_is_asked_as_it_is(serve):
    server = serve(lambda query, attempt: elastic([("b", 2.5), ("a", 1.0)]))
    body = {"query": "{query}", "filter": {"language": "{language}"}, "years": "{years}", "words": "in {language}"}
    described = {"url": f"{server.url}/{{shop}}/_search", "body": body}
    query = Query("shoes", language="de", years=[2024, 2025], shop="a/b")
    recorded = record(opened(described, "elasticsearch"), {"1": query})
    [(path, _, sent)] = server.requests
    assert path == "/a%2Fb/_search"
    assert sent == {"query": "shoes", "filter": {"language": "de"}, "years": [2024, 2025], "words": "in de"}
    assert (recorded.made.k, recorded.made.size["documents"]) == (None, 2)
    refused = record(opened(described, "elasticsearch"), {"1": "shoes", "2": "boots"})
    assert refused.failed["1"].startswith("the query has no column 'language', which the system asks for.")
    assert len(refused.failed) == 1
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "settings", "expected"),
    [
        ({"usage": {"total_tokens": 12}}, {}, 12.0),
        ({"usage": {"total_tokens": 12, "cost": 0.25}}, {}, 0.25),
        ({"usage": {"total_tokens": True}}, {}, None),
        ({"billed": {"units": "7.5"}}, {"cost": "billed.units"}, 7.5),
        ({"billed": {"units": "much"}}, {"cost": "billed.units"}, None),
        (({}, {"X-Cost": "3"}), {"cost": "header:x-cost"}, 3.0),
    ],
)
def test_the_cost_of_an_answer_is_kept(serve, answer, settings, expected):
    content, headers = answer if isinstance(answer, tuple) else (answer, {})
    server = serve(lambda query, attempt: ({**elastic([("a", 1.0)]), **content}, headers))
    recorded = record(system(server, **settings), {"1": "x", "2": "y"})
    assert recorded.cost == ({} if expected is None else {"mean": expected, "total": 2 * expected})


@pytest.mark.parametrize(
    ("preset", "answer", "expected"),
    [
        ("elasticsearch", elastic([("x", 2.0), ("y", 1.0)]), [("x", 2.0), ("y", 1.0)]),
        ("opensearch", elastic([]), []),
        ("solr", {"response": {"docs": [{"id": "x", "score": 3.0}]}}, [("x", 3.0)]),
        ("vespa", {"root": {"children": [{"id": "id:ns:doc::x", "relevance": 0.5}]}}, [("x", 0.5)]),
        ("vespa", {"root": {"fields": {"totalCount": 0}}}, []),
        ("typesense", {"hits": [{"document": {"id": "x"}, "text_match": 1}, {"document": {"id": "y"}}]},
         [("x", 2.0), ("y", 1.0)]),
        ("meilisearch", {"hits": [{"id": 12}]}, [("12", 1.0)]),
    ],
)  # fmt: skip
def test_presets_read_the_answers_of_known_servers(serve, preset, answer, expected):
    server = serve(lambda query, attempt: answer)
    asked = open_system({"type": preset, "url": f"{server.url}/search"}, name=preset)
    assert asked.search("blue & green", 3) == expected
    path, _, body = server.requests[0]
    assert "blue%20%26%20green" in path or "blue & green" in json.dumps(body)
    assert "=3" in path or 3 in body.values()


def test_a_preset_keeps_its_parameters_when_others_are_added(serve):
    server = serve(lambda query, attempt: {"hits": []})
    open_system({"type": "typesense", "url": server.url + "/x", "params": {"query_by": "title,text"}}).search("q", 4)
    assert server.requests[0][0] == "/x?q=q&per_page=4&query_by=title%2Ctext"


def test_a_server_that_drips_times_out():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = threading.Event()

        def drip():
            connection, _ = listener.accept()
            with connection:
                connection.recv(10000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while not done.wait(0.02):
                    try:
                        connection.sendall(b" ")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        asked = opened({"url": f"http://127.0.0.1:{listener.getsockname()[1]}/", "timeout": 0.2})
        try:
            with pytest.raises(SystemFailure, match="no answer from"):
                asked.search("q", 1)
        finally:
            done.set()
            thread.join(5)


def test_a_url_may_hold_the_query(serve):
    server = serve(lambda query, attempt: {"data": [["a", 2], ["b", 1]]})
    asked = opened({"url": server.url + "/find?q={query}&n={k}", "method": "get", "results": "data", "id": ""})
    assert asked.search("a b/c?", 5) == [("a", 2.0), ("b", 1.0)]
    assert server.requests[0][0] == "/find?q=a%20b%2Fc%3F&n=5"


def test_errors_in_bursts_are_tried_again_and_nothing_is_lost(serve):
    server = serve(lambda query, attempt: 503 if attempt < 3 else elastic([(query, 1.0)]))
    found = answers(system(server), "abcdef", jobs=3)
    assert {query: answer.ranking for query, answer in found.items()} == {q: [(q, 1.0)] for q in "abcdef"}
    assert {answer.attempts for answer in found.values()} == {3}


def test_retry_after_is_read_from_the_response(serve):
    server = serve(lambda query, attempt: (429, {"Retry-After": "1"}) if attempt == 1 else elastic([("a", 1.0)]))
    with pytest.raises(SystemFailure) as caught:
        system(server).search("q", 1)
    assert (caught.value.retry, caught.value.after) == (True, 1.0)


@pytest.mark.fault(
    "search servers that fail, cut or damage their answers", "The query fails with a reason, and the others are asked."
)
@pytest.mark.parametrize(
    ("behaviour", "message", "attempts"),
    [
        (400, "the server answered 400 Bad Request: sorry", 1),
        (403, "set headers or auth", 1),
        (302, "redirects are not followed", 1),
        (500, "the server answered 500", 3),
        (None, "failed: ", 3),
        ((b"{}", {"Content-Length": "1000", "Connection": "close"}), "failed: IncompleteRead", 3),
        (b"{oops", "the answer is not JSON", 1),
        (b"", "the answer is not JSON", 1),
        ({"took": 3}, "the answer has no 'hits.hits'", 1),
        (elastic([("a", 2.0), ("a", 1.0)]), "document 'a' appears twice in the answer", 1),
        (elastic([("a", 1.0), ("b", None)]), "document 'b' has the score None", 1),
        ({"hits": {"hits": [{"_score": 1.0}]}}, "a result has no id at '_id'", 1),
        ({"hits": {"hits": "many"}}, "the answer is str", 1),
        (b'{"hits":' + b"[" * 100_000, "the answer is nested too deep", 1),
        (b'{"hits": {"hits": [{"_id": "a", "_score": 1' + b"0" * 400 + b"}]}}", "beyond the range of floating", 1),
        (b'{"hits": {"hits": [{"_id": "\\ud800", "_score": 1}]}}', "d800", 1),
    ],
)
def test_a_failure_is_reported_with_its_reason(serve, behaviour, message, attempts):
    server = serve(lambda query, attempt: behaviour)
    [answer] = answers(system(server), "q", retries=2).values()
    assert answer.ranking is None
    assert message in answer.error
    assert answer.attempts == attempts


@pytest.mark.fault(
    "search servers that fail, cut or damage their answers", "The query fails with a reason, and the others are asked."
)
@pytest.mark.parametrize(
    "answer",
    [
        {"hits": {"hits": [{"_id": "DEEP", "_score": 1}]}},
        {"hits": {"hits": [{"_id": "a", "_score": "DEEP"}]}},
        {"hits": {"hits": ["DEEP"]}},
        {"hits": {"hits": "DEEP"}},
        {"hits": {"hits": [{"_id": "a", "_score": 1, "_source": {"title": "DEEP"}}]}},
    ],
)
def test_an_answer_that_is_nested_deep_is_read_or_a_failure(serve, answer):
    depths = [200, *range(900, 1000, 4)]
    coded = [json.dumps(answer).replace('"DEEP"', "[" * depth + "]" * depth).encode() for depth in depths]
    server = serve(lambda query, attempt: coded[int(query)])
    found = answers(system(server), [str(at) for at in range(len(depths))], retries=0, give_up=0).values()
    assert len(found) == len(depths)
    assert not [each.error for each in found if "RecursionError" in each.error or not (each.ranking or each.error)]


def test_scores_may_be_missing_and_results_few(serve):
    server = serve(lambda query, attempt: {"hits": {"hits": [{"_id": "a"}, {"_id": "b"}]}})
    assert system(server).search("q", 100) == [("a", 2.0), ("b", 1.0)]
    falling = serve(lambda query, attempt: elastic([("a", 1.0), ("b", 2.0)]))
    assert system(falling, order="rank").search("q", 2) == [("a", 2.0), ("b", 1.0)]


def test_a_wrong_key_is_not_tried_again(serve):
    server = serve(lambda query, attempt: 401)
    with pytest.raises(GaveUp, match="no query can succeed: the server answered 401 Unauthorized"):
        list(ask(system(server), [(str(n), "q") for n in range(20)], 1, wait=0.01))
    assert sum(server.asked.values()) == 1


def test_slow_answers_time_out(serve):
    server = serve(lambda query, attempt: 1.0)
    [answer] = answers(system(server, timeout=0.1), "q", retries=0).values()
    assert answer.error.startswith("no answer from 127.0.0.1")


def test_refused_connections_and_unknown_hosts_are_reported():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = opened({"url": f"http://127.0.0.1:{port}/"})
    found = []
    with pytest.raises(GaveUp, match=r"no query can succeed: could not connect to .*refused"):
        found.extend(ask(asked, [(str(q), "x") for q in range(50)], 1, retries=1, wait=0.001))
    assert [answer.attempts for answer in found] == [2]  # a port that nothing listens on needs no ten queries
    with pytest.raises(SystemFailure, match="there is no host"):
        opened({"url": "http://nowhere.invalid/"}).search("q", 1)


def test_a_server_that_dies_half_way_can_be_resumed(serve, tmp_path):
    queries = {f"q{n}": f"q{n}" for n in range(40)}
    server = serve(lambda query, attempt: elastic([(query, 1.0)]) if int(query[1:]) < 20 else None)
    first = record(system(server), queries, tmp_path / "out.run", wait=0.001, retries=1, give_up=5)
    assert (first.answered, len(first.failed), len(first.not_asked)) == (20, 5, 15)
    assert first.gave_up.startswith("5 queries in a row failed")
    assert not first.complete
    server.behave = lambda query, attempt: elastic([(query, 1.0)])
    before = server.asked["q3"]
    second = record(system(server), queries, tmp_path / "out.run", resume=True)
    assert second.complete
    assert server.asked["q3"] == before
    lines = (tmp_path / "out.run").read_text().splitlines()
    assert lines == [f"q{n} Q0 q{n} 1 1.0 s" for n in range(40)]


def test_jobs_limit_the_requests_in_progress(serve):
    server = serve(lambda query, attempt: 0.02)
    found = answers(system(server), [str(n) for n in range(40)], jobs=4)
    assert len(found) == 40
    assert 2 <= server.most <= 4


def test_a_closed_connection_is_opened_again_without_a_failure(serve):
    server = serve(lambda query, attempt: (elastic([("a", 1.0)]), {"Connection": "close"}))
    asked = system(server)
    for _ in range(3):
        assert asked.search("q", 1) == [("a", 1.0)]


def test_secrets_are_sent_and_never_shown(serve, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("SEARCH_KEY", "s3cr3t/key+")
    seen = []

    def echo_headers(query, attempt):
        headers = server.requests[-1][1]
        seen.append(headers["Authorization"])
        return b"denied: " + json.dumps(headers).encode() + b" s3cr3t%2Fkey%2B"

    server = serve(echo_headers)
    settings = {"url": server.url + "/?key=${SEARCH_KEY}", "headers": {"X-Key": "${SEARCH_KEY}"}}
    asked = open_system({"type": "http", "auth": "me:${SEARCH_KEY}", **settings}, name="s")
    recorded = record(asked, {"1": "q"}, tmp_path / "out.run", retries=0)
    assert seen == ["Basic bWU6czNjcjN0L2tleSs="]
    assert "denied" in recorded.failed["1"]
    written = "".join(path.read_text() for path in tmp_path.iterdir())
    for shown in (str(recorded), written, *capfd.readouterr()):
        for secret in ("s3cr3t", "bWU6czNjcjN0L2tleSs="):
            assert secret not in shown


def test_settings_are_checked(monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    for settings, message in [
        ({}, "the url is missing"),
        ({"url": "ftp://x"}, "is not the URL of a server"),
        ({"url": "http://me:pw@host/"}, "the url contains a password"),
        ({"url": "http://h/", "idd": "x"}, "there is no setting 'idd'"),
        ({"url": "http://h/", "body": "{oops"}, "the body is not JSON"),
        ({"url": "http://h/", "headers": "x"}, "headers must be a table"),
        ({"url": "http://h/", "timeout": "soon"}, "timeout must be a number"),
        ({"url": "http://h/", "id_pattern": "("}, "not a regular expression"),
        ({"url": "http://h/", "id_pattern": "a"}, "id_pattern has 0 groups"),
        ({"url": "http://h/", "order": "best"}, "there is no order 'best'"),
        ({"url": "http://h/", "method": "GET"}, "the request does not contain the query"),
        ({"url": "http://h/?q=%(query)s", "body": {"q": ":query"}}, "the request does not contain the query"),
        ({"url": "http://h/${NOT_SET}"}, "the environment variable NOT_SET is not set"),
    ]:
        with pytest.raises(InputError, match=message) as caught:
            opened(settings)
        assert "pw@" not in str(caught.value)


def test_the_run_command_queries_a_server(serve, tmp_path):
    server = serve(
        lambda query, attempt: 404 if query == "two" else elastic([("a#1", 2.0), ("b#1", 1.5), ("a#2", 1.0)])
    )
    (tmp_path / "s.toml").write_text(
        f'type = "elasticsearch"\nurl = "{server.url}/i/_search"\nbody = {{query = "{{query}}"}}\n'
    )
    (tmp_path / "queries.tsv").write_text("1\tone\n2\ttwo\n")
    command = ("run", "s.toml", "queries.tsv", "-o", "o.run", "--collapse", "#")
    done = run(*command, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "o.run: 1 of 2 queries answered by s" in done.stdout
    assert "2: the server answered 404 Not Found: sorry" in done.stdout
    assert done.stderr == ""
    assert (tmp_path / "o.run").read_text() == "1 Q0 a 1 2.0 s_(collapse=#)\n1 Q0 b 2 1.5 s_(collapse=#)\n"
    saved = json.loads((tmp_path / "o.run.json").read_text())
    assert set(saved["latency"]) == {"mean", "p50", "p90", "p95", "p99", "max"}
    server.behave = lambda query, attempt: elastic([])
    done = run(*command, "--resume", cwd=tmp_path)
    assert done.returncode == 0
    assert not (tmp_path / "o.run.partial").exists()


KNOWN = [f"d{number}" for number in range(2_300)]
LISTED = {"deleted", *KNOWN[::2]}


@pytest.mark.parametrize(
    ("exists", "requests"),
    [
        ({"body": {"query": {"ids": {"values": "{ids}"}}, "size": "{k}"}}, 2),
        ({"url": "/skus?ids={ids}", "results": "", "id": ""}, 24),
        ({"url": "/skus", "method": "POST", "results": "", "id": ""}, 1),
    ],
)
def test_a_server_says_which_documents_exist(serve, exists, requests):
    def behave(query, attempt):
        asked = json.loads(query)["ids"]["values"] if query else KNOWN
        return elastic([(document, 1.0) for document in asked if document in KNOWN]) if query else KNOWN

    server = serve(behave)
    its = {**exists, **({"url": server.url + exists["url"]} if "url" in exists else {})}
    asked = system(server, exists=its, headers={"X-Key": "secret"})._kind
    assert asked.existing(LISTED) & LISTED == LISTED - {"deleted"}
    assert len(server.requests) == requests
    sizes = [body["size"] for _, _, body in server.requests if body]
    assert sizes in ([], [1_000, 151])
    assert {headers["X-Key"] for _, headers, _ in server.requests} == {"secret"}
    assert all(path.count(",") < 50 for path, _, _ in server.requests)
    assert system(server)._kind.existing is None


@pytest.mark.parametrize(
    ("exists", "message"),
    [
        ({"body": {"q": "{query}"}}, r"s: exists: it has \{query\} in it"),
        ({"ids": "x"}, "s: exists: there is no setting 'ids'"),
        ({"url": 3}, "s: exists: url must be text"),
    ],
)
def test_a_wrong_request_for_existing_documents_is_refused(serve, exists, message):
    with pytest.raises(InputError, match=message):
        system(serve(lambda query, attempt: {}), exists=exists)


def test_documents_that_a_server_no_longer_has_fail_no_test(serve, tmp_path):
    """One in seventeen of the judged documents is deleted, and the server still answers as it did."""
    from contextlib import nullcontext

    from cranfield.systems.accepting import accept
    from cranfield.systems.asking import Silent
    from cranfield.systems.project import Project
    from cranfield.systems.testing import run_test

    skus = [f"w{query}-{number}" for query in range(34) for number in range(4)]
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\tw{query}-\n" for query in range(34)))
    (tmp_path / "qrels.txt").write_text("".join(f"{sku[1:].partition('-')[0]} 0 {sku} 1\n" for sku in skus))
    left = [*skus]

    def behave(query, attempt):
        wanted = json.loads(query)["ids"]["values"] if query.startswith("{") else None
        found = [sku for sku in left if (sku in wanted if wanted else sku.startswith(query))]
        return elastic([(sku, -at) for at, sku in enumerate(found)]) if left else 500

    described = {"type": "elasticsearch", "url": serve(behave).url, "body": BODY}
    exists = {"body": {"query": {"ids": {"values": "{ids}"}}, "size": "{k}"}}
    project = Project(tmp_path / "cranfield.toml", ".", {"shop": {**described, "exists": exists}}, k=10)

    def tried():
        return run_test(project, lambda _: nullcontext(Silent())).systems[0]

    tried()
    accept(project)
    left[:] = [sku for sku in left if sku not in skus[::17]]
    tested = tried()
    assert tested.passed, tested.failed_checks
    assert "|gone:8|" in tested.accepted.signature
    assert "8 of 136 judged documents no longer exist" in tested.notes[0]
    wrong = {**exists, "results": "nope"}
    project = Project(tmp_path / "cranfield.toml", ".", {"shop": {**described, "exists": wrong}}, k=10)
    with pytest.raises(SystemFailure, match="the answer has no 'nope'"):
        tried()
