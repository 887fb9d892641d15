"""Values from the environment: put in where ${NAME} stands, and taken out of everything that is shown."""

from __future__ import annotations

import base64
import os
import re
from typing import Any
from urllib.parse import quote, quote_plus

from cranfield.errors import InputError

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Secrets:
    """The environment variables that one system's settings name.

    >>> import os
    >>> os.environ["DOCTEST_KEY"] = "s3cret"
    >>> secrets = Secrets("staging")
    >>> secrets.fill({"Authorization": "Bearer ${DOCTEST_KEY}"})
    {'Authorization': 'Bearer s3cret'}
    >>> secrets.hide("wrong key: s3cret")
    'wrong key: ${DOCTEST_KEY}'
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self._shown: dict[str, str] = {}  # what must not be seen → what is shown instead

    def fill(self, setting: Any) -> Any:
        """The setting with every ${NAME} in it replaced, in tables and lists too."""
        if isinstance(setting, str):
            return _REFERENCE.sub(lambda match: self._value(match[1]), setting)
        if isinstance(setting, dict):
            return {key: self.fill(value) for key, value in setting.items()}
        if isinstance(setting, list):
            return [self.fill(value) for value in setting]
        return setting

    def keep(self, value: str, shown: str) -> None:
        """Hide a value, however it is written: as it is, in a URL or in base64."""
        if value:
            encoded = base64.b64encode(value.encode()).decode()
            for form in (value, quote(value, safe=""), quote_plus(value), repr(value)[1:-1], encoded):
                self._shown[form] = shown

    def hide(self, text: str) -> str:
        """The text without any of the values."""
        for value in sorted(self._shown, key=len, reverse=True):
            text = text.replace(value, self._shown[value])
        return text

    def _value(self, name: str) -> str:
        try:
            value = os.environ[name]
        except KeyError:
            raise InputError(
                self.where, f"the environment variable {name} is not set.", hint=f"export {name}=… before this call"
            ) from None
        self.keep(value, f"${{{name}}}")
        return value
