"""What strangers wrote is only ever shown: no terminal obeys it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from dualparse.use import cli
from dualparse.use.cli.screen import Screen, visible

EVIL = "a\x1b]0;title\x07\x1b[2Jb\x9bc\u202ed"


def test_control_characters_are_spelt_out():
    assert visible(EVIL) == "a\\u001b]0;title\\u0007\\u001b[2Jb\\u009bc\\u202ed"
    assert visible("two\nlines\tand ünï 💧 שלום") == "two\nlines\tand ünï 💧 שלום"


def test_a_screen_has_its_own_colours_alone():
    out = io.StringIO()
    screen = Screen(file=out, force_terminal=True, color_system="standard", width=200)
    table = Table(EVIL)
    table.add_row(Text(EVIL, style="red"))
    screen.print(EVIL, table, Text(EVIL), markup=False)
    told = out.getvalue()
    assert "\x1b[31m" in told, "ours"
    assert not re.search(r"\x1b[^\[]|\x1b\[2J|\x07|\x9b|\u202e", told)


@pytest.mark.parametrize("path", sorted(Path(cli.__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_every_command_prints_on_a_screen(path):
    if path.name != "screen.py":
        plain = r'(?<![\w.])(Console\(|typer\.echo\(|print\((?!f"dualparse))'
        assert not re.search(plain, path.read_text(encoding="utf-8")), "use Screen or say of dualparse.use.cli.screen"


def test_names_of_folders_and_cells_are_shown_escaped(dualparse, tmp_path):
    folder = tmp_path / "evil\x1b[31m"
    folder.mkdir()
    for words in (["domain", "check", folder], ["parse", folder, "x"], ["verify", folder], ["train", folder]):
        told = dualparse(*words)
        assert told.code != 0 and "evil" in told.out + told.err
        assert "\x1b" not in told.out + told.err
    (tmp_path / "grid.toml").write_text('datasets = ["trails"]\n[methods."m\\u001b[31m"]\nstages = ["q2lf"]\n')
    told = dualparse("sweep", tmp_path / "grid.toml", "--list", "--runs", tmp_path / "r", "--results", tmp_path / "s")
    assert "u001b[31m" in told.out + told.err and "\x1b" not in told.out + told.err
