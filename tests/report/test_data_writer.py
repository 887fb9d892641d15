"""The data of a page as JSON: written in parts, and compressed if it is large."""

import base64
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.report import encoding
from cranfield.report.encoding import LETTERS, DataWriter, letters, number_list, safe_json

ODD = 'a "quoted" \\ </script> & \u2028 text\n'


def parsed(written):
    text = "".join(written.pieces)
    return json.loads(text if written.type == "application/json" else gzip.decompress(base64.b64decode(text)))


@pytest.mark.parametrize(("large", "kind"), [(1_000_000, "application/json"), (50, "application/gzip")])
def test_added_data_is_read_back_unchanged(monkeypatch, large, kind):
    monkeypatch.setattr(encoding, "LARGE", large)
    data = DataWriter()
    data.add(runs=[ODD, "b"], nothing=None)
    data.add_texts("rankings", (safe_json({ODD: number}) for number in range(3)))
    data.add_texts("none", [])
    data.add(last=1.5)
    written = data.finished()
    assert written.type == kind
    assert "<" not in "".join(written.pieces)
    found = parsed(written)
    assert [json.loads(text) for text in found.pop("rankings")] == [{ODD: number} for number in range(3)]
    assert found == {"runs": [ODD, "b"], "nothing": None, "none": [], "last": 1.5}


def test_empty_data_is_an_empty_object():
    assert parsed(DataWriter().finished()) == {}


def test_texts_are_written_as_they_are_found(monkeypatch):
    """Otherwise all of them would be in memory at once, and nothing could be compressed meanwhile."""
    monkeypatch.setattr(encoding, "LARGE", 1)
    data, packed, before = DataWriter(), [], []
    add = encoding._Packer.add
    monkeypatch.setattr(encoding._Packer, "add", lambda packer, text: packed.append(text) or add(packer, text))

    def texts():
        for number in range(3):
            before.append(len(packed))
            yield safe_json([number])

    data.add_texts("rankings", texts())
    assert before == [0, 1, 2]
    assert parsed(data.finished()) == {"rankings": ["[0]", "[1]", "[2]"]}


@given(st.lists(st.one_of(st.integers(0, 10_000), st.integers(-5, 2**53))))
def test_numbers_are_written_as_json_writes_them(numbers):
    assert number_list(np.array(numbers, dtype=np.int64)) == json.dumps(numbers, separators=(",", ":"))


def test_letters_stand_for_numbers_and_need_no_escape():
    every = np.arange(len(LETTERS))
    text = json.loads(letters(every))
    assert [LETTERS.index(letter) for letter in text[:200]] == list(range(200))
    assert len({*text}) == len(every)
    assert not {*'"\\<>&\u2028\u2029'} & {*text}
    assert json.loads(safe_json(text)) == text
    assert letters(every) == safe_json(text)
    for beyond in ([len(LETTERS)], [-1, 3], []):
        assert json.loads(letters(np.array(beyond, dtype=np.int64))) == beyond
