"""`dualparse ask`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shops import SHOP, sqlite_file

from dualparse.database.connect import connect
from dualparse.database.location import locate


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("shop")
    sqlite_file(place / "shop.sqlite", SHOP)
    connect(locate(str(place / "shop.sqlite")), place / "folder")
    return place / "folder"


def test_the_command_answers_lines_as_json(folder, dualparse):
    result = dualparse("ask", str(folder), "how many films are there", "--json")
    reply = json.loads(result.out)
    assert reply["status"] == "answered" and reply["rows"] == [[4]]
    wanted = {"question", "status", "columns", "rows", "form", "sql", "probability", "reason", "notes"}
    assert wanted <= set(reply)


def test_the_command_says_what_it_understood(folder, dualparse):
    out = dualparse("ask", str(folder), "how many films are there", "--sql").out
    assert out.startswith("Number of films (") and "\n  4\n" in out and "SELECT" in out
    assert "nothing is changed" in dualparse("ask", str(folder), "delete all films").out
    assert dualparse("ask", str(folder), "films", "--today", "soon").code == 2
