"""Results that a history keeps, as runs: found by commit or id, with what else changed between two of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from cranfield.comparison.differences import change_text
from cranfield.errors import InputError
from cranfield.systems.history.lines import changes_between
from cranfield.systems.history.opening import open_history
from cranfield.systems.history.results import Basis, Result, Value
from cranfield.words import cut, listed

# bm25@3d9c172: the first letters of a commit or an id, after the name of a system where several were tested
_NAMED = re.compile(r"(?:(?P<system>.+)@)?(?P<start>[0-9a-f]{4,64})\+?", re.IGNORECASE)
_SUBJECT = 50  # columns of what a commit says
_SETTING = 40  # of the value of a setting


class Kept(NamedTuple):
    """A result of a history. path: a file with its run; texts: of its queries, by id"""

    path: str
    result: Result
    basis: Basis
    texts: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.result.system} {self.result.commit or self.result.id[:7]}"


def kept_result(thing: str, history: Any, stack: ExitStack) -> Kept | None:
    """The result that is named, with its run in a file until the stack is closed; None if it names a file."""
    found = _NAMED.fullmatch(thing)
    if found is None:
        return None
    with open_history(history, read_only=True) as opened:
        results = opened.beginning_with(found["start"].lower(), found["system"])
        result = _only(thing, results, opened.name)
        runs = opened.kept_runs()
        alike = [its for its in reversed(results) if its.run_sha256 in runs]
        chosen = alike[0] if alike else result
        name, content = opened.run(chosen.run_sha256)
        basis, texts = opened.bases()[chosen.basis], opened.texts(chosen.basis)
    path = Path(stack.enter_context(TemporaryDirectory(prefix="cranfield-"))) / os.path.basename(name)
    path.write_bytes(content)
    return Kept(str(path), chosen, basis, texts)


def _only(thing: str, results: Sequence[Result], history: str) -> Result:
    """The latest of several results of one system at one commit; anything else that is not one is an error."""
    if not results:
        hint = "'cranfield history' shows the results with their commits"
        raise InputError(thing, f"there is no such file, and no such result in {history}.", hint=hint)
    systems = dict.fromkeys(result.system for result in results)
    commits = dict.fromkeys(result.change.commit for result in results)
    if len(systems) > 1:
        hint = f"name the system, too: {next(iter(systems))}@{thing}"
        raise InputError(thing, f"results of several systems begin with it: {listed(list(systems))}.", hint=hint)
    if len(commits) > 1:
        raise InputError(
            thing,
            f"{len(commits)} commits begin with it: {listed([commit[:12] or 'none' for commit in commits])}.",
            hint="give more letters",
        )
    return results[-1]


def changed_between(one: Kept, other: Kept) -> Iterator[str]:
    """What else changed between two results that are kept, in sentences."""
    before, after = one.result, other.result
    if before.system != after.system:
        yield f"the system is {after.system}, not {before.system}"
    days = abs((after.at.date() - before.at.date()).days)
    if days:
        yield f"{days} day{'s' if days > 1 else ''} {'later' if after.at > before.at else 'earlier'}"
    if after.change.subject and after.change.commit != before.change.commit:
        yield f"the commit says: {cut(after.change.subject, _SUBJECT)}"
    yield from _set_otherwise(before.settings, after.settings)
    if before.documents is not None and after.documents is not None and before.corpus != after.corpus:
        many = f"{after.documents:,} documents, not {before.documents:,}"
        yield many if after.documents != before.documents else "other documents, as many as before"
    yield from changes_between(one.basis, other.basis, before, after)
    lost, back = ({*after.gone} - {*before.gone}, {*before.gone} - {*after.gone})
    if lost and back:
        yield f"judged documents gone: {listed(sorted(lost))}; back: {listed(sorted(back))}"
    yield from _asked(one.texts, other.texts)
    if before.version != after.version:
        yield f"cranfield {after.version}, not {before.version}"
    if before.basis == after.basis:
        yield from _values(before.values, after.values)


def _set_otherwise(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Settings of the system that changed, where both results kept theirs."""
    if not before or not after:
        return
    told = [
        f"{name} {' → '.join(cut(its.get(name, 'not set'), _SETTING) for its in (before, after))}"
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]
    if told:
        yield f"settings {', '.join(told)}"


def _asked(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Queries whose text changed under the same id."""
    reworded = [query for query, text in before.items() if text and after.get(query) and after[query] != text]
    if reworded:
        yield f"the text of {listed(reworded)} changed"


def _values(before: Mapping[str, Value], after: Mapping[str, Value]) -> Iterator[str]:
    both = [name for name in before if name in after]
    if both:
        told = (f"{name} {change_text(before[name].value, after[name].value)}" for name in both)
        yield f"{', '.join(told)}, by the same queries, judgments and conventions"
