"""All exceptions that cranfield raises.

    CranfieldError
    ├── InputError        a source that cannot be read as what it should be; also a ValueError
    │   └── DuplicateError  a document that appears twice for one query
    ├── OutputError       a file that cannot be written
    ├── MeasureError      a measure or parameter that does not exist, or one of yours that fails; also a ValueError
    ├── PolicyError       a policy setting that does not exist; also a ValueError
    ├── ComparisonError   a comparison that cannot be made; also a ValueError
    ├── MissingLibrary    an optional library that is not installed; also an ImportError
    └── SystemFailure     a live search system or a model that did not answer, or not as it should

A message is a fact with its place, and where it helps a second line: "Hint: what to do". An error carries what it is
about (`parameter`, `value`, `place`), and its texts mark what they refer to with `given` and `either`; so Python reads
of parameters (`depth=0`), and the command line words the same error as options (`--depth 0`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from math import inf
from types import ModuleType
from typing import Any, TypeVar

# Signs that no text of a user has: they mark in messages what every program words in its own way.
_GIVEN, _VALUE, _END, _EITHER, _ELSE, _OR, _POLICY = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"


class OptionNames:
    """The options of a program, in whose words an error can be told; these here of a program that has none."""

    def name(self, parameter: str, values: Sequence[Any]) -> str:
        """The option of a parameter, with one of these values; empty if there is none."""
        return ""

    def fact(self, error: CranfieldError, said: str) -> str:
        """A fact about an option and the value that was given with it; empty if it was not given."""
        return ""


class CranfieldError(Exception):
    """The base class of all errors that cranfield raises.

    parameter, value: what the fact is about, such as depth and 0; the message then begins with "depth=0"
    place: where it was found, such as bm25.run:17
    hint: what to do

    >>> import cranfield
    >>> try:
    ...     cranfield.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "nDGC@10")
    ... except cranfield.CranfieldError as error:
    ...     print(error.fact, "/", error.hint)
    there is no measure 'nDGC'. / did you mean nDCG@10?
    """

    def __init__(self, fact: str, *, hint: str = "", parameter: str = "", value: Any = None, place: str = "") -> None:
        self.place = _printable(place)
        self.parameter = parameter
        self.value = value
        self._said, self._advice = _printable(fact), _printable(hint)
        fact, hint = in_words(self)
        self.fact = fact
        self.hint = hint
        super().__init__(f"{fact}\nHint: {hint}" if hint else fact)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors can be pickled, whatever arguments their class takes.
        return _restored, (type(self), self.args, self.__dict__)


class InputError(CranfieldError, ValueError):
    """A source that cannot be read as what it should be.

    `source` is the name of the file or of another source, `line` the line (from 1), if there is one.

    >>> import io, cranfield
    >>> cranfield.evaluate({"q": {"a": 1}}, io.BytesIO(b"q Q0 a 1 0.5 mine\\nq Q0 b 2 high mine\\n"))
    Traceback (most recent call last):
    ...
    cranfield.errors.InputError: an open file:2: score 'high' is not a number.
    Hint: a line is: query Q0 document rank score name
    """

    def __init__(self, source: str, fact: str, *, line: int | None = None, **facts: Any) -> None:
        self.source = _printable(source)
        self.line = line
        super().__init__(fact, place=f"{source}:{line}" if line else source or "''", **facts)


class DuplicateError(InputError):
    """A document that appears twice in a ranking or in the judgments of a query.

    >>> import cranfield
    >>> cranfield.evaluate({"q": {"a": 1}}, {"q": ["a", "b", "a"]}, "AP")
    Traceback (most recent call last):
    ...
    cranfield.errors.DuplicateError: the run: document 'a' appears twice in the ranking of query 'q'.
    Hint: keep one, or choose which with policy=Policy(duplicates='first') or 'last' or 'best'
    """


class OutputError(CranfieldError):
    """A file that cannot be written, or not as requested.

    >>> import cranfield
    >>> cranfield.save_chart({}, "chart.doc")
    Traceback (most recent call last):
    ...
    cranfield.errors.OutputError: chart.doc: unsupported image format '.doc'.
    Hint: end it in .svg, .png, .pdf or .json
    """

    def __init__(self, target: str, fact: str, **facts: Any) -> None:
        self.target = _printable(target)
        super().__init__(fact, place=target or "''", **facts)


class MeasureError(CranfieldError, ValueError):
    """A measure, or a parameter of one, that does not exist; or a measure of your own that fails.

    >>> import cranfield
    >>> cranfield.parse_measure("nDCG@0")
    Traceback (most recent call last):
    ...
    cranfield.errors.MeasureError: invalid cutoff '0' for nDCG.
    Hint: cutoff is a whole number from 1
    """


class PolicyError(CranfieldError, ValueError):
    """A policy setting that does not exist.

    >>> import cranfield
    >>> cranfield.Policy(missing="ignore")
    Traceback (most recent call last):
    ...
    cranfield.errors.PolicyError: missing='ignore' is not a policy.
    Hint: missing may be 'zero', 'skip', 'error'
    """


class ComparisonError(CranfieldError, ValueError):
    """A comparison that cannot be made, or not as requested.

    >>> import cranfield
    >>> cranfield.compare({"q": {"a": 1}}, {"one": {"q": ["a"]}}, "AP")
    Traceback (most recent call last):
    ...
    cranfield.errors.ComparisonError: compare needs at least two runs.
    """


class MissingLibrary(CranfieldError, ImportError):
    """An optional library that is not installed; the hint says how to install it.

    >>> import cranfield
    >>> issubclass(cranfield.MissingLibrary, ImportError)
    True
    """


class SystemFailure(CranfieldError):
    """A live search system or a model that did not answer, or not as it should.

    `retry` says that the same request may succeed later, `after` how many seconds the system asked to wait; `final`
    that no other query will succeed either, because access was denied.

    >>> import cranfield
    >>> def search(query, k):
    ...     raise TimeoutError("it took too long")
    >>> try:
    ...     cranfield.open_system(search).search("cats", 10)
    ... except cranfield.SystemFailure as failure:
    ...     print(failure, failure.retry)
    TimeoutError: it took too long True
    """

    def __init__(
        self, fact: str, *, retry: bool = False, after: float | None = None, final: bool = False, **facts: Any
    ) -> None:
        self.retry = retry
        self.after = after
        self.final = final
        super().__init__(fact, **facts)


Kind = TypeVar("Kind", bound=CranfieldError)
MOST_NAMES = 10_000  # that are looked through for one that may have been meant
LONGEST_NAME = 100  # letters of a name that is worth a suggestion
BEGINNING = 3  # letters of a name that may stand for all of it
SHORTEST = 3  # letters in which there may be a slip
LETTERS_OF_A_SLIP, MOST_SLIPS = 4, 3  # one slip for so many letters, but never more


def given(parameter: str, *values: Any, policy: bool = False) -> str:
    """A mark in a message for a parameter, or for one with this value or one of these values.

    policy: it is a setting of the policy, which Python passes as policy=Policy(…)
    """
    name = f"{_POLICY}{parameter}" if policy else parameter
    return f"{_GIVEN}{name}{''.join(f'{_VALUE}{value!r}' for value in values)}{_END}"


def either(python: str, program: str = "") -> str:
    """A mark in a message for what Python and programs tell in different words."""
    return f"{_EITHER}{python}{_ELSE}{program}{_END}"


def any_of(*hints: str) -> str:
    """A hint with several ways out; a program leaves out those that name an option which it does not have."""
    return _OR.join(hints)


def in_words(error: CranfieldError, options: OptionNames | None = None) -> tuple[str, str]:
    """The fact and the hint of an error: in the words of Python, or of a program that has options."""
    said = _worded(error._said, options) or _worded(error._said)
    fact = options.fact(error, said) if options and error.parameter else ""
    # A value that no option gave comes from a file of settings, which has the names of Python.
    of_file = "" if fact else error.parameter
    advice = (_worded(part, options, of_file) for part in error._advice.split(_OR))
    value = repr(error.value) if isinstance(error.value, str) else str(error.value)
    about = f"{error.parameter}={value} " if error.parameter else ""
    place = f"{error.place}: " if error.place else ""
    return fact or f"{place}{about}{said}", ", or ".join(filter(None, advice))


def _worded(text: str, options: OptionNames | None = None, of_file: str = "") -> str:
    """A text with its marks in words; empty if it names an option that the program does not have."""
    lacking: list[str] = []

    def named(mark: re.Match[str]) -> str:
        marked, *values = mark[1].split(_VALUE)
        parameter = marked.removeprefix(_POLICY)
        if options is None and marked != parameter:
            return " or ".join([f"policy=Policy({parameter}={values[0]})", *values[1:]])
        if options is None or parameter == of_file:
            listed = " or ".join(filter(None, [", ".join(values[:-1]), *values[-1:]]))
            return parameter + (f"={listed}" if values else "")
        from ast import literal_eval

        name = options.name(parameter, [literal_eval(value) for value in values])
        if not name:
            lacking.append(parameter)
        return name

    if _END in text:
        text = re.sub(f"{_GIVEN}([^{_GIVEN}{_END}]*){_END}", named, text)
        text = re.sub(f"{_EITHER}([^{_ELSE}]*){_ELSE}([^{_END}]*){_END}", r"\2" if options else r"\1", text)
    return "" if lacking else text


def reworded(error: Kind, change: Callable[[str], str]) -> Kind:
    state = {name: change(value) if isinstance(value, str) else value for name, value in error.__dict__.items()}
    return _restored(type(error), tuple(change(str(text)) for text in error.args), state)


def _printable(text: str) -> str:
    """A text that any file or terminal takes: half of a character, as in a file name that is not UTF-8, is escaped."""
    return text.encode(errors="backslashreplace").decode()


def _restored(kind: type[Kind], args: tuple[Any, ...], state: dict[str, Any]) -> Kind:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


def choice_hint(start: str, known: Iterable[str], typed: object) -> str:
    """A hint that says what there is to choose from, and which of it may have been meant."""
    names = list(known)
    near = nearest(typed, names)
    return f"{start} {', '.join(names)}" + (f"; did you mean {near}?" if near else "")


def nearest(typed: object, known: Iterable[str]) -> str:
    """The name that may have been meant by a mistyped or shortened one; empty where none is near."""
    from itertools import islice

    word = _bare(typed)
    if len(word) > LONGEST_NAME:
        return ""
    distances = ((_distance(word, _bare(name)), at, name) for at, name in enumerate(islice(known, MOST_NAMES)))
    distance, _, name = min(distances, default=(inf, 0, ""))
    return name if distance < inf else ""


def near_file(path: str, others: Iterable[str] = ()) -> str:
    """A hint that names the most similar file in the same folder, or in `others`; empty if none is similar."""
    folder, name = os.path.split(path)
    try:
        beside = sorted(file for file in os.listdir(folder or ".") if file[0] != ".")
    except (OSError, ValueError):  # a name may contain characters that no file name can have
        beside = []
    near = nearest(name, [*(() if folder else others), *beside]) if name else ""
    # A common extension alone makes no two names similar.
    similar = near and nearest(os.path.splitext(name)[0], [os.path.splitext(near)[0]])
    return f"did you mean {os.path.join(folder, near)}?" if similar else ""


def _bare(name: object) -> str:
    return str(name).strip("-'").lower()


def _distance(typed: str, known: str) -> float:
    """How many slips are between two words; infinite where these are too many for one to be meant by the other."""
    if len(typed) >= BEGINNING and known.startswith(typed):
        return 0.5 if typed != known else 0
    longer = max(len(typed), len(known))
    allowed = 1 if longer == SHORTEST else min(longer // LETTERS_OF_A_SLIP, MOST_SLIPS)
    distance = slips(typed, known) if abs(len(typed) - len(known)) <= allowed else inf
    return distance if distance <= allowed else inf


def slips(one: str, other: str) -> int:
    """How many letters must be added, left out, replaced or swapped with the next to make one word the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        above, row = row, [i + 1]
        for j, sign in enumerate(other):
            best = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != sign))
            if i and j and letter == other[j - 1] and one[i - 1] == sign:
                best = min(best, before[j - 1] + 1)
            row.append(best)
        before = above
    return row[-1]


def need(module: str, *, purpose: str, extra: str = "") -> ModuleType:
    """Import an optional library, or say what to install: the extra that brings it, or the library itself."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingLibrary(
            f"{purpose} needs the library {library}, which is not installed.",
            hint=f"pip install 'cranfield[{extra}]'" if extra else f"pip install {library}",
        ) from error
