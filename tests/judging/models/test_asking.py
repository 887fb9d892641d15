"""A model behind a real endpoint judges waiting documents; a failure is a missing grade, never a made-up one."""

import json
import threading
import time
from email.utils import formatdate
from hashlib import sha256

import pytest
import sqlalchemy as sa

from cranfield import InputError, ModelAssessor, OutputError, SystemFailure, ask_model, open_store
from cranfield.judging.models import ledger
from cranfield.judging.store.schema import JUDGES, REPLIES
from cranfield.judging.store.waiting import WaitingRow, add_waiting
from tests.judging.models.server import CUT, HANG_UP, ModelServer, completion

QUICK = {"canaries": 0, "wait": 0.01}


def rows(store, table):
    with store._reading() as connection:
        return connection.execute(table.select()).mappings().all()


def grades(store, name="small"):
    found = store.view([name], kinds=["model"]).by_query
    return {document: grade for graded in found.values() for document, grade in graded.items()}


def good(request):
    return json.dumps({"reason": "so it is", "grade": int(request.document.split("\n")[0][-1]) % 4})


def test_everything_that_waits_is_graded_once(filled, small):
    store = filled(queries=3, documents=4)
    together = threading.Barrier(3)

    def behave(request):
        together.wait(60)  # until three requests are in progress
        return good(request)

    with ModelServer(behave) as server:
        report = ask_model(store, small(server), jobs=3, **QUICK)
        assert (report.graded, report.requests, report.missing, report.stopped) == (12, 12, (), "")
        assert ask_model(store, small(server), **QUICK).requests == 0
        assert server.most == 3
    assert grades(store) == {f"q{q}d{d}": d for q in range(3) for d in range(4)}
    with pytest.raises(InputError, match="no judgments"):  # a model's grades never count as people's
        store.view()
    assert store.progress().left == 12


def test_settings_and_replies_are_recorded_with_a_grade(filled, small):
    store = filled(queries=1, documents=1)
    answer = completion('{"grade": 1}', tokens=(120, 9), logprobs={"content": [{"token": "1", "logprob": -0.1}]})
    with ModelServer(lambda request: answer) as server:
        model = small(server, top_p=0.9, seed=7, max_tokens=50, logprobs=True, max_characters=10)
        report = ask_model(store, model, **QUICK)
        body = server.requests[0].body
    assert body["model"] == "test-model"
    assert {name: body[name] for name in ("temperature", "top_p", "seed", "max_tokens", "logprobs")} == {
        "temperature": 0.0,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 50,
        "logprobs": True,
    }
    [judge], [reply] = rows(store, JUDGES), rows(store, REPLIES)
    settings, details = json.loads(judge["settings"]), json.loads(reply["details"])
    assert judge["judge"] == reply["judge"] == report.judge
    for name in ("model", "prompt", "prompt_sha256", "prompt_text", "temperature", "top_p", "seed", "max_tokens"):
        assert name in settings, name
    assert settings["scale"][3] == [3.0, "Perfect", "Answers it directly"]
    assert (settings["provider"], settings["samples"], settings["rule"]) == ("127.0.0.1", 1, "lower median")
    text = "q0d0\n\ntext of q0d0"
    assert details["shown_sha256"] == sha256(text[:10].encode()).hexdigest()
    assert details["query_sha256"] == sha256(b"question 0").hexdigest()
    assert (details["shown_characters"], details["total_characters"]) == (10, len(text))
    assert details["model"] == "test-model-2026-01-01"
    assert (details["system_fingerprint"], details["finish_reason"]) == ("fp_1", "stop")
    assert details["logprobs"]["content"][0]["token"] == "1"
    assert (details["attempt"], details["parser"], details["host"], details["seed"]) == (1, 1, "127.0.0.1", 7)
    assert (reply["reply"], reply["grade"], reply["failure"], reply["tokens"]) == ('{"grade": 1}', 1.0, "", 129)
    [event] = store.events()
    assert (event.kind, event.assessor, event.grade) == ("model", "small", 1.0)
    with store._reading() as connection:
        assert connection.execute(sa.text("select judge from events")).scalars().all() == [report.judge]


HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"
TOO_LONG = '{"error": {"code": "context_length_exceeded", "message": "maximum context length is 4096 tokens"}}'
FILTERED = '{"error": {"code": "content_filter", "message": "filtered"}}'


@pytest.mark.fault(
    "replies that are cut, refused, empty, ambiguous or not JSON", "A missing grade, never an invented one."
)
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("I'd rather not.", "no JSON"),
        ('{"grade": 9}', "not on the scale"),
        ('{"grade": "1"}', "not a number"),
        ('{"grade": 1} {"grade": 2}', "several objects"),
        ("", "empty"),
        ({"choices": []}, "no choices"),
        ({"choices": [{"message": None}]}, "no choices"),
        ({"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}, "refused"),
        (completion('{"grade": 1}', finish_reason="length"), "cut short"),
        (completion('{"grade": 1}', finish_reason="content_filter"), "refused"),
        ((400, TOO_LONG), "too long"),
        ((413, "too large"), "too long"),
        ((400, FILTERED), "refused"),
        ('{"grade": 1, "reason": "\ud800 \\u0000"}', ""),
        ('Certainly! {"grade": 1} Is there anything else?', ""),
    ],
)
def test_a_reply_is_read_or_missing_and_never_zero(fault, why, filled, small):
    store = filled(queries=1, documents=3)
    with ModelServer(lambda request: fault if "q0d1" in request.document else good(request)) as server:
        report = ask_model(store, small(server), **QUICK)
        assert report.requests == 3
        assert [(each.doc_id, each.why) for each in report.missing] == ([("q0d1", why)] if why else [])
        assert ("q0d1" in grades(store)) == (not why)
        again = ask_model(store, small(server), **QUICK)
        assert (again.requests, again.missing) == (0, report.missing)  # it is paid for, and reported again
        assert ask_model(store, small(server), again=True, **QUICK).requests == (1 if why else 0)
    kept = [row for row in rows(store, REPLIES) if row["doc_id"] == "q0d1"]
    assert [(row["failure"], row["grade"]) for row in kept] == [(why, None)] * 2 if why else [("", 1.0)]


def test_asking_again_can_succeed(filled, small):
    store = filled(queries=1, documents=2)
    with ModelServer(lambda request: "hm" if request.times == 1 else good(request)) as server:
        assert len(ask_model(store, small(server), **QUICK).missing) == 2
        report = ask_model(store, small(server), again=True, **QUICK)
        assert (report.graded, report.missing) == (2, ())
        assert ask_model(store, small(server), again=True, **QUICK).requests == 0
    assert grades(store) == {"q0d0": 0.0, "q0d1": 1.0}


@pytest.mark.parametrize(
    "fault",
    [
        429,
        500,
        503,
        CUT,
        HANG_UP,
        (502, HTML),
        (429, "slow down", {"Retry-After": "0"}),
    ],
    ids=str,
)
def test_temporary_failures_are_retried(fault, filled, small):
    store = filled(queries=1, documents=3)
    with ModelServer(lambda request: fault if request.times < 3 else good(request)) as server:
        report = ask_model(store, small(server), **QUICK)
        assert (report.graded, report.requests, len(server.requests)) == (3, 9, 9)
    assert {json.loads(row["details"])["attempt"] for row in rows(store, REPLIES)} == {3}


@pytest.mark.parametrize("answer", [HTML, '{"choices": [', "[]", '"{}"', "7", '{"error": "no"}'])
def test_an_answer_that_is_not_a_completion_is_missing_and_requested_again_next_time(answer, filled, small):
    store = filled(queries=1, documents=2)
    with ModelServer(lambda request: (200, answer) if request.times == 1 else good(request)) as server:
        report = ask_model(store, small(server), **QUICK)
        assert (report.requests, report.graded, rows(store, REPLIES)) == (2, 0, [])
        assert "is not a chat completion" in report.missing[0].why
        assert ask_model(store, small(server), **QUICK).graded == 2


def test_a_slow_reply_is_tried_again_and_then_missing_without_being_stored(filled, small):
    store = filled(queries=1, documents=1)
    with ModelServer(lambda request: 2.0) as server:
        report = ask_model(store, small(server, timeout=0.1), retries=1, **QUICK)
        assert report.requests == 2
    assert "within 0.1 s" in report.missing[0].why
    assert rows(store, REPLIES) == []
    with ModelServer(good) as server:  # no reply is stored, so it is requested again
        assert ask_model(store, small(server), **QUICK).graded == 1


def test_a_reply_in_small_pieces_does_not_outlast_the_timeout(filled, small):
    """A timeout is for the whole exchange, not for each piece of it."""
    store = filled(queries=1, documents=1)
    drops = []

    class Dripping(ModelServer):
        def answer(self, handler, noted):
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            for _ in range(1000):
                drops.append(1)
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.02)

    with Dripping(good) as server:
        report = ask_model(store, small(server, timeout=0.2), retries=0, **QUICK)
    assert "within 0.2 s" in report.missing[0].why
    assert len(drops) < 500


@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_honoured(date, filled, small):
    store = filled(queries=1, documents=4)
    moments = []

    def behave(request):
        moments.append(time.monotonic())
        if len(moments) == 1:
            return 429, "slow down", {"Retry-After": formatdate(time.time() + 2, usegmt=True) if date else "1"}
        return good(request)

    with ModelServer(behave) as server:
        assert ask_model(store, small(server), jobs=1, **QUICK).graded == 4
    assert moments[1] - moments[0] >= (0.9 if date else 1)


def test_a_very_long_retry_after_stops_all_requests(filled, small):
    store = filled(queries=1, documents=30)
    with ModelServer(lambda request: (429, "come back tomorrow", {"Retry-After": "86400"})) as server:
        with pytest.raises(SystemFailure, match=r"come back tomorrow\nHint: it asks to wait for 86400 s"):
            ask_model(store, small(server), jobs=2, **QUICK)
        assert len(server.requests) <= 2


@pytest.mark.parametrize("status", [401, 403, 404, 307])
def test_an_endpoint_that_denies_access_stops_all_requests(status, filled, small, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "sk-very-secret-1234567890")
    store = filled(queries=1, documents=30)
    refusal = (status, "wrong key: sk-very-secret-1234567890", {"Location": "http://127.0.0.1:1/"})
    with ModelServer(lambda request: refusal) as server:
        with pytest.raises(SystemFailure) as error:
            ask_model(store, small(server, key="SMALL_KEY"), jobs=3, **QUICK)
        assert len(server.requests) <= 3
        assert server.requests[0].headers["Authorization"] == "Bearer sk-very-secret-1234567890"
    assert "SMALL_KEY" in str(error.value)
    assert "sk-very" not in str(error.value)


KEY = "sk-very/secret+1234567890"
IN_ASCII = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
ECHOES = {
    "content": {"choices": [{"message": {"content": f'{{"grade": 1, "why": "{KEY}"}}'}}]},
    "content that is no text": {"choices": [{"message": {"content": [{"type": "text", KEY: KEY}]}}]},
    "refusal": {"choices": [{"message": {"content": None, "refusal": f"not for {KEY}"}}]},
    "finish reason": {"choices": [{"message": {"content": "1"}, "finish_reason": KEY}]},
    "log probabilities": {"choices": [{"message": {"content": "1"}, "logprobs": {"content": [{"token": KEY}]}}]},
    "model, id and usage": {**completion('{"grade": 1}'), "model": KEY, "id": KEY, "usage": {KEY: [KEY]}},
    "no choices": {"choices": [], "headers": {"authorization": f"Bearer {KEY}"}},
    "escapes": (200, json.dumps(completion("KEY")).replace("KEY", IN_ASCII)),
    "no completion": (200, f"<html>{KEY}"),
    "too long": (413, f"too long: {KEY}"),
    "too long, and cut": (413, " " * (65_536 - 12) + KEY),
    "an error": (400, KEY),
    "an unknown header": (200, "", {"Content-Encoding": KEY * 3}),
}


@pytest.mark.fault("an endpoint that echoes the API key", "The key is stored and shown nowhere.")
@pytest.mark.parametrize("echo", ECHOES)
def test_a_key_that_the_endpoint_echoes_is_stored_and_shown_nowhere(echo, filled, small, monkeypatch, tmp_path):
    monkeypatch.setenv("SMALL_KEY", KEY)
    store = filled(queries=1, documents=2)
    with ModelServer(lambda request: ECHOES[echo]) as server:
        report = ask_model(store, small(server, key="SMALL_KEY"), canaries=0, wait=0.01, retries=0)
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    shown = [repr(report), str(report), repr(report.missing), *(repr(dict(row)) for row in rows(store, REPLIES))]
    store.close()
    shown += [path.read_bytes().decode(errors="replace") for path in tmp_path.iterdir()]
    assert not [text for text in shown if "sk-very" in text or "1234567890" in text]
    cut = echo in ("too long, and cut", "an unknown header")
    assert cut or any("${SMALL_KEY}" in text for text in shown)


def test_a_key_that_is_any_word_does_not_change_replies(filled, small, monkeypatch):
    monkeypatch.setenv("SMALL_KEY", "1")
    store = filled(queries=1, documents=2)
    with ModelServer(good) as server:
        ask_model(store, small(server, key="SMALL_KEY"), **QUICK)
    assert grades(store) == {"q0d0": 0, "q0d1": 1}


@pytest.mark.fault("a model's answer that is nested too deep", "A failed reply.")
@pytest.mark.parametrize("depth", [60, 500, *range(900, 1000, 5), 100_000])
def test_an_answer_that_is_nested_too_deep_is_missing(depth, filled, small):
    store = filled(queries=1, documents=1)
    deep = "[" * depth + "]" * depth
    deeper = [
        json.dumps({**completion('{"grade": 1}'), name: "DEEP"}).replace('"DEEP"', deep) for name in ("usage", "other")
    ] + [json.dumps(completion("DEEP", logprobs="DEEP")).replace('"DEEP"', deep)]
    with ModelServer(lambda request: (200, deeper[request.times - 1])) as server:
        for _ in deeper:
            report = ask_model(store, small(server), **QUICK)
            assert (report.graded, report.missing[0].why.partition(": ")[0]) == (
                0,
                "the answer of 127.0.0.1 is nested too deep",
            )


def test_an_exhausted_quota_stops_all_requests(filled, small):
    store = filled(queries=1, documents=30)
    with ModelServer(lambda request: (429, '{"error": {"code": "insufficient_quota"}}')) as server:
        with pytest.raises(SystemFailure, match="no credit"):
            ask_model(store, small(server), jobs=2, **QUICK)
        assert len(server.requests) <= 2


def test_many_failures_in_a_row_stop_all_requests_and_keep_the_grades(filled, small):
    store = filled(queries=1, documents=60)
    with ModelServer(lambda request: good(request) if len(server.requests) <= 20 else 400) as server:
        with pytest.raises(
            SystemFailure, match=r"requests in a row failed; the last: 127\.0\.0\.1 answered 400: sorry"
        ):
            ask_model(store, small(server), jobs=1, **QUICK)
        assert len(server.requests) == 30
    assert len(grades(store)) == 20


def test_azure(filled, small, monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "azure-secret")
    store = filled(queries=1, documents=1)
    with ModelServer(good) as server:
        model = ModelAssessor(
            name="azure",
            model="gpt",
            url=f"{server.url.removesuffix('/v1')}/openai/deployments/mine",
            key="AZURE_KEY",
            api_version="2024-10-21",
        )
        assert ask_model(store, model, **QUICK).graded == 1
        [request] = server.requests
    assert request.path == "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == "azure-secret"
    assert "Authorization" not in request.headers


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_that_does_not_know_response_format(status, filled, small):
    store = filled(queries=1, documents=5)

    def behave(request):
        return (status, "unknown field response_format") if "response_format" in request.body else good(request)

    with ModelServer(behave) as server:
        report = ask_model(store, small(server, json=True), jobs=1, **QUICK)
        assert (report.graded, len(server.requests)) == (5, 6)
    assert {json.loads(row["details"])["response_format"] for row in rows(store, REPLIES)} == {False}


def test_the_same_text_under_another_id_is_not_paid_for_again(filled, small):
    store = filled(queries=1, documents=1)
    store.add_documents({"copy": {"title": "q0d0", "text": "text of q0d0"}})
    store.wait([("q0", "copy")])
    with ModelServer(good) as server:
        report = ask_model(store, small(server), jobs=4, **QUICK)
        assert (report.graded, report.reused, report.requests) == (2, 1, 1)
        store.add_documents({"later": {"title": "q0d0", "text": "text of q0d0"}})
        store.wait([("q0", "later")])
        report = ask_model(store, small(server), **QUICK)
        assert (report.graded, report.reused, report.requests) == (1, 1, 0)
        other = ModelAssessor(name="other", model="test-model", url=server.url)
        assert ask_model(store, other, **QUICK).requests == 0  # the same model with the same settings
    assert grades(store) == {"q0d0": 0.0, "copy": 0.0, "later": 0.0}
    copies = [json.loads(row["details"]).get("same_as") for row in rows(store, REPLIES)]
    assert copies[0] is None
    assert set(copies[1:]) == {1}


def test_a_changed_prompt_model_or_text_causes_new_requests(filled, small, tmp_path):
    store = filled(queries=1, documents=2)
    (tmp_path / "own.txt").write_text("{query}? {document}")
    with ModelServer(good) as server:
        first = ask_model(store, small(server), **QUICK)
        store.add_documents({"q0d0": {"text": "another text"}})
        assert ask_model(store, small(server), **QUICK).requests == 1
        for change in ({"prompt": str(tmp_path / "own.txt")}, {"model": "larger"}, {"temperature": 0.5}):
            model = ModelAssessor(**{"name": "small", "model": "test-model", "url": server.url, **change})
            report = ask_model(store, model, **QUICK)
            assert (report.requests, report.judge != first.judge) == (2, True)
        with ModelServer(good) as other:  # which may serve another model under this name, as llama.cpp may
            assert ask_model(store, small(other), **QUICK).requests == 2
        for same in (
            {"url": f"{server.url}/chat/completions"},
            {"timeout": 3},
            {"temperature": 0},
            {"budget": 10**9},
        ):  # which do not change the reply
            assert ask_model(store, small(server, **same), **QUICK).requests == 0


def test_several_samples_give_their_median_and_its_steadiness(filled, small):
    store = filled(queries=1, documents=4)

    def behave(request):
        number = int(request.document.split("\n")[0][-1])
        return json.dumps({"grade": [0, 3, 1, 1, 1][request.body["seed"]] if number == 0 else 2})

    with ModelServer(behave) as server:
        one = ask_model(store, small(server, seed=0), **QUICK)
        assert one.steadiness is None
        report = ask_model(store, small(server, samples=5, seed=0), **QUICK)
        assert report.requests == 16  # one of five samples was known
        assert report.judge != one.judge
    assert grades(store)["q0d0"] == 1.0
    assert (report.steadiness.documents, report.steadiness.same) == (4, 0.75)
    assert report.steadiness.spread == pytest.approx(3 / 4)


def test_a_grade_needs_most_of_the_samples(filled, small):
    store = filled(queries=1, documents=2)

    def behave(request):
        lost = request.body["seed"] < (2 if "q0d0" in request.document else 1)
        return "no" if lost else '{"grade": 3}'

    with ModelServer(behave) as server:
        report = ask_model(store, small(server, samples=3, seed=0), **QUICK)
    assert [(each.doc_id, each.why) for each in report.missing] == [("q0d0", "no JSON")]
    assert grades(store) == {"q0d1": 3.0}


def test_documents_without_text_are_missing_and_cause_no_request(filled, small):
    store = filled(queries=1, documents=1)
    store.add_documents({"picture": {"image": "picture.png"}})
    store.wait([("q0", "picture"), ("q0", "unknown"), ("nameless", "q0d0")])
    with ModelServer(good) as server:
        report = ask_model(store, small(server), **QUICK)
    assert (report.requests, report.without_text) == (1, 3)
    assert {(each.doc_id, each.why) for each in report.missing} == {
        ("picture", "no text"),
        ("unknown", "no text"),
        ("q0d0", "no text"),
    }


def test_only_the_waiting_part_of_a_document_is_sent(filled, small):
    store = filled(queries=1, documents=0)
    store.add_documents({"d": {"text": "first part, second part"}})
    store.wait([("q0", "d", (12, 23))])
    with ModelServer(lambda request: '{"grade": 2}') as server:
        ask_model(store, small(server), **QUICK)
        assert [request.document for request in server.requests] == ["second part"]
    assert [(event.part, event.grade) for event in store.events()] == [((12, 23), 2.0)]


def test_a_model_judges_queries_for_models_only_but_no_document_that_was_not_drawn(filled, small):
    store = filled(queries=1, documents=1)
    store.add_documents({"of other queries": "a", "not drawn": "b"})
    with store._writing("a pool") as connection:
        add_waiting(
            connection,
            [
                WaitingRow("q0", "of other queries", 0, 0, "first 10", 0, "depth 10"),
                WaitingRow("q0", "not drawn", 0, 0, "not drawn", 0, "11 to 100"),
            ],
        )
    with ModelServer(lambda request: '{"grade": 0}') as server:
        report = ask_model(store, small(server), **QUICK)
    assert (report.documents, {event.doc_id for event in store.events()}) == (2, {"q0d0", "of other queries"})


def test_a_model_also_judges_documents_that_people_have_judged(filled, small):
    store = filled(queries=1, documents=2)
    store.judge("q0", "q0d0", 3, assessor="ann")
    with ModelServer(good) as server:
        assert ask_model(store, small(server), **QUICK).graded == 2
    assert store.view().by_query == {"q0": {"q0d0": 3.0}}


def test_a_reply_and_its_grade_are_written_together_or_not_at_all(filled, small, monkeypatch):
    store = filled(queries=1, documents=1)

    def fails(*arguments):
        raise OutputError("judgments.db", "the disk is full.")

    with ModelServer(good) as server, monkeypatch.context() as patched:
        patched.setattr(ledger, "add_grade", fails)
        with pytest.raises(OutputError, match="the disk is full"):
            ask_model(store, small(server), **QUICK)
        assert (rows(store, REPLIES), list(store.events())) == ([], [])
    with store._reading() as connection:  # it was paid for
        assert ledger.costs(connection, "small").failed_tokens > 0


def test_a_limit_of_requests_counts_failed_ones_and_canaries(filled, small):
    store = filled(queries=2, documents=10)
    with ModelServer(lambda request: 500 if request.times == 1 else good_or_zero(request)) as server:
        report = ask_model(store, small(server), limit=13, canaries=2, wait=0.01)
        assert (len(server.requests), report.requests, report.stopped) == (13, 13, "requests")
        assert report.left == 20 - report.graded
        ask_model(store, small(server), canaries=2, wait=0.01)
    assert len(grades(store)) == 20


def good_or_zero(request):
    return good(request) if request.document[:1] == "q" else '{"grade": 0}'


def test_a_store_in_postgresql(where, small):
    with open_store(where, create=True) as store, ModelServer(good) as server:
        store.add_queries({"q0": "question"})
        store.add_documents({f"q0d{n}": {"title": f"q0d{n}", "text": "text"} for n in range(8)})
        store.wait([("q0", f"q0d{n}") for n in range(8)])
        report = ask_model(store, small(server), canaries=0, jobs=4)
        assert (report.graded, ask_model(store, small(server), canaries=0).requests) == (8, 0)
