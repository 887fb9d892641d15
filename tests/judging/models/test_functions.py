"""A function in place of an endpoint, and invalid settings."""

from pathlib import Path

import numpy as np
import pytest

from cranfield import InputError, ModelAssessor, ask_model

URL = "http://127.0.0.1:1/v1"


def test_a_function_of_a_prompt(filled):
    store = filled()
    seen = []

    def answer(prompt):
        seen.append(prompt)
        return 'Well: {"grade": 2}'

    report = ask_model(store, ModelAssessor(name="mine", call=answer), canaries=2)
    assert (report.graded, report.requests, len(seen)) == (6, 8, 8)
    assert all("question" in prompt and "Answer with one JSON object" in prompt for prompt in seen)
    assert {event.grade for event in store.events()} == {2.0}


@pytest.mark.parametrize("grade", [1, 1.0, np.float32(1), np.int64(1)])
def test_a_function_of_texts_may_return_a_number(grade, filled):
    store = filled()
    assert ask_model(store, ModelAssessor(name="mine", call=lambda query, document: grade), canaries=0).graded == 6


@pytest.mark.parametrize(("said", "why"), [(7, "not on the scale"), (None, "empty"), ("?", "no JSON")])
def test_a_function_that_gives_no_grade(said, why, filled):
    report = ask_model(filled(), ModelAssessor(name="mine", call=lambda query, document: said), canaries=0)
    assert {each.why for each in report.missing} == {why}


@pytest.mark.parametrize("error", [ValueError("too hot"), SystemExit(3)])
def test_an_exception_in_a_function_affects_only_that_document(error, filled):
    def call(query, document):
        if "q1d1" in document:
            raise error
        return 1

    report = ask_model(filled(), ModelAssessor(name="mine", call=call), canaries=0)
    assert (report.graded, [each.doc_id for each in report.missing]) == (5, ["q1d1"])
    assert str(error) in report.missing[0].why


def test_a_function_that_returns_something_else_is_an_error(filled):
    with pytest.raises(InputError, match="the function returned dict"):
        ask_model(filled(), ModelAssessor(name="mine", call=lambda prompt: {}), canaries=0)


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ({}, "has no url"),
        ({"url": URL}, "has no model"),
        ({"url": URL, "model": "m", "temperature": 3}, "temperature must be a number from 0 to 2"),
        ({"url": URL, "model": "m", "samples": 0}, "samples must be"),
        ({"url": URL, "model": "m", "samples": 1.5}, "samples must be a whole number"),
        ({"url": URL, "model": "m", "max_tokens": True}, "max_tokens must be"),
        ({"url": URL, "model": "m", "timeout": float("nan")}, "timeout must be"),
        ({"call": 3}, "not a function"),
    ],
)
def test_invalid_settings_are_refused(settings, fact):
    with pytest.raises(InputError, match=fact):
        ModelAssessor(name="small", **settings)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host/v1",
        "http://",
        "http://user:secret@host/v1",
        "http://[::1/v1",
        "http://host:99999/v1",
        "http://ho\tst/v1",
    ],
)
def test_invalid_urls_are_refused(url, filled):
    with pytest.raises(InputError, match="url") as error:
        ask_model(filled(), ModelAssessor(name="small", model="m", url=url))
    assert "secret" not in str(error.value)


def test_a_key_is_the_name_of_a_variable(filled, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(InputError, match="the environment variable NO_SUCH_KEY is not set"):
        ask_model(filled(), ModelAssessor(name="small", model="m", url=URL, key="NO_SUCH_KEY"))
    monkeypatch.setenv("ODD_KEY", "sk-secret\nX-Header: 1")
    with pytest.raises(InputError, match="characters that are not allowed in a header") as error:
        ask_model(filled(), ModelAssessor(name="small", model="m", url=URL, key="ODD_KEY"))
    assert "secret" not in str(error.value)


def test_an_assessor_is_made_from_a_table_of_settings():
    made = ModelAssessor._of_settings(
        "small", {"url": URL, "model": "m", "samples": 3}, "here", folder=Path("x"), load=lambda path: None
    )
    assert (made.name, made.samples, made.folder) == ("small", 3, Path("x"))
    with pytest.raises(InputError, match="here: there is no setting 'sample'"):
        ModelAssessor._of_settings("small", {"sample": 3}, "here", folder=Path(), load=lambda path: None)


@pytest.mark.parametrize("how", [{"jobs": 0}, {"limit": 0}, {"limit": True}, {"budget": -1}])
def test_invalid_numbers_are_refused(how, filled):
    with pytest.raises(InputError, match="1 or more"):
        ask_model(filled(), ModelAssessor(name="small", model="m", url=URL), **how)
