"""From a name in a recipe to a network: those that are shipped, and anybody's own as `package.module:Class`.

A network of one's own is a class (or a function) that is called with (source_size, target_size, settings) and gives a
`Network`; a language model with (size, settings), and gives a `TextModel`. docs/networks.md shows one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from torch import nn

from dualparse.config import ModelSettings
from dualparse.errors import InputError
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Seq2Seq
from dualparse.networks.network import Network, TextModel
from dualparse.networks.transformer import Transformer, TransformerLanguageModel
from dualparse.plugins import load_object

Made = TypeVar("Made", bound=nn.Module)


def _lstm(source_size: int, target_size: int, settings: ModelSettings) -> Network:
    return Seq2Seq(
        source_size,
        target_size,
        embedding=settings.embedding,
        hidden=settings.hidden,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        copy=settings.copy_mechanism,
    )


def _transformer(source_size: int, target_size: int, settings: ModelSettings) -> Network:
    return Transformer(
        source_size,
        target_size,
        embedding=settings.embedding,
        hidden=settings.hidden,
        layers=settings.layers,
        heads=settings.heads,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        copy=settings.copy_mechanism,
    )


def _pretrained(source_size: int, target_size: int, settings: ModelSettings) -> Network:
    from dualparse.networks.encoder import open_encoder  # transformers are an extra, and slow to import
    from dualparse.networks.pretrained import Pretrained

    return Pretrained(
        source_size,
        target_size,
        reader=open_encoder(settings.encoder),
        embedding=settings.embedding,
        hidden=settings.hidden,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        copy=settings.copy_mechanism,
    )


def _lstm_texts(size: int, settings: ModelSettings) -> TextModel:
    return LanguageModel(size, embedding=settings.embedding, hidden=settings.hidden, dropout=settings.dropout)


def _transformer_texts(size: int, settings: ModelSettings) -> TextModel:
    return TransformerLanguageModel(
        size,
        embedding=settings.embedding,
        hidden=settings.hidden,
        layers=settings.layers,
        heads=settings.heads,
        dropout=settings.dropout,
    )


NETWORKS: dict[str, Callable[[int, int, ModelSettings], Network]] = {
    "lstm": _lstm,
    "transformer": _transformer,
    "pretrained": _pretrained,
}
TEXT_MODELS: dict[str, Callable[[int, ModelSettings], TextModel]] = {
    "lstm": _lstm_texts,
    "transformer": _transformer_texts,
}


def new_network(name: str, source_size: int, target_size: int, settings: ModelSettings) -> Network:
    """The network of a name, untrained; settings know only names that are here or have the form of one's own."""
    if name in NETWORKS:
        return NETWORKS[name](source_size, target_size, settings)
    network = _own(name, Network, (source_size, target_size, settings))  # type: ignore[type-abstract]
    for side, size in (("source_embedding", source_size), ("target_embedding", target_size)):
        embedding = getattr(network, side, None)
        if not isinstance(embedding, nn.Embedding) or embedding.num_embeddings != size:
            raise InputError(f"network {name!r}: {side} is to be an nn.Embedding of {size} tokens")
    return network


def new_text_model(name: str, size: int, settings: ModelSettings) -> TextModel:
    """The language model of a name, untrained."""
    if name in TEXT_MODELS:
        return TEXT_MODELS[name](size, settings)
    return _own(name, TextModel, (size, settings))  # type: ignore[type-abstract]


def _own(name: str, kind: type[Made], given: tuple[object, ...]) -> Made:
    """What a user's class or function makes; an error where it is no network."""
    make = load_object(name, what="network")
    wanted = f"{kind.__module__}.{kind.__name__}"
    if inspect.isclass(make) and not issubclass(make, kind):
        raise InputError(f"network {name!r} is no subclass of {wanted}")
    if lacking := sorted(getattr(make, "__abstractmethods__", ())):
        raise InputError(f"network {name!r} lacks {', '.join(lacking)}, which every {wanted} has")
    if not callable(make):
        raise InputError(f"network {name!r} is neither a class nor a function")
    try:
        inspect.signature(make).bind(*given)
    except TypeError as error:
        sizes = "(source_size, target_size, settings)" if kind is Network else "(size, settings)"
        raise InputError(f"network {name!r} cannot be called with {sizes}: {error}") from None
    made = make(*given)
    if not isinstance(made, kind):
        raise InputError(f"network {name!r} gives a {type(made).__name__}, which is no {wanted}")
    return made
