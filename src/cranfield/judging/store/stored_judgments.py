"""What can be read from a store: its events, its scale, its progress, and views of its judgments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Self

from cranfield.errors import InputError
from cranfield.io.formats.store import JudgmentView
from cranfield.judging.store.events import Event, Flag, StoreProgress
from cranfield.judging.store.merging import BY_PEOPLE
from cranfield.judging.store.scale import GradeScale

if TYPE_CHECKING:
    from cranfield.io.database import Database
    from cranfield.judging.store.views import Conflict, MarkedPassage
    from cranfield.ranks.grouped_judgments import GroupedJudgments
    from cranfield.ranks.judgments import Judgments


class StoredJudgments:
    """The half of a `Store` that reads."""

    def __init__(self, database: Database) -> None:
        self._database, self._reading, self._writing = database, database.reading, database.writing
        self.name = database.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; what was saved is on disk already."""
        self._database.close()

    def events(
        self, *, assessor: str | None = None, query_id: str | None = None, doc_id: str | None = None, after: int = 0
    ) -> Iterator[Event]:
        """The events in the order in which they happened.

        assessor, query_id, doc_id: only those of this assessor, query or document.
        after: only those after the event with this number.
        Returns an iterator, which reads from the store as it goes.
        """
        from cranfield.judging.store.event_log import read_events
        from cranfield.judging.store.schema import EVENTS

        wanted = {"assessor": assessor, "query_id": query_id, "doc_id": doc_id}
        conditions = [EVENTS.c[name] == value for name, value in wanted.items() if value is not None]
        with self._reading() as connection:
            yield from read_events(connection, [*conditions, EVENTS.c.number > after])

    @property
    def scale(self) -> GradeScale:
        """The grades that assessors choose from, and what each means.

        >>> import tempfile
        >>> from cranfield import open_store
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     store.scale.names[3]
        'Perfect'
        """
        from cranfield.judging.store.contents import read_scale

        with self._reading() as connection:
            return read_scale(connection)

    def progress(self) -> StoreProgress:
        """How much is judged and how much is left, by query and by assessor."""
        from cranfield.judging.store.listing import measure_progress

        with self._reading() as connection:
            return measure_progress(connection)

    def view(
        self,
        assessors: Iterable[str] | None = None,
        merge: str = "majority",
        *,
        kinds: Iterable[str] = BY_PEOPLE,
        pooled: bool = False,
    ) -> Judgments:
        """The judgments of some assessors, merged where several judged the same document.

        assessors: their names; by default all of these kinds.
        merge: the rule, such as "median"; adjudicated grades come first.
        kinds: whose grades count, such as "model"; by default those of people, "person" and "imported".
        pooled: also documents that were pooled but not judged, with the grade -1, for measures of sampled pools
            (infAP).
        Returns the judgments. Documents that could not be judged are not in them. A document of which only parts were
        judged has the highest grade of its parts. Their `provenance`, and so every signature, says what was chosen.

        >>> import tempfile
        >>> from cranfield import open_store
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     for who, grade in [("ann", 2), ("bob", 0), ("cid", 2)]:
        ...         event = store.judge("q1", "d1", grade, assessor=who)
        ...     both = store.view(["ann", "bob"], merge="min")
        ...     store.view().by_query, both.by_query, both.provenance
        ({'q1': {'d1': 2.0}}, {'q1': {'d1': 0.0}}, 'judges:2|merge:min|conflicts:1')
        """
        from cranfield.judging.store.views import merged
        from cranfield.ranks.judgments import Judgments

        by_query, provenance = merged(self, _wanted(assessors, merge, kinds, pooled))
        return Judgments(by_query, name=self.name, provenance=provenance)

    def conflicts(self, assessors: Iterable[str] | None = None, *, kinds: Iterable[str] = BY_PEOPLE) -> list[Conflict]:
        """The documents on which assessors disagree and nobody has settled it.

        assessors: their names; by default all of these kinds.
        kinds: whose grades count, such as "model"; by default those of people, "person" and "imported".
        Returns the documents with the grade of each assessor, the widest apart first.
        """
        from cranfield.judging.store.views import conflicts

        return conflicts(self, assessors, kinds)

    def flags(self, query_id: str | None = None) -> list[Flag]:
        """The queries that assessors flagged as unclear, or as having no answer; withdrawn flags are left out.

        query_id: only those of this query.
        Returns the flags, the first one first.

        >>> import tempfile
        >>> from cranfield import open_store
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     new = store.add_queries({"q1": "jaguar", "q2": "apple"})
        ...     for query in ("q1", "q2"):
        ...         flag = store.flag(query, assessor="ann")
        ...     flag = store.flag("q1", assessor="ann", withdrawn=True)
        ...     [each.query_id for each in store.flags()]
        ['q2']
        """
        from cranfield.judging.store.flags import open_flags

        with self._reading() as connection:
            return list(open_flags(connection, None if query_id is None else [query_id]))

    def unanswerable(self) -> list[str]:
        """The queries that somebody flagged as having no answer, and did not withdraw.

        `evaluate` and the commands take the store itself as `answerable`.

        >>> import tempfile
        >>> from cranfield import open_store
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     new = store.add_queries({"q1": "jaguar", "q2": "colour of the number seven"})
        ...     flag = store.flag("q2", assessor="ann", unanswerable=True)
        ...     store.unanswerable()
        ['q2']
        """
        return list(dict.fromkeys(flag.query_id for flag in self.flags() if flag.unanswerable))

    def to_judgments(self) -> Judgments:
        """The view that is used when a store is given as judgments: all people, by majority."""
        return self.view()

    def to_strata(
        self, assessors: Iterable[str] | None = None, merge: str = "majority", *, kinds: Iterable[str] = BY_PEOPLE
    ) -> GroupedJudgments:
        """The judgments of pools with a sample, by stratum: what `evaluate` reads from a store for xinfAP and the like.

        assessors, merge, kinds: as in `view`.
        Returns judgments whose groups are the strata, such as "depth 10" and "11 to 100"; documents that were pooled
        but not judged have the grade -1. Documents judged without a pool are a stratum of their own. An error if
        nothing was pooled.

        >>> import tempfile
        >>> from cranfield import evaluate, open_store, pool
        >>> run = {"q1": ["a", "b", "c", "d", "e"]}
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     found = pool(store, {"q1": "cats"}, {"bm25": run}, 2, sample_below=2, sample_depth=5)
        ...     while task := store.next_for("ann"):
        ...         event = store.judge("q1", task.doc_id, 1, assessor="ann")
        ...     round(evaluate(store, run, "statAP")["statAP"], 4), store.to_strata().group_ids
        (1.0, ('3 to 5', 'depth 2'))
        """
        from cranfield.judging.store.views import by_stratum
        from cranfield.ranks.grouped_judgments import ONLY, GroupedJudgments

        strata, provenance = by_stratum(self, _wanted(assessors, merge, kinds))
        groups = {query: {(name, ONLY): grades for name, grades in its.items()} for query, its in strata.items()}
        grouped = GroupedJudgments(groups, name=self.name)
        grouped.flat.provenance = provenance
        return grouped

    def to_passages(
        self, assessors: Iterable[str] | None = None, merge: str = "majority", *, kinds: Iterable[str] = BY_PEOPLE
    ) -> list[MarkedPassage]:
        """The judgments of parts of documents, which hold however texts are cut into chunks.

        assessors, merge, kinds: as in `view`; only grades of the very same part are merged.
        Returns a (query_id, doc_id, start, end, grade) for each part, in characters; for a document that was graded as
        a whole and has no such part, start and end are None. An error if no part was graded. `evaluate` takes them
        as judgments of runs of chunks; see `PassageJudgments`.

        >>> import tempfile
        >>> from cranfield import open_store
        >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/judgments.db", create=True) as store:
        ...     event = store.judge("q1", "d1", 2, assessor="ann", part=(0, 17))
        ...     store.to_passages()
        [MarkedPassage(query_id='q1', doc_id='d1', start=0, end=17, grade=2.0)]
        """
        from cranfield.judging.store.views import marked_in

        passages, _ = marked_in(self, _wanted(assessors, merge, kinds))
        if not any(passage.end for passage in passages):
            hint = "'cranfield judge': select text, then give it a grade"
            raise InputError(self.name, "no passage is marked in it.", hint=hint)
        return passages


def _wanted(assessors: Iterable[str] | None, merge: str, kinds: Iterable[str], pooled: bool = False) -> JudgmentView:
    names = (assessors,) if isinstance(assessors, str) else None if assessors is None else tuple(assessors)
    return JudgmentView(names, merge, tuple(kinds), pooled)
