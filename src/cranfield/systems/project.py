"""cranfield.toml: which systems are tested on which collection, by which measures, and what may not get worse."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cranfield.errors import InputError
from cranfield.measures import DEFAULT_MEASURES, parse_measures
from cranfield.ranks.policy import Policy
from cranfield.read.formats.store import STORE, JudgmentView
from cranfield.read.settings import check_settings, read_toml
from cranfield.systems.collapse import Collapse
from cranfield.systems.collection import BUILTIN, IR_DATASETS, Collection, open_collection
from cranfield.systems.project_settings import ASKING, GATE, JUDGMENTS, POLICY, PROJECT

_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Project:
    """The settings of a cranfield.toml. Paths are relative to its folder."""

    path: Path
    collection: str
    systems: Mapping[str, Mapping[str, Any]]
    measures: tuple[str, ...] = DEFAULT_MEASURES
    k: int = 100
    timeout: float | None = None
    split: str | None = None
    collapse: str | Mapping[str, str] | Collapse | None = None
    baseline: str = "baseline"
    gate: Mapping[str, Any] = field(default_factory=dict)
    asking: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    store: str | None = None
    scale: Sequence[Any] | None = None
    view: JudgmentView | None = None

    @property
    def folder(self) -> Path:
        """The folder of cranfield.toml."""
        return self.path.parent

    def open_collection(self) -> Collection:
        """The collection it names."""
        inside = self.collection != BUILTIN and not self.collection.startswith(IR_DATASETS)
        found = open_collection(self.folder / self.collection if inside else self.collection, split=self.split)
        if self.store is not None:  # in which the judgments are, whatever else the collection has
            found = replace(found, qrels=self.judged_in if self.has_store else None)
        return found if self.view is None or found.qrels is None else replace(found, qrels=self.view.of(found.qrels))

    @property
    def judged_in(self) -> str:
        """The store in which people judge, whether it exists yet or not."""
        name = self.store or STORE
        return name if "://" in name else str(self.folder / name)

    @property
    def has_store(self) -> bool:
        """Whether that store exists."""
        return "://" in self.judged_in or os.path.isfile(self.judged_in)

    def accepted_path(self, name: str) -> Path:
        """Where accepted results are kept."""
        return self.folder / self.baseline / name

    def result_path(self, name: str) -> Path:
        """Where results of the last test are kept."""
        return self.folder / ".cranfield" / name

    def recorded_run(self, system: str) -> Path:
        """Where the last test recorded the run of a system."""
        return self.result_path(f"{system}.run.tsv")

    def changed(self, settings: Mapping[str, Any]) -> Project:
        """The project with other settings than those of its file: any but its collection and its systems."""
        known: dict[str, Any] = {**PROJECT, "collapse": object}
        for name in ("collection", "systems"):
            del known[name]
        check_settings(settings, known, "search_quality")
        asking = {name: settings[name] for name in ASKING if name in settings}
        policy = {name: settings[name] for name in POLICY if name in settings}
        gate = settings.get("gate", {})
        check_settings(gate, GATE, "search_quality: gate")
        chosen = settings.get("judgments", {})
        check_settings(chosen, JUDGMENTS, "search_quality: judgments")
        plain = ("k", "timeout", "collapse", "split", "baseline")
        others: dict[str, Any] = {name: settings[name] for name in plain if name in settings}
        if "measures" in settings:
            others["measures"] = tuple(settings["measures"])
        return replace(
            self,
            asking={**self.asking, **asking},
            policy=replace(self.policy, **policy),
            gate={**self.gate, **gate},
            store=chosen.get("store", self.store),
            view=_view(chosen) if {*chosen} - {"store", "scale"} else self.view,
            **others,
        )


def refuse_name(name: str, where: str, hint: str = "") -> None:
    """An error for a system under whose name no file can be written."""
    if not _NAME.fullmatch(name):
        fact = f"'{name}' is not a valid file name, so it cannot be the name of a system."
        raise InputError(where, fact, hint=hint)


def read_project(path: Path) -> Project:
    """Read a cranfield.toml, and check everything that can be checked without asking a system."""
    table = read_toml(path)
    check_settings(table, PROJECT, str(path))
    gate = table.get("gate", {})
    check_settings(gate, GATE, f"{path}: [gate]")
    systems = table.get("systems", {})
    if not table.get("collection"):
        raise InputError(str(path), "it names no collection.", hint="'cranfield init' writes an example")
    if not systems:
        raise InputError(str(path), "it describes no system.", hint="a system is a table [systems.NAME] with a type")
    for name, settings in systems.items():
        if not isinstance(settings, dict):
            raise InputError(str(path), f"systems.{name} is not a table.")
        refuse_name(name, str(path))
    chosen = table.get("judgments", {})
    check_settings(chosen, JUDGMENTS, f"{path}: [judgments]")
    measures = table.get("measures", list(DEFAULT_MEASURES))
    parse_measures([*measures, *gate.get("measures", ())])
    return Project(
        path=path,
        collection=table["collection"],
        systems=systems,
        measures=tuple(measures),
        k=table.get("k", 100),
        timeout=table.get("timeout"),
        split=table.get("split"),
        collapse=table.get("collapse"),
        baseline=table.get("baseline", "baseline"),
        gate=gate,
        asking={name: table[name] for name in ASKING if name in table},
        policy=Policy(**{name: table[name] for name in POLICY if name in table}),
        store=chosen.get("store"),
        scale=chosen.get("scale"),
        view=_view(chosen) if {*chosen} - {"store", "scale"} else None,
    )


def _view(chosen: Mapping[str, Any]) -> JudgmentView:
    """What the table [judgments] chooses from a store."""
    assessors, kinds = (tuple(map(str, chosen.get(name, ()))) or None for name in ("assessors", "kinds"))
    return JudgmentView(assessors, chosen.get("merge"), kinds)


TEMPLATE = """\
# `cranfield test` asks each system every query, measures the answers, and compares them with the accepted result
# (`cranfield accept`). Paths are relative to this file.

# A folder with corpus.jsonl, queries.jsonl and qrels/test.tsv (BEIR's layout), or queries.tsv and qrels.txt (TREC's),
# or queries.csv and qrels.csv; "builtin"; or "ir_datasets:beir/scifact/test".
collection = "{collection}"

# The worst queries are chosen by the first measure.
measures = ["nDCG@10", "RR", "R@100", "Judged@10"]
k = 100        # documents to ask for
jobs = 1       # queries that run at the same time
retries = 3    # further attempts after a temporary failure
# timeout = 10     # seconds to wait for a server
# collapse = "#"   # chunk ids to document ids: the part before the last '#'; or a regular expression, or a file

# Where the accepted runs are kept. Commit this folder; .cranfield contains the last result and need not be committed.
baseline = "baseline"

{judgments}
[gate]
measures = ["nDCG@10"]
tolerance = 0.01   # a larger drop fails, if it is also significant at alpha
alpha = 0.05
# max_worse_queries = 20
# [gate.minimum]   # fails below these, significant or not
# "nDCG@10" = 0.4

# The systems. Types: {types}.
{systems}
# [systems.shop]
# type = "postgres"
# dsn = "dbname=shop user=reader password=${{PGPASSWORD}}"   # from the environment, never shown
# sql = "select id from products where title ilike '%' || {{query}} || '%' order by length(title) limit {{k}}"

# [systems.mine]
# type = "python"
# object = "mypackage.search:search"   # a function (query, k), an object with search, or a retriever

# [systems.staging]
# type = "elasticsearch"
# url = "https://search.example.com/products/_search"
# headers = {{ Authorization = "ApiKey ${{SEARCH_API_KEY}}" }}
# body = {{ query = {{ match = {{ title = "{{query}}" }} }}, size = "{{k}}", _source = false }}

# Models that judge: cranfield judge judgments.db --assessor small
# [assessors.small]
# url = "http://localhost:11434/v1"    # anything that speaks OpenAI's /v1/chat/completions
# model = "llama3.2:3b"
# key = "OPENAI_API_KEY"               # the environment variable that contains the key
"""

_SQLITE = """\
[systems.sqlite]
type = "sqlite"   # full-text search in memory over the collection's own documents
tuned = true      # stemming, and titles count three times as much
"""
_NO_CORPUS = "# There is no corpus.jsonl, so nothing can be indexed here: describe your own system.\n"


_JUDGED = """\
# [judgments]
# store = "judgments.db"        # what people judge with `cranfield judge`, instead of the collection's judgments
# assessors = ["ann", "bob"]    # whose judgments count; by default everyone's
# merge = "median"              # which grade counts where they differ
# scale = [[0, "Off topic"], [1, "On topic", "Answers at least part of it"]]
"""
_UNJUDGED = """\
[judgments]
store = "judgments.db"          # what people judge with `cranfield judge`
# assessors = ["ann", "bob"]    # whose judgments count; by default everyone's
# merge = "median"              # which grade counts where they differ
# scale = [[0, "Off topic"], [1, "On topic", "Answers at least part of it"]]
"""


def project_template(collection: str, *, corpus: bool, judged: bool) -> str:
    """A commented cranfield.toml."""
    from cranfield.systems.opening import KINDS

    return TEMPLATE.format(
        collection=collection,
        types=", ".join(KINDS),
        systems=_SQLITE if corpus else _NO_CORPUS,
        judgments=_JUDGED if judged else _UNJUDGED,
    )
