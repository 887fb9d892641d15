"""The page about the command line: `python docs/site/commands.py docs/command-line.md`."""

from __future__ import annotations

import inspect
import sys

import click

from cranfield.cli.commands import GROUPS, program
from cranfield.cli.options import HELP, in_sections

HEAD = """\
# The command line

Look up every command and option. `cranfield COMMAND --help` shows the same in a terminal. Output goes to standard
output, or to a file with `-o`, which only appears when it is complete. Errors go to standard error: what is wrong and
where, and a hint.

| exit | |
| --- | --- |
| 0 | fine |
| 1 | a check, a test or a gate failed |
| 2 | wrong use, input that cannot be read, or output that cannot be written |
| 130 | interrupted |

A pipe that closes early, as in `cranfield … | head`, does not change them. `cranfield trec_eval` has the exit codes
of trec_eval; see [trec_eval](trec_eval.md).

| command | |
| --- | --- |
"""

TAIL = """\

## Input

A run is a file, a pattern in quotes such as `'runs/*.gz'`, a folder, or `-` for standard input. Judgments and runs
may have any of the [file formats](formats.md), plain or compressed with gzip, bzip2, xz or zstd.
`builtin:ten`, `builtin:keywords` and `builtin:meaning` are small files that come with the package. Runs are called
by their file names; `--names tag` takes the tag inside instead. Where two would be called the same, the folder is put
before the name, or a number behind it.

`--segments FILE` (segments), `--weights FILE` and `--lengths FILE` read two columns, an id and its word or number,
separated by blanks, a tab or a comma, with or without a header, or a JSON object.

`--import FILE` runs a Python file first, which may register [measures of your own](guides/own-measure.md) with
`@cranfield.measure`.

## Output of `evaluate` { #output-of-evaluate }

`--format text` is for people and fits the terminal: one row for each run, a star at the best value of each measure,
then what else was asked for, the counts, and with `-v` the [signature](policies.md). `markdown` and `latex` (for
booktabs) are the same table for papers and pull requests, the best value in bold.

`tsv`, `csv` and `jsonl` have one line for each value, with all its digits: `run`, `query_id`, `measure`, `value`. The
query `all` stands for the mean, `all:SEGMENT` for that of a segment; with `-q` the values of the queries come first.
A cell that holds a separator, a quote or the end of a line is in quotes, as every CSV reader expects. In `csv`, which
people open in spreadsheets, a name that begins with `=`, `+`, `-` or `@` and is not a number has an apostrophe before
it, so that no spreadsheet computes it as a formula; `tsv`, `json` and `jsonl` hold every name as it is.

Names and ids come from files. What is printed for people shows their control characters, written as in JSON
(`\\u001b`), so that none of them reaches the terminal. Data is always UTF-8, and unchanged unless it goes to a
terminal.

`json` is one object, and stays as it is described here; more keys may come.

```json
{
  "measures": ["nDCG@10", "AP"],
  "runs": [
    {
      "run": "bm25",
      "mean": {"nDCG@10": 0.4321, "AP": 0.2345},
      "warnings": [],
      "bounds": {"nDCG@10": {"low": 0.31, "high": 0.52, "exact": true, "scale": [0, 1, 2], "unseen": 0}},
      "segments": {"long": {"nDCG@10": 0.4}},
      "segment_queries": {"long": 12},
      "worst": [{"query_id": "17", "value": 0.0, "reason": "none of 3 relevant in the top 10"}],
      "per_query": {"17": {"nDCG@10": 0.0, "AP": 0.0}},
      "counts": {"queries": 50, "judged": 50, "missing": 0, "extra": 0, "no_relevant": 0, …},
      "signature": "ties:doc_id|missing:zero|…|version:0.1.0"
    }
  ],
  "counts": {"queries": 50, "judged": 50, "missing": 0, "extra": 0, "no_relevant": 0, …},
  "signature": "ties:doc_id|missing:zero|…|version:0.1.0"
}
```

`bounds`, `segments` with `segment_queries`, `worst` and `per_query` are there with `--bounds`, `--segments`, `--worst`
and `-q`, and `weights` with `--weights`; a bound that does not exist is `null`. `warnings` are sentences about ids that
hardly match, scores that rise and [ties](policies.md#ties) that decide a value; a table shows them too. The counts and
the signature at the end are what all runs share; a count in which they differ is `null` there.

## In a shell

`eval "$(cranfield completion bash)"` in the start file of bash (or `zsh`, `fish`) completes commands and options.
Colour is only used on a terminal, and not if `NO_COLOR` is set. Long readings show their progress on a terminal.

## Commands
"""


def page() -> str:
    """The page, in Markdown."""
    context = click.Context(program, info_name="cranfield")
    rows, sections = [], []
    for group, commands in GROUPS.items():
        rows.append(f"| **{group}** | |")
        for name, (summary, _) in commands.items():
            rows.append(f"| [`{name}`](#{name}) | {summary} |")
            sections.append(_section(name, program.get_command(context, name), context))
    return HEAD + "\n".join(rows) + "\n" + TAIL + "".join(sections)


def _section(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    text = [f"\n### {name}\n", f"`cranfield {name} {usage}`\n"]
    text += map(_paragraph, inspect.cleandoc(command.help or "").split("\n\n"))
    if name == "trec_eval":
        text.append("The options stand on the page about [trec_eval](trec_eval.md).\n")
    for title, options in in_sections(command, context).items():
        if title != HELP:  # which all commands have
            text += [f"| {title} | |", "| --- | --- |"]
            text += [f"| `{_cell(option)}` | {_cell(told)} |" for option, told in options]
            text.append("")
    return "\n".join(text)


def _paragraph(paragraph: str) -> str:
    """A paragraph of a help text; what click leaves as it is becomes a block."""
    if not paragraph.startswith("\b"):
        return " ".join(paragraph.split("\n")) + "\n"
    first, *rest = paragraph.split("\n")[1:]
    if not first.startswith("Example"):
        return "\n".join(["```text", first, *rest, "```", ""])
    commands = inspect.cleandoc("\n".join(rest))
    reason = "<!-- not run: every command's own tests run its examples, each in a folder of its own -->"
    return "\n".join([reason, "```sh", commands, "```", ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(page())
