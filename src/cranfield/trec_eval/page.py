"""The page about `cranfield trec_eval`: `python -m cranfield.trec_eval.page docs/trec_eval.md`."""

from __future__ import annotations

import sys

from cranfield.read.target import write_text
from cranfield.trec_eval.differences import DIFFERENCES

PAGE = """\
# trec_eval

Replace trec_eval by cranfield without changing a script. `cranfield trec_eval [options] QRELS RUN`, also
installed as `cranfield-trec_eval`, takes the options of trec_eval 10.0 and prints what it prints, byte for byte: `-q -n
-m -c -l -M -J -N -R -T -Z -D -o -h -v` (of `-D N.QUERY` only the query is heeded), its nicknames (`official`,
`all_trec`, `set`, `all_prefs`, `prefs`, `qrels_jg`), its parameters (`P.5,10`, `ndcg.1=3,2=9`, `set_F.4`), a run on
standard input as `-`. So `alias trec_eval=cranfield-trec_eval` changes the speed and, but for the table below, nothing
else.

`--as 9` goes by the rules of trec_eval 9.0.7, which pytrec_eval has too: scores of 32 bits, queries that the run lacks
left out, its recall levels. The first 9.0.8 still kept scores in 32 bits; later ones have 64, as trec_eval 10 does.

It ends with 0; 1 for a wrong use or an unknown measure; 2 for a file or a parameter that cannot be read; 4 for a
judged query that the run lacks (without `-c`), a document that appears twice, or a measure that does not fit the
judgments; 7 if nothing was evaluated; 255 for a bad file of z-scores.

Where trec_eval 10.0 fails, or gives values that are wrong or left to chance, it is not followed:

| what | trec_eval 10.0 | here |
| --- | --- | --- |
"""


def page() -> str:
    """The page about it, in Markdown."""
    rows = (f"| {row.name} | {row.trec_eval} | {row.here} |\n" for row in DIFFERENCES)
    return PAGE + "".join(rows)


if __name__ == "__main__":
    write_text(sys.argv[1], page(), force=True)
