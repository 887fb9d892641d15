"""From judged ranks to one value per query: the registry, the language of measure names, and one file per family."""

from cranfield.measures.lookup import families
from cranfield.measures.registry import Definition, Measure, catalogue, measure
from cranfield.measures.syntax import DEFAULT_MEASURES, Measures, known_measure, parse_measure, parse_measures

__all__ = [
    "DEFAULT_MEASURES",
    "Definition",
    "Measure",
    "Measures",
    "catalogue",
    "families",
    "known_measure",
    "measure",
    "parse_measure",
    "parse_measures",
]
