"""The page around its content: template, scripts, styles, icon, and the policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from cranfield.errors import OutputError, need
from cranfield.io.target import make_folder, write_text
from cranfield.judging.page import STATIC
from cranfield.look import DARK, LIGHT, coloured, css_tokens
from cranfield.report.encoding import DataWriter
from cranfield.report.sentences import NAME, NARROW
from cranfield.words import shortened


class Page(NamedTuple):
    """A kind of page: its template, and the parts of its script and of its style sheet, in this order."""

    template: str
    program: tuple[str, ...]
    styles: tuple[str, ...]


REPORT = Page(
    "page.html",
    ("elements", "theme", "state", "names", "charts", "two", "query", "groups", "queries", "board", "map", "start"),
    ("page", "card", "order", "tables", "query", "charts", "narrow", "print"),
)
HISTORY = Page(
    "history.html",
    ("elements", "theme", "timeline", "history"),
    ("page", "card", "tables", "narrow", "print", "history"),
)
DIFF = Page(
    "diff.html",
    ("elements", "theme", "diff"),
    ("page", "card", "tables", "query", "narrow", "print", "diff"),
)


def rendered(content: Mapping[str, Any], data: DataWriter, charts: bool, page: Page = REPORT) -> Iterator[str]:
    """The page in pieces: its text escaped by the template, its data as JSON that is safe inside HTML."""
    jinja = need("jinja2", extra="report", purpose="a report")
    folder = Path(__file__).parent
    environment = jinja.Environment(
        autoescape=True, loader=jinja.FileSystemLoader(folder), trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["short"] = lambda name, most=NAME: shortened(name, most)
    environment.globals["NARROW"] = NARROW
    style = "".join(
        [
            css_tokens(),
            theme_colours(),
            paper_colours(),
            chart_colours(),
            *(_part(folder / f"{name}.css") for name in page.styles),
        ]
    )
    program = words_program() + "".join(_part(folder / f"{name}.js") for name in page.program)
    scripts = [f'(async () => {{\n"use strict";\n{program}}})();', *([library()] if charts else [])]
    template = environment.get_template(page.template)
    yield from template.generate(
        **content,
        security=content_policy(scripts, [style]),
        style=style,
        icon=quote(icon()),
        program=scripts[0],
        library=scripts[1] if charts else "",
        data=data.finished(),
    )


def words_program() -> str:
    """How the words of a query are marked in a text: a module of the judging page, as a part of this page's script."""
    module = _part(STATIC / "words.js")
    return re.sub(r"^import .*$|^export ", "", module, flags=re.MULTILINE)


def _part(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as they come with vl-convert.

    Bundling them takes seconds and 130 MB, so the result is cached, by version.
    The script goes into every page, so the cache is only used if it is intact and ours: see `_kept`.
    """
    licences = _part(Path(__file__).with_name("libraries.txt"))  # required in every copy
    return f"/*\n{licences}*/\n{_bundle()}"


def _bundle() -> str:
    converter = need("vl_convert", extra="report", purpose="charts in a report")
    kept = _folder() / f"charts-{converter.__version__}-{converter.get_vega_version()}.js"
    known = _kept(kept)
    if known is not None:
        return known
    bundle: str = converter.javascript_bundle().replace("</script", "<\\/script")
    with suppress(OutputError, OSError):  # no cache: the next page takes as long as this one
        make_folder(kept.parent)
        if kept.is_symlink():  # a link may lead to files that are not ours
            kept.unlink()
        write_text(kept, _sealed(bundle), force=True)
        kept.chmod(0o600)
    return bundle


def _sealed(bundle: str) -> str:
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


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A Content-Security-Policy that names the page's own scripts and styles by their hashes.

    >>> content_policy(["run()"], []).split("; ")[1:3]
    ["script-src 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='", "style-src 'none'"]
    """
    pictures = "img-src data: blob:"  # the icon, and charts
    own = f"script-src {_hashes(scripts)}; style-src {_hashes(styles)}"
    return f"default-src 'none'; {own}; {pictures}; base-uri 'none'; form-action 'none'"


def _hashes(texts: Iterable[str]) -> str:
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts]
    return " ".join(hashes) or "'none'"


def chart_colours() -> str:
    """A style for each colour that a chart may have, so that it follows the page into the dark."""
    by_colour = {colour: name for name, colour in LIGHT.items()}
    return "".join(
        f'.drawing [{part}="{colour}"] {{ {part}: var(--{name}); }}\n'
        for colour, name in by_colour.items()
        for part in ("fill", "stroke")
    )


def theme_colours() -> str:
    """The colours of the theme that the reader has chosen, whatever that of the system is."""
    return "".join(
        f':root[data-theme="{name}"] {{ color-scheme: {name}; {_tokens(colours)} }}\n'
        for name, colours in (("light", LIGHT), ("dark", DARK))
    )


def paper_colours() -> str:
    return f"@media print {{ :root, :root[data-theme] {{ color-scheme: light; {_tokens(LIGHT)} }} }}\n"


def _tokens(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def icon() -> str:
    bars = ((3, 26, "accent"), (12, 18, "run-0"), (21, 11, "run-0"))
    drawn = "".join(
        f'<rect x="3" y="{top}" width="{width}" height="7" rx="3.5" fill="{name}"/>' for top, width, name in bars
    )
    return coloured(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{drawn}</svg>')
