"""What a command reads: judgments, runs, documents and their chunks; by which policy, formats and engine."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cranfield.cli import output
from cranfield.cli.options import Command, Option, OptionGroup, argument, file, flag, option
from cranfield.errors import CranfieldError
from cranfield.io.formats import readable
from cranfield.io.formats.store import JudgmentView
from cranfield.io.streams import Stream
from cranfield.judging.store import BY_PEOPLE, KINDS, RULES
from cranfield.ranks.policy import Policy, Setting, settings_of
from cranfield.words import joined

if TYPE_CHECKING:
    from cranfield.systems.collection import Collection

BESIDE = ".chunks.jsonl"  # after the name of a run


class RunFormatOptions(OptionGroup, section="Input"):
    format: str | None = option(
        "--run-format",
        metavar="FORMAT",
        type=click.Choice(readable(["run"])),
        help=f"{joined(readable(['run']), 'or')}, if it cannot be detected.",
    )


class FormatOptions(RunFormatOptions):
    qrels_format: str | None = option(
        "--qrels-format",
        metavar="FORMAT",
        type=click.Choice(readable(["qrels"])),
        help=f"The same for the judgments: {joined(readable(['qrels']), 'or')}, if it cannot be detected.",
    )


class ReadingOptions(FormatOptions):
    """How judgments and runs are read; options that were not given are None."""

    check_ids: bool | None = None
    weights: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name in settings_of() and value is not None}

    def arguments(self) -> dict[str, Any]:
        """The options given, as arguments of functions that read judgments and runs."""
        given = {"policy": Policy(**self.settings) if self.settings else None}
        given |= self.values("format", "qrels_format", "check_ids", "weights")
        return {name: value for name, value in given.items() if value is not None}


class WeightOptions(OptionGroup, section="Queries"):
    weights: str | None = file(
        "--weights", help="How much each query counts, such as how often it is asked: a file of query and weight."
    )


class IdCheckOptions(OptionGroup, section="Input"):
    check_ids: bool = flag(
        "--no-id-check",
        flag_value=False,
        default=True,
        help="Evaluate a run even if it has no query, or no judged document, in common with the judgments.",
    )


def policy_options(policy: type[Policy] = Policy, names: Container[str] | None = None) -> type[OptionGroup]:
    """An option for each setting of a policy, or for some; None if not given."""
    known = settings_of(policy)
    declared = {name: _policy_option(name, known[name]) for name in known if names is None or name in names}
    return type("PolicyOptions", (OptionGroup,), declared, section="Conventions")


def _policy_option(name: str, setting: Setting) -> Any:
    words = f": {', '.join(setting.choices)}" if setting.choices else ""
    kinds: dict[type, dict[str, Any]] = {
        str: {"type": click.Choice(list(setting.choices)), "metavar": "CHOICE"},
        int: {"type": int, "metavar": "N"},
        float: {"type": float, "metavar": "SHARE"},
        bool: {"is_flag": True, "default": None},
    }
    return option(f"--{name.replace('_', '-')}", help=f"{setting.meaning}{words}.", **kinds[setting.kind])


def reading_options(*, settings: Container[str] | None = None, means: bool = True) -> type[ReadingOptions]:
    """The options about reading; with some settings of the policy, or with all of them.

    means: whether means of runs are measured, for which queries may have weights, and ids are checked
    """
    measuring = (IdCheckOptions, WeightOptions) if means else ()
    return type("ReadingOptions", (ReadingOptions, *measuring, policy_options(names=settings)), {})


class AssessorOptions(OptionGroup, section="Judgments in a store"):
    assessors: tuple[str, ...] = option(
        "--assessor", multiple=True, metavar="NAME", help="An assessor; may be repeated."
    )
    kinds: tuple[str, ...] = option(
        "--kind",
        choices=KINDS,
        multiple=True,
        metavar="KIND",
        help=f"A kind of assessor, may be repeated [{', '.join(BY_PEOPLE)}].",
    )


class ViewOptions(AssessorOptions):
    merge: str | None = option(
        "--merge",
        choices=RULES,
        metavar="RULE",
        help=f"Which grade counts where assessors differ [{next(iter(RULES))}].",
    )
    pooled: bool = flag("--pooled", help="Include documents that were pooled but not judged, as -1, for infAP.")

    @property
    def view(self) -> JudgmentView | None:
        """The view that the options choose; None if none was given."""
        if not (self.assessors or self.kinds or self.merge or self.pooled):
            return None
        return JudgmentView(self.assessors or None, self.merge, self.kinds or None, self.pooled)


class JudgmentOptions(ViewOptions):
    qrels: str | None = argument()

    @property
    def source(self) -> Any:
        """The judgments: a view of a store if the options choose one, else QRELS or, of a folder, those in it."""
        qrels = self.qrels
        if (
            qrels is not None
            and os.path.isdir(qrels)
            and not any(name.endswith(".parquet") for name in os.listdir(qrels))
        ):
            from cranfield.systems.collection import judgments_in

            qrels = judgments_in(qrels)
        if self.view is None:
            return qrels and Stream(qrels)
        if qrels is None:
            raise click.UsageError("these options choose assessors from QRELS, which is missing; give it here.")
        return self.view.of(qrels)


class InheritingOptions(JudgmentOptions):
    """Judgments; documents with the same text as a judged one may inherit its grade."""

    same_text: str | None = option(
        "--same-text",
        metavar="CORPUS",
        help="Give documents without a judgment the grade of a judged one with the same text in this corpus: a file of "
        "documents, a folder with one, or a collection.",
    )

    @property
    def source(self) -> Any:
        """The judgments, with those that are inherited."""
        source = super().source
        if self.same_text is None:
            return source
        if source is None:
            raise click.UsageError("--same-text needs QRELS; give them here.")
        from cranfield.ranks.same_text import inherit_grades
        from cranfield.systems.collection import open_documents

        form = click.get_current_context().params.get("qrels_format")
        with output.shown_progress("comparing texts"):
            return inherit_grades(source, open_documents(self.same_text), qrels_format=form)


class DocumentOptions(OptionGroup, section="Documents"):
    """Lengths of documents, and for judgments of passages where the chunks of runs are."""

    lengths: str | None = file("--lengths", help="Lengths of documents, for TBG and U: a file of document and length.")
    chunks: tuple[str, ...] = file(
        "--chunks",
        multiple=True,
        help="Measure chunks by judged passages: a file of chunk, document, start and end, for all runs; or once "
        f"for each run, in their order [RUN{BESIDE}].",
    )
    documents: str | None = file(
        "--documents", help="Texts of documents, in which quotes and chunks are found: JSON lines with _id and text."
    )

    def measured(self, qrels: Any, runs: Sequence[Any], paths: Sequence[str]) -> tuple[Any, list[Any]]:
        """The judgments and runs unchanged; or, for judgments of passages, each run with its chunks.

        runs: streams, and evaluations that were saved, which stay as they are; paths: the file of each
        """
        if not self.chunks and not _are_passages(qrels):
            if self.documents:
                raise click.UsageError(f"--documents needs --chunks, or judgments of passages and RUN{BESIDE}.")
            return qrels, list(runs)
        if qrels is None:
            raise click.UsageError("--chunks needs judgments and runs.")
        from cranfield.io.corpus import read_texts
        from cranfield.ranks.chunk_runs import ChunkRun
        from cranfield.ranks.chunks import Chunks
        from cranfield.ranks.passages import PassageJudgments

        unsaved = [isinstance(run, Stream) for run in runs]
        files = self._files(paths) if self.chunks else _found_beside(qrels, paths, unsaved)
        texts = read_texts(self.documents)
        chunks = {file: Chunks.read(file, texts) for file in dict.fromkeys(compress(files, unsaved))}
        measured = [
            ChunkRun(run, chunks[file]) if new else run for run, file, new in zip(runs, files, unsaved, strict=True)
        ]
        return PassageJudgments.read(qrels, texts), measured

    def _files(self, paths: Sequence[str]) -> list[str]:
        if len(self.chunks) in (1, len(paths)):
            return [*self.chunks] * (len(paths) // len(self.chunks))
        raise click.UsageError(
            f"{len(self.chunks)} files of chunks for {len(paths)} runs: give --chunks once for all runs, "
            f"or once for each run, in this order: {', '.join(paths)}."
        )


def _are_passages(qrels: Any) -> bool:
    if not isinstance(qrels, Stream) or qrels.address is None or not os.path.isfile(qrels.address):
        return False
    from cranfield.io.placed_rows import names_passages

    return names_passages(qrels)


def _found_beside(qrels: Stream, paths: Sequence[str], unsaved: Sequence[bool]) -> list[str]:
    """RUN.chunks.jsonl of each run; prints which files are read."""
    files = [path + BESIDE for path in paths]
    lacking = [path for path in compress(paths, unsaved) if not os.path.isfile(path + BESIDE)]
    if lacking:
        raise click.UsageError(
            f"{qrels.name} contains judgments of passages, but there are no chunks for {lacking[0]}: "
            f"give --chunks FILE, or write {lacking[0]}{BESIDE}."
        )
    output.say(f"Reading chunks from {', '.join(compress(files, unsaved))}.", err=True)
    return files


def query_texts(qrels: Any, collection: str | None = None) -> Mapping[str, str]:
    """The texts of the judged queries by id, from `collection` or from files beside the judgments."""
    return shown_collection(qrels, collection).queries


def shown_collection(qrels: Any, collection: str | None = None) -> Collection:
    """The texts of queries and documents, from `collection` or from files beside the judgments.

    The files beside the judgments are optional, so errors in them are ignored.
    """
    from cranfield.io.queries import read_queries
    from cranfield.systems.collection import Collection, collection_beside, open_collection

    if collection is not None:
        if os.path.isfile(collection):
            return Collection(collection, read_queries(collection))
        return open_collection(collection)
    name = getattr(qrels, "name", qrels)
    beside = collection_beside(name) if isinstance(name, str) else None
    if beside is not None:
        with suppress(CranfieldError):
            return open_collection(beside)
    return Collection("", {})


_ASKED = f"{__name__}.asked"  # whether the command line may contain options of engines


class ChosenEngine(NamedTuple):
    """The engine that reads Parquet, with its settings; without a name, none does."""

    name: str | None = None
    settings: Mapping[str, str] = MappingProxyType({})

    def opened(self, runs: Sequence[str], format: str | None) -> list[Any]:
        if self.name is None:
            return []
        from cranfield.engines.sources import open_lazily

        return [open_lazily(run, self.name, format, self.settings) for run in runs]


class EngineCommand(Command):
    """A command that takes --engine, and the settings of each engine from their registry; it gets an `engine`.

    Engines are imported only if the command line has an option that the command itself does not define.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {name for parameter in self.params for name in (*parameter.opts, *parameter.secondary_opts)}
        options = (word.partition("=")[0] for word in args if word.startswith("-") and word != "-")
        ctx.meta[_ASKED] = ctx.resilient_parsing or not own.issuperset(options)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        return [*self.params, *_engine_options(), *own[len(self.params) :]] if ctx.meta.get(_ASKED, True) else own

    def invoke(self, ctx: click.Context) -> Any:
        if not ctx.meta[_ASKED]:
            ctx.params["engine"] = ChosenEngine()
            return super().invoke(ctx)
        from cranfield.engines.registry import readers

        chosen, settings = ctx.params["engine"], {}
        for engine in readers():
            for setting in engine.settings:
                value = ctx.params.pop(f"{engine.name}_{setting}")
                if value is not None and engine.name != chosen:
                    raise click.UsageError(f"--{engine.name}-{setting} needs --engine {engine.name}.", ctx)
                if value is not None:
                    settings[setting] = value
        ctx.params["engine"] = ChosenEngine(chosen, settings)
        return super().invoke(ctx)


def _engine_options() -> list[click.Parameter]:
    from cranfield.engines.registry import readers

    names = [engine.name for engine in readers()]
    told = f"Let {joined(names, 'or')} read Parquet: files, patterns or folders."
    options: list[click.Parameter] = [
        Option(["--engine"], section="Input", type=click.Choice(names), metavar="ENGINE", help=told)
    ]
    for engine in readers():
        for name, setting in engine.settings.items():
            declared = [f"--{engine.name}-{name}", f"{engine.name}_{name}"]
            options.append(Option(declared, section="Input", metavar=setting.kind, help=setting.meaning))
    return options
