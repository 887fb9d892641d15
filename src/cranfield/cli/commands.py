"""The commands of the program `cranfield`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

import click

from cranfield.cli import output
from cranfield.cli.options import write_row
from cranfield.errors import CranfieldError, nearest
from cranfield.version import __version__

# The commands in groups, each with its line of `cranfield --help` and its home in this package, imported when it is
# called and not before.
GROUPS = {
    "Measure": {
        "evaluate": ("Measure one or more runs against judgments.", "evaluate.command"),
        "explain": ("Show how the values of a query are calculated, rank by rank.", "explain.command"),
        "measures": ("List the measures, or describe one in full.", "explain.measures"),
        "calls": ("See what each search of an agent adds.", "calls.command"),
        "trec_eval": ("Evaluate a run with trec_eval's options and output.", "commands.trec_eval"),
    },
    "Compare": {
        "compare": ("Is a difference more than chance, and could unjudged documents reverse it?", "compare.command"),
        "gate": ("Fail a build if a change makes search worse.", "gate.command"),
        "diff": ("Show what changed between two runs, with judgments or without.", "diff.command"),
        "frontier": ("Show which runs are worth their latency or cost.", "frontier.command"),
        "stability": ("See how values change when judgments are removed.", "stability.command"),
        "report": ("Write a report: one HTML page with everything.", "report.command"),
        "plot": ("Draw a chart of runs for a paper or a talk.", "plot.command"),
    },
    "Mix": {
        "fuse": ("Make one run of several, such as a lexical and a semantic one.", "fuse.command"),
        "tune": ("Find out which mixture of runs is best, and how good it really is.", "tune.command"),
    },
    "Judge": {
        "sample": ("Draw queries from a log, to judge and evaluate with.", "sample.command"),
        "pool": ("Collect the first documents of runs for judging.", "pool.command"),
        "judge": ("Open the page on which people judge documents.", "judge.command"),
        "agreement": ("See how well assessors agree beyond chance.", "agreement.command"),
    },
    "Live systems": {
        "demo": ("See cranfield work on built-in data.", "systems.demo"),
        "init": ("Write a cranfield.toml for a collection, or a job for CI.", "systems.init"),
        "test": ("Test the systems of cranfield.toml against the accepted result.", "systems.test"),
        "accept": ("Make the last tested result the accepted one.", "systems.accept"),
        "history": ("Show quality over time, and what moved it.", "history.command"),
        "mcp": ("Let an assistant measure, over the Model Context Protocol.", "mcp.command"),
        "comment": ("Comment on a pull request, or update the comment.", "comment.command"),
        "run": ("Ask a live system all queries and write its run.", "systems.run"),
    },
    "Files": {
        "check": ("Find all errors in judgments and runs.", "files.check"),
        "convert": ("Write judgments or a run in another format.", "files.convert"),
        "split": ("Hold out the last interactions of users, to measure recommenders.", "split.command"),
        "completion": ("Print the completion script of a shell.", "files.completion"),
    },
}
COMMANDS = {name: told for group in GROUPS.values() for name, told in group.items()}


class Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        _, home = COMMANDS[cmd_name]
        module, _, name = home.partition(".")
        command: click.Command = getattr(import_module(f"cranfield.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], COMMANDS)
            hint = f"did you mean {near}?" if near else "'cranfield --help' lists the commands"
            raise CranfieldError(f"there is no command '{args[0]}'.", hint=hint)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            rest = in_full(rest, command.params)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command; an error of its arguments says of which command they are."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if error.ctx is None and ctx.invoked_subcommand:
                name = ctx.invoked_subcommand
                error.ctx = click.Context(self.get_command(ctx, name) or self, info_name=name, parent=ctx)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for group, named in GROUPS.items():
            with formatter.section(group):
                for name, (summary, _) in named.items():
                    write_row(formatter, name, summary, width)


def in_full(words: Sequence[str], parameters: Iterable[click.Parameter]) -> list[str]:
    """Replace short options by their long names: --measure for -m.

    For each short option, click first collects similar long ones, for an error message that it then discards.

    >>> in_full(["-m", "AP", "-q", "-o", "-m", "--", "-m", "x"], import_module("cranfield.cli.evaluate").command.params)
    ['--measure', 'AP', '--per-query', '--output', '-m', '--', '-m', 'x']
    """
    options = {name: option for option in parameters if isinstance(option, click.Option) for name in option.opts}
    full: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*full, word, *rest]
        option = options.get(word)
        wanted = 0 if option is None or option.is_flag or option.count else option.nargs
        values = list(islice(rest, wanted))
        complete = len(values) == wanted  # if not, the error names what was typed
        full += [max(option.opts, key=len) if option and complete else word, *values]
    return full


def usage_message(error: click.ClickException) -> tuple[str, str]:
    """A usage error, worded like all other errors: the command, the option or argument, then what is wrong."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command, near = context.command_path if context else "cranfield", ""
    of_option = isinstance(error, click.NoSuchOption | click.BadOptionUsage) or isinstance(parameter, click.Option)
    hint = f"'{command} --help' lists the {'options' if of_option else 'arguments'}"
    fact = error.format_message().strip()
    fact = fact[:1].lower() + fact[1:]
    if isinstance(error, click.NoSuchOption):
        fact = f"no such option '{error.option_name}'"
        own = context.command.get_params(context) if context else []
        near = nearest(error.option_name, [name for option in own for name in option.opts if name.startswith("--")])
    elif isinstance(parameter, click.Parameter):
        known = list(map(str, parameter.type.choices)) if isinstance(parameter.type, click.Choice) else []
        place = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
        if not isinstance(error, click.MissingParameter):
            value, _, what = error.message.partition(" is not ")
            fact = f"{place}: {value} is not {_wanted(parameter.type) or what}" if what else f"{place}: {value}"
            near = nearest(value, known)
        elif known:
            fact, hint = f"missing {parameter.param_type_name} '{place}'", f"choose one of {', '.join(known)}"
    fact += "" if fact.endswith((".", "?")) else "."
    return command, f"{fact}\nHint: {f'did you mean {near}?' if near else hint}"


def _wanted(kind: click.ParamType[Any]) -> str:
    """The values of a type in words; empty for types of our own, which describe theirs."""
    if isinstance(kind, click.Choice):
        return f"one of {', '.join(map(str, kind.choices))}"
    number = {"integer": "a whole number", "float": "a number"}.get(kind.name.removesuffix(" range"), "")
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return number
    return f"{number} from {kind.min}" + (f" to {kind.max}" if kind.max is not None else "")


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from cranfield.native import native

        output.say(f"cranfield {__version__} ({'native' if native else 'pure Python'} scan)")
        context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    callback=_show_version,
    expose_value=False,
    is_eager=True,
    help="Show the version and which scan is in use.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def program() -> None:
    """Find out how good search results are, whether a change made them better, and which queries went wrong.

    Built-in examples to try: the judgments 'builtin' with the runs 'builtin:plain' and 'builtin:tuned', and the ten
    queries of 'builtin:ten' with 'builtin:keywords' and 'builtin:meaning'.
    """


@click.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS] QRELS RUN")
def trec_eval(arguments: tuple[str, ...]) -> int:
    """Evaluate a RUN as trec_eval does, with its options and its output; -h lists them."""
    from cranfield.cli.trec_eval import run  # a program of its own, without click

    return run(arguments)
