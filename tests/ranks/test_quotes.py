"""Quotes and chunks are found where a naive search finds them; distinctive ones, in time linear in text and quotes."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import Chunks, InputError, PassageJudgments
from cranfield.ranks import quotes
from cranfield.ranks.quotes import QuotedText
from tests.growth import is_linear

PARAGRAPH = "All rights reserved. No part of this page may be reproduced without permission. "


@pytest.fixture(params=["blocks", "suffixes", "short"], scope="module")
def found(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotes, "SHORT", quotes.SHORT if request.param == "short" else 0)
        patch.setattr(quotes, "PATIENCE", -1 if request.param == "suffixes" else quotes.PATIENCE)
        yield lambda text, quote: QuotedText(text).find(quote)


def plain(text):
    """The text without case and with one blank for any white space, and the place of each character of it."""
    letters, places = "", []
    for at, letter in enumerate(text):
        each = " " if letter.isspace() else letter.casefold()
        if each != " " or not letters.endswith(" "):
            letters += each
            places += [at] * len(each)
    return letters, places


def naive(text, quote):
    """Every place, exact ones first: each character of the text is tried as the first of the quote."""
    size = len(quote)
    exact = [(at, at + size) for at in range(len(text)) if size and text[at : at + size] == quote]
    letters, places = plain(text)
    wanted, _ = plain(quote.strip())
    size = len(wanted)
    loose = (at for at in range(len(letters)) if size and letters[at : at + size] == wanted)
    return exact or [(places[at], places[at + size - 1] + 1) for at in loose]


def agree(quoted, places):
    assert quoted.first == tuple(places[:2])
    assert list(quoted.since(0)) == places
    assert quoted.count() == len(places)
    for start in {0, 3, *(span[0] for span in places), *(span[0] + 1 for span in places)}:
        assert list(quoted.since(start)) == [span for span in places if span[0] >= start]


few_letters = st.text("aAb ß\n\tİ", max_size=12)
periodic = st.tuples(st.text("ab", min_size=1, max_size=5), st.integers(1, 12)).map(lambda made: made[0] * made[1])


@settings(max_examples=150, deadline=None)
@given(st.lists(few_letters | periodic, min_size=1, max_size=8).map("".join), st.data())
def test_places_are_those_of_a_naive_search(found, text, data):
    start = data.draw(st.integers(0, len(text)))
    quote = data.draw(st.sampled_from([text[start : data.draw(st.integers(start, len(text)))], data.draw(few_letters)]))
    for each in (quote, quote.swapcase(), " ".join(quote.split())):
        agree(found(text, each), naive(text, each))


def test_places_among_boilerplate_are_those_of_a_naive_search(found):
    chance = random.Random(1)
    words = [PARAGRAPH, PARAGRAPH[:40], "a" * 50, "ab" * 30, "unique {} ", "\n\n", "Ähnliche  Straße "]
    for _ in range(6):
        text = "".join(chance.choice(words).format(chance.random()) for _ in range(40))
        for size in (3, 7, 15, 31, 63, 64, 200, 600):
            start = chance.randrange(len(text) - size)
            quote = text[start : start + size]
            for each in (quote, quote.upper(), quote[:-1] + "#"):
                agree(found(text, each), naive(text, each))


def test_texts_that_look_like_a_quote_everywhere(found, monkeypatch):
    monkeypatch.setattr(quotes, "RARE", 3)
    text = (PARAGRAPH + "One. " + PARAGRAPH + "Two. ") * 20
    for quote in (PARAGRAPH + PARAGRAPH, text[10:400], "Two. " + PARAGRAPH, PARAGRAPH + "Three. "):
        agree(found(text, quote), naive(text, quote))
    assert found("a" * 3000, "a" * 1000).count() == 2001


def naive_chunks(text, chunks):
    """The place of every chunk by the rule that `Chunks.read` states; None if a repeated text has not exactly one."""
    places = [naive(text, chunk) for chunk in chunks]
    known = [spans[0] for spans in places if len(spans) == 1]
    chosen = []
    for at, spans in enumerate(places):
        if len(spans) > 1:
            before = chosen[-1] if chosen else (-1, 0)
            after = next((others[0] for others in places[at + 1 :] if len(others) == 1), (len(text) + 1, 0))
            spans = [span for span in spans if before < span < after]
            if known != sorted(known) or len(spans) != 1:
                return None
        chosen += spans
    return chosen


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["xx ", "Yy. ", "One. ", "Two. ", "zzz\n"]), min_size=1, max_size=9), st.randoms())
def test_chunks_take_the_places_of_the_naive_rule(found, parts, chance):
    text = "".join(parts)
    cuts = sorted({0, len(text), *(chance.randrange(len(text)) for _ in range(chance.randrange(6)))})
    chunks = [text[start:end] for start, end in pairwise(cuts) if text[start:end].strip()]
    if chance.random() < 0.2:
        chance.shuffle(chunks)
    expected = naive_chunks(text, chunks)
    rows = [(f"c{number}", "d", chunk) for number, chunk in enumerate(chunks)]
    if expected is None:
        with pytest.raises(InputError, match=r"appears \d+ times in document 'd'"):
            Chunks.read(rows, {"d": text})
    else:
        assert [place[1:3] for place in Chunks.read(rows, {"d": text}).places.values()] == expected


def test_chunks_of_several_documents_stay_in_their_order():
    texts = {"d1": "One. Two.", "d2": "Three. Four."}
    rows = [("a", "d1", "One."), ("b", "d2", "Three."), ("c", "d1", "Two."), ("e", "d2", "Four.")]
    assert list(Chunks.read(rows, texts).places) == ["a", "b", "c", "e"]


def boilerplate(size):
    """A document in which every second chunk is the same text, and its chunks."""
    chunks = [PARAGRAPH if number % 2 else f"This is section {number} of the manual. " for number in range(size)]
    return [(f"c{number}", "d", chunk) for number, chunk in enumerate(chunks)], {"d": "".join(chunks)}


def quoted(size):
    chance = random.Random(size)
    sections = [" ".join(f"{chance.getrandbits(20):x}" for _ in range(8)) for _ in range(size)]
    return [("q", "d", each, 1) for each in sections], {"d": PARAGRAPH.join(sections)}


def repeated(size):
    return [("q", "d", "a" * size, 1)], {"d": "a" * 2 * size}


def short(size):
    """Quotes of two to six letters."""
    chance = random.Random(1)
    text = " ".join(f"{chance.getrandbits(20):x}" for _ in range(30 * size))
    starts = (chance.randrange(len(text) - 6) for _ in range(size))
    return [("q", "d", text[at : at + chance.randrange(2, 7)].strip() or "a", 1) for at in starts], {"d": text}


def near_copies(size):
    """Quotes that each differ in a letter from all others."""
    chance = random.Random(2)
    pages = [PARAGRAPH[:at] + chance.choice("xyz") + PARAGRAPH[at + 1 :] for at in range(1, 75)]
    made = [chance.choice(pages) for _ in range(6 * size)]
    text = "".join(made)
    starts = (chance.randrange(len(text) - 100) for _ in range(size))
    return [("q", "d", text[at : at + 100], 1) for at in starts], {"d": text}


def first_places(given):
    rows, texts = given
    stored = QuotedText(texts["d"])
    return [stored.find(quote).first for _, _, quote, _ in rows]


def refused(given):
    with pytest.raises(InputError, match="times in document 'd'"):
        PassageJudgments.read(*given)


GROWING = {
    "chunks": (boilerplate, lambda given: Chunks.read(*given), 1000),
    "quotes": (quoted, lambda given: PassageJudgments.read(*given), 600),
    "a quote that overlaps itself": (repeated, refused, 1_000_000),
}


COUNTED = {**GROWING, "short": (short, first_places, 400), "near copies": (near_copies, first_places, 400)}


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_text_and_quotes(name):
    assert is_linear(*GROWING[name])


class Counted(str):
    """A text that counts its characters that are looked at."""

    looked = 0

    def find(self, part, start=0):
        at = super().find(part, start)
        self.looked += (len(self) if at < 0 else at) - start + len(part)
        return at

    def startswith(self, part, start=0):
        self.looked += len(part)
        return super().startswith(part, start)

    def __getitem__(self, key):
        self.looked += len(super().__getitem__(key))
        return super().__getitem__(key)


@pytest.mark.fault(
    "texts in which quotes are found slowly",
    "The work grows with the length of text and quotes, not with their product.",
)
@pytest.mark.parametrize("name", COUNTED)
def test_characters_looked_at_grow_with_text_and_quotes(name):
    def looked(size):
        rows, texts = prepare(size)
        text = Counted(texts["d"])
        work((rows, {"d": text}))
        return text.looked

    prepare, work, size = COUNTED[name]
    assert 0 < looked(2 * size) <= 2.6 * looked(size)
