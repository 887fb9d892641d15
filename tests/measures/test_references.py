"""Every paper that a measure cites has a BibTeX entry."""

import re
import unicodedata

import pytest

import cranfield
from cranfield import MeasureError, bibtex, catalogue
from cranfield.measures import registry
from cranfield.measures.references import references

KEYS = re.compile(r"^@\w+\{([a-z0-9]+),$", re.MULTILINE)


def _letters(text):
    """A name without the commands of LaTeX for accents."""
    marks = {'"': "\N{COMBINING DIAERESIS}", "'": "\N{COMBINING ACUTE ACCENT}", "`": "\N{COMBINING GRAVE ACCENT}"}
    letters = re.sub(r"\{\\(.)(.)\}", lambda accent: accent[2] + marks[accent[1]], text)
    return unicodedata.normalize("NFC", letters)


def test_every_reference_has_an_entry():
    cited = {definition.reference for definition in catalogue().values() if definition.reference}
    assert cited - references().keys() == set()
    assert references().keys() - cited == set(), "no measure cites these any more"


def test_entries_agree_with_their_short_form():
    for short, entry in references().items():
        fields = dict(re.findall(r"^  (\w+) = \{(.+)\},$", entry, re.MULTILINE))
        names, _, year = short.rpartition(" ")
        if year.isdecimal():
            assert fields["year"] == year
        authors = [_letters(author) for author in fields["author"].split(" and ")]
        first = re.split(r", | & | et al\.", names)[0]
        assert authors[0].startswith(first)
        if "&" in names:
            assert [author.partition(",")[0] for author in authors] == re.split(r", | & ", names)
        elif "et al." in names:
            assert len(authors) > 3


def test_all_entries_are_written_once_in_plain_letters():
    text = bibtex()
    keys = KEYS.findall(text)
    assert len(keys) == len(references())
    assert keys == sorted(set(keys))
    assert text.isascii()
    assert "% no entry" not in text
    assert text.count("{") == text.count("}")
    for entry in text.split("\n\n"):
        assert re.fullmatch(r"@\w+\{\w+,\n(  \w+ = \{.+\},\n)+\}", entry), entry
    assert r"Sch{\"u}tze, Hinrich" in text
    assert r"R{\"u}ckl{\'e}, Andreas" in text
    assert r"{trec\_eval}" in text
    assert "https://github.com/usnistgov/trec_eval" in text


def test_bibtex_of_some_measures():
    assert KEYS.findall(bibtex(["nDCG@10", "ndcg_cut_20", "RR@10"])) == ["jarvelin2002cumulated", "voorhees1999trec8"]
    assert KEYS.findall(bibtex("AP P@10")) == ["buckley2005retrieval", "cleverdon1967cranfield"]
    assert bibtex("NumRet") == ""
    with pytest.raises(MeasureError):
        bibtex("no_such_measure")


def test_the_reference_of_a_user_defined_measure():
    @cranfield.measure("Mine", reference="Me 2020")
    def mine(judged):
        """Nothing.

        Mine = 0
        """
        return judged.n_judged() * 0

    try:
        assert bibtex("Mine") == "% no entry: Me 2020"
    finally:
        del registry._definitions["Mine"]
        del registry._aliases["mine"]
