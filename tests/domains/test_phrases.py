"""What people call the types and properties of a domain."""

from __future__ import annotations

import pytest

from dualparse.domains.phrases import read_phrases
from dualparse.domains.registry import open_domain
from dualparse.domains.schema import Declaration, Schema
from dualparse.errors import InputError

SCHEMA = Schema({"hut": 1}, {("hut", "price"): Declaration("price", "hut", "number")})


def test_phrases_are_read_in_their_order(tmp_path):
    path = tmp_path / "synonyms.txt"
    assert read_phrases(path, SCHEMA) == {}
    path.write_text(
        "# names\nhut: mountain  hut, refuge\nhut.price: cost # of a night\n!hut.price: hut at that price\n"
    )
    found = read_phrases(path, SCHEMA)
    assert found["hut"] == ("mountain hut", "refuge") and found["hut.price"] == ("cost",)


@pytest.mark.parametrize(
    ("line", "told"),
    [("hat: a hut", "no 'hat', did you mean 'hut'"), ("hut", "expected 'name: phrase"), ("hut: ,", "expected 'name:")],
)
def test_a_line_that_means_nothing_is_a_problem(tmp_path, line, told):
    (tmp_path / "synonyms.txt").write_text(f"\n{line}\n")
    with pytest.raises(InputError) as caught:
        read_phrases(tmp_path / "synonyms.txt", SCHEMA)
    assert caught.value.line == 2 and told in str(caught.value)


def test_the_domain_that_ships_has_words_for_its_properties():
    assert open_domain("trails").phrases["trail.passes"] == ("hut",)
