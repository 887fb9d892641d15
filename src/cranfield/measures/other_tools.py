"""Names of measures in other tools: those that are taken, those with two meanings, similar ones, and tools for RAG."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from cranfield.errors import MeasureError
from cranfield.measures.registry import Definition, find, plain

_XGBOOST = "of XGBoost, whose final '-' gives queries without relevant documents 0, as it always is here"
# Ambiguous names, by their first word: what is wrong with them, and what to write. {n} is the number in the name.
_REFUSED = (
    (
        ("rbp",),
        r"(?i:rbp)[._](?P<n>\d+)|(?!RBP)(?i:rbp)@(?P<m>\d+)",
        "'{name}' means different things: the persistence p = 0.{n} in ranx, a cutoff of {n} elsewhere.",
        "write RBP(p={share}) or RBP@{n}",
    ),
    (
        ("accuracy",),
        r"(?i:accuracy)(?:\([^()]*\))?(?:@|_at_|[._])(?P<n>\d+)",
        "'{name}' means different things: whether the first {n} contain a relevant document in BEIR and "
        "sentence-transformers, the share of pairs in the right order in ir_measures.",
        "write Success@{n} or PairAccuracy@{n}",
    ),
    (
        ("accuracy",),
        r"(?i:accuracy)(?:\((?!.*documents)[^()]*\))?",
        "Accuracy needs the number of documents.",
        "for instance Accuracy(documents=1000); what ir_measures calls Accuracy is PairAccuracy",
    ),
    (
        ("ndcg",),
        r"ndcg(?:@(?P<n>\d+))?-",
        f"'{{name}}' is a name {_XGBOOST}.",
        "its gains make it nDCG(gain=exponential){at}",
    ),
    (
        ("map",),
        r"map(?:@(?P<n>\d+))?-",
        f"'{{name}}' is a name {_XGBOOST}.",
        "its denominator makes it AP(denominator=min){at}",
    ),
    (("p", "precision"), r"P|(?i:precision)", "P needs a cutoff.", "for instance P@10, or SetP for the whole ranking"),
    (("r", "recall"), r"R|(?i:recall)", "R needs a cutoff.", "for instance R@10, or SetR for the whole ranking"),
    (("f", "f1"), r"F|(?i:f1)", "F needs a cutoff.", "for instance F@10, or SetF for the whole ranking"),
)

_ANSWERS = "it judges what a model wrote, which takes a model itself; for retrieval, use nDCG@10 and R@10"
# Names, without their cutoff, of measures that are not here, and the nearest ones.
_NEAR = {
    **dict.fromkeys(
        (
            *("faithfulness", "groundedness", "hallucination", "noise_sensitivity", "factual_correctness"),
            *("answer_relevancy", "answer_relevance", "response_relevancy", "answer_correctness", "answer_similarity"),
            *("context_relevancy", "context_relevance", "contextual_relevancy", "context_utilization"),
            *("context_entity_recall", "context_entities_recall"),
        ),
        _ANSWERS,
    ),
    **dict.fromkeys(("hit_ratio", "hr"), "write Success@{n}"),
    **dict.fromkeys(("mean_reciprocal_rank", "meanreciprocalrank"), "write RR{at}"),
    **dict.fromkeys(("mean_average_precision", "meanaverageprecision"), "write AP{at}"),
    **dict.fromkeys(("normalized_dcg", "normalized_discounted_cumulative_gain"), "write nDCG{at}"),
    "pre": "write P@{n}",
    "hole": "write Unjudged@{n}, which looks at the judgments of the query itself",
}


def refuse_unclear(text: str) -> None:
    """Raise an error for a name with several meanings, or one that lacks something that the measure needs here."""
    first = re.split("[^A-Za-z0-9]", text, maxsplit=1)[0].lower()
    for words, pattern, fact, hint in _REFUSED:
        match = re.fullmatch(pattern, text) if first in words else None
        if match is None:
            continue
        number = next(filter(None, match.groups()), "")
        known = {"name": text, "n": number, "share": float(f"0.{number or 0}"), "at": number and f"@{number}"}
        raise MeasureError(fact.format(**known), hint=hint.format(**known))


def near(name: str, at: str | None) -> str:
    """What to write instead of a name of another tool; empty if nothing is known."""
    # sentence-transformers puts the function that compared the vectors before the name.
    compared = re.fullmatch(r"(?:cosine|dot|euclidean|manhattan|max)_(.+)", name)
    if compared and (known := find(compared[1])):
        return f"write {known[0].name}{f'@{at}' if at else ''}"
    return _NEAR.get(plain(name), "").format(n=at or 10, at=f"@{at}" if at else "")


def read_parameters(definition: Definition, given: Mapping[str, Any]) -> tuple[Definition, dict[str, Any]]:
    """A measure and its parameters by our names, if they are those of ir_measures."""
    chosen = dict(given)
    if "max_grade" in definition.kinds and str(chosen.pop("min_rel", 0)) not in ("0", "0.0"):
        raise MeasureError(f"{definition.name} has no parameter 'min_rel'.", hint="gains start at 0 here: leave it out")
    if definition.name == "SDCG" and chosen.pop("dcg", "log2") != "log2":
        raise MeasureError("SDCG has no exponential gains.", hint="leave dcg out for linear ones")
    if definition.name == "NumRet" and "rel" in chosen:
        definition = _named("NumRelRet")
    if definition.name in ("SetP", "SetRelP") and str(chosen.get("relative")).lower() in ("true", "false"):
        definition = _named("SetRelP" if str(chosen.pop("relative")).lower() == "true" else "SetP")
    return definition, chosen


def _named(name: str) -> Definition:
    known = find(name)
    assert known is not None
    return known[0]


class RagName(NamedTuple):
    """A name of those tools: the measure it means with a cutoff and without one, and how it is defined there."""

    name: str
    ours: str
    uncut: str  # none: it needs a cutoff
    explanation: str

    def __str__(self) -> str:
        """How those tools define the name, and which measure it is, with a cutoff and without one."""
        one_measure = self.uncut in ("", self.ours)
        ours = self.ours if one_measure else f"{self.ours} with a cutoff and {self.uncut} without"
        return f"{self.name} is {ours}: {self.explanation}"


_FOUND = "AP(denominator=found)"
RAG_NAMES: dict[str, RagName] = {
    plain(known.name): known
    for known in (
        RagName(
            "context_precision",
            _FOUND,
            _FOUND,
            "mean precision at the relevant contexts that were retrieved, as ragas and DeepEval weight by rank, with "
            "judgments in place of a model. What was not retrieved costs nothing; in AP it does. ragas' "
            "IDBasedContextPrecision, which knows no ranks, is SetP.",
        ),
        RagName("contextual_precision", _FOUND, _FOUND, "DeepEval's name for context_precision."),
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


# Of keyphrases, whose number M differs from document to document: the cutoff is as many as were extracted.
AS_MANY = {"P@M": "SetP", "R@M": "SetR", "F1@M": "SetF", "F@M": "SetF"}


def rag_names_of(definition: Definition) -> list[RagName]:
    return [known for known in RAG_NAMES.values() if definition.name in (known.ours.partition("(")[0], known.uncut)]
