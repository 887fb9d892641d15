"""Why another tool's numbers differ, as text and as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cranfield.ranks.policy import Policy, settings_of
from cranfield.show.layout import UNPAINTED, WIDTH, Paint, aligned, wrapped
from cranfield.words import count, joined

if TYPE_CHECKING:
    from cranfield.dialects.like import LikeEvaluation
    from cranfield.dialects.why import AffectedQuery, Compared, Reason, Why

LISTED = 3  # explanations after the first
MOST_DIGITS = 7  # of a number that is shown
ELSEWHERE = (
    "What else could differ: another version of the judgments, another set of queries (a split, a subset), ids that "
    "are changed on the way, a run that was cut off or deduplicated before, or another run."
)


def why_text(found: Why, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    return "\n".join(_lines(found, width, paint))


def _lines(found: Why, width: int, paint: Paint) -> Iterator[str]:
    digits = {row.measure: _digits(row) for row in found.compared}
    yield from aligned([[found.run, "ours", "theirs"], *compared_rows(found)], style=paint.strong)
    for note in found.notes:
        yield from map(paint.dim, wrapped(note, hang=2, width=width))
    yield ""
    if found.agrees:
        yield "The numbers are the same, to the last digit given."
        return
    if not found.reasons:
        ending = ". The nearest:" if found.nearest else ", and none comes nearer than ours."
        yield from wrapped(f"None of {found.tried:,} explanations fits{ending}", width=width)
        for reason in found.nearest:
            yield from _short(reason, digits, width)
        yield ""
        yield from wrapped(ELSEWHERE, width=width)
        return
    first, *others = found.reasons
    fit = count(found.fitting, "explanation")
    what = "The only explanation" if not others else f"The likeliest of {fit}"
    yield from wrapped(f"{what} that {'fits' if not others else 'fit'} ({found.tried:,} tried):", width=width)
    yield from _long(first, digits, width, paint)
    listed = [reason for reason in others if not _is_rounding(reason, first)][:LISTED]
    if listed:
        yield ""
        yield "Also possible:"
        for reason in listed:
            yield from _short(reason, digits, width)
        if found.fitting > len(listed) + 1:
            yield f"- and {found.fitting - len(listed) - 1} more"
    elif others:
        yield ""
        yield from wrapped("Rounding the values of queries as well would not change what is printed.", width=width)
    if not found.decided:
        yield ""
        yield from map(paint.hint, wrapped(_asked(found, several=bool(listed)), width=width))


def compared_rows(found: Why) -> list[list[str]]:
    """Each measure, our number, and theirs with the decimals that it was given with; of values by query, the mean."""
    return [
        [row.measure, f"{row.ours:.{_digits(row)}f}", f"{row.theirs:.{_digits(row, least=4 if row.by_query else 0)}f}"]
        for row in found.compared
    ]


def _digits(row: Compared, least: int = 4) -> int:
    return min(max(row.decimals, least), MOST_DIGITS)


def _is_rounding(reason: Reason, first: Reason) -> bool:
    """Whether an explanation only adds to another one that values are rounded."""
    more = set(reason.says) - set(first.says)
    return set(first.says) <= set(reason.says) and all("rounded to" in sentence for sentence in more)


def _asked(found: Why, *, several: bool) -> str:
    """What would decide."""
    does = "tell them apart" if several else "confirm it"
    alone = "One number does not decide. " if len(found.compared) == 1 else ""
    if not found.ask:
        return f"{alone}Their values by query, with more digits, would {does}."
    return f"{alone}Their {found.ask} would {does}, and so would their values by query."


def _long(reason: Reason, digits: Mapping[str, int], width: int, paint: Paint) -> Iterator[str]:
    for sentence in reason.says:
        yield from map(paint.strong, wrapped(sentence, "  ", hang=2, width=width))
    for other in reason.others[:LISTED]:
        text = " ".join(other)
        yield from wrapped(f"or, the same on these queries: {text}", "    ", hang=4, width=width)
    if reason.tools:
        yield from wrapped(listed_tools(reason), "  default of   ", width=width)
    yield from wrapped(here(reason, list(digits)), "  here         ", width=width, break_words=False)
    if reason.queries:
        yield "  changes most"
        rows = [["query", "measure", "ours", "theirs"], *(_row(row, digits[row.measure]) for row in reason.queries)]
        yield from (f"    {line}" for line in aligned(rows, left=(0, 1), style=paint.dim))


def listed_tools(reason: Reason) -> str:
    return joined(reason.tools, "and") if reason.tools else ""


def here(reason: Reason, given: Sequence[str]) -> str:
    """What prints the other number here; given: the measures as they were named."""
    if reason.beyond and reason.like:
        return shlex.join([*_measured(given), "--like", reason.like])
    command = shlex.join([*_measured(reason.measures), *policy_options(reason.policy)])
    return f"{command}; no policy has this: {' '.join(reason.beyond)}" if reason.beyond else command


def _measured(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-m", name)]


def policy_options(policy: Policy) -> list[str]:
    """The options of a policy that are not as usual."""
    words: list[str] = []
    for name, known in settings_of().items():
        value = getattr(policy, name)
        if value != known.default:
            option = f"--{name.replace('_', '-')}"
            words += [option] if value is True else [option, str(value)]
    return words


def _short(reason: Reason, digits: Mapping[str, int], width: int) -> Iterator[str]:
    values = zip(digits.items(), reason.values, strict=True)
    numbers = ", ".join(f"{measure} {value:.{shown}f}" for (measure, shown), value in values)
    tools = f" Default of {listed_tools(reason)}." if reason.tools else ""
    yield from wrapped(f"{numbers}: {' '.join(reason.says)}{tools}", "- ", hang=2, width=width)


def _row(changed: AffectedQuery, digits: int) -> list[str]:
    values = (changed.ours, changed.theirs)
    shown = ("left out" if value is None else f"{value:.{digits}f}" for value in values)
    return [changed.query_id, changed.measure, *shown]


def why_json(found: Why) -> str:
    content = {
        "run": found.run,
        "compared": [row._asdict() for row in found.compared],
        "agrees": found.agrees,
        "tried": found.tried,
        "fitting": found.fitting,
        "reasons": list(map(_reason_json, found.reasons)),
        "nearest": list(map(_reason_json, found.nearest)),
        "decided": found.decided,
        "ask": found.ask,
        "notes": list(found.notes),
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _reason_json(reason: Reason) -> dict[str, Any]:
    return {
        "says": list(reason.says),
        "others": [list(other) for other in reason.others],
        "tools": list(reason.tools),
        "measures": list(reason.measures),
        "policy": str(reason.policy),
        "beyond": list(reason.beyond),
        "like": reason.like,
        "values": list(reason.values),
        "share": reason.share,
        "queries": [row._asdict() for row in reason.queries],
    }


def like_text(found: LikeEvaluation, width: int = WIDTH, paint: Paint = UNPAINTED, *, per_query: bool = False) -> str:
    """The numbers of another tool, under its names, with our measure beside each."""
    head = f"{found.run}, as {found.dialect.name} {found.dialect.version} counts it"
    rows = [["name", "value", "our measure"]]
    rows += [[each.name, f"{each.mean:.4f}", each.measure.canonical] for each in found.found]
    lines = [*map(paint.strong, wrapped(head, hang=2, width=width)), *aligned(rows, left=(0, 2), style=paint.dim)]
    if per_query:
        queries = dict.fromkeys(query for each in found.found for query in each.by_query)
        table = [
            ["query", *found],
            *([query, *(_cell(each.by_query.get(query)) for each in found.found)] for query in queries),
        ]
        lines += ["", *aligned(table, style=paint.dim)]
    lines.append("")
    for text in _same_here(found):
        lines += wrapped(text, width=width, hang=2)
    if found.dialect.note:
        lines += ["", *map(paint.dim, wrapped(found.dialect.note, width=width))]
    return "\n".join(lines)


def _same_here(found: LikeEvaluation) -> Iterator[str]:
    """Whether our measures have the same values, and under which policy."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in found.found:
        options = shlex.join(policy_options(each.conventions.policy))
        alike.setdefault((options, each.conventions.told), []).append(each.name)
    for (options, beyond), names in alike.items():
        head = f"{joined(names, 'and')}: " if len(alike) > 1 else ""
        if beyond:
            yield f"{head}{'No' if not head else 'no'} policy has this: {' '.join(beyond)}"
        else:
            with_options = f" with {options}" if options else ""
            yield f"{head}{'The' if not head else 'the'} same here{with_options}."


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def like_json(results: Sequence[LikeEvaluation]) -> str:
    dialect = results[0].dialect
    runs = [
        {
            "run": result.run,
            "values": [
                {
                    "name": each.name,
                    "measure": each.measure.canonical,
                    "policy": str(each.conventions.policy),
                    "beyond": list(each.conventions.told),
                    "mean": each.mean,
                    "by_query": each.by_query,
                }
                for each in result.found
            ],
        }
        for result in results
    ]
    content = {"tool": dialect.name, "version": dialect.version, "note": dialect.note, "runs": runs}
    return json.dumps(content, indent=2, ensure_ascii=False)
