"""Denotations as people read them."""

from __future__ import annotations

import re

from dualparse.lf.values import unquoted

VALUE = re.compile(r"\((name|number|date|time|boolean|string|text) ([^()]*)\)")


def answer(denotation: str, *, most: int = 12) -> str:
    """A printed denotation in a reader's words.

    >>> answer("(list (name trail.larch_path) (number 7.400 km) (date 1998 -1 -1))")
    'larch path, 7.4 km, 1998'
    """
    values = [_readable(kind, text.split()) for kind, text in VALUE.findall(denotation)]
    shown = ", ".join(values[:most]) + (f", and {len(values) - most} more" if len(values) > most else "")
    return shown or "nothing"


def _readable(kind: str, parts: list[str]) -> str:
    if kind == "name":
        return parts[0].rsplit(".", 1)[-1].replace("_", " ")
    if kind == "number":
        unit = parts[1].rsplit(".", 1)[-1] if len(parts) > 1 else ""
        number = parts[0].rstrip("0").rstrip(".") if "." in parts[0] else parts[0]
        return number if unit in ("", "count") else f"{number} {unit}"
    if kind == "date":
        return "-".join(f"{int(part):02d}" for part in parts if part != "-1")
    if kind == "time":
        return ":".join(f"{int(part):02d}" for part in parts)
    return unquoted(parts)
