"""The library that draws the charts of a page, as one text of JavaScript."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from cranfield.errors import OutputError, need
from cranfield.read.target import make_folder, write_text


def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as they come with vl-convert.

    Bundling them takes seconds and 130 MB, so the result is cached, by version.
    The script goes into every page, so the cache is only used if it is intact and ours: see `_kept`.
    """
    licences = Path(__file__).with_name("libraries.txt").read_text(encoding="utf-8")  # required in every copy
    return f"/*\n{licences}*/\n{_bundle()}"


def _bundle() -> str:
    converter = need("vl_convert", extra="report", purpose="charts in a report")
    kept = _folder() / f"charts-{converter.__version__}-{converter.get_vega_version()}.js"
    found = _kept(kept)
    if found is not None:
        return found
    bundle: str = converter.javascript_bundle().replace("</script", "<\\/script")
    with suppress(OutputError, OSError):  # no cache: the next page takes as long as this one
        make_folder(kept.parent)
        if kept.is_symlink():  # a link may lead to files that are not ours
            kept.unlink()
        write_text(kept, _sealed(bundle), force=True)
        kept.chmod(0o600)
    return bundle


def _sealed(bundle: str) -> str:
    """A text with its own hash in front."""
    return f"// sha256 {hashlib.sha256(bundle.encode()).hexdigest()}\n{bundle}"


def _kept(path: Path) -> str | None:
    """The cached text, or nothing if it was cut off or altered, or if another user could have written it.

    The hash is in the same file, so it detects accidents, not attacks. In a cache folder shared by several people, the
    owner of the file counts. Someone with our own permissions needs no cache to do harm.
    """
    try:
        with open(path, "rb", opener=_without_links) as file:
            if not _only_ours(os.fstat(file.fileno())):
                return None
            text = file.read().decode()
    except (OSError, UnicodeDecodeError):
        return None
    bundle = text.partition("\n")[2]
    return bundle if text == _sealed(bundle) else None


def _without_links(path: str, flags: int) -> int:
    """Open neither a link nor a pipe, which would block."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _only_ours(file: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True  # on Windows, the folder belongs to its user
    return file.st_uid == os.geteuid() and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _folder() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(chosen) if chosen else Path(os.path.expanduser("~")) / ".cache") / "cranfield"
