"""Where the query goes in an SQL statement: {query} and {k}, as in a URL, or psycopg's own %(query)s and %(k)s."""

from __future__ import annotations

import re

from cranfield.errors import InputError

_OURS = {"{query}": "%(query)s", "{k}": "%(k)s"}
_THEIRS = tuple(_OURS.values())
_HINT = "write {query} and {k}, without quotes"
_PERCENT = re.compile(r"%(?:\([^)]*\)\w?|.|$)", re.DOTALL)
# What other libraries write. It may also be SQL, such as an array '{news}', so it is refused only where the query has
# no place.
_OTHERS = re.compile(r"(?<![:\w])[:@][a-z]\w*|\$\d|\{\w+\}|%(?:\(\w+\))?s|\?", re.IGNORECASE)
_COMMENT = re.compile(r"--.*")


def psycopg_statement(statement: str, name: str) -> str:
    """The statement as psycopg takes it; an error says what to write where the query has no place.

    >>> psycopg_statement("select id from t where title ilike '%' || {query} || '%' limit {k}", "shop")
    "select id from t where title ilike '%%' || %(query)s || '%%' limit %(k)s"
    """
    ours, theirs = ([mark for mark in marks if mark in statement] for marks in (_OURS, _THEIRS))
    if ours and theirs:
        raise InputError(name, f"sql has both {ours[0]} and {theirs[0]} in it.", hint=_HINT)
    if "{query}" not in ours and "%(query)s" not in theirs:
        other = _OTHERS.search(statement)
        fact = f"sql has '{other[0]}' in it." if other else "sql does not say where the query goes."
        raise InputError(name, fact, hint=_HINT)
    for quoted in _COMMENT.sub("", statement).split("'")[1::2]:
        for mark in (*ours, *theirs):
            if mark in quoted:
                hint = f"{_HINT}: '%' || {{query}} || '%' looks for a part of a text"
                raise InputError(name, f"sql has {mark} in quotes.", hint=hint)
    if ours:
        statement = statement.replace("%", "%%")
        for mark, meant in _OURS.items():
            statement = statement.replace(mark, meant)
        return statement
    for mark in _PERCENT.findall(statement):
        if mark not in (*_THEIRS, "%%"):
            raise InputError(name, f"sql has '{mark}' in it.", hint=f"{_HINT}; beside {theirs[0]}, % is written %%")
    return statement
