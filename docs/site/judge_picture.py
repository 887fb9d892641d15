"""Takes docs/images/judge.png and judge-dark.png by `make figures`: the judging page of the built-in collection."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from cranfield import open_store
from cranfield.judging.page import Listening, serve
from cranfield.systems.collection import open_collection

IMAGES = Path(__file__).parents[1] / "images"
QUERY = "chatbot makes things up"
NARRATIVE = (
    "The person wants to know why a language model states things that its sources do not say, and how to find out when "
    "it does."
)
SHOWN, GRADED = "hallucination", {"precision": 0, "citations": 2, "faithfulness": 3}
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--force-device-scale-factor=2")


def fill(path: Path) -> str:
    """A store in which ann is half through; the query to show."""
    collection = open_collection("builtin")
    chosen = next(query for query, text in collection.queries.items() if text == QUERY)
    others = [query for query in collection.queries if query != chosen]
    documents = {document.doc_id: document for document in collection.documents()}
    ids = list(documents)
    with open_store(path, create=True) as store:
        store.add_queries({query: {"text": text} for query, text in collection.queries.items()})
        store.add_queries([(chosen, QUERY, NARRATIVE)])
        store.add_documents((each.doc_id, each.title, each.text) for each in documents.values())
        for number, query in enumerate(others):
            store.wait((query, ids[(number * 7 + step * 13) % len(ids)]) for step in range(6))
            for step in range(6 if number < 21 else 0):
                store.judge(query, ids[(number * 7 + step * 13) % len(ids)], step % 4, assessor="ann", seconds=7.0)
        pooled = [SHOWN, *GRADED, "hard-negatives", "rag", "head-tail"]
        store.wait((chosen, each) for each in pooled if each in documents)
        for document, grade in GRADED.items():
            store.judge(chosen, document, grade, assessor="ann", seconds=7.0)
    return chosen


def chromium() -> str:
    """The browser that is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))


def main() -> None:
    """Serve the store, open a document, and take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.db"
        query = fill(path)
        address: list[str] = []
        started = threading.Event()

        def told(listening: Listening) -> None:
            address.extend(listening.addresses)
            started.set()

        with open_store(path) as store, sync_playwright() as playwright:
            threading.Thread(
                target=serve, args=(store, "ann"), kwargs={"port": 0, "on_start": told}, daemon=True
            ).start()
            started.wait()
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            for scheme, name in (("light", "judge.png"), ("dark", "judge-dark.png")):
                page = browser.new_page(viewport={"width": 1200, "height": 640}, color_scheme=scheme)
                page.goto(f"{address[0]}?query={query}&document={SHOWN}")
                page.wait_for_selector("html[data-ready]")
                page.screenshot(path=IMAGES / name)
            browser.close()


if __name__ == "__main__":
    main()
