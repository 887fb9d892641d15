"""Judged ranks to one value per query: the registry, the language of measure names, and one file per family."""

from cranfield.measures import (
    counts,
    cwl,
    diversity,
    gain,
    groups,
    incomplete,
    precision,
    preferences,
    recall_levels,
    sampled,
    sets,
    similarity,
    text,
    users,
)
from cranfield.measures.registry import Definition, Measure, catalogue, measure
from cranfield.measures.syntax import DEFAULT_MEASURES, Measures, known_measure, parse_measure, parse_measures

__all__ = [
    "DEFAULT_MEASURES",
    "Definition",
    "Measure",
    "Measures",
    "catalogue",
    "known_measure",
    "measure",
    "parse_measure",
    "parse_measures",
]

FAMILIES = (
    counts,
    sets,
    precision,
    recall_levels,
    gain,
    users,
    cwl,
    incomplete,
    sampled,
    similarity,
    diversity,
    groups,
    preferences,
    text,
)
