"""Takes docs/images/report.png and report-dark.png by `make figures`: the top of the report of the demonstration."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import cranfield
from docs.site.judge_picture import FLAGS, chromium

IMAGES = Path(__file__).parents[1] / "images"
SIZE = {"width": 1100, "height": 910}


def main() -> None:
    """Record both systems of the demonstration, write the report, and take it in light and in dark."""
    collection = cranfield.open_collection("builtin")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the commands on the page name files as they are seen from here
        runs = {name: f"{name}.run" for name in ("plain", "tuned")}
        for system, run in zip(("sqlite", "sqlite:tuned"), runs.values(), strict=True):
            cranfield.record(cranfield.open_system(system, collection), collection.queries, run, k=100)
        page = Path(folder) / "report.html"
        cranfield.write_report("builtin", runs, page, collection=collection)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS[:-1]))
            for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
                shown = browser.new_page(viewport=SIZE, color_scheme=scheme)
                shown.goto(page.as_uri())
                shown.wait_for_load_state("networkidle")
                shown.screenshot(path=IMAGES / name)
            browser.close()


if __name__ == "__main__":
    main()
