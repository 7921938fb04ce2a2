"""A reward of one's own: rank the readings of a question by what they are worth to you.

Rewards are plain functions, lists in and floats out (`dualparse.game.rewards`). Here a form is worth something if it runs,
if the second agent finds the way back to the question, and if it has an answer at all.

    python examples/custom_reward.py RUN ["question"]
"""

import random
import sys

import dualparse
from dualparse.engines.scoring import reconstruction
from dualparse.game.rewards import check_validity, mix


def answers_something(answers: list[str | None]) -> list[float]:
    """1 for an answer that is not the empty list."""
    return [float(answer not in (None, "(list)")) for answer in answers]


run, question = [*sys.argv[1:], "which boats are at north pier"][:2]
parser = dualparse.load(run)
words, parses = parser.read(question).words, parser.parse(question, k=5)
forms = [parse.form for parse in parses]

rewards = [
    check_validity(parser.domain.check, forms),
    reconstruction(
        parser.lf2q, [form.split() for form in forms], [words] * len(forms), random.Random(0), per_token=True
    ),
    answers_something([parse.answer for parse in parses]),
]
worth = mix(rewards, weights=[1.0, 0.5, 0.5])
for value, form in sorted(zip(worth, forms, strict=True), reverse=True):
    print(f"{value:6.2f}  {form}")
