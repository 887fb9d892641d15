"""Evaluations as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.result import Evaluation


def evaluations_table(evaluations: Sequence[Evaluation]) -> str:
    """One row for each run, one column for each measure; below it the counts and the signature of each run."""
    measures = list(evaluations[0])
    head = ["run", *measures]
    rows = [[result.run, *(result.shown(name) for name in measures)] for result in evaluations]
    lines = aligned([head, *rows])
    for result in evaluations:
        name = f"{result.run}: " if len(evaluations) > 1 else ""
        lines += ["", f"{name}{result.describe_counts()}", result.signature]
    return "\n".join(lines)


def per_query_lines(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Tab-separated rows: run, query, measure, value."""
    for result in evaluations:
        for run, query, measure, value in result.per_query:
            yield f"{run}\t{query}\t{measure}\t{value:.4f}"


def worst_table(result: Evaluation, n: int) -> str:
    """The n worst queries of the first measure, and why."""
    measure = next(iter(result))
    rows = [[poor.query_id, f"{poor.value:.4f}", poor.reason] for poor in result.worst(measure, n)]
    title = f"{result.run}: the {len(rows)} worst queries by {measure}"
    return "\n".join([title, *aligned([["query", measure, "what happened"], *rows], right=1)])


def aligned(rows: Sequence[Sequence[str]], right: int | None = None) -> list[str]:
    """Columns of one width. All but the first, or only the column `right`, are numbers and end at the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def cell(at: int, text: str) -> str:
        to_right = at == right if right is not None else at > 0
        return text.rjust(widths[at]) if to_right else text.ljust(widths[at])

    return ["  ".join(cell(at, text) for at, text in enumerate(row)).rstrip() for row in rows]
