"""Where the chunks of runs are, for judgments of passages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from cranfield.cli import options, output
from cranfield.cli.options import Decorator, collected

BESIDE = ".chunks.jsonl"  # after the name of a run


class ChunkOptions(NamedTuple):
    """The files of chunks that were named, and that of the documents' texts."""

    chunks: tuple[str, ...]
    documents: str | None

    def measured(self, qrels: Any, runs: Sequence[Any], paths: Sequence[str]) -> tuple[Any, list[Any]]:
        """The judgments and the runs as they are; or those of passages, and each run with its chunks.

        paths: the file of each run
        """
        files = self._files(paths) or _found_beside(qrels, paths)
        if not files:
            return qrels, list(runs)
        from cranfield.ranks.chunk_runs import ChunkRun
        from cranfield.ranks.chunks import Chunks
        from cranfield.ranks.passages import PassageJudgments
        from cranfield.read.stored_texts import read_texts

        texts = read_texts(self.documents)
        chunks = {file: Chunks.read(file, texts) for file in dict.fromkeys(files)}
        runs = [ChunkRun(run, chunks[file]) for run, file in zip(runs, files, strict=True)]
        return PassageJudgments.read(qrels, texts), runs

    def _files(self, paths: Sequence[str]) -> list[str]:
        """The file of chunks of each run; none where none was named."""
        if self.documents and not self.chunks and not any(os.path.isfile(path + BESIDE) for path in paths):
            raise click.UsageError(f"--documents needs --chunks, or a file RUN{BESIDE} beside each run.")
        if len(self.chunks) == 1:
            return [*self.chunks] * len(paths)
        if self.chunks and len(self.chunks) != len(paths):
            raise click.UsageError(
                f"{len(self.chunks)} files of chunks for {len(paths)} runs: give --chunks once for all runs, "
                "or once for each run, in their order."
            )
        return [*self.chunks]


def _found_beside(qrels: Any, paths: Sequence[str]) -> list[str]:
    """RUN.chunks.jsonl of each run, where the judgments are of passages; it is said that they are read."""
    if not isinstance(qrels, str) or not os.path.isfile(qrels):
        return []
    from cranfield.ranks.passages import are_passages

    if not are_passages(qrels):
        return []
    files = [path + BESIDE for path in paths]
    lacking = [path for path, file in zip(paths, files, strict=True) if not os.path.isfile(file)]
    if lacking:
        raise click.UsageError(
            f"{qrels} holds judgments of passages, and where the chunks of {lacking[0]} are is not known: "
            f"give --chunks FILE, or write {lacking[0]}{BESIDE}."
        )
    output.say(f"Chunks are read from {', '.join(files)}.", err=True)
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
