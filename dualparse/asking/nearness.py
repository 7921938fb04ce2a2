"""How near a question is to what a form says, by the pretrained encoder: a cosine, without torch.

In: a question and sentences, the forms worded for people. Out: a figure for each of them. Names and numbers stay as
they are: both sides have them. The encoder comes with the extra `pretrained`; without it there is no `Nearness`, and
forms are chosen by their other figures alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from threading import Lock

import numpy as np

from dualparse.engines.light.encoder import LightEncoder, open_light_encoder
from dualparse.errors import InputError
from dualparse.networks.minilm import minilm_folder

REMEMBERED = 4096  # sentences whose vectors are kept: 6 MB


class Nearness:
    """Compares sentences, from any number of threads."""

    def __init__(self, encoder: LightEncoder):
        self._encoder = encoder
        self._known: OrderedDict[str, np.ndarray] = OrderedDict()
        self._lock = Lock()

    def cosines(self, question: str, sentences: Sequence[str]) -> list[float]:
        """How near each sentence is to a question, from -1 to 1."""
        first, *others = self._vectors([question, *sentences])
        return [float(other @ first) for other in others]

    def _vectors(self, texts: Sequence[str]) -> list[np.ndarray]:
        texts = [text.lower() for text in texts]
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            self._known.update(zip(new, self._encoder.vectors(new), strict=True))
            found = [self._known[text] for text in texts]
            for text in texts:
                self._known.move_to_end(text)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return found


@cache
def open_nearness() -> Nearness | None:
    """What compares sentences, opened once; None where the extra `pretrained` is not installed or cannot be read."""
    try:
        return Nearness(open_light_encoder(minilm_folder(check=False)))
    except InputError:
        return None
