"""The settings of a cranfield.toml: how they are checked and documented."""

from __future__ import annotations

from cranfield.measures import DEFAULT_MEASURES
from cranfield.ranks.policy import Setting, settings_of
from cranfield.read.settings import TomlSetting

_NUMBER = (int, float)


def _policy(known: Setting) -> TomlSetting:
    words = "; ".join(f'"{word}": {meaning}' for word, meaning in known.choices.items())
    usual = f'"{next(iter(known.choices))}"' if known.choices else str(known.default).lower()
    return TomlSetting(known.kind, f"{known.meaning}{f' ({words})' if words else ''}", usual)


POLICY = {name: _policy(known) for name, known in settings_of().items() if known.live}
ASKING = {
    "jobs": TomlSetting(int, "how many queries run at the same time", "1"),
    "retries": TomlSetting(int, "how often a query is tried again after a temporary failure", "3"),
    "wait": TomlSetting(
        _NUMBER, "seconds before the first of these attempts; each further wait is twice as long", "0.25"
    ),
    "give_up": TomlSetting(int, "stop after this many failed queries in a row; 0 never stops", "10"),
}
PROJECT = {
    "collection": TomlSetting(
        str, 'a folder in the layout of BEIR or TREC, "builtin", or "ir_datasets:NAME"; paths are relative to the file'
    ),
    "split": TomlSetting(
        str, "which judgments to take where a collection has several, such as dev", "`test`, or the only one"
    ),
    "measures": TomlSetting(
        list, "what is measured; the worst queries are those of the first", ", ".join(DEFAULT_MEASURES)
    ),
    "k": TomlSetting(int, "how many documents to ask for", "100"),
    "collapse": TomlSetting(
        str,
        "how a chunk's id becomes its document's: a separator, a regular expression with one group, or a file of pairs",
    ),
    "timeout": TomlSetting(_NUMBER, "seconds to wait for a server, instead of what the systems say"),
    "baseline": TomlSetting(str, "the folder of the accepted results", '"baseline"'),
    **ASKING,
    **POLICY,
    "gate": TomlSetting(dict, "when a test fails: see below"),
    "judgments": TomlSetting(dict, "whose judgments count: see below"),
    "systems": TomlSetting(dict, "one table for each system"),
    "assessors": TomlSetting(dict, "one table for each model that judges"),  # read where models are asked
}
GATE = {
    "measures": TomlSetting(list, "the measures that may not get worse", "the first of the project's"),
    "tolerance": TomlSetting((int, float, dict), "the drop that is allowed, one for all measures or one for each", "0"),
    "alpha": TomlSetting(_NUMBER, "a larger drop fails if its one-sided p-value is at most this", "0.05"),
    "minimum": TomlSetting(dict, "a value that each measure must reach, whether a drop is significant or not"),
    "require_improvement": TomlSetting(bool, "whether some measure must be significantly better", "false"),
    "non_inferiority": TomlSetting(_NUMBER, "the margin within which every measure must be shown to stay"),
    "max_worse_queries": TomlSetting(int, "how many queries may get worse"),
    "test": TomlSetting(str, "the significance test, as `cranfield compare --test` takes it", '"t"'),
    "correction": TomlSetting(str, "how p-values are corrected over the measures", '"holm"'),
}
JUDGMENTS = {
    "store": TomlSetting(str, "the store that `cranfield judge` fills, in place of the collection's judgments"),
    "scale": TomlSetting(list, "the grades and their names, for the judging page"),
    "assessors": TomlSetting(list, "whose judgments count", "all of these kinds"),
    "kinds": TomlSetting(list, "which [kinds of assessors](judging.md#views) count", "those of people"),
    "merge": TomlSetting(str, "[what counts](judging.md#views) where assessors differ", '"majority"'),
}
