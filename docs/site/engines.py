"""The table in the page about engines, from the registry: `python docs/site/engines.py docs/engines.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cranfield.engines.protocol import Engine
from cranfield.engines.registry import ENGINES

PAGE = Path(__file__).parents[1] / "engines.md"
_TABLE = re.compile(r"(?<=<!-- written by docs/site/engines\.py -->\n\n).*?(?=\n\n<!-- end -->)", re.S)


def table() -> str:
    """The engines, in Markdown."""
    head = ["| engine | takes | `engine=` | install | memory |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *map(_row, ENGINES.values())])


def _row(engine: type[Engine]) -> str:
    install = f"'cranfield[{engine.extra}]'" if engine.extra else f"'cranfield[frames]' {engine.package}"
    chosen = f"`{engine.name}`" if engine.reads_parquet else ""
    cells = (engine.title, engine.takes, chosen, f"`pip install {install}`", engine.memory)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    text, found = _TABLE.subn(lambda _: table(), PAGE.read_text(encoding="utf-8"))
    assert found == 1
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
