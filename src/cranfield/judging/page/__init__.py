"""The page on which people judge: `serve` serves it, to this machine or to others with a token; `Listening` says where.

The `Desk` knows judging, the application knows HTTP, and the files for the browser are in `STATIC`.
"""

from pathlib import Path

from cranfield.judging.page.serving import Listening, serve

STATIC = Path(__file__).parent / "static"

__all__ = ["STATIC", "Listening", "serve"]
