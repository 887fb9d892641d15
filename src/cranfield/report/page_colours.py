"""How the page takes its colours from `show.look`: for charts, whose colours are those of light paper, and the icon."""

from __future__ import annotations

from cranfield.show.look import LIGHT, coloured


def chart_colours() -> str:
    """A style for each colour that a chart may have, so that it follows the page into the dark."""
    by_colour = {colour: name for name, colour in LIGHT.items()}
    return "".join(
        f'.drawing [{part}="{colour}"] {{ {part}: var(--{name}); }}\n'
        for colour, name in by_colour.items()
        for part in ("fill", "stroke")
    )


def paper_colours() -> str:
    """Light colours on paper, whatever the screen has."""
    return f"@media print {{ :root {{ {' '.join(f'--{name}: {colour};' for name, colour in LIGHT.items())} }} }}\n"


def icon() -> str:
    """The sign of the page: three results, the first one chosen."""
    bars = ((3, 26, "accent"), (12, 18, "run-0"), (21, 11, "run-0"))
    drawn = "".join(
        f'<rect x="3" y="{top}" width="{width}" height="7" rx="3.5" fill="{name}"/>' for top, width, name in bars
    )
    return coloured(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{drawn}</svg>')
