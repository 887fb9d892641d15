"""Writes the page about all measures from the registry: `python docs/site/measures.py docs/measures.md`."""

from __future__ import annotations

import sys

from cranfield.read.target import write_text
from cranfield.show.measure_text import measures_page

if __name__ == "__main__":
    write_text(sys.argv[1], measures_page(), force=True)
