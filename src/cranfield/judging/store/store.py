"""open_store(where) → Store: judgments as events, and what waits to be judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from cranfield.errors import InputError, need
from cranfield.io.formats.store import JudgmentView, same_store
from cranfield.judging.store.checked_input import (
    checked_grade,
    checked_id,
    checked_if_given,
    checked_item,
    checked_kind,
    checked_seconds,
    checked_text,
    text_rows,
)
from cranfield.judging.store.events import DocumentPart, Event, Flag, StoredDocument, StoredQuery, Task
from cranfield.judging.store.scale import GradeScale
from cranfield.judging.store.stored_judgments import StoredJudgments


def open_store(where: str | os.PathLike[str], *, create: bool = False, read_only: bool = False) -> Store:
    """Open a store of judgments: a file, or a PostgreSQL database by its URL, postgresql+psycopg://user@host/name.

    where: the path of the file, or the URL.
    create: create the store if there is none yet.
    read_only: never write to it; a file in a folder that cannot be written can be read like this.
    Returns a `Store`, to be closed, or used in a `with` statement.
    A store that an older version made is brought up to date. Several processes and threads may use one store.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
    ...     event = store.judge("q1", "d1", 2, assessor="ann")
    ...     store.view().by_query
    {'q1': {'d1': 2.0}}
    """
    need("sqlalchemy", purpose="a store of judgments", extra="judge")
    from cranfield.io.database import Database
    from cranfield.judging.store.schema import SCHEMA

    return Store(Database(SCHEMA, os.fspath(where), create=create, read_only=read_only))


def open_view(where: str, what: str, wanted: JudgmentView) -> tuple[Any, str]:
    """What `io/formats/store.py` gets through `drawing.py`: judgments, strata, passages or texts, and where from."""
    with open_store(where, read_only=True) as store:
        from cranfield.judging.store.views import by_stratum, marked_in, merged, with_texts

        read: dict[str, Callable[..., tuple[Any, str]]] = {
            "view": merged,
            "strata": by_stratum,
            "passages": marked_in,
            "documents": with_texts,
            "answers": lambda its, _: (dict.fromkeys(its.unanswerable(), "no"), ""),
        }
        return read[what](store, wanted)


class Store(StoredJudgments):
    """Who judged what, and what waits to be judged. Open one with `open_store`.

    Judgments are events: they are appended and never changed. A corrected grade is a later event, and so is taking one
    back. When a call returns, what it saved is on disk.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(f"{folder.name}/judgments.db", create=True)
    >>> store.add_queries({"q1": "how do vaccines work"})
    1
    >>> store.add_documents({"d1": {"title": "Vaccines", "text": "They train the immune system."}})
    1
    >>> store.wait([("q1", "d1"), ("q1", "d2")], why="first 10 of bm25")
    2
    >>> task = store.next_for("ann")
    >>> task.query
    'how do vaccines work'
    >>> [len(store.next_several("ann", 5)), len(store.next_several("bob", 5))]
    [2, 0]
    >>> store.judge("q1", "d1", 3, assessor="ann", seconds=12.5).grade
    3.0
    >>> store.judge("q1", "d2", None, assessor="ann", comment="in Finnish").grade is None
    True
    >>> store.undo("ann").undoes
    2
    >>> store.progress()
    StoreProgress(documents=2, left=1, queries=1, queries_done=0)
    >>> [(event.doc_id, event.grade, event.undoes) for event in store.events()]
    [('d1', 3.0, None), ('d2', None, None), ('d2', None, 2)]
    >>> store.give_back("ann")
    >>> store.view(), store.conflicts(), store.to_judgments()
    (Judgments(queries=1, judgments=1), [], Judgments(queries=1, judgments=1))
    >>> store.close()
    >>> folder.cleanup()
    """

    def add_queries(self, queries: Mapping[Any, Any] | Iterable[Any]) -> int:
        """Add queries.

        queries: {id: text}, {id: {"text": …, "narrative": …}}, or rows (id, text, narrative). A query that is there
            already gets the new text and narrative, unless they are empty.
        Returns how many are new.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.add_queries([("q1", "cats", "Anything on pet cats is relevant."), ("q2", "dogs")])
        2
        """
        from cranfield.judging.store.contents import add_queries

        rows = list(text_rows(queries, StoredQuery, self.name))
        with self._writing("the queries") as connection:
            return add_queries(connection, rows)

    def add_documents(self, documents: Mapping[Any, Any] | Iterable[Any]) -> int:
        """Add documents.

        documents: {id: text}, {id: {"title": …, "text": …, "url": …, "image": …}}, or rows (id, title, text, url,
            image). A document that is there already gets what is not empty. A zero character, which databases
            cannot hold, becomes U+FFFD.
        Returns how many are new.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.add_documents([("d1", "Cats", "Cats sleep a lot.")])
        1
        """
        from cranfield.judging.store.contents import add_documents

        with self._writing("the documents") as connection:
            return add_documents(connection, text_rows(documents, StoredDocument, self.name))

    def wait(self, items: Iterable[Sequence[Any]], *, why: str = "", assessors: int = 1, chosen_by: str = "") -> int:
        """Let documents wait to be judged.

        items: (query, document) for each, or (query, document, (start, end)) for a part of the text.
        why: why they are to be judged; assessors never see it.
        assessors: by how many people each is to be judged.
        chosen_by: the name of the order of judging, if it chose them by the grades of others.
        Returns how many are new. What waits already keeps its reason, and is for the larger number of assessors.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.wait([("q1", "d1"), ("q1", "d2")], why="first 10 of bm25", assessors=2)
        2
        """
        from cranfield.judging.store.waiting import WaitingRow, add_waiting

        if isinstance(assessors, bool) or not isinstance(assessors, int) or not 1 <= assessors < 2**31:
            raise InputError(self.name, f"{assessors!r} is not a number of assessors.", hint="give 1 or more")
        reason = checked_text(why, self.name, "why")
        order = checked_text(chosen_by, self.name, "chosen_by")
        rows = (WaitingRow(*checked_item(item, self.name), reason, assessors, chosen_by=order) for item in items)
        with self._writing("what is to be judged") as connection:
            return add_waiting(connection, rows)

    def next_for(self, assessor: str) -> Task | None:
        """The next document for an assessor, query by query in a random order of their own.

        assessor: their name.
        Returns the document with its query; None if nothing is left for them.
        It is reserved for half an hour, unless it is for several assessors, and is returned again until it is judged.
        """
        return next(iter(self.next_several(assessor, 1)), None)

    def next_several(self, assessor: str, count: int, *, without: Collection[int] = (), first: str = "") -> list[Task]:
        """The next documents for an assessor, all of them reserved.

        assessor: their name.
        count: how many, at most.
        without: the numbers of tasks that the assessor wants to leave for later.
        first: the query to begin with, if anything of it is left.
        Returns the documents in order; the first is that of `next_for`.
        """
        from cranfield.judging.store.waiting import next_tasks

        who = checked_id(assessor, self.name, "the assessor")
        return self._database.commits.run(
            "who is working on what",
            lambda connection: next_tasks(connection, who, count, without, first),
            lasting=False,
        )

    def give_back(self, assessor: str) -> None:
        """Release the documents that an assessor got and did not judge.

        assessor: their name.
        """
        from cranfield.judging.store.waiting import release_all

        who = checked_id(assessor, self.name, "the assessor")
        with self._writing("who is working on what", lasting=False) as connection:
            release_all(connection, who)

    def judge(
        self,
        query_id: str,
        doc_id: str,
        grade: float | None,
        *,
        assessor: str,
        kind: str = "person",
        part: DocumentPart | None = None,
        adjudicates: bool = False,
        comment: str = "",
        seconds: float | None = None,
        text_sha256: str | None = None,
        key: str | None = None,
    ) -> Event:
        """Append an assessor's grade of a document; it is on disk when this returns.

        query_id, doc_id: which document, and for which query.
        grade: a number on the scale; None if the assessor cannot judge it.
        assessor: the name of who judges.
        kind: what the assessor is, such as "person" or "model".
        part: (start, end) in the characters of the text, where only a part was judged.
        adjudicates: this settles a disagreement of others.
        comment: anything the assessor wants to say about it.
        seconds: how long the assessor took.
        text_sha256: of the text that was seen; by default of the text in the store.
        key: a text of your own choice; a second call with it, after an answer that was lost, adds nothing.
        Returns the event, with its number and its time.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     first = store.judge("q1", "d1", 1, assessor="ann")
        ...     corrected = store.judge("q1", "d1", 2, assessor="ann", comment="the table answers it")
        ...     store.view().by_query
        {'q1': {'d1': 2.0}}
        """
        from cranfield.judging.store.contents import say

        item, who = checked_item((query_id, doc_id, part), self.name), checked_id(assessor, self.name, "the assessor")
        row = {
            **dict(zip(("query_id", "doc_id", "part_start", "part_end"), item, strict=True)),
            "assessor": who,
            "kind": checked_kind(kind, self.name),
            "grade": checked_grade(grade, self.name),
            "adjudicates": bool(adjudicates),
            "comment": checked_text(comment, self.name, "the comment"),
            "seconds": checked_seconds(seconds, self.name),
            "text_sha256": checked_if_given(text_sha256, self.name, "text_sha256"),
            "key": checked_if_given(key, self.name, "the key"),
        }
        what = f"the grade of document '{item[1]}' for query '{item[0]}'"
        return self._database.commits.run(what, lambda connection: say(connection, row, self.name))

    def undo(
        self,
        assessor: str,
        *,
        query_id: str | None = None,
        doc_id: str | None = None,
        adjudicates: bool | None = None,
        key: str | None = None,
    ) -> Event | None:
        """Take back the last event of an assessor: their grade before it counts again.

        assessor: their name.
        query_id, doc_id: take back the last event of this query or this document instead.
        adjudicates: only events that settled a disagreement (True), or only grades of their own (False).
        key: as in `judge`.
        Returns the event that takes it back; None if there is nothing to take back.
        """
        from cranfield.judging.store.contents import take_back

        who = checked_id(assessor, self.name, "the assessor")
        sent = checked_if_given(key, self.name, "the key")
        return self._database.commits.run(
            "the undo", lambda connection: take_back(connection, who, query_id, doc_id, adjudicates, sent, self.name)
        )

    def flag(
        self,
        query_id: str,
        *,
        assessor: str,
        comment: str = "",
        withdrawn: bool = False,
        unanswerable: bool = False,
        key: str | None = None,
    ) -> Flag:
        """Flag a query as unclear, or as having no answer; nothing is changed or deleted, nor by withdrawing it.

        query_id: which query.
        assessor: the name of who flags it. A second flag of theirs replaces the first.
        comment: what is unclear.
        withdrawn: take their flag back instead.
        unanswerable: it has no answer, instead of being unclear; see `unanswerable`.
        key: as in `judge`.
        Returns the flag, with its number and its time.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     new = store.add_queries({"q1": "jaguar"})
        ...     flag = store.flag("q1", assessor="ann", comment="the cat or the car?")
        ...     [(each.assessor, each.comment) for each in store.flags()]
        [('ann', 'the cat or the car?')]
        """
        from cranfield.judging.store.flags import raise_flag

        row = {
            "query_id": checked_id(query_id, self.name, "a query"),
            "assessor": checked_id(assessor, self.name, "the assessor"),
            "comment": checked_text(comment, self.name, "the comment"),
            "withdrawn": bool(withdrawn),
            "unanswerable": bool(unanswerable),
            "key": checked_if_given(key, self.name, "the key"),
        }
        what = f"the flag of query '{row['query_id']}'"
        return self._database.commits.run(what, lambda connection: raise_flag(connection, row, self.name))

    def set_scale(self, scale: GradeScale | Mapping[Any, Any] | Iterable[Any]) -> None:
        """Change the grades that assessors choose from; judgments keep the grades they have.

        scale: a `GradeScale`, {grade: name}, {grade: (name, meaning)}, or rows (grade, name, meaning).

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.set_scale({0: "Off topic", 1: ("On topic", "It answers the question.")})
        ...     store.scale.names
        {0.0: 'Off topic', 1.0: 'On topic'}
        """
        from cranfield.judging.store.contents import write_scale

        chosen = GradeScale.of(scale, self.name)
        with self._writing("the scale") as connection:
            write_scale(connection, chosen)

    def import_qrels(
        self, qrels: Any, assessor: str, *, kind: str = "imported", format: str | None = None, comment: str = ""
    ) -> int:
        """Import judgments as those of an assessor.

        qrels: anything that `Judgments.read` takes. A negative grade, which means "not judged", is left out.
        assessor: the name under which they are imported.
        kind: what the assessor is, such as "person" or "model".
        format: the format of the file, if it cannot be detected.
        comment: saved with each of them.
        Returns how many were new: grades that the assessor has given already are not added again, so a file can be
        imported twice. A grade that is not on the scale is an error, and then nothing is imported; so are the store's
        own judgments.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.import_qrels({"q1": {"d1": 1, "d2": 0}}, "trec"), store.import_qrels({"q1": {"d1": 2}}, "trec")
        (2, 1)
        """
        from cranfield.judging.store.contents import import_judgments
        from cranfield.ranks.judgments import Judgments

        judgments = Judgments.read(qrels, format)
        if judgments.provenance and same_store(judgments, self):
            hint = "their assessors are in it already; import the file that they came from"
            raise InputError(self.name, "these judgments are a view of this very store.", hint=hint)
        said = {"assessor": checked_id(assessor, self.name, "the assessor"), "kind": checked_kind(kind, self.name)}
        said["comment"] = checked_text(comment, self.name, "the comment")
        for name in (*judgments.query_ids, *judgments.document_ids):
            if "\0" in name:
                checked_id(name, judgments.name, "an id")
        with self._writing(f"what is in {judgments.name}") as connection:
            return import_judgments(connection, judgments, said)
