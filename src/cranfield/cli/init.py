"""`cranfield init`: write a commented cranfield.toml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cranfield.cli import options, output
from cranfield.read.stored_texts import CORPUS
from cranfield.systems.collection_files import USUAL_QRELS, USUAL_QUERIES


@click.command("init")
@click.argument("collection", required=False)
def command(collection: str | None) -> None:
    """Write a cranfield.toml for COLLECTION: a folder, 'builtin' or 'ir_datasets:ID'.

    Without COLLECTION, it uses the one in this folder or a subfolder, or else the built-in one. A folder
    needs queries, as QUERY_FILES (a query on each line); documents (CORPUS) and judgments (QRELS_FILES) may be
    missing: with 'cranfield judge' you make judgments yourself.

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
    judged = len(opened.judgments().query_ids) if opened.qrels is not None else 0
    write_text(path, project_template(name, corpus=opened.corpus is not None, judged=opened.qrels is not None))
    output.say(f"wrote {path}: {name}, {len(opened.queries)} queries, {judged} of them judged")
    output.say("")
    for line in _next_lines(path, runs=opened.corpus is not None, judged=opened.qrels is not None):
        output.say(line)


def _next_lines(path: Path, *, runs: bool, judged: bool) -> Iterator[str]:
    """What to do next: commands to be run one after the other, as they are."""
    paint = output.paint()
    if not runs:
        yield f"Describe your system in {path}: its last lines show how. Then:"
    else:
        yield "Next:"
    steps = {} if judged else {"cranfield judge": "judge what the systems return, on a page in your browser"}
    steps |= {
        "cranfield test": "ask the systems every query, and measure the answers",
        "cranfield accept": "make this the result that later tests are compared with",
    }
    width = max(map(len, steps))
    for step, meaning in steps.items():
        yield f"  {paint.hint(step)}{' ' * (width - len(step))}  {paint.dim(f'# {meaning}')}"


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


options.fill_help(command, QUERY_FILES=USUAL_QUERIES, CORPUS=CORPUS, QRELS_FILES=USUAL_QRELS)
