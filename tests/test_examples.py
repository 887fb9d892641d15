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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_its_stored_output(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    expected = printed(notebook)
    # The output of a cell may come in any number of pieces.
    # A second time, the files of the first are there.
    for _ in range(2 if "parquet" in path.stem or "rag" in path.stem else 1):
        client = nbclient.NotebookClient(
            notebook, timeout=60, kernel_name="python3", record_timing=False, coalesce_streams=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from the event loop that carries the kernel's messages
            asyncio.run(client.async_execute(cwd=str(tmp_path)))
    if os.environ.get("UPDATE"):
        notebook.metadata.language_info = {"name": "python"}  # without the version, which is this machine's
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        expected = printed(notebook)
    assert printed(notebook) == expected


def test_every_notebook_has_explanations():
    assert len(NOTEBOOKS) >= 5
    for path in NOTEBOOKS:
        kinds = [cell.cell_type for cell in nbformat.read(path, as_version=4).cells]
        assert kinds[0] == "markdown"
        assert kinds.count("markdown") >= 4
        assert path.stat().st_size < 200_000
