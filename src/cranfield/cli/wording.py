"""Errors of the library in the words of the command line: `--depth` for `depth`, and no Python in hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import click

from cranfield.errors import CranfieldError

# "complete=True (--complete)", "force (--force)"
_BOTH = re.compile(r"\b(\w+)(=\w+)? \((--[a-z-]+)\)")
_WORDS = r"'\w+'(?:, '\w+')*(?: or '\w+')?"
# the end of a hint that is for Python: "; in Python, cranfield.catalogue()", ", or view(kinds=['model'])"; and a value
# that stands for an option which is not given
_FOR_PYTHON = re.compile(rf"(?:; in Python,|, or)(?: \w+)* (?:[\w.]+(?:\(.*\)|=\[.*\]|={_WORDS})|None)$")


def in_options(error: CranfieldError, parameters: Iterable[click.Parameter], words: Sequence[str]) -> CranfieldError:
    """The same error, in which the parameters of functions are the options of the command that was called.

    words: the arguments of the command. A fact is only about an option if they give it that value.

    >>> depth = click.Option(["--depth"], type=int)
    >>> error = CranfieldError("depth=0 is not a rank.", hint="depth is a whole number from 1, or None")
    >>> print(in_options(error, [depth], ["--depth", "0"]))
    --depth: 0 is not a rank.
    Hint: --depth is a whole number from 1
    >>> print(in_options(CranfieldError("a.run: it exists.", hint="force=True (--force) replaces it"), [], []))
    a.run: it exists.
    Hint: --force replaces it
    """
    fact, hint = error.fact, _BOTH.sub(_option_alone, error.hint)
    for parameter in parameters:
        if isinstance(parameter, click.Option) and parameter.name:
            option = max(parameter.opts, key=len)
            fact = _fact_about(fact, parameter, option, words)
            hint = _hint_about(hint, parameter.name, option)
    hint = _FOR_PYTHON.sub("", hint)
    return error if (fact, hint) == (error.fact, error.hint) else CranfieldError(fact, hint=hint)


def _option_alone(found: re.Match[str]) -> str:
    name, value, option = found.groups()
    same = value or option == f"--{name.replace('_', '-')}"
    return option if same else found[0]


def _fact_about(fact: str, parameter: click.Option, option: str, words: Sequence[str]) -> str:
    """A fact that starts with `name=value`, whatever its place, with the option as its place and the value as typed."""
    if parameter.is_flag:
        return re.sub(rf"^{parameter.name}=True\b", option, fact) if option in words else fact
    found = re.match(rf"(?:.*?: )?{parameter.name}=('[^']*'|[^\s,;:]+)", fact)
    typed = next((each for each in _values(parameter, words) if found and _same(each, found[1])), None)
    if found is None or typed is None:
        return fact
    value = f"'{typed}'" if found[1].startswith("'") else typed
    return f"{option}: {value}{fact[found.end() :]}"


def _hint_about(hint: str, name: str, option: str) -> str:
    """A hint with the option for `name='a' or 'b'`, and for `name` as its subject or where that is no English word."""
    for found in re.finditer(rf"\b(?:Policy\()?{name}=({_WORDS})\)?", hint):
        unquoted = found[1].replace("'", "")
        hint = hint.replace(found[0], f"{option} {unquoted}")
    return re.sub(rf"\b{name}\b(?![=(])" if "_" in name else rf"^{name}(?= (?:is|may be|lies)\b)", option, hint)


def _values(option: click.Option, words: Sequence[str]) -> list[str]:
    """The values that the command line gives to an option."""
    apart = [after for word, after in pairwise(words) if word in option.opts]
    joined = [word.partition("=") for word in words]
    return apart + [value for name, equals, value in joined if equals and name in option.opts]


def _same(typed: str, shown: str) -> bool:
    try:
        return float(typed) == float(shown) or typed == shown
    except ValueError:
        return typed == shown.strip("'")
