"""The template of a domain folder."""

from __future__ import annotations

import pytest

from dualparse.data.template import TEMPLATE, write_template
from dualparse.domains.folder import load
from dualparse.errors import InputError


def test_all_files_are_written_and_the_domain_has_the_folders_name(tmp_path):
    written = write_template(tmp_path / "deep" / "My Bike Shop")
    assert {path.name for path in written} == {path.name for path in TEMPLATE.iterdir()}
    assert load(tmp_path / "deep" / "My Bike Shop").name == "my-bike-shop"


def test_an_empty_folder_is_used_and_anything_else_is_left_alone(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    write_template(empty)
    with pytest.raises(InputError, match="is there already"):
        write_template(empty)
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        write_template(file)
    with pytest.raises(InputError, match="cannot write"):
        write_template(file / "below")
    assert file.read_text() == "mine"
