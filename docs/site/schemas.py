"""The page about what `--format json` writes: the JSON Schema of each command.

`python -m docs.site.schemas docs` writes docs/json.md and docs/schemas/*.json.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cranfield.cli.json_schemas import OUTPUTS, schema_of
from cranfield.cli.mcp import TOOLS

HEAD = """\
---
hide: [toc]
---

# JSON

What commands write with `--format json`, and what the tools of [`cranfield mcp`](guides/assistants.md) return. Each has
a [JSON Schema](https://json-schema.org), made from the classes of the results: nothing else is written, and a test
validates real outputs. Numbers are never infinite or NaN; `null` stands where there is none.

| output | by the tools | schema |
| --- | --- | --- |
"""


PLURALS = {
    "a text": "a list of texts",
    "a number": "a list of numbers",
    "a whole number": "a list of whole numbers",
    "any value": "a list",
}


def file_name(name: str) -> str:
    return re.sub(r"\W+", "-", name).strip("-") + ".json"


def page() -> Iterator[str]:
    for name in OUTPUTS:
        command = name.partition(" (")[0].removeprefix("mcp ")
        rest = name.partition(" (")[2].rstrip(")")
        shown = f"`cranfield {command} --format json`" if not name.startswith("mcp ") else "only the tool"
        tools = ", ".join(f"`{tool}`" for tool, its in TOOLS.items() if its.output == name)
        yield f"| {shown}{f' ({rest})' if rest else ''} | {tools} | [{file_name(name)}](schemas/{file_name(name)}) |\n"
    for name in OUTPUTS:
        schema = schema_of(name)
        several = "A list; of each:\n\n" if "items" in schema else ""
        yield f"\n## {name}\n\n{several}| key | what it is |\n| --- | --- |\n"
        definitions = schema.get("$defs", {})
        one = schema.get("items", schema)  # a list is described by what each of it is
        yield from rows(one if "properties" in one else definitions[one["$ref"].rpartition("/")[2]])
    yield "\n## Parts\n\nObjects in these outputs. The Python classes of these names say what each key means.\n"
    for part, schema in parts().items():
        yield f"\n### {part}\n\n| key | what it is |\n| --- | --- |\n"
        yield from rows(schema)


def rows(schema: dict[str, Any]) -> Iterator[str]:
    for key, its in schema["properties"].items():
        optional = "" if key in schema["required"] else ", not always there"
        yield f"| `{key}` | {words(its)}{optional} |\n"


def parts() -> dict[str, dict[str, Any]]:
    """The objects that schemas refer to, by name."""
    found = {part: its for name in OUTPUTS for part, its in schema_of(name).get("$defs", {}).items()}
    return dict(sorted(found.items()))


def words(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        part = str(schema["$ref"]).rpartition("/")[2]
        return f"[`{part}`](#{part.lower()})"
    if "anyOf" in schema:
        return " or ".join(words(each) for each in schema["anyOf"])
    if "enum" in schema:
        return "one of " + ", ".join(f"`{each}`" for each in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        item = words(schema["items"])
        return PLURALS.get(item, f"a list, each {item}")
    if kind == "object" and "properties" in schema:
        return "an object of " + ", ".join(f"`{key}`" for key in schema["properties"])
    if kind == "object":
        return f"by name: {words(schema['additionalProperties'])}"
    return {"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false"}.get(
        str(kind), "`null`" if kind == "null" else "any value"
    )


def main(folder: str) -> None:
    target = Path(folder)
    (target / "schemas").mkdir(parents=True, exist_ok=True)
    (target / "json.md").write_text(HEAD + "".join(page()), encoding="utf-8")
    for name in OUTPUTS:
        text = json.dumps(schema_of(name), indent=1, ensure_ascii=False)
        (target / "schemas" / file_name(name)).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
