"""preset("dl21"): the official measures of a known collection, and the conventions they are calculated by.

A preset is one entry of the table below. Nothing is downloaded: it knows what ids and grades of a collection look like,
how many queries are judged, and what its organisers or authors report.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import InputError, choice_hint
from cranfield.measures import Measure, parse_measures
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.judgments import Judgments
from cranfield.ranks.policy import Policy
from cranfield.words import joined

SAMPLE = 200  # ids that are looked at to recognise a collection


class Looks(NamedTuple):
    """What the judgments of a collection look like.

    documents, queries: the pattern of ids; for queries also some that are all there
    judged: how many queries; empty for any number
    highest: the highest grade; None for any; nonrelevant: whether some documents are judged not relevant
    """

    documents: str
    queries: str | Collection[str] = r".+"
    judged: Collection[int] = ()
    highest: int | None = None
    nonrelevant: bool | None = None

    def fits(self, judgments: Judgments, grades: Collection[float]) -> bool:
        if self.judged and len(judgments) not in self.judged:
            return False
        if self.highest is not None and max(grades, default=0) != self.highest:
            return False
        if self.nonrelevant is not None and (0 in grades) != self.nonrelevant:
            return False
        if not _all_like(self.documents, judgments.document_ids):
            return False
        if isinstance(self.queries, str):
            return _all_like(self.queries, judgments.query_ids)
        return all(query in judgments.number for query in self.queries)


def _all_like(pattern: str, ids: Sequence[str]) -> bool:
    known, step = re.compile(pattern), max(len(ids) // SAMPLE, 1)
    return all(known.fullmatch(one) for one in islice(ids, 0, None, step))


@dataclass(frozen=True, slots=True, repr=False)
class CollectionPreset:
    """The official measures of a collection, and its conventions; `**preset` passes both to a function.

    >>> import cranfield
    >>> from cranfield import preset
    >>> dl21 = preset("dl21")
    >>> dl21.title, dl21.rel, [measure.name for measure in dl21.measures][:2]
    ('TREC Deep Learning 2021 (passages)', 2, ['nDCG@10', 'AP(rel=2)@100'])
    >>> preset("beir").policy.same_id, preset("beir").source
    ('drop', 'Thakur et al. 2021')
    >>> dl21.of_collection(cranfield.parse_measure("P@5")), sorted(dl21.keys())
    (<Measure P(rel=2)@5>, ['measures', 'policy'])
    """

    name: str
    title: str
    official: str  # as text, without the lowest relevant grade
    source: str  # where this is documented
    rel: float = 1  # the lowest grade that is relevant, for measures that have one
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the policy, where they are not the default
    note: str = ""
    looks: tuple[Looks, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"<CollectionPreset {self.name}: {self.title}>"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The official measures, with the lowest relevant grade."""
        return tuple(self.of_collection(measure) for measure in parse_measures(self.official))

    @property
    def policy(self) -> Policy:
        """The conventions of the collection."""
        return Policy(**self.settings)

    def of_collection(self, measure: Measure) -> Measure:
        """A measure with the lowest relevant grade of the collection, unless it has one of its own.

        measure: any measure.
        Returns a measure.
        """
        free = "rel" in measure.definition.kinds and "rel" not in dict(measure.parameters)
        return measure.replace(rel=self.rel) if free else measure

    def keys(self) -> tuple[str, ...]:
        """The arguments that `**preset` passes."""
        return ("measures", "policy")

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)


_V1_PASSAGE, _V1_DOCUMENT = r"\d{1,7}", r"D\d+"
_V2_PASSAGE, _V2_DOCUMENT = r"msmarco_passage_\d\d_\d+", r"msmarco_doc_\d\d_\d+"
_EARLY, _LATE = "nDCG@10 RR AP R@1000", "nDCG@10 AP@100 RR@100 P@10 R@100"
_DL = "Only grades 2 and 3 answer the question; grade 1 is on its topic."
_DL_DOCUMENTS = "Grades from 1 are relevant here, unlike for passages."
_2022 = "The judgments include near-duplicates, with the grade of the one that was judged."
_BEIR = (
    Looks(r"MED-\d+", r"PLAIN-\d+"),  # NFCorpus
    Looks(r"doc\d+", r"test\d+"),  # NQ
    Looks(r"<dbpedia:.+>", r"(INEX|QALD|SemSearch|TREC).+"),
    Looks(r"[\w-]+(pro|con)\d\d[ab]", r"[\w-]+(pro|con)\d\d[ab]"),  # ArguAna
    Looks(r"\d+", r"[0-9a-f]{24}"),  # HotpotQA
    Looks(r"[0-9a-f]{40}", r"[0-9a-f]{40}"),  # SCIDOCS
    Looks(r"[0-9a-f]{8}-2019-04-\d\dT.+"),  # Touché-2020
)


def _deep_learning(
    year: int, official: str, passages: Looks, documents: Looks, note: str = ""
) -> tuple[CollectionPreset, ...]:
    title, source = f"TREC Deep Learning {year}", f"trec.nist.gov/data/deep{year}.html"
    short, by_document = f"dl{year % 100}", official.replace("AP ", "AP@100 ")
    return (
        CollectionPreset(short, f"{title} (passages)", official, source, 2, {}, f"{_DL} {note}".strip(), (passages,)),
        CollectionPreset(
            f"{short}-doc", f"{title} (documents)", by_document, source, note=_DL_DOCUMENTS, looks=(documents,)
        ),
    )


PRESETS = {
    each.name: each
    for each in (
        *_deep_learning(
            2019,
            _EARLY,
            Looks(_V1_PASSAGE, ("19335", "1133167"), (43,), 3),
            Looks(_V1_DOCUMENT, ("19335", "1133167"), (43,), 3),
        ),
        *_deep_learning(
            2020,
            _EARLY,
            Looks(_V1_PASSAGE, ("1030303", "1037496"), (53, 54), 3),
            Looks(_V1_DOCUMENT, judged=(45,), highest=3),
        ),
        *_deep_learning(
            2021,
            _LATE,
            Looks(_V2_PASSAGE, judged=(53,), highest=3),
            Looks(_V2_DOCUMENT, judged=(57,), highest=3),
        ),
        *_deep_learning(
            2022,
            _LATE,
            Looks(_V2_PASSAGE, judged=(76,), highest=3),
            Looks(_V2_DOCUMENT, judged=(76,), highest=3),
            _2022,
        ),
        *_deep_learning(
            2023,
            _LATE,
            Looks(_V2_PASSAGE, judged=(82,), highest=3),
            Looks(_V2_DOCUMENT, judged=(82,), highest=3),
        ),
        CollectionPreset(
            "msmarco",
            "MS MARCO passages (development)",
            "RR@10 R@1000",
            "microsoft.github.io/msmarco",
            note="Most queries have one judged passage, and many unjudged ones answer it, too.",
            looks=(Looks(_V1_PASSAGE, r"\d+", (6980,), 1, False),),
        ),
        CollectionPreset(
            "msmarco-doc",
            "MS MARCO documents (development)",
            "RR@100 R@1000",
            "microsoft.github.io/msmarco",
            looks=(Looks(_V1_DOCUMENT, r"\d+", (5193,), 1, False),),
        ),
        CollectionPreset(
            "msmarco-v2",
            "MS MARCO version 2 (development)",
            "RR@100 R@1000",
            "microsoft.github.io/msmarco",
            looks=(
                Looks(_V2_PASSAGE, highest=1, nonrelevant=False),
                Looks(_V2_DOCUMENT, highest=1, nonrelevant=False),
            ),
        ),
        CollectionPreset(
            "beir",
            "BEIR (any of its datasets)",
            "nDCG@10 R@100",
            "Thakur et al. 2021",
            settings={"same_id": "drop"},
            note="Queries of ArguAna, Quora and others are documents themselves. MS MARCO is measured on its "
            "development queries; CQADupStack is the mean of its twelve forums. BEIR's own evaluation leaves out "
            "queries without results: missing=skip.",
            looks=_BEIR,
        ),
        CollectionPreset(
            "trec-covid",
            "TREC-COVID (round 5)",
            "nDCG@20 P@20 AP Bpref RBP(p=0.5)",
            "Roberts et al. 2021",
            note="Runs of the rounds were measured without documents judged before. BEIR measures nDCG@10 of all.",
            looks=(Looks(r"[a-z0-9]{8}", r"[1-9]|[1-4]\d|50", (50,), 2),),
        ),
        CollectionPreset(
            "robust04",
            "TREC Robust 2004",
            "AP P@10 GMAP P@20 nDCG@20",
            "Voorhees 2004",
            note="The track reported AP, P@10 and GMAP; nDCG@20 and P@20 have become usual since.",
            looks=(
                Looks(
                    r"FBIS\d-\d+|FT\d{3}-\d+|LA\d{6}-\d{4}|FR94\w*-\w-\d+",
                    r"3\d\d|4[0-4]\d|450|6\d\d|700",
                    (249, 250),
                ),
            ),
        ),
        CollectionPreset(
            "nq",
            "Natural Questions (answers in passages)",
            "Success@20 Success@100",
            "Karpukhin et al. 2020",
            note="A passage that contains an answer is relevant, so judgments must be made by matching answers. "
            "Natural Questions in BEIR have judged passages: use beir.",
        ),
        CollectionPreset(
            "miracl",
            "MIRACL (development, one language)",
            "nDCG@10 R@100",
            "Zhang et al. 2023",
            note="The mean of a benchmark is over languages, each measured by itself.",
            looks=(Looks(r"\d+#\d+", highest=1, nonrelevant=True),),
        ),
        CollectionPreset(
            "mrtydi",
            "Mr. TyDi (test, one language)",
            "RR@100 R@100",
            "Zhang et al. 2021",
            note="The mean of the benchmark is over languages, each measured by itself.",
            looks=(Looks(r"\d+#\d+", highest=1, nonrelevant=False),),
        ),
        CollectionPreset(
            "bright",
            "BRIGHT (one domain)",
            "nDCG@10",
            "Su et al. 2025",
            note="Take the excluded_ids of each query out of the run first.",
            looks=(Looks(r"[\w-]+/.+\.txt", r"\d+", highest=1),),
        ),
        CollectionPreset(
            "lotte",
            "LoTTE (one topic and kind of queries)",
            "Success@5",
            "Santhanam et al. 2022",
            note="Ids of queries begin with 0 in each set, so sets must not be joined.",
        ),
        CollectionPreset(
            "rag24",
            "TREC RAG 2024 (retrieval)",
            "nDCG@20 nDCG@100 R@100",
            "trec-rag.github.io",
            note="Judgments by people and by a model (UMBRELA) are separate files; say which were used.",
            looks=(Looks(r"msmarco_v2\.1_doc_\d\d_\d+#\d+_\d+"),),
        ),
    )
}


def preset(name: str) -> CollectionPreset:
    """The official measures and conventions of a known collection, as its organisers or authors document them.

    Presets are dl19 to dl23 (TREC Deep Learning, passages) and dl19-doc to dl23-doc, msmarco, msmarco-doc, msmarco-v2,
    beir, trec-covid, robust04, nq, miracl, mrtydi, bright, lotte and rag24. Nothing is downloaded.

    name: of the preset.
    Returns a `CollectionPreset`; `**preset(…)` passes its measures and policy to `evaluate`, `compare` and others.

    >>> from cranfield import evaluate, preset
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, **preset("dl19"))
    <Evaluation of the run: nDCG@10=0.8597, RR(rel=2)=0.5000, AP(rel=2)=0.5000, R(rel=2)@1000=1.0000; 1 query>
    """
    known = PRESETS.get(name.lower().replace("_", "-")) if isinstance(name, str) else None
    if known is None:
        hint = choice_hint("there are", PRESETS, str(name))
        raise InputError("the preset", f"there is no preset {name!r:.60}.", hint=hint)
    return known


def recognised(judgments: Judgments) -> CollectionPreset | None:
    """The collection that judgments look like; None if none."""
    if not len(judgments):
        return None
    # Asked for counts, NumPy does not import its masked arrays, which takes a tenth of a small evaluation.
    grades = np.unique(judgments.grades, return_counts=True)[0].tolist()
    return next((each for each in PRESETS.values() if any(its.fits(judgments, grades) for its in each.looks)), None)


def preset_hint(judgments: Judgments, measures: Iterable[Measure], *, usual: bool) -> str:
    """What a preset would measure differently, in words; empty if nothing, or if no collection is recognised.

    usual: whether the measures are the default ones, which nobody chose for this collection
    """
    known = recognised(judgments)
    if known is None:
        return ""
    low = [one.name for one in measures if chosen_parameters(one).get("rel", known.rel) < known.rel]
    if not low and not usual:
        return ""
    wrong = ""
    if low:
        these = f"{joined(low, 'and')} {'counts' if len(low) == 1 else 'count'} lower ones"
        wrong = f", where grades from {known.rel:g} are relevant, but {these}"
    official = ", ".join(measure.name for measure in known.measures)
    return f"These look like judgments of {known.title}{wrong}. --preset {known.name} measures {official}."
