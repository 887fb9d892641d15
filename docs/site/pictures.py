"""Takes the pictures of pages in docs/images by `make figures`, light and dark, and keeps the texts that they show.

`docs/images/shown.json` has these texts: a test opens the same pages and compares, so that no picture shows what the
program no longer prints.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

import cranfield
from cranfield.report.diff import write_diff
from docs.site.judge_picture import FLAGS, chromium

IMAGES = Path(__file__).parents[1] / "images"
SHOWN = IMAGES / "shown.json"
MANY = 12
SETTINGS = """collection = "builtin"
measures = ["nDCG@10", "RR"]
[gate]
tolerance = 0.01
[systems.shop]
type = "sqlite"
"""
# The texts that can be seen in the window, one for each piece of the page.
VISIBLE = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = []
  while (walk.nextNode()) {
    const range = document.createRange(), text = walk.currentNode.textContent.replace(/\\s+/g, " ").trim()
    range.selectNodeContents(walk.currentNode)
    const box = range.getBoundingClientRect()
    const hidden = walk.currentNode.parentElement.closest("option, script, style, [hidden]")
    if (text && !hidden && box.width > 1 && box.height > 1 && box.top < innerHeight && box.bottom > 0) texts.push(text)
  }
  return texts
}"""


class Shot(NamedTuple):
    """A page to take: where it is, and how high its window."""

    address: str
    high: int
    wide: int = 1100


def shots(folder: Path) -> dict[str, Shot]:
    """The pages, written into a folder: a report of two runs, one of its queries, many runs, and a failed test."""
    collection = cranfield.open_collection("builtin")
    runs = {name: f"{name}.run" for name in ("plain", "tuned")}
    for system, run in zip(("sqlite", "sqlite:tuned"), runs.values(), strict=True):
        cranfield.record(cranfield.open_system(system, collection), collection.queries, run, k=100)
    cranfield.write_report("builtin", runs, "report.html", collection=collection)
    cranfield.write_report("builtin", variants(), "many.html", collection=collection, charts=False)
    for tuned, commands in (("true", ("test", "accept")), ("false", ("test --report failed.html",))):
        Path("cranfield.toml").write_text(f"{SETTINGS}tuned = {tuned}\n", encoding="utf-8")
        for command in commands:
            program = str(Path(sys.executable).with_name("cranfield"))
            subprocess.run([program, *command.split()], stdout=subprocess.DEVNULL, check=False)
    write_days("history.html")
    write_diff(cranfield.diff(*runs.values(), qrels="builtin", collection=collection), "diff.html")
    report, many, failed, history, changed = (
        (folder / f"{name}.html").as_uri() for name in ("report", "many", "failed", "history", "diff")
    )
    return {
        "report": Shot(report, 910),
        "query": Shot(f"{report}#q=q37&a=plain&b=tuned&m=nDCG%4010", 760),
        "many": Shot(many, 1180),
        "failed": Shot(failed, 700),
        "history": Shot(history, 900),
        "diff": Shot(changed, 1330),
    }


def write_days(path: str) -> None:
    """A page of two weeks of a shop: a change that helped and was accepted, one that hurt and was taken back."""
    from cranfield.report.history import write_history
    from cranfield.systems.history.change import Change, Moment
    from cranfield.systems.history.lines import line_of
    from cranfield.systems.history.opening import open_history
    from cranfield.systems.history.packing import content_id
    from cranfield.systems.history.results import Acceptance, Measured

    start = datetime(2026, 9, 1, 12, tzinfo=UTC)
    texts = cranfield.open_collection("builtin").queries
    worse = {"lost.run": variants()["blur-07"]}
    subjects = {5: "titles count twice", 9: "stop words of English", 11: "revert stop words"}
    results = []
    for day in range(14):
        run = "plain.run" if day < 5 else worse if day in (9, 10) else "tuned.run"
        measured = cranfield.evaluate(
            "builtin", run["lost.run"] if isinstance(run, dict) else run, "nDCG@10 RR", name="shop"
        )
        moment = Moment(
            start + timedelta(days=day),
            Change(sha1(str(day).encode()).hexdigest(), subjects.get(day, "other work"), "main"),
        )
        latency = {"p50": 0.03, "p95": 0.05 + 0.002 * (day % 3) + 0.02 * (day in (9, 10))}
        results.append(Measured(measured, "shop", moment, "test", latency=latency, judged=60, texts=dict(texts)))
    helped = results[5]
    accepted = Acceptance(
        content_id(helped.id, "Ann"), "shop", helped.moment.at, helped.id, "Ann", "titles matter most", False
    )
    with open_history("days.db", create=True) as history:
        history.append(results, acceptances=[accepted])
        history.note("500 new documents", at=start + timedelta(days=3))
        write_history([line_of(history, "shop", "nDCG@10")], path)


def variants() -> dict[str, dict[str, dict[str, float]]]:
    """Runs of the tuned engine whose scores are blurred, each a little more than the one before."""
    lines = [line.split() for line in Path("tuned.run").read_text(encoding="utf-8").splitlines()]
    chance = random.Random(5)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for number in range(MANY):
        run = found[f"blur-{number:02}"] = {}
        for query, _, document, _, score, _ in lines:
            run.setdefault(query, {})[document] = float(score) * chance.gauss(1, 0.05 * number)
    return found


@contextmanager
def opened() -> Iterator[tuple[dict[str, Shot], Browser]]:
    """The pages in a folder of their own, and a browser."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.chdir(folder)  # the commands on the pages name files as they are seen from here
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS[:-1]))
            yield shots(Path(folder)), browser
            browser.close()
        finally:
            os.chdir(before)


def taken(browser: Browser, shot: Shot, scheme: str = "light") -> Page:
    page = browser.new_page(viewport={"width": shot.wide, "height": shot.high}, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(shot.address)
    page.wait_for_load_state("networkidle")
    return page


def shown(page: Page) -> list[str]:
    """What a window shows, without what differs from day to day."""
    texts: list[str] = page.evaluate(VISIBLE)
    return [re.sub(r"\d+ [A-Z][a-z]+ 20\d\d", "DAY", text) for text in texts]


def main() -> None:
    with opened() as (pages, browser):
        said = {}
        for name, shot in pages.items():
            for scheme, file in (("light", f"{name}.png"), ("dark", f"{name}-dark.png")):
                page = taken(browser, shot, scheme)
                page.screenshot(path=IMAGES / file)
                said[name] = shown(page)
        SHOWN.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
