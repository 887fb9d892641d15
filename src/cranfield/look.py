"""The colours of everything that is drawn: pages, charts and the docs take theirs from here."""

from __future__ import annotations

import re

# Hues belong to runs; green and red to better and worse; amber to what is undecided; blues to grades.
LIGHT = {
    "paper": "#ffffff",
    "ground": "#f6f7f9",
    "line": "#e3e6ea",
    "ink": "#16191d",
    "soft": "#5a636e",
    "faint": "#68717c",
    "accent": "#2457d6",
    "run-1": "#2457d6",
    "run-2": "#b35408",
    "run-3": "#6f4ef2",
    "run-4": "#0b7a6e",
    "run-5": "#b5179e",
    "run-6": "#5f6b0a",
    "run-7": "#a15c38",
    "run-8": "#2d6a8e",
    "run-0": "#b6bec8",
    "better": "#067647",
    "better-ground": "#e6f6ee",
    "worse": "#b42318",
    "worse-ground": "#fdecea",
    "close": "#8a5a00",
    "close-ground": "#fdf4dc",
    "grade-3": "#0b4f8a",
    "grade-2": "#2974b3",
    "grade-1": "#9cc8ea",
    "grade-0": "#f0d9d3",
    "on-grade-3": "#ffffff",
    "on-grade-2": "#ffffff",
    "on-grade-1": "#0b2c47",
    "on-grade-0": "#5c2f22",
    "mark": "#fff0b8",
}
DARK = {
    "paper": "#14171b",
    "ground": "#0e1013",
    "line": "#2a2f36",
    "ink": "#e8eaed",
    "soft": "#a5adb8",
    "faint": "#8b949e",
    "accent": "#84a9ff",
    "run-1": "#84a9ff",
    "run-2": "#ffa94d",
    "run-3": "#b8a4ff",
    "run-4": "#4fd1c0",
    "run-5": "#f49ae2",
    "run-6": "#c3cf5c",
    "run-7": "#e0a582",
    "run-8": "#8cc4e4",
    "run-0": "#4a525c",
    "better": "#5fd39a",
    "better-ground": "#10301f",
    "worse": "#ff9c90",
    "worse-ground": "#3a1613",
    "close": "#f0c05a",
    "close-ground": "#33270a",
    "grade-3": "#2a72ae",
    "grade-2": "#235f92",
    "grade-1": "#1c4363",
    "grade-0": "#43302b",
    "on-grade-3": "#ffffff",
    "on-grade-2": "#ffffff",
    "on-grade-1": "#dcecf8",
    "on-grade-0": "#f3ddd6",
    "mark": "#4a3b06",
}
# For text on paper and ground; the rest are areas and lines.
READABLE = ("ink", "soft", "faint", "accent", *(f"run-{number}" for number in range(1, 9)), "better", "worse", "close")


def css_tokens() -> str:
    """The colours as custom properties of CSS, for light and dark."""
    light, dark = (" ".join(f"--{name}: {colour};" for name, colour in theme.items()) for theme in (LIGHT, DARK))
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def coloured(svg: str) -> str:
    """A drawing that names its colours, with those of light paper in their place; an icon has no style sheet.

    >>> coloured('<rect fill="accent"/>')
    '<rect fill="#2457d6"/>'
    """
    return re.sub(r'((?:fill|stroke)=")([a-z0-9-]+)', lambda found: found[1] + LIGHT.get(found[2], found[2]), svg)
