"""A browser, and a server with a run of the toy domain and a shop of films. Without a browser its tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
import toy_run
from fake_asker import target

from dualparse.asking.journal import Journal
from dualparse.asking.reply import Reply
from dualparse.use.api import Parser
from dualparse.use.service.app import make_app
from dualparse.use.service.served import Target, about

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


class Sure:
    """Answers with the first reading of a parser: the toy has too few questions to know how sure it is."""

    def __init__(self, parser: Parser):
        self.parser, self.run, self.close = parser, parser.asker.run, parser.asker.close

    def ask(self, question: str) -> Reply:
        best = self.parser.parse(question, k=1)[0]
        return replace(self.run(best.form, question), probability=0.9, notes=best.notes)


@pytest.fixture(scope="module")
def journal(tmp_path_factory) -> Journal:
    return Journal(tmp_path_factory.mktemp("journal") / "journal.jsonl")


@pytest.fixture(scope="module")
def address(tmp_path_factory, browser, journal) -> Iterator[str]:
    parser = toy_run.open_parser(toy_run.make_run(tmp_path_factory.mktemp("web")))
    lakes = Target(about(parser.domain), Sure(parser), parser)
    with toy_run.serving(make_app({"lakes": lakes, "films": target()}, journals={"films": journal})) as url:
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
