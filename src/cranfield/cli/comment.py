"""`cranfield comment`: what a review says, as the one comment of a pull request."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cranfield.cli import options, output
from cranfield.cli.options import argument


@options.command("comment", file=argument(type=click.Path(path_type=Path)))
def command(file: Path) -> None:
    """Write FILE as a comment of the pull request of this job, or update the comment that is there.

    FILE is what test, gate or compare write with '--format github -o FILE'. In GitHub's CI it needs GITHUB_TOKEN, in
    GitLab's CRANFIELD_TOKEN. Outside of pull requests, and in those from forks, nothing is written, and that is no
    failure: 'test --format github' has written the step summary.

    \b
    Examples:
      cranfield gate builtin builtin:plain builtin:tuned --format github -o c.md
      cranfield comment c.md
    """
    from cranfield.errors import InputError
    from cranfield.io.pull_requests import NoPullRequest, PullRequest, host_of

    try:
        body = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(str(file), f"it cannot be read: {error.strerror}.") from None
    try:
        host = host_of(os.environ)
        done = PullRequest(host).say(body)
    except NoPullRequest as error:
        output.say(str(error))
        return
    output.say(f"{host.name}: comment {done}")
