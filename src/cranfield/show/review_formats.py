"""The formats of reviews: one entry each, a pure function from what is reviewed to text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cranfield.show.layout import Paint
from cranfield.show.review import FAILED, NEW, Reviewed, arrow
from cranfield.show.review_markdown import SUMMARY, comment
from cranfield.systems.misses import Lost
from cranfield.words import cut, visible

ANNOTATIONS = 10  # of each kind, that GitHub shows of a step


def junit(reviewed: Reviewed) -> str:
    """The limits as test cases, in the XML that build servers read."""
    from xml.etree import ElementTree

    cases = [case for review in reviewed.reviews for case in review.cases]
    counts = {"tests": str(len(cases)), "failures": str(sum(not case.passed for case in cases)), "errors": "0"}
    root = ElementTree.Element("testsuites", counts)
    for review in reviewed.reviews:
        failed = sum(not case.passed for case in review.cases)
        name = visible(f"cranfield {reviewed.source}: {review.name}")
        its = {"name": name, "tests": str(len(review.cases)), "failures": str(failed), "errors": "0"}
        suite = ElementTree.SubElement(root, "testsuite", its)
        group = visible(f"cranfield.{reviewed.source}.{review.name}")
        for case in review.cases:
            element = ElementTree.SubElement(suite, "testcase", {"classname": group, "name": visible(case.name)})
            message = visible(case.message)
            if case.passed:
                ElementTree.SubElement(element, "system-out").text = message
            else:
                told = "\n".join(map(visible, (review.heading, *review.sentences, *map(_fell, review.lost))))
                ElementTree.SubElement(element, "failure", {"message": message}).text = told
        if review.doubts or review.notes:
            warnings = (*(f"warning: {doubt}" for doubt in review.doubts), *(f"note: {note}" for note in review.notes))
            notes = "\n".join(map(visible, warnings))
            ElementTree.SubElement(suite, "system-out").text = notes
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _fell(lost: Lost) -> str:
    return f"{lost.query_id} {lost.text}: {arrow(lost.before, lost.now)}; {lost.moved}"


def annotation_commands(reviewed: Reviewed) -> list[str]:
    """GitHub's commands that mark what failed, what is doubtful and what is new: at most ten of each kind."""
    errors, warnings, notices = [], [], []
    for review in reviewed.failed_first:
        broken = [case for case in review.cases if not case.passed]
        errors += [(f"{review.name}: {case.name}", case.message) for case in broken]
        if review.state == FAILED and not broken:
            errors.append((review.name, review.heading))
        warnings += [(review.name, note) for note in (*review.doubts, *review.notes)]
        if review.state == NEW:
            notices.append((review.name, ". ".join((review.heading, *(": ".join(review.hint or ()),)))))
    kinds = {"error": errors, "warning": warnings, "notice": notices}
    return [line for kind, found in kinds.items() for line in _commands(kind, found, reviewed.file)]


def _commands(kind: str, found: list[tuple[str, str]], file: str) -> Iterator[str]:
    shown = found if len(found) <= ANNOTATIONS else found[: ANNOTATIONS - 1]
    if len(shown) < len(found):
        shown = [*shown, ("cranfield", f"{len(found) - len(shown)} more; the step summary lists them")]
    where = f"file={_property(file)}," if file else ""
    for title, message in shown:
        yield f"::{kind} {where}title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return cut(text[:4000], 1000).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(cut(text[:1000], 200)).replace(":", "%3A").replace(",", "%2C")


class Written(NamedTuple):
    """A review for GitHub's CI: commands for standard output, the step summary, and the body of the comment."""

    commands: tuple[str, ...]
    summary: str
    body: str


def github(reviewed: Reviewed) -> Written:
    return Written(tuple(annotation_commands(reviewed)), comment(reviewed, SUMMARY), comment(reviewed))


# Formats that all reviews have; a result's own, such as text and JSON, come first.
RENDERERS: dict[str, Callable[[Reviewed], str]] = {
    "markdown": comment,
    "junit": junit,
    "github": lambda reviewed: github(reviewed).body,
}


def rendered(reviewed: Reviewed, form: str, width: int, paint: Paint) -> str:
    """A result in one of the formats."""
    own = reviewed.own.get(form)
    return own(width, paint) if own is not None else RENDERERS[form](reviewed)
