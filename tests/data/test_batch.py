"""Rows and batches: entity mapping both ways, copy numbers, padding, epochs."""

from __future__ import annotations

import random

import numpy as np
import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.batch import bucketed, collate, collate_texts, encode, pad, sides, source_tokens
from dualparse.data.examples import Example
from dualparse.data.vocab import BOS, EOS, PAD, SPECIAL, UNK, Vocab
from dualparse.domains.lexicon import Lexicon

LEXICON = Lexicon(
    [
        (("new", "york"), "new_york:ci"),
        (("big", "apple"), "new_york:ci"),
        (("the", "big", "apple"), "new_york:ci"),
        (("delta",), "delta:al"),
    ]
)
QUERY = Vocab.build([["flights", "to", "new", "york", "with"]])
FORM = Vocab.build([["(", ")", "flight", "to", "new_york:ci"]])
WORDS = st.lists(
    st.sampled_from(["flights", "to", "new", "york", "big", "apple", "delta", "zzz", *SPECIAL]), max_size=9
)


def row(source, target, direction="q2lf", *, rng=None, vocabs=(QUERY, FORM)):
    return encode(source.split(), target and target.split(), direction, *vocabs, LEXICON, rng=rng or random.Random(0))


def test_sides_swap_with_the_direction():
    example = Example(("q",), ("f",))
    assert sides(example, "q2lf") == (("q",), ("f",))
    assert sides(example, "lf2q") == (("f",), ("q",))


def test_every_word_of_a_phrase_can_be_copied_as_the_entity():
    found = row("flights to new york", "( to new_york:ci )")
    assert found.source == QUERY.ids(["flights", "to", "new", "york"])
    city = FORM.index["new_york:ci"]
    assert found.copy == [len(FORM), FORM.index["to"], city, city]
    assert found.words == ("flights",)


def test_tokens_beyond_the_vocabulary_get_one_number_each():
    found = row("delta zzz delta zzz", "( zzz delta:al )")
    assert found.words == ("delta:al", "zzz")
    assert found.copy == [len(FORM), len(FORM) + 1, len(FORM), len(FORM) + 1]
    assert found.target == [FORM.index["("], len(FORM) + 1, len(FORM), FORM.index[")"]]


def test_a_target_nobody_can_reach_is_unk():
    assert row("to", "( nowhere )").target == [FORM.index["("], UNK, FORM.index[")"]]


def test_a_source_to_be_decoded_has_no_target():
    assert row("to", None).target == []


@pytest.mark.parametrize("query", ["flights to new york", "flights to the big apple"])
def test_a_paired_form_takes_the_phrase_of_its_query(query):
    read, copied = source_tokens(["(", "to", "new_york:ci", ")"], "lf2q", LEXICON, paired_query=query.split(), rng=None)
    assert read == ["(", "to", *query.split()[2:], ")"]
    assert copied == read


def test_the_longest_phrase_in_the_query_wins():
    read, _ = source_tokens(["new_york:ci"], "lf2q", LEXICON, paired_query=["in", "the", "big", "apple"], rng=None)
    assert read == ["the", "big", "apple"]


def test_an_unpaired_form_draws_from_all_phrases():
    drawn = {tuple(source_tokens(["new_york:ci"], "lf2q", LEXICON, rng=random.Random(seed))[0]) for seed in range(40)}
    assert drawn == set(LEXICON.phrases("new_york:ci"))


def test_a_pair_whose_query_names_the_entity_otherwise_draws_too():
    drawn = {
        tuple(source_tokens(["new_york:ci"], "lf2q", LEXICON, paired_query=["there"], rng=random.Random(seed))[0])
        for seed in range(40)
    }
    assert drawn == set(LEXICON.phrases("new_york:ci"))


def test_encoding_a_form_uses_the_query_it_is_paired_with():
    found = row("( to new_york:ci )", "flights to the big apple", "lf2q", vocabs=(FORM, QUERY))
    assert found.words == ("(", "the", "big", "apple", ")")
    assert found.target == [QUERY.index["flights"], QUERY.index["to"], *(len(QUERY) + i for i in (1, 2, 3))]


@given(WORDS, WORDS, st.sampled_from(["q2lf", "lf2q"]))
def test_numbers_mean_the_tokens_they_came_from(source, target, direction):
    vocabs = (QUERY, FORM) if direction == "q2lf" else (FORM, QUERY)
    target_vocab = vocabs[1]
    read, copied = source_tokens(source, direction, LEXICON, paired_query=target, rng=random.Random(3))
    found = encode(source, target, direction, *vocabs, LEXICON, rng=random.Random(3))
    spelt = [*target_vocab.tokens, *found.words]
    assert found.source == vocabs[0].ids(read)
    assert [spelt[n] for n in found.copy] == copied
    for token, number in zip(target, found.target, strict=True):
        assert spelt[number] == token if number != UNK else token not in copied and token not in target_vocab.index
    assert not {PAD, BOS, EOS} & {*found.source, *found.copy, *found.target}
    assert len(found.words) <= len(found.copy)


def test_collate_pads_behind_the_end_and_reads_extended_numbers_as_unk():
    rows = [row("delta", "( delta:al )"), row("flights to new york", "to")]
    batch = collate(rows, target_vocab_size=len(FORM))
    opened, closed, to = (FORM.index[token] for token in ("(", ")", "to"))
    assert batch.source.tolist() == [[UNK, PAD, PAD, PAD], QUERY.ids(["flights", "to", "new", "york"])]
    assert batch.copy[0].tolist() == [len(FORM), PAD, PAD, PAD]
    assert batch.inputs.tolist() == [[BOS, opened, UNK, closed], [BOS, to, PAD, PAD]]
    assert batch.targets.tolist() == [[opened, len(FORM), closed, EOS], [to, EOS, PAD, PAD]]


def test_take_cuts_rows_and_lengths():
    batch = collate([row("delta", "( delta:al )"), row("flights to new york", "to")], target_vocab_size=len(FORM))
    taken = batch.take(np.array([1, 1]), 2, 2)
    assert taken.source.tolist() == [QUERY.ids(["flights", "to"])] * 2
    assert taken.targets.tolist() == [[FORM.index["to"], EOS]] * 2


def test_map_applies_to_every_array():
    batch = collate([row("delta", "to")], target_vocab_size=len(FORM)).map(lambda array: array + 1)
    assert batch.inputs.tolist() == [[BOS + 1, FORM.index["to"] + 1]]


def test_texts_for_a_language_model():
    inputs, targets = collate_texts([["to"], ["new", "zzz"]], QUERY)
    to, new = QUERY.index["to"], QUERY.index["new"]
    assert inputs.tolist() == [[BOS, to, PAD], [BOS, new, UNK]]
    assert targets.tolist() == [[to, EOS, PAD], [new, UNK, EOS]]


def test_padding_of_nothing_still_has_a_column():
    assert pad([[], []]).tolist() == [[PAD], [PAD]]
    assert pad([]).shape == (0, 1)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=60),
    st.integers(1, 20),
    st.integers(1, 9),
    st.integers(0, 5),
)
def test_an_epoch_has_every_row_once(lengths, batch_size, grid, seed):
    source, target = (np.array(column) for column in zip(*lengths, strict=True))
    slices = bucketed(source, target, batch_size=batch_size, rng=random.Random(seed), grid=grid)
    counted = [int(i) for part in slices for i, weight in zip(part.rows, part.weight, strict=True) if weight]
    assert sorted(counted) == list(range(len(lengths)))
    assert len(slices) == -(-len(lengths) // batch_size)
    for part in slices:
        assert len(part.rows) == len(part.weight) == batch_size
        assert set(part.weight.tolist()) <= {0.0, 1.0}
        assert source[part.rows].max() <= part.source_length < source[part.rows].max() + grid
        assert target[part.rows].max() <= part.target_length < target[part.rows].max() + grid


def test_epochs_differ_by_their_generator_alone():
    lengths = np.arange(1, 31)
    epochs = [
        [part.rows.tolist() for part in bucketed(lengths, lengths, batch_size=4, rng=random.Random(seed))]
        for seed in (1, 1, 2)
    ]
    assert epochs[0] == epochs[1] != epochs[2]


def test_batches_are_made_of_similar_lengths():
    rng = random.Random(0)
    target = np.array([rng.randint(1, 64) for _ in range(256)])
    slices = bucketed(target, target, batch_size=16, rng=rng)
    spread = [int(target[part.rows].max() - target[part.rows].min()) for part in slices]
    assert max(spread) < 16


def test_toy_pairs_are_all_reachable():
    """The toy domain of the training tests can be learned: no target is <unk>."""
    for direction in ("q2lf", "lf2q"):
        agent = toy.agent(direction)
        rows = agent.encode(toy.examples(), random.Random(0)).rows
        assert not any(UNK in found.target for found in rows)
