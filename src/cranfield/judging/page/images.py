"""Pictures of documents: files beside the store, or in the store itself. None is fetched from another machine."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

LARGEST = 20_000_000  # bytes
# Recognised by their first bytes, not by their names; SVG is left out, because it can contain scripts.
_SIGNS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
_INSIDE = tuple(f"data:{kind};base64," for kind in ("image/png", "image/jpeg", "image/gif", "image/webp"))


def image_link(doc_id: str, image: str) -> dict[str, str] | None:
    """What the page does with an image: show it (`source`), or name the place where it is (`elsewhere`).

    >>> image_link("d 1", "pictures/1.png")
    {'source': 'image?doc_id=d%201'}
    >>> image_link("d1", "https://example.com/1.png")
    {'elsewhere': 'https://example.com/1.png'}
    """
    if not image:
        return None
    if image.startswith(_INSIDE):
        return {"source": image}
    if is_web_address(image):
        return {"elsewhere": image}
    return {"source": f"image?doc_id={quote(doc_id, safe='')}"}


def is_web_address(text: str) -> bool:
    """Whether a text is a web address that is safe to open."""
    return text.lower().startswith(("http://", "https://"))


def read_image(folder: Path, image: str) -> tuple[bytes, str] | None:
    """The bytes and the type of a picture beneath a folder; None for anything else."""
    try:
        path = (folder / image).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        content = path.read_bytes()
    except (OSError, ValueError, RuntimeError):  # the last is a link that leads to itself
        return None
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return content, "image/webp"
    kind = next((kind for sign, kind in _SIGNS.items() if content.startswith(sign)), None)
    return (content, kind) if kind else None
