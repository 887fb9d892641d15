"""The browser of the tests: Chromium as it is installed, which asks no other server for anything by itself."""

import shutil
from contextlib import contextmanager

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Fewer processes for each page, which take longer to start than a page to show.
    *("--in-process-gpu", "--renderer-process-limit=1", "--disable-extensions"),
    "--disable-features=SpareRendererForSitePerProcess",
]


@contextmanager
def launched():
    """A running browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
