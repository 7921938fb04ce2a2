"""What is printed. Names and texts of strangers (paths, cells, questions, values of a database) are only ever shown: a
character that a terminal would obey, or that would turn the order of letters round, is spelt out, as JSON does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The same text with nothing in it that a terminal obeys, but for tabs and ends of lines.

    >>> visible("a\x1b[31m\tb")
    'a\\u001b[31m\tb'
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A console whose own colours are the only ones."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def say(text: object) -> None:
    """Print a line as it is."""
    print(visible(str(text)), flush=True)
