"""Conventions: everything that can make two tools print different numbers for the same run and judgments.

`Conventions` is a `Policy` with more settings: those that only other tools have. A `Convention` is one rule that may
differ: the settings or the parameters that it changes, the measures that it touches, and what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cranfield.errors import MeasureError
from cranfield.measures import Measure, catalogue
from cranfield.measures.scope import chosen_parameters
from cranfield.ranks.policy import Policy, setting, settings_of


@dataclass(frozen=True, slots=True, repr=False)
class Conventions(Policy):
    """A policy, and the settings that only other tools have."""

    scores: Literal["64", "32"] = setting(
        "The digits of a score", {"64": "all of 64 bits", "32": "those of 32 bits, so that close scores are tied"}
    )
    order: Literal["falling", "rising"] = setting(
        "The order of scores", {"falling": "the highest is first", "rising": "the lowest is first, as of distances"}
    )
    top: Literal["kept", "dropped"] = setting(
        "The first document of every ranking", {"kept": "stays", "dropped": "is left out"}
    )
    tied_rank: Literal["own", "last"] = setting(
        "The rank of a tied document", {"own": "its own", "last": "the last one of its tie"}
    )
    low_score: Literal["counts", "ignored"] = setting(
        "A document with a score of 0 or less", {"counts": "counts as any other", "ignored": "is never relevant"}
    )
    boundary: Literal["rank", "score"] = setting(
        "A cutoff", {"rank": "counts ranks", "score": "includes documents tied with the last one"}
    )
    missed: Literal["count", "ignored"] = setting(
        "Judged documents that were not retrieved", {"count": "count", "ignored": "are ignored, relevant or not"}
    )
    threshold: Literal["grade", "query"] = setting(
        "A document is relevant",
        {
            "grade": "from a grade on that is the same for all queries",
            "query": "if it reaches the 90th percentile of its query's grades, and half of the highest",
        },
    )
    no_relevant: Literal["zero", "skip", "one"] = setting(
        "A query without relevant documents", {"zero": "counts 0", "skip": "is left out", "one": "counts 1"}
    )
    unjudged_query: Literal["ignored", "zero"] = setting(
        "A query of the run without judgments", {"ignored": "is left out", "zero": "counts 0"}
    )
    average: Literal["macro", "micro", "median"] = setting(
        "The average",
        {
            "macro": "the mean over queries",
            "micro": "the sum of all numerators over the sum of all denominators",
            "median": "the median over queries",
        },
    )
    query_decimals: Literal["all", "2", "3", "4", "5"] = setting(
        "Decimals of the value of a query",
        {"all": "all", "2": "rounded to 2, a half upwards", **{n: f"rounded to {n}" for n in "345"}},
    )
    mean_decimals: Literal["all", "2", "3", "4", "5"] = setting(
        "Decimals of a mean", {"all": "all", **{n: f"rounded to {n}" for n in "2345"}}
    )

    def __repr__(self) -> str:
        changed = {name: getattr(self, name) for name, its in settings_of(Conventions).items()}
        usual = {name: its.default for name, its in settings_of(Conventions).items()}
        told = ", ".join(f"{name}={value!r}" for name, value in changed.items() if value != usual[name])
        return f"Conventions({told})"

    @classmethod
    def of(cls, policy: Policy, **others: Any) -> Conventions:
        """A policy as conventions; the settings of other tools are ours unless they are given."""
        return cls(**{name: getattr(policy, name) for name in settings_of(type(policy))} | others)

    @property
    def policy(self) -> Policy:
        """The settings that are ours."""
        return Policy(**{name: getattr(self, name) for name in settings_of()})

    @property
    def beyond(self) -> tuple[str, ...]:
        """The names of the settings that no policy of ours has, where they are not as usual."""
        ours = settings_of()
        known = settings_of(Conventions).items()
        return tuple(name for name, its in known if name not in ours and getattr(self, name) != its.default)

    @property
    def told(self) -> tuple[str, ...]:
        """What no policy of ours has, a sentence each, but for the rounding of a mean, which every reader sees."""
        beyond = {(name, getattr(self, name)) for name in self.beyond}
        return tuple(rule.says.format(k="k") for rule in CONVENTIONS if beyond & rule.settings.items())


@dataclass(frozen=True, eq=False)
class Convention:
    """One rule: what it says, what it changes, and which measures it touches.

    says: a sentence about the other tool; {k} is the cutoff of the measure
    settings: of `Conventions`
    parameters: of the measure
    becomes: the measure that is meant instead, with the same parameters
    of: the names of the measures that it touches; all those that have the parameters, if there are none
    cut: whether it concerns measures with a cutoff only
    also: tools that do this and have no dialect
    """

    says: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    becomes: str = ""
    of: frozenset[str] = frozenset()
    cut: bool = False
    also: tuple[str, ...] = ()

    @property
    def axis(self) -> str:
        """What the rule is about: two rules about the same cannot be in one explanation."""
        if self.becomes:
            return "denominator"
        return next(iter((*self.settings, *self.parameters)))

    def touches(self, measure: Measure) -> bool:
        """Whether the rule can make a difference to a measure."""
        name, kinds = measure.definition.name, measure.definition.kinds
        if self.of and name not in self.of:
            return False
        if self.cut and chosen_parameters(measure).get("cutoff") is None:
            return False
        return self.parameters.keys() <= kinds.keys() and measure.definition.table == "ranks"

    def applied(self, measure: Measure, conventions: Conventions) -> tuple[Measure, Conventions]:
        """A measure and conventions under this rule."""
        changed = replace(conventions, **self.settings) if self.settings else conventions
        if not self.touches(measure):
            return measure, changed
        if self.becomes:
            definition = catalogue()[self.becomes]
            kept = {name: value for name, value in measure.parameters if name in definition.kinds}
            return definition(**kept), changed
        return measure.replace(**self.parameters) if self.parameters else measure, changed

    def sentence(self, measures: Sequence[Measure]) -> str:
        cutoffs = [chosen_parameters(measure).get("cutoff") for measure in measures if self.touches(measure)]
        known = [str(cutoff) for cutoff in cutoffs if cutoff is not None]
        says = self.says if known else self.says.replace(", at most {k}", "")
        return says.format(k=known[0] if known else "k")


def _settings(says: str, also: tuple[str, ...] = (), of: str = "", cut: bool = False, **values: Any) -> Convention:
    return Convention(says, settings=values, of=frozenset(of.split()), cut=cut, also=also)


def _parameters(says: str, of: str = "", cut: bool = False, also: tuple[str, ...] = (), **values: Any) -> Convention:
    return Convention(says, parameters=values, of=frozenset(of.split()), cut=cut, also=also)


_BY_RANK = "AP P R RR Success Hits RelP R_cap SetP SetR"
_RATIOS = "R RelP R_cap AP nDCG SetR P"
# The rules that are known to differ. Those about thresholds, cutoffs and depths are made for each case: `rules_for`.
CONVENTIONS: tuple[Convention, ...] = (
    _settings("The larger id comes first among tied documents.", ties="doc_id"),
    _settings("The smaller id comes first among tied documents.", ties="smaller_doc_id"),
    _settings("Tied documents stay in the order of the run.", also=("Vespa", "implicit"), ties="file"),
    _settings("Tied documents come in the best order.", ties="best"),
    _settings("Tied documents come in the worst order.", ties="worst"),
    _settings("Every tied document has the last rank of its tie.", of=_BY_RANK, also=("LightFM",), tied_rank="last"),
    _settings(
        "The cutoff takes in all documents tied with the one at rank {k}.",
        of=_BY_RANK,
        cut=True,
        also=("TruLens",),
        boundary="score",
    ),
    _settings("Among tied documents, the mean over all their orders is taken.", ties="expected"),
    _settings("A document with a score of 0 or less is never relevant.", of=_BY_RANK, low_score="ignored"),
    _settings("Scores are kept in 32 bits, so close ones are tied.", also=("TF-Ranking",), scores="32"),
    _settings("The lowest score is first: the scores are distances.", order="rising"),
    _settings(
        "A document is relevant if it reaches the 90th percentile of its query's grades, and half of the highest.",
        of=_BY_RANK,
        threshold="query",
    ),
    _settings("Queries missing from the run count 0.", also=("the MS MARCO script",), missing="zero"),
    _settings("Queries missing from the run are left out of the mean.", missing="skip"),
    _settings("Queries without a relevant document count 0.", no_relevant="zero"),
    _settings(
        "Queries without a relevant document are left out of the mean.",
        also=("gdeval", "pyvespa", "implicit", "LightFM"),
        no_relevant="skip",
    ),
    _settings("Queries without a relevant document count 1.", no_relevant="one"),
    _settings("Queries of the run that are not judged count 0.", also=("trectools",), unjudged_query="zero"),
    _settings("A document with the query's own id is removed first.", also=("Anserini",), same_id="drop"),
    _settings("A document with the query's own id stays.", same_id="keep"),
    _settings(
        "A document with a negative grade is judged, and not relevant.", also=("gdeval",), negative="nonrelevant"
    ),
    _settings("Of a document that appears twice, the first line counts.", duplicates="first"),
    _settings("Of a document that appears twice, the last line counts.", duplicates="last"),
    _settings("Of a document that appears twice, the best line counts.", duplicates="best"),
    _settings("The first document of every ranking is left out.", also=("MTEB with skip_first_result",), top="dropped"),
    _settings(
        "Judged documents that were not retrieved do not exist: only those in the ranking count.",
        also=("TF-Ranking",),
        missed="ignored",
    ),
    _settings(
        "Numerators and denominators are added up over all queries before dividing.",
        of=_RATIOS,
        also=("implicit",),
        average="micro",
    ),
    _settings("The median over the queries is printed, not the mean.", average="median"),
    _settings("The value of every query is rounded to two decimals.", query_decimals="2"),
    _settings("The value of every query is rounded to three decimals.", query_decimals="3"),
    _settings("The value of every query is rounded to four decimals.", query_decimals="4"),
    _settings("The value of every query is rounded to five decimals.", also=("gdeval",), query_decimals="5"),
    _parameters("AP is divided by the number of relevant documents, R.", of="AP", denominator="R"),
    _parameters(
        "AP@{k} is divided by R or by {k}, whichever is smaller.",
        of="AP",
        cut=True,
        also=("pyvespa", "implicit", "RecBole", "Recommenders"),
        denominator="min",
    ),
    _parameters(
        "AP is divided by the relevant documents found, not by all.",
        of="AP",
        also=("DeepEval", "cwl-eval"),
        denominator="found",
    ),
    _parameters("AP@{k} is divided by {k}.", of="AP", cut=True, denominator="k"),
    _parameters("P@{k} is divided by {k}, even if fewer documents were returned.", of="P", short="filled"),
    _parameters(
        "P@{k} is divided by the number of documents returned, if these are fewer.",
        of="P",
        also=("TF-Ranking",),
        short="returned",
    ),
    Convention("P@{k} is divided by R or by {k}, whichever is smaller.", becomes="RelP", of=frozenset({"P"}), cut=True),
    Convention(
        "Recall means whether anything relevant was found at all.", becomes="Success", of=frozenset({"R"}), cut=True
    ),
    Convention(
        "R@{k} is divided by R or by {k}, whichever is smaller.", becomes="R_cap", of=frozenset({"R"}), cut=True
    ),
    Convention("A hit rate is the share of the relevant documents found.", becomes="R", of=frozenset({"Success"})),
    _parameters("A gain is the grade itself.", also=("TruLens", "pyvespa"), gain="linear"),
    _parameters("A gain is 2^grade - 1.", also=("TF-Ranking", "gdeval"), gain="exponential"),
    _parameters("A gain is 1 for any relevant document.", also=("RecBole", "implicit"), gain="binary"),
    _parameters("The discount begins at rank 3: log2(rank), not log2(rank + 1).", discount="late"),
    _parameters("DCG takes the natural logarithm.", of="DCG", base=2.718281828459045),
    _parameters("DCG takes the logarithm to base 10.", of="DCG", base=10),
    _parameters("The ideal ranking is not cut off at {k}.", cut=True, ideal="uncut"),
    _parameters(
        "The ideal ranking is as long as the ranking returned, at most {k}.", also=("mlflow",), ideal="returned"
    ),
    _parameters("The ideal ranking has only documents that were retrieved.", ideal="retrieved"),
    _parameters("The ideal ranking has a perfect document at every rank.", ideal="full"),
    _parameters("The ideal ranking has all judged documents, to the cutoff.", ideal="judged"),
    _parameters("Documents without a judgment are removed first.", judged_only=True),
)

CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)
DEPTHS = (10, 20, 50, 100, 1000)


def rules_for(
    measures: Sequence[Measure], conventions: Conventions, *, grades: Sequence[float], deepest: int, repeats: bool
) -> Iterator[Convention]:
    """The rules that could make a difference to measures under some conventions.

    grades: those that occur; deepest: the longest ranking; repeats: whether a document appears twice in one
    """
    for rule in CONVENTIONS:
        if rule.axis == "duplicates" and not repeats:
            continue
        if rule.axis == "negative" and min(grades, default=0) >= 0:
            continue
        if _differs(rule, measures, conventions):
            yield rule
    for grade in sorted({1.0, *grades}):
        if grade > 0:
            rule = _parameters(f"A document is relevant from grade {grade:g} on.", rel=grade)
            if _differs(rule, measures, conventions):
                yield rule
    for cutoff in _cutoffs(measures):
        rule = _parameters(f"The cutoff is {cutoff}.", cutoff=cutoff)
        if _differs(rule, measures, conventions):
            yield rule
    optional = any(measure.definition.defaults.get("cutoff", 0) is None for measure in measures)
    if optional and _differs(rule := _parameters("There is no cutoff.", cutoff=None), measures, conventions):
        yield rule
    for depth in DEPTHS:
        if depth < deepest and depth != conventions.depth:
            yield _settings(f"Rankings are cut off at rank {depth}.", depth=depth)


def _cutoffs(measures: Sequence[Measure]) -> list[int]:
    known = [chosen_parameters(measure).get("cutoff") for measure in measures]
    near = {cutoff + step for cutoff in known if cutoff is not None for step in (-1, 1) if cutoff + step > 0}
    return sorted({*CUTOFFS, *near})


def _differs(rule: Convention, measures: Sequence[Measure], conventions: Conventions) -> bool:
    """Whether a rule changes anything for one of the measures."""
    for measure in measures:
        if not rule.touches(measure):
            continue
        try:
            if rule.applied(measure, conventions) != (measure, conventions):
                return True
        except MeasureError:
            continue
    return False
