"""Canonical utterances made more like what people say.

In: the words of an utterance, its form, a lexicon, a generator. Out: other words for the same form. A grammar calls an
entity by one name and wastes no word; people use all names, and many words that the grammar has never heard of.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from dualparse.domains.lexicon import Lexicon


def reworded(words: Sequence[str], form: Sequence[str], lexicon: Lexicon, *, rng: random.Random) -> tuple[str, ...]:
    """The utterance with each entity of its form called by any of its phrases.

    >>> lexicon = Lexicon([(("larch", "path"), "trail.larch"), (("the", "larch"), "trail.larch")])
    >>> reworded("length of larch path".split(), "( get trail.larch length )".split(), lexicon, rng=random.Random(5))
    ('length', 'of', 'the', 'larch')
    """
    said = list(words)
    for mention in reversed(lexicon.match(words)):  # from the end, so that earlier positions stay what they are
        if mention.entity in form:
            # A phrase that is listed for another entity first would be read as that one.
            phrases = [p for p in lexicon.phrases(mention.entity) if set(lexicon.map_words(p)) == {mention.entity}]
            said[mention.start : mention.end] = rng.choice(phrases)
    return tuple(said)
