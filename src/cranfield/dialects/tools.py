"""The dialects we know, one entry each.

Sources are the tools' own code and documentation, in the version given. The tests run the tool where it can be
installed beside us, and have values of it otherwise; `docs/differences.md` is written from these entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from types import MappingProxyType
from typing import Any

from cranfield.dialects.conventions import Conventions
from cranfield.dialects.dialect import Dialect, Name
from cranfield.errors import InputError, choice_hint
from cranfield.measures.registry import plain
from cranfield.measures.trec_eval_names import ENTRIES, definition_of


def _names(pairs: Iterable[tuple[str, str]], **settings: Any) -> tuple[Name, ...]:
    return tuple(Name(theirs, ours, MappingProxyType(settings)) for theirs, ours in pairs)


def _of(text: str, **settings: Any) -> tuple[Name, ...]:
    """Names from lines `theirs → ours`."""
    lines = (line.partition("→") for line in text.strip().splitlines())
    return _names(((theirs.strip(), ours.strip()) for theirs, _, ours in lines), **settings)


def _of_trec_eval(rule: str, level: str) -> Iterator[tuple[str, str]]:
    """The names that trec_eval prints for judgments with one grade for each document; level: how it is told `rel`."""
    left_out = ("runid", "num_q", "relstring", "rbp", "rbp_resid", "utility", "unj", "yaap", "dcg", "ideal_dcg")
    for entry in ENTRIES.values():
        if entry.judged != "qrels" or entry.name in left_out:
            continue
        definition, fixed = definition_of(entry.name)
        given = {**fixed, **({"rule": rule} if "rule" in definition.kinds else {})}
        place = {"cutoffs": "{k}", "shares": "{share}"}.get(entry.takes, "")
        theirs, at = (f"{entry.name}_{place}", f"@{place}") if place else (entry.name, "")
        levels = [("", given)]
        if "rel" in definition.kinds and "rel" not in given:
            levels.append((level, {**given, "rel": "{rel}"}))
        for told, parameters in levels:
            inside = ", ".join(f"{name}={value}" for name, value in parameters.items())
            yield theirs + told, definition.name + (f"({inside})" if inside else "") + at


_IRM = ("AP", "RR", "nDCG", "Rprec", "Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP", "NumRet", "NumRelRet")
_IRM_CUT = ("AP@{k}", "nDCG@{k}", "P@{k}", "R@{k}", "Success@{k}")
_IRM_REL = ("AP", "RR", "Rprec", "Bpref", "infAP", "SetP", "SetR", "SetF", "SetAP")
_IRM_CUT_REL = ("AP", "P", "R", "Success")
_RANX = ("precision", "recall", "f1", "hits", "hit_rate", "mrr", "map")


def _dialects() -> Iterator[Dialect]:
    yield Dialect(
        "trec_eval",
        "10.0",
        Conventions(),
        _names(_of_trec_eval("trec10", " -l {rel}")),
        "It stops at a judged query that the run lacks; with -c it counts 0, as here. Grades are cut to whole numbers.",
    )
    yield Dialect(
        "pytrec_eval",
        "0.5.11",
        Conventions(missing="skip", scores="32"),
        _names(_of_trec_eval("trec9", " (relevance_level={rel})")),
        "It contains trec_eval 9. A mean is what its users take: over the queries that both have.",
    )
    yield Dialect(
        "ir_measures",
        "0.4.3",
        Conventions(scores="32", duplicates="last"),
        (
            *_names((name, name) for name in (*_IRM, *_IRM_CUT)),
            *_names((f"{name}(rel={{rel}})", f"{name}(rel={{rel}})") for name in _IRM_REL),
            *_names((f"{name}(rel={{rel}})@{{k}}", f"{name}(rel={{rel}})@{{k}}") for name in _IRM_CUT_REL),
            *_names(
                [("RR@{k}", "RR@{k}"), ("RR(rel={rel})@{k}", "RR(rel={rel})@{k}")],
                ties="smaller_doc_id",
                scores="64",
            ),
            *_names([("Judged@{k}", "Judged@{k}")], ties="smaller_doc_id", scores="64", negative="nonrelevant"),
            *_names([("IPrec@{share}", "IPrec(rule=trec9)@{share}")]),
            *_of(
                """
                nDCG(dcg='exp-log2')@{k} → nDCG(gain=exponential)@{k}
                ERR@{k} → ERR@{k}
                """,
                scores="64",
                negative="nonrelevant",
                query_decimals="5",
            ),
        ),
        "RR@k and Judged@k put the smaller id first among tied documents, and all others the larger.",
    )
    yield Dialect(
        "ranx",
        "0.3.21",
        Conventions(ties="file", duplicates="last"),
        (
            *_names((name + "@{k}", ours) for name, ours in zip(_RANX, _cut(), strict=True)),
            *_names((name + "@{k}-l{rel}", _with_rel(ours)) for name, ours in zip(_RANX, _cut(), strict=True)),
            *_of(
                """
                map → AP
                map-l{rel} → AP(rel={rel})
                mrr → RR
                mrr-l{rel} → RR(rel={rel})
                precision → SetP
                recall → SetR
                f1 → SetF
                r-precision → Rprec
                r-precision-l{rel} → Rprec(rel={rel})
                ndcg → nDCG
                ndcg@{k} → nDCG@{k}
                ndcg_burges → nDCG(gain=exponential)
                ndcg_burges@{k} → nDCG(gain=exponential)@{k}
                dcg → DCG
                dcg@{k} → DCG@{k}
                dcg_burges → DCG(gain=exponential)
                dcg_burges@{k} → DCG(gain=exponential)@{k}
                """
            ),
        ),
        "It refuses a run that lacks a judged query; with make_comparable=True it counts 0, as here. In rankings of "
        "more than some 15 documents its order of ties is that of an unstable sort.",
    )
    yield Dialect(
        "BEIR",
        "2.2.0",
        Conventions(missing="skip", same_id="drop", scores="32", mean_decimals="5", duplicates="last"),
        (
            *_of(
                """
                NDCG@{k} → nDCG@{k}
                MAP@{k} → AP@{k}
                Recall@{k} → R@{k}
                P@{k} → P@{k}
                """
            ),
            *_of(
                """
                MRR@{k} → RR@{k}
                R_cap@{k} → R_cap@{k}
                Accuracy@{k} → Success@{k}
                """,
                missing="zero",
                scores="64",
                ties="file",
                same_id="keep",
            ),
        ),
        "`evaluate` also removes documents with the query's id from the results it was given, so a later "
        "`evaluate_custom` no longer sees them.",
    )
    yield Dialect(
        "MTEB",
        "2.26.24",
        Conventions(missing="skip", scores="32", mean_decimals="5", duplicates="last"),
        (
            *_of(
                """
                ndcg_at_{k} → nDCG@{k}
                map_at_{k} → AP@{k}
                recall_at_{k} → R@{k}
                precision_at_{k} → P@{k}
                hit_rate_at_{k} → Success@{k}
                """
            ),
            *_of("mrr_at_{k} → RR@{k}", scores="64", mean_decimals="all"),
        ),
        "It removes documents with the query's id in ArguAna, Quora, FEVER, FiQA, MSMARCO and TREC DL: "
        "--same-id drop does. Before version 2, mrr_at_k kept the order of the results among ties.",
    )
    yield Dialect(
        "scikit-learn",
        "1.9.1",
        Conventions(missing="skip", missed="ignored", ties="expected"),
        (
            *_of(
                """
                ndcg_score → nDCG
                ndcg_score(k={k}) → nDCG@{k}
                dcg_score → DCG
                dcg_score(k={k}) → DCG@{k}
                """
            ),
            *_of("average_precision_score → AP", ties="doc_id", tied_rank="last"),
            *_of("label_ranking_average_precision_score → AP", ties="doc_id", tied_rank="last", no_relevant="one"),
        ),
        "It is given the grades and scores of a ranking; a document without a judgment has the grade 0.",
    )
    yield Dialect(
        "torchmetrics",
        "1.9.0",
        Conventions(missing="skip", missed="ignored", ties="file", scores="32"),
        (
            *_of(
                """
                RetrievalNormalizedDCG → nDCG
                RetrievalNormalizedDCG(top_k={k}) → nDCG@{k}
                """,
                ties="expected",
            ),
            *_of(
                """
                RetrievalMAP → AP(denominator=found)
                RetrievalMAP(top_k={k}) → AP(denominator=found)@{k}
                RetrievalMRR → RR
                RetrievalMRR(top_k={k}) → RR@{k}
                RetrievalPrecision → SetP
                RetrievalPrecision(top_k={k}) → P@{k}
                RetrievalPrecision(top_k={k}, adaptive_k=True) → P(short=returned)@{k}
                RetrievalRecall → SetR
                RetrievalRecall(top_k={k}) → R@{k}
                """,
                low_score="ignored",
            ),
            *_of(
                """
                RetrievalHitRate(top_k={k}) → Success@{k}
                RetrievalRPrecision → Rprec
                """
            ),
        ),
        "empty_target_action='neg', its default, counts 0 for a query without a relevant document among those given. "
        "Except in nDCG, ties are in no defined order: topk is not stable.",
    )
    yield Dialect(
        "sentence-transformers",
        "6.2.0",
        Conventions(ties="smaller_doc_id", no_relevant="skip", duplicates="last"),
        _of(
            """
            {similarity}_ndcg@{k} → nDCG(gain=binary)@{k}
            {similarity}_map@{k} → AP(denominator=min)@{k}
            {similarity}_mrr@{k} → RR@{k}
            {similarity}_precision@{k} → P@{k}
            {similarity}_recall@{k} → R@{k}
            {similarity}_accuracy@{k} → Success@{k}
            """
        ),
        "InformationRetrievalEvaluator, which searches itself and so answers every query.",
    )
    yield Dialect(
        "Elasticsearch",
        "8.14",
        Conventions(ties="file"),
        _of(
            """
            precision(k={k}) → P(short=returned)@{k}
            recall(k={k}) → R@{k}
            mean_reciprocal_rank(k={k}) → RR@{k}
            dcg(k={k}) → DCG(gain=exponential)@{k}
            dcg(k={k}, normalize=true) → nDCG(gain=exponential, ideal=returned)@{k}
            expected_reciprocal_rank(maximum_relevance={grade}, k={k}) → ERR(max_grade={grade})@{k}
            """
        ),
        "The ranking evaluation API; k is 10 unless it is given, and dcg is not normalised unless it is asked to be.",
    )
    yield Dialect(
        "OpenSearch",
        "3.9",
        Conventions(ties="file", query_decimals="2"),
        (
            *_of(
                """
                Precision@{k} → P(short=returned)@{k}
                Recall@{k} → R@{k}
                MAP@{k} → AP@{k}
                MRR → RR
                """,
                threshold="query",
            ),
            *_of(
                """
                NDCG@{k} → nDCG(gain=exponential)@{k}
                DCG@{k} → DCG(gain=exponential)@{k}
                """
            ),
            *_of("Coverage@{k} → Judged@{k}", negative="nonrelevant"),
        ),
        "Search Relevance Workbench, which rounds the value of every query to two decimals. Before 3.6, every grade "
        "above 0 was relevant.",
    )
    yield Dialect(
        "Spark",
        "4.3.0",
        Conventions(ties="file"),
        _of(
            """
            precisionAt({k}) → P@{k}
            recallAt({k}) → R@{k}
            meanAveragePrecision → AP
            meanAveragePrecisionAt({k}) → AP(denominator=min)@{k}
            ndcgAt({k}) → nDCG(gain=binary)@{k}
            """
        ),
        "RankingMetrics of arrays of ids, where labels are a set: grades play no part.",
    )
    yield Dialect(
        "ragas",
        "0.4.3",
        Conventions(ties="file", missing="skip", no_relevant="skip"),
        _of(
            """
            NonLLMContextPrecisionWithReference → AP(denominator=found)
            NonLLMContextRecall → SetR
            IDBasedContextPrecision → SetP
            IDBasedContextRecall → SetR
            """
        ),
        "It compares texts: a retrieved context counts as relevant if it resembles a reference. Here it is its id.",
    )
    yield Dialect(
        "LlamaIndex",
        "0.14.25",
        Conventions(ties="file", missing="skip", no_relevant="skip"),
        _of(
            """
            hit_rate → Success@1000000
            mrr → RR
            precision → SetP
            recall → SetR
            ap → AP
            ndcg → nDCG(gain=binary, ideal=uncut)
            """
        ),
        "It measures what the retriever returned, and refuses an empty answer. A document that appears twice counts "
        "twice there.",
    )
    yield Dialect(
        "Haystack",
        "3.4.1",
        Conventions(ties="file"),
        _of(
            """
            DocumentMAPEvaluator → AP
            DocumentMRREvaluator → RR
            DocumentRecallEvaluator(mode="single_hit") → Success@1000000
            DocumentRecallEvaluator(mode="multi_hit") → SetR
            DocumentNDCGEvaluator → nDCG
            """
        ),
        "It compares the content of documents unless it is told to compare ids, and measures all that it is given.",
    )
    yield Dialect(
        "RecTools",
        "0.19.0",
        Conventions(ties="file", no_relevant="skip"),
        _of(
            """
            MAP(k={k}) → AP@{k}
            MAP(k={k}, divide_by_k=True) → AP(denominator=k)@{k}
            NDCG(k={k}) → nDCG(gain=binary, ideal=full)@{k}
            NDCG(k={k}, divide_by_achievable=True) → nDCG(gain=binary)@{k}
            Precision(k={k}) → P@{k}
            Precision(k={k}, r_precision=True) → RelP@{k}
            Recall(k={k}) → R@{k}
            HitRate(k={k}) → Success@{k}
            MRR(k={k}) → RR@{k}
            """
        ),
        "Users with interactions are queries, and items of a positive rating are relevant.",
    )
    yield Dialect(
        "XGBoost",
        "3.2.0",
        Conventions(ties="file", missed="ignored", missing="skip", no_relevant="one", scores="32"),
        (
            *_of(
                """
                ndcg@{k} → nDCG(gain=exponential)@{k}
                map@{k} → AP(denominator=min)@{k}
                """
            ),
            *_of("pre@{k} → P(short=returned)@{k}", no_relevant="zero"),
            *_of(
                """
                ndcg@{k}- → nDCG(gain=exponential)@{k}
                map@{k}- → AP(denominator=min)@{k}
                """,
                no_relevant="zero",
            ),
        ),
        "It knows the documents of a group and no others; map takes grades of 0 and 1 only.",
    )
    yield Dialect(
        "LightGBM",
        "4.7.0",
        Conventions(ties="file", missed="ignored", missing="skip", no_relevant="one"),
        _of(
            """
            ndcg@{k} → nDCG(gain=exponential)@{k}
            map@{k} → AP(denominator=min)@{k}
            """
        ),
        "It knows the documents of a group and no others; label_gain changes the gains.",
    )


def _cut() -> tuple[str, ...]:
    return ("P@{k}", "R@{k}", "F@{k}", "Hits@{k}", "Success@{k}", "RR@{k}", "AP@{k}")


def _with_rel(ours: str) -> str:
    name, _, cutoff = ours.partition("@")
    return f"{name}(rel={{rel}})@{cutoff}"


@cache
def _known() -> dict[str, Dialect]:
    return {known.name: known for known in _dialects()}


def known_dialects() -> dict[str, Dialect]:
    """The dialects of other tools, by name.

    Returns {name: `Dialect`}.

    >>> from cranfield import known_dialects
    >>> ranx = known_dialects()["ranx"]
    >>> ranx, ranx.version
    (<Dialect of ranx 0.3.21: 31 names>, '0.3.21')
    >>> name, measure, conventions = ranx.read("hit_rate@5")
    >>> measure.name, conventions.ties
    ('Success@5', 'file')
    """
    return dict(_known())


def find_dialect(name: str) -> Dialect:
    """The dialect of a tool, whatever the case and the dashes of its name."""
    known = {plain(its).replace("_", ""): dialect for its, dialect in _known().items()}
    found = known.get(plain(name).replace("_", "").replace(" ", ""))
    if found is None:
        raise InputError(
            f"'{name}'", "no dialect of this tool is known.", hint=choice_hint("there are", _known(), name)
        )
    return found
