"""The calls of the page, as plain data in and out: the server knows HTTP, the desk knows judging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import quote

from cranfield.errors import InputError
from cranfield.judging.page.finding import AddableDocuments, Corpus, SystemSearch
from cranfield.judging.store import listing, waiting
from cranfield.judging.store.checked_input import checked_grade, checked_id, checked_item, checked_text
from cranfield.judging.store.contents import known_pairs
from cranfield.judging.store.events import Event, Flag, Task, WaitingItem, item_of
from cranfield.judging.store.flags import flags_by_query
from cranfield.judging.store.merging import PERSON
from cranfield.judging.store.store import Store
from cranfield.judging.store.views import known_assessors

# What the page may ask, each answered by a method of the desk.
CALLS = (
    *("start", "next", "judge", "undo", "open", "passages", "add", "leave"),
    *("query", "queries", "judged", "conflicts", "find", "flag", "flags"),
)
MOST_TASKS = 10  # that a page may keep for one assessor
LISTED = 500  # queries
JUDGED = 50  # judgments at a time
CONFLICTS = 100
FOUND = 8  # documents that a search for one to add shows
BEGINNING = 200  # characters of their texts
LARGEST_IMAGE = 20_000_000  # bytes
# Recognised by their first bytes, not by their names; SVG is left out, because it can contain scripts.
_SIGNS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_INSIDE = tuple(f"data:{kind};base64," for kind in ("image/png", "image/jpeg", "image/gif", "image/webp"))

if TYPE_CHECKING:
    from cranfield.judging.pool.order import Followed

Asked = Mapping[str, Any]
Told = dict[str, Any]


class TakenError(Exception):
    """Someone else is judging the document, or enough people have judged it."""


class Desk:
    """A store as the page sees it. It never says which system returned a document, or at which rank.

    documents: reads the corpus; system: searches one, where there is no corpus
    next_steps: what to do once a comparison is decided, and the commands for it
    """

    def __init__(
        self,
        store: Store,
        assessor: str = "",
        followed: Followed | None = None,
        documents: Corpus | None = None,
        system: SystemSearch | None = None,
        next_steps: Mapping[str, str] | None = None,
    ) -> None:
        self._store, self._assessor, self._followed = store, assessor, followed
        self._addable = AddableDocuments(store, documents, system)
        self._next_steps = [{"name": name, "command": command} for name, command in (next_steps or {}).items()]
        damaged = store._database.failing(
            InputError, "cannot be read"
        )  # values of a wrong type, wherever they are used
        self.calls: dict[str, Callable[[Asked], Told]] = {name: damaged(getattr(self, name)) for name in CALLS}

    def start(self, asked: Asked) -> Told:
        with self._store._reading() as connection:
            names = [name for name, kind in known_assessors(connection).items() if kind == PERSON]
        scale = [step._asdict() for step in self._store.scale]
        known = {"store": self._store.name, "assessor": self._assessor, "assessors": names, "scale": scale}
        return {**known, "next_steps": self._next_steps}

    def next(self, asked: Asked) -> Told:
        who, count, left = self._who(asked), asked.get("count"), asked.get("without")
        count = min(count, MOST_TASKS) if _is_number(count) and count > 0 else 1
        without = [number for number in left[:1000] if _is_number(number)] if isinstance(left, list) else []
        if self._followed is not None and asked.get("all") is not True:
            tasks = self._in_order(self._followed, who, count, without)
        else:
            if self._followed is not None:
                self._followed.wait_for_all()
            tasks = self._store.next_several(who, count, without=without, first=_text(asked, "query_id"))
        return {
            "tasks": [self._task(task) for task in tasks],
            "progress": self._progress(who),
            "decision": self._followed.summary() if self._followed else None,
        }

    def _in_order(self, followed: Followed, who: str, count: int, without: list[int]) -> list[Task]:
        items = [(*pair, 0, 0) for pair in followed.next(who, count + len(without))]
        return self._store._database.commits.run(
            "who is working on what",
            lambda connection: waiting.take_several(connection, who, items, count, without),
            lasting=False,
        )

    def judge(self, asked: Asked) -> Told:
        grade = asked.get("grade")
        scale = self._store.scale
        if grade is not None and grade not in scale:
            raise InputError(self._store.name, f"{grade!r:.20} is not on the scale.", hint=f"grades: {scale.listed()}")
        event = self._store.judge(
            *_item(asked)[:2],
            grade,
            assessor=self._who(asked),
            part=_part(asked),
            adjudicates=asked.get("adjudicates") is True,
            comment=asked.get("comment") or "",
            seconds=asked.get("seconds"),
            text_sha256=_text(asked, "text_sha256") or None,
            key=_text(asked, "key") or None,
        )
        return {"event": event.number, "progress": self._progress(event.assessor)}

    def undo(self, asked: Asked) -> Told:
        who = self._who(asked)
        settled = asked.get("adjudicates") is True
        event = self._store.undo(who, adjudicates=settled, key=_text(asked, "key") or None)
        if event is None:
            return {"task": None, "progress": self._progress(who)}
        with self._store._reading() as connection:
            item = listing.shown_item(connection, item_of(event))
        task, grade = self._take(who, item, even_of_others=True)
        return {"task": task, "said": grade, "progress": self._progress(who)}

    def open(self, asked: Asked) -> Told:
        item = _item(asked)
        task, grade = self._take(self._who(asked), item)
        if task is None:
            with self._store._reading() as connection:
                holders = listing.held_documents(connection, item[0]).get(item, ())
            raise TakenError(
                "someone else is judging this document." if holders else "enough people have judged this document."
            )
        return {"task": task, "said": grade}

    def passages(self, asked: Asked) -> Told:
        who, (query, document, *_) = self._who(asked), _item(asked)
        with self._store._reading() as connection:
            events = listing.marked_passages(connection, who, query, document)
        return {"passages": [{"part": list(event.part or ()), "grade": event.grade} for event in events]}

    def add(self, asked: Asked) -> Told:
        """Let a document that an assessor knows wait for a query, though no system returned it, and open it."""
        who, item = self._who(asked), _item(asked)
        with self._store._reading() as connection:
            if not listing.has_query(connection, item[0]):
                raise InputError(self._store.name, f"there is no query '{item[0]}'.")
        if (document := self._addable.get(item[1])) is not None:
            self._store.add_documents([document])
        self._store.wait([item[:2]], why=f"added by {who}")
        return {**self.open(asked), "progress": self._progress(who)}

    def find(self, asked: Asked) -> Told:
        """The documents that could be added to a query, by words of their titles and texts, or by their ids."""
        self._who(asked)
        found, read = self._addable.find(_text(asked, "words"), FOUND)
        with self._store._reading() as connection:
            there = known_pairs(connection, [_text(asked, "query_id")])
        pooled = {document for _, document in there}
        documents = [
            {
                "doc_id": document.doc_id,
                "title": document.title,
                "text": document.text[:BEGINNING],
                "pooled": document.doc_id in pooled,
            }
            for document in found
        ]
        return {"documents": documents, "read": read}

    def leave(self, asked: Asked) -> Told:
        self._store.give_back(self._who(asked))
        return {}

    def query(self, asked: Asked) -> Told:
        who, query = self._who(asked), _text(asked, "query_id")
        with self._store._reading() as connection:
            judges, held = listing.judges_of_documents(connection, query), listing.held_documents(connection, query)
            documents = [
                {
                    **_named(item),
                    "title": title,
                    "open": is_open,
                    "said": mine and _grade_of(mine),
                    "judges": [name for name in judges.get(item, ()) if name != who],
                    "with": [name for name in held.get(item, ()) if name != who],
                }
                for item, title, mine, is_open in listing.list_documents(connection, who, query)
            ]
            flags = flags_by_query(connection, [query]).get(query, [])
            number = listing.position(connection, who, query)
            queries = listing.totals(connection).queries
            asked_for = waiting.task_of(connection, (query, "", 0, 0))
        texts = {"query": asked_for.query, "narrative": asked_for.narrative}
        told = {"number": number, "queries": queries, "documents": documents}
        return {**texts, **told, "flags": [_flag(flag) for flag in flags]}

    def flag(self, asked: Asked) -> Told:
        flag = self._store.flag(
            checked_id(asked.get("query_id"), self._store.name, "a query"),
            assessor=self._who(asked),
            comment=_text(asked, "comment"),
            withdrawn=asked.get("withdrawn") is True,
            unanswerable=asked.get("unanswerable") is True,
            key=_text(asked, "key") or None,
        )
        return {"flags": [_flag(each) for each in self._store.flags(flag.query_id)]}

    def flags(self, asked: Asked) -> Told:
        self._who(asked)
        with self._store._reading() as connection:
            by_query = flags_by_query(connection)
            texts = {query: waiting.task_of(connection, (query, "", 0, 0)) for query in islice(by_query, LISTED)}
        queries = [
            {
                "query_id": query,
                "query": task.query,
                "narrative": task.narrative,
                "flags": [_flag(each) for each in by_query[query]],
            }
            for query, task in texts.items()
        ]
        return {"queries": queries, "more": len(by_query) > LISTED}

    def queries(self, asked: Asked) -> Told:
        who, words = self._who(asked), _text(asked, "words")
        with self._store._reading() as connection:
            rows = listing.list_queries(connection, who, words, LISTED + 1)
            shown = [row["query_id"] for row in rows[:LISTED]]
            judges, flags = listing.judges_of_queries(connection, shown), flags_by_query(connection, shown)
        for row in rows:
            query = row["query_id"]
            row |= {"judges": judges.get(query, {}), "flags": [_flag(each) for each in flags.get(query, ())]}
        return {
            "queries": rows[:LISTED],
            "more": len(rows) > LISTED,
            "progress": self._progress(who),
            "decision": self._followed.summary() if self._followed else None,
        }

    def judged(self, asked: Asked) -> Told:
        who = self._who(asked)
        filters: dict[str, Any] = {name: text for name in ("by", "query_id", "words") if (text := _text(asked, name))}
        if "grade" in asked:
            filters["grade"] = checked_grade(asked["grade"], "the page")
        before = asked["before"] if _is_number(asked.get("before")) else None
        with self._store._reading() as connection:
            rows = listing.list_judged(connection, who, filters, before, JUDGED + 1)
        return {"judged": [_judged(*row, who) for row in rows[:JUDGED]], "more": len(rows) > JUDGED}

    def conflicts(self, asked: Asked) -> Told:
        self._who(asked)
        conflicts, shown = self._store.conflicts(), []
        with self._store._reading() as connection:
            for query, document, grades in conflicts[:CONFLICTS]:
                said = [
                    {"assessor": event.assessor, **_grade_of(event)}
                    for event in listing.current_grades(connection, query, document)
                    if event.assessor in grades and not event.adjudicates
                ]
                task = self._task(waiting.task_of(connection, (query, document, 0, 0)))
                shown.append({"task": task, "said": said})
        return {"conflicts": shown, "count": len(conflicts)}

    def image(self, doc_id: str) -> str:
        with self._store._reading() as connection:
            return waiting.task_of(connection, ("", checked_text(doc_id, "the page", "doc_id"), 0, 0)).image

    def _take(self, who: str, item: WaitingItem, *, even_of_others: bool = False) -> tuple[Told | None, Told | None]:
        """A document and the assessor's grade; none if others judge it, unless it is shown anyway."""
        with self._store._writing("who is working on what", lasting=False) as connection:
            task = waiting.take(connection, who, item)
            if task is None and even_of_others:
                task = waiting.task_of(connection, item)
            grade = listing.current_grade(connection, who, item)
        return self._task(task) if task else None, _grade_of(grade) if grade else None

    def _task(self, task: Task) -> Told:
        return {
            **asdict(task),
            **_named(item_of(task)),
            "text": task.text[slice(*task.part)] if task.part else task.text,
            "url": task.url if is_web_address(task.url) else "",
            "image": image_link(task.doc_id, task.image),
            "text_sha256": task.text_sha256,
        }

    def _progress(self, who: str) -> Told:
        with self._store._reading() as connection:
            totals, pace = listing.totals(connection), listing.pace(connection, who)
        counts = {name: getattr(totals, name) for name in ("documents", "left", "queries", "queries_done")}
        return {**counts, "pace": pace}

    def _who(self, asked: Asked) -> str:
        name = _text(asked, "assessor").strip()
        if not name:
            raise InputError(self._store.name, "who is judging?", hint="give a name")
        return checked_id(name, self._store.name, "the assessor")


def _named(item: WaitingItem) -> Told:
    query, document, start, end = item
    return {"query_id": query, "doc_id": document, "part": [start, end] if end else None}


def _grade_of(event: Event) -> Told:
    return {"grade": event.grade, "comment": event.comment}


def _flag(flag: Flag) -> Told:
    told = {"assessor": flag.assessor, "comment": flag.comment, "at": flag.at.isoformat()}
    return {**told, "unanswerable": flag.unanswerable}


def _judged(event: Event, query: str, title: str, who: str) -> Told:
    shown = ("number", "assessor", "kind", "adjudicates", "grade", "comment")
    return {
        **{name: getattr(event, name) for name in shown},
        **_named(item_of(event)),
        "query": query,
        "title": title,
        "mine": event.assessor == who and not event.adjudicates,
        "at": event.at.isoformat(),
    }


def _item(asked: Asked) -> WaitingItem:
    return checked_item((asked.get("query_id"), asked.get("doc_id"), _part(asked)), "the page")


def _part(asked: Asked) -> Any:
    part = asked.get("part")
    return tuple(part) if isinstance(part, list) else None


def _text(asked: Asked, name: str) -> str:
    value = asked.get(name)
    return checked_text(value, "the page", name) if isinstance(value, str) else ""


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def image_link(doc_id: str, image: str) -> dict[str, str] | None:
    """What the page does with an image: show it (`source`), or name the place where it is (`elsewhere`)."""
    if not image or is_web_address(image):
        return {"elsewhere": image} if image else None
    return {"source": image if image.startswith(_INSIDE) else f"image?doc_id={quote(doc_id, safe='')}"}


def is_web_address(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def read_image(folder: Path, image: str) -> tuple[bytes, str] | None:
    """The bytes and the type of a picture beneath a folder; None for anything else."""
    try:
        path = (folder / image).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file() or path.stat().st_size > LARGEST_IMAGE:
            return None
        content = path.read_bytes()
    except (OSError, ValueError, RuntimeError):  # the last is a link that leads to itself
        return None
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return content, "image/webp"
    kind = next((kind for sign, kind in _SIGNS.items() if content.startswith(sign)), None)
    return (content, kind) if kind else None
