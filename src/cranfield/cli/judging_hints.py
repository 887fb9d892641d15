"""How many of the first documents are unjudged, and the command that pools them for judging."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from cranfield.cli import output
from cranfield.io.formats.store import STORE, names_store
from cranfield.io.streams import BUILT_IN, stream_name
from cranfield.show.layout import wrapped
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.evaluation.result import Evaluation
    from cranfield.judging.decide import Look

FIRST = 10  # what people see of a ranking, and the default depth of `cranfield pool`
MOST_NAMES = 5  # runs in a command
MOST_QUERIES = 1000  # for which the number of judgments is foreseen; more would take seconds
QUERIES, RUNS = "QUERIES", "RUN..."
STAND_FOR = {QUERIES: "the file with the texts of the queries", RUNS: "each run"}


def pool_command(qrels: Any, runs: Sequence[str]) -> list[str] | None:
    """The `cranfield pool` command that collects the unjudged documents; None where they cannot be judged.

    Also None for a choice of assessors: others may have judged these documents, so they would not be pooled.
    """
    if getattr(qrels, "view", None) is not None:
        return None
    from cranfield.systems.collection_files import folder_of_queries

    name: str = getattr(qrels, "name", qrels)
    if name.startswith(BUILT_IN) or not (os.path.isfile(name) or names_store(qrels)):  # of which there are no texts
        return None
    if any(run == "-" or run.startswith(BUILT_IN) for run in runs):  # which cannot be read again
        return None
    known = names_store(qrels)
    words = ["cranfield", "pool", stream_name(name) if known else STORE, folder_of_queries(name) or QUERIES]
    words += runs if len(runs) <= MOST_NAMES else [RUNS]
    return words if known else [*words, "--qrels", name]


def say_unjudged(evaluations: Sequence[Evaluation], find: Callable[[], Sequence[str] | None]) -> None:
    """Say how many of the first documents are unjudged, if any, and the command that `find` makes to judge them."""
    tables = {measure.definition.table for evaluation in evaluations for measure in evaluation.measures}
    # Of tasks, and of users, nobody else can judge; and nobody needs to judge what is returned without an answer.
    if not tables.isdisjoint(("searches", "lists")) or any(run.answering is not None for run in evaluations):
        return
    unjudged = [sum(evaluation.unjudged(FIRST).values()) for evaluation in evaluations]
    words = find() if any(unjudged) else None
    if words is None:
        return
    most, queries = max(unjudged), count(len(evaluations[0].query_ids), "query", "queries")
    documents = f"{count(most, 'document')} in the first {FIRST} of {queries} {'is' if most == 1 else 'are'} unjudged"
    output.say("")
    sentence = f"{'Up to ' if len(unjudged) > 1 else ''}{documents}. To judge {'it' if most == 1 else 'them'}:"
    stands = "; ".join(f"{word} is {meaning}" for word, meaning in STAND_FOR.items() if word in words)
    for line in [
        *wrapped(sentence, width=output.width()),
        *folded(words),
        *wrapped(stands, "  where ", width=output.width()) * bool(stands),
    ]:
        output.remark(line)


def say_settling(qrels: Any, runs: Sequence[str], measure: str, queries: int) -> None:
    """Say which commands settle a difference, if they are known, and how many judgments that probably takes.

    Where enough is judged to decide it, say that instead: more judging would be for nothing.
    """
    from cranfield.judging.decide.looks import ALL_JUDGED, OPEN
    from cranfield.systems.settling_commands import ADVICE, readable_name, settling_commands

    commands = settling_commands(qrels, runs, measure)
    if not commands:
        return
    output.say("")
    advice, paths = ADVICE, commands[-1][commands[-1].index("--decide") + 1 :][: len(runs)]
    look = _look(qrels, paths, measure) if queries <= MOST_QUERIES else None
    if look is not None and look.state == OPEN:
        few, many = look.likely_needed
        number = f"about {few:,}" if few == many else f"{few:,} to {many:,}"
        advice = f"Judging {number} documents would probably settle it, the most informative first"
    elif look is not None and look.state != ALL_JUDGED:
        output.write(
            wrapped(f"By a model of the missing grades, enough is judged. {look.reason}", width=output.width())
        )
        advice = "What it says about the values, with the unjudged documents estimated"
        commands = [["cranfield", "evaluate", str(readable_name(qrels)), *paths, "-m", measure, "--modelled"]]
    for line in (*wrapped(f"{advice}:", width=output.width()), *chain.from_iterable(map(folded, commands))):
        output.remark(line)


def _look(qrels: Any, runs: Sequence[str], measure: str) -> Look | None:
    """What the judgments so far decide; None where that is not known."""
    from cranfield.errors import CranfieldError
    from cranfield.judging.decide import Decision
    from cranfield.judging.store import open_store
    from cranfield.systems.settling_commands import readable_name

    name = readable_name(qrels)
    try:
        scale = None
        if name is not None and names_store(name):
            with open_store(name) as store:
                scale = [step.grade for step in store.scale]
        return Decision.of(runs, measure, name, scale=scale).look()
    except CranfieldError:  # such as for a measure whose queries are not averaged
        return None


def folded(words: Sequence[str]) -> Iterator[str]:
    """A command on lines that a shell takes as one."""
    first, *others = map(shlex.quote, words)
    line = f"  {first}"
    for word in others:
        if len(line) + len(word) + 3 > output.width():
            yield f"{line} \\"
            line = "   "
        line += f" {word}"
    yield line
