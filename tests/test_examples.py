"""The notebooks in `examples` run and print their stored output; UPDATE=1 updates it."""

import asyncio
import os
import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def printed(notebook):
    """The text that each cell prints or shows. Pictures and HTML may differ between machines."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {})
            drawn = {"image/svg+xml", "image/png"} & shown.keys()
            text = output.get("text", "") if output.output_type == "stream" else shown.get("text/plain", "")
            found.append((cell.id, output.output_type, "a picture" if drawn else text))
    return found


async def twice(client, folder):
    """Run all cells, then all again: the names, measures and files of the first time are there."""
    client.resources["metadata"] = {"path": folder}
    async with client.async_setup_kernel():
        for _ in range(2):
            for at, cell in enumerate(client.nb.cells):
                await client.async_execute_cell(cell, at)
    for at, cell in enumerate(cell for cell in client.nb.cells if cell.cell_type == "code"):
        cell.execution_count = at + 1
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = at + 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_its_stored_output(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    expected = printed(notebook)
    # The output of a cell may come in any number of pieces.
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", record_timing=False, coalesce_streams=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from the event loop that carries the kernel's messages
        asyncio.run(twice(client, str(tmp_path)))
    if os.environ.get("UPDATE"):
        notebook.metadata.language_info = {"name": "python"}  # without the version, which is this machine's
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        expected = printed(notebook)
    assert printed(notebook) == expected


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_results_and_ends_with_an_answer(path):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert sum("print(" in cell.source for cell in code) <= 1  # an error has nothing to show
    headings = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    assert [line for line in headings if line.startswith("## ")][-1].endswith("?")
    assert cells[-1].cell_type == "markdown"
    assert "**" in cells[-1].source  # the answer


def test_every_notebook_has_explanations():
    assert len(NOTEBOOKS) >= 5
    for path in NOTEBOOKS:
        kinds = [cell.cell_type for cell in nbformat.read(path, as_version=4).cells]
        assert kinds[0] == "markdown"
        assert kinds.count("markdown") >= 4
        assert path.stat().st_size < 200_000
