"""`cranfield judge`: a page on which people judge what waits."""

from __future__ import annotations

from pathlib import Path

import click

from cranfield.cli import options, output


@click.command("judge")
@click.argument("store")
@click.option("--me", "assessor", metavar="NAME", help="Your name, under which grades are kept [that on this machine].")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; others need a token.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port [8765, or a free one].")
@click.option("--known-as", "names", multiple=True, metavar="HOST", help="A further name of this machine.")
@click.option("--pictures", type=options.FILE, metavar="FOLDER", help="Where images of documents are [beside STORE].")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(
    store: str,
    assessor: str | None,
    host: str,
    port: int | None,
    names: tuple[str, ...],
    pictures: str | None,
    no_browser: bool,
) -> None:
    """Open a page on which people judge the documents that wait in STORE.

    Every grade is on disk before the page moves on. It contacts no other machine; Ctrl-C ends it. Other
    people can judge with --host 0.0.0.0 and the address it prints, which has a token in it. STORE is a file or the URL
    of a PostgreSQL database; `cranfield pool` fills it.

    \b
    Example:
      cranfield judge judgments.db
    """
    from cranfield.judging.page.serving import Listening, has_screen, serve
    from cranfield.judging.store import open_store

    def started(listening: Listening) -> None:
        output.say(f"Judging {opened.name}: {left:,} documents left. Ctrl-C ends it.")
        for address in listening.addresses:
            output.say(f"  {address}")
        if has_screen() and not no_browser:
            import webbrowser

            webbrowser.open(listening.addresses[0])

    with open_store(store) as opened:
        before = opened.progress()
        left = before.left
        folder = Path(pictures) if pictures else None
        who = assessor if assessor is not None else _user_name() if host == "127.0.0.1" else ""
        serve(opened, who, host=host, port=port, names=names, pictures=folder, on_start=started)
        after = opened.progress()
    output.say(
        f"{store}: {after.documents - after.left:,} of {after.documents:,} documents judged, {after.left:,} left."
    )


def _user_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
