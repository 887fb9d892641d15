"""What the tests attack, for the table in SECURITY.md. A test that attacks says so in a line above it:

    @pytest.mark.fault("a judging server is killed", "No grade is lost, and none is saved twice.", tries=80)
    def test_no_grade_is_lost(tries):

Parameters and random examples are counted. A test that tries something in a loop gets the number as `tries`, so that
the table and the test have the same. Tests with the same two sentences share a row.
"""

import inspect
from importlib import import_module
from math import prod
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Fault(NamedTuple):
    attack: str
    promise: str
    tries: int
    file: str


def faults():
    """Every declared fault, in the order of the files and their tests."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "mark.fault(" in path.read_text(encoding="utf-8"):
            place = path.relative_to(ROOT)
            module = import_module(".".join(place.with_suffix("").parts))
            for test, marks in tests_of(module):
                for mark in marks:
                    if mark.name == "fault":
                        yield Fault(*mark.args, tried(test, mark, marks), place.as_posix())


def tests_of(module):
    """The tests of a module and their marks, those of their class included."""
    for name, thing in vars(module).items():
        if inspect.isclass(thing) and name.startswith("Test"):
            for method, test in vars(thing).items():
                if method.startswith("test_"):
                    yield test, [*marks_of(test), *marks_of(thing)]
        elif name.startswith("test_") and callable(thing):
            yield thing, marks_of(thing)


def marks_of(thing):
    return getattr(thing, "pytestmark", [])


def tried(test, mark, marks):
    """How often a test tries: the number that it is given × its random examples × its parameters."""
    given = mark.kwargs.get("tries", 1)
    takes = "tries" in inspect.signature(test).parameters
    assert takes == ("tries" in mark.kwargs), f"{test.__name__} must take `tries` if its mark has it, and only then"
    settings = getattr(test, "_hypothesis_internal_use_settings", None)
    examples = getattr(test, "usual_examples", settings.max_examples if settings else 1)
    parameters = (len(list(each.args[1])) for each in marks if each.name == "parametrize")
    return given * examples * prod(parameters)


def rows():
    """The lines of the table: what is attacked, how often, what is promised, and the files of the tests."""
    known = {}
    for fault in faults():
        counts = known.setdefault((fault.attack, fault.promise), {})
        counts[fault.file] = counts.get(fault.file, 0) + fault.tries
    for (attack, promise), counts in known.items():
        yield attack, f"{sum(counts.values()):,}", promise, ", ".join(f"[{Path(file).stem}]({file})" for file in counts)
