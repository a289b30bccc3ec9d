"""A real Chromium, where there is one, and a page of `watch` in it."""

import os
import shutil
from contextlib import contextmanager

import pytest

from tests.patience import PATIENCE

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--renderer-process-limit=1",
]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
WAIT = 1000 * PATIENCE  # milliseconds


@contextmanager
def chromium():
    if CHROMIUM is None:
        if os.environ.get("HEGEMON_NEEDS_CHROMIUM"):
            pytest.fail("there is no Chromium, and this run must have one: apt-get install chromium")
        pytest.skip("no Chromium: the page is not tested in a browser; apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def state(page, *names):
    """Some of the state that the page exposes."""
    return page.evaluate("names => names.map(name => window.hegemon[name])", list(names))


def until(page, condition: str, *arguments):
    """Wait for a condition on the state object `h`."""
    page.wait_for_function(f"() => {{ const h = window.hegemon; return h && h.ready && ({condition}); }}", timeout=WAIT)


def open_page(browser, url: str, **options):
    page = browser.new_page(**options)
    page.set_default_timeout(WAIT)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(url)
    until(page, "true")
    return page
