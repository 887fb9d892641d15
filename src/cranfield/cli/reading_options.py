"""How a command reads judgments and runs: the policy, formats, and whether ids are checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import click

from cranfield.cli.options import Decorator, all_of, collected
from cranfield.layout import joined
from cranfield.ranks.policy import Policy, Setting, settings_of
from cranfield.read.formats import readable


class ReadingOptions(NamedTuple):
    """The options about reading; those that were not given are None or missing."""

    settings: Mapping[str, Any]  # of the policy
    format: str | None
    qrels_format: str | None
    check_ids: bool | None = None

    @classmethod
    def of(
        cls, *, run_format: str | None, qrels_format: str | None, check_ids: bool | None = None, **settings: Any
    ) -> ReadingOptions:
        """From the values of the options."""
        given = {name: value for name, value in settings.items() if value is not None}
        return cls(given, run_format, qrels_format, check_ids)

    @property
    def policy(self) -> Policy | None:
        """The policy of the settings; None if none was given."""
        return Policy(**self.settings) if self.settings else None

    def arguments(self) -> dict[str, Any]:
        """The options given, as arguments of functions that read judgments and runs."""
        given = self._asdict() | {"policy": self.policy}
        return {name: value for name, value in given.items() if name != "settings" and value is not None}


def policy_options(policy: type[Policy] = Policy, names: Collection[str] | None = None) -> Decorator:
    """An option for each setting of a policy, or for some; None if not given."""
    known = settings_of(policy)
    return all_of(*(_policy_option(name, known[name]) for name in known if names is None or name in names))


def _policy_option(name: str, setting: Setting) -> Decorator:
    words = f": {', '.join(setting.choices)}" if setting.choices else ""
    kinds: dict[type, dict[str, Any]] = {
        str: {"type": click.Choice(list(setting.choices)), "metavar": "CHOICE"},
        int: {"type": int, "metavar": "N"},
        float: {"type": float, "metavar": "SHARE"},
        bool: {"is_flag": True, "default": None},
    }
    option = f"--{name.replace('_', '-')}"
    return click.option(option, help=f"{setting.meaning}{words}.", **kinds[setting.kind])


RUN_FORMAT = click.option(
    "--run-format",
    type=click.Choice(readable(["run"])),
    metavar="FORMAT",
    help=f"{joined(readable(['run']), 'or')}, if it cannot be detected.",
)
QRELS_FORMAT = click.option(
    "--qrels-format",
    type=click.Choice(readable(["qrels"])),
    metavar="FORMAT",
    help=f"The same for the judgments: {joined(readable(['qrels']), 'or')}, if it cannot be detected.",
)
ID_CHECK = click.option(
    "--no-id-check",
    "check_ids",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Evaluate a run even if it has no query, or no judged document, in common with the judgments.",
)


def reading_options(*, settings: Collection[str] | None = None, id_check: bool = True) -> Decorator:
    """A command's function gets these as `reading: ReadingOptions`.

    settings: those of the policy that the command takes; by default all of them.
    """
    declared = [policy_options(names=settings), RUN_FORMAT, QRELS_FORMAT, *([ID_CHECK] if id_check else [])]
    return collected("reading", ReadingOptions.of, *declared)
