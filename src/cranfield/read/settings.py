"""Settings from TOML: read, and checked by name and type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cranfield.errors import InputError

SETTINGS_FILE = "cranfield.toml"
Kinds = Mapping[str, type | tuple[type, ...]]


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a dict."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {(error.strerror or str(error)).lower()}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"this is not TOML: {error}.") from None


def check_settings(table: Mapping[str, Any], known: Kinds, where: str) -> None:
    """An error for a setting that does not exist, or is not of its kind. It never shows the value: it may be secret."""
    for name, value in table.items():
        if name not in known:
            raise InputError(where, f"there is no setting '{name}'.", hint=f"there are {', '.join(sorted(known))}")
        # In Python true is a number; here it is none.
        if not isinstance(value, known[name]) or (isinstance(value, bool) and known[name] is not bool):
            raise InputError(where, f"{name} must be {_wanted(known[name])}.")


def _wanted(kinds: type | tuple[type, ...]) -> str:
    if kinds == (int, float):
        return "a number"
    words = {bool: "true or false", int: "a whole number", str: "text", dict: "a table", list: "a list"}
    return " or ".join(words.get(kind, "a number") for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
