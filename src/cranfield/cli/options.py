"""Groups of options: a class declares them, a command gets an object of it, and the help shows them in sections.

class Sizes(OptionGroup, section="Output"):
    wide: bool = option("--wide", is_flag=True, help="Twice as wide.")

@command("draw", sizes=Sizes)
def command(sizes: Sizes) -> None: ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import click

from cranfield.cli import output
from cranfield.errors import CranfieldError, OptionNames, in_words
from cranfield.words import joined

if TYPE_CHECKING:
    from cranfield.comparison.significance import Test
    from cranfield.show.layout import Paint

HELP = "Help"
# The sections of a command's help, in this order.
SECTIONS = (
    *(
        "Measures",
        "Fusion",
        "Comparison",
        "Approximate search",
        "Frontier",
        "Verdict",
        "Pool",
        "Model",
        "Clicks",
        "System",
        "Queries",
        "Unjudged documents",
        "Other tools",
        "Page",
        "Chart",
    ),
    *("Output", "Input", "Documents", "Recommendations", "Judgments in a store", "Conventions", HELP),
)
WIDEST = 22  # columns of the names of options; longer ones have a line of their own


class Declared(NamedTuple):
    """An option or argument that a group declares as the value of an attribute."""

    names: tuple[str, ...]
    attributes: dict[str, Any]

    def made(self, field: str, section: str) -> click.Parameter:
        if self.names:
            return Option([*self.names, field], section=section, **self.attributes)
        return click.Argument([field], **self.attributes)

    @property
    def default(self) -> Any:
        given = self.attributes.get
        several = given("multiple") or given("nargs") == -1
        return given("default", () if several else False if given("is_flag") else None)


def option(*names: str, **attributes: Any) -> Any:
    """Declare an option in a group; click.Option describes the attributes.

    parameter: what functions in Python call it, if that is not the name of the attribute
    choices: its values; the help lists them
    """
    choices = attributes.pop("choices", None)
    if choices is not None:
        known = list(choices)
        stem, bracket, usual = attributes["help"].partition(" [")
        told = f"{stem.removesuffix('.')}: {joined(known, 'or')}{bracket}{usual}"
        attributes |= {"type": click.Choice(known), "help": told if told.endswith(".") else f"{told}."}
    return Declared(names, attributes)


def flag(*names: str, **attributes: Any) -> Any:
    return option(*names, is_flag=True, **attributes)


def number(*names: str, least: int = 0, most: int | None = None, **attributes: Any) -> Any:
    """Declare an option that takes a whole number."""
    return option(*names, type=click.IntRange(least, most), metavar="N", **attributes)


def argument(**attributes: Any) -> Any:
    """Declare an argument, in a group or of a command; click.Argument describes the attributes."""
    return Declared((), attributes)


class Option(click.Option):
    """An option that knows its section of the help, and its name in Python."""

    def __init__(self, declared: list[str], *, section: str = HELP, parameter: str = "", **attributes: Any) -> None:
        super().__init__(declared, **attributes)
        self.section = section
        self.parameter = parameter or self.name or ""

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Nothing: help texts say what values an option takes."""
        return {}


class OptionGroup:
    """The values of a group of options; a subclass of groups has their options, then its own."""

    section: ClassVar[str] = ""  # of the help
    declared: ClassVar[Mapping[str, tuple[Declared, str]]] = {}  # with its section

    def __init_subclass__(cls, *, section: str = "", **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.section = section or cls.section
        own = {name: (value, cls.section) for name, value in vars(cls).items() if isinstance(value, Declared)}
        bases = [base.declared for base in cls.__bases__ if issubclass(base, OptionGroup)]
        inherited = {name: value for base in bases for name, value in base.items() if name not in own}
        cls.declared = {**inherited, **own}

    def __init__(self, **values: Any) -> None:
        self.__dict__.update({name: declared.default for name, (declared, _) in self.declared.items()} | values)

    def values(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def arguments(self) -> dict[str, Any]:
        """The options that are not None, by their names in Python."""
        named = {name: declared.attributes.get("parameter", name) for name, (declared, _) in self.declared.items()}
        return {named[name]: value for name, value in self.__dict__.items() if value is not None}

    def replaced(self, **values: Any) -> Self:
        return type(self)(**{**self.__dict__, **values})


def refuse(fact: str, *names: str) -> None:
    """Refuse options that were given and mean nothing here. fact: what is wrong, with {} for the option"""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and given:
            raise click.UsageError(fact.format(max(parameter.opts, key=len)))


class Command(click.Command):
    """A command whose help shows its options in sections."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; an error names its options, not parameters of Python."""
        try:
            return super().invoke(ctx)
        except CranfieldError as error:
            fact, hint = in_words(error, CalledOptions(ctx))
            if (fact, hint) == (error.fact, error.hint):
                raise
            raise CranfieldError(fact, hint=hint) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = in_sections(self, ctx)
        names = [record[0] for section in sections.values() for record in section]
        width = max((len(name) for name in names if len(name) <= WIDEST), default=WIDEST)
        for title, records in sections.items():
            with formatter.section(title):
                for name, text in records:
                    write_row(formatter, name, text, width)


class CalledOptions(OptionNames):
    """The options of the command that was called, in whose words errors are told."""

    def __init__(self, ctx: click.Context) -> None:
        self._ctx = ctx
        own = [option for option in ctx.command.get_params(ctx) if isinstance(option, Option)]
        self._options = {option.parameter: option for option in own}

    def name(self, parameter: str, values: Sequence[Any]) -> str:
        option = self._options.get(parameter)
        if option is None:
            return ""
        name = max(option.opts, key=len)
        if option.is_flag or not values:
            return name
        if isinstance(values[0], list):
            return " ".join(f"{name} {value}" for value in values[0])
        return f"{name} {joined(map(str, values), 'or')}"

    def fact(self, error: CranfieldError, said: str) -> str:
        """A fact about an option and its value, if this is where the value comes from."""
        option, value = self._options.get(error.parameter), error.value
        source = self._ctx.get_parameter_source(option.name or "") if option else None
        if option is None or source is not click.core.ParameterSource.COMMANDLINE:
            return ""
        values = self._ctx.params.get(option.name or "")
        if value not in (values if isinstance(values, tuple) else [values]):
            return ""
        name = max(option.opts, key=len)
        if option.is_flag:
            return f"{name} {said}"
        return f"{name}: {f'{value:g}' if isinstance(value, float) else repr(value)} {said}"


def in_sections(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    """The names and texts of a command's options, by section."""
    sections: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if isinstance(parameter, click.Option) and record is not None:
            sections[getattr(parameter, "section", HELP)].append(record)
    return {title: records for title, records in sections.items() if records}


def write_row(formatter: click.HelpFormatter, name: str, text: str, width: int) -> None:
    """A name and its text, in two columns."""
    lines = click.formatting.wrap_text(text, formatter.width - width - 2 - formatter.current_indent).splitlines()
    if len(name) > width:
        lines.insert(0, "")
    for number, line in enumerate(lines):
        first = "" if number else name
        formatter.write(f"{'':{formatter.current_indent}}{first:{width}}  {line}".rstrip() + "\n")


def command(
    name: str, *, cls: type[Command] = Command, **parameters: type[OptionGroup] | Declared
) -> Callable[..., click.Command]:
    """A command, from a function that gets an object of each group of options that its parameters name.

    parameters: arguments, and groups that are made for this command
    """

    def decorate(function: Callable[..., Any]) -> click.Command:
        known = {**inspect.get_annotations(function, eval_str=True), **parameters}
        groups = {parameter: kind for parameter, kind in known.items() if hasattr(kind, "declared")}

        def called(**values: Any) -> Any:
            for parameter, group in groups.items():
                values[parameter] = group(**{field: values.pop(field) for field in group.declared})
            return function(**values)

        made: list[click.Parameter] = []
        for parameter, kind in known.items():
            fields = groups[parameter].declared if parameter in groups else {parameter: (kind, "")}
            made += [it.made(field, section) for field, (it, section) in fields.items() if isinstance(it, Declared)]
        return cls(name, callback=functools.update_wrapper(called, function), params=made, help=function.__doc__)

    return decorate


def fill_help(command: click.Command, **texts: str) -> None:
    """Fill in the help of a command: words in capitals are replaced by what is declared elsewhere."""
    for word, text in texts.items():
        command.help = (command.help or "").replace(word, text)


class FileName(click.ParamType[str]):
    """The name of a file. It must not be empty, as an unset variable in a script would make it."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value or self.fail("a file name is needed", param, ctx)


FILE = FileName()


def file(*names: str, help: str, **attributes: Any) -> Any:
    return option(*names, type=FILE, metavar="FILE", help=help, **attributes)


RUNS = argument(nargs=-1, required=True, metavar="RUN...")
ANY_RUNS = argument(nargs=-1, metavar="[RUN]...")
BASELINE = option("-b", "--baseline", metavar="RUN", help="Compare the other runs with this one.")
BOUNDS = flag("--bounds", help="Show how low and how high each value could be, given the unjudged documents.")
UNSEEN = number(
    "--unseen",
    default=0,
    help="In bounds, N documents of each query that no run returned may have any grade, too [0].",
)
RESUME = flag("--resume", help="Continue where an earlier call ended, and ask nothing again that was answered.")
FORCE = flag("--force", help="Overwrite an existing file.")
QUERY_IDS = option("--query", multiple=True, metavar="ID", help="Only this query; may be repeated.")
SEED = option("--seed", type=int, default=0, metavar="N", help="The seed of the random draws [0].")


def depth(default: int) -> Any:
    help_text = f"How many documents of a ranking [{default}]."
    return number("-k", least=1, default=default, help=help_text)


def collection(usual: str = "beside QRELS", *, queries: bool = True) -> Any:
    """Where the texts of queries and documents are; `queries`: a file of queries alone will do."""
    files = "a folder, a file of queries" if queries else "a folder"
    told = f"Texts of queries and documents: {files}, builtin, or ir_datasets:ID [{usual}]."
    return option("--collection", metavar="DIR", help=told)


def worst(default: int | str) -> Any:
    """A number of queries; a default in words is one that the command chooses."""
    help_text = f"Show the N worst queries, and why they fail [{default}]."
    return number("--worst", default=default if isinstance(default, int) else None, help=help_text)


def config(default: str | None) -> Any:
    from pathlib import Path

    help_text = f"A TOML file of settings [{default or 'none'}]."
    return option("--config", type=click.Path(path_type=Path), default=default, metavar="FILE", help=help_text)


def jobs(default: int) -> Any:
    help_text = f"How many requests run at a time [{default}]."
    return number("--jobs", least=1, most=256, default=default, help=help_text)


CORPUS = "A file of documents, a folder with one, or a collection"


class AskingOptions(OptionGroup, section="System"):
    jobs: int = jobs(1)
    timeout: float | None = option(
        "--timeout", type=click.FloatRange(0.001), metavar="SECONDS", help="Seconds to wait for a server's answer."
    )
    collapse: str | None = option(
        "--collapse",
        metavar="RULE",
        help="Turn ids of chunks into ids of documents: a separator such as '#', a regular expression with one group, "
        "or a file of two columns.",
    )
    corpus: str | None

    def __init_subclass__(cls, **others: Any) -> None:
        from cranfield.systems.opening import KINDS

        names = joined((name for name, kind in KINDS.items() if kind.short), "and")
        help_text = f"{CORPUS}: texts, and all that {names} search."
        cls.corpus = option("--corpus", metavar="FILE", help=help_text)
        super().__init_subclass__(**others)


class Read(click.ParamType[Any]):
    """What a function makes of a value; of one that it refuses, `wrong` says what it is not."""

    def __init__(self, read: Callable[[str], Any], wrong: str) -> None:
        self.name, self._read, self._wrong = read.__name__, read, wrong

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):  # a default
            return value
        try:
            return self._read(value)
        except (ValueError, CranfieldError):
            return self.fail(f"'{value}' {self._wrong}", param, ctx)


def share(text: str) -> float:
    """A share of something: 10% or 0.1."""
    text = text.strip()
    number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def grade(text: str) -> tuple[float, str, str]:
    """A grade with its name and what it means: 2=Relevant: part of the answer."""
    number, _, description = text.partition("=")
    name, _, meaning = description.partition(":")
    return float(number), name.strip(), meaning.strip()


def numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


SHARE = Read(share, "is not a share such as 10%.")
SCALE = option(
    "--grade",
    type=Read(grade, "is not a grade and its name, such as '1=Relevant'."),
    multiple=True,
    metavar="N=NAME",
    help="A grade of your own; repeat it for each grade.",
)


def order() -> Any:
    from cranfield.judging.pool import ORDERS

    help_text = f"The order in which documents are judged: {joined(ORDERS, 'or')} [at random]."
    return option("--order", type=click.Choice(list(ORDERS)), metavar="ORDER", help=help_text)


def depth_of_runs(default: int | None, shown: str) -> Any:
    return option("--depth", type=int, default=default, metavar="N", help=f"The deepest rank read [{shown}].")


# What commands print, and the extension of its files: the first for people, the others for programs and papers.
PRINTED = {
    "text": ".txt",
    "tsv": ".tsv",
    "csv": ".csv",
    "json": ".json",
    "jsonl": ".jsonl",
    "junit": ".xml",
    "markdown": ".md",
    "latex": ".tex",
    "github": "",
}

PAGE = (".html", ".htm")
NEVER_TEXT = (*PAGE, ".pdf", ".png", ".svg", ".docx", ".xlsx", ".parquet")  # programs that open these would fail


def format_of(file: str, formats: Iterable[str], option: str = "-o") -> str | None:
    """The format that the extension of a file names; an error where a command cannot write it."""
    ending, known = file.lower(), list(formats)
    form = next((form for form, extension in PRINTED.items() if extension and ending.endswith(extension)), None)
    refused = form if form not in known else None
    refused = refused or next((extension[1:] for extension in NEVER_TEXT if ending.endswith(extension)), None)
    if refused:
        raise click.UsageError(f"{option} {file}: this command cannot write {refused}, only {joined(known, 'or')}.")
    return form


def written(*, required: bool = False) -> Any:
    told = f"The file to write{'' if required else ' [standard output]'}."
    return file("-o", "--output", required=required, help=told)


class PrintOptions(OptionGroup, section="Output"):
    writes_page: ClassVar[bool] = False
    form: str
    file: str | None

    def __init_subclass__(cls, *, formats: Sequence[str] = (), **others: Any) -> None:
        if formats:
            known = [name for name in PRINTED if name == "text" or name in formats]
            told = "The output format [that of FILE's extension, or text]."
            cls.form = option("--format", choices=known, metavar="FORMAT", help=told)
            cls.file = written()
        super().__init_subclass__(**others)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        if self.form is None:  # then the extension of the file says it
            self.form = (not self.is_page and format_of(self.file or "", self.formats)) or "text"

    @property
    def is_page(self) -> bool:
        return self.writes_page and (self.file or "").lower().endswith(PAGE)

    @property
    def formats(self) -> list[str]:
        return list(self.declared["form"][0].attributes["type"].choices)


HISTORY = option("--history", metavar="FILE", help="The history, a file or a URL [that of the config file].")


class KeepOptions(OptionGroup, section="Output"):
    no_history: bool = flag("--no-history", help="Append nothing to the history.")

    def kept(self, keep: Callable[[], None]) -> str:
        """Append to a history; if that fails, a note that says why: what was measured is shown all the same."""
        if self.no_history:
            return ""
        from cranfield.errors import CranfieldError

        try:
            keep()
        except CranfieldError as error:
            return f"not in the history: {error}"
        return ""


class MarkdownOptions(PrintOptions, formats=("json", "markdown")):
    """For commands that print text, Markdown or JSON."""

    def write(
        self,
        found: Any,
        markdown: Callable[[Any], Iterable[str]],
        text: Callable[[Any, int, Paint], Iterable[str]],
    ) -> None:
        if self.form == "json":
            import json

            output.write([json.dumps(found.to_dict(), indent=2)], self.file, data=True)
        elif self.form == "markdown":
            output.write(markdown(found), self.file)
        else:
            output.write(text(found, output.width(self.file), output.paint(self.file)), self.file)


class JsonOptions(PrintOptions, formats=("json",)):
    """For commands that print text or JSON."""

    def write(self, json: Callable[[], str], text: Callable[[int, Paint], str]) -> None:
        data = self.form == "json"
        printed = json() if data else text(output.width(self.file), output.paint(self.file))
        output.write([printed], self.file, data=data)


class TestOptions(OptionGroup, section="Comparison"):
    """How differences are tested. Where a file may set this (`from_file`), options that were not given are None."""

    test: str
    correction: str | None
    alpha: float
    permutations: int
    seed: int

    def __init_subclass__(
        cls,
        *,
        tests: Mapping[str, Test] | None = None,
        corrections: Iterable[str] = (),
        usual: str = "",
        from_file: bool = False,
        draws: bool = True,
        **others: Any,
    ) -> None:
        def default(value: Any) -> Any:
            return None if from_file else value

        if tests:
            assumed = "".join(f" {name} assumes that {test.assumes}." for name, test in tests.items() if test.assumes)
            told = f"The significance test: {joined(tests, 'or')} [t].{assumed}"
            cls.test = option("--test", type=click.Choice(list(tests)), default=default("t"), metavar="TEST", help=told)
            told = f"Correct p-values for several tests [{usual}]."
            cls.correction = option("--correction", choices=corrections, metavar="NAME", help=told)
            told = "The level of significance [0.05]."
            cls.alpha = option("--alpha", type=float, default=default(0.05), metavar="P", help=told)
        if tests and draws:
            told = "How many random draws a test makes [10000]."
            cls.permutations = option("--permutations", type=int, default=default(10_000), metavar="N", help=told)
            told = "The seed of the random draws [0]."
            cls.seed = option("--seed", type=int, default=default(0), metavar="N", help=told)
        super().__init_subclass__(**others)
