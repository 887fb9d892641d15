"""The commands of the program `cranfield`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

import click

from cranfield.cli import output
from cranfield.errors import CranfieldError, nearest
from cranfield.version import __version__

# Every command has a module of its own, imported when the command is called, and a line for `cranfield --help`.
COMMANDS = {
    "evaluate": "Measure one or more runs against judgments.",
    "explain": "Show how the values of a query are calculated, rank by rank.",
    "measures": "List the measures, or describe one in full.",
    "check": "Find all errors in judgments and runs.",
    "convert": "Write judgments or a run in another format.",
    "compare": "Compare runs: is a difference more than chance, and could unjudged documents reverse it?",
    "stability": "See how values change when judgments are removed.",
    "pool": "Collect the first documents of runs for judging.",
    "judge": "Open the page on which people judge documents.",
    "agreement": "See how well assessors agree beyond chance.",
    "report": "Write a report: one HTML page with everything.",
    "plot": "Draw a chart of runs for a paper or a talk.",
    "gate": "Fail a build if a change makes search worse.",
    "run": "Ask a live system all queries and write its run.",
    "test": "Test the systems of cranfield.toml against the accepted result.",
    "accept": "Make the last tested result the accepted one.",
    "init": "Write a cranfield.toml for a collection.",
    "trec_eval": "Evaluate a run with trec_eval's options and output.",
    "demo": "See cranfield work on built-in data.",
    "completion": "Print the completion script of a shell.",
}

_CALLED = f"{__name__}.called"  # the command that was called, and its arguments


class Commands(click.Group):
    """The commands by name, as `cranfield.cli.NAME:command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        # The module of this name is a program of its own, without click.
        module = import_module(f"cranfield.cli.{'as_trec_eval' if cmd_name == 'trec_eval' else cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest a similar one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = nearest(args[0], COMMANDS)
            hint = f"did you mean {near}?" if near else "'cranfield --help' lists the commands"
            raise CranfieldError(f"there is no command '{args[0]}'.", hint=hint)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            rest = in_full(rest, command.params)
            ctx.meta[_CALLED] = command, tuple(rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command; an error of its arguments says of which command they are, and names options, not Python."""
        try:
            return super().invoke(ctx)
        except CranfieldError as error:
            from cranfield.cli.wording import in_options

            command, words = ctx.meta.get(_CALLED, (self, ()))
            raise in_options(error, command.get_params(ctx), words) from error
        except click.UsageError as error:
            if error.ctx is None and ctx.invoked_subcommand:
                name = ctx.invoked_subcommand
                error.ctx = click.Context(self.get_command(ctx, name) or self, info_name=name, parent=ctx)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def in_full(words: Sequence[str], parameters: Iterable[click.Parameter]) -> list[str]:
    """Replace short options by their long names: --measure for -m.

    For each short option, click first collects similar long ones, for an error message that it then discards.

    >>> in_full(["-m", "AP", "-q", "-o", "-m", "--", "-m", "x"], import_module("cranfield.cli.evaluate").command.params)
    ['--measure', 'AP', '--per-query', '--output', '-m', '--', '-m', 'x']
    """
    options = {name: each for each in parameters if isinstance(each, click.Option) for name in each.opts}
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
        near = nearest(error.option_name, [name for each in own for name in each.opts if name.startswith("--")])
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
        from cranfield.ranks.scan.native import native

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
