"""`dualparse worksheet`: out to a person, and back as labels that answers go by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shops import SHOP, sqlite_file

from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.domains.registry import open_domain


@pytest.fixture
def folder(tmp_path) -> Path:
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "folder")
    return tmp_path / "folder"


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def test_the_worksheet_speaks_of_every_table_in_forms_that_run(folder, dualparse, tmp_path):
    sheet = tmp_path / "sheet.tsv"
    assert dualparse("worksheet", folder, "-n", "40", "--out", sheet).code == 0
    pairs = lines(sheet)
    assert len(pairs) == 40 and len({form for _, form in pairs}) == 40
    domain = open_domain(str(folder))
    assert all(domain.check(form).ok and "@" not in form for _, form in pairs)
    told = " ".join(form for _, form in pairs)
    assert all(
        f" {table} " in f" {told.replace('.', ' ')} " for table in ("film", "actor", "genre", "member", "rental")
    )
    again = dualparse("worksheet", folder, "-n", "40")
    assert again.out == sheet.read_text()  # the same seed, on the screen


def test_what_a_person_worded_is_answered_by_whatever_the_names(folder, dualparse, tmp_path):
    sheet, question = tmp_path / "sheet.tsv", "who had Dust for an evening?"
    before = json.loads(dualparse("ask", folder, question, "--json").out)
    assert before["status"] != "answered"
    form = "( get ( get film.1 !rental.film ) member )"
    sheet.write_text(f"# a comment\nwho had the Long Ferry for an evening\t{form}\n")
    told = dualparse("worksheet", folder, "--read", sheet)
    assert told.code == 0 and told.out.startswith("1 new pairs")
    after = json.loads(dualparse("ask", folder, question, "--json").out)
    assert after["status"] == "answered" and after["rows"] == [["Cy Moe"]]
    assert after["form"] == "( get ( get film.4 !rental.film ) member )" and after["probability"] > 0.9
    assert dualparse("worksheet", folder, "--read", sheet).out.startswith("0 new pairs")
    assert len(lines(folder / "train.tsv")) == 1


def test_a_line_nobody_worded_is_no_label(folder, dualparse, tmp_path):
    sheet = tmp_path / "sheet.tsv"
    dualparse("worksheet", folder, "-n", "5", "--out", sheet)
    assert "5 questions are as they were" in dualparse("worksheet", folder, "--read", sheet).out
    assert not (folder / "train.tsv").exists()


@pytest.mark.parametrize(
    ("line", "told"),
    [("films ( all film )", "expected question<TAB>form"), ("films\t( all fim )", "the form does not run")],
)
def test_a_bad_line_is_told_and_nothing_is_kept(folder, dualparse, tmp_path, line, told):
    sheet = tmp_path / "sheet.tsv"
    sheet.write_text(f"every film\t( all film )\n{line}\n")
    result = dualparse("worksheet", folder, "--read", sheet)
    assert result.code == 2 and f"{sheet}:2" in result.err and told in result.err
    assert not (folder / "train.tsv").exists()
