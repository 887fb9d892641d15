"""Comparisons as text at 80 columns, Markdown and LaTeX."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cranfield.comparison.conclusions import UNDECIDED, Comparison, Table
from cranfield.comparison.differences import Difference
from cranfield.comparison.power import USUAL
from cranfield.comparison.thinning import Stability

WIDTH = 80
FEW = 3  # pairs of runs for which details are shown
LISTED = 3  # queries that changed most, for each of them
NAME = 24  # columns for the names of a pair; longer ones have a line of their own


def comparison_text(comparison: Comparison) -> str:
    """The whole comparison as plain text."""
    parts = [
        "\n".join(_means_lines(comparison.table())),
        "\n".join(_wrapped(_basis(comparison))),
        *(_differences_part(comparison, measure.name) for measure in comparison.measures),
        "\n".join(_legend(comparison)),
    ]
    if comparison.pairs <= FEW:
        parts.append("\n".join(_changed_lines(comparison)))
    parts.append("\n".join(_power_lines(comparison)))
    if len(comparison.runs) > 2:
        parts.append("\n".join(_measures_lines(comparison)))
    return "\n\n".join(part for part in parts if part)


def _means_lines(table: Table) -> list[str]:
    """Runs by measures; where that is too wide, one block below the other."""
    heads = [*table.measures, *table.judged]
    columns = [
        [head, *(f"{row.cells[at].value:.4f} {row.cells[at].mark}" for row in table.rows)]
        for at, head in enumerate(table.measures)
    ]
    # Numbers stand under one another, and marks to the right of them.
    columns = [[column[0], *(cell.rstrip() for cell in column[1:])] for column in columns]
    columns += [[head, *(_share(row.judged[at]) for row in table.rows)] for at, head in enumerate(table.judged)]
    widths = [max(map(len, column)) for column in columns]
    names = [_short(name, 30) for name in ("run", *(row.run for row in table.rows))]
    left = max(map(len, names))
    lines: list[str] = []
    at = 0
    while at < len(heads):
        end = at + 1
        while end < len(heads) and left + sum(2 + width for width in widths[at : end + 1]) <= WIDTH:
            end += 1
        lines += [""] * bool(lines)
        for line, name in enumerate(names):
            cells = "".join(f"  {columns[c][line]:<{widths[c]}}" for c in range(at, end))
            lines.append(f"{name:<{left}}{cells}".rstrip())
        at = end
    return [*lines, *_wrapped(table.notes[0])]


def _basis(comparison: Comparison) -> str:
    left = f"; {comparison.left_out} that only some of the runs have are left out" if comparison.left_out else ""
    return f"{comparison.queries} queries, matched by id{left}. {_sentence(comparison.described())}."


def _differences_part(comparison: Comparison, measure: str) -> str:
    level = f"{100 * (1 - comparison.alpha):g}%"
    head = f"{measure:<{NAME}}{'difference':>11}{level + ' interval':>18}{'p':>8}{'p corr.':>8}{'effect':>8}"
    lines = [head.rstrip()]
    for each in comparison.of(measure):
        name = f"{_marks(each):<3}{each.run} - {each.baseline}"
        if len(name) > NAME:
            lines.append(name[:WIDTH])
            name = ""
        lines.append(
            f"{name:<{NAME}}{each.difference:>+11.4f}{each.low:>+10.4f}{each.high:>+8.4f}{_p(each.p):>8}"
            f"{_p(each.adjusted):>8}{_effect(each.effect):>8}"
        )
        judged = [comparison.judged_of(measure, run) for run in (each.run, each.baseline)]
        seen = f"; judged {_share(judged[0])} and {_share(judged[1])}" if judged != [None, None] else ""
        lines.append(f"   queries: {each.better} better, {each.same} the same, {each.worse} worse{seen}")
        if each.reach and each.could_reverse and comparison.pairs <= FEW:
            wider = "" if each.reach.exact else "~"
            lines += _wrapped(f"{UNDECIDED} ({each.reach.low:+.4f} to {each.reach.high:+.4f}{wider})", "   ")
    return "\n".join(lines)


def _marks(difference: Difference) -> str:
    sign = {"significantly better": "▲", "significantly worse": "▼"}.get(difference.verdict, " ")
    return f"{sign}{'?' if difference.could_reverse else ' '}"


def _legend(comparison: Comparison) -> Iterator[str]:
    interval = "of that difference alone, not corrected"
    if comparison.test == "tukey":
        interval = "of all differences of a measure together"
    yield from _wrapped(
        f"▲ ▼ significantly better, worse: p corr. is at most {comparison.alpha:g}. The interval is {interval}. "
        "Effect: the difference in standard deviations of the queries' differences (Hedges' g)."
    )
    known = [each for each in comparison if each.reach is not None]
    undecided = [each for each in known if each.could_reverse]
    if undecided:
        narrower = any(each.reach and not each.reach.exact for each in undecided)
        yield from _wrapped(f"? {UNDECIDED}.{' ~ the true bounds may be narrower.' if narrower else ''}")
    if len(known) < len(comparison.differences):
        yield from _wrapped("Whether unjudged documents could reverse a difference was not looked into for all.")


def _changed_lines(comparison: Comparison) -> Iterator[str]:
    yield "Queries that changed most"
    for each in comparison:
        shown = [f"{_short(change.query_id, 40)} {change.difference:+.4f}" for change in each.changed[:LISTED]]
        yield from _wrapped(f"{each.measure}, {each.run} - {each.baseline}: {', '.join(shown) or 'none'}", "  ")


def _power_lines(comparison: Comparison) -> Iterator[str]:
    yield f"What {comparison.queries} queries can show (power {USUAL:g}, the widest pair of each measure)"
    for measure in comparison.measures:
        widest = max(comparison.of(measure.name), key=lambda each: each.spread)
        if not widest.spread:
            yield from _wrapped(f"{measure}: the runs do not differ, so nothing is known of the noise", "  ")
            continue
        sizes = [f"{row.difference:g} takes {row.queries[1]:,}" for row in comparison.query_set_sizes(measure.name)]
        yield from _wrapped(
            f"{measure}: a true difference of {widest.detectable:.4f} or more, corrected for this family. Without a "
            f"correction, a difference of {', '.join(sizes)} queries.",
            "  ",
        )


def _measures_lines(comparison: Comparison) -> Iterator[str]:
    yield "What the measures can tell apart"
    for name, share in comparison.discriminative_power().items():
        yield f"  {name}: {share:.0%} of {comparison.pairs} pairs"
    agreement = comparison.agreement()
    if agreement:
        yield "How much they agree (Kendall's tau over runs, over queries)"
    for each in agreement:
        yield f"  {each.one} and {each.other}: {_share(each.runs, 2)}, {_share(each.queries, 2)}"
    yield "How much runs agree on which queries are hard (Kendall's tau over queries)"
    for pair in comparison.run_agreement():
        yield from _wrapped(f"{pair.one} and {pair.other}: {_share(pair.queries, 2)} by {pair.measure}", "  ")


def comparison_markdown(comparison: Comparison) -> str:
    """The table of runs and the table of differences, in Markdown."""
    table = comparison.table()
    rows = [
        [
            _cell(row.run),
            *(
                f"{'**' * cell.best}{cell.value:.4f}{'**' * cell.best}{f' {cell.mark}' if cell.mark else ''}"
                for cell in row.cells
            ),
            *map(_share, row.judged),
        ]
        for row in table.rows
    ]
    lines = markdown_table(["run", *table.measures, *table.judged], rows)
    level = f"{100 * (1 - comparison.alpha):g}% interval"
    heads = ["measure", "difference", "", level, "p", "p corrected", "effect", "better/same/worse", "conclusion"]
    details = [
        [
            each.measure,
            _cell(f"{each.run} - {each.baseline}"),
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} to {each.high:+.4f}",
            _p(each.p),
            _p(each.adjusted),
            _effect(each.effect),
            f"{each.better}/{each.same}/{each.worse}",
            each.verdict + (f"; {UNDECIDED}" if each.could_reverse else ""),
        ]
        for each in comparison
    ]
    notes = [f"{_sentence(table.notes[0])}.", _basis(comparison)]
    return "\n".join([*lines, "", *notes, "", *markdown_table(heads, details)])


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; all columns but the first hold numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def comparison_latex(comparison: Comparison) -> str:
    """The table of runs for LaTeX with booktabs; the best of each measure is bold."""
    table = comparison.table()
    signs = {"▲": r"\blacktriangle", "▼": r"\blacktriangledown"}
    lines = [
        r"% needs \usepackage{booktabs, amssymb}",
        rf"\begin{{tabular}}{{l{'l' * len(table.measures)}{'r' * len(table.judged)}}}",
        r"\toprule",
        " & ".join(map(latex, ["run", *table.measures, *table.judged])) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [latex(row.run)]
        for cell in row.cells:
            mark = signs.get(cell.mark) or (rf"\mathrm{{{cell.mark}}}" if cell.mark else "")
            value = rf"\textbf{{{cell.value:.4f}}}" if cell.best else f"{cell.value:.4f}"
            cells.append(value + (f"$^{{{mark}}}$" if mark else ""))
        lines.append(" & ".join([*cells, *map(_share, row.judged)]) + r" \\")
    notes = [latex(table.notes[0]), latex(_basis(comparison))]
    for sign, command in signs.items():
        notes = [note.replace(sign, f"${command}$") for note in notes]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {note}" for note in notes)])


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "×": r"$\times$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def latex(text: str) -> str:
    """Text with LaTeX's own signs escaped."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def stability_text(found: Stability) -> str:
    """How measures move as judgments are removed, as plain text."""
    runs = f"{len(found.runs)} run{'s' if len(found.runs) > 1 else ''}"
    lines = _wrapped(
        f"{found.judgments:,} judgments of {found.queries:,} queries, {runs}. Each share is removed at random "
        f"{found.repeats} times (seed {found.seed})."
    )
    width = max(len("measure"), *(len(name) for name in found.measures))
    lines += ["", f"{'measure':<{width}}{'removed':>9}{'mean':>9}{'spread':>9}{'change':>9}{'tau':>8}{'lowest':>8}"]
    before = ""
    for row in found.rows:
        if row.measure != before:
            lines.append(f"{row.measure:<{width}}{'0%':>9}{row.complete:>9.4f}")
        before = row.measure
        change = f"{(row.mean - row.complete) / row.complete:+.1%}" if row.complete else "-"
        lines.append(
            f"{'':<{width}}{row.removed:>9.0%}{row.mean:>9.4f}{row.spread:>9.4f}{change:>9}"
            f"{_share(row.tau, 3):>8}{_share(row.lowest, 3):>8}"
        )
    lines += ["", *_wrapped("mean: over the runs and the repeats; spread: standard deviation over the repeats.")]
    if len(found.runs) > 1:
        lines += _wrapped(
            "tau: Kendall's correlation of the order of the runs with the order by all judgments, in the mean over the "
            "repeats, and the lowest. Near 1 the order of the runs is safe."
        )
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> list[str]:
    more = indent + "  " * bool(indent)
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=more, break_on_hyphens=False)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _share(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _effect(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"
