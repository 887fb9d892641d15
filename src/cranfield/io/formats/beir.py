"""beir: judgments as BEIR's collections have them, a tsv with names of its own for the columns."""

from __future__ import annotations

from cranfield.io.formats.delimited import DelimitedFormat
from cranfield.io.formats.format import Plan


class Beir(DelimitedFormat):
    name = "beir"
    meaning = "BEIR's judgments: a tsv with query-id, corpus-id, score"
    separators = ("\t", ",", ";")
    reads = ("qrels",)
    writes = ("qrels",)
    keeps_groups = False

    def columns(self, plan: Plan) -> tuple[str, ...]:
        return ("query-id", "corpus-id", "score")
