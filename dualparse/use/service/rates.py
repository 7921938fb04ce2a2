"""How many requests a client may make: a bucket of tokens for each, which fills up again at an even rate.

In: a client's address and the time. Out: 0, or the seconds until its next request. The register is bounded: whoever has
not been heard of for longest is forgotten, and then has a full bucket.
"""

from __future__ import annotations

from collections import OrderedDict

MOST_CLIENTS = 10_000


class Rates:
    """`per_minute` requests on average, and as many at once; 0 is no limit."""

    def __init__(self, per_minute: int):
        self.per_minute = per_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> tokens, when

    def wait(self, client: str, now: float) -> float:
        """Take a token of this client: 0, or the seconds until there is one."""
        if not self.per_minute:
            return 0.0
        left, then = self._left.pop(client, (float(self.per_minute), now))
        left = min(left + (now - then) * self.per_minute / 60, float(self.per_minute))
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) * 60 / self.per_minute
