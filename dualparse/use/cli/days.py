"""The day that "last month" is seen from."""

from __future__ import annotations

from datetime import date

from dualparse.errors import InputError


def day(text: str) -> date | None:
    """A day as it is typed; None for no text."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InputError(f"--today {text!r}: expected a day such as 2024-03-31") from None
