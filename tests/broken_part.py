"""A part of the campaign that breaks in every way there is, for the tests of the campaign."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

from benchmarks.campaign.part import Part, promise


class Breaking(Part):
    about = "breaks"
    unit = "cases"
    cases = 20
    share = 1.0
    patience = 1.0

    def case(self, number: int) -> Counter[str]:
        self.input = f"input {number}"
        self.most("largest", number)
        promise(number != 3, "three")
        if number == 5:
            os._exit(7)
        if number == 7:
            time.sleep(60)
        return Counter(good=2)


class NeverReady(Breaking):
    def prepare(self) -> None:
        raise RuntimeError("not here")


class NeverDone(Breaking):
    def prepare(self) -> None:
        time.sleep(60)


class Copying(Breaking):
    """Torch with its threads first, then in a copy of the process."""

    forks = True
    patience = 20.0

    def prepare(self) -> None:
        _multiply()

    def case(self, number: int) -> Counter[str]:
        from benchmarks.campaign.kills import in_child

        in_child(_multiply)
        return Counter(good=1)


class Waiting(Breaking):
    """For a copy that has no end."""

    forks = True
    patience = 10.0

    def case(self, number: int) -> Counter[str]:
        from benchmarks.campaign.kills import in_child

        in_child(self._stay)
        return Counter(good=1)

    def _stay(self) -> str:
        (Path(os.environ["COPY_TOLD_IN"])).write_text(str(os.getpid()))
        time.sleep(60)
        return ""


def _multiply() -> str:
    import torch

    return str(float((torch.ones(300, 300) @ torch.ones(300, 300)).sum()))


class Few(Breaking):
    """Three cases, each longer than the part's share of the time."""

    numbers = 3

    def case(self, number: int) -> Counter[str]:
        time.sleep(0.2)
        return Counter({str(number): 1})
