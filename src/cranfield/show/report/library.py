"""The library that draws the charts of a page, as one text of JavaScript."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from cranfield.errors import OutputError, need
from cranfield.write.target import make_folder, write_text


def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as they come with vl-convert.

    Putting them together takes seconds and 130 MB, so the result is kept where caches belong, under the version.
    """
    licences = Path(__file__).with_name("libraries.txt").read_text(encoding="utf-8")  # which must go with every copy
    return f"/*\n{licences}*/\n{_bundle()}"


def _bundle() -> str:
    converter = need("vl_convert", extra="report", purpose="charts in a report")
    kept = _folder() / f"charts-{converter.__version__}-{converter.get_vega_version()}.js"
    try:
        return kept.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    bundle: str = converter.javascript_bundle().replace("</script", "<\\/script")
    with suppress(OutputError):  # no place to keep it: the next page takes as long as this one
        make_folder(kept.parent)
        write_text(kept, bundle, force=True)
    return bundle


def _folder() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return (Path(chosen) if chosen else Path(os.path.expanduser("~")) / ".cache") / "cranfield"
