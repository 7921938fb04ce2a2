"""A browser, and a server with two runs of the toy domain. Without a browser the tests of the page are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
import toy_run

from dualparse.use.service.app import make_app

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 20_000  # milliseconds, for a busy machine
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")  # no longer: while it is open, this thread has an event loop, which other tests need
def browser() -> Iterator:
    path = os.environ.get("DUALPARSE_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs a Chromium: `make browser` installs one")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory, browser) -> Iterator[str]:
    parser = toy_run.open_parser(toy_run.make_run(tmp_path_factory.mktemp("web")))
    with toy_run.serving(make_app({"lakes": parser, "more lakes": parser})) as url:
        yield url


@pytest.fixture
def page(browser, address) -> Iterator:
    """A fresh page that has shown no error when the test ends."""
    context = browser.new_context(base_url=address, viewport={"width": 1100, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    opened.problems = problems
    yield opened
    context.close()
    assert problems == []
