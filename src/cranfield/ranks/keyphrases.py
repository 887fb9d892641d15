"""Keyphrases as ids: a phrase counts once, however it is written, and words may be reduced to their stems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from cranfield.errors import InputError

Stem = Callable[[str], str] | Literal["plural"] | None


def keyphrases(phrases: Mapping[Any, Iterable[str]], *, stem: Stem = None) -> dict[str, list[str]]:
    """Phrases as ids of documents, the same for the extracted ones and for those they are measured by.

    Letters become small, white space one blank; a phrase that is the same as one above it is dropped.

    phrases: {document: [phrases, best first]}.
    stem: what reduces each word to its stem: a function, such as that of NLTK's PorterStemmer; "plural" for Harman's
        rules for plurals in English; by default nothing. Values with and without stems are not comparable.
    Returns {document: [phrases]}, which is a run, and also judgments, in which all phrases are relevant.

    >>> from cranfield import evaluate
    >>> wanted = keyphrases({"paper": ["neural network", "retrieval", "ranking"]}, stem="plural")
    >>> found = keyphrases({"paper": ["Neural  Networks", "neural network", "index"]}, stem="plural")
    >>> found
    {'paper': ['neural network', 'index']}
    >>> evaluate(wanted, found, "P@M R@M F1@M")
    <Evaluation of the run: P@M=0.5000, R@M=0.3333, F1@M=0.4000; 1 query>
    """
    if isinstance(phrases, str | bytes) or not isinstance(phrases, Mapping):
        hint = "give {document: [phrases, best first]}"
        raise InputError("the phrases", f"{phrases!r:.60} is not a mapping.", hint=hint)
    if not (stem is None or stem == "plural" or callable(stem)):
        raise InputError("stem", f"{stem!r:.60} is not a stemmer.", hint="give a function of a word, or 'plural'")
    reduced = _singular if stem == "plural" else stem
    found: dict[str, list[str]] = {}
    for document, its in phrases.items():
        if isinstance(its, str | bytes):
            fact = f"those of document '{document}' are {its!r:.60}, not a list."
            raise InputError("the phrases", fact, hint="give {document: [phrases, best first]}")
        written = (" ".join(_words(phrase, document, reduced)) for phrase in its)
        found[str(document)] = list(dict.fromkeys(filter(None, written)))
    return found


def _words(phrase: Any, document: Any, reduced: Callable[[str], str] | None) -> list[str]:
    if not isinstance(phrase, str):
        raise InputError("the phrases", f"{phrase!r:.60}, of document '{document}', is not text.")
    words = phrase.lower().split()
    return words if reduced is None else [reduced(word) for word in words]


def _singular(word: str) -> str:
    """The singular of an English word by the rules of Harman (1991), of which the first that fits is used.

    >>> [_singular(word) for word in ("queries", "indexes", "networks", "corpus", "class", "trees")]
    ['query', 'indexe', 'network', 'corpus', 'class', 'tree']
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("us", "ss")) else word
