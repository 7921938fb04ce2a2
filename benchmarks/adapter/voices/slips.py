"""What happens to questions on the way: a question mark, a word before it, a slip of the keyboard."""

from __future__ import annotations

import random

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def spoilt(text: str, rng: random.Random) -> str:
    """Now and then a question mark, a word before it, a slip of the keyboard."""
    roll = rng.random()
    if roll < 0.12:
        text += rng.choice((" ?", "?", " please", " pls", "."))
    elif roll < 0.17:
        text = rng.choice(("hi, ", "ok so ", "please ", "well, ", "and ")) + text
    if rng.random() < 0.06:
        words = text.split()
        places = [i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()]
        if places:
            place = rng.choice(places)
            words[place] = _slip(words[place], rng)
            text = " ".join(words)
    return text


def _slip(word: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    return rng.choice((
        word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :], word[:at] + rng.choice(LETTERS) + word[at + 1 :],
    ))  # fmt: skip
