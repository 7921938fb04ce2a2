"""Questions written by hand over four schemas that are in no training: how an adapter is judged while it is made.

= utterance           a candidate
question              questions that mean the utterance above them
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dualparse.networks.encoder import Encoder

FOLDER = Path(__file__).parent / "heldout"


@dataclass(frozen=True)
class Heldout:
    """One schema: its utterances, its questions, and which utterance each question means."""

    name: str
    utterances: tuple[str, ...]
    questions: tuple[str, ...]
    meant: tuple[int, ...]


def read_heldout() -> list[Heldout]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        utterances: list[str] = []
        pairs: list[tuple[str, int]] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("= "):
                utterances.append(line[2:])
            elif line.strip() and not line.startswith("#"):
                pairs.append((line.strip(), len(utterances) - 1))
        questions, meant = zip(*pairs, strict=True)
        found.append(Heldout(path.stem, tuple(utterances), questions, meant))
    return found


def accuracy(encoder: Encoder, heldout: list[Heldout]) -> dict[str, float]:
    """Per cent of the questions nearest to the right utterance, by schema."""
    scores = {}
    for one in heldout:
        best = (encoder.vectors(one.questions).float() @ encoder.vectors(one.utterances).float().T).argmax(1).tolist()
        right = sum(found == meant for found, meant in zip(best, one.meant, strict=True))
        scores[one.name] = round(100 * right / len(one.questions), 1)
    return scores
