"""What a page may do: use its own scripts and styles, and load nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A Content-Security-Policy that names the page's own scripts and styles by their hashes.

    >>> content_policy(["run()"], []).split("; ")[1:3]
    ["script-src 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='", "style-src 'none'"]
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hashes(scripts)}",
            f"style-src {_hashes(styles)}",
            "img-src data: blob:",  # the icon, and charts as pictures
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hashes(texts: Iterable[str]) -> str:
    found = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts]
    return " ".join(found) or "'none'"
