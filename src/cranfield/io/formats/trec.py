"""trec: the lines that trec_eval reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from cranfield.io.column_names import Role
from cranfield.io.formats.format import Plan
from cranfield.io.formats.words import WordFormat
from cranfield.io.mappings import number_text
from cranfield.io.shapes import TREC_QRELS, TREC_RUN, Layout

if TYPE_CHECKING:
    from cranfield.io.records import Records


class Trec(WordFormat):
    name = "trec"
    meaning = "TREC's lines, as trec_eval reads them"
    extensions = (".trec", ".run", ".res", ".txt", ".qrels", ".qrel")
    keeps_ranks = True
    keeps_ranks_alone = False
    keeps_name = True
    takes_comments = True
    layouts: ClassVar[dict[Role, Layout]] = {"qrels": TREC_QRELS, "run": TREC_RUN}

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        layout = self.layouts[role]
        fits = len(fields) == layout.least if role == "qrels" else len(fields) >= layout.least
        return layout if fits else None

    def judgment_line(self, query: str, group: str, document: str, grade: str) -> str:
        return f"{query} {group} {document} {grade}\n"

    def run_lines(self, query: str, records: Records, ranks: Sequence[str], plan: Plan) -> list[str]:
        names = [plan.name] * len(ranks) if plan.name or records.name is None else records.name
        scores = list(map(number_text, records.value.tolist())) if plan.ranks else records.text
        rows = zip(records.document, ranks, scores, names, strict=True)
        return [f"{query} Q0 {document} {rank} {score} {name}\n" for document, rank, score, name in rows]
