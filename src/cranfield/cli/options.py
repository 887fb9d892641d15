"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from cranfield.layout import joined

if TYPE_CHECKING:
    from cranfield.comparison.significance import Test


def fill_help(command: click.Command, **texts: str) -> None:
    """Fill in the help of a command: words in capitals are replaced by what is declared elsewhere."""
    for word, text in texts.items():
        command.help = (command.help or "").replace(word, text)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def all_of(*options: Decorator) -> Decorator:
    """Several options at once, in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def collected(parameter: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Several options that a command gets as one parameter: `make` is called with their values by name."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names: list[str] = []

        @functools.wraps(function)
        def command(**values: Any) -> Any:
            values[parameter] = make(**{name: values.pop(name) for name in names})
            return function(**values)

        others = len(getattr(function, "__click_params__", ()))
        all_of(*options)(command)
        names += [option.name for option in command.__click_params__[others:]]  # type: ignore[attr-defined]
        return command

    return decorate


class FileName(click.ParamType[str]):
    """The name of a file. It must not be empty, as an unset variable in a script would make it."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse an empty name."""
        return value or self.fail("a file name is needed", param, ctx)


FILE = FileName()

runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")
baseline = click.option("-b", "--baseline", metavar="RUN", help="Compare the other runs with this one.")
bounds = click.option(
    "--bounds", is_flag=True, help="Show how low and how high each value could be, given the unjudged documents."
)
segments = click.option("--by", type=FILE, metavar="FILE", help="Segments of the queries: a file of query and segment.")
lengths = click.option(
    "--lengths", type=FILE, metavar="FILE", help="Lengths of documents, for TBG and U: a file of document and length."
)
verbose = click.option(
    "-v", "--verbose", is_flag=True, help="Also print the signature: everything that the values depend on."
)
force = click.option("--force", is_flag=True, help="Overwrite an existing file.")

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
}


def printed(*formats: str) -> Decorator:
    """How to print a result, besides text for people, and where to."""
    known = [name for name in PRINTED if name == "text" or name in formats]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(form: str | None, file: str | None, **values: Any) -> Any:
            return function(form=form or _form_of(file, known), file=file, **values)

        help_text = "The output format [that of FILE's extension, or text]."
        return all_of(click.option("--format", "form", type=click.Choice(known), help=help_text), written())(command)

    return decorate


def _form_of(file: str | None, known: list[str]) -> str:
    """The format that the extension of a file stands for; text, if it stands for none."""
    form = next((name for name, extension in PRINTED.items() if (file or "").lower().endswith(extension)), "text")
    if form not in known:
        raise click.UsageError(f"-o {file}: this command cannot write {form}, only {joined(known, 'or')}.")
    return form


def written(*, required: bool = False) -> Decorator:
    """The file to write; optional for commands that print by default."""
    help_text = "The file to write" + ("." if required else " [standard output].")
    return click.option("-o", "--output", "file", type=FILE, metavar="FILE", required=required, help=help_text)


def depth(default: int) -> Decorator:
    """How deep into rankings a command goes."""
    help_text = f"How many documents of a ranking [{default}]."
    return click.option("-k", type=click.IntRange(1), default=default, metavar="N", help=help_text)


def collection(usual: str = "beside QRELS", *, queries: bool = True) -> Decorator:
    """Where the texts of queries and documents are; `queries`: a file of queries alone will do."""
    files = "a folder, a file of queries" if queries else "a folder"
    told = f"Texts of queries and documents: {files}, builtin, or ir_datasets:ID [{usual}]."
    return click.option("--collection", metavar="DIR", help=told)


def worst(default: int) -> Decorator:
    """How many of the worst queries a command shows."""
    help_text = f"Show the N worst queries, and why they fail [{default}]."
    return click.option("--worst", type=click.IntRange(0), default=default, metavar="N", help=help_text)


def seed(default: int | None = 0) -> Decorator:
    """The seed of random draws; None where a file of settings may set it."""
    return click.option("--seed", type=int, default=default, help="The seed of the random draws [0].")


def config(default: str | None) -> Decorator:
    """The file of settings, and its default place."""
    help_text = f"A TOML file of settings [{default or 'none'}]."
    from pathlib import Path

    return click.option("--config", type=click.Path(path_type=Path), default=default, help=help_text)


def how_tested(
    tests: Mapping[str, Test], corrections: Iterable[str], correction: str, *, settings: bool = False
) -> Decorator:
    """How differences are tested; with `settings`, a file may set this, so options that were not given are None."""

    def usual(value: Any) -> Any:
        return None if settings else value

    assumed = "".join(f" {name} assumes that {test.assumes}." for name, test in tests.items() if test.assumes)
    told, known = f"The significance test: {joined(tests, 'or')} [t].{assumed}", list(corrections)
    corrected = f"Correct p-values for several tests: {joined(known, 'or')} [{correction}]."
    return all_of(
        click.option("--test", type=click.Choice(list(tests)), default=usual("t"), metavar="TEST", help=told),
        click.option("--correction", type=click.Choice(known), metavar="NAME", help=corrected),
        click.option("--alpha", type=float, default=usual(0.05), help="The level of significance [0.05]."),
    )


def significance(
    tests: Mapping[str, Test], corrections: Iterable[str], correction: str, *, settings: bool = False
) -> Decorator:
    """How differences are tested, and how many random draws that takes."""
    draws = None if settings else 10_000
    return all_of(
        how_tested(tests, corrections, correction, settings=settings),
        click.option("--permutations", type=int, default=draws, help="How many random draws a test makes [10000]."),
        seed(None if settings else 0),
    )
