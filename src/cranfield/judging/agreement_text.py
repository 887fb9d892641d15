"""Agreement as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cranfield.judging.agreeing import Agreement, PairAgreement
from cranfield.judging.agreement_intervals import Estimate
from cranfield.layout import UNPAINTED, WIDTH, Paint, Style, aligned, count, fitted, wrapped

SHOWN = 10  # queries and pairs of which people read the details


def agreement_text(found: Agreement, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    """What was compared, the statistics of all and of each pair, then grades, tables, queries and documents."""
    lines = wrapped(_headline(found), width=width)
    lines += ["", *_statistics(found, width, paint.strong)]
    lines += ["", *aligned(_grades(found.by_grade), style=paint.strong)]
    for pair in found.pairs[:SHOWN]:
        if pair.documents:
            lines += ["", *_table(found, pair, width, paint.strong)]
    lines += _orders(found, width, paint.strong)
    lines += ["", *_queries(found, width, paint.strong), *_worst(found, paint.strong)]
    lines += ["", *map(paint.dim, _notes(found, width))]
    return "\n".join(lines)


def _headline(found: Agreement) -> str:
    documents, queries = count(found.documents, "document"), count(found.queries, "query", "queries")
    return f"{len(found.assessors)} assessors judged the same {documents} of {queries}."


def _statistics(found: Agreement, width: int, style: Style) -> list[str]:
    shown = found.pairs if len(found.pairs) > 1 else ()
    rows = [["", "all" if shown else " – ".join(found.assessors), *(" – ".join(pair.assessors) for pair in shown)]]
    rows.append(["documents", f"{found.documents:,}", *(f"{pair.documents:,}" for pair in shown)])
    rows += [
        [name, str(each), *(str(pair.statistics[name]) for pair in shown)] for name, each in found.statistics.items()
    ]
    return fitted(rows, width, style)


def _grades(by_grade: Mapping[float, Estimate]) -> list[list[str]]:
    return [["grade", "given by another too"], *([f"{grade:g}", str(each)] for grade, each in by_grade.items())]


def _table(found: Agreement, pair: PairAgreement, width: int, style: Style) -> list[str]:
    one, other = pair.assessors
    head = [one, *(f"{grade:g}" for grade in found.grades)]
    rows = [[f"{grade:g}", *map(str, row)] for grade, row in zip(found.grades, pair.table, strict=True)]
    title = wrapped(f"Grades of {one} (rows) and {other} (columns)", width=width)
    return [*map(style, title), *fitted([head, *rows], width)]


def _orders(found: Agreement, width: int, style: Style) -> list[str]:
    orders = [(pair, pair.order) for pair in found.pairs if pair.order is not None]
    if not orders:
        return []
    rows = [["assessors", "tau", "moves most", "ranks"]]
    for pair, order in orders:
        shown = "–" if order.tau is None else f"{order.tau:.3f}"
        rows.append([" – ".join(pair.assessors), shown, order.moved[0] if order.moved[1] else "–", str(order.moved[1])])
    runs = count(len(orders[0][1].means), "run")
    title = f"The order of {runs} by {orders[0][1].measure}, depending on whose grades are used (Kendall's tau)"
    return ["", *map(style, wrapped(title, width=width)), *fitted(rows, width, left=(0, 2))]


def _queries(found: Agreement, width: int, style: Style) -> list[str]:
    if len(found.by_query) < 2:
        return []
    lowest = sorted(found.by_query.items(), key=lambda each: (each[1].agreement, -each[1].distance, each[0]))[:SHOWN]
    rows = [["query", "documents", "agreement", "grades apart"]]
    rows += [[name, str(each.documents), f"{each.agreement:.3f}", f"{each.distance:.2f}"] for name, each in lowest]
    title = "Queries with the least agreement" if len(found.by_query) > SHOWN else "Query by query"
    return [style(title), *fitted(rows, width)]


def _worst(found: Agreement, style: Style) -> list[str]:
    if not found.worst:
        return []
    rows: list[Sequence[str]] = [["query", "document", "grades"]]
    for item in found.worst:
        grades = ", ".join(f"{name} {grade:g}" for name, grade in item.grades.items())
        rows.append([item.query_id, item.doc_id, grades])
    return ["", style("Furthest apart"), *aligned(rows, left=(0, 1, 2))]


def _notes(found: Agreement, width: int) -> list[str]:
    notes = [
        "A kappa or alpha of 0 is agreement by chance, 1 is perfect. In brackets: 95% intervals, from drawing queries."
    ]
    if len(found.assessors) > 2:
        notes.append("The kappas for all assessors are the means over the pairs.")
    estimates = [*found.statistics.values(), *(each for pair in found.pairs for each in pair.statistics.values())]
    reasons = dict.fromkeys(each.reason for each in estimates if each.reason)
    notes += [
        f"– not defined: {reason}." if "interval" not in reason else f"No intervals: {reason}." for reason in reasons
    ]
    most = max(each.undefined for each in estimates)
    if most:
        notes.append(f"Up to {count(most, 'draw')} had no value and are left out of an interval.")
    return [line for note in notes for line in wrapped(note, hang=2, width=width)]
