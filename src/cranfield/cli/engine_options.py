"""The option --engine and the settings of each engine, from the registry of engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from cranfield.layout import joined

_ASKED = f"{__name__}.asked"  # whether the command line may contain options of engines


class EngineCommand(click.Command):
    """A command that takes --engine; its function gets `engine` and `engine_settings`.

    Engines are imported only if the command line has an option that the command itself does not define.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check whether an option may belong to an engine, or asks for help."""
        own = {name for each in self.params for name in (*each.opts, *each.secondary_opts)}
        options = (word.partition("=")[0] for word in args if word.startswith("-") and word != "-")
        ctx.meta[_ASKED] = ctx.resilient_parsing or not own.issuperset(options)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own options, then those of the engines, then --help."""
        own = super().get_params(ctx)
        return [*self.params, *_options(), *own[len(self.params) :]] if ctx.meta.get(_ASKED, True) else own

    def invoke(self, ctx: click.Context) -> Any:
        """Pass the settings of the chosen engine; settings of another one are an error."""
        if not ctx.meta[_ASKED]:
            ctx.params |= {"engine": None, "engine_settings": {}}
            return super().invoke(ctx)
        from cranfield.engines.registry import readers

        chosen, settings = ctx.params["engine"], {}
        for engine in readers():
            for setting in engine.settings:
                value = ctx.params.pop(_parameter(engine.name, setting))
                if value is not None and engine.name != chosen:
                    raise click.UsageError(f"--{engine.name}-{setting} needs --engine {engine.name}.", ctx)
                if value is not None:
                    settings[setting] = value
        ctx.params["engine_settings"] = settings
        return super().invoke(ctx)


def _options() -> list[click.Parameter]:
    from cranfield.engines.registry import readers

    names = [engine.name for engine in readers()]
    help_text = f"Let {joined(names, 'or')} read Parquet: files, patterns or folders."
    options: list[click.Parameter] = [click.Option(["--engine"], type=click.Choice(names), help=help_text)]
    for engine in readers():
        for name, setting in engine.settings.items():
            declared = [f"--{engine.name}-{name}", _parameter(engine.name, name)]
            options.append(click.Option(declared, metavar=setting.kind, help=setting.meaning))
    return options


def _parameter(engine: str, setting: str) -> str:
    return f"{engine}_{setting}"


def in_engine(runs: Sequence[str], engine: str, format: str | None, settings: Mapping[str, str]) -> list[Any]:
    """A lazy frame of the Parquet files for each name, pattern or folder."""
    from cranfield.engines.sources import open_run

    return [open_run(run, engine, format, settings) for run in runs]
