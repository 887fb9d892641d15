"""User-defined measures and their parameters."""

import functools

import numpy as np
import pytest

import cranfield
from cranfield import MeasureError, measure, parse_measure
from cranfield.measures import registry
from cranfield.measures.other_tools import RAG_NAMES
from cranfield.measures.syntax import find_definition
from cranfield.show.measure_text import measure_text


@pytest.fixture(autouse=True)
def _forget_measures():
    """Forget the measures that a test has registered."""
    known = dict(registry._definitions), dict(registry._aliases)
    yield
    for mapping, before in zip((registry._definitions, registry._aliases), known, strict=True):
        mapping.clear()
        mapping.update(before)


def logged(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)

    return wrapper


def plus(judged, bonus=0.0, *, rel: float = 1):
    """Relevant documents, and a bonus."""
    return judged.sum(judged.relevant(rel)) + bonus


class Plus:
    """Relevant documents, and a bonus."""

    def __call__(self, judged, bonus=0.0, *, rel=1):
        return plus(judged, bonus, rel=rel)


FUNCTIONS = {
    "a second positional argument": plus,
    "a decorator": logged(plus),
    "two decorators": logged(logged(plus)),
    "functools.partial": functools.partial(plus, bonus=0.0),
    "a partial of a decorated function": functools.partial(logged(plus), rel=1),
    "a callable object": Plus(),
    "a bound method": Plus().__call__,
    "a lambda": lambda judged, bonus=0.0, rel=1: plus(judged, bonus, rel=rel),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_every_parameter_after_the_first_belongs_to_the_measure(kind):
    measure("Plus")(FUNCTIONS[kind])
    assert set(cranfield.catalogue()["Plus"].kinds) == {"bonus", "rel", "judged_only"}
    assert cranfield.value("Plus(bonus=0.5)", [2, 1]) == 2.5
    assert cranfield.value("Plus(rel=2, bonus=0.5)", [2, 1]) == 1.5
    assert cranfield.value("Plus", [2, 1]) == 2
    with pytest.raises(MeasureError, match="Plus has no parameter 'bonuss'"):
        parse_measure("Plus(bonuss=1)")


def test_a_partial_function_keeps_the_summary():
    measure("Plus")(functools.partial(plus, bonus=1.0))
    assert cranfield.catalogue()["Plus"].summary == "Relevant documents, and a bonus."
    assert cranfield.value("Plus", [1]) == 2


def test_a_positional_argument_may_be_required():
    measure("Plus")(lambda judged, bonus: plus(judged, bonus))
    with pytest.raises(MeasureError, match="Plus needs a value for bonus"):
        parse_measure("Plus")


def test_parameters_named_as_in_other_tools_keep_their_names():
    @measure("Plus")
    def plus(judged, gains=0.0, beta=1.0, max_rel=0.0, dcg=0.0):
        return np.full(len(judged), gains + beta + max_rel + dcg)

    assert cranfield.value("Plus(gains=1, beta=2, max_rel=4, dcg=8)", [1]) == 15


@pytest.mark.parametrize(
    ("function", "fact"),
    [
        (lambda judged, *numbers: 0, r"parameter '\*numbers' of test_registry\.<lambda> takes any number"),
        (lambda *judged, **settings: 0, r"parameter '\*judged' of"),
        (lambda judged, **settings: 0, r"parameter '\*\*settings' of"),
        (lambda judged, bonus, /: 0, "parameter 'bonus' of .* can only be given by position"),
        (lambda judged, judged_only=False: 0, "parameter 'judged_only' of"),
        (lambda: 0, "has no argument for the judged ranks"),
        (lambda *, judged: 0, "has no argument for the judged ranks"),
        (lambda **judged: 0, "has no argument for the judged ranks"),
        ("plus", "'plus' is not a function"),
        (min, "parameters of .*min.* are not known"),
    ],
)
def test_parameters_that_cannot_be_named_are_refused(function, fact):
    if callable(function) and function is not min:
        function.__module__ = "test_registry"
        function.__qualname__ = "<lambda>"
    with pytest.raises(MeasureError, match=fact):
        measure("Plus")(function)
    assert "Plus" not in cranfield.catalogue()


def test_the_table_may_be_a_positional_only_argument():
    measure("One")(lambda judged, /, bonus=0.0: np.ones(len(judged)) + bonus)
    assert cranfield.value("One(bonus=1)", [1]) == 2


def test_every_parameter_has_a_meaning():
    for definition in cranfield.catalogue().values():
        for name, kind in definition.kinds.items():
            assert kind.meaning, f"{definition.name}: {name}"
            if name != "judged_only":  # which every measure has
                assert kind.meaning in " ".join(measure_text(definition, 10_000).split())


def test_every_word_that_a_parameter_accepts_is_explained():
    known = {name: kind for each in cranfield.catalogue().values() for name, kind in each.kinds.items()}
    assert any(kind.words for kind in known.values())
    for kind in known.values():
        assert all(kind.words.values())
        assert [kind.read(word) for word in kind.words] == list(kind.words)
    shown = measure_text(cranfield.catalogue()["IPrec"], 80)
    assert "\n  rule: how recall times the number of relevant documents becomes a whole\n" in shown
    assert "trec9 (" in shown


def test_a_parameter_has_a_line_of_its_own_with_its_default():
    lines = measure_text(cranfield.catalogue()["P"], 80).splitlines()
    at = lines.index("Parameters:")
    assert lines[at + 1 : at + 4] == [
        "  cutoff: the deepest rank that counts (a whole number from 1; required; set by",
        "    @)",
        "  rel: the lowest grade that counts as relevant (a number from 0; default 1)",
    ]


def test_the_text_of_a_measure_explains_the_names_of_rag_tools():
    for spoken in RAG_NAMES.values():
        shown = " ".join(measure_text(find_definition(spoken.name), 10_000).split())
        assert f"{spoken.name} is {spoken.ours}" in shown
        assert spoken.explanation in shown


def test_a_redefined_measure_replaces_the_old_one():
    """As in a notebook, when a cell runs again."""
    for bonus in (1.0, 2.0):
        measure("Mine")(functools.partial(plus, bonus=bonus))
        assert cranfield.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "Mine")["Mine"] == 1 + bonus
