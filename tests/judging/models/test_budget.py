"""A budget of tokens is never exceeded, whatever the endpoint does, and by the endpoint's own count."""

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield import InputError, ModelAssessor, ask_model, open_store
from cranfield.judging.models.requesting import Allowance, ExhaustedError
from tests.judging.models.server import CUT, HANG_UP, ModelServer

FAULTS = (500, 429, CUT, HANG_UP, "no JSON", 0.05)


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
            assert server.tokens <= report.spent <= budget


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
