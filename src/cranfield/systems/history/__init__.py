"""The history of a project: what was measured when, of which commit, and what was accepted by whom and why.

tables      the database: everything in it is named by its content, so the same thing is never there twice
packing     columns of values, ids of queries and runs as bytes
change      the commit, branch and pull request that is measured
results     what is appended, and what is read
history     opened by path or URL: append, read, merge, notes, runs
keeping     what `test`, `gate` and `accept` append
lines       the results of a system in a row: where the line breaks, and which steps are beyond chance
alerts      whether the last result is worse than the accepted one, or the last ten slide
again       stored runs, measured again by the judgments of today
"""
