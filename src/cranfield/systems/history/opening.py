"""Opening a history without importing what only a history needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cranfield.errors import need
from cranfield.io.secrets import Secrets

if TYPE_CHECKING:
    from cranfield.systems.history.history import History

USUAL_HISTORY = os.path.join(".cranfield", "history.db")


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """The settings [history] of a file; store: a path or a URL."""

    store: str
    keep: bool = True
    branch: str = ""
    looks: int = 30
    alpha: float = 0.05

    @classmethod
    def of(cls, settings: Mapping[str, Any], path: Path) -> Self:
        """path: of the file that they are from; paths are relative to its folder"""
        store = str(Secrets(f"{path}: [history]").fill(settings.get("store", USUAL_HISTORY)))
        if "://" not in store:
            store = str(path.parent / store)
        return cls(**{**settings, "store": store})


def open_history(where: str | os.PathLike[str], *, create: bool = False, read_only: bool = False) -> History:
    """The history in a file, or in PostgreSQL by URL; close it, or use it in a `with` statement.

    create: make it if there is none
    read_only: never write to it
    """
    need("sqlalchemy", purpose="a history of results", extra="history")
    from cranfield.systems.history.history import History

    return History(where, create=create, read_only=read_only)
