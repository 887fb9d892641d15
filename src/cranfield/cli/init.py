"""`cranfield init`: write a commented cranfield.toml."""

from __future__ import annotations

from pathlib import Path

import click

from cranfield.cli import output


@click.command("init")
@click.argument("collection", required=False)
def command(collection: str | None) -> None:
    """Write a cranfield.toml for COLLECTION: a folder, 'builtin' or 'ir_datasets:ID'.

    Without one, the collection in this folder or in one of its folders is taken, or else the built-in one.

    \b
    Example:
      cranfield init && cranfield test && cranfield accept
    """
    from cranfield.read.settings import SETTINGS_FILE
    from cranfield.read.target import write_text
    from cranfield.systems.collection import open_collection
    from cranfield.systems.project import project_template

    path = Path(SETTINGS_FILE)
    output.refuse_existing(path)
    name = _found() if collection is None else collection
    opened = open_collection(name)
    write_text(path, project_template(name, corpus=opened.corpus is not None, judged=opened.qrels is not None))
    judged = len(opened.judged_queries()) if opened.qrels is not None else 0
    output.say(f"wrote {path}: {name}, {len(opened.queries)} queries, {judged} of them judged")
    own = "" if opened.corpus is not None else f"describe your system in {path}, then "
    judge = "" if opened.qrels is not None else "cranfield judge, then "
    output.say(f"next: {own}{judge}cranfield test; and when you like the result: cranfield accept")


def _found() -> str:
    from cranfield.errors import CranfieldError
    from cranfield.systems.collection import BUILTIN, open_collection

    for folder in (Path(), *sorted(path for path in Path().iterdir() if path.is_dir() and path.name[0] != ".")):
        try:
            open_collection(folder)
        except CranfieldError:
            continue
        return folder.as_posix()
    return BUILTIN
