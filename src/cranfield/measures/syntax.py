"""The language of measure names: `nDCG@10`, `P(rel=2)@5`, and what other tools print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from cranfield.errors import MeasureError, either, slips
from cranfield.measures.other_tools import AS_MANY, RAG_NAMES, near, read_parameters, refuse_unclear
from cranfield.measures.parameters import shortened
from cranfield.measures.registry import Definition, Measure, find, plain, registered, spellings

# name, (parameters), @cutoff
_OURS = re.compile(r"([^\s()@]+)(?:\(([^()]*)\))?(?:@([^\s@()]+))?")
# trec_eval and friends: ndcg_cut_10, ndcg_cut.10, P_5, recall_at_100, iprec_at_recall_0.10
_CUTOFF = re.compile(r"(.+?)(?:_cut)?(?:_at_|[_.])(\d+(?:\.\d+)?)")
# trec_eval's lists of cutoffs: P.5,10 or iprec_at_recall_0.1,0.5
_CUTOFFS = r"([A-Za-z][\w-]*?)([_.])(\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+)"
# a further item of one of its lists: 10, 0.5, -1, 2=9
_ITEM = re.compile(r"(?:\d+=)?[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
# ir_measures' names of our parameters
_OTHER_NAMES = {"gains": "gain", "max_rel": "max_grade"}
# ranx's threshold: ndcg@10-l2
_LEVEL = re.compile(r"(.+)-l(\d+)")
# parameters between commas; a comma between braces belongs to a map
_PARAMETER = r"(?:[^,{]|\{[^}]*\}?)+"

Measures = str | Measure | Iterable[str | Measure]  # what `parse_measures` reads
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")

LONGEST = 1 << 16  # characters of a measure: room for all the gains that a map may have
GUESSED = 100  # ... and of a name that is worth a suggestion


def parse_measures(measures: Measures) -> tuple[Measure, ...]:
    """Parse one or more measures; a string may name several, separated by spaces or commas.

    measures: a name or several, measures, or a list of both.
    Returns a `Measure` for each, in their order; repeats count once.

    >>> [measure.name for measure in parse_measures("AP, P(rel=2)@5 P.5,10")]
    ['AP', 'P(rel=2)@5', 'P@5', 'P@10']
    """
    if isinstance(measures, str | Measure):
        measures = [measures]
    judgments = isinstance(measures, Mapping) and not all(isinstance(key, Measure) for key in measures)
    if judgments or not isinstance(measures, Iterable):
        raise MeasureError(f"{measures!r:.60} names no measures.", hint="the order is: qrels, run, measures")
    parsed: dict[Measure, None] = {}
    for item in measures:
        words = _words(item) if isinstance(item, str) else (item,)
        parsed.update((parse_measure(word), None) for word in words)
    if not parsed:
        raise MeasureError("no measure is named.", hint="for instance 'nDCG@10'")
    return tuple(parsed)


@lru_cache(maxsize=1000)
def _words(text: str) -> tuple[str, ...]:
    # A comma or a blank inside parentheses belongs to the parameters.
    depth, words = 0, [[""]]
    for piece in re.split(r"([\s,()])", text):
        depth += (piece == "(") - (piece == ")")
        if depth <= 0 and (piece.isspace() or piece == ","):
            words[-1].append("," if piece == "," else "")
            words.append([])
        else:
            words[-1].append(piece)
    return tuple(name for part in _rejoined(map("".join, words)) for name in _expanded(part))


def _rejoined(words: Iterable[str]) -> list[str]:
    # "P.5," followed by "10" is one of trec_eval's lists, and so is "ndcg.1=3," followed by "2=9".
    out: list[list[str]] = []
    for word in words:
        bare = word.rstrip(",")
        if out and out[-1][-1].endswith(",") and _ITEM.fullmatch(bare):
            out[-1].append(word)
        elif bare:
            out.append([word])
    return ["".join(parts).rstrip(",") for parts in out]


def _expanded(word: str) -> list[str]:
    _check_length(word)
    cutoffs = re.fullmatch(_CUTOFFS, word) if "," in word else None
    if cutoffs is None or _of_trec_eval(word):
        return [word]
    name, mark, numbers = cutoffs.groups()
    return [f"{name}{mark}{number}" for number in numbers.split(",")]


def parse_measure(measure: str | Measure) -> Measure:
    """Parse the name of a measure; a `Measure` is returned as it is.

    measure: its name with its parameters, such as "P(rel=2)@5".
    Returns a `Measure`.

    >>> parse_measure("recip_rank").name, parse_measure("hit_rate@5").name, parse_measure("precision@5-l2").name
    ('RR', 'hit_rate@5', 'P(rel=2)@5')
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        fact = f"{measure!r:.60} is not a measure."
        raise MeasureError(fact, hint="a measure is named by a string such as 'nDCG@10'")
    return _parsed(measure, registered())


def known_measure(measure: str | Measure, known: Iterable[Measure]) -> Measure:
    """A measure by any of its names; one that is written as one of the known ones is that, and is not read again."""
    known = tuple(known)
    named = next((one for one in known if measure == one.name), None) or parse_measure(measure)
    return next((one for one in known if one == named), named)  # under the name typed


@lru_cache(maxsize=1000)
def _parsed(text: str, _registered: int) -> Measure:
    """Each text is parsed once, until another measure is registered, which may change the meaning of a name."""
    _check_length(text)
    if ours := AS_MANY.get(text.strip()):
        return Measure(parse_measure(ours).definition, (), text.strip())
    parts = _OURS.fullmatch(text.strip())
    if parts is None:
        raise _unlike(text)
    refuse_unclear(text.strip())
    name, inside, at = parts.groups()
    if spoken := _spoken(name, inside, at):
        return Measure(spoken.definition, spoken.parameters, text.strip())
    given: dict[str, Any] = {}
    definition = find(name)
    level = _LEVEL.fullmatch(f"{name}@{at}" if at else name)
    if level and (definition is None or at):  # ranx writes the threshold last
        if _LEVEL.fullmatch(level[1]):
            raise _unlike(text)
        return _with_level(parse_measure(level[1]), level[2])
    if definition is None and (theirs := _of_trec_eval(text.strip())):
        return theirs
    if definition is None:
        cut = _CUTOFF.fullmatch(name)
        definition = find(cut[1]) if cut else None
        if definition is None or cut is None:
            raise MeasureError(f"there is no measure '{shortened(name)}'.", hint=_suggestion(name, at))
        given[definition[0].at] = cut[2]
    known, fixed = definition
    given |= fixed
    for pair in re.findall(_PARAMETER, inside) if inside else ():
        if pair.strip():
            given |= _parameter(pair, known)
    if at is not None:
        given[known.at] = at
    known, given = read_parameters(known, given)
    return known(**given)


def _spoken(name: str, inside: str | None, at: str | None) -> Measure | None:
    cut = None if plain(name) in RAG_NAMES else _CUTOFF.fullmatch(name)
    known = RAG_NAMES.get(plain(cut[1] if cut else name))
    if known is None:
        return None
    at = cut[2] if cut else at
    ours, _, fixed = (known.ours if at else known.uncut).rstrip(")").partition("(")
    if not ours:
        raise MeasureError(f"{name} needs a cutoff.", hint=f"for instance {known.name}@10")
    parameters = ", ".join(filter(None, (fixed, inside)))
    return parse_measure(f"{ours}({parameters})" + (f"@{at}" if at else ""))


def _of_trec_eval(text: str) -> Measure | None:
    """The meaning of a name that is not ours; rare, so trec_eval's table is imported only then."""
    from cranfield.measures.trec_eval_names import single

    return single(text)


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise MeasureError(f"'{shortened(text)}' has {len(text):,} characters, but a measure has at most {LONGEST:,}.")


def _unlike(text: str) -> MeasureError:
    return MeasureError(f"'{shortened(text)}' is not a measure.", hint="a measure looks like nDCG@10 or P(rel=2)@5")


def find_definition(name: str) -> Definition:
    """The measure of a name, with or without parameters and cutoff."""
    bare = re.split(r"[(@]", name)[0]
    spoken = RAG_NAMES.get(plain(bare))
    known = find(spoken.ours if spoken and not spoken.uncut else bare)
    return known[0] if known else parse_measure(name).definition


def _with_level(measure: Measure, level: str) -> Measure:
    if "rel" not in measure.definition.kinds:
        raise MeasureError(f"{measure.name} has no threshold, so '-l{level}' has no effect on it.")
    return measure.replace(rel=level)


def _parameter(pair: str, measure: Definition) -> dict[str, Any]:
    name, equals, value = (part.strip() for part in pair.partition("="))
    if not equals:
        fact = f"'{shortened(pair.strip())}' is not a parameter of {measure.name}."
        raise MeasureError(fact, hint="write name=value")
    value = re.sub(r"[\s'\"]", "", value)
    if name in measure.kinds:
        return {name: value}
    if name == "dcg" and "gain" in measure.kinds:
        return {"gain": {"log2": "linear", "exp-log2": "exponential"}.get(value, value)}
    if name == "beta" and "p" in measure.kinds:
        return {"p": value}  # of NRBP
    return {_OTHER_NAMES.get(name, name): value}


def _suggestion(name: str, at: str | None) -> str:
    listed = either("cranfield.catalogue()", "'cranfield measures'") + " lists them"
    if len(name) > GUESSED:
        return listed
    if theirs := near(name, at):
        return theirs
    # A typo, or two in a long word. Words that only share an ending mean something else.
    allowed = (len(name) > 3) + (len(name) > 7)
    words = {word.partition("(")[0].lower(): word.partition("(")[0] for word in spellings()}
    words |= {spoken.name.lower(): spoken.name for spoken in RAG_NAMES.values()}
    close = [(slips(name.lower(), word), word) for word in words if abs(len(word) - len(name)) <= allowed]
    if close and min(close)[0] <= allowed:
        return f"did you mean {_meant(words[min(close)[1]], at)}?"
    return listed


def _meant(word: str, at: str | None) -> str:
    """How to write the measure of a mistyped name: with the cutoff, if it can have that one."""
    if spoken := RAG_NAMES.get(plain(word)):
        return f"{spoken.name}@{at or 10}" if at or not spoken.uncut else spoken.name
    definition = find_definition(word)
    try:
        return definition(**{definition.at: at}).name if at else definition.example
    except MeasureError:
        return definition.example
