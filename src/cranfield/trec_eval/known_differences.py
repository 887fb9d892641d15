"""Where trec_eval 10.0 fails, or gives values that are wrong or random, and what cranfield does instead."""

from __future__ import annotations

from typing import NamedTuple


class KnownDifference(NamedTuple):
    """A behaviour of trec_eval 10.0 that cranfield does not follow."""

    name: str
    trec_eval: str
    here: str


DIFFERENCES = (
    KnownDifference(
        "message of a missing query",
        "A judged query that the run lacks ends the program with 'result qid … not found in qrels'.",
        "It ends the program with the same exit code, and the message says what is missing, and where.",
    ),
    KnownDifference(
        "comments in judgments",
        "Only single comment lines are skipped: a second one in a row is read as data, and one at the end may crash.",
        "Lines that start with # are comments, anywhere.",
    ),
    KnownDifference(
        "blank lines in judgments",
        "A blank line in the judgments is an error.",
        "Blank lines are skipped, as in the run.",
    ),
    KnownDifference(
        "bounds of rbp",
        "rbp reads bounds that were never set, so asking for another measure as well can change its value.",
        "The gains lie between 0 and the highest grade of the query, at least 1.",
    ),
    KnownDifference(
        "order of close gains",
        "Gains less than 1 apart are not put in order: ndcg.1=0.3,2=0.6 of a perfect ranking is 0.",
        "Gains are ordered by their value.",
    ),
    KnownDifference(
        "gains for several measures",
        "Gains for two of dcg, ideal_dcg and ndcg crash the program.",
        "Every measure has its own gains.",
    ),
    KnownDifference(
        "gains of unjudged documents",
        "The levels -1 and -2 give gains to unjudged documents, so that ndcg may exceed 1.",
        "A gain can only be given to grades from 0; other levels are an error.",
    ),
    KnownDifference(
        "values of empty rankings",
        "iprec_at_recall and 11pt_avg of an empty ranking (-J, -M 0) are not a number, and neither is their mean.",
        "They are 0.",
    ),
    KnownDifference(
        "Rndcg without gains",
        "Where -l 0 makes documents of grade 0 relevant and a query has no others, Rndcg divides 0 by 0: it is not a "
        "number, and neither is its mean.",
        "It is 0.",
    ),
    KnownDifference(
        "order of the points of 11pt_avg",
        "11pt_avg is wrong where its parameters do not ascend.",
        "Their order does not matter.",
    ),
    KnownDifference(
        "only negative grades",
        "A query with negative grades only ends the program, or is evaluated with the grades of another query.",
        "It is a query without relevant documents.",
    ),
    KnownDifference(
        "names after the last z-score",
        "Looking up a name that sorts after the last one in the -Z file reads past the end of memory.",
        "It has no z-score, so it gets -1000000.",
    ),
    KnownDifference(
        "negative level",
        "-l -1 makes unjudged documents relevant that num_rel does not count; map may exceed 1.",
        "A negative number for -l, -M or -N is an error with exit code 1.",
    ),
    KnownDifference(
        "values that are not numbers",
        "Other text is read up to the first invalid character, or as 0: the score 15,5 is 15, the grade xyz is 0, "
        "-M x is 0.",
        "An error: exit code 2 in a file or a parameter, 1 in an option. Scores must be finite.",
    ),
    KnownDifference(
        "grades with decimals",
        "The decimals of a grade are dropped: 1.9 is 1.",
        "An error with exit code 2; whole numbers such as 2.0 are fine.",
    ),
    KnownDifference(
        "numbers with exponents",
        "Where a whole number is expected, reading ends at the e: the grade 1e3 is 1, and P.1e1 is P_1.",
        "The grade 1e3 is 1000, as everywhere in cranfield. A cutoff such as 1e1 is an error with exit code 2.",
    ),
    KnownDifference(
        "parameters out of range",
        "Invalid parameters are computed or ignored: rbp with p = 1 or p = 1.5, set_F with a parameter of 0 or less, "
        "iprec_at_recall and 11pt_avg beyond recall 1, Rprec_mult of 0 or less, and in ndcg.x=3 or ndcg.p=3 a name "
        "that is no grade. rbp takes gains, which are scaled to lie between 0 and 1.",
        "An error with exit code 2. rbp takes p only.",
    ),
    KnownDifference(
        "bytes that are not UTF-8",
        "Ids may have any bytes.",
        "Files are read as UTF-8. Other bytes are an error with exit code 2, which names the place.",
    ),
    KnownDifference(
        "byte order mark",
        "A byte order mark at the start of a file becomes part of the first query's id, so the query is missing.",
        "It is skipped.",
    ),
    KnownDifference(
        "duplicates below the cutoff",
        "A document that appears twice is an error only if its query is judged and both lines are within -M.",
        "It is always an error, with exit code 4, before anything is printed.",
    ),
)
