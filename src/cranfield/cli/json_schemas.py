"""What `--format json` writes: a JSON Schema for each command, made from the classes of the results.

A shape is a type, a class with typed fields, [shape] for a list, {"*": shape} for names that are not known beforehand,
and {"name": shape} for an object; "name?" may be missing. Nothing else may occur, so a new key is a change of a shape.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cranfield.changes.listing import ChangedQuery, WaitingDocument
from cranfield.changes.neighbours import MissedQuery
from cranfield.changes.run_diff import JudgedShare, QueryChange
from cranfield.comparison.correlation import MeasureAgreement, RunAgreement
from cranfield.comparison.differences import Change, Detection, Difference, Within
from cranfield.comparison.doubts import Doubt
from cranfield.comparison.frontier import Domination, FrontierPoint
from cranfield.comparison.gate_checks import Check, GatedMeasure, WorseQuery
from cranfield.comparison.gating import GateResult
from cranfield.comparison.reusability import LeftOutRow, OverallChange
from cranfield.comparison.segments import Interaction, SegmentDifference
from cranfield.comparison.stability import StabilityRow
from cranfield.comparison.within_groups import GroupNoise, GroupValue, WithinGroups
from cranfield.dialects.why import AffectedQuery, Compared
from cranfield.evaluation.advice.recommendations import Recommendation
from cranfield.evaluation.answering import Answering, ThresholdPoint
from cranfield.evaluation.calls import Calls
from cranfield.evaluation.checking.judged import JudgmentFacts
from cranfield.evaluation.checking.problems import More, Problem
from cranfield.evaluation.checking.retrieved import RunFacts
from cranfield.evaluation.corrected import CorrectionBasis
from cranfield.evaluation.estimating import CorrectedParts, Estimate
from cranfield.evaluation.explaining import Position
from cranfield.evaluation.query_facts import QueryFacts
from cranfield.evaluation.values import Counts
from cranfield.mixing.curves import Curve
from cranfield.mixing.tuning import Setting
from cranfield.systems.history.alerts import Alert
from cranfield.systems.misses import Place
from cranfield.traffic.sampling import LeftOut, SampledQuery

Schema = dict[str, Any]
NUMBER, TEXT = float, str
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
}


class Maybe(NamedTuple):
    """A shape in whose place null may be."""

    shape: Any


class Own(NamedTuple):
    """A class whose fields are written otherwise, or with others."""

    kind: type
    fields: Mapping[str, Any]


def schema_of(name: str) -> Schema:
    """The schema of what a command writes."""
    definitions: dict[str, Schema] = {}
    shape = _schema(OUTPUTS[name], definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"cranfield {name}"}
    return {**head, **shape, **({"$defs": dict(sorted(definitions.items()))} if definitions else {})}


def _schema(shape: Any, definitions: dict[str, Schema]) -> Schema:
    if isinstance(shape, Maybe):
        return {"anyOf": [_schema(shape.shape, definitions), {"type": "null"}]}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0], definitions)}
    if isinstance(shape, dict):
        return _object(shape, definitions)
    if isinstance(shape, Own) or _has_fields(shape):
        own = shape if isinstance(shape, Own) else Own(shape, {})
        if own.kind.__name__ not in definitions:
            definitions[own.kind.__name__] = {}  # for one that contains itself
            hints = {name: hint for name, hint in typing.get_type_hints(own.kind).items() if name in _fields(own.kind)}
            definitions[own.kind.__name__] = _object({**hints, **own.fields}, definitions)
        return {"$ref": f"#/$defs/{own.kind.__name__}"}
    return dict(_PLAIN[shape]) if shape in _PLAIN else _generic(shape, definitions)


def _object(shape: Mapping[str, Any], definitions: dict[str, Schema]) -> Schema:
    if set(shape) == {"*"}:
        return {"type": "object", "additionalProperties": _schema(shape["*"], definitions)}
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): _schema(its, definitions) for name, its in shape.items()},
        "required": [name for name in shape if not name.endswith("?")],
        "additionalProperties": False,
    }


def _generic(shape: Any, definitions: dict[str, Schema]) -> Schema:
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(each, definitions) for each in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        several = list(dict.fromkeys(each for each in arguments if each is not Ellipsis))
        items = [_schema(each, definitions) for each in several]
        return {"type": "array", "items": items[0] if len(items) == 1 else {"anyOf": items}}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    raise TypeError(f"{shape!r} has no schema")


def _has_fields(shape: Any) -> bool:
    return isinstance(shape, type) and (dataclasses.is_dataclass(shape) or hasattr(shape, "_fields"))


def _fields(kind: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind) if not field.name.startswith("_"))
    return tuple(kind._fields)


_NUMBERS = {"*": NUMBER}
_BY_RUN = {"*": {"*": NUMBER}}
WEIGHTS = {
    "source": TEXT,
    "sha256": TEXT,
    "effective_queries": NUMBER,
    "grouped_by?": TEXT,
    "groups?": int,
    "sample?": TEXT,
}
POINT = Own(ThresholdPoint, {"threshold": NUMBER | None})
ANSWERING = Own(
    Answering,
    {
        "unanswerable": [TEXT],
        "threshold": NUMBER | None,
        "fitted": Maybe([NUMBER | None]),
        "answered": {"*": NUMBER},
        "curve": [POINT],
        "nauc": {"*": NUMBER | None},
    },
)
NOISE = Own(GroupNoise, {"noise": NUMBER | None})
GROUPS = Own(WithinGroups, {"noise": NUMBER | None, "by_group": [GroupValue]})
REACH = {"low": NUMBER | None, "high": NUMBER | None, "exact": bool, "unseen": int}
DOUBT = Own(Doubt, {"facts": {"*": Any}})
DIFFERENCE = Own(
    Difference,
    {
        "low": NUMBER | None,
        "high": NUMBER | None,
        "detectable": NUMBER | None,
        "changed": [Change],
        "reach": Maybe(REACH),
        "within": Within | None,
        "detection": Detection | None,
        "corrected": CorrectedParts | None,
        "verdict": TEXT,
        "headline": TEXT,
        "sentence": TEXT,
        "could_reverse": bool | None,
    },
)
SEGMENTS = {
    "queries": {"*": int},
    "queries_left_out": int,
    "alpha": NUMBER,
    "weights?": WEIGHTS,
    "differences": [Own(SegmentDifference, {"significant": bool, "verdict": TEXT})],
    "interactions": [Own(Interaction, {"significant": bool, "sentence": TEXT})],
}
GATE = Own(
    GateResult,
    {
        "checks": [Check],
        "measures": [
            Own(
                GatedMeasure,
                {
                    "detectable": NUMBER | None,
                    "worse_queries": [WorseQuery],
                    "judged": [NUMBER | None],
                    "difference": DIFFERENCE,
                    "sentence": TEXT,
                },
            )
        ],
        "signatures": [TEXT],
        "weights": Maybe(WEIGHTS),
        "segments": Maybe(SEGMENTS),
        "answering": Maybe({"*": ANSWERING}),
        "basis": CorrectionBasis | None,
        "doubts": [DOUBT],
        "power": NUMBER,
    },
)
MISS = {
    **dict.fromkeys(("query_id", "text", "reason", "why"), TEXT),
    "value": NUMBER,
    "expected": [Place],
    "returned": [Place],
}
LOST = {
    **dict.fromkeys(("query_id", "text", "measure", "moved"), TEXT),
    **dict.fromkeys(("before", "now"), NUMBER),
    "miss": Maybe(MISS),
    "was": [int | None],
}
TESTED = {
    "system": TEXT,
    "passed": bool,
    **dict.fromkeys(("queries", "answered"), int),
    "failed": {"*": TEXT},
    "not_asked": [TEXT],
    "latency": _NUMBERS,
    "means": _NUMBERS,
    "accepted": Maybe(_NUMBERS),
    "gate": Maybe(GATE),
    "checks": [Check],
    "differences": [DIFFERENCE],
    "notes": [TEXT],
    "not_compared": [TEXT],
    "lost": [LOST],
    "worst": [MISS],
    "signature": TEXT | None,
    "answering?": ANSWERING,
}
BOUNDS = {"low": NUMBER | None, "high": NUMBER | None, "exact": bool, "scale": [NUMBER], "unseen": int}
WORST = Own(QueryFacts, {"reason": TEXT})
EVALUATED = {
    "run": TEXT,
    "mean": {"*": NUMBER | None},
    "warnings": [TEXT],
    "bounds?": {"*": BOUNDS},
    "segments?": {"*": {"*": NUMBER | None}},
    "segment_queries?": {"*": int},
    "answering?": ANSWERING,
    "within_groups?": GROUPS,
    "worst?": [WORST],
    "estimates?": {"*": Own(Estimate, {"judged": NUMBER | None})},
    "per_query?": {"*": _NUMBERS},
    "counts": Counts,
    "signature": TEXT,
}
_FACTS = {"*": Any}
MEASURED = {
    **dict.fromkeys(("at", "system", "commit", "subject", "branch", "measure"), TEXT),
    "value": NUMBER,
    **dict.fromkeys(("low", "high", "difference", "p"), NUMBER | None),
    **dict.fromkeys(("sign", "better", "worse"), int | None),
    **dict.fromkeys(("p50", "p95"), NUMBER | None),
    "passed": bool | None,
    **dict.fromkeys(("accepted", "again"), bool),
    "apart": TEXT,
}
ACCEPTED = {
    **dict.fromkeys(("at", "who", "because", "commit"), TEXT),
    "worse": bool,
    **dict.fromkeys(("value", "difference", "low", "high", "p"), NUMBER | None),
}
REASON = {
    **{name: [TEXT] for name in ("says", "tools", "measures", "beyond")},
    "others": [[TEXT]],
    **dict.fromkeys(("policy", "like"), TEXT),
    "values": [NUMBER],
    "share": NUMBER,
    "queries": [AffectedQuery],
}
LINE = {
    **dict.fromkeys(("system", "measure", "verdict"), TEXT),
    "weighted?": TEXT,
    "accepted": Maybe(ACCEPTED),
    "results": [MEASURED],
    "breaks": [{"at": TEXT, "what": [TEXT], "joined": bool}],
    "notes": [dict.fromkeys(("at", "text", "who"), TEXT)],
    "segments?": [{"segment": TEXT, "queries": int, "values": [NUMBER], "accepted": NUMBER | None}],
}
# Of each command that writes JSON; of those in brackets, another output of the same command.
OUTPUTS: dict[str, Any] = {
    "evaluate": {
        "measures": [TEXT],
        "canonical_names?": {"*": TEXT},
        "runs": [EVALUATED],
        "counts": {"*": NUMBER | None},
        "signature": TEXT,
        "weights?": WEIGHTS,
        "modelled?": [_FACTS],
        "basis?": CorrectionBasis,
    },
    "evaluate (--theirs)": {
        "run": TEXT,
        "compared": [Compared],
        "agrees": bool,
        **dict.fromkeys(("tried", "fitting"), int),
        "reasons": [REASON],
        "nearest": [REASON],
        "decided": bool,
        "ask": TEXT,
        "notes": [TEXT],
    },
    "evaluate (--like)": {
        **dict.fromkeys(("tool", "version", "note"), TEXT),
        "runs": [
            {
                "run": TEXT,
                "values": [
                    {
                        **dict.fromkeys(("name", "measure", "policy"), TEXT),
                        "beyond": [TEXT],
                        "mean": NUMBER,
                        "by_query": _NUMBERS,
                    }
                ],
            },
        ],
    },
    "calls": Calls,
    "compare": {
        "runs": [TEXT],
        "baseline": TEXT | None,
        "measures": [TEXT],
        "canonical_names?": {"*": TEXT},
        "queries": int,
        "queries_left_out": int,
        **dict.fromkeys(("test", "correction", "family", "corrected"), TEXT),
        **dict.fromkeys(("alpha", "power"), NUMBER),
        **dict.fromkeys(("permutations", "seed"), int),
        "means": _BY_RUN,
        "weights?": WEIGHTS,
        "basis?": CorrectionBasis,
        "estimates?": {"*": {"*": Estimate}},
        "judged": {"*": {"*": NUMBER | None}},
        "answering?": {"*": ANSWERING},
        "doubts": [DOUBT],
        "groups": {"*": [[TEXT]]},
        "ranks": {"*": {"*": [int]}},
        "discriminative_power": _NUMBERS,
        "within_groups?": [NOISE],
        "differences": [DIFFERENCE],
        "agreement": [MeasureAgreement],
        "run_agreement": [RunAgreement],
        "signatures": {"*": TEXT},
        "segments?": SEGMENTS,
    },
    "diff": {
        "runs": [TEXT],
        "sentence": TEXT,
        **dict.fromkeys(("k", "queries", "changed_queries", "entered", "left"), int),
        "depth": int | None,
        **dict.fromkeys(("p", "changed", "overlap", "rbo", "same_first"), NUMBER),
        "missing": [[TEXT]],
        "moved": NUMBER | None,
        "largest": {"places": int, "query_id": TEXT},
        "judged": Maybe(
            {
                **dict.fromkeys(("entered", "left"), JudgedShare),
                "measure": TEXT,
                **dict.fromkeys(("before", "now"), NUMBER),
                "difference": Maybe(DIFFERENCE),
            }
        ),
        "changed_most": [ChangedQuery],
        "to_judge": [WaitingDocument],
        "between": [TEXT],
        "warnings": [TEXT],
        "by_query": {"*": QueryChange},
    },
    "diff (--exact)": {
        **dict.fromkeys(("exact", "run", "sentence", "by", "meaning"), TEXT),
        **dict.fromkeys(("k", "queries", "perfect"), int),
        **dict.fromkeys(("epsilon", "recall", "low", "high", "by_ids"), NUMBER),
        "cost": Maybe(DIFFERENCE),
        "worst": [MissedQuery],
        "warnings": [TEXT],
        "by_query": _NUMBERS,
    },
    "frontier": {
        **dict.fromkeys(("measure", "by", "sentence"), TEXT),
        **dict.fromkeys(("margin", "alpha"), NUMBER),
        "queries": int,
        "weights?": WEIGHTS,
        "points": [FrontierPoint],
        "pairs": [Domination],
    },
    "gate": GATE,
    "test": {"passed": bool, "collection": TEXT, "systems": [TESTED], "unjudged": [TEXT]},
    "explain": {
        "query": TEXT,
        "measures": [TEXT],
        "gains": {"*": TEXT},
        "positions": [Position],
        "ideal": [{"doc_id": TEXT, "grade": NUMBER}],
    },
    "sample": {
        "queries": [Own(SampledQuery, {"weight": NUMBER, "distinct_weight": NUMBER})],
        **dict.fromkeys(("searches", "distinct", "empty", "skipped", "seed"), int),
        "left_out": {"*": LeftOut},
        **dict.fromkeys(("share", "stands_for", "spread"), NUMBER),
        "effective": {"*": NUMBER | None},
        "detectable": _NUMBERS,
        "columns": {"*": {"*": TEXT}},
    },
    "tune": {
        **dict.fromkeys(("measure", "sentence"), TEXT),
        "runs": [TEXT],
        **dict.fromkeys(("queries", "requests", "repeats", "folds", "seed"), int),
        **dict.fromkeys(("value", "low", "high", "seen", "optimism", "alpha"), NUMBER),
        "final": Setting,
        "untuned": Setting,
        "rival": Setting | None,
        "to_judge": [{"query_id": TEXT, "doc_id": TEXT}],
        "to_copy": TEXT,
        "baselines": [{"name": TEXT, "what": TEXT}],
        "no_better_than": [TEXT],
        "means": _NUMBERS,
        "differences": [DIFFERENCE],
        "warnings": [TEXT],
        "findings": [TEXT],
        "curves": [Curve],
        "settings": [Setting],
    },
    "history": [LINE],
    "mcp history": {"lines": [LINE]},
    "history (--query)": [
        {
            **dict.fromkeys(("at", "system", "commit", "query", "measure"), TEXT),
            **dict.fromkeys(("value", "change"), NUMBER | None),
        }
    ],
    "history (--check)": [Own(Alert, {"passed": bool})],
    "mcp worst_queries": {"run": TEXT, "measure": TEXT, "mean": NUMBER, "queries": [MISS]},
    "check": {
        "problems": [Problem],
        "more": [More],
        "judgments": JudgmentFacts,
        "runs": [RunFacts],
        "advice": Maybe({"recommended": [Recommendation], "warnings": [TEXT]}),
        "errors": int,
        "warnings": int,
    },
    "check (queries)": {
        **dict.fromkeys(("file", "format"), TEXT),
        "separator": TEXT | None,
        "header": bool,
        "id": TEXT | None,
        "text": TEXT,
        "columns": [TEXT],
        "queries": int,
        "first": [_FACTS],
    },
    "stability": {
        "runs": [TEXT],
        "measures": [TEXT],
        "design": TEXT,
        **dict.fromkeys(("queries", "judgments", "repeats", "seed"), int),
        "pooled": [TEXT],
        "weights?": WEIGHTS,
        "rows": [Own(StabilityRow, {"by_run": _NUMBERS})],
    },
    "stability (--leave-out)": {
        "runs": [TEXT],
        "measures": [TEXT],
        "groups": {"*": TEXT},
        "pool_depth": int | None,
        **dict.fromkeys(("queries", "judgments"), int),
        "weights?": WEIGHTS,
        "rows": [Own(LeftOutRow, {"change": NUMBER})],
        "overall": {"*": OverallChange},
    },
    "agreement": {
        "sentence": TEXT,
        "assessors": [TEXT],
        "grades": [NUMBER],
        **dict.fromkeys(("documents", "queries"), int),
        **dict.fromkeys(("statistics", "by_grade", "by_query", "texts"), _FACTS),
        "pairs": [_FACTS],
        "worst": [_FACTS],
        "models": [_FACTS],
    },
}
