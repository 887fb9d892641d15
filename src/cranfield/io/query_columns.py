"""Which column of a table of queries is the id and which the text: by the words of its header, and by its cells."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from cranfield.words import joined

# Words of headers, without accents. A text is named by a noun, with any of the words beside it around it.
_NOUNS = {
    3: "query queries search searches searchterm searchterms searchquery keyword keywords term terms phrase q "
    "utterance suchbegriff suchbegriffe suchanfrage suchanfragen suchwort suchworter suchphrase suchtext suche "
    "requete requetes recherche recherches consulta consultas busqueda busquedas ricerca ricerche "
    "zoekterm zoektermen zoekopdracht zoekopdrachten sokord sokfras pesquisa pesquisas zapytanie fraza "
    "запрос 検索語 查询",
    2: "text texts title titel titre question questions frage prompt",
    1: "topic topics description desc name begriff string input words",
}
_AROUND = (
    "user users customer top popular site internal raw original clean cleaned normalized normalised exact web my the "
    "string text phrase term word words value input of de la du les des l plus frequentes haufigste haufige interne "
    "interner mot mots cle cles terme termes termino terminos termine termini palabra palabras clave di termo termos"
)
_ID = "id ids qid tid queryid topicid searchid identifier uuid guid"
_WEAK_ID = "number num no nr nummer numero key #"
_ASKED = {"query", "q", "topic", "search", "question", "request", "such", "suchanfrage", "requete"}  # ids of these
_DUAL = {"query", "topic", "q", "question"}  # an id where another column has the text
_WEIGHT = (
    "weight weights gewicht poids count counts anzahl nombre frequency freq haufigkeit frequence impressions "
    "impressionen antal aantal volume searches suchen occurrences hits clicks"
)
_SEGMENT = (
    "segment segments category kategorie categorie group gruppe groupe language lang sprache langue locale kategori "
    "class type intent country device"
)
_OTHER = (
    "filter filters history metadata user users session sessions klicks clics ctr position rank date time timestamp "
    "url page event events total average avg conversions revenue views results tags notes comment"
)
NARRATIVES = ("narrative", "narr")
# What a query must find or reach: the settings of [[expect]], and the names of columns that hold them.
EXPECTED = {
    "find": ("must_find", "find", "expect", "expected"),
    "in_first": ("in_first", "within"),
    "measure": ("measure",),
    "at_least": ("at_least",),
    "at_most": ("at_most",),
}


class QueryColumn(NamedTuple):
    """A column of queries that evaluations use.

    parameter: its name in Python; option: on the command line
    words: of headers that mean it
    meaning: in the help of the option
    """

    parameter: str
    option: str
    words: tuple[str, ...]
    meaning: str

    @property
    def names(self) -> tuple[str, ...]:
        """How the option may be typed."""
        return (self.option, "--by") if self.parameter == "segments" else (self.option,)


# The one place that declares them: by the name of the column, options, settings, help and readers follow.
COLUMNS = {
    "weight": QueryColumn(
        "weights",
        "--weights",
        tuple(_WEIGHT.split()),
        "How much each query counts, such as how often it is asked: a file of query and weight.",
    ),
    "segment": QueryColumn(
        "segments", "--segments", tuple(_SEGMENT.split()), "Segments of the queries: a file of query and segment."
    ),
    "group": QueryColumn(
        "groups",
        "--query-groups",
        ("group", "groups", "gruppe"),
        "Repeats or variants of a query, which count as one: a file of query and group.",
    ),
    "answerable": QueryColumn(
        "answerable",
        "--answerable",
        ("answerable",),
        "Whether a query has an answer, so that returning nothing is right: a file of query and yes or no, or a store.",
    ),
}
THRESHOLD = "threshold"  # beside the column of answers
FROM_FILE = "query_columns"  # all of them from one file, by their own names
PARAMETERS = (FROM_FILE, *(column.parameter for column in COLUMNS.values()))
KINDS = {name: column.words for name, column in COLUMNS.items()}
_TIERS = {noun: tier for tier, nouns in _NOUNS.items() for noun in nouns.split()}
_BESIDE, _IDS, _WEAK_IDS = (set(words.split()) for words in (_AROUND, _ID, _WEAK_ID))
_OTHERS = {*NARRATIVES, *(word for words in KINDS.values() for word in words), *_OTHER.split()}

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:.]+ ?(Z|UTC|[+-][\d:]+)?")
_CODE = re.compile(r"(?=.*\d)\S+")
_NEARLY = 0.9
MOST_READ = 2_000  # rows by which columns are told apart


class Roles(NamedTuple):
    """The places of the id and of the text; without an id, ids are made from the texts."""

    id: int | None
    text: int


class Unclear(Exception):
    """Why a table has no clear reading."""


@lru_cache(1024)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name, in lower case and without accents: queryText, query-text and "Query Text" are one.

    >>> words_of("queryID"), words_of("Requêtes les plus fréquentes")
    (('query', 'id'), ('requetes', 'les', 'plus', 'frequentes'))
    """
    if name.strip() == "#":
        return ("#",)
    split = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", name)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", split.lower()) if not unicodedata.combining(sign))
    return tuple(re.findall(r"[^\W_]+", plain))


def text_tier(name: str) -> int:
    """How clearly a column's name says that it holds the text of a query, from 0 to 3."""
    words = words_of(name)
    tiers = [_TIERS.get(word, 0) for word in words]
    if not any(tiers):
        return 0
    if all(tier or word in _BESIDE for word, tier in zip(words, tiers, strict=True)):
        return max(tiers)
    return min(tiers[-1], 1)  # such as "page title": the last word says what it is


def id_tier(name: str) -> int:
    """How clearly a column's name says that it holds the id of a query, from 0 to 4."""
    words = words_of(name)
    rest = [word for word in words if word not in _IDS and word not in _WEAK_IDS]
    if not words or any(word not in _ASKED and word not in _TIERS for word in rest):
        return 0
    if any(word in _IDS for word in words):
        return 4 if rest or words[0] not in ("id", "ids", "uuid", "guid", "identifier") else 3
    return 2 if len(rest) < len(words) else int(words[0] == "topic" and len(words) == 1)


def is_named(name: str) -> bool:
    known = any(word in _OTHERS for word in words_of(name)) or any(expected_columns([name]).values())
    return known or text_tier(name) > 0 or id_tier(name) > 0


def column_of(kind: str, names: Sequence[str]) -> list[str]:
    """The columns that may hold the weight, the segment or another fact of a query; one alone if it is clear."""
    found: list[str] = []
    for word in KINDS.get(kind, (kind,)):
        named = [name for name in names if word in words_of(name)]
        exact = [name for name in named if words_of(name) == (word,)]
        if word == kind and (exact or named):
            return exact or named
        found += (name for name in named if name not in found)
    return found


def expected_columns(names: Sequence[str]) -> dict[str, list[str]]:
    """The columns that say what a query must find or reach, by setting.

    >>> expected_columns(["Must find", "within", "count"])
    {'find': ['Must find'], 'in_first': ['within'], 'measure': [], 'at_least': [], 'at_most': []}
    """
    return {
        setting: [name for name in names if words_of(name) in map(words_of, known)]
        for setting, known in EXPECTED.items()
    }


def cell_text(value: Any) -> str:
    """A value as its column is judged by; what is neither text nor empty counts as a number."""
    return value.strip() if isinstance(value, str) else "" if value is None else "0"


def is_number(cell: str) -> bool:
    """Whether a cell is a number, a share, a price, a date or a time: it has no letter, or is a time.

    >>> [is_number(cell) for cell in ("1.234,5", "5 %", "2024-01-31T10:00:00Z", "1e-3", "iphone 15", "4k")]
    [True, True, True, True, False, False]
    """
    if not any(map(str.isalpha, cell)):
        return True
    return bool(_TIME.fullmatch(cell) or re.fullmatch(r"[-+]?[\d.]+[eE][-+]?\d+", cell))


class Column:
    """What the cells of a column look like."""

    def __init__(self, cells: Sequence[str]) -> None:
        self.filled = [cell for cell in cells if cell]
        self.whole = len(self.filled) == len(cells)
        self.unique = self.whole and len(set(cells)) == len(cells)
        self.numbers = all(map(is_number, self.filled))
        self.blanks = sum(" " in cell for cell in self.filled) / max(len(self.filled), 1)
        self.codes = not self.blanks and _are_codes(self.filled)
        self.texts = bool(self.filled) and not self.numbers

    def falls(self) -> bool:
        """Whether it is numbers from the highest to the lowest, as counts are sorted and ids are not."""
        if len(self.filled) < 3 or not all(map(str.isdecimal, self.filled)):
            return False
        numbers = list(map(int, self.filled))
        return numbers == sorted(numbers, reverse=True)


def _are_codes(cells: Sequence[str]) -> bool:
    """Whether nearly all have digits and are of one shape, as q1 and q27, or long; ps5 and 4k are words to look for."""
    shapes = Counter(re.sub(r"\d+", "0", cell) for cell in cells if _CODE.fullmatch(cell))
    most = max(shapes.values(), default=0)
    return most >= _NEARLY * len(cells) > 0 or (
        shapes.total() == len(cells) > 0 and all(len(cell) > 7 for cell in cells)
    )


def is_header(first: Sequence[str], below: Sequence[Column]) -> bool:
    """Whether a first row names the columns: by its words, or because it has none of the numbers below."""
    named = [(name.strip(), column) for name, column in zip(first, below, strict=False) if name.strip()]
    if any(re.search(r"\d", name) and (is_number(name) or column.codes) for name, column in named):
        return False
    if any(text_tier(name) >= 2 or id_tier(name) >= 3 for name, _ in named):
        return True
    return any(column.filled and column.numbers for _, column in named)


def roles_by_name(names: Sequence[str], columns: Sequence[Column]) -> Roles:
    """The id and the text of a table that names its columns."""
    tiers = [
        text_tier(name) if column.texts or not column.filled else 0 for name, column in zip(names, columns, strict=True)
    ]
    ids = [id_tier(name) for name in names]
    for at, name in enumerate(names):
        others = [tier for place, tier in enumerate(tiers) if place != at and tier >= 2]
        if "".join(words_of(name)) in _DUAL and any(others) and not ids[at] and columns[at].unique:
            if not columns[at].texts or columns[at].codes:
                tiers[at], ids[at] = 0, 2
            elif "text" in map(str.lower, names) and name.lower() == "query":
                raise Unclear("it is not clear whether the column 'query' or 'text' is the text of a query.")
    known = max((tier for at, tier in enumerate(tiers) if not ids[at] or tier > ids[at]), default=0)
    words = [at for at, column in enumerate(columns) if column.texts and not column.codes and not ids[at]]
    if known:
        texts = [at for at, tier in enumerate(tiers) if tier == known and (not ids[at] or tier > ids[at])]
        if known == 1:  # such as a description beside a summary
            texts += (at for at in words if not is_named(names[at]))
    else:  # the name says nothing: the one column of words
        texts = [at for at in words if not is_named(names[at])] or words
    if not texts:
        numbers = [name for name, column in zip(names, columns, strict=True) if text_tier(name) >= 2]
        if numbers:
            raise Unclear(f"the column '{numbers[0]}' contains only numbers, no texts of queries.")
        raise Unclear("no column is the text of a query.")
    if len(texts) > 1:
        raise Unclear(
            f"the columns {' and '.join(repr(names[at]) for at in texts[:3])} could all be the text of a query."
        )
    found = [at for at, tier in enumerate(ids) if tier and at != texts[0] and (tier >= 3 or columns[at].unique)]
    best = max((ids[at] for at in found), default=0)
    found = [at for at in found if ids[at] == best]
    if len(found) > 1:
        raise Unclear(
            f"the columns {' and '.join(repr(names[at]) for at in found[:3])} could all be the id of a query."
        )
    return Roles(found[0] if found else None, texts[0])


def _several(names: Sequence[str], what: str) -> Unclear:
    return Unclear(f"{joined(map(repr, names), 'and')} could all be the {what} of a query.")


def roles_by_cells(columns: Sequence[Column], *, id_first: bool) -> Roles:
    """The id and the text of a table without a header. `id_first`: lines of this kind usually are an id and a text."""
    texts = [at for at, column in enumerate(columns) if column.texts]
    if not texts:
        raise Unclear("no column is the text of a query: all are numbers.")
    first, *rest = columns
    words = [at for at in texts if at and (not columns[at].codes or len(columns) == 2)]
    if first.numbers or first.codes:
        if len(words) == 1 and first.whole and not first.falls():
            return Roles(0, words[0])
    elif len(texts) == 1 and not any(column.unique for column in rest):
        return Roles(None, 0)  # numbers that appear twice are no ids
    elif len(columns) == 2 and first.unique and not first.blanks and columns[1].unique and columns[1].texts:
        pairs = list(zip(first.filled, columns[1].filled, strict=True))
        if (id_first and columns[1].blanks >= 0.5) or all(_is_slug(*pair) for pair in pairs):
            return Roles(0, 1)
    raise Unclear("it is not clear which column is the text of a query.")


def _is_slug(name: str, text: str) -> bool:
    return len(words_of(name)) > 1 and set(words_of(name)) <= set(words_of(text))
