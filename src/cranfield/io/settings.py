"""Settings from TOML: read, and checked by name and type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cranfield.errors import InputError, choice_hint, near_file

SETTINGS_FILE = "cranfield.toml"
TomlKind = type | tuple[type, ...]


class TomlSetting(NamedTuple):
    """A setting as documented: the kind of its value, its meaning, and its default."""

    kind: TomlKind
    meaning: str
    usual: str = ""

    @property
    def wanted(self) -> str:
        return _wanted(self.kind)


Kinds = Mapping[str, TomlKind | TomlSetting]


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        fact = f"cannot be read: {(error.strerror or str(error)).lower()}."
        made = f"'cranfield init' writes {SETTINGS_FILE}" if path.name == SETTINGS_FILE else ""
        hint = "" if path.exists() else made or near_file(str(path))
        raise InputError(str(path), fact, hint=hint) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"this is not TOML: {error}.") from None


def check_settings(table: Mapping[str, Any], known: Kinds, where: str) -> None:
    """Refuse a setting that does not exist or has the wrong type. The error never shows the value: it may be secret."""
    for name, value in table.items():
        if name not in known:
            fact = f"there is no setting '{name}'."
            raise InputError(where, fact, hint=choice_hint("there are", sorted(known), name))
        setting = known[name]
        kind = setting.kind if isinstance(setting, TomlSetting) else setting
        # In Python, True is a number; here it is not.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(where, f"{name} must be {_wanted(kind)}.")


def _wanted(kinds: TomlKind) -> str:
    if kinds == (int, float):
        return "a number"
    words = {bool: "true or false", int: "a whole number", str: "text", dict: "a table", list: "a list"}
    return " or ".join(words.get(kind, "a number") for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
