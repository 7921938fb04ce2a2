"""A matcher and a second reader learn which utterance a question means."""

from __future__ import annotations

import pytest
import torch

from dualparse.matching.learn import ReaderSettings, Settings, learn_to_match, learn_to_read, lesson
from dualparse.matching.matcher import Matcher, Ranked, rank
from dualparse.matching.reader import SecondReader
from dualparse.networks.encoder import open_encoder

UTTERANCES = [
    "hut that has showers",
    "trail whose length is over 10 km",
    "number of trails",
    "highest peak",
    "a b",
    "c",
]
QUESTIONS = ["which huts have showers", "show all long trails", "how many trails are there", "the highest", "d", "e"]
MEANT = [0, 1, 2, 3, 4, 5]
QUICK = Settings(updates=60, batch_size=6, others=3, learning_rate=3e-3)


def matcher_of(folder) -> Matcher:
    torch.manual_seed(0)
    return Matcher(open_encoder(str(folder)))


def right(matcher: Matcher, reader: SecondReader | None = None) -> int:
    ranked = rank(matcher, QUESTIONS, UTTERANCES, reader=reader)
    return sum(int(each.weighed(1.0).numbers[0]) == meant for each, meant in zip(ranked, MEANT, strict=True))


def trained(folder, seed: int = 1) -> tuple[Matcher, list[float]]:
    matcher = matcher_of(folder)
    one = lesson(matcher.encoder, QUESTIONS, UTTERANCES, MEANT)
    settings = Settings(**(vars(QUICK) | {"seed": seed}))
    return matcher, [progress.loss for progress in learn_to_match(matcher, [one], settings)]


def test_a_matcher_learns_what_questions_mean(tiny_encoder):
    matcher, losses = trained(tiny_encoder)
    assert losses[-1] < losses[0] / 2
    assert right(matcher) == len(MEANT) > right(matcher_of(tiny_encoder))


def test_the_same_seed_gives_the_same_matcher(tiny_encoder):
    one, other, third = (trained(tiny_encoder, seed)[1] for seed in (1, 1, 2))
    assert one == other != third


def test_a_second_reader_learns_what_the_matcher_cannot_tell(tiny_encoder):
    matcher = matcher_of(tiny_encoder)
    reader = SecondReader(matcher, 2)
    one = lesson(matcher.encoder, QUESTIONS, UTTERANCES, MEANT)
    settings = ReaderSettings(updates=150, batch_size=6, others=5, learning_rate=3e-3)
    losses = [progress.loss for progress in learn_to_read(reader, matcher, [one], settings)]
    assert losses[-1] < losses[0] / 2
    assert right(matcher, reader) > right(matcher)


def test_candidates_come_best_first_and_a_reader_can_change_their_order(tiny_encoder):
    ranked = Ranked(torch.tensor([7, 8, 9]), torch.tensor([3.0, 2.0, 1.0]), torch.tensor([0.0, 0.0, 4.0]))
    assert ranked.weighed(0.0).numbers.tolist() == [7, 8, 9]
    assert ranked.weighed(1.0).numbers.tolist() == [9, 7, 8]
    found = rank(matcher_of(tiny_encoder), QUESTIONS, UTTERANCES, k=4)
    assert all(each.matcher.tolist() == sorted(each.matcher.tolist(), reverse=True) for each in found)
    assert all(len(each.numbers) == 4 for each in found)


def test_nothing_to_learn_from_is_an_error(tiny_encoder):
    matcher = matcher_of(tiny_encoder)
    with pytest.raises(ValueError, match="no lesson"):
        list(learn_to_match(matcher, [lesson(matcher.encoder, [], UTTERANCES, [])], QUICK))
