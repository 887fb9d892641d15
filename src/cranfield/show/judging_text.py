"""What people read about judging in a terminal: agreement, pools, decisions, and what models judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cranfield.show.layout import UNPAINTED, WIDTH, Paint, Style, aligned, fitted, wrapped
from cranfield.words import count, cut, named_query, visible

if TYPE_CHECKING:
    from cranfield.judging.agree import Agreement, PairAgreement
    from cranfield.judging.decide import Look
    from cranfield.judging.models import ModelReport
    from cranfield.judging.models.ask_model import MissingGrade
    from cranfield.judging.models.ledger import Costs
    from cranfield.judging.models.work import AskingEstimate
    from cranfield.judging.pool import Pooled
    from cranfield.judging.pool.planning import SamplePlan
    from cranfield.judging.store import WrittenSheet

_TEXT = 40  # letters of a query in a table
_REASON = 200  # letters of what a model says about a document
DETAILED = 10  # up to this many queries and pairs are shown in detail


def agreement_text(agreement: Agreement, width: int = WIDTH, paint: Paint = UNPAINTED) -> str:
    documents, queries = count(agreement.documents, "document"), count(agreement.queries, "query", "queries")
    headline = f"{len(agreement.assessors)} assessors judged the same {documents} of {queries}."
    lines = [*map(paint.strong, wrapped(agreement.sentence, width=width)), "", *wrapped(headline, width=width)]
    lines += ["", *_statistics(agreement, width, paint.strong)]
    grades = [[f"{grade:g}", str(share)] for grade, share in agreement.by_grade.items()]
    lines += ["", *aligned([["grade", "given by another too"], *grades], style=paint.strong)]
    for pair in agreement.pairs[:DETAILED]:
        if pair.documents:
            lines += ["", *_table(agreement, pair, width, paint.strong)]
    lines += _models(agreement, width, paint)
    for pair in agreement.pairs[:DETAILED]:
        lines += _cases(pair, width, paint.strong)
    lines += _orders(agreement, width, paint.strong)
    lines += ["", *_queries(agreement, width, paint.strong), *_worst(agreement, paint.strong)]
    lines += ["", *map(paint.dim, _notes(agreement, width))]
    return "\n".join(lines)


def _statistics(agreement: Agreement, width: int, style: Style) -> list[str]:
    shown = agreement.pairs if len(agreement.pairs) > 1 else ()
    rows = [["", "all" if shown else " – ".join(agreement.assessors), *(" – ".join(pair.assessors) for pair in shown)]]
    rows.append(["documents", f"{agreement.documents:,}", *(f"{pair.documents:,}" for pair in shown)])
    for name, estimate in agreement.statistics.items():
        rows.append([name, str(estimate), *(str(pair.statistics[name]) for pair in shown)])
    return fitted(rows, width, style)


def _table(agreement: Agreement, pair: PairAgreement, width: int, style: Style) -> list[str]:
    one, other = pair.assessors
    head = [one, *(f"{grade:g}" for grade in agreement.grades)]
    rows = [[f"{grade:g}", *map(str, row)] for grade, row in zip(agreement.grades, pair.table, strict=True)]
    title = wrapped(f"Grades of {one} (rows) and {other} (columns)", width=width)
    return [*map(style, title), *fitted([head, *rows], width)]


def _models(agreement: Agreement, width: int, paint: Paint) -> list[str]:
    if not agreement.models:
        return []
    from cranfield.judging.agree.with_people import OVERSTATED

    compared = [line for each in agreement.models[:DETAILED] for line in wrapped(each.sentence, hang=2, width=width)]
    return ["", *map(paint.strong, compared), *wrapped(OVERSTATED, hang=2, width=width)]


def _cases(pair: PairAgreement, width: int, style: Style) -> list[str]:
    """What to read where a model and a person differ."""
    lines: list[str] = []
    [person] = [name for name in pair.assessors if name != pair.model][:1]
    for how, cases in (("higher", pair.too_high), ("lower", pair.too_low)):
        if not cases:
            continue
        lines += ["", *map(style, wrapped(f"{pair.model} grades {how} than {person}", width=width))]
        for case in cases:
            query = named_query(case.query_id, {case.query_id: case.query})
            title = f" ({case.title})" if case.title else ""
            reason = f": “{cut(case.reason, _REASON)}”" if case.reason else ""
            told = f"{query}, {case.doc_id}{title}: {person} {case.person:g}, {pair.model} {case.model:g}{reason}"
            lines += wrapped(told, "  ", hang=4, width=width)
    return lines


def _orders(agreement: Agreement, width: int, style: Style) -> list[str]:
    orders = [(pair, pair.order) for pair in agreement.pairs if pair.order is not None]
    if not orders:
        return []
    rows = [["assessors", "tau", "moves most", "ranks"]]
    for pair, order in orders:
        shown = "–" if order.tau is None else f"{order.tau:.3f}"
        rows.append([" – ".join(pair.assessors), shown, order.moved[0] if order.moved[1] else "–", str(order.moved[1])])
    runs = count(len(orders[0][1].means), "run")
    title = f"The order of {runs} by {orders[0][1].measure}, depending on whose grades are used (Kendall's tau)"
    return ["", *map(style, wrapped(title, width=width)), *fitted(rows, width, left=(0, 2))]


def _queries(agreement: Agreement, width: int, style: Style) -> list[str]:
    if len(agreement.by_query) < 2:
        return []
    by_agreement = sorted(agreement.by_query.items(), key=lambda item: (item[1].agreement, -item[1].distance, item[0]))
    lowest = by_agreement[:DETAILED]
    rows = [["query", "documents", "agreement", "grades apart"]]
    named = [(named_query(query, agreement.texts, _TEXT), its) for query, its in lowest]
    rows += [[name, str(its.documents), f"{its.agreement:.3f}", f"{its.distance:.2f}"] for name, its in named]
    title = "Queries with the least agreement" if len(agreement.by_query) > DETAILED else "Query by query"
    return [style(title), *fitted(rows, width)]


def _worst(agreement: Agreement, style: Style) -> list[str]:
    if not agreement.worst:
        return []
    rows: list[Sequence[str]] = [["query", "document", "grades"]]
    for item in agreement.worst:
        grades = ", ".join(f"{name} {grade:g}" for name, grade in item.grades.items())
        rows.append([named_query(item.query_id, agreement.texts, _TEXT), item.doc_id, grades])
    return ["", style("Furthest apart"), *aligned(rows, left=(0, 1, 2))]


def _notes(agreement: Agreement, width: int) -> list[str]:
    from cranfield.judging.agree.verdict import USUAL, VERDICT

    notes = [
        "A kappa or alpha of 0 is agreement by chance, 1 is perfect. In brackets: 95% intervals, from drawing queries."
    ]
    if agreement.statistics[VERDICT].value is not None:
        notes.append(USUAL)
    if len(agreement.assessors) > 2:
        notes.append("The kappas for all assessors are the means over the pairs.")
    groups = [agreement.statistics, *(pair.statistics for pair in agreement.pairs)]
    estimates = [estimate for statistics in groups for estimate in statistics.values()]
    reasons = dict.fromkeys(estimate.reason for estimate in estimates if estimate.reason)
    notes += [f"{'No intervals' if 'interval' in why else '– not defined'}: {why}." for why in reasons]
    if most := max(estimate.undefined for estimate in estimates):
        notes.append(f"Up to {count(most, 'draw')} had no value and are left out of an interval.")
    return [line for note in notes for line in wrapped(note, hang=2, width=width)]


LISTED = 5  # ids of a kind
BIASED = (
    "chosen by grades, so the judgments are a biased sample: never estimate from them how many documents are relevant"
)


def pool_lines(pooled: Pooled, width: int = WIDTH) -> Iterator[str]:
    queries = f" of {count(pooled.waiting_queries, 'query', 'queries')}" if pooled.waiting else ""
    waits = f"{count(pooled.waiting, 'document')}{queries} {'waits' if pooled.waiting == 1 else 'wait'} to be judged"
    yield from wrapped(f"{pooled.store}: {waits}", hang=2, width=width)
    for line in _facts(pooled):
        yield from wrapped(line, "  ", width=width)


def _facts(pooled: Pooled) -> Iterator[str]:
    judged = f", {pooled.judged:,} of them judged already" if pooled.judged else ""
    yield f"{count(pooled.documents, 'document')} in the pool of {count(pooled.runs, 'run')}{judged}"
    if pooled.new < pooled.waiting:
        yield f"{pooled.new:,} of those that wait are new, {pooled.waiting - pooled.new:,} waited before"
    if pooled.drawn:
        queries = f"{len(pooled.drawn):,} of {count(pooled.queries, 'query', 'queries')}"
        yield f"{queries} drawn at random (seed {pooled.seed}) for people, who judge all their documents"
        yield f"{count(pooled.for_models, 'document')} of the other queries for models only"
    if pooled.sampled or pooled.not_drawn:
        drawn = f"{pooled.sampled:,} of those that wait {'was' if pooled.sampled == 1 else 'were'} drawn at random"
        yield f"{drawn}; {pooled.not_drawn:,} more belong to the pool and stay unjudged (--pooled)"
    if pooled.twice:
        yield f"{pooled.twice:,} {'is' if pooled.twice == 1 else 'are'} for two assessors"
    if pooled.beyond_limit:
        by = f"left for later by the order {pooled.chosen_by}" if pooled.chosen_by else "left out by the limit"
        yield f"{count(pooled.beyond_limit, 'unjudged document')} {by}"
    if pooled.chosen_by:
        yield f"{BIASED}; judge, then pool again for the next ones"
    if pooled.without_text:
        lacking = count(len(pooled.without_text), "document has no text", "documents have no text")
        yield f"{lacking}: {_some(pooled.without_text)}; give their texts with --corpus"
    if pooled.empty:
        empty = count(len(pooled.empty), "query got no document", "queries got no document")
        yield f"{empty} from any run: {_some(pooled.empty)}"
    for run, number in pooled.unknown.items():
        yield f"{run}: {count(number, 'query is', 'queries are')} not among the queries and left out"


def plan_lines(plan: SamplePlan, width: int = WIDTH, paint: Paint = UNPAINTED) -> Iterator[str]:
    yield from map(paint.strong, wrapped(plan.sentence, hang=2, width=width))
    if plan.judged:
        yield f"  {plan.judged:,} of the pool {'is' if plan.judged == 1 else 'are'} judged already"
    yield ""
    rows = [["to judge ", "drawn", "within", "likely", *(["difference"] if plan.runs > 1 else [])]]
    for sample in plan.samples:
        precise = (sample.half_width, sample.likely, *([] if sample.difference is None else [sample.difference]))
        mark = "*" if sample == plan.chosen else " "
        rows.append([f"{sample.documents:,}{mark}", f"{sample.sample_below:,}", *(f"{its:.4f}" for its in precise)])
    yield from aligned(rows, left=(), style=paint.strong)
    yield ""
    for note in _plan_notes(plan):
        yield from map(paint.dim, wrapped(note, hang=2, width=width))


def _plan_notes(plan: SamplePlan) -> Iterator[str]:
    yield "* the smallest sample that is precise enough"
    yield f"drawn: of each query, at random from rank {plan.depth + 1} to {plan.sample_depth}"
    yield (
        "within: how close a run's mean is to its mean with the whole pool judged, for 95% of such samples, in nine of "
        "ten simulated collections; likely: in half of them"
    )
    if plan.runs > 1:
        yield "difference: the same as within, for the difference of two runs"
    yield "This is the uncertainty of the sample alone. The choice of queries adds its own, which compare shows."
    if not plan.judged:
        yield "How much is relevant is not known yet. Plan again when some documents are judged: it is then more exact."


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(visible, names[:LISTED])) + (", …" if len(names) > LISTED else "")


def sheet_lines(sheet: WrittenSheet, store: str, width: int = WIDTH) -> Iterator[str]:
    yield from wrapped(f"{sheet.path}: {count(sheet.documents, 'document')} to be judged", hang=2, width=width)
    if sheet.cut:
        yield f"  {count(sheet.cut, 'text is', 'texts are')} longer than a spreadsheet cell and cut"
    if sheet.parts:
        yield f"  {count(sheet.parts, 'part of a document has', 'parts of documents have')} no place in a sheet"
    yield f"  to import it again: cranfield convert {sheet.path} {store} --assessor NAME"


def decision_cost(look: Look) -> str:
    """What deciding costs, said before it begins."""
    from cranfield.judging.decide.looks import needed_text

    judged = f", of which {look.judged:,} {'is' if look.judged == 1 else 'are'} judged" if look.judged else ""
    first = f"These runs return {count(look.documents, 'document')} first{judged}."
    if look.done:
        return f"{first} It is decided: {look.reason}"
    return f"{first} Deciding probably takes {needed_text(look.likely_needed, more=look.judged > 0)}."


_STOPPED = {
    "requests": "The request limit is reached.",
    "budget": "The token budget is reached.",
    "interrupted": "Interrupted.",
}


def estimate_lines(
    name: str, estimate: AskingEstimate, budget: int | None, costs: Costs, counted: bool
) -> Iterator[str]:
    """The cost of asking. counted: whether the model counts tokens."""
    before = f", {estimate.judged:,} judged before" if estimate.judged else ""
    before += f", {estimate.unread:,} whose reply could not be read" if estimate.unread else ""
    yield f"{name}: {count(estimate.documents, 'document')} to judge{before}"
    planted = f", {count(estimate.canaries, 'canary', 'canaries')} among them" if estimate.canaries else ""
    tokens = f"; about {estimate.tokens:,} tokens, at most {estimate.most:,}" if counted and estimate.requests else ""
    yield f"  {count(estimate.requests, 'request')}{planted}{tokens}"
    if estimate.cost is not None and estimate.most_cost is not None and estimate.requests:
        yield f"  price: about {_price(estimate.cost)}, at most {_price(estimate.most_cost)}"
    if budget is not None:
        failed = f"; {failed_text(costs.failed, costs.failed_tokens)}" if costs.failed else ""
        yield f"  budget: {budget:,} tokens in all, {costs.spent:,} spent before{failed}"


def _price(price: float) -> str:
    return f"{price:,.2f}" if price >= 10 else f"{price:.4f}"


def spent_text(report: ModelReport) -> str:
    """Requests, and what they cost by the endpoint's own count; at most, where it does not count."""
    tokens = f", {count(report.tokens, 'token')}" if report.tokens else ""
    price = f", price {_price(report.cost)}" if report.cost is not None and report.tokens else ""
    uncounted = count(report.uncounted, "reply came without a count", "replies came without a count")
    at_most = f" (at most: {uncounted})" if report.uncounted and report.tokens else ""
    return f"{count(report.requests, 'request')}{tokens}{price}{at_most}"


def failed_text(requests: int, tokens: int) -> str:
    return f"{count(requests, 'failed request')}, at most {count(tokens, 'token')}"


def most_lines(
    name: str, look: Look, most: AskingEstimate, budget: int | None, costs: Costs, counted: bool
) -> Iterator[str]:
    """The highest cost of asking until it is decided: all documents that can still change the verdict."""
    if look.done:
        yield f"{name}: nothing to ask; the verdict is final."
        return
    first, *others = estimate_lines(name, most, budget, costs, counted)
    yield f"{first} at most; asking stops once the verdict is final"
    yield from others


def report_lines(report: ModelReport, width: int) -> Iterator[str]:
    reused = f", {report.reused:,} of them from replies to the same text" if report.reused else ""
    yield f"{report.assessor}: {count(report.graded, 'document')} graded{reused}; {spent_text(report)}"
    if report.failed:
        yield f"  {failed_text(report.failed, report.failed_tokens)}, counted in the budget"
    yield f"  judge {report.judge[:8]}: {report.judged_before + report.graded:,} of {report.documents:,} graded"
    if report.missing:
        yield f"  {count(len(report.missing), 'document')} without a grade:"
        for why, number in Counter(missing.why for missing in report.missing).most_common():
            yield cut(f"    {number:,}  {_reason_text(why)}", width)
    yield from check_lines(report)
    if report.stopped:
        yield stopped_line(report)


def stopped_line(report: ModelReport) -> str:
    left = f" {count(report.left, 'document')} left;" if report.left else ""
    onwards = "a larger budget" if report.stopped == "budget" else "the same command"
    return f"{_STOPPED[report.stopped]}{left} {onwards} continues from here."


def missing_lines(missing: tuple[MissingGrade, ...]) -> Iterator[str]:
    rows = [["query", "document", "why it has no grade"]]
    for lacking in missing:
        part = f"[{lacking.part[0]}:{lacking.part[1]}]" if lacking.part else ""
        rows.append([lacking.query_id, f"{lacking.doc_id}{part}", _reason_text(lacking.why)])
    yield from aligned(rows, left=(0, 1, 2)) if missing else ()


def _reason_text(why: str) -> str:
    if why == "no text":
        return "no text: the store has no text for the document or the query"
    from cranfield.judging.models.replies import FAILURES

    return f"{why}: {FAILURES[why]}" if why in FAILURES else why


def check_lines(report: ModelReport) -> Iterator[str]:
    if (planted := report.canaries) is not None:
        unread = f" ({planted.asked - planted.read:,} more could not be read)" if planted.asked > planted.read else ""
        graded = f"{'was' if planted.raised == 1 else 'were'} graded {planted.lowest_raised:g} or higher"
        yield f"  {planted.raised:,} of {planted.read:,} canaries {graded}{unread}"
        for kind, (raised, read) in sorted(planted.by_kind.items()):
            if raised:
                yield f"    {raised:,} of {read:,} with {kind}"
    if (steady := report.steadiness) is not None:
        yield (
            f"  {steady.same:.0%} of {count(steady.documents, 'document')} got the same grade in all samples; "
            f"mean spread {steady.spread:.2f}"
        )
    if (order := report.order) is not None:
        if order.pairs > order.read:
            silent, pairs = order.pairs - order.read, count(order.pairs, "pair")
            yield f"  {silent:,} of {pairs} of documents: no answer could be read"
        if order.read:
            yield f"  {order.depend:,} of {count(order.read, 'pair')} of documents: the answer depends on their order"
        if order.consistent:
            clear = count(order.consistent, "pair")
            yield f"  {order.contradict:,} of {clear} with a clear answer: it contradicts the grades"
