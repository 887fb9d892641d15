"""The table of settings on the page about policies: `python docs/site/policies.py docs/policies.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from cranfield.ranks.policy import Policy, Setting, settings_of

PAGE = Path(__file__).parent.parent / "policies.md"
START, END = "<!-- settings: written by docs/site/policies.py -->", "<!-- end of settings -->"


def table(policy: type[Policy] = Policy) -> str:
    """All settings, in Markdown; the default is bold."""
    rows = [
        f"| `{name}` | `--{name.replace('_', '-')}` | {known.meaning} | {_values(known)} |"
        for name, known in settings_of(policy).items()
    ]
    return "\n".join(["| setting | option | about | may be |", "| --- | --- | --- | --- |", *rows])


def _values(known: Setting) -> str:
    if known.choices:
        words = ((f"`{word}`", told) for word, told in known.choices.items())
        return "; ".join(f"{f'**{word}**' if at == 0 else word} {told}" for at, (word, told) in enumerate(words))
    return "**`None`** (all), or a whole number from 1" if known.kind is int else "**`False`** or `True`"


def page() -> str:
    """The page as it is, with the table of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    text = page()
    Path(sys.argv[1]).write_text(text, encoding="utf-8")
