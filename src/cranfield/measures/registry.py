"""The registry: every measure is one function, with everything known about it beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from inspect import Parameter
from typing import Any, Literal

from cranfield.errors import MeasureError, choice_hint, either, given
from cranfield.measures.calculating import calculated
from cranfield.measures.lookup import comes_with_us, families, families_one_by_one, module_of
from cranfield.measures.parameters import ParameterKind, TooLarge, kind_of, shortened
from cranfield.ranks.columns import Numbers

Function = Callable[..., Numbers]
Aggregate = Literal["mean", "sum", "geometric", "median"]
# The argument of a measure: JudgedRanks, or one of the tables of judgments with groups.
TableName = Literal["ranks", "subtopics", "preferences", "groups", "strata", "passages", "searches", "lists"]
REQUIRED: Any = object()
# Parameters that some measures need: their meaning, and an example.
_NEEDED: dict[str, tuple[str, Any]] = {
    "cutoff": ("a cutoff", 10),
    "recall": ("a level of recall", 0.5),
    "documents": ("the number of documents", 1000),
}

_definitions: dict[str, Definition] = {}
_aliases: dict[str, tuple[str, Mapping[str, Any]]] = {}
_registrations = 0  # so far, of a measure of ours or of a user's


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Definition:
    """A measure before its parameters are chosen."""

    name: str
    function: Function
    aliases: tuple[str, ...]
    reference: str
    advice: str
    aggregate: Aggregate
    defaults: Mapping[str, Any]  # REQUIRED where there is none
    kinds: Mapping[str, ParameterKind]
    at: str  # the parameter that "@" sets
    range: tuple[float, float]  # of a query's value, at the default parameters
    lower_is_better: bool
    monotone: bool  # rises with every grade in the ranking, and falls with every grade in the judgments
    of_holes: bool  # about the unjudged documents themselves
    skips_unjudged: bool  # leaves unjudged documents out, as judged_only would
    infers_pooled: bool  # takes judged documents as a sample of the pooled ones
    rewards_order: bool  # a better document that moves up, past a worse one, never makes it worse
    averages_ties: bool  # adds over ranks, so that `AveragedRanks` give its mean over all orders of ties
    table: TableName
    of_run: bool  # a value of the whole run, of which a query's value is the contribution

    def __repr__(self) -> str:
        return f"<Definition of {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _definition, (self.name,)

    @property
    def sign(self) -> float:
        """1 if more is better, otherwise -1."""
        return -1.0 if self.lower_is_better else 1.0

    @property
    def summary(self) -> str:
        return _documentation(self.function).partition("\n")[0]

    @property
    def formula(self) -> str:
        paragraphs = _documentation(self.function).split("\n\n")
        return paragraphs[1].strip() if len(paragraphs) > 1 else ""

    @property
    def example(self) -> str:
        """The measure as it may be written, with required parameters."""
        needed = [name for name, default in self.defaults.items() if default is REQUIRED]
        try:
            return self(**{name: _NEEDED[name][1] for name in needed}).name
        except KeyError:
            return f"{self.name}({', '.join(f'{name}=…' for name in needed)})"

    def __call__(self, **parameters: Any) -> Measure:
        chosen = {}
        for name, value in parameters.items():
            if name not in self.kinds:
                raise MeasureError(
                    f"{self.name} has no parameter '{shortened(name)}'.", hint=choice_hint("it has", self.kinds, name)
                )
            try:
                chosen[name] = None if value is None and self.defaults[name] is None else self.kinds[name].read(value)
            except (ValueError, TypeError, OverflowError) as error:
                limit = f", {error}" if isinstance(error, TooLarge) else ""
                raise MeasureError(
                    f"invalid {name} '{shortened(value)}' for {self.name}.",
                    hint=f"{name} is {self.kinds[name].allowed}{limit}",
                ) from None
        for name, default in self.defaults.items():
            if default is REQUIRED and name not in chosen:
                needed = _NEEDED.get(name, (f"a value for {name}", None))[0]
                raise MeasureError(f"{self.name} needs {needed}.", hint=f"for instance {self.example}")
        kept = tuple(
            (name, chosen[name]) for name in self.kinds if name in chosen and chosen[name] != self.defaults[name]
        )
        return Measure(self, kept)


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A measure with its parameters; `name` is its canonical spelling, or the one that was typed, if that is kept.

    >>> from cranfield import parse_measure
    >>> ndcg = parse_measure("ndcg_cut_10")
    >>> ndcg.name, ndcg.definition.name, ndcg.parameters, ndcg.replace(cutoff=5).name
    ('nDCG@10', 'nDCG', (('cutoff', 10),), 'nDCG@5')
    >>> hits = parse_measure("hit_rate@5")
    >>> hits.name, hits.canonical, hits == parse_measure("Success@5")
    ('hit_rate@5', 'Success@5', True)
    """

    definition: Definition
    parameters: tuple[tuple[str, Any], ...] = ()
    typed: str = field(default="", compare=False, repr=False)
    name: str = field(init=False, compare=False)

    def __repr__(self) -> str:
        return f"<Measure {self.name}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.typed or self.canonical)

    @property
    def canonical(self) -> str:
        """Our own name of the measure, with its parameters."""
        at = next((f"@{value}" for name, value in self.parameters if name == self.definition.at), "")
        inside = ", ".join(f"{name}={value}" for name, value in self.parameters if name != self.definition.at)
        return f"{self.definition.name}{f'({inside})' if inside else ''}{at}"

    def __str__(self) -> str:
        return self.name

    def __call__(self, judged: Any) -> Numbers:
        """The value of every query, from the table that the measure is a function of: `JudgedRanks` for most.

        A value that is not a finite number is an error.
        """
        return calculated(self, judged)

    def replace(self, **parameters: Any) -> Measure:
        """The same measure with other parameters."""
        other = self.definition(**{**dict(self.parameters), **parameters})
        return self if other == self else other  # it keeps the name that was typed


def require_ranks(measure: Measure) -> None:
    """Refuse a measure that needs judgments with groups, if there is only one grade for each document."""
    if measure.definition.table == "lists":
        raise MeasureError(
            f"{measure.name} is measured on lists of recommended items.",
            hint="give the run with what its users had before: "
            + either("RecommenderRun(run, interactions)", given("interactions")),
        )
    if measure.definition.table != "ranks":
        raise MeasureError(
            f"{measure.name} is measured on {measure.definition.table}, "
            "which one grade for each document does not provide.",
            hint="give evaluate() judgments that name a group for every grade",
        )


def measure(
    name: str,
    *,
    aliases: tuple[str, ...] = (),
    reference: str = "",
    advice: str = "",
    aggregate: Aggregate = "mean",
    at: str = "cutoff",
    range: tuple[float, float] = (0.0, 1.0),
    lower_is_better: bool = False,
    monotone: bool = False,
    of_holes: bool = False,
    skips_unjudged: bool = False,
    infers_pooled: bool = False,
    rewards_order: bool = True,
    averages_ties: bool = False,
    table: TableName = "ranks",
    of_run: bool = False,
) -> Callable[[Function], Function]:
    """Register a function of `JudgedRanks` as a measure.

    Its parameters are the function's further arguments.
    With `table`, it is a function of another table: `SubtopicRanks`, `StratumRanks`, `PassageRanks` and so on.
    An alias may fix parameters: "recall_cap" and "dcg_burges(gain=exponential)" are both valid.
    A measure of your own may be registered again, as when a notebook's cell is run twice; those that come with
    cranfield keep their names.

    name: the name of the measure.
    aliases: further names.
    reference: the paper that defines it, as "Author & Author 2005".
    advice: when to use it, in a sentence.
    aggregate: how the values of the queries become one: "mean", "sum", "geometric" or "median".
    at: the parameter that a number after @ sets.
    range: the lowest and the highest possible value.
    lower_is_better: whether it counts something bad.
    monotone: whether it rises with every grade in the ranking, and falls with every grade in the judgments.
    of_holes: whether it is about the unjudged documents themselves.
    skips_unjudged: whether it leaves unjudged documents out by itself, as judged_only would.
    infers_pooled: whether judged documents stand for those that were pooled, but not judged (grade -1).
    rewards_order: whether a better document that moves up, past a worse one, never makes it worse.
    averages_ties: whether it only adds values over ranks and judged documents, so that sums of shares of documents
        are its mean over all orders of ties. Of any other, Policy(ties="expected") tries a sample of the orders.
    table: the argument of the function: "ranks", "subtopics", "preferences", "groups", "strata",
        "passages", "searches" or "lists".
    of_run: whether it is a value of the whole run, so that the value of a query is its contribution to the mean.
    Returns a decorator, which leaves the function unchanged.

    >>> from cranfield import JudgedRanks, evaluate, measure
    >>> @measure("FirstRank", lower_is_better=True, range=(0.0, float("inf")))
    ... def first_rank(judged: JudgedRanks, *, rel: float = 1):
    ...     "The rank of the first relevant document; 0 if there is none."
    ...     hit = judged.relevant(rel)
    ...     return judged.sum(judged.rank * (hit & (judged.running(hit) == 1)))
    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "FirstRank RR")
    <Evaluation of the run: FirstRank=2.0000, RR=0.5000; 1 query>
    """
    if not isinstance(name, str):
        raise MeasureError("a measure needs a name.", hint='write @measure("Name") above the function')

    def register(function: Function) -> Function:
        global _registrations
        defaults = _defaults(function)
        _check_names((name, *aliases), function)
        kinds = {parameter: kind_of(parameter, default) for parameter, default in defaults.items()}
        _definitions[name] = Definition(
            name=name,
            function=function,
            aliases=aliases,
            reference=reference,
            advice=advice,
            aggregate=aggregate,
            defaults=defaults,
            kinds=kinds,
            at=at,
            range=range,
            lower_is_better=lower_is_better,
            monotone=monotone,
            of_holes=of_holes,
            skips_unjudged=skips_unjudged,
            infers_pooled=infers_pooled,
            rewards_order=rewards_order,
            averages_ties=averages_ties,
            table=table,
            of_run=of_run,
        )
        for alias in (name, *aliases):
            word, _, fixed = alias.rstrip(")").partition("(")
            pairs = dict(pair.split("=") for pair in fixed.split(",")) if fixed else {}
            _aliases[plain(word)] = (name, pairs)
        _registrations += 1
        return function

    return register


monotone_measure = partial(measure, monotone=True)


def _defaults(function: Function) -> dict[str, Any]:
    """The parameters of a measure: every argument of its function after the first, and "judged_only"."""
    if not callable(function):
        raise MeasureError(f"{function!r:.60} is not a function.", hint='write @measure("Name") above a function')
    called = f"{module_of(function)}.{getattr(function, '__qualname__', type(function).__qualname__)}"
    try:
        arguments = list(inspect.signature(function).parameters.values())
    except ValueError:
        raise MeasureError(f"the parameters of {called} are not known.", hint=_SHAPE) from None
    if not arguments or arguments[0].kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
        raise MeasureError(f"{called} has no argument for the judged ranks.", hint=_SHAPE)
    for place, argument in enumerate(arguments):
        fault, kind = "", argument.kind
        stars = "*" if kind is Parameter.VAR_POSITIONAL else "**" if kind is Parameter.VAR_KEYWORD else ""
        if stars:
            fault = "takes any number of parameters, which have no names"
        elif place and kind is Parameter.POSITIONAL_ONLY:
            fault = "can only be given by position"
        elif argument.name == "judged_only":
            fault = "has the name of a parameter that every measure has"
        if fault:
            raise MeasureError(f"the parameter '{stars}{argument.name}' of {called} {fault}.", hint=_SHAPE)
    given = {it.name: REQUIRED if it.default is Parameter.empty else it.default for it in arguments[1:]}
    return given | {"judged_only": False}


_SHAPE = "a measure is a function such as: def name(judged, *, rel=1)"


def _documentation(function: Function) -> str:
    while isinstance(function, partial):  # its own docstring is that of its class
        function = function.func
    return (function.__doc__ or "").strip()


def _check_names(names: tuple[str, ...], function: Function) -> None:
    if comes_with_us(function):
        return
    for name in names:
        known = find(name.partition("(")[0])
        if known and comes_with_us(known[0].function):
            raise MeasureError(
                f"'{name}' is a name of {known[0].name}, which comes with cranfield.", hint="choose another"
            )


def plain(name: str) -> str:
    """A name as it is looked up, without case and dashes."""
    return name.lower().replace("-", "_")


def find(name: str) -> tuple[Definition, Mapping[str, Any]] | None:
    """The measure of a name or alias, and the parameters that the alias fixes; imports families until one has it."""
    unseen = families_one_by_one()
    while (known := _registered(name)) is None and next(unseen, None):
        pass
    return known


def _registered(name: str) -> tuple[Definition, Mapping[str, Any]] | None:
    if name in _definitions:
        return _definitions[name], {}
    known = _aliases.get(plain(name))
    return (_definitions[known[0]], known[1]) if known else None


def registered() -> int:
    """How many measures were registered so far: as long as this stays the same, so do the meanings of names."""
    return _registrations


def _definition(name: str) -> Definition:
    find(name)  # which imports its family
    return _definitions[name]


@dataclass(frozen=True)
class CarriedMeasure:
    """A measure of a user's with its code; a process that unpickles it, and does not have it, has it from then on."""

    definition: Definition

    def __reduce__(self) -> tuple[Any, ...]:
        return _carried, ({known.name: getattr(self.definition, known.name) for known in fields(self.definition)},)


def _carried(content: dict[str, Any]) -> CarriedMeasure:
    return CarriedMeasure(_definitions.setdefault(content["name"], Definition(**content)))


def catalogue() -> dict[str, Definition]:
    """All measures by name.

    Returns {name: definition}, in the order of the documentation.

    >>> catalogue()["AP"].summary
    'Mean of the precisions at the relevant documents, with 0 for each that was not retrieved.'
    """
    order = {family.__name__: place for place, family in enumerate(families())}
    own = len(order)  # users' measures come after all others
    return dict(sorted(_definitions.items(), key=lambda item: order.get(module_of(item[1].function), own)))


def spellings() -> list[str]:
    known = catalogue().values()
    return sorted({name for definition in known for name in (definition.name, *definition.aliases)})
