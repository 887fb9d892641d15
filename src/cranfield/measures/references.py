"""The papers and books behind the measures, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cranfield.measures.registry import Measure, catalogue
from cranfield.measures.syntax import find_definition


@cache
def references() -> dict[str, str]:
    """The entries of references.bib by the short form that the registry uses, which is the comment above each."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    parts = (entry.partition("\n") for entry in text.strip().split("\n\n"))
    return {short.removeprefix("% "): entry for short, _, entry in parts}


def bibtex(measures: str | Measure | Iterable[str | Measure] | None = None) -> str:
    """The references of all measures, or of those named, as BibTeX: each entry once, in the order of the keys.

    A measure of your own whose reference has no entry here is named in a comment.

    measures: names of measures, or measures; by default all.
    Returns the text of a BibTeX file.

    >>> print(bibtex("nDCG@10, DCG@10"))
    @article{jarvelin2002cumulated,
      author = {J{\\"a}rvelin, Kalervo and Kek{\\"a}l{\\"a}inen, Jaana},
      title = {Cumulated gain-based evaluation of {IR} techniques},
      journal = {ACM Transactions on Information Systems},
      year = {2002},
      volume = {20},
      number = {4},
      pages = {422--446},
      doi = {10.1145/582415.582418},
    }
    """
    if measures is None:
        definitions = list(catalogue().values())
    else:
        named = re.split(r"[\s,]+", measures.strip()) if isinstance(measures, str) else measures
        named = [named] if isinstance(named, Measure) else named
        definitions = [one.definition if isinstance(one, Measure) else find_definition(one) for one in named]
    cited = {definition.reference for definition in definitions if definition.reference}
    entries = [entry for short, entry in references().items() if short in cited]  # in the order of the keys
    return "\n\n".join([*entries, *(f"% no entry: {short}" for short in sorted(cited - references().keys()))])
