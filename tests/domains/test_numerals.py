"""Numbers as words and as digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.numerals import ONES, TEENS, TENS, WORDS, find_numerals, one_word, value


def spelled(number: int) -> list[str]:
    """A number below a million in words, by a way of its own."""
    if number >= 1000:
        return [*spelled(number // 1000), "thousand", *(spelled(number % 1000) if number % 1000 else [])]
    if number >= 100:
        return [ONES[number // 100], "hundred", *(spelled(number % 100) if number % 100 else [])]
    if number >= 20:
        return [TENS[number // 10 - 2], *([ONES[number % 10]] if number % 10 else [])]
    return [(ONES + TEENS)[number]]


@given(st.integers(0, 999_999))
def test_every_number_in_words_is_found(number):
    words = ["about", *spelled(number), "huts"]
    (found,) = find_numerals(words)
    assert (found.value, found.start, found.end) == (number, 1, len(words) - 1)
    assert found.digits == str(number)


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("one two three", ["1", "2", "3"]),
        ("two hundred and five", ["205"]),
        ("two hundred and", ["200"]),
        ("five and six", ["5", "6"]),
        ("nineteen ninety one", ["1991"]),
        ("twenty twenty four", ["2024"]),
        ("nineteen hundred", ["1900"]),
        ("twenty hundred", ["20"]),
        ("two million three thousand four", ["2003004"]),
        ("the first and the twenty third", ["1st", "23rd"]),
        ("one hundred eleventh", ["111th"]),
        ("twelfth", ["12th"]),
        ("hundred", []),
        ("no numbers here", []),
    ],
)
def test_where_a_number_ends(text, digits):
    assert [numeral.digits for numeral in find_numerals(text.split())] == digits


@given(st.lists(st.one_of(st.sampled_from(sorted(WORDS)), st.text(max_size=4)), max_size=12))
def test_numerals_lie_in_order_and_apart(words):
    end = 0
    for numeral in find_numerals(words):
        assert end <= numeral.start < numeral.end <= len(words)
        end = numeral.end


@given(st.text())
def test_no_word_breaks_it(word):
    value(word)
    one_word(word)


def test_digits_and_words_of_one_number_have_one_value():
    for number in range(100):
        word = one_word(str(number))
        assert word is None or value(word) == value(str(number)) == number
    assert one_word("2nd") == "second"
    assert one_word("21") is None
    assert value("9" * 50) is None
