"""What people call the types and properties of a domain: `synonyms.txt` of its folder, which may be missing.

In: lines `name: phrase, phrase`, the phrase that answers use first; a name is a type, `type.property`, or
`!type.property` for what leads back to it; `#` begins a comment. Out: name -> phrases. A name that the ontology does
not have is a problem: it is most likely a misspelt one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dualparse.domains.schema import Report, Schema
from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error
from dualparse.suggest import nearest

NAME = "synonyms.txt"


def read_phrases(path: Path, schema: Schema, *, report: Report = raise_error) -> Mapping[str, tuple[str, ...]]:
    """The phrases of a folder; none where it has no such file."""
    if not path.is_file():
        return {}
    properties = [f"{owner}.{name}" for owner, name in schema.properties]
    known = {*schema.types, *properties, *(f"!{each}" for each in properties)}
    found: dict[str, tuple[str, ...]] = {}
    for number, line in numbered_lines(path, report=report):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        name, colon, rest = (part.strip() for part in text.partition(":"))
        phrases = tuple(phrase for part in rest.split(",") if (phrase := " ".join(part.split())))
        if not colon or not phrases:
            report(InputError("expected 'name: phrase, phrase'", path=path, line=number))
        elif name not in known:
            report(InputError(f"the ontology has no {name!r}{nearest(name, known)}", path=path, line=number))
        else:
            found[name] = phrases
    return found
