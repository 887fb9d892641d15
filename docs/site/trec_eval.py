"""Writes docs/trec_eval.md: what the drop-in takes, and where it differs from trec_eval."""

from __future__ import annotations

import sys
from pathlib import Path

from cranfield.trec_eval.known_differences import DIFFERENCES

PAGE = """\
# trec_eval

Replace trec_eval by cranfield without changing a script. `cranfield trec_eval [options] QRELS RUN`, also installed as
`cranfield-trec_eval`, takes the options of trec_eval 10.0 and prints what it prints, byte for byte: `-q -n -m -c -l -M
-J -N -R -T -Z -D -o -h -v` (of `-D N.QUERY` only the query is used), its nicknames (`official`, `all_trec`, `set`,
`all_prefs`, `prefs`, `qrels_jg`), its parameters (`P.5,10`, `ndcg.1=3,2=9`, `set_F.4`), and `-` for a run on standard
input. So `alias trec_eval=cranfield-trec_eval` changes the speed and, apart from the table below, nothing else.

`--as 9` follows the rules of trec_eval 9.0.7, as pytrec_eval does: 32-bit scores, its recall levels, and queries that
the run lacks are left out. The first 9.0.8 still kept scores in 32 bits; later ones have 64, as trec_eval 10 does.

The exit code is 0; 1 for wrong usage or an unknown measure; 2 for a file or a parameter that cannot be read; 4 for a
judged query that the run lacks (without `-c`), a document that appears twice, or a measure that does not fit the
judgments; 7 if nothing was evaluated; 255 for a bad file of z-scores.

cranfield does not follow trec_eval 10.0 where it fails, or gives values that are wrong or random:

| what | trec_eval 10.0 | here |
| --- | --- | --- |
"""


def page() -> str:
    """The page about it, in Markdown."""
    rows = (f"| {row.name} | {row.trec_eval} | {row.here} |\n" for row in DIFFERENCES)
    return PAGE + "".join(rows)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
