"""What looks like personal data is found by its form; what people look for in shops and libraries is not."""

import pytest

from cranfield import InputError
from cranfield.traffic.personal_data import KINDS, check_kinds, personal_data_of

FOUND = {
    "email": ["ann@example.org", "mail from bob.smith+x@mail.example.co.uk please", "é.müller@bücher.example"],
    "iban": ["de89 3704 0044 0532 0130 00", "transfer gb82west12345698765432"],
    "card": ["4111 1111 1111 1111", "visa 4111111111111111", "378282246310005 amex"],
    "ip": ["who is 192.168.17.5", "10.0.0.255"],
    "telephone": [
        "+44 20 7946 0958",
        "call 020 7946 0958",
        "(555) 555-0123",
        "0171/1234567",
        "+49-171-1234567",
        "555.555.0123",
    ],
    "number": ["order 123456789", "123-45-6789", "account 1234 5678 90", "4006381333931"],
    "handle": ["@jane_doe videos", "posts of @j.doe"],
    "address": [
        "221b baker street",
        "5 inchmery road",
        "flat 4, 12 old kent road london",
        "12 rue de la paix",
        "via roma 12",
        "hauptstr. 12",
        "lange gasse 3",
        "kerkstraat 12a",
    ],
}
NOT_FOUND = [
    "red shoes",
    "iphone 15 pro 256gb",
    "9780131103627",
    "isbn 978-0-13-110362-7",
    "01/02/2024",
    "1.2.2024",
    "size 36 38 40",
    "usb 3.2 gen 2",
    "1 tb external hard drive",
    "2 person tent",
    "10 best tennis court shoes",
    "abbey road",
    "26 inch road bike",
    "700c road bike tires",
    "2 player street fighter",
    "6 ft lane marker",
    "windows 11 via usb 3",
    "a @ b",
    "version 1.2.3",
    "1.300.2.4",
    "windows 11 23h2",
    "din 912 m8",
    "de luxe 2000",
    "4x4 tyre 205 55 r16",
    "",
]


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_the_form_is_found(kind):
    found = personal_data_of(FOUND[kind])
    assert [list(KINDS)[at - 1] if at else "" for at in found] == [kind] * len(found)


def test_what_people_look_for_is_not():
    assert [text for text, kind in zip(NOT_FOUND, personal_data_of(NOT_FOUND), strict=True) if kind] == []


def test_numbers_whose_check_digits_are_wrong_are_no_cards_and_accounts():
    names = [list(KINDS)[at - 1] for at in personal_data_of(["4111 1111 1111 1112", "9780131103628"])]
    assert names == ["number", "number"]


def test_a_shop_may_keep_numbers():
    texts = ["4006381333931", "ann@example.org"]
    assert personal_data_of(texts, keep=["number"]) == [0, 1]
    assert personal_data_of(texts, keep=list(KINDS)) == [0, 0]
    with pytest.raises(InputError, match="did you mean number"):
        check_kinds(["numbr"])


def test_long_texts_take_no_longer_than_they_are():
    assert personal_data_of(["1 " * 50_000, "a1 " * 50_000, "@" * 50_000, "12 a " * 20_000])[3] == 0
