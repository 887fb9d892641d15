"""What looks like personal data in a query: how to reach a person, where they live, what they pay with.

Patterns find what has a form. They find no names, and nothing about health or faith: read what you sample.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from cranfield.errors import InputError, choice_hint

_STREETS = "street|st|road|rd|avenue|ave|lane|boulevard|blvd"
# What a number before it measures or counts, as in 26 inch road bike: no house.
_COUNTED = "inch|inches|in|ft|foot|feet|cm|mm|m|km|mph|speed|gear|pack|pcs?|pieces?|pairs?|persons?|players?|lanes?|usb"
_BEFORE = "rue|avenue|boulevard|calle|avenida|via|viale|corso|rua"  # such as 12 rue de la paix, via roma 12
_ENDINGS = r"str\.?|straße|strasse|gasse|straat|laan|gatan|vägen"  # such as hauptstr. 12

_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1\d{2,4}")


class PersonalData(NamedTuple):
    """A kind: in words, what it looks like, and a check of what does.

    digits: how many it has at least
    has: what it contains, which is found fast
    """

    meaning: str
    pattern: str
    check: Callable[[str], bool] | None = None
    digits: int = 0
    has: str = ""


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _is_card(text: str) -> bool:
    """Luhn's check of 13 to 19 digits."""
    numbers = [int(sign) for sign in reversed(_digits(text))]
    doubled = [sum(divmod(2 * number, 10)) for number in numbers[1::2]]
    known = _digits(text)[0] in "23456"  # of what begins with other digits, nothing is a card to pay with
    return known and 13 <= len(numbers) <= 19 and (sum(numbers[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    plain = text.replace(" ", "").upper()
    return len(plain) >= 15 and int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_machine(text: str) -> bool:
    return all(int(part) < 256 for part in text.split("."))


def _is_long(text: str) -> bool:
    """Whether it has 9 digits or more, not in twos as sizes are, and is no ISBN of a book."""
    digits = _digits(text)
    isbn = len(digits) == 13 and digits[:3] in ("978", "979")
    if len(digits) < 9 or max(map(len, re.split(r"\D", text))) < 3:
        return False
    return not (isbn and sum(int(sign) * (1, 3)[at % 2] for at, sign in enumerate(digits)) % 10 == 0)


def _is_telephone(text: str) -> bool:
    return 7 <= len(_digits(text)) <= 15 and not _DATE.fullmatch(text)


# In the order in which they are tried; a card is also a long number.
KINDS = {
    "email": PersonalData("e-mail addresses", r"[^\s@<>,;]+@[^\s@<>,;]+\.[^\W\d_]{2,}", has="@"),
    "iban": PersonalData(
        "bank accounts (IBAN)", r"\b[a-z]{2}\d\d(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?\b", _is_iban, 8
    ),
    "card": PersonalData("card numbers", r"(?<![\w.])\d(?:[ -]?\d){12,18}(?!\w)", _is_card, 13),
    "ip": PersonalData("addresses of machines (IP)", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", _is_machine, 4),
    "telephone": PersonalData(
        "telephone numbers",
        r"(?<![\w-])(?:\+|\(?0)\d(?:[ ./()-]{0,2}\d){6,13}(?!\w)|(?<!\w)\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}(?!\w)",
        _is_telephone,
        7,
    ),
    "number": PersonalData(
        "long numbers, such as of accounts and orders", r"(?<![\w.-])\d+(?:[ -]\d+)*(?!\w)", _is_long, 9
    ),
    "handle": PersonalData("names of accounts (@name)", r"(?<![\w@])@\w[\w.]+", has="@"),
    "address": PersonalData(
        "street addresses",
        rf"(?<!\w)\d{{1,5}}[a-z]?,? (?!(?:{_COUNTED}) )(?:[^\W\d_]+ ){{1,3}}(?:{_STREETS})(?!\w)"
        rf"|(?<!\w)\d{{1,5}}(?: ?bis)?,? (?:{_BEFORE}) (?!(?:{_COUNTED}) )[^\W\d_]+"
        rf"|(?<!\w)(?<!\d )(?:{_BEFORE}) (?:[^\W\d_]+ ){{1,3}}\d{{1,5}}(?!\w)"
        rf"|[^\W\d_]{{2,}} ?(?:{_ENDINGS}) ?\d{{1,4}}[a-z]?(?!\w)",
        digits=1,
        has=f"{_STREETS}|{_BEFORE}|{_ENDINGS}",
    ),
}
_PATTERNS = {name: re.compile(kind.pattern) for name, kind in KINDS.items()}
_HAS = {name: re.compile(kind.has) for name, kind in KINDS.items() if kind.has}
_DIGIT = re.compile(r"\d")
_SUSPECT = re.compile(r"[@\d]")
LONGEST = 1_000  # characters of a query that are looked at


def check_kinds(kinds: Collection[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            fact, hint = "there is no such kind of personal data.", choice_hint("kinds are", KINDS, kind)
            raise InputError("", fact, parameter="keep", value=kind, hint=hint)


def personal_data_of(texts: Sequence[str], keep: Collection[str] = ()) -> list[int]:
    """Of each text, in lower case, the kind of personal data that it seems to have, counted from 1; 0 for none.

    >>> personal_data_of(["red shoes", "ann@example.org", "+44 20 7946 0958", "iphone 15", "12 rue de rivoli"])
    [0, 1, 5, 0, 8]
    """
    tried = [(at, name) for at, name in enumerate(KINDS, 1) if name not in keep]

    def kind_of(text: str) -> int:
        text = text[:LONGEST]
        digits = len(_DIGIT.findall(text))
        for at, name in tried:
            kind = KINDS[name]
            if digits < kind.digits or (name in _HAS and not _HAS[name].search(text)):
                continue
            if kind.check is None:
                if _PATTERNS[name].search(text):
                    return at
            elif any(kind.check(found[0]) for found in _PATTERNS[name].finditer(text)):
                return at
        return 0

    return [kind_of(text) if _SUSPECT.search(text) else 0 for text in texts]
