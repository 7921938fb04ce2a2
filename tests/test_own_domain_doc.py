"""The tutorial docs/own-domain.md: its commands run, and print what it says."""

from __future__ import annotations

import contextlib
import io

from pages import blocks, follow, steps

PAGE = "own-domain.md"


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert len(steps(PAGE)) > 20
    follow(PAGE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks(PAGE, "python"):
            exec(block, {})
    answer, reason, size, problems = printed.getvalue().splitlines()
    assert (answer, size, problems) == ("(list (number 12 count))", "51", "[]")
    assert "'bok'" in reason
