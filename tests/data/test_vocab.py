"""Vocabularies: numbers, files, and words that look like the special tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.vocab import BOS, EOS, PAD, SPECIAL, UNK, Vocab
from dualparse.errors import InputError

WORD = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.split() == [text])
SEQUENCES = st.lists(st.lists(WORD, max_size=6), max_size=6)


def test_special_tokens_come_first_and_unknown_words_read_as_unk():
    vocab = Vocab.build([["trail"]])
    assert vocab.tokens == (*SPECIAL, "trail")
    assert tuple(map(vocab.tokens.index, SPECIAL)) == (PAD, UNK, BOS, EOS)
    assert vocab.ids(["trail", "hut"]) == [4, UNK]


def test_most_frequent_first_ties_by_spelling():
    vocab = Vocab.build([["b", "a", "c"], ["c"]])
    assert vocab.tokens[4:] == ("c", "a", "b")


def test_rare_words_are_left_out_unless_they_are_always_wanted():
    vocab = Vocab.build([["often", "often", "once", "kept"]], min_count=2, always=["kept", "unseen"])
    assert set(vocab.tokens[4:]) == {"often", "kept", "unseen"}


@pytest.mark.parametrize("word", SPECIAL)
def test_a_word_spelt_like_a_special_token_is_an_unknown_word(word):
    """Or a question could pad itself away."""
    assert Vocab.build([[word, "a"]]).ids([word, "a"]) == [UNK, 4]


@given(SEQUENCES)
def test_a_saved_vocabulary_loads_as_the_same_one(tmp_path_factory, sequences):
    path = tmp_path_factory.mktemp("vocab") / "query.vocab"
    vocab = Vocab.build(sequences)
    vocab.save(path)
    assert Vocab.load(path) == vocab


@given(SEQUENCES)
def test_numbers_lead_back_to_words(sequences):
    vocab = Vocab.build(sequences)
    for sequence in sequences:
        words = [word for word in sequence if word not in SPECIAL]
        assert [vocab.tokens[n] for n in vocab.ids(words)] == words


def test_the_file_has_one_token_a_line_in_order(tmp_path):
    Vocab.build([["hut", "trail", "trail"]]).save(tmp_path / "v")
    assert (tmp_path / "v").read_text(encoding="utf-8") == "<pad>\n<unk>\n<s>\n</s>\ntrail\nhut\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "a vocabulary starts with"),
        (b"<pad>\n<unk>\n<s>\n</s>\ntra", "cut short"),
        (b"trail\nhut\n", "a vocabulary starts with"),
        (b"<pad>\n<unk>\n<s>\n</s>\nhut\nhut\n", "must not repeat"),
        (b"<pad>\n<unk>\n<s>\n</s>\nh\xfct\n", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_vocabulary_is_an_input_error(tmp_path, content, reason):
    path = tmp_path / "query.vocab"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason) as caught:
        Vocab.load(path)
    assert caught.value.path == path


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"query\.vocab"):
        Vocab.load(tmp_path / "query.vocab")
