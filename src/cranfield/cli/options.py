"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from cranfield.errors import InputError
from cranfield.ranks.policy import Policy, Setting, settings_of
from cranfield.read.formats import readable


def fill_help(command: click.Command, **texts: str) -> None:
    """Put what is declared elsewhere into the help of a command, in the place of words in capitals."""
    for word, text in texts.items():
        command.help = (command.help or "").replace(word, text)


def listed(names: Iterable[str]) -> str:
    """Names to choose from, for help: a, b or c."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


RUN_FORMAT = click.option(
    "--run-format", metavar="FORMAT", help=f"{listed(readable(['run']))}, if it cannot be detected."
)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _all(*options: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class FileName(click.ParamType[str]):
    """The name of a file: anything but nothing, which an unset variable of a script leaves."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse an empty name."""
        return value or self.fail("the name of a file is needed", param, ctx)


FILE = FileName()

IMPORTS = click.option(
    "--import",
    "imports",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="A Python file that registers measures of your own.",
)

measures = _all(
    click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated."),
    click.option("--rel", type=float, metavar="N", help="The lowest grade that is relevant, for all measures [1]."),
    click.option("--judged-only", is_flag=True, help="Leave unjudged documents out of the rankings."),
    IMPORTS,
)

runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")
bounds = click.option("--bounds", is_flag=True, help="How low and high each value could be, given what is unjudged.")
segments = click.option("--by", type=FILE, metavar="FILE", help="Segments of the queries: a file of query and segment.")
lengths = click.option(
    "--lengths", type=FILE, metavar="FILE", help="Lengths of documents, for TBG and U: a file of document and length."
)
force = click.option("--force", is_flag=True, help="Replace a file that exists.")

# What commands print: the first for people, the others for programs and papers.
PRINTED = ("text", "tsv", "csv", "json", "jsonl", "junit", "markdown", "latex")


def printed(*formats: str) -> Decorator:
    """How to print a result, besides text for people, and where to."""
    chosen = click.Choice([name for name in PRINTED if name == "text" or name in formats])
    form = click.option("--format", "form", type=chosen, default="text", help="What to print [text].")
    return _all(form, written())


def written(*, required: bool = False) -> Decorator:
    """The file to write; a command that prints otherwise does not require it."""
    told = "The file to write" + ("." if required else " [standard output].")
    return click.option("-o", "--output", "file", type=FILE, metavar="FILE", required=required, help=told)


def depth(default: int) -> Decorator:
    """How deep into rankings a command goes."""
    told = f"How many documents of a ranking [{default}]."
    return click.option("-k", type=click.IntRange(1), default=default, metavar="N", help=told)


def worst(default: int) -> Decorator:
    """How many queries a command shows that perform worst."""
    told = f"The N queries that perform worst, and why [{default}]."
    return click.option("--worst", type=click.IntRange(0), default=default, metavar="N", help=told)


def seed(default: int | None = 0) -> Decorator:
    """Where random draws start; None where a file of settings may say it."""
    return click.option("--seed", type=int, default=default, help="Where random draws start [0].")


def config(default: str | None) -> Decorator:
    """The file of settings, and where a command looks for it by itself."""
    told = f"A TOML file of settings [{default or 'none'}]."
    return click.option("--config", type=click.Path(path_type=Path), default=default, help=told)


def significance(tests: Iterable[str], corrections: Iterable[str], correction: str, *, settings: bool) -> Decorator:
    """How differences are tested; `settings`: a file may say it, so that what was not said is None."""

    def usual(value: Any) -> Any:
        return None if settings else value

    told = f"Correct p-values for several tests: {listed(corrections)} [{correction}]."
    return _all(
        click.option("--test", default=usual("t"), help=f"The significance test: {listed(tests)} [t]."),
        click.option("--correction", help=told),
        click.option("--alpha", type=float, default=usual(0.05), help="The level of significance [0.05]."),
        click.option("--permutations", type=int, default=usual(10_000), help="How often tests draw [10000]."),
        seed(usual(0)),
    )


def policy_options(policy: type[Policy] = Policy, names: Collection[str] | None = None) -> Decorator:
    """An option for each setting of a policy, or for some; what was not said is None."""
    known = settings_of(policy)
    return _all(*(_policy_option(name, known[name]) for name in known if names is None or name in names))


def _policy_option(name: str, setting: Setting) -> Decorator:
    words = f": {', '.join(setting.choices)}" if setting.choices else ""
    kinds: dict[type, dict[str, Any]] = {
        int: {"type": int, "metavar": "N"},
        bool: {"is_flag": True, "default": None},
    }
    option = f"--{name.replace('_', '-')}"
    return click.option(option, help=f"{setting.meaning}{words}.", **kinds.get(setting.kind, {}))


policy = policy_options()
judgment_policy = policy_options(names=("negative", "complete"))  # what says which documents are judged

id_check = click.option(
    "--no-id-check",
    "check_ids",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Evaluate a run even if it has no query, or no judged document, in common with the judgments.",
)

formats = _all(
    RUN_FORMAT,
    click.option("--qrels-format", metavar="FORMAT", help="The same for the judgments, or prefs."),
)


def chosen_policy(**settings: Any) -> Policy:
    """The policy that options make."""
    from cranfield.ranks.policy import Policy

    return Policy(**{name: value for name, value in settings.items() if value is not None})


def chosen_measures(
    names: Sequence[str], *, rel: float | None, judged_only: bool, imports: Sequence[str], default: Sequence[str]
) -> tuple[Any, ...]:
    """The measures that options name, with what is set for all of them."""
    from cranfield.measures import parse_measures

    import_measures(imports)
    return tuple(with_all(each, rel=rel, judged_only=judged_only) for each in parse_measures(list(names or default)))


def with_all(measure: Any, *, rel: float | None, judged_only: bool) -> Any:
    """A measure with what is set for all measures, where it can have that and does not say otherwise."""
    wanted = {"rel": rel, "judged_only": judged_only or None}
    own = dict(measure.parameters)
    return measure.replace(
        **{
            name: value
            for name, value in wanted.items()
            if value is not None and name in measure.definition.kinds and name not in own
        }
    )


def import_measures(paths: Iterable[str]) -> None:
    """Run users' Python files, for the measures that they register."""
    for path in paths:
        _run_file(path)


def _run_file(path: str) -> None:
    import runpy
    from traceback import walk_tb

    if not os.path.isfile(path):
        raise InputError(path, "there is no such file.", hint="--import takes the path of a Python file")
    try:
        runpy.run_path(path)
    except SyntaxError as error:
        raise InputError(path, f"SyntaxError: {error.msg}.", line=error.lineno) from error
    except (Exception, SystemExit) as error:
        lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
        raise InputError(path, f"{type(error).__name__}: {error}.", line=lines[-1] if lines else None) from error


def expanded(runs: Sequence[str]) -> list[str]:
    """Files for names, patterns and folders, each in the order of the names."""
    import glob

    found: list[str] = []
    for run in runs:
        if os.path.isdir(run):
            inside = sorted(entry.path for entry in os.scandir(run) if entry.is_file() and entry.name[0] != ".")
            if not inside:
                raise InputError(run, "there is no file in this folder.")
            found += inside
        elif any(sign in run for sign in "*?[") and not os.path.exists(run):
            matching = sorted(glob.glob(run, recursive=True))
            if not matching:
                raise InputError(run, "no file matches this pattern.")
            found += [path for path in matching if os.path.isfile(path)]
        else:
            found.append(run)
    return found


def only(run: str) -> str:
    """The file for a name, or for a pattern or folder of one file."""
    found = expanded([run])
    if len(found) > 1:
        raise InputError(run, f"this is {len(found)} files, and one run is needed.")
    return found[0]


def tag(run: Any) -> str:
    """What a TREC run calls itself on its lines."""
    from cranfield.read.formats.trec import TREC_RUN
    from cranfield.read.text import last_fields

    fields = last_fields(run, TREC_RUN)
    if len(fields) < 6:
        raise InputError(run.name, "its lines have no tag.", hint="only TREC runs have one; use --names file")
    return fields[5].decode(errors="replace")
