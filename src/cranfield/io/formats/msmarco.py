"""msmarco: runs as MS MARCO's task wants them, with ranks in place of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from cranfield.io.column_names import Role
from cranfield.io.formats.format import Plan
from cranfield.io.formats.words import WordFormat
from cranfield.io.shapes import TREC_QRELS, Layout

if TYPE_CHECKING:
    from cranfield.io.records import Records

MSMARCO_RUN = Layout("query document rank", 0, 1, 2, 3, 3, value_name="rank", ranks=True)


class MsMarco(WordFormat):
    """query document rank; judgments have four columns like TREC's, separated by tabs."""

    name = "msmarco"
    meaning = "MS MARCO's lines: query, document, rank"
    keeps_scores = False
    keeps_ranks = True
    layouts: ClassVar[dict[Role, Layout]] = {"qrels": TREC_QRELS, "run": MSMARCO_RUN}

    def by_width(self, fields: Sequence[str], role: Role) -> Layout | None:
        # Three columns may also be scores: a guess is checked in every line.
        guessed = role == "run" and len(fields) == 3 and fields[2] == "1"
        return MSMARCO_RUN._replace(counted=True) if guessed else None

    def judgment_line(self, query: str, group: str, document: str, grade: str) -> str:
        return f"{query}\t{group}\t{document}\t{grade}\n"

    def run_lines(self, query: str, records: Records, ranks: Sequence[str], plan: Plan) -> list[str]:
        return [f"{query}\t{document}\t{rank}\n" for document, rank in zip(records.document, ranks, strict=True)]
