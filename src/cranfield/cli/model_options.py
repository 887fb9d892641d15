"""Options of `cranfield judge --assessor`: which model, how it is asked, and how much."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import Any

import click

from cranfield.cli import options, system_options
from cranfield.judging.models.asking import CANARIES


class SettingOption(click.ParamType[tuple[str, Any]]):
    """A setting of an assessor and its value, as TOML writes it: temperature=0.5."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """The name and the value; a value that is not TOML is text."""
        name, equals, setting = str(value).partition("=")
        if not equals or not name.strip():
            self.fail(f"'{value}' is not a setting, such as 'temperature=0.5'.", param, ctx)
        try:
            return name.strip(), tomllib.loads(f"value = {setting}")["value"]
        except (tomllib.TOMLDecodeError, KeyError):
            return name.strip(), setting


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the command line says about a model."""

    model_assessors: tuple[str, ...]
    settings: tuple[tuple[str, Any], ...]
    jobs: int
    limit: int | None
    budget: int | None
    canaries: int
    check_order: int
    again: bool
    dry_run: bool
    show_missing: bool

    @property
    def named(self) -> list[str]:
        """Options that were given although they only make sense with --assessor."""
        given = {
            "--set": self.settings,
            "--limit": self.limit,
            "--budget": self.budget,
            "--check-order": self.check_order,
        }
        given |= {"--again": self.again, "--dry-run": self.dry_run, "--show-missing": self.show_missing}
        return [name for name, value in given.items() if value]


model_options = options.collected(
    "model",
    ModelOptions,
    click.option(
        "--assessor",
        "model_assessors",
        multiple=True,
        metavar="NAME",
        help="The model to ask: a name in cranfield.toml, or package.module:name; may be repeated.",
    ),
    click.option(
        "--set",
        "settings",
        type=SettingOption(),
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of the model: url, model, key (an environment variable), prompt, samples, …",
    ),
    system_options.jobs(4),
    click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N requests."),
    click.option(
        "--budget", type=click.IntRange(1), metavar="TOKENS", help="Spend at most TOKENS tokens on this assessor."
    ),
    click.option(
        "--canaries",
        type=click.IntRange(0, 1000),
        default=CANARIES,
        metavar="N",
        help=f"Add N decoy documents that only look relevant [{CANARIES}].",
    ),
    click.option(
        "--check-order",
        type=click.IntRange(0, 100_000),
        default=0,
        metavar="N",
        help="Ask which of two documents is better, for N pairs in both orders [0].",
    ),
    click.option(
        "--again", is_flag=True, help="Ask again about documents for which the model's reply could not be read."
    ),
    click.option("--dry-run", is_flag=True, help="Only print how many requests and tokens it would take."),
    click.option("--show-missing", is_flag=True, help="List the documents that the model did not grade, and why."),
)
