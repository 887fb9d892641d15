"""Names of our measures in tools for retrieval-augmented generation; results keep the name that was typed."""

from __future__ import annotations

from typing import NamedTuple

from cranfield.measures.registry import Definition, plain


class RagName(NamedTuple):
    """A name of those tools: the measure it means with a cutoff and without one, and how it is defined there."""

    name: str
    ours: str
    uncut: str  # none: it needs a cutoff
    explanation: str


RAG_NAMES: dict[str, RagName] = {
    plain(each.name): each
    for each in (
        RagName(
            "context_precision",
            "AP(denominator=found)",
            "AP(denominator=found)",
            "mean precision at the relevant contexts that were retrieved, as ragas and DeepEval weight by rank, with "
            "judgments in place of a model. What was not retrieved costs nothing; in AP it does. ragas' "
            "IDBasedContextPrecision, which knows no ranks, is SetP.",
        ),
        RagName(
            "contextual_precision",
            "AP(denominator=found)",
            "AP(denominator=found)",
            "DeepEval's name for context_precision.",
        ),
        RagName(
            "context_recall",
            "R",
            "SetR",
            "share of the relevant contexts that were retrieved, as ragas counts reference contexts. ragas compares "
            "texts by their similarity, where ids or equal texts count here.",
        ),
        RagName("contextual_recall", "R", "SetR", "DeepEval's name for context_recall, with judgments."),
        RagName(
            "hit_rate",
            "Success",
            "",
            "whether anything relevant is among the first k. LlamaIndex calls recall a granular hit rate.",
        ),
        RagName("MRR", "RR", "RR", "mean of one over the rank of the first relevant context."),
    )
}


def names_elsewhere(definition: Definition) -> list[str]:
    """The names of a measure, with these parameters, in tools for retrieval-augmented generation."""
    return [each.name for each in _rag_names_of(definition)]


def explained_elsewhere(definition: Definition) -> list[str]:
    """How those tools define these names, and which measure each of them is, with a cutoff and without one."""
    return [f"{each.name} is {_measures(each)}: {each.explanation}" for each in _rag_names_of(definition)]


def _rag_names_of(definition: Definition) -> list[RagName]:
    return [each for each in RAG_NAMES.values() if definition.name in (each.ours.partition("(")[0], each.uncut)]


def _measures(spoken: RagName) -> str:
    if spoken.uncut in ("", spoken.ours):
        return spoken.ours
    return f"{spoken.ours} with a cutoff and {spoken.uncut} without"
