"""The page's server answers any JSON with a result or with one of its own errors; no call of the desk crashes."""

import json
from contextlib import suppress

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cranfield.errors import CranfieldError
from cranfield.judging.page import desk
from cranfield.judging.page.desk import Desk, TakenError
from tests.judging.page.test_server import HOST, Browser, filled

__all__ = ["filled"]
CALLS = sorted(desk.CALLS)
FIELDS = {
    "assessor": ["ann", "bob"],
    "query_id": ["q1", "q2"],
    "doc_id": ["d0", "d3"],
    "grade": [0, 3],
    "part": [[0, 3], None],
    "count": [4],
    "without": [[1, 2]],
    "words": ["cats", "%"],
    "by": ["ann"],
    "before": [3],
    "comment": ["why"],
    "seconds": [1.5],
    "text_sha256": ["0" * 64],
    "key": ["k1", "k2"],
    "adjudicates": [True],
    "withdrawn": [True],
}
HOSTILE = [
    *(10**400, 2**63, -1, float("inf"), float("nan"), True, "", "a\0b", "\ud800"),
    *([float("inf"), float("inf")], [0, 10**400], [2**63], [[]], {"a": {}}),
]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
BODIES = st.fixed_dictionaries(
    {},
    optional={name: st.sampled_from(usual) | st.sampled_from(HOSTILE) | ANYTHING for name, usual in FIELDS.items()},
)


class Body(dict):
    """A request body that remembers which of its fields were read."""

    def __init__(self, fields):
        super().__init__(fields)
        self.fields_read = set()

    def __getitem__(self, field):
        self.fields_read.add(field)
        return super().__getitem__(field)

    def get(self, field, default=None):
        self.fields_read.add(field)
        return super().get(field, default)

    def __contains__(self, field):
        self.fields_read.add(field)
        return super().__contains__(field)

    def __iter__(self):
        self.fields_read.update(self.keys())
        return super().__iter__()


def check(store, name, body):
    """Call as the server does: the result is JSON or an error of ours; any other exception would be a 500."""
    sent = Body(json.loads(json.dumps(body)))
    with suppress(CranfieldError, TakenError):
        json.dumps(Desk(store).calls[name](sent))
    return sent.fields_read


@pytest.mark.parametrize("name", CALLS)
def test_one_hostile_value_in_each_place(filled, name):
    usual = {"assessor": "ann", "query_id": "q1", "doc_id": "d0", "grade": 1}
    for field in FIELDS:
        for value in HOSTILE:
            if field not in check(filled, name, {**usual, field: value}):
                break  # a call that does not read a field does not see its other values either


@pytest.mark.fault("hostile values in calls of the judging page", "An answer or an error of ours, never a crash.")
@given(name=st.sampled_from(CALLS), body=BODIES)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_in_any_call(filled, name, body):
    check(filled, name, {"assessor": "ann", **body})


@pytest.mark.fault("hostile values in calls of the judging page", "An answer or an error of ours, never a crash.")
@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, '{"count": ' + "9" * 5_000 + "}"])
def test_json_that_is_too_deep_or_too_long(filled, content):
    headers = {"Origin": f"http://{HOST}:8765", "Content-Type": "application/json"}
    answer = Browser(filled).client.post("/api/next", content=content, headers=headers)
    assert answer.status_code == 400
