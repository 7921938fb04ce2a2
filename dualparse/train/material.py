"""What the stages of a run share: the domain, its examples as the recipe allows them, vocabularies, word vectors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from dualparse.config import ModelSettings, Recipe
from dualparse.data.benchmarks import glove_path, require
from dualparse.data.catalog import open_domain
from dualparse.data.examples import Example, labeled_split, load_examples
from dualparse.data.glove import read_vectors
from dualparse.data.vocab import SPECIAL, Vocab
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.models.seq2seq import Seq2Seq


@dataclass(frozen=True)
class Material:
    """Examples as this run may use them. `queries` and `forms` are what it has without label."""

    domain: Domain
    labeled: list[Example]
    queries: list[Example]
    forms: list[Example]
    dev: list[Example]
    query_vocab: Vocab
    lf_vocab: Vocab


def load_material(recipe: Recipe) -> Material:
    """The examples a run may use. Vocabularies come from the whole training file, as in the paper."""
    domain = open_domain(recipe.domain)
    settings = recipe.data
    splits = load_examples(domain, dev_seed=settings.split_seed)
    for name, examples in (("training", splits.train), ("dev", splits.dev)):
        if not examples:
            raise InputError(f"the domain {domain.name!r} has no {name} pairs")
    train = labeled_split(
        splits.train, ratio=settings.labeled, seed=settings.split_seed, unlabeled_ratio=settings.unlabeled
    )
    phrases = [phrase for entity in sorted(domain.lexicon.entities) for phrase in domain.lexicon.phrases(entity)]
    words = {word for phrase in phrases for word in phrase}
    queries = [example.query for example in splits.train if example.query]
    forms = [example.lf for example in splits.train if example.lf]
    query_vocab = Vocab.build(queries, min_count=settings.min_count)
    lf_vocab = Vocab.build(forms, always=domain.lexicon.entities | words)
    return Material(
        domain,
        train.labeled,
        (train.queries + splits.extra_queries) if settings.queries else [],
        (train.forms if settings.forms else []) + (splits.extra_forms if settings.synthesized else []),
        splits.dev,
        query_vocab,
        lf_vocab,
    )


def set_word_vectors(model: Seq2Seq, source: Vocab, target: Vocab, settings: ModelSettings) -> str:
    """Start the embeddings of known words from word vectors; says how many had none."""
    if settings.word_vectors == "none":
        return ""
    path = glove_path() if settings.word_vectors == "glove" else Path(settings.word_vectors)
    if path is None:
        path = require("glove")
    words = [token for vocab in (source, target) for token in vocab.tokens[len(SPECIAL) :]]
    found = read_vectors(path, words, dimension=settings.embedding)
    vectors = dict(zip(found.words, torch.from_numpy(found.vectors), strict=True))
    with torch.no_grad():
        for vocab, embedding in ((source, model.source_embedding), (target, model.target_embedding)):
            for number, token in enumerate(vocab.tokens):
                if token in vectors:
                    embedding.weight[number] = vectors[token]
    return f"{len(found.words)} of {len(set(words))} tokens start from word vectors; {len(found.missing)} have none"
