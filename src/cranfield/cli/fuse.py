"""`cranfield fuse`: make one run of several."""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import RunFormatOptions, policy_options
from cranfield.cli.options import flag, option
from cranfield.cli.run_files import expanded
from cranfield.io.target import STANDARD_OUTPUT
from cranfield.mixing.methods import METHODS
from cranfield.mixing.mixture import DEPTH, USUAL
from cranfield.mixing.normalising import NORMALISATIONS
from cranfield.mixing.registry import PARAMETERS, Registry
from cranfield.ranks.policy import Policy
from cranfield.show.layout import WIDTH, wrapped


def _usual(name: str) -> str:
    """The default of a parameter."""
    entries = [*METHODS.values(), *NORMALISATIONS.values()]
    return next(f"{entry.defaults[name]:g}" for entry in entries if name in entry.defaults)


def _owners(name: str) -> str:
    return ", ".join(entry.name for entry in METHODS.values() if name in entry.defaults)


def _parameter(name: str) -> Any:
    of = f" ({_owners(name)})" if _owners(name) else ""
    return option(
        f"--{name}",
        type=float,
        metavar="N",
        help=f"{PARAMETERS[name].meaning[:1].upper()}{PARAMETERS[name].meaning[1:]}{of} [{_usual(name)}].",
    )


_PARAMETERS = type(
    "_PARAMETERS", (options.OptionGroup,), {name: _parameter(name) for name in PARAMETERS}, section="Fusion"
)


class FusionOptions(options.OptionGroup, section="Fusion"):
    method: str = option(
        "--method",
        type=click.Choice(list(METHODS)),
        default=USUAL,
        metavar="METHOD",
        help=f"How rankings become one, see above [{USUAL}].",
    )
    normalisation: str | None = option(
        "--normalisation",
        choices=NORMALISATIONS,
        metavar="HOW",
        help="How scores are made comparable, for methods that read them [min-max].",
    )
    weights: tuple[float, ...] | None = option(
        "--run-weights",
        parameter="weights",
        type=options.Read(options.numbers, "are not weights, such as 0.3,0.7."),
        metavar="N,N...",
        help="How much each run counts, in their order [all alike].",
    )
    depth: int = options.depth_of_runs(DEPTH, str(DEPTH))


class WrittenOptions(options.OptionGroup, section="Output"):
    path: str | None = options.written()
    name: str = option("--tag", default="fused", metavar="NAME", help="The name of the run, for trec [fused].")
    no_metadata: bool = flag(
        "--no-metadata", help="Leave out the comments that say how it was made, which some tools cannot read."
    )
    force: bool = options.FORCE


def described(registry: Registry) -> str:
    """The entries with their summaries, for the help."""
    width = max(map(len, registry))
    told = [wrapped(entry.summary, f"{name:{width}}  ", width=WIDTH - 4) for name, entry in registry.items()]
    return "\n    ".join(line for lines in told for line in lines)


@options.command(
    "fuse",
    runs=options.RUNS,
    parameters=_PARAMETERS,
    policy=policy_options(names=("ties", "duplicates", "same_id")),
)
def command(
    runs: tuple[str, ...],
    fusion: FusionOptions,
    parameters: options.OptionGroup,
    written: WrittenOptions,
    reading: RunFormatOptions,
    policy: options.OptionGroup,
) -> None:
    """Make one run of several RUNs, query by query.

    \b
    METHODS

    Those that read scores first make them comparable:

    \b
    NORMALISATIONS

    A document gets nothing from a run that does not return it. The file says how it was made. 'cranfield tune' finds
    out which settings are best on your queries, and how good they really are.

    \b
    Examples:
      cranfield fuse builtin:plain builtin:tuned -o fused.run
      cranfield fuse builtin:plain builtin:tuned --method combsum \\
        --run-weights 0.3,0.7 -o weighted.run
    """
    from cranfield.mixing.fusing import fuse

    path = written.path or STANDARD_OUTPUT
    with output.shown_progress("fusing"):
        fused = fuse(
            expanded(runs),
            fusion.method,
            path,
            normalisation=fusion.normalisation,
            weights=fusion.weights,
            depth=fusion.depth,
            name=written.name,
            force=written.force,
            metadata=not written.no_metadata,
            format=reading.format,
            policy=Policy(**policy.arguments()),
            **parameters.arguments(),
        )
    from cranfield.show.fused_text import fused_text

    to_stdout = path == STANDARD_OUTPUT
    for line in fused_text(fused, output.width(), output.paint(err=to_stdout)):
        output.say(line, err=to_stdout)


options.fill_help(command, METHODS=described(METHODS), NORMALISATIONS=described(NORMALISATIONS))
