"""The file of a saved evaluation: JSON, one line for each column, so that two of them can be compared by eye."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import InputError, MeasureError, OutputError, PolicyError
from cranfield.evaluation.evidence import SavedEvidence
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.query_facts import FactColumns
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.tie_ranges import TieRange
from cranfield.evaluation.values import Counts
from cranfield.evaluation.weighting import Weights
from cranfield.io.formats.json import parse_json
from cranfield.io.made import Made, made_from
from cranfield.io.streams import Stream
from cranfield.io.target import write_text
from cranfield.measures import Measure, parse_measure
from cranfield.measures.scope import Scope
from cranfield.ranks.policy import Policy

if TYPE_CHECKING:
    from cranfield.evaluation.answering import Answering

FORMAT = "cranfield evaluation"
EDITION = 2
FACTS = ("relevant", "found", "first", "retrieved", "unjudged", "deeper", "cutoff")  # of a query, for each measure
TEXTS = ("run", "qrels_sha256", "run_sha256", "version")
CHECKSUM = "checksum"
HINT = "Evaluation.save and 'cranfield evaluate --save' write such a file"


def save(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write an evaluation; the file appears only when it is complete."""
    write(path, content_of(evaluation))


def content_of(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as plain dicts, from which it can be made again."""
    drawn = evaluation.weights.probability if evaluation.weights else None
    return {
        **evaluation.to_dict(per_query=False),
        "warnings": list(evaluation._warnings_of_input),  # those about ties follow from their ranges
        "version": evaluation.version,
        "run_facts": _run_facts(evaluation),
        "query_ids": list(evaluation.query_ids),
        "facts": {measure.name: _plain(evaluation.facts(measure)) for measure in evaluation.measures},
        **({"query_weights": [*evaluation.weights.by_query.values()]} if evaluation.weights else {}),
        **(
            {"query_groups": dict(evaluation.weights.groups)}
            if evaluation.weights and evaluation.weights.groups
            else {}
        ),
        **({"query_segments": dict(evaluation.segments)} if evaluation.segments else {}),
        **({"query_probabilities": [*drawn.values()]} if drawn else {}),
        "values": {measure.name: evaluation._columns[measure].tolist() for measure in evaluation.measures},
        **({"answering": evaluation.answering.to_dict()} if evaluation.answering else {}),
        **({"by_people": content_of(evaluation.by_people)} if evaluation.by_people else {}),
    }


def _run_facts(evaluation: Evaluation) -> dict[str, Any]:
    """What tells whether the run is comparable with another: see `RankedEvidence`; null where it is not known."""
    evidence = evaluation._evidence
    ranges = evaluation._tie_ranges(evaluation._columns)
    return {
        "lacking": None if evidence.lacking is None else sorted(evidence.lacking),
        "distances": evidence.distances,
        **({"made": evidence.made.to_dict()} if evidence.made else {}),
        "tie_ranges": {measure.name: list(ends) for measure, ends in ranges.items() if ends is not None},
    }


def load(path: str | os.PathLike[str] | Stream) -> Evaluation:
    """Read a saved evaluation; an error where it is not one, or a broken one."""
    return evaluation_from(read(path), path.name if isinstance(path, Stream) else path)


def evaluation_from(content: Mapping[str, Any], path: str | os.PathLike[str]) -> Evaluation:
    """The evaluation with this content; `path` is where it was read."""
    if not _is_sound(content):
        fact = "columns are missing, have different lengths, or contain something that is not a number."
        raise InputError(os.fspath(path), fact)
    try:
        measures = tuple(map(parse_measure, content["values"]))
        facts = zip(measures, content["facts"].values(), strict=True)
        evidence = SavedEvidence(
            {Scope.of(measure): _fact_columns(plain) for measure, plain in facts}, *_read_run_facts(content, measures)
        )
        warnings = tuple(map(str, content.get("warnings", ())))
        return Evaluation(
            run=content["run"],
            measures=measures,
            policy=Policy(**content["policy"]),
            counts=Counts(**content["counts"]),
            _inputs=InputHashes(content["qrels_sha256"], content["run_sha256"]),
            version=content["version"],
            provenance=str(content.get("provenance", "")),
            query_ids=tuple(content["query_ids"]),
            _columns=dict(zip(measures, map(np.array, content["values"].values()), strict=True)),
            _evidence=evidence,
            _input_warnings=tuple(warning for warning in warnings if warning != evidence.distances),
            weights=_weights(content),
            segments=content.get("query_segments"),
            answering=_answering(content),
            **_correction(content, path),
        )
    except (KeyError, TypeError, MeasureError, PolicyError) as error:
        raise InputError(os.fspath(path), f"this version cannot read the saved evaluation: {error}") from None


def _read_run_facts(
    content: Mapping[str, Any], measures: Sequence[Measure]
) -> tuple[dict[Measure, TieRange], frozenset[str] | None, str | None, Made | None]:
    known = content.get("run_facts", {})  # which older versions did not save
    lacking, ranges = known.get("lacking"), known.get("tie_ranges", {})
    by_measure = {measure: TieRange(*ranges[measure.name]) for measure in measures if measure.name in ranges}
    return (
        by_measure,
        None if lacking is None else frozenset(lacking),
        known.get("distances"),
        made_from(known.get("made")),
    )


def _correction(content: Mapping[str, Any], path: str | os.PathLike[str]) -> dict[str, Any]:
    """What people correct means by, where they do."""
    if "basis" not in content:
        return {}
    from cranfield.evaluation.corrected import CorrectionBasis

    basis = dict(content["basis"])
    by_people = evaluation_from(content["by_people"], path)
    return {"basis": CorrectionBasis(**{**basis, "people": tuple(basis["people"])}), "by_people": by_people}


def _answering(content: Mapping[str, Any]) -> Answering | None:
    if "answering" not in content:
        return None
    from cranfield.evaluation.answering import answering_from

    return answering_from(content["answering"])


def _weights(content: Mapping[str, Any]) -> Weights | None:
    if "query_weights" not in content:
        return None
    by_query = dict(zip(content["query_ids"], map(float, content["query_weights"]), strict=True))
    known, groups = content["weights"], content.get("query_groups")
    equal = groups is not None and all(weight == 1 for weight in by_query.values())
    drawn = content.get("query_probabilities")
    probability = None if drawn is None else dict(zip(content["query_ids"], map(float, drawn), strict=True))
    named = (str(known["source"]), str(known.get("grouped_by", "")))
    weights = Weights(named[0], by_query, groups, named[1], equal, probability)
    return weights.over(content["query_ids"])


def _plain(facts: FactColumns) -> dict[str, list[int]]:
    return {name: column.tolist() for name, column in asdict(facts).items()}


def _fact_columns(facts: Mapping[str, Sequence[int]]) -> FactColumns:
    return FactColumns(**{name: np.array(column, dtype=np.int64) for name, column in facts.items()})


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the content of an evaluation, or of a file that holds several."""
    whole = {"format": FORMAT, "edition": EDITION, **content}
    try:
        lines = [
            f"{json.dumps(name)}: {_line(value)}" for name, value in [*whole.items(), (CHECKSUM, _checksum(whole))]
        ]
    except ValueError as error:  # JSON has neither NaN nor infinity
        raise OutputError(os.fspath(path), "a value that is not a finite number cannot be saved.") from error
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n", force=True)


def _line(value: Any) -> str:
    if isinstance(value, dict) and any(isinstance(inner, list | dict) for inner in value.values()):
        inner = [f"{json.dumps(name, ensure_ascii=False)}: {_line(inner_value)}" for name, inner_value in value.items()]
        return "{\n" + indent(",\n".join(inner), "  ") + "\n}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _checksum(content: Mapping[str, Any]) -> str:
    """A hash of the content, whatever its layout."""
    text = json.dumps({name: content[name] for name in content if name != CHECKSUM}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def opened(run: str | os.PathLike[str] | Stream, *, hashed: bool = True) -> Evaluation | Stream:
    """A file that is opened once: a saved evaluation, or a stream of which only the beginning was read."""
    stream = run if isinstance(run, Stream) else Stream(run, hashed=hashed)
    return load(stream) if is_saved(stream) else stream


def is_saved(path: Any) -> bool:
    """Whether a path or a stream is that of a saved evaluation, by how the file begins."""
    if not isinstance(path, str | os.PathLike | Stream):
        return False
    stream = path if isinstance(path, Stream) else Stream(path)
    if stream.address is None or not os.path.isfile(stream.address):
        return False
    return f'"format": "{FORMAT}"'.encode() in stream.head(100)


def read(path: str | os.PathLike[str] | Stream) -> dict[str, Any]:
    """The content of a saved file, as it was saved."""
    stream = path if isinstance(path, Stream) else Stream(path)
    content = parse_json(stream.content(), stream.name, hint=HINT)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(stream.name, "this is not a saved evaluation.", hint=HINT)
    if content.get("edition") != EDITION:
        fact = f"it was saved in edition {content.get('edition')} of the format, and this version reads {EDITION}."
        raise InputError(stream.name, fact, hint="evaluate the run again and save it")
    if content.get(CHECKSUM, "") not in ("", _checksum(content)):
        raise InputError(
            stream.name,
            "it was changed after it was saved: the checksum does not match.",
            hint=f"save it again; if you changed it on purpose, remove the line '{CHECKSUM}'",
        )
    return content


def _is_sound(content: Any) -> bool:
    """Whether all parts of an evaluation are there, and of the right kind."""
    if not isinstance(content, dict):
        return False
    texts = [content.get(name) for name in TEXTS]
    ids, values, facts, counts, policy = (
        content.get(name) for name in ("query_ids", "values", "facts", "counts", "policy")
    )
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(ids, list)
        and all(isinstance(query, str) for query in ids)
        and len(set(ids)) == len(ids)
        and isinstance(values, dict)
        and len(values) > 0
        and all(_is_column(column, len(ids)) for column in values.values())
        and isinstance(facts, dict)
        and list(facts) == list(values)
        and all(_are_facts(columns, len(ids)) for columns in facts.values())
        and _are_weights(content, len(ids))
        and all(_are_words(content.get(name, {})) for name in ("query_groups", "query_segments"))
        and _are_run_facts(content.get("run_facts", {}))
        and isinstance(counts, dict)
        and _is_column(list(counts.values()), len(counts))
        and isinstance(policy, dict)
        and all(isinstance(setting, str | int | float | None) for setting in policy.values())
    )


def _are_weights(content: Mapping[str, Any], length: int) -> bool:
    weights, drawn = content.get("query_weights"), content.get("query_probabilities")
    if drawn is not None and not (_is_column(drawn, length) and all(0 < chance <= 1 for chance in drawn)):
        return False
    return weights is None or (
        isinstance(content.get("weights"), dict) and _is_column(weights, length) and min(weights, default=0) >= 0
    )


def _are_words(words: Any) -> bool:
    return isinstance(words, dict) and all(isinstance(word, str) for word in words.values())


def _are_facts(columns: Any, length: int) -> bool:
    return (
        isinstance(columns, dict)
        and tuple(columns) == FACTS
        and all(_is_column(column, length, whole=True) for column in columns.values())
    )


def _are_run_facts(known: Any) -> bool:
    if not isinstance(known, dict):
        return False
    lacking, ranges = known.get("lacking"), known.get("tie_ranges", {})
    return (
        (lacking is None or (isinstance(lacking, list) and all(isinstance(query, str) for query in lacking)))
        and isinstance(known.get("distances"), str | None)
        and isinstance(ranges, dict)
        and all(_is_column(ends, 2) for ends in ranges.values())
    )


def _is_column(column: Any, length: int, *, whole: bool = False) -> bool:
    """Whether these are so many finite numbers; `whole`: counts."""
    if not isinstance(column, list) or len(column) != length:
        return False
    return all(
        abs(number) < 2**63 if type(number) is int else type(number) is float and not whole and math.isfinite(number)
        for number in column
    )
