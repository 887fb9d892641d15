"""Every block of every page runs and does what the page shows."""

import gzip
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import cranfield
from cranfield.io import column_names as names
from tests.pages import ROOT, Page, blocks
from tests.program import run, shims

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path):
    if not any(blocks(page.read_text(encoding="utf-8"))):
        pytest.skip("no code on this page")
    if page.parent.name == "api":
        pytest.skip("shows the examples of the docstrings, which are run there")
    if page.name == "README.md":  # uses runs that its reader has
        data = Path(cranfield.__file__).with_name("data")
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
        (tmp_path / "meaning.run.gz").write_bytes(gzip.compress((data / "meaning.run").read_bytes()))
    # In a separate process: a page may register measures and leave the working folder changed.
    path = os.pathsep.join([str(shims()), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = run(page, program="page", cwd=tmp_path, env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)", text):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def anchors(text):
    """The anchors that headings get, in GitHub and in the site, and those written out."""
    headings = re.findall(r"^#+ (.*?)(?: *\{ *#([\w-]+) *\})?$", text, re.M)
    slugs = [own or re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title, own in headings]
    return {*slugs, *re.findall(r'id="([^"]+)"', text)}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected:\n    3\nGot:\n    2"),
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```console\n$ echo a\nb\n```\n", "shown:\nb\nprinted:\na"),
        ("```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nd\n```\n", "shown:"),
        ("```sh\ntrue\nfalse\n```\n", "failed: false"),
        ("```sh\nmake nothing\n```\n", "there is no nothing"),
        ("```sh\npip install 'cranfield[nothing]'\n```\n", "there is no nothing"),
    ],
)
def test_failing_blocks_are_reported(text, complaint):
    page = Page("page")
    for block in blocks(text):
        page.run(block)
    assert complaint in "".join(page.wrong)


def test_passing_blocks_are_not_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Page("page")
    text = """
```python
x = 2
```

- in a list

  ```python
  >>> x + 1
  3
  ```

```text title="folder/file.txt"
held
```

```console
$ cat folder/file.txt
held
$ printf 'a\\nb\\nc\\n'; exit 3
a
...
c
$ echo $?
3
```

<!-- not run: it would take a cluster -->
```sh
false
```

<!-- needs: a_library_that_nobody_has -->
```python
import a_library_that_nobody_has
```

```json
not even JSON
```
"""
    for block in blocks(text):
        page.run(block)
    assert page.wrong == []


def test_every_column_name_is_documented():
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for spellings in (names.QUERY, names.DOCUMENT, names.GRADE, names.SCORE, names.RANK, names.GROUP, names.SUBGROUP):
        assert f"| {', '.join(f'`{name}`' for name in spellings)} |" in page
