"""Text: measures of judged passages, whatever chunks a document was cut into.

Passages and chunks are places in the stored texts of documents, in characters (Unicode code points). G are the
characters of the relevant passages, U those of the chunks that are read: the first ones, down to a cutoff or as far as
they fit into a budget. |…| counts each character once, so chunks that overlap are not rewarded twice. These measures
need `PassageJudgments` and a `ChunkRun`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cranfield.measures.arithmetic import harmonic, ratio
from cranfield.measures.registry import measure
from cranfield.ranks.columns import Numbers

if TYPE_CHECKING:
    from cranfield.ranks.tables.passages import PassageRanks, ReadChunks

SMITH = "Smith & Troynikov 2024"
Function = Callable[["PassageRanks", "ReadChunks", float], Numbers]


def passage_measure(name: str, **known: Any) -> Callable[[Function], Function]:
    """Register a function of the table, the chunks that are read, and the lowest grade that is relevant."""

    def register(function: Function) -> Function:
        def of_passages(
            judged: PassageRanks,
            *,
            cutoff: int | None = None,
            rel: float = 1,
            budget: int | None = None,
            unit: str = "characters",
            fit: str = "whole",
        ) -> Numbers:
            return function(judged, judged.read(cutoff, budget, unit, fit), rel)

        of_passages.__doc__ = function.__doc__
        measure(name, table="passages", **known)(of_passages)
        return function

    return register


@passage_measure(
    "PassageR",
    aliases=("passage_recall", "span_hit"),
    advice="Shows how many of the passages that an answer needs reach the model.",
)
def passage_recall(judged: PassageRanks, read: ReadChunks, rel: float) -> Numbers:
    """The share of the relevant passages that the chunks read contain enough of, in one chunk or several together.

    PassageR = |{ relevant passages p : |p ∩ U| / |p| ≥ cover }| / |{ relevant passages }|

    `cover` is a setting of the policy, 0.5 by default. A document that is judged as a whole is found by any of its
    chunks.
    """
    hit = judged.relevant(rel)
    return ratio(judged.sum(hit & judged.found(read)), judged.sum(hit))


@passage_measure(
    "TextR",
    aliases=("text_recall",),
    reference=SMITH,
    advice="For comparing ways of chunking: how much of the relevant text is read.",
)
def text_recall(judged: PassageRanks, read: ReadChunks, rel: float) -> Numbers:
    """The share of the characters of relevant passages that are read.

    TextR = |G ∩ U| / |G|

    LegalBench-RAG counts a character again for each chunk that has it, so that its recall can be above 1.
    """
    text = judged.judged_text(rel)
    return ratio(read.shared(text), text.length(len(judged)))


@passage_measure(
    "TextP",
    aliases=("text_precision",),
    reference=SMITH,
    advice="For comparing ways of chunking: how much of the text read is relevant.",
)
def text_precision(judged: PassageRanks, read: ReadChunks, rel: float) -> Numbers:
    """The share of the characters read that are in relevant passages; a character that is read twice counts once.

    TextP = |G ∩ U| / |U|
    """
    return ratio(read.shared(judged.judged_text(rel)), read.distinct)


@passage_measure(
    "ReadP",
    aliases=("read_precision",),
    advice="TextP if you pay for what is read: text that overlapping chunks repeat counts each time.",
)
def read_precision(judged: PassageRanks, read: ReadChunks, rel: float) -> Numbers:
    """Relevant characters read, each counted once, divided by all characters read, repeats included.

    ReadP = |G ∩ U| / Σ |chunk| over the chunks read

    This is the precision of Chroma's chunking_evaluation.
    """
    return ratio(read.shared(judged.judged_text(rel)), read.total)


@measure(
    "TextF",
    aliases=("text_f", "TextF1"),
    advice="For one number that needs both TextP and TextR; beta above 1 favours recall.",
    table="passages",
)
def text_f(
    judged: PassageRanks,
    *,
    cutoff: int | None = None,
    beta: float = 1,
    rel: float = 1,
    budget: int | None = None,
    unit: str = "characters",
    fit: str = "whole",
) -> Numbers:
    """Weighted harmonic mean of the precision and the recall of text.

    TextF = (1+β²) · TextP · TextR / (β² · TextP + TextR)
    """
    read = judged.read(cutoff, budget, unit, fit)
    return harmonic(text_precision(judged, read, rel), text_recall(judged, read, rel), beta)


@passage_measure(
    "TextIoU",
    aliases=("text_iou", "TextJaccard"),
    reference=SMITH,
    advice="For one number that punishes both missed text and irrelevant text.",
)
def text_intersection_over_union(judged: PassageRanks, read: ReadChunks, rel: float) -> Numbers:
    """Characters that are both read and relevant, divided by those that are either.

    TextIoU = |G ∩ U| / |G ∪ U|

    Chroma's chunking_evaluation counts what overlapping chunks repeat each time in the denominator.
    """
    text = judged.judged_text(rel)
    both = read.shared(text)
    return ratio(both, text.length(len(judged)) + read.distinct - both)
