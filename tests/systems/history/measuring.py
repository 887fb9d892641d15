"""Results for a history, made from rankings."""

from datetime import UTC, datetime, timedelta

from cranfield import evaluate
from cranfield.systems.history.change import Change, Moment
from cranfield.systems.history.packing import content_id
from cranfield.systems.history.results import Acceptance, Measured

START = datetime(2026, 9, 1, 12, tzinfo=UTC)
QUERIES = tuple(f"q{number:02d}" for number in range(40))
TEXTS = {query: f"text of {query}" for query in QUERIES}


def judgments(queries=QUERIES, more=0):
    """Of each query one relevant document, and so many that are not."""
    return {query: {"right": 1, **{f"wrong{number}": 0 for number in range(more)}} for query in queries}


def run_of(ranks, queries=QUERIES):
    """A run in which the right document of each query has this rank."""
    return {
        query: [*(f"other{place}" for place in range(rank - 1)), "right"]
        for query, rank in zip(queries, ranks, strict=True)
    }


def evaluated(ranks, qrels=None, *, system="mine", queries=QUERIES, **options):
    return evaluate(qrels or judgments(queries), run_of(ranks, queries), "RR nDCG@10", name=system, **options)


def at(day, commit="", *, pull="", branch="main", dirty=False):
    change = Change(commit or f"{day:040x}", f"change {day}", branch, dirty, pull)
    return Moment(START + timedelta(days=day), change)


def measured(ranks, day, qrels=None, *, system="mine", queries=QUERIES, moment=None, weights=None, groups=None, **more):
    evaluation = evaluated(ranks, qrels, system=system, queries=queries, weights=weights, groups=groups)
    more = {"latency": {"p50": 0.02, "p95": 0.05}, "judged": len(queries), "texts": TEXTS, **more}
    return Measured(evaluation, system, moment or at(day), "test", **more)


def accepting(result, *, because="", who="Ann", worse=False, later=timedelta(minutes=1)):
    when = result.moment.at + later
    return Acceptance(content_id(result.id, who), result.system, when, result.id, who, because, worse)
