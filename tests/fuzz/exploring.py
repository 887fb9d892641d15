"""All kinds of input, and the processes that try them."""

import multiprocessing
import random
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import NamedTuple

import numpy as np

from tests.fuzz import arguments, memory, rooms, texts

OUTCOMES = (texts.COMPARED, texts.LEFT, texts.REFUSED)


class Kind(NamedTuple):
    """A function that draws an input and compares the answers, and its share of all inputs, in percent."""

    draw: Callable[[random.Random], str]
    share: float


KINDS = {
    "blocks": Kind(texts.blocks, 35),
    "files": Kind(texts.files, 10),
    "first-documents": Kind(texts.first_documents, 10),
    "whole-rankings": Kind(texts.whole_rankings, 10),
    "counts": Kind(arguments.counts, 1),
    "judgments": Kind(texts.judged_lines, 7),
    "shared-out": Kind(texts.shared_out, 7),
    "dicts": Kind(memory.dicts, 12),
    "hostile-dicts": Kind(memory.hostile_dicts, 5),
    "columns": Kind(memory.columns, 8),
    "running-sums": Kind(arguments.running_sums, 2),
    "permutations": Kind(arguments.permutations, 3),
    "fractions": Kind(arguments.fractions, 2),
    "wrong-arguments": Kind(arguments.wrong_arguments, 8),
    "quotes": Kind(rooms.quotes, 4),
    "chunks": Kind(rooms.chunks, 4),
    "replies": Kind(rooms.replies, 4),
    "stores": Kind(rooms.stores, 1),
    "pages": Kind(rooms.pages, 0.1),
}


def one(name: str, seed: int, number: int, kinds: dict[str, Kind] = KINDS) -> str:
    """Try one input and return its outcome."""
    return kinds[name].draw(random.Random(f"{seed} {name} {number}"))


def explore(inputs: int, seed: int, jobs: int, kinds: dict[str, Kind] = KINDS, again: str = "{}") -> bool:
    """Try many inputs in several processes and return whether all passed. `again` is the command that repeats one."""
    shares = sum(kind.share for kind in kinds.values())
    plan = {name: max(1, int(inputs * kind.share / shares)) for name, kind in kinds.items()}
    names = list(plan)
    started = time.monotonic()
    # Shared memory outlives a process that a sanitizer ends: its current input, and how many it has tried.
    context = multiprocessing.get_context("fork")
    at = [context.RawArray("q", [0, -1]) for _ in range(jobs)]
    counts = [context.RawArray("q", len(names) * len(OUTCOMES)) for _ in range(jobs)]

    def work(job: int) -> None:
        for place, name in enumerate(names):
            for number in range(job, plan[name], jobs):
                at[job][:] = [place, number]
                outcome = one(name, seed, number, kinds)
                counts[job][place * len(OUTCOMES) + OUTCOMES.index(outcome)] += 1

    team = [context.Process(target=work, args=(job,)) for job in range(jobs)]
    failed = first_failure(team)
    if failed is not None:
        place, number = at[failed]
        print("failed; to see it again:", again.format(f"--seed {seed} --kind {names[place]} --only {number}"))
        return False
    total = np.sum(counts, axis=0).reshape(len(names), len(OUTCOMES))
    print(f"seed {seed}, {total.sum()} inputs, {time.monotonic() - started:.0f} seconds")
    print(f"{'':16}" + "".join(f"{outcome:>18}" for outcome in OUTCOMES))
    for name, row in zip(names, total, strict=True):
        print(f"{name:16}" + "".join(f"{number:18}" for number in row))
    hardly = [name for name, row in zip(names, total, strict=True) if row.sum() >= 1000 and row[0] < row.sum() / 10]
    if hardly:
        print(f"hardly anything was compared: {', '.join(hardly)}")
    return not hardly


def first_failure(team: list[multiprocessing.Process]) -> int | None:
    """Start processes and wait for all of them; if one fails, end the others."""
    for process in team:
        process.start()
    while True:
        codes = [process.exitcode for process in team]
        if any(codes):
            for process in team:
                process.terminate()
            return next(job for job, code in enumerate(codes) if code)
        if None not in codes:
            return None
        wait([process.sentinel for process, code in zip(team, codes, strict=True) if code is None])
