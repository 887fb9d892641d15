"""The notebooks in `examples` run, and print what is stored in them; UPDATE=1 stores it again."""

import asyncio
import os
import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def printed(notebook):
    """What each cell prints and shows as text. Pictures and HTML may look different elsewhere."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            shown = output.get("data", {})
            drawn = {"image/svg+xml", "image/png"} & shown.keys()
            text = output.get("text", "") if output.output_type == "stream" else shown.get("text/plain", "")
            found.append((cell.id, output.output_type, "a picture" if drawn else text))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    expected = printed(notebook)
    # What is printed in one cell may come in any number of pieces.
    client = nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", record_timing=False, coalesce_streams=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loop, on which the kernel's messages come
        asyncio.run(client.async_execute(cwd=str(tmp_path)))
    if os.environ.get("UPDATE"):
        notebook.metadata.language_info = {"name": "python"}  # without the version, which is this machine's
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        expected = printed(notebook)
    assert printed(notebook) == expected


def test_there_are_notebooks_and_all_teach():
    assert len(NOTEBOOKS) >= 5
    for path in NOTEBOOKS:
        kinds = [cell.cell_type for cell in nbformat.read(path, as_version=4).cells]
        assert kinds[0] == "markdown"
        assert kinds.count("markdown") >= 4
        assert path.stat().st_size < 200_000
