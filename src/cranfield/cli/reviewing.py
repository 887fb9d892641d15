"""`test`, `gate` and `compare` in every format: for people, for build servers, and for GitHub's and GitLab's CI."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cranfield.cli import options, output

if TYPE_CHECKING:
    from cranfield.show.review import Reviewed


class ReviewOptions(options.PrintOptions, section="Output", formats=("json", "junit", "markdown", "github")):
    """How a verdict is shown."""

    also: tuple[str, ...] = options.file(
        "--also", multiple=True, help="Write this file, too, in the format of its extension; may be repeated."
    )

    @property
    def forms(self) -> set[str]:
        """All formats that are wanted."""
        return {self.form, *(options.format_of(file, self.formats, "--also") or "text" for file in self.also)}

    def write(self, reviewed: Reviewed) -> None:
        """Print or write a result in the format asked for, and the other files."""
        from cranfield.show.review_formats import github, rendered

        others = {file: options.format_of(file, self.formats, "--also") or "text" for file in self.also}
        body = rendered(reviewed, self.form, output.width(self.file), output.paint(self.file))
        if self.form == "github":
            written = github(reviewed)
            output.write(written.commands)
            if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
                _append(summary, written.summary)
        output.write([body], self.file, data=self.form == "json")
        for file, form in others.items():
            text = rendered(reviewed, form, output.width(file), output.paint(file))
            output.write([text], file, data=form == "json")


def _append(file: str, text: str) -> None:
    from cranfield.io.target import reported

    with reported(file), open(file, "a", encoding="utf-8") as summary:
        summary.write(text)


def links(environ: Mapping[str, str] = os.environ) -> tuple[tuple[str, str], ...]:
    """Where the files of this job can be seen, if it runs in GitHub's or GitLab's CI."""
    get = environ.get
    if run := get("GITHUB_RUN_ID"):
        return (("Full report", f"{get('GITHUB_SERVER_URL')}/{get('GITHUB_REPOSITORY')}/actions/runs/{run}#artifacts"),)
    if job := get("CI_JOB_URL"):
        return (("Full report", f"{job}/artifacts/browse"),)
    return ()
