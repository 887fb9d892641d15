"""Opening a history without importing what only a history needs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cranfield.errors import need

if TYPE_CHECKING:
    from cranfield.systems.history.history import History

USUAL_HISTORY = os.path.join(".cranfield", "history.db")


def open_history(where: str | os.PathLike[str], *, create: bool = False, read_only: bool = False) -> History:
    """The history in a file, or in PostgreSQL by URL; close it, or use it in a `with` statement.

    create: make it if there is none
    read_only: never write to it
    """
    need("sqlalchemy", purpose="a history of results", extra="history")
    from cranfield.systems.history.history import History

    return History(where, create=create, read_only=read_only)
