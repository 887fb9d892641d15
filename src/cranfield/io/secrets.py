"""Values from the environment: inserted for ${NAME}, and removed from everything that is shown."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, unquote

from cranfield.errors import CranfieldError, InputError, reworded

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_EXCERPT = 1 << 16  # characters of a text that are searched to show its start
DEEPEST = 50  # brackets around a value of JSON: far from where reading or writing it would exhaust the stack
_WORD, _PART = 6, 4  # shortest part of a value that is hidden: shorter ones occur in many words


class Secrets:
    """The environment variables that one system's settings name."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._shown: dict[str, str] = {}  # pattern of a secret → what is shown instead
        self._pattern: re.Pattern[str] | None = None

    def fill(self, setting: Any) -> Any:
        if isinstance(setting, str):
            return _REFERENCE.sub(lambda match: self._value(match[1]), setting)
        if isinstance(setting, dict):
            return {key: self.fill(value) for key, value in setting.items()}
        if isinstance(setting, list):
            return [self.fill(value) for value in setting]
        return setting

    def keep(self, value: str, shown: str) -> None:
        words = [word for word in value.split() if len(word) >= _WORD]
        for secret in (value, value.strip(), unquote(value), *words) if value.strip() else ():
            if secret not in self._shown:
                self._shown[secret] = shown
                self._pattern = None

    def keep_parts(self, parts: Iterable[object]) -> None:
        """Hide parts that a library extracts from a setting, such as the host of a URL, if they are part of a value."""
        for part in map(str, parts):
            letters = _letters(part)
            for value, shown in list(self._shown.items()):
                if len(letters) >= _PART and letters in _letters(value):
                    self.keep(part, shown)
                    break

    def hide(self, text: str) -> str:
        if not self._shown:
            return text
        if self._pattern is None:
            # The longest first: one value may be the beginning of another.
            kept = sorted(self._shown, key=len, reverse=True)
            self._names = [self._shown[value] for value in kept]
            self._pattern = re.compile("|".join(f"({_any_form(value)})" for value in kept), re.IGNORECASE)
        return self._pattern.sub(lambda match: self._names[(match.lastindex or 1) - 1], text)

    def hide_in(self, value: Any, deepest: int = DEEPEST) -> Any:
        """What was read from JSON, without any of the values; one that is nested deeper is a `RecursionError`."""
        if isinstance(value, str):
            return self.hide(value)
        if not isinstance(value, dict | list):
            return value
        if not deepest:
            raise RecursionError
        if isinstance(value, list):
            return [self.hide_in(each, deepest - 1) for each in value]
        return {self.hide(name): self.hide_in(each, deepest - 1) for name, each in value.items()}

    def start(self, data: bytes) -> str:
        """The start of a text. Values are hidden before it is cut, so that none is cut in two."""
        text = data[:_EXCERPT].decode(errors="replace")
        if len(data) > _EXCERPT:  # a value may begin here and end later
            text = text[: -6 * max(map(len, self._shown), default=0) or None]
        return self.hide(text)

    def excerpt(self, data: bytes, width: int = 120) -> str:
        """The start of a text on one line."""
        text = " ".join(self.start(data).split())
        return f"{text[: width - 3]}…" if len(text) > width else text or "(nothing)"

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Turn every exception inside into an error of ours, without any of the values."""
        try:
            yield
        except CranfieldError as error:
            raise reworded(error, self.hide) from None
        except Exception as error:
            raise InputError(self.where, self.hide(f"{type(error).__name__}: {error}")) from None

    def _value(self, name: str) -> str:
        try:
            value = os.environ[name]
        except KeyError:
            fact = f"the environment variable {name} is not set."
            raise InputError(self.where, fact, hint=f"export {name}=… before this call") from None
        self.keep(value, f"${{{name}}}")
        return value


def _letters(text: str) -> str:
    """A text without the characters that a library may have interpreted."""
    return re.sub(r"\W+", "", text).lower()


def _any_form(value: str) -> str:
    """A pattern of a value as it is, in URLs, JSON, HTML or Python's quotes, with blanks collapsed, or in base64."""
    letters = "".join(map(_letter_forms, re.sub(r"\s+", " ", value)))
    return "|".join([letters, *map(re.escape, _in_base64(value.encode(errors="surrogateescape")))])


_BLANKS = r"(?:\s|\+|%20|%0[9a-d]|\\+[nrtvf]|\\+(?:x|u00)(?:20|0[9a-d])|&#(?:x0*(?:20|[9a-d])|0*(?:32|9|1[0-3]));)+"


def _letter_forms(letter: str) -> str:
    if letter == " ":
        return _BLANKS
    if letter.isascii() and letter.isalnum():
        return letter
    coded = letter.encode(errors="surrogateescape")
    forms = {
        letter,
        quote(coded, safe=""),
        "".join(f"%{byte:02x}" for byte in coded),  # also of what `quote` leaves alone
        html.escape(letter),
        f"&#{ord(letter)};",
        f"&#x{ord(letter):x};",
        "".join(f"\\x{byte:02x}" for byte in coded),  # bytes, shown by Python
        f"\\x{ord(letter):02x}",
        f"\\u{ord(letter):04x}",
        f"\\{letter}",
        json.dumps(letter)[1:-1],
        repr(letter)[1:-1],
    }
    # A text may have been quoted twice, by a server and by a proxy; then backslashes are doubled.
    forms |= {again for form in forms for again in (html.escape(form), quote(form, safe="", errors="surrogateescape"))}
    patterns = {re.escape(form).replace(r"\\", r"\\+") for form in forms}
    return f"(?:{'|'.join(sorted(patterns, key=len, reverse=True))})"


def _in_base64(value: bytes) -> set[str]:
    """The value in base64, alone and inside a longer text: the part that does not depend on the rest."""
    coded_values = set()
    for code in (base64.b64encode, base64.urlsafe_b64encode):
        coded_values.add(code(value).decode().rstrip("="))
        for before in (0, 1, 2):
            coded = code(bytes(before) + value).decode()
            inner = coded[(0, 2, 3)[before] : (before + len(value)) * 8 // 6]
            if len(inner) >= 8:  # a few letters could be anything
                coded_values.add(inner)
    return coded_values
