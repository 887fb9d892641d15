"""`cranfield demo`: see it work."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Evaluate two small built-in runs."""
    from importlib.resources import files

    from cranfield.cli import output
    from cranfield.evaluation import evaluate_runs
    from cranfield.show.text import table
    from cranfield.show.view import View

    data = files("cranfield") / "data"
    runs = {name: str(data / f"{name}.run") for name in ("keywords", "meaning")}
    results = list(evaluate_runs(str(data / "qrels.txt"), runs).values())
    click.echo("Two systems answer ten questions about search evaluation.\n")
    click.echo(table(View(results, worst=3), output.width(), output.head_style(None)))
