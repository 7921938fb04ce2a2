"""Which questions somebody should label next: those that are answered least surely, are about the domain, and differ.

In: questions with what they may mean. Out: their numbers, the most useful first. A question that is much like one that
was chosen before it teaches little more, so likeness to those counts against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dualparse.asking.familiar import Familiar, Words
from dualparse.asking.weighing import Weighed

LOOKED_AT = 2_000  # questions that are compared with each other: the least sure ones


def suggest(found: Sequence[Weighed], familiar: Familiar, *, most: int, topic_cut: float = 0.0) -> list[int]:
    """The numbers of the questions whose labels would help most, at most so many. Questions that are taken for
    something else are left out, and those whose answer somebody has confirmed."""
    worth = {
        number: (1 - each.probability) * each.topic
        for number, each in enumerate(found)
        if each.topic >= topic_cut and not each.known
    }
    return apart(worth, [each.reading.words for each in found], familiar, most=most)


def apart(worth: Mapping[int, float], words: Sequence[Words], familiar: Familiar, *, most: int) -> list[int]:
    """The numbers of the questions that are worth most and not much like each other."""
    waiting = sorted(worth, key=lambda number: -worth[number])[:LOOKED_AT]
    patterns = {number: familiar.pattern(words[number]) for number in waiting}
    near = dict.fromkeys(waiting, 0.0)
    chosen: list[int] = []
    while waiting and len(chosen) < most:
        best = max(waiting, key=lambda number: worth[number] * (1 - near[number]))
        chosen.append(best)
        waiting.remove(best)
        for number in waiting:
            near[number] = max(near[number], familiar.likeness(patterns[best], patterns[number]))
    return chosen
