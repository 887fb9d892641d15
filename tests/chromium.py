"""The browser of the tests: the installed Chromium, without requests of its own to other servers."""

import shutil
from collections import defaultdict
from contextlib import contextmanager

import pytest

from tests.waiting import LIMIT

# The headless one first: it starts in half the time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Fewer processes per page, because starting one takes longer than showing the page.
    # No --disable-features: it would replace Playwright's own, which disables more.
    *("--in-process-gpu", "--renderer-process-limit=1", "--disable-extensions"),
]


class Tabs:
    """Reusable pages of one browser, because each new one starts two processes, which takes a second.

    messages: what the pages in use have logged, thrown or asked the user.
    requests: the addresses that they have requested.
    """

    def __init__(self, browser):
        self.browser = browser
        self.messages, self.requests = [], []
        self._in_use, self._empty = [], defaultdict(list)

    def open(self, address, **settings):
        """Show an address in a page with these settings, which shares nothing with other pages in use."""
        key = repr(sorted(settings.items()))
        page = self._empty[key].pop() if self._empty[key] else self._new(settings)
        self._in_use.append((key, page))
        page.goto(address)
        return page

    def _new(self, settings):
        page = self.browser.new_context(**settings).new_page()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def clear(self):
        """Empty all pages. Stored data stays with its address, so no test opens such an address twice."""
        for key, page in self._in_use:
            page.goto("about:blank")
            page.mouse.move(0, 0)
            page.context.clear_cookies()
            self._empty[key].append(page)
        self._in_use.clear()
        self.messages.clear()
        self.requests.clear()


@contextmanager
def launched():
    """A running browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=1000 * LIMIT)
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def browser_tabs():
    pytest.importorskip("playwright", reason="Playwright is not installed")
    with launched() as browser:
        yield Tabs(browser)


@pytest.fixture
def tabs(browser_tabs):
    """Pages for one test."""
    yield browser_tabs
    browser_tabs.clear()
