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

    Putting them together takes seconds and 130 MB, so the result is kept where caches belong, under the version.
    A script goes into every page, so what is kept is only taken if it is whole and ours: see `_kept`.
    """
    licences = Path(__file__).with_name("libraries.txt").read_text(encoding="utf-8")  # which must go with every copy
    return f"/*\n{licences}*/\n{_bundle()}"


def _bundle() -> str:
    converter = need("vl_convert", extra="report", purpose="charts in a report")
    kept = _folder() / f"charts-{converter.__version__}-{converter.get_vega_version()}.js"
    found = _kept(kept)
    if found is not None:
        return found
    bundle: str = converter.javascript_bundle().replace("</script", "<\\/script")
    with suppress(OutputError, OSError):  # no place to keep it: the next page takes as long as this one
        make_folder(kept.parent)
        if kept.is_symlink():  # whatever it leads to is not ours to write
            kept.unlink()
        write_text(kept, _sealed(bundle), force=True)
        kept.chmod(0o600)
    return bundle


def _sealed(bundle: str) -> str:
    """A text under its own hash."""
    return f"// sha256 {hashlib.sha256(bundle.encode()).hexdigest()}\n{bundle}"


def _kept(path: Path) -> str | None:
    """What is kept, or nothing if it was cut off or altered, or if anybody else could have written it.

    The hash is beside what it vouches for, so it shows accidents, and those who do not know of it. Where several
    people share a folder for caches, what counts is whose file it is. Nothing here helps against those who may write
    as we may: they need no cache to do harm.
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
    """Open neither a link nor a pipe, which would have to be waited for."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _only_ours(file: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True  # on Windows, the folder belongs to its user
    return file.st_uid == os.geteuid() and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _folder() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(chosen) if chosen else Path(os.path.expanduser("~")) / ".cache") / "cranfield"
