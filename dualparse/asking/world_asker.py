"""Answers about a domain of facts, without any training: its world becomes a database, asked as a connected folder is.

In: a domain with a world and an ontology, such as the one that ships with the package or a folder of one's own. Out: an
asker. The domain's phrases say what people call its types and properties, its lexicon what they call its things.
"""

from __future__ import annotations

from datetime import date as Day
from pathlib import Path
from tempfile import TemporaryDirectory

from dualparse.asking.asker import FolderAsker
from dualparse.database.folder import Connected
from dualparse.database.index import LEXICON
from dualparse.database.location import locate
from dualparse.database.synonyms import Words
from dualparse.database.worlds import write_database
from dualparse.domains.domain import Domain
from dualparse.domains.folder import ONTOLOGY, Description
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.files import write_text


class WorldAsker(FolderAsker):
    """Asks the facts of a domain; they are in a file that is gone when it is closed."""

    def __init__(self, domain: Domain, *, today: Day | None = None):
        assert isinstance(domain.world, World) and isinstance(domain.ontology, Schema)
        self._place = TemporaryDirectory(prefix="dualparse-")
        folder = Path(self._place.name)
        model = write_database(domain.world, folder / "facts.sqlite", domain.ontology)
        write_text(folder / ONTOLOGY, "")
        write_text(folder / LEXICON, "".join(_lines(domain.lexicon)))
        described = Description(domain.name, domain.title, domain.description, domain.questions)
        location = locate(str(folder / "facts.sqlite"))
        super().__init__(Connected(folder, described, location, model, Words(domain.phrases)), today=today)

    def close(self) -> None:
        super().close()
        self._place.cleanup()


def _lines(lexicon: Lexicon) -> list[str]:
    names = sorted((phrase, entity) for entity in lexicon.entities for phrase in lexicon.phrases(entity))
    return [f"{' '.join(phrase)} :- NP : {entity}\n" for phrase, entity in names]


def has_facts(domain: Domain) -> bool:
    """Whether there are facts in the language of one's own domains."""
    return isinstance(domain.world, World) and isinstance(domain.ontology, Schema)
