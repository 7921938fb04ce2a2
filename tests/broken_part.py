"""A part of the campaign that breaks in every way there is, for the tests of the campaign."""

from __future__ import annotations

import os
import time
from collections import Counter

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
