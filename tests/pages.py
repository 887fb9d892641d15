"""The code blocks of a page, run in order in the working folder: `python -P tests/pages.py PAGE`, or `test_pages.py`.

```python with `>>>` is a doctest, without it a script; one namespace a page. ```console: what follows `$ command` is
its output exactly, and a line of `...` stands for lines left out. ```sh: every command succeeds. A block with
`title="name"` becomes that file. `<!-- not run: reason -->` before a block skips it; `<!-- needs: library -->`
does where the library is not installed; `<!-- judged: q1 d1 3, q1 d2 0 -->` before a call of `cranfield judge` gives
these grades on its page. Other languages are only shown. `pip` and `make` are not run, but what they
name must exist.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PERSON = Path(__file__).with_name("judging_person.py")
FENCE = re.compile(r"(?P<indent> *)(?P<fence>```+|~~~+) *(?P<language>[\w+-]*) *(?P<rest>.*)")
REMARK = re.compile(r" *<!-- (not run|needs|judged): (.+) -->")
SETS_UP = re.compile(r"(pip|make)\b")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the line of its fence, its language, the file it is to become, its text."""

    line: int
    language: str
    title: str | None
    text: str
    not_run: str | None = None
    needs: str | None = None
    judged: str | None = None


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, also those in lists and tabs."""
    lines = iter(enumerate(page.splitlines(), 1))
    remarks: dict[str, str] = {}
    for number, line in lines:
        if found := REMARK.fullmatch(line):
            remarks = {found[1]: found[2]}
        elif (fence := FENCE.fullmatch(line)) is None:
            if line.strip():
                remarks = {}
        else:
            held = []
            for _, inner in lines:
                if inner.strip().startswith(fence["fence"]) and not inner.strip(" `~"):
                    break
                held.append(inner.removeprefix(fence["indent"]) + "\n")
            else:
                raise ValueError(f"line {number}: the block has no end")
            title = re.search(r'title="([^"]+)"', fence["rest"])
            yield Block(
                *(number, fence["language"], title and title[1], "".join(held)),
                *(remarks.get("not run"), remarks.get("needs"), remarks.get("judged")),
            )
            remarks = {}


class Page:
    """Runs the blocks of one page in the working folder and collects the failures."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.status = 0
        self.wrong: list[str] = []
        path, programs = os.environ["PATH"], str(Path(sys.executable).parent)
        if programs not in path.split(os.pathsep):
            path = f"{programs}{os.pathsep}{path}"
        self.environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}

    def run(self, block: Block) -> None:
        if block.not_run or (block.needs and not find_spec(block.needs)):
            return
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python" and re.search(r"^>>> ", block.text, re.M):
            self._doctest(block)
        elif block.language == "python":
            self._script(block)
        elif block.language == "console":
            self._session(block)
        elif block.language == "sh":
            self._commands(block)

    def _fail(self, block: Block, what: str) -> None:
        self.wrong.append(f"{self.name}:{block.line}: {what.rstrip()}\n")

    def _doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, {}, self.name, self.name, block.line)
        test.globs = self.namespace
        reported: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=reported.append, clear_globs=False)
        if reported:
            self._fail(block, "".join(reported))

    def _script(self, block: Block) -> None:
        try:
            # Leading blank lines make the line numbers of a traceback match the page.
            exec(compile("\n" * block.line + block.text, self.name, "exec"), self.namespace)
        except Exception:
            self._fail(block, traceback.format_exc())

    def _session(self, block: Block) -> None:
        if not block.text.startswith("$ "):
            self._fail(block, "a console block begins with '$ '.")
        for typed, shown in re.findall(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
            if SETS_UP.match(typed):
                self._sets_up(block, typed)
                continue
            if block.judged:
                person = shlex.join([sys.executable, str(PERSON), block.judged])
                typed = typed.replace("cranfield judge", f"{person} cranfield judge")
            # The exit code of the command before, for `$ echo $?`.
            done = self._bash(f"(exit {self.status}); {typed}")
            self.status = done.returncode
            wanted = [r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown.rstrip().split("\n")]
            if not re.fullmatch("".join(wanted), done.stdout.rstrip() + "\n"):
                self._fail(block, f"$ {typed}\nshown:\n{shown.rstrip()}\nprinted:\n{done.stdout.rstrip()}")

    def _commands(self, block: Block) -> None:
        lines = []
        for line in block.text.splitlines():
            if SETS_UP.match(line):
                self._sets_up(block, line)
                line = ""
            lines.append(line)
        done = self._bash("\n".join(["set -eo pipefail", "trap 'echo failed: $BASH_COMMAND' ERR", *lines]))
        if done.returncode:
            self._fail(block, done.stdout)

    def _bash(self, typed: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", typed],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )

    def _sets_up(self, block: Block, typed: str) -> None:
        words = shlex.split(typed, comments=True)
        if words[0] == "make":
            named, there = words[1:], re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
        else:
            project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
            named = [
                extra
                for word in words
                for extras in re.findall(r"cranfield\[(.*)\]", word)
                for extra in extras.split(",")
            ]
            there = list(project["optional-dependencies"])
        for name in named:
            if name not in there:
                self._fail(block, f"{typed}: there is no {name}.")


def wrong_in(path: Path) -> list[str]:
    """The failures of a page whose blocks are run in the working folder."""
    try:
        name = str(path.resolve().relative_to(ROOT))
    except ValueError:
        name = str(path)
    page = Page(name)
    for block in blocks(path.read_text(encoding="utf-8")):
        page.run(block)
    return page.wrong


def main() -> None:
    sys.path.insert(0, "")  # files that the page writes can be imported
    found = [wrong for name in sys.argv[1:] for wrong in wrong_in(Path(name))]
    print("\n".join(found), end="")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
