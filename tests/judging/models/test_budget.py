"""A budget of tokens is never exceeded, whatever the endpoint does, and by the endpoint's own count."""

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield import InputError, ModelAssessor, SystemFailure, ask_model, open_store
from cranfield.judging.models import ledger
from cranfield.judging.models.requesting import Allowance, ExhaustedError
from cranfield.judging.models.session import Asking
from cranfield.show.judging_text import estimate_lines, report_lines
from tests.judging.models.server import CUT, HANG_UP, ModelServer

FAULTS = (500, 429, CUT, HANG_UP, "no JSON", 0.05)


@pytest.mark.fault(
    "endpoints that fail, cut replies and count their tokens", "The endpoint's own count never exceeds the budget."
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    budget=st.integers(1, 60_000),
    jobs=st.integers(1, 8),
    max_tokens=st.integers(1, 400),
    samples=st.integers(1, 3),
    faults=st.floats(0, 0.5),
    seed=st.integers(0, 10**6),
)
def test_the_endpoints_own_count_never_exceeds_the_budget(
    budget, jobs, max_tokens, samples, faults, seed, tmp_path_factory
):
    chance = random.Random(seed)

    def behave(request):
        return chance.choice(FAULTS) if chance.random() < faults else '{"grade": 1}'

    def tokens(request):  # from one to the largest possible number
        return chance.randrange(1, len(request.prompt.encode()) + 50), chance.randrange(request.body["max_tokens"] + 1)

    where = tmp_path_factory.mktemp("budget") / "judgments.db"
    with open_store(where, create=True) as store, ModelServer(behave, count_tokens=tokens) as server:
        store.add_queries({"q": "question"})
        store.add_documents({f"d{n}": f"text {n} " * chance.randrange(1, 40) for n in range(12)})
        store.wait([("q", f"d{n}") for n in range(12)])
        model = ModelAssessor(
            name="m",
            model="m",
            url=server.url,
            max_tokens=max_tokens,
            samples=samples,
            seed=0,
            timeout=0.5,
            budget=budget,
        )
        for _ in range(3):  # each start knows the tokens spent before
            report = ask_model(store, model, jobs=jobs, canaries=3, retries=2, wait=0.001, again=True)
            assert server.tokens <= budget
            assert server.tokens <= report.spent + report.failed_tokens <= budget


@pytest.mark.fault(
    "settings that make replies longer than max_tokens", "They count towards the budget, or are refused."
)
@pytest.mark.parametrize(
    "body",
    [
        {"max_tokens": 2_000},
        {"n": 50},
        {"max_completion_tokens": 500, "n": 3},
        {"max_completion_tokens": 20, "max_tokens": 3_000},
        {"tools": ["a tool " * 200]},
    ],
)
def test_further_fields_of_a_request_count(body, filled, small):
    store = filled(queries=1, documents=30)

    def tokens(request):  # as many as the request allows
        sent = request.body
        longest = max(sent.get("max_tokens", 0), sent.get("max_completion_tokens", 0))
        return len(request.prompt.encode()) + len(str(sent.get("tools", ""))), sent.get("n", 1) * longest

    with ModelServer(lambda request: '{"grade": 1}', count_tokens=tokens) as server:
        report = ask_model(store, small(server, body=body), budget=50_000, canaries=0)
        assert 0 < server.tokens == report.spent <= 50_000
        assert report.stopped == "budget"


def test_failed_requests_are_told_apart_from_tokens_spent(filled, small):
    store = filled(queries=1, documents=6)
    with ModelServer(lambda request: 500, count_tokens=lambda request: (400, 10)) as server:
        report = ask_model(store, small(server), canaries=0, retries=0, jobs=1)
        most = sum(len(request.prompt.encode()) + 400 for request in server.requests)
        assert (report.tokens, report.spent, report.failed, report.failed_tokens) == (0, 0, 6, most)
        said = "\n".join(report_lines(report, 100))
        assert f"0 documents graded; 6 requests\n  6 failed requests, at most {most:,} tokens, counted in" in said
        server.behave = lambda request: '{"grade": 1}'
        report = ask_model(store, small(server), canaries=0)
        assert (report.tokens, report.spent, report.failed, report.failed_tokens) == (2460, 2460, 6, most)
        with Asking(store, small(server), budget=50_000) as asking:
            *_, last = estimate_lines("small", asking.plan(0, 0), 50_000, asking.costs, counted=True)
        assert last == f"  budget: 50,000 tokens in all, 2,460 spent before; 6 failed requests, at most {most:,} tokens"
        server.behave = lambda request: 401  # refused before any work
        store.add_documents({"new": "a new text"})
        store.wait([("q0", "new")])
        with pytest.raises(SystemFailure):
            ask_model(store, small(server), canaries=0)
        with store._reading() as connection:
            assert ledger.costs(connection, "small") == (2460, 6, most)


@pytest.mark.fault(
    "settings that make replies longer than max_tokens", "They count towards the budget, or are refused."
)
@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "n"])
@pytest.mark.parametrize("value", [None, "abc", "20", 0, -1, 2.5, True, 10**7])
def test_fields_that_limit_a_reply_are_checked(name, value):
    with pytest.raises(InputError, match=f"{name} in body must be a whole number from 1 to 1,000,000"):
        ModelAssessor(name="m", model="m", url="http://host/v1", body={name: value})


@pytest.mark.parametrize("body", [{"messages": []}, {"stream": True}, {"x": {1, 2}}, {"x": float("nan")}, "{}"])
def test_a_body_adds_to_a_request_and_does_not_replace_it(body):
    with pytest.raises(InputError, match="body "):
        ModelAssessor(name="m", model="m", url="http://host/v1", body=body)


def test_the_budget_is_used_as_far_as_the_worst_case_allows(filled, small):
    store = filled(queries=1, documents=100)
    with ModelServer(lambda request: '{"grade": 1}', count_tokens=lambda request: (400, 10)) as server:
        report = ask_model(store, small(server), budget=10_000, canaries=0, jobs=4)
        assert report.stopped == "budget"
        worst = max(len(request.prompt.encode()) for request in server.requests) + 100 + 300
        assert 10_000 - worst < server.tokens <= 10_000
        assert ask_model(store, small(server), budget=10_000, canaries=0).requests == 0
        assert ask_model(store, small(server), budget=100_000, canaries=0).stopped == ""
    assert len(list(store.events())) == 100


def test_an_endpoint_that_counts_more_than_the_worst_case_is_believed():
    allowance = Allowance(budget=1000)
    allowance.settle(allowance.reserve(100), 350)
    assert allowance.reserve(100) == 350


def test_reservations_fail_after_a_stop():
    allowance = Allowance(budget=100)
    allowance.reserve(60)
    allowance.stop()
    with pytest.raises(ExhaustedError, match="stopped"):
        allowance.reserve(60)


def test_an_endpoint_that_counts_nothing_is_charged_in_full(filled, small):
    store = filled(queries=1, documents=20)
    with ModelServer(lambda request: '{"grade": 1}') as server:
        report = ask_model(store, small(server), budget=20_000, canaries=0)
        assert report.stopped == "budget"
        assert sum(len(request.prompt.encode()) + 400 for request in server.requests) == report.spent


def test_a_function_has_no_budget(filled):
    words = {"name": "words", "call": lambda prompt: json.dumps({"grade": 0})}
    with pytest.raises(InputError, match="counts no tokens"):
        ModelAssessor(**words, budget=10)
    with pytest.raises(InputError, match="counts no tokens"):
        ask_model(filled(), ModelAssessor(**words), budget=10)
