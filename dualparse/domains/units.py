"""Units that can be turned into each other: `( number 7 minute )` against a length in milliseconds.

In: two units. Out: the factor between them, or None.
"""

from __future__ import annotations

_SAME: dict[str, tuple[float, tuple[str, ...]]] = {}  # unit -> size, within what it measures


def _measure(**sizes: float) -> None:
    for unit, size in sizes.items():
        _SAME[unit] = size, tuple(sizes)


_measure(ms=0.001, millisecond=0.001, s=1, second=1, min=60, minute=60, h=3600, hour=3600, day=86_400, week=604_800)
_measure(mm=0.001, cm=0.01, m=1, meter=1, metre=1, km=1000, kilometer=1000, kilometre=1000)
_measure(byte=1, kb=1e3, kilobyte=1e3, mb=1e6, megabyte=1e6, gb=1e9, gigabyte=1e9)
_measure(mg=0.001, g=1, gram=1, kg=1000, kilogram=1000, tonne=1_000_000)
PLAIN = ("", "count", "percent")  # numbers without a unit of their own


def factor(given: str, wanted: str) -> float | None:
    """What a number in one unit is multiplied by to be in another; None where they measure different things.

    >>> factor("minute", "ms"), factor("km", "km"), factor("km", "hour")
    (60000.0, 1.0, None)
    """
    if given == wanted or (given in PLAIN and wanted in PLAIN):
        return 1.0
    size, alike = _SAME.get(given, (1.0, ()))
    if wanted not in alike:
        return None
    ratio = size / _SAME[wanted][0]
    return float(round(ratio)) if ratio >= 1 else 1 / round(1 / ratio)


def clock(amount: float, unit: str) -> str:
    """A time in milliseconds or seconds from a minute on, as people write it; "" for anything else.

    >>> clock(5286953, "millisecond"), clock(61, "second"), clock(3600, "s"), clock(59, "second"), clock(90, "minute")
    ('1 h 28 min 7 s', '1 min 1 s', '1 h', '', '')
    """
    if unit not in ("ms", "millisecond", "s", "second") or abs(amount) * _SAME[unit][0] < 60:
        return ""
    seconds = round(amount * _SAME[unit][0])
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{value} {name}" for value, name in parts if value)
