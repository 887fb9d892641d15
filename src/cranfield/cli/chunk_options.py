"""Where the chunks of runs are, for judgments of passages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import click

from cranfield.cli import options, output
from cranfield.cli.options import Decorator, collected

BESIDE = ".chunks.jsonl"  # after the name of a run


class ChunkOptions(NamedTuple):
    """The files given with --chunks and --documents."""

    chunks: tuple[str, ...]
    documents: str | None

    def measured(self, qrels: Any, runs: Sequence[Any], paths: Sequence[str]) -> tuple[Any, list[Any]]:
        """The judgments and runs unchanged; or, for judgments of passages, each run with its chunks.

        paths: the file of each run; a saved evaluation stays as it is
        """
        if not self.chunks and not _are_passages(qrels):
            if self.documents:
                raise click.UsageError(f"--documents needs --chunks, or judgments of passages and RUN{BESIDE}.")
            return qrels, list(runs)
        if qrels is None:
            raise click.UsageError("--chunks needs judgments and runs.")
        from cranfield.evaluation.saving import is_saved
        from cranfield.ranks.chunk_runs import ChunkRun
        from cranfield.ranks.chunks import Chunks
        from cranfield.ranks.passages import PassageJudgments
        from cranfield.read.stored_texts import read_texts

        unsaved = [not is_saved(path) for path in paths]
        files = self._files(paths) if self.chunks else _found_beside(qrels, paths, unsaved)
        texts = read_texts(self.documents)
        chunks = {file: Chunks.read(file, texts) for file in dict.fromkeys(compress(files, unsaved))}
        measured = [
            ChunkRun(run, chunks[file]) if new else run for run, file, new in zip(runs, files, unsaved, strict=True)
        ]
        return PassageJudgments.read(qrels, texts), measured

    def _files(self, paths: Sequence[str]) -> list[str]:
        """The chunk file of each run, as given with --chunks."""
        if len(self.chunks) == 1:
            return [*self.chunks] * len(paths)
        if len(self.chunks) != len(paths):
            raise click.UsageError(
                f"{len(self.chunks)} files of chunks for {len(paths)} runs: give --chunks once for all runs, "
                f"or once for each run, in this order: {', '.join(paths)}."
            )
        return [*self.chunks]


def _are_passages(qrels: Any) -> bool:
    """Whether this is a file of judged passages, by its columns."""
    if not isinstance(qrels, str) or not os.path.isfile(qrels):
        return False
    from cranfield.read.first_lines import names_passages

    return names_passages(qrels)


def _found_beside(qrels: str, paths: Sequence[str], unsaved: Sequence[bool]) -> list[str]:
    """RUN.chunks.jsonl of each run; prints which files are read."""
    files = [path + BESIDE for path in paths]
    lacking = [path for path in compress(paths, unsaved) if not os.path.isfile(path + BESIDE)]
    if lacking:
        raise click.UsageError(
            f"{qrels} contains judgments of passages, but there are no chunks for {lacking[0]}: "
            f"give --chunks FILE, or write {lacking[0]}{BESIDE}."
        )
    output.say(f"Reading chunks from {', '.join(compress(files, unsaved))}.", err=True)
    return files


def chunk_options() -> Decorator:
    """A command's function gets these as `chunked: ChunkOptions`."""
    return collected(
        "chunked",
        ChunkOptions,
        click.option(
            "--chunks",
            type=options.FILE,
            multiple=True,
            metavar="FILE",
            help=f"Measure chunks by judged passages: a file of chunk, document, start and end, for all runs; or once "
            f"for each run, in their order [RUN{BESIDE}].",
        ),
        click.option(
            "--documents",
            type=options.FILE,
            metavar="FILE",
            help="Texts of documents, in which quotes and chunks are found: JSON lines with _id and text.",
        ),
    )
