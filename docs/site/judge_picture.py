"""Takes docs/images/judge.png and judge-picture.png, light and dark, by `make figures`: texts and pictures to judge."""

from __future__ import annotations

import shutil
import struct
import tempfile
import threading
import zlib
from collections.abc import Sequence
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


def fill_with_pictures(path: Path, folder: Path) -> str:
    """A store of pictures, which are drawn into the folder; the query to show."""
    skies = {
        "dusk": ((60, 40, 110), (250, 140, 70)),
        "noon": ((80, 150, 220), (220, 235, 245)),
        "fog": ((150,) * 3, (225,) * 3),
    }
    titles = {"dusk": "Evening over the bay", "noon": "The sea at noon", "fog": "The harbour in fog"}
    for name, (top, bottom) in skies.items():
        (folder / f"{name}.png").write_bytes(_sky(top, bottom, sun=name == "dusk"))
    with open_store(path, create=True) as store:
        store.add_queries({"q1": {"text": "a red sky over water"}})
        store.add_documents({name: {"title": title, "image": f"{name}.png"} for name, title in titles.items()})
        store.wait(("q1", name) for name in titles)
        store.judge("q1", "fog", 0, assessor="ann", seconds=3.0)
    return "q1"


def _sky(top: Sequence[int], bottom: Sequence[int], *, sun: bool, size: tuple[int, int] = (480, 300)) -> bytes:
    """A PNG of a sky above water, with or without a sun."""
    wide, high = size
    horizon = high * 2 // 3
    rows = []
    for y in range(high):
        share = min(y, 2 * horizon - y) / horizon  # the water mirrors the sky
        colour = [
            round(a + (b - a) * share) * (10 if y < horizon else 8) // 10 for a, b in zip(top, bottom, strict=True)
        ]
        row = bytearray(bytes(colour) * wide)
        if sun and (half := 40**2 - (y - horizon + 30) ** 2) > 0 and y < horizon:
            middle, reach = wide // 2, int(half**0.5)
            row[3 * (middle - reach) : 3 * (middle + reach)] = bytes((255, 225, 150)) * (2 * reach)
        rows.append(b"\0" + bytes(row))
    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def main() -> None:
    """Serve each store, open a document, and take the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        take(folder / "judgments.db", fill(folder / "judgments.db"), SHOWN, "judge", 640)
        pictures = folder / "pictures"
        pictures.mkdir()
        take(
            pictures / "judgments.db",
            fill_with_pictures(pictures / "judgments.db", pictures),
            "dusk",
            "judge-picture",
            640,
        )


def take(path: Path, query: str, document: str, name: str, high: int) -> None:
    address: list[str] = []
    started = threading.Event()

    def told(listening: Listening) -> None:
        address.extend(listening.addresses)
        started.set()

    with open_store(path) as store, sync_playwright() as playwright:
        threading.Thread(target=serve, args=(store, "ann"), kwargs={"port": 0, "on_start": told}, daemon=True).start()
        started.wait()
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        for scheme, file in (("light", f"{name}.png"), ("dark", f"{name}-dark.png")):
            page = browser.new_page(viewport={"width": 1200, "height": high}, color_scheme=scheme)
            page.goto(f"{address[0]}?query={query}&document={document}")
            page.wait_for_selector("html[data-ready]")
            page.screenshot(path=IMAGES / file)
        browser.close()


if __name__ == "__main__":
    main()
