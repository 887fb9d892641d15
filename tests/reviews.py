"""Reviews of gates for tests, as the commands make them."""

from cranfield.show.layout import UNPAINTED
from cranfield.show.review import Reviewed, review_of_gate
from cranfield.show.review_formats import github, rendered


def reviewed(result, lost=()):
    return Reviewed("gate", (review_of_gate(result, lost),), {})


def as_markdown(result, lost=()):
    return rendered(reviewed(result, lost), "markdown", 80, UNPAINTED)


def as_junit(result, lost=()):
    return rendered(reviewed(result, lost), "junit", 80, UNPAINTED)


def as_github(result, lost=()):
    return github(reviewed(result, lost))
