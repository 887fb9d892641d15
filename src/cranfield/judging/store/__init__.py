"""The store of judgments: a file or a database with who gave which grade to what, and what waits to be judged.

`open_store` opens one; a `Store` writes events and reads views of them. `save_sheet` and `read_sheet` are for judging
in a spreadsheet (`WrittenSheet`, `ReadSheet`), `import_file` brings in judgments from elsewhere. `KINDS` are the kinds
of assessors, those in `BY_PEOPLE` are people, and `RULES` say how the grades of several become one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cranfield.judging.store.merging import BY_PEOPLE, KINDS, RULES
    from cranfield.judging.store.sheets import ReadSheet, WrittenSheet, import_file, read_sheet, save_sheet
    from cranfield.judging.store.store import Store, open_store

# Options of all commands name kinds and rules; the rest is imported when it is first used.
_HOMES = {
    **dict.fromkeys(("BY_PEOPLE", "KINDS", "RULES"), "merging"),
    **dict.fromkeys(("ReadSheet", "WrittenSheet", "import_file", "read_sheet", "save_sheet"), "sheets"),
    **dict.fromkeys(("Store", "open_store"), "store"),
}

__all__ = ["BY_PEOPLE", "KINDS", "RULES", "ReadSheet", "Store", "WrittenSheet"]
__all__ += ["import_file", "open_store", "read_sheet", "save_sheet"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
