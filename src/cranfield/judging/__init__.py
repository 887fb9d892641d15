"""Judging: where relevance judgments come from.

store    events of who gave which grade, what waits to be judged, views that are qrels
pool     which documents of runs to judge, and in which order
agree    how well assessors agree
decide   judging until it is clear which run is better
models   models as assessors
page     the page on which people judge
"""
