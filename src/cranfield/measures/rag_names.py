"""Names of our measures in tools for retrieval-augmented generation; results keep the name that was typed."""

from __future__ import annotations

from typing import NamedTuple

from cranfield.measures.registry import Definition, plain


class SpokenName(NamedTuple):
    """A name of those tools: the measure it means with a cutoff and without one, and how it is defined there."""

    name: str
    ours: str
    uncut: str  # none: it needs a cutoff
    told: str


SPOKEN: dict[str, SpokenName] = {
    plain(each.name): each
    for each in (
        SpokenName(
            "context_precision",
            "AP(denominator=found)",
            "AP(denominator=found)",
            "mean precision at the relevant contexts that were retrieved, as ragas and DeepEval weight by rank, with "
            "judgments in place of a model. What was not retrieved costs nothing; in AP it does. ragas' "
            "IDBasedContextPrecision, which knows no ranks, is SetP.",
        ),
        SpokenName(
            "contextual_precision",
            "AP(denominator=found)",
            "AP(denominator=found)",
            "DeepEval's name for context_precision.",
        ),
        SpokenName(
            "context_recall",
            "R",
            "SetR",
            "share of the relevant contexts that were retrieved, as ragas counts reference contexts. ragas compares "
            "texts by their similarity, where ids or equal texts count here.",
        ),
        SpokenName("contextual_recall", "R", "SetR", "DeepEval's name for context_recall, with judgments."),
        SpokenName(
            "hit_rate",
            "Success",
            "",
            "whether anything relevant is among the first k. LlamaIndex calls recall a granular hit rate.",
        ),
        SpokenName("MRR", "RR", "RR", "mean of one over the rank of the first relevant context."),
    )
}


def names_elsewhere(definition: Definition) -> list[str]:
    """The names of a measure, with these parameters, in tools for retrieval-augmented generation."""
    return [each.name for each in _spoken_of(definition)]


def explained_elsewhere(definition: Definition) -> list[str]:
    """How those tools define these names, and which measure each of them is, with a cutoff and without one."""
    return [f"{each.name} is {_measures(each)}: {each.told}" for each in _spoken_of(definition)]


def _spoken_of(definition: Definition) -> list[SpokenName]:
    return [each for each in SPOKEN.values() if definition.name in (each.ours.partition("(")[0], each.uncut)]


def _measures(spoken: SpokenName) -> str:
    if spoken.uncut in ("", spoken.ours):
        return spoken.ours
    return f"{spoken.ours} with a cutoff and {spoken.uncut} without"
