"""A small collection in several forms, and the values that every source of it must give."""

import cranfield

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "10": {"x": 1.5, "y": -1}}


RUN = {"1": {"b": 3.5, "a": 2.5, "z": 1.25}, "2": {"z": 2.0, "a": 1.0}, "10": {"y": 0.5, "x": 0.25}, "7": {"a": 1.0}}


MEASURES = "AP RR nDCG@10 P@2 R@2 Judged@2 NumRet NumRel"


QRELS_ROWS = [(q, d, grade) for q, judged in QRELS.items() for d, grade in judged.items()]


RUN_ROWS = [(q, d, score) for q, ranking in RUN.items() for d, score in ranking.items()]


TREC_QRELS = "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in QRELS_ROWS).encode()


TREC_RUN = "".join(f"{q} Q0 {d} 0 {score} name\n" for q, d, score in RUN_ROWS).encode()


EXPECTED = dict(cranfield.evaluate(QRELS, RUN, MEASURES))


def check(qrels, run, **options):
    result = cranfield.evaluate(qrels, run, MEASURES, **options)
    assert dict(result) == EXPECTED
    assert (result.counts.missing, result.counts.extra) == (0, 1)
