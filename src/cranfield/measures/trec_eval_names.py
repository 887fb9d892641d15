"""The measures that trec_eval knows, in the order in which it prints them, and which of ours each one is.

A measure is asked for by a name, with parameters after the first point: `map`, `P.5,10`, `ndcg.1=3,2=9`. It prints one
line, or one for each cutoff, whose name shows the parameters: `P_5`, `iprec_at_recall_0.10`, `ndcg_1=3,2=9`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from cranfield.errors import MeasureError
from cranfield.measures.parameters import shortened
from cranfield.measures.registry import Definition, Measure, find

Takes = Literal["nothing", "cutoffs", "shares", "numbers", "pairs"]
Judged = Literal["qrels", "qrels_jg", "prefs", "any"]

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
LENGTH = 10  # of relstring


class TrecEvalMeasure(NamedTuple):
    """A measure of trec_eval: what parameters it takes, which it has by default, and what judgments it is made for."""

    name: str
    takes: Takes
    usual: tuple[float, ...]
    judged: Judged


def _entries(
    names: str, takes: Takes = "nothing", usual: tuple[float, ...] = (), *, judged: Judged = "qrels"
) -> list[TrecEvalMeasure]:
    return [TrecEvalMeasure(name, takes, usual, judged) for name in names.split()]


ENTRIES = {
    entry.name: entry
    for entry in (
        *_entries("runid num_q", judged="any"),
        *_entries("num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank"),
        *_entries("iprec_at_recall", "shares", RECALLS),
        *_entries("P", "cutoffs", CUTOFFS),
        *_entries("relstring", "numbers"),
        *_entries("recall", "cutoffs", CUTOFFS),
        *_entries("infAP gm_bpref"),
        *_entries("Rprec_mult", "shares", MULTIPLES),
        *_entries("utility 11pt_avg", "numbers"),
        *_entries("binG"),
        *_entries("G dcg ideal_dcg ndcg ndcg_rel Rndcg", "pairs"),
        *_entries("ndcg_cut map_cut relative_P", "cutoffs", CUTOFFS),
        *_entries("success", "cutoffs", (1, 5, 10)),
        *_entries("set_P set_relative_P set_recall set_map"),
        *_entries("set_F", "numbers"),
        *_entries("num_nonrel_judged_ret"),
        *_entries("prefs_num_prefs_poss prefs_num_prefs_ful prefs_num_prefs_ful_ret", judged="prefs"),
        *_entries("prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel", judged="prefs"),
        *_entries("prefs_simp_ret prefs_pair_ret prefs_avgjg_ret prefs_avgjg_Rnonrel_ret", judged="prefs"),
        *_entries("prefs_simp_imp prefs_pair_imp prefs_avgjg_imp", judged="prefs"),
        *_entries("map_avgjg", judged="qrels_jg"),
        *_entries("P_avgjg", "cutoffs", CUTOFFS, judged="qrels_jg"),
        *_entries("Rprec_mult_avgjg", "shares", MULTIPLES, judged="qrels_jg"),
        *_entries("yaap"),
        *_entries("rbp rbp_resid", "pairs"),
        *_entries("unj", "cutoffs", (5, 10, 20)),
    )
}

_ALWAYS = ("runid", "num_q")
_COUNTS = ("num_ret", "num_rel", "num_rel_ret")
_PREFERENCES = tuple(entry.name for entry in ENTRIES.values() if entry.judged == "prefs")
NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": (*_ALWAYS, *_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    "set": (*_ALWAYS, *_COUNTS, "utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    "all_trec": tuple(
        entry.name
        for entry in ENTRIES.values()
        if entry.judged in ("qrels", "any") and entry.name not in ("yaap", "dcg", "ideal_dcg")
    ),
    "all_prefs": (*_ALWAYS, *_PREFERENCES),
    "prefs": (*_ALWAYS, *_PREFERENCES[:6]),
    "qrels_jg": (*_ALWAYS, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


class PrintedLine(NamedTuple):
    """A line that is printed: its name, and the measures whose mean its value is; there is only one but in 11pt_avg.

    runid and relstring have none, and neither has utility with other than four parameters, which cannot be computed.
    """

    name: str
    entry: TrecEvalMeasure
    measures: tuple[Measure, ...] = ()
    length: int = 0  # of relstring
    least: float | None = None  # a grade that some document must have for the query to score more than 0


def requested(words: Iterable[str]) -> dict[str, str | None]:
    """The measures of the values of -m, with their parameters as written; of repeated ones, the first count."""
    names: set[str] = set()
    parameters: dict[str, str] = {}
    for word in words:
        name, point, rest = word.partition(".")
        if name not in NICKNAMES and name not in ENTRIES:
            raise MeasureError(f"trec_eval has no measure '{name}'.", hint=_suggestion(name))
        if point and not rest:
            raise MeasureError(f"there is no parameter after the point in '{word}'.", hint=f"write {name}")
        names.update(NICKNAMES.get(name, (name,)))
        if point:
            parameters.setdefault(name, rest)
    return {name: parameters.get(name) for name in ENTRIES if name in names}


def lines(
    wanted: Mapping[str, str | None], *, rel: float = 1, documents: int | None = None, rule: str = "trec10"
) -> list[PrintedLine]:
    """The lines that measures print, in trec_eval's order.

    rel: the lowest grade that is relevant; documents: the size of the collection, for utility;
    rule: how iprec_at_recall and 11pt_avg round, "trec9" or "trec10".
    """
    fixed = {"rel": rel, "documents": documents, "rule": rule}
    return [line for name, parameters in wanted.items() for line in _lines(ENTRIES[name], parameters, fixed)]


def unfit(line: PrintedLine, format: str) -> str:
    """Why a line cannot be computed from judgments in this format; empty if it can."""
    needed = line.entry.judged
    if needed not in ("any", format) and not (needed == "prefs" and format == "qrels_prefs"):
        formats = "prefs or qrels_prefs" if needed == "prefs" else needed
        return f"{line.entry.name} needs judgments in the format {formats}, not {format}."
    if line.entry.name == "utility" and not line.measures:
        return "utility needs four parameters.\nHint: for instance utility.1,-1,0,0"
    return ""


def single(text: str) -> Measure | None:
    """The measure of a name with numbers or pairs as parameters, as trec_eval takes and prints it."""
    for name, entry in ENTRIES.items():
        mark, parameters = text[len(name) : len(name) + 1], text[len(name) + 1 :]
        listed = _LISTS.get(entry.takes)
        if text.startswith(name) and mark in (".", "_") and listed and listed.fullmatch(parameters):
            [line] = _lines(entry, parameters, {"rule": "trec10"})
            if len(line.measures) == 1:
                return line.measures[0]
    return None


_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_LISTS = {
    "numbers": re.compile(rf"{_NUMBER}(?:,{_NUMBER})*"),
    "pairs": re.compile(rf"(?:p|[+-]?\d+)={_NUMBER}(?:,(?:p|[+-]?\d+)={_NUMBER})*"),
}


def _lines(entry: TrecEvalMeasure, parameters: str | None, fixed: Mapping[str, Any]) -> list[PrintedLine]:
    name = entry.name
    if entry.takes == "cutoffs":
        cutoffs = entry.usual if parameters is None else _distinct(name, map(whole_part, parameters.split(",")))
        return [PrintedLine(f"{name}_{cutoff:.0f}", entry, (_measure(name, fixed, cutoff),)) for cutoff in cutoffs]
    if entry.takes == "shares":
        shares = entry.usual if parameters is None else _distinct(name, map(number, parameters.split(",")))
        return [PrintedLine(f"{name}_{share:3.2f}", entry, (_measure(name, fixed, share),)) for share in shares]
    printed = name if parameters is None or entry.takes == "nothing" else f"{name}_{parameters}"
    if name == "runid":
        return [PrintedLine(printed, entry)]
    if name == "relstring":
        length = LENGTH if parameters is None else int(number(parameters.partition(",")[0]))
        return [PrintedLine(printed, entry, length=max(length, 0))]
    if parameters is None or entry.takes == "nothing":
        return [_plain(printed, entry, fixed)]
    if entry.takes == "pairs":
        return [_plain(printed, entry, fixed, **_pairs(name, parameters))]
    numbers = [number(word) for word in parameters.split(",")]
    if name == "11pt_avg":
        return [PrintedLine(printed, entry, tuple(_measure("iprec_at_recall", fixed, recall) for recall in numbers))]
    if name == "set_F":  # whose parameter is the square of beta
        if numbers[0] <= 0:
            raise MeasureError(f"invalid parameter {numbers[0]:g} for set_F.", hint="it is β², a number above 0")
        return [PrintedLine(printed, entry, (_measure(name, fixed, beta=numbers[0] ** 0.5),))]
    if len(numbers) != 4:
        return [PrintedLine(printed, entry)]
    return [PrintedLine(printed, entry, (_measure(name, fixed, **dict(zip("abcd", numbers))),))]


def _plain(printed: str, entry: TrecEvalMeasure, fixed: Mapping[str, Any], **parameters: Any) -> PrintedLine:
    # Gains ignore -l, and Rndcg uses it only in that a query without relevant documents scores 0.
    least = fixed.get("rel") if entry.name == "Rndcg" else None
    return PrintedLine(printed, entry, (_measure(entry.name, fixed, **parameters),), least=least)


def _measure(name: str, fixed: Mapping[str, Any], at: float | None = None, **parameters: Any) -> Measure:
    definition, of_alias = definition_of(name)
    own = {key: value for key, value in fixed.items() if key in definition.kinds}
    cutoff = {} if at is None else {definition.at: at}
    return definition(**{**of_alias, **own, **cutoff, **parameters})


def definition_of(name: str) -> tuple[Definition, Mapping[str, Any]]:
    known = find(name) or find(name.removesuffix("_cut"))
    assert known is not None, name
    return known


def whole_part(text: str) -> int:
    """A number without its decimals: trec_eval reads 23.4 as 23 where it wants a whole number, and 1e1 as 1."""
    if re.search("[eE]", text):
        raise MeasureError(f"'{text}' is not a whole number.")
    return int(number(text))


def number(text: str) -> float:
    if not re.fullmatch(rf"\s*{_NUMBER}(?:[eE][+-]?\d+)?", text):
        raise MeasureError(f"'{shortened(text)}' is not a number.")
    if not math.isfinite(read := float(text)):
        raise MeasureError(f"{shortened(text)} is beyond the range of floating point.")
    return read


def _distinct(name: str, numbers: Iterable[float]) -> list[float]:
    ordered = sorted(numbers)
    for one, other in pairwise(ordered):
        if one == other:
            raise MeasureError(f"{name} is given the cutoff {one:g} twice.")
    return ordered


def _pairs(name: str, parameters: str) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    gain: dict[str, float] = {}
    for pair in parameters.split(","):
        key, equals, value = pair.partition("=")
        if not equals:
            raise MeasureError(f"'{pair}' is not a parameter of {name}.", hint="for instance ndcg.1=3,2=9 or rbp.p=0.5")
        if not re.fullmatch(r"p|[+-]?\d+", key):
            raise MeasureError(f"'{key}' is neither p nor a grade.", hint="for instance ndcg.1=3,2=9 or rbp.p=0.5")
        if (key == "p") != name.startswith("rbp"):
            raise MeasureError(f"{name} takes no {'p' if key == 'p' else 'gains'}.")
        if key == "p":
            chosen["p"] = number(value)
        elif key in gain:
            raise MeasureError(f"{name} is given two gains for the grade {key}.")
        else:
            gain[key] = number(value)
    return chosen | ({"gain": gain} if gain else {})


def _suggestion(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, [*NICKNAMES, *ENTRIES], n=1)
    return f"did you mean {close[0]}?" if close else f"nicknames are {', '.join(NICKNAMES)}"
