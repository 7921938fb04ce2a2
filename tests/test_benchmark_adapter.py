"""What the shipped adapter learns from: invented schemas, their forms, wordings and voices."""

from __future__ import annotations

import random

import pytest

from benchmarks.adapter.batches import draw_batch
from benchmarks.adapter.forms import Condition, Drawing, Form, Things
from benchmarks.adapter.heldout import read_heldout
from benchmarks.adapter.names import Slot, Slots
from benchmarks.adapter.near import near
from benchmarks.adapter.schema import read_schemas
from benchmarks.adapter.voices.questions import Voices
from benchmarks.adapter.wording import Style, Wording

SCHEMAS = {schema.name: schema for schema in read_schemas()}
PLAIN, LAMBDA = Wording(Style("plain", 0, 0, 0, True)), Wording(Style("lambda", 1, 1, 1, True))


@pytest.fixture
def books() -> Drawing:
    return Drawing(SCHEMAS["bookshop"], Slots(masked=True), random.Random(1))


def cheap(op: str) -> Form:
    schema = SCHEMAS["bookshop"]
    (price,) = [p for p in schema.of("book", "number") if p.name == "price"]
    return Form("list", Things(schema.things["book"], (Condition("compare", price, op=op, values=(Slot("5"),)),)))


def test_there_are_many_schemas_and_none_of_those_held_out():
    assert len(SCHEMAS) > 60
    assert not {one.name for one in read_heldout()} & set(SCHEMAS)


def test_a_line_that_is_no_declaration_is_told_with_its_place(tmp_path):
    (tmp_path / "one.txt").write_text("schema one\nthing book title\nnumber book price dollars\n")
    with pytest.raises(ValueError, match="one.txt, line 3: a number without a family"):
        read_schemas([tmp_path / "one.txt"])


def test_a_form_is_worded_in_each_style():
    assert PLAIN(cheap("<=")) == "books whose price is at most 5 dollars"
    assert LAMBDA(cheap("<")) == "book whose price is smaller than 5 dollars"


def test_near_forms_are_others_and_the_opposite_is_among_them(books):
    found = near(cheap("<="), books)
    assert cheap("<=") not in found and len(found) == len(set(found))
    assert {cheap(">="), cheap("<")} <= set(found)
    assert "number of books whose price is at most 5 dollars" in {PLAIN(form) for form in found}


def test_a_form_is_asked_for_in_many_voices():
    ask = Voices(SCHEMAS["bookshop"], random.Random(1))
    assert len({ask(cheap("<")) for _ in range(200)}) > 150


def test_the_same_seed_draws_the_same_batch():
    def drawn(seed):
        return draw_batch(list(SCHEMAS.values()), random.Random(seed), forms=8, voices=2, nearest=4)

    assert drawn(3) == drawn(3) != drawn(4)


def test_every_question_of_a_batch_means_one_of_its_candidates():
    rng = random.Random(5)
    for _ in range(60):
        batch = draw_batch(list(SCHEMAS.values()), rng, forms=8, voices=2, nearest=4)
        assert len(batch.questions) == len(batch.meant) == 16
        assert len(set(batch.candidates)) == len(batch.candidates) > max(batch.meant)
        assert all(text and text == " ".join(text.split()) for text in (*batch.questions, *batch.candidates))
