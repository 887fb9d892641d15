"""What happens within groups of queries, as text: the worst of a group, noise, and how alike rankings are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cranfield.comparison.within_groups import GroupValue, WithinGroups
from cranfield.show.layout import Paint, fitted, wrapped
from cranfield.words import count, percent

VARYING = 3  # groups that are listed


def groups_lines(found: Sequence[WithinGroups], width: int, paint: Paint) -> Iterator[str]:
    """A row for each run by the first measure, what the columns mean, and the groups that vary most."""
    first = found[0]
    heads = {
        "worst": [f"{its.worst:.4f}" for its in found],
        "all best": [percent(its.perfect) if 0 < its.perfect < 1 else f"{its.perfect:.0%}" for its in found],
        "noise": ["-" if its.noise is None else f"{its.noise:.0%}" for its in found],
        "consistency": ["-" if its.consistency is None else f"{its.consistency:.3f}" for its in found],
        "p-MRR": ["-" if its.p_mrr is None else f"{its.p_mrr:+.3f}" for its in found],
    }
    if all(its.p_mrr is None for its in found):
        del heads["p-MRR"]
    rows = [["within groups", first.measure, *heads]]
    for its, *cells in zip(found, *heads.values(), strict=True):
        rows.append([its.run, f"{its.value:.4f}", *cells])
    yield from fitted(rows, width, paint.strong)
    said = [
        "worst: the mean of the worst member of each group",
        "all best: groups of which each member is perfect",
        "noise: the share of the variance of groups that comes from within them",
        "consistency: the overlap of the first ten documents of two members (RBO)",
    ]
    if "p-MRR" in heads:
        said.append("p-MRR: whether documents fall that a changed query excludes, from -1 to 1")
    yield from map(paint.dim, wrapped("; ".join(said) + ".", width=width))
    for its in found:
        varying = sorted(filter(_length, its.by_group), key=_length, reverse=True)[:VARYING]
        if varying:
            shown = ", ".join(f"{group.name} {_spoken(group)}" for group in varying)
            yield from wrapped(f"{its.run}: groups that vary most: {shown}.", hang=2, width=width)


def _length(group: GroupValue) -> float:
    return 0.0 if group.low is None or group.high is None else group.high - group.low


def _spoken(group: GroupValue) -> str:
    return f"{group.value:.2f} ({group.low:.2f} to {group.high:.2f}, {count(group.queries, 'query', 'queries')})"
