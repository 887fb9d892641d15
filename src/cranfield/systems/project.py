"""cranfield.toml: which systems are tested on which collection, by which measures, and what may not get worse."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from cranfield.comparison.limits import Expectation, Limits, expectations
from cranfield.errors import ComparisonError, InputError
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.io.formats.store import STORE, JudgmentView, stored_documents
from cranfield.io.queries import Queries
from cranfield.io.query_columns import COLUMNS, FROM_FILE, PARAMETERS, THRESHOLD
from cranfield.io.settings import TomlSetting, check_settings, read_toml
from cranfield.measures import DEFAULT_MEASURES, parse_measures
from cranfield.ranks.policy import Policy, Setting, settings_of
from cranfield.systems.collapse import Collapse
from cranfield.systems.collection import BUILTIN, IR_DATASETS, Collection, open_collection, open_documents
from cranfield.words import joined

_NUMBER = (int, float)


def _policy(known: Setting) -> TomlSetting:
    words = "; ".join(f'"{word}": {meaning}' for word, meaning in known.choices.items())
    usual = f'"{next(iter(known.choices))}"' if known.choices else str(known.default).lower()
    return TomlSetting(known.kind, f"{known.meaning}{f' ({words})' if words else ''}", usual)


POLICY = {name: _policy(known) for name, known in settings_of().items() if known.live}
ASKING = {
    "jobs": TomlSetting(int, "how many queries run at the same time", "1"),
    "retries": TomlSetting(int, "how often a query is tried again after a temporary failure", "3"),
    "wait": TomlSetting(
        _NUMBER, "seconds before the first of these attempts; each further wait is twice as long", "0.25"
    ),
    "give_up": TomlSetting(int, "stop after this many failed queries in a row; 0 never stops", "10"),
}
PROJECT = {
    "collection": TomlSetting(
        str, 'a folder in the layout of BEIR or TREC, "builtin", or "ir_datasets:NAME"; paths are relative to the file'
    ),
    "corpus": TomlSetting(
        str, "a file like corpus.jsonl that says which documents exist now", "that of the collection, if it has one"
    ),
    "split": TomlSetting(
        str, "which judgments to take where a collection has several, such as dev", "`test`, or the only one"
    ),
    "measures": TomlSetting(
        list, "what is measured; the worst queries are those of the first", ", ".join(DEFAULT_MEASURES)
    ),
    **{
        its.parameter: TomlSetting(str, f"{its.meaning[0].lower()}{its.meaning[1:-1]} ([guide](guides/queries.md))")
        for its in COLUMNS.values()
    },
    THRESHOLD: TomlSetting(
        (int, float, str), 'scores below which no document counts as returned, or "fitted", with answerable'
    ),
    FROM_FILE: TomlSetting(str, f"a file of queries with columns called {joined(COLUMNS, 'and')}"),
    "k": TomlSetting(
        int, "how many results to ask for", "as many as the system returns by itself; 100 if it needs a k"
    ),
    "deepen": TomlSetting(bool, "ask again for more chunks until there are k documents", "false"),
    "collapse": TomlSetting(
        str,
        "how a chunk's id becomes its document's: a separator, a regular expression with one group, or a file of pairs",
    ),
    "timeout": TomlSetting(_NUMBER, "seconds to wait for a server, instead of what the systems say"),
    "baseline": TomlSetting(str, "the folder of the accepted results", '"baseline"'),
    **ASKING,
    **POLICY,
    "gate": TomlSetting(dict, "when a test fails: see below"),
    "expect": TomlSetting(list, "what single queries must find, a table [[expect]] each: see below"),
    "judgments": TomlSetting(dict, "whose judgments count: see below"),
    "history": TomlSetting(dict, "where results are kept, and when `cranfield history --check` fails: see below"),
    "systems": TomlSetting(dict, "one table for each system"),
    "assessors": TomlSetting(dict, "one table for each model that judges"),  # read where models are asked
}
GATE = {
    "measures": TomlSetting(list, "the measures that may not get worse", "the first of the project's"),
    "tolerance": TomlSetting((int, float, dict), "the drop that is allowed, one for all measures or one for each", "0"),
    "beyond_tolerance": TomlSetting(
        bool, "whether only a drop fails that is significantly larger than the tolerance, not only than 0", "false"
    ),
    "alpha": TomlSetting(_NUMBER, "a larger drop fails if its one-sided p-value is at most this", "0.05"),
    "gates": TomlSetting(int, "how many gates share alpha, such as 30 for a test every day", "1"),
    "detect": TomlSetting(_NUMBER, "a drop that matters to you; `cranfield gate` says how likely it is to be stopped"),
    "minimum": TomlSetting(dict, "a value that each measure must reach, whether a drop is significant or not"),
    "require_improvement": TomlSetting(bool, "whether some measure must be significantly better", "false"),
    "non_inferiority": TomlSetting(_NUMBER, "the margin within which every measure must be shown to stay"),
    "max_worse_queries": TomlSetting(int, "how many queries may get worse"),
    "max_drop": TomlSetting(_NUMBER, "by how much any query may get worse, by the first of the gate's measures"),
    "may_become_empty": TomlSetting(bool, "whether a query that returned documents may return none", "false"),
    "except_queries": TomlSetting(list, "the ids of queries that may get worse by more, and may become empty"),
    "max_p95": TomlSetting(_NUMBER, "how many seconds 95% of the answers may take at most"),
    "max_p95_ratio": TomlSetting(_NUMBER, "how many times as long as when the result was accepted"),
    "max_failed": TomlSetting(_NUMBER, "how many queries may fail: 3, or 0.05 of them", "0"),
    "max_empty": TomlSetting(_NUMBER, "how many queries may return nothing: 3, or 0.05 of them"),
    "test": TomlSetting(str, "the significance test, as `cranfield compare --test` takes it", '"t"'),
    "correction": TomlSetting(str, "how p-values are corrected over the measures", '"holm"'),
}
JUDGMENTS = {
    "store": TomlSetting(str, "the store that `cranfield judge` fills, in place of the collection's judgments"),
    "scale": TomlSetting(list, "the grades and their names, for the judging page"),
    "assessors": TomlSetting(list, "whose judgments count", "all of these kinds"),
    "kinds": TomlSetting(list, "which [kinds of assessors](judging.md#views) count", "those of people"),
    "merge": TomlSetting(str, "[what counts](judging.md#views) where assessors differ", '"majority"'),
}
HISTORY = {
    "store": TomlSetting(
        str,
        "a file, or `postgresql://user@host/name` for a team; `${NAME}` is replaced from the environment",
        '".cranfield/history.db"',
    ),
    "keep": TomlSetting(bool, "whether results are appended", "true"),
    "branch": TomlSetting(str, "only results of this branch are shown and checked", "all but those of pull requests"),
    "looks": TomlSetting(int, "how many times alpha is shared among: 30 for a check every day of a month", "30"),
    "alpha": TomlSetting(_NUMBER, "the chance of an alarm, in so many looks, if nothing has become worse", "0.05"),
}


_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of a cranfield.toml. Paths are relative to its folder."""

    path: Path
    collection: str
    systems: Mapping[str, Mapping[str, Any]]
    measures: tuple[str, ...] = DEFAULT_MEASURES
    k: int | None = None
    deepen: bool = False
    timeout: float | None = None
    split: str | None = None
    corpus: str | None = None
    collapse: str | Mapping[str, str] | Collapse | None = None
    baseline: str = "baseline"
    gate: Mapping[str, Any] = field(default_factory=dict)
    expect: tuple[Expectation, ...] = ()
    asking: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    store: str | None = None
    scale: Sequence[Any] | None = None
    view: JudgmentView | None = None
    column_sources: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> QueryColumns:
        """What is known of the queries beside their judgments."""
        return QueryColumns.read(**self.column_sources)

    @property
    def folder(self) -> Path:
        return self.path.parent

    def open_collection(self) -> Collection:
        inside = self.collection != BUILTIN and not self.collection.startswith(IR_DATASETS)
        opened = open_collection(self.folder / self.collection if inside else self.collection, split=self.split)
        if self.corpus is not None:
            opened = replace(opened, corpus=open_documents(self.folder / self.corpus).corpus)
        qrels = opened.qrels
        if self.store is not None:  # in which the judgments are, whatever else the collection has
            qrels = self.judged_in if self.has_store else None
        texts = (lambda: stored_documents(self.judged_in)) if self.has_store else None
        qrels = qrels if self.view is None or qrels is None else self.view.of(qrels)
        return replace(opened, qrels=qrels, texts=texts, _columns=self.columns)

    @property
    def judged_in(self) -> str:
        """The store in which people judge, whether it exists yet or not."""
        name = self.store or STORE
        return name if "://" in name else str(self.folder / name)

    @property
    def has_store(self) -> bool:
        return "://" in self.judged_in or os.path.isfile(self.judged_in)

    def limits(self, texts: Mapping[str, str]) -> Limits:
        """What a run must keep to whatever was accepted; `texts`: of the queries, for messages."""
        names = (field.name for field in fields(Limits))
        known = {name: self.gate[name] for name in names if name in self.gate}
        excepted = tuple(map(str, known.pop("except_queries", ())))
        return Limits(**known, except_queries=excepted, expect=self.expect, texts=texts)

    def expecting(self, queries: Mapping[str, str]) -> Project:
        """The project, with what the columns of its file of queries expect of them."""
        theirs = expectations(queries, "queries") if isinstance(queries, Queries) else ()
        return replace(self, expect=(*self.expect, *theirs))

    def accepted_path(self, name: str) -> Path:
        return self.folder / self.baseline / name

    def result_path(self, name: str) -> Path:
        return self.folder / ".cranfield" / name

    def recorded_run(self, system: str) -> Path:
        return self.result_path(f"{system}.run.tsv")

    def _beside(self, file: Any) -> Any:
        return str(self.folder / file) if isinstance(file, str | os.PathLike) else file

    def changed(self, settings: Mapping[str, Any]) -> Project:
        """The project with other settings than those of its file: any but its collection and its systems."""
        known = {name: kind for name, kind in PROJECT.items() if name not in ("collection", "systems")}
        check_settings(
            settings, {**known, "collapse": object, **dict.fromkeys((*PARAMETERS, THRESHOLD), object)}, "search_quality"
        )
        return self._with(settings, "search_quality")

    def _with(self, settings: Mapping[str, Any], place: str) -> Project:
        gate, chosen, history = (settings.get(name, {}) for name in ("gate", "judgments", "history"))
        check_settings(gate, GATE, f"{place}: [gate]")
        check_settings(chosen, JUDGMENTS, f"{place}: [judgments]")
        check_settings(history, HISTORY, f"{place}: [history]")
        policy = {name: settings[name] for name in POLICY if name in settings}
        plain = ("k", "deepen", "timeout", "collapse", "split", "corpus", "baseline")
        others: dict[str, Any] = {name: settings[name] for name in plain if name in settings}
        given = {name: self._beside(settings[name]) for name in PARAMETERS if name in settings}
        given |= {THRESHOLD: settings[THRESHOLD]} if THRESHOLD in settings else {}
        others["column_sources"] = {**self.column_sources, **given}
        if {*chosen} - {"store", "scale"}:
            assessors, kinds = (tuple(map(str, chosen.get(name, ()))) or None for name in ("assessors", "kinds"))
            others["view"] = JudgmentView(assessors, chosen.get("merge"), kinds)
        return replace(
            self,
            measures=tuple(settings.get("measures", self.measures)),
            asking={**self.asking, **{name: settings[name] for name in ASKING if name in settings}},
            policy=replace(self.policy, **policy),
            gate={**self.gate, **gate},
            expect=(*self.expect, *expectations(settings.get("expect", ()), f"{place}: [[expect]]")),
            store=chosen.get("store", self.store),
            scale=chosen.get("scale", self.scale),
            history={**self.history, **history},
            **others,
        )


def refuse_name(name: str, where: str, hint: str = "") -> None:
    if not _NAME.fullmatch(name):
        fact = f"'{name}' is not a valid file name, so it cannot be the name of a system."
        raise InputError(where, fact, hint=hint)


def read_project(path: Path) -> Project:
    """Read a cranfield.toml, and check everything that can be checked without asking a system."""
    table = read_toml(path)
    check_settings(table, PROJECT, str(path))
    systems = table.get("systems", {})
    if not table.get("collection"):
        raise InputError(str(path), "it names no collection.", hint="'cranfield init' writes an example")
    if not systems:
        raise InputError(str(path), "it describes no system.", hint="a system is a table [systems.NAME] with a type")
    for name, settings in systems.items():
        if not isinstance(settings, dict):
            raise InputError(str(path), f"systems.{name} is not a table.")
        refuse_name(name, str(path))
    project = Project(path, table["collection"], systems)._with(table, str(path))
    parse_measures([*project.measures, *project.gate.get("measures", ())])
    try:
        project.limits({})
    except ComparisonError as error:
        raise InputError(f"{path}: [gate]", error.fact, hint=error.hint) from None
    return project


TEMPLATES = Path(__file__).parents[1] / "data" / "templates"
_SYSTEMS = {
    True: """\
[systems.sqlite]
type = "sqlite"   # full-text search in memory over the collection's own documents
tuned = true      # stemming, and titles count three times as much
""",
    False: "# There is no corpus, so nothing can be indexed here: describe your own system.\n",
}
_JUDGMENTS = {
    True: """\
# [judgments]
# store = "judgments.db"        # what people judge with `cranfield judge`, instead of the collection's judgments""",
    False: """\
[judgments]
store = "judgments.db"          # what people judge with `cranfield judge`""",
}


def project_template(collection: str, *, corpus: bool, judged: bool) -> str:
    """A commented cranfield.toml."""
    from cranfield.systems.opening import KINDS

    text = (TEMPLATES / "cranfield.toml").read_text(encoding="utf-8").replace("<types>", ", ".join(KINDS))
    text = text.replace("<systems>", _SYSTEMS[corpus]).replace("<judgments>", _JUDGMENTS[judged])
    return text.replace("<collection>", collection)
