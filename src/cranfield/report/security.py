"""What a page may do: run and look as what stands in it, and load nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A Content-Security-Policy that names the page's own scripts and styles by their hashes.

    >>> content_policy(["run()"], [])
    "default-src 'none'; script-src 'sha256-Qo5EEbZcV6RY9YF4j/jojHbypiODuGCExG4SDBDdkLw='; style-src 'none'; \
img-src data: blob:; base-uri 'none'; form-action 'none'"
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
