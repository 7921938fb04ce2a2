"""What the stages of a run share: the domain, its examples as the recipe allows them, vocabularies, word vectors."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import torch

from dualparse.config import ANY_DOMAIN, DataSettings, ModelSettings, Recipe
from dualparse.data.batch import Direction
from dualparse.data.examples import (
    Example,
    Split,
    Splits,
    dev_split,
    labeled_split,
    listed_pairs,
    load_examples,
    read_examples,
)
from dualparse.data.vocab import SPECIAL, Vocab
from dualparse.data.word_vectors import read_vectors
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import glove_path, require
from dualparse.lf.grammar import Limits
from dualparse.networks.network import Network
from dualparse.synthesis.analogy import by_analogy
from dualparse.synthesis.forms import synthesize
from dualparse.synthesis.made import canonical_pairs
from dualparse.synthesis.wording import reworded

MAX_TRIED = 1_000_000  # derivations gone through for the pairs asked for; a recursive grammar may have no end


@dataclass(frozen=True)
class Relative:
    """A domain of the family: its labeled pairs, those its grammar made and those made by analogy, those of dev, and
    all examples its words come from."""

    domain: Domain
    labeled: list[Example]
    canonical: list[Example]
    analogous: list[Example]
    dev: list[Example]
    seen: list[Example]

    def pairs_of(self, direction: Direction) -> list[Example]:
        """The pairs an agent learns from: lf2q learns to speak as people do, where any have spoken."""
        read = self.labeled + self.canonical + self.analogous
        return read if direction == "q2lf" else self.labeled or self.canonical


@dataclass(frozen=True)
class Material:
    """Examples as this run may use them: pairs that people labeled, pairs made from the grammar, pairs made by analogy,
    `queries` and `forms` without label, and the `relatives`: all domains of the family, the own one too, in the order
    of the family, so that the agents of each learn the same. Where everything is learned from, there is no dev."""

    domain: Domain
    labeled: list[Example]
    canonical: list[Example]
    analogous: list[Example]
    queries: list[Example]
    forms: list[Example]
    dev: list[Example]
    query_vocab: Vocab
    lf_vocab: Vocab
    relatives: list[Relative]

    @property
    def others(self) -> list[Relative]:
        """The family without the domain itself."""
        return [relative for relative in self.relatives if relative.domain.name != self.domain.name]

    @property
    def pairs(self) -> list[Example]:
        """Pairs that people labeled or the grammar made."""
        return self.labeled + self.canonical

    def pairs_of(self, direction: Direction) -> list[Example]:
        """The pairs an agent learns from: lf2q learns to speak as people do, where any have spoken."""
        read = self.labeled + self.canonical + self.analogous
        return read if direction == "q2lf" else self.labeled or self.canonical

    @property
    def all_queries(self) -> list[Example]:
        """Queries as people ask them, with or without label; what the grammar says only where there are none."""
        return self.labeled + self.queries or self.canonical

    @property
    def all_forms(self) -> list[Example]:
        """Forms with and without label."""
        return self.pairs + self.forms


def load_material(recipe: Recipe, domain: Domain | None = None) -> Material:
    """The examples a run may use, of a domain or of the one its recipe names. Vocabularies come from all training
    queries and forms, as in the paper, so that runs which differ in the use they make of them have the same ones."""
    domain = domain or open_domain(recipe.domain)
    settings = recipe.data
    if domain.grammar is None and ("dual" in recipe.stages and recipe.game.uses("meaning")):
        raise InputError(
            f"game.rewards: meaning compares queries with the utterances of a grammar, and {domain.name!r} has none"
        )
    splits = load_splits(domain, settings)
    made, dev = canonical_examples(domain, settings), splits.dev
    if settings.everything:
        dev = []
    elif made and not dev:  # nobody has labeled anything: the checkpoint is chosen by how well the grammar is learned
        made, dev = dev_split(made, seed=settings.split_seed)
    train, known = _training(domain, splits, settings)
    for name, examples in (("training", train.labeled + made), ("dev", dev)):
        if not examples and not (name == "dev" and settings.everything):
            makes = domain.grammar is not None or domain.canonical is not None
            hint = ": data.canonical makes some from its grammar" if makes and not made else ""
            raise InputError(f"the domain {domain.name!r} has no {name} pairs{hint}")
    queries = (train.queries + splits.extra_queries + _logged(domain, settings)) if settings.queries else []
    forms = train.forms if settings.forms else []
    relatives = load_relatives(domain, settings)
    own = [] if relatives else known + splits.extra_queries + made
    seen = own + [each for relative in relatives for each in relative.seen]
    lexicons = [domain.lexicon, *(relative.domain.lexicon for relative in relatives)]
    return Material(
        domain,
        train.labeled,
        made,
        _of_the_family(domain, relatives) or analogous_examples(domain, train.labeled, settings),
        queries,
        forms + (splits.extra_forms if settings.synthesized else []),
        dev,
        Vocab.build((example.query for example in seen if example.query), min_count=settings.min_count),
        Vocab.build(
            (example.lf for example in seen if example.lf), always=chain.from_iterable(map(_lexicon_tokens, lexicons))
        ),
        relatives,
    )


def load_splits(domain: Domain, settings: DataSettings) -> Splits:
    """The examples of a domain as a run has them: pairs that keep their label because a file names them are none of
    dev, where dev is drawn from the training pairs."""
    splits = load_examples(domain, dev_seed=settings.split_seed)
    if "dev" in domain.files or not isinstance(settings.labeled, str):
        return splits
    listed = listed_pairs([*splits.train, *splits.dev], _list(domain, settings.labeled))
    numbered = list(enumerate(splits.dev, len(splits.train)))
    moved = [example for number, example in numbered if number in listed]
    left = [example for number, example in numbered if number not in listed]
    return replace(splits, train=[*splits.train, *moved], dev=left)


def _logged(domain: Domain, settings: DataSettings) -> list[Example]:
    """The queries of a file that the recipe names. Their words make no vocabulary: agents that were trained without the
    file can go on with it."""
    if not isinstance(settings.queries, str):
        return []
    found = read_examples(_list(domain, settings.queries))
    return [Example(*domain.reads(each.query, None)) for each in found] if domain.reads else found


def _list(domain: Domain, name: str) -> Path:
    return Path(name.replace(ANY_DOMAIN, domain.name)).expanduser()


def _training(domain: Domain, splits: Splits, settings: DataSettings) -> tuple[Split, list[Example]]:
    """The pairs of a domain that are trained on, some of which lose their label, and all of them as they were. Where
    dev is learned from as well, the same share of it keeps its labels, and the others are those they were."""
    parts = [splits.train, *([splits.dev] if settings.everything else [])]
    seed, unlabeled = settings.split_seed, settings.unlabeled
    if isinstance(settings.labeled, str):
        whole = [pair for pairs in parts for pair in pairs]
        kept = listed_pairs(whole, _list(domain, settings.labeled))
        return labeled_split(whole, kept=kept, seed=seed, unlabeled_ratio=unlabeled), whole
    torn = [labeled_split(p, ratio=settings.labeled, seed=seed, unlabeled_ratio=unlabeled) for p in parts]
    joined = Split(*(sum((getattr(part, side) for part in torn), []) for side in ("labeled", "queries", "forms")))
    return joined, [pair for pairs in parts for pair in pairs]


def _of_the_family(domain: Domain, relatives: list[Relative]) -> list[Example]:
    """What was made by analogy for the domain as one of its own family."""
    return next((relative.analogous for relative in relatives if relative.domain.name == domain.name), [])


def load_relatives(domain: Domain, settings: DataSettings) -> list[Relative]:
    """All of the family. Its pairs keep as large a share of their labels as the domain's own, and as many are made for
    each."""
    family = [open_domain(name) for name in settings.family]
    if family and domain.name not in (other.name for other in family):
        raise InputError(f"data.family: the domain {domain.name!r} is not in its family {list(settings.family)}")
    relatives = []
    for other in family:
        splits = load_splits(other, settings)
        split, known = _training(other, splits, settings)
        made = canonical_examples(other, settings)
        seen = known + splits.extra_queries + made
        analogous = analogous_examples(other, split.labeled, settings)
        relatives.append(Relative(other, split.labeled, made, analogous, splits.dev, seen))
    return relatives


def canonical_examples(domain: Domain, settings: DataSettings) -> list[Example]:
    """Labeled pairs that nobody had to write: forms of the grammar with their canonical utterances, in which entities
    are called by all their names. Fewer than asked for where the grammar has no more."""
    if not settings.canonical:
        return []
    if domain.grammar is None and domain.canonical is None:
        raise InputError(f"data.canonical = {settings.canonical}, but the domain {domain.name!r} has no grammar")
    limits = Limits(tried=MAX_TRIED)
    made = synthesize(domain, {}, n=settings.canonical, seed=settings.split_seed, source="grammar", limits=limits)
    rng = random.Random(f"canonical {settings.split_seed}")
    return [Example(reworded(words, lf, domain.lexicon, rng=rng), lf) for words, lf in canonical_pairs(made)]


def analogous_examples(domain: Domain, labeled: list[Example], settings: DataSettings) -> list[Example]:
    """Pairs made by analogy between labeled ones. Fewer than asked for where there are no more."""
    if not settings.analogies:
        return []
    return by_analogy(labeled, domain.check, n=settings.analogies, seed=settings.split_seed)


def _lexicon_tokens(lexicon: Lexicon) -> set[str]:
    """Entities, and the words lf2q reads in their place."""
    words = (word for entity in lexicon.entities for phrase in lexicon.phrases(entity) for word in phrase)
    return {*lexicon.entities, *words}


def set_word_vectors(model: Network, source: Vocab, target: Vocab, settings: ModelSettings) -> str:
    """Start the embeddings of known words from word vectors; says how many had none."""
    if settings.word_vectors == "none":
        return ""
    path = glove_path() if settings.word_vectors == "glove" else Path(settings.word_vectors)
    if path is None:
        path = require("glove")
    sides = ((source, model.source_embedding), (target, model.target_embedding))
    if any(embedding.embedding_dim != settings.embedding for _, embedding in sides):
        raise InputError(f"word vectors of {settings.embedding} numbers do not fit the embeddings of this network")
    words = [token for vocab in (source, target) for token in vocab.tokens[len(SPECIAL) :]]
    found = read_vectors(path, words, dimension=settings.embedding)
    vectors = dict(zip(found.words, torch.from_numpy(found.vectors), strict=True))
    with torch.no_grad():
        for vocab, embedding in sides:
            for number, token in enumerate(vocab.tokens):
                if token in vectors:
                    embedding.weight[number] = vectors[token]
    return f"{len(found.words)} of {len(set(words))} tokens start from word vectors; {len(found.missing)} have none"
