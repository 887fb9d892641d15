"""The spellings of column names, and which one wins if a table has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from cranfield.errors import InputError

Role = Literal["qrels", "run"]

# A recommender is asked for a user, and returns items.
USER = ("user_id", "userid", "user")
ITEM = ("item_id", "itemid", "movieid", "item")
QUERY = ("query_id", "qid", "q_id", "queryid", "topic_id", "topic", "query", "task", "task_id", *USER)
DOCUMENT = (
    *("doc_id", "docno", "docid", "d_id", "did", "corpus_id", "document_id", "pid", "passage_id"),
    *("document", "doc"),
    *ITEM,
)
RATING = ("rating", "weight")
TIME = ("timestamp", "datetime", "time", "date")
GRADE = ("relevance", "grade", "rel", "label", "judgment", "rating", "score")
SCORE = ("score", "similarity", "sim")
RANK = ("rank", "position")
# Where a document may be judged more than once: for a subtopic, by a group of judges, in one of their sessions; or the
# stratum of a sampled pool, in which the iteration has no meaning.
GROUP = ("group", "group_id", "subtopic", "subtopic_id", "stratum", "stratum_id", "iteration", "iter")
SUBGROUP = ("subgroup", "subgroup_id")
# A part of a document: its start and end, or its text. LangChain has start_index, LlamaIndex start_char_idx.
START = ("start", "start_index", "start_char_idx", "start_char", "start_offset", "begin")
END = ("end", "end_index", "end_char_idx", "end_char", "end_offset", "stop")
QUOTE = ("quote", "passage", "evidence", "span")
TEXT = ("text", "page_content", "content", "chunk_text")
# A search of a task that takes several.
TASK = ("task", "task_id", "trace_id", "session_id", "conversation_id")
STEP = ("step", "call", "search", "turn")
SECONDS = ("seconds", "latency")
# Of a document: its id, and what can be shown of it.
_WORDS = ("document", "doc", "item")  # which may also be a text
DOCUMENT_ID = ("_id", *(name for name in DOCUMENT if name not in _WORDS), "id", "sku", *_WORDS)
FIELDS = {
    "title": ("title", "name"),
    "text": ("text", "content", "contents", "body", "page_content", "description"),
    "url": ("url", "link"),
    "image": ("image", "image_url", "thumbnail"),
}
CHUNK_ID = ("chunk_id", "chunk", "node_id", "id_", "id", "_id")
CHUNK_OF = (*DOCUMENT, "ref_doc_id", "source")
TOKENS = ("tokens", "token_count", "n_tokens", "num_tokens")


class ColumnPlaces(NamedTuple):
    """Places of the columns. `ranks`: the value is a rank, because there is no score; `groups`: group and subgroup."""

    query: int
    document: int
    value: int
    value_name: str
    ranks: bool
    groups: tuple[int, ...] = ()


def plain_name(name: str) -> str:
    """The name of a column as it is looked up: case, dashes and blanks do not matter."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def find_columns(names: Sequence[str], role: Role) -> ColumnPlaces | None:
    plain = list(map(plain_name, names))

    def place(spellings: Sequence[str]) -> int | None:
        return next((plain.index(word) for word in spellings if word in plain), None)

    query, document = place(QUERY), place(DOCUMENT)
    if query is None or document is None or len(set(plain)) < len(plain):  # the same name twice
        return None
    if role == "qrels" and place(GRADE[:-1]) is None and place(RANK) is not None:
        return None  # scores and ranks are a run, not judgments
    value_name, ranks = ("grade" if role == "qrels" else "score"), False
    value = place(GRADE if role == "qrels" else SCORE)
    if value is None and role == "run":
        value, value_name, ranks = place(RANK), "rank", True
    if value is None:
        return None
    groups = (place(GROUP), place(SUBGROUP))
    named = () if groups[0] is None else tuple(column for column in groups if column is not None)
    return ColumnPlaces(query, document, value, value_name, ranks, named)


def rank_place(names: Sequence[str]) -> int:
    """The place of a column of ranks beside one of scores; -1 if there is none."""
    plain = list(map(plain_name, names))
    return next((plain.index(word) for word in RANK if word in plain), -1)


def needed_columns(names: Sequence[str], role: Role, source: str) -> ColumnPlaces:
    """The same; it is an error if one is missing."""
    places = find_columns(names, role)
    if places is None:
        raise InputError(source, f"required columns are missing; it has {', '.join(names)}.", hint=wanted(role))
    return places


def refuse_passages(names: Sequence[str], role: Role, source: str) -> None:
    """Refuse judgments of passages where judgments of documents are read: the passages would be lost."""
    plain = set(map(plain_name, names))
    if role == "qrels" and (QUOTE[0] in plain or {START[0], END[0]} <= plain):
        raise InputError(
            source,
            "these are judgments of passages, but one grade for each document is needed.",
            hint="evaluate, compare and gate take them with chunks: PassageJudgments.read and ChunkRun, or --chunks; "
            "of_documents() gives the highest grade of each document",
        )


def refuse_searches(names: Sequence[str], role: Role, source: str) -> None:
    """Refuse several searches for each task where one ranking for each query is read: they would become one."""
    plain = set(map(plain_name, names))
    if role == "run" and STEP[0] in plain and not plain.isdisjoint((*TASK, *QUERY)):
        raise InputError(
            source,
            "this run has several searches for each task (a column 'step'), but one ranking for each is needed.",
            hint="measure the searches: UnionR, CallR, CallRR, NoGain, Refetched; or choose one: "
            "read_searches(run).one('last')",
        )


def wanted(role: Role) -> str:
    values = GRADE if role == "qrels" else SCORE + RANK
    return (
        f"columns may be called {', '.join(QUERY)} (query); {', '.join(DOCUMENT)} (document); "
        f"{', '.join(values)} ({'grade' if role == 'qrels' else 'score or rank'})"
    )


def unused_columns(names: Sequence[str], role: Role) -> tuple[str, ...]:
    places = find_columns(names, role)
    if places is None:
        return ()
    used = {places.query, places.document, places.value, *(places.groups[:1] if role == "qrels" else ())}
    return tuple(name for at, name in enumerate(names) if at not in used)
