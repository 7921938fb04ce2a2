"""Teacher forcing on a CPU without padding: tokens of all rows lie one after the other, and what begins alike is worked
out once (`forest`).

The same numbers as `Seq2Seq.log_probs`, up to rounding and to what dropout draws. Hypotheses of one source have the
same draws where they begin alike or, where they are read, end alike: both directions of the encoder read what was drawn
for a token once. With dropout nothing else is merged: examples that happen to begin alike keep draws of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from dualparse.data.batch import Batch
from dualparse.data.vocab import PAD, UNK
from dualparse.engines.numba.dropping import Rule, draw, drop, noisy
from dualparse.engines.numba.forest import forest_lstm, grow, input_gates, joined
from dualparse.networks.attention import CLOSED, additive_scores, powers_of, small
from dualparse.networks.dropout import Dropout
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Memory, Seq2Seq

LINE = 16  # numbers of a cache line


@dataclass(frozen=True)
class Sources:
    """What the encoder leaves for the decoder, of B sources with M tokens.

    states [M, 2n]   keys [M, n]   begin, length [B] where each source begins and how long it is
    hidden, cell [B, n] the decoder's start
    """

    states: Tensor
    keys: Tensor
    begin: np.ndarray
    length: np.ndarray
    hidden: Tensor
    cell: Tensor

    @property
    def longest(self) -> int:
        return max(int(self.length.max(initial=1)), 1)

    def positions(self, owner: Tensor) -> tuple[Tensor, Tensor]:
        """[N, S] the tokens of the sources named, and which of them are real."""
        begin, length = (torch.from_numpy(array)[owner].unsqueeze(1) for array in (self.begin, self.length))
        place = torch.arange(self.longest)
        real = place < length
        return torch.where(real, begin + place, 0), real


def packed_log_probs(model: Seq2Seq, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
    """`plain.score(model, batch, ...)`, [B]."""
    many = shared * times
    owner = np.concatenate([np.arange(many) // times, np.arange(shared, shared + len(batch.targets) - many)])
    kin = np.zeros(len(batch.source), dtype=np.int64)
    if _noisy(model):
        kin = _of_one_target(batch.targets.numpy()[many:], shared)
    return _decode(model, _encode(model, batch.source, kin), owner, batch)


def packed_memory(model: Seq2Seq, source: Tensor, copy: Tensor) -> Memory:
    """`model.encode(source, copy)`, with nothing at padding."""
    rows, mask = len(source), source != PAD
    read = _encode(model, source, np.arange(rows) if _noisy(model) else np.zeros(rows, dtype=np.int64))
    states, keys = (each.new_zeros(*mask.shape, each.shape[1]) for each in (read.states, read.keys))
    states[mask], keys[mask] = read.states, read.keys
    return Memory(states, keys, mask, copy, read.hidden, read.cell)


def _noisy(model: Seq2Seq) -> bool:
    """Whether anything is dropped."""
    return model.training and (model.dropout.p > 0 or model.word_dropout > 0)


def _of_one_target(targets: np.ndarray, alone: int) -> np.ndarray:
    """[alone + B] numbers, the same for neighbours that have the same target; some rows before them are alone."""
    new = np.ones(alone + len(targets), dtype=np.int64)
    new[alone + 1 :] = (targets[1:] != targets[:-1]).any(1)
    return new.cumsum()


def _encode(model: Seq2Seq, source: Tensor, kin: np.ndarray) -> Sources:
    real = source != PAD
    tokens, length = source.numpy(), real.sum(-1).numpy()
    begin, start = length.cumsum() - length, np.zeros_like(length)
    forth, back = (grow(rows, length, start, 1, kin) for rows in (tokens, _turned(tokens, length)))
    turn = np.repeat(2 * begin + length - 1, length) - np.arange(length.sum())  # a token -> its place backwards
    words, lstm = source[real], model.encoder
    if _noisy(model):
        group, first = joined(forth.place, back.place[turn])
        words = _take(words, first)
        embedded = drop(model.dropout, model.source_embedding(model.misread(words, words != PAD)))
        gates = (
            input_gates(lstm, _take(embedded, group[forth.first])),
            input_gates(lstm, _take(embedded, group[turn[back.first]]), backward=True),
        )
    else:
        gates = (
            _gates_of(lstm, model.source_embedding, _take(words, forth.first)),
            _gates_of(lstm, model.source_embedding, _take(words, turn[back.first]), backward=True),
        )
    nothing = (gates[0].new_zeros(1, lstm.hidden_size),) * 2
    ahead, *_ = forest_lstm(lstm, gates[0], nothing, forth)
    behind, *last = forest_lstm(lstm, gates[1], nothing, back, backward=True)
    states = torch.cat([_take(ahead, forth.place - 1), _take(behind, back.place[turn] - 1)], dim=-1)
    return Sources(states, model.attention_keys(states), begin, length, *last)


def _gates_of(lstm: nn.LSTM, embedding: nn.Embedding, words: Tensor, *, backward: bool = False) -> Tensor:
    """`input_gates` of words [N] of which nothing is dropped; where these are many, those of the vocabulary serve."""
    if torch.is_grad_enabled() or len(words) < embedding.num_embeddings:
        return input_gates(lstm, embedding(words), backward=backward)
    return input_gates(lstm, embedding.weight, backward=backward).index_select(0, words)


def _decode(model: Seq2Seq, sources: Sources, owner: np.ndarray, batch: Batch) -> Tensor:
    written = batch.targets != PAD
    lengths = written.sum(-1).numpy()
    inputs, targets = batch.inputs.numpy(), batch.targets[written]
    forest = grow(inputs, lengths, owner, len(sources.length), owner)
    row = np.repeat(np.arange(len(lengths)), lengths)
    node = torch.from_numpy(forest.place - forest.starts)  # of each target: what was read before it
    words = _take(batch.inputs[written], forest.first)
    embedded = drop(model.dropout, model.target_embedding(words))
    if _noisy(model):
        gates = input_gates(model.decoder, embedded)
    else:
        gates = _gates_of(model.decoder, model.target_embedding, words)
    hidden, *_ = forest_lstm(model.decoder, gates, (sources.hidden, sources.cell), forest)
    log_attention, features = _attend(model, sources, hidden, owner[row[forest.first]])
    known = targets < model.target_size
    named = torch.where(known, targets, UNK)
    if model.gate is None:
        generated = _picked(_logits(model.generate, drop(model.dropout, features)), node, named)
    else:
        of_features, of_token = model.gate.weight[0].split([features.shape[1], embedded.shape[1]])
        dropped, weighed = _drop_and_weigh(model.dropout, features, of_features)
        generated = _picked(_logits(model.generate, dropped), node, named)
        balance = (weighed + embedded @ of_token + model.gate.bias).index_select(0, node)
        copies = batch.copy[torch.from_numpy(owner[row]), : sources.longest] == targets.unsqueeze(1)
        copied = torch.where(copies, log_attention.index_select(0, node), CLOSED).logsumexp(-1)
        generated = F.logsigmoid(balance) + generated.masked_fill(~known, CLOSED)
        generated = torch.logaddexp(generated, F.logsigmoid(-balance) + copied)
    return _sums(generated, row, len(lengths))


def packed_text_log_probs(model: LanguageModel, inputs: Tensor, targets: Tensor) -> Tensor:
    """log P of each text, [B]."""
    written = targets != PAD
    lengths = written.sum(-1).numpy()
    start = np.zeros_like(lengths)
    alike = np.arange(len(lengths)) if noisy(model.dropout) else start
    forest = grow(inputs.numpy(), lengths, start, 1, alike)
    words = _take(inputs[written], forest.first)
    if noisy(model.dropout):
        gates = input_gates(model.lstm, drop(model.dropout, model.embedding(words)))
    else:
        gates = _gates_of(model.lstm, model.embedding, words)
    nothing = (gates.new_zeros(1, model.lstm.hidden_size),) * 2
    hidden, *_ = forest_lstm(model.lstm, gates, nothing, forest)
    logits = _logits(model.predict, drop(model.dropout, hidden))
    row = np.repeat(np.arange(len(lengths)), lengths)
    return _sums(_picked(logits, torch.from_numpy(forest.place - 1), targets[written]), row, len(lengths))


def _logits(layer: nn.Linear, features: Tensor) -> Tensor:
    """What an output layer says, with room behind it for tokens that are none and have no probability: matrix products
    are quicker where every line begins with a cache line."""
    room = -len(layer.bias) % LINE
    return F.linear(features, F.pad(layer.weight, (0, 0, 0, room)), F.pad(layer.bias, (0, room), value=CLOSED))


def _picked(logits: Tensor, node: Tensor, targets: Tensor) -> Tensor:
    """Logits [N, V] of nodes -> log-probabilities [P] of targets, each after a node."""
    return _Picked.apply(logits, node.numpy(), targets.numpy())


class _Picked(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, node: np.ndarray, targets: np.ndarray) -> Tensor:
        from dualparse.engines.numba.layer_kernels import pick

        log_sums, picked = logits.new_empty(len(logits)), logits.new_empty(len(node))
        pick(logits.numpy(), node, targets, log_sums.numpy(), picked.numpy())
        ctx.save_for_backward(logits, log_sums)
        ctx.where = node, targets
        return picked

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_picked: Tensor) -> tuple[Tensor, None, None]:
        from dualparse.engines.numba.layer_kernels import pick_back

        logits, log_sums = ctx.saved_tensors
        to_logits, together = torch.empty_like(logits), torch.zeros_like(log_sums)
        (given,), (node, targets) = _arrays(to_picked), ctx.where
        pick_back(logits.numpy(), node, targets, log_sums.numpy(), given, together.numpy(), to_logits.numpy())
        return to_logits, None, None


def _drop_and_weigh(dropout: Dropout, values: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """`dropout(values)` and `values @ weight`, in one go."""
    if not noisy(dropout):
        return values, values @ weight
    return _DropAndWeigh.apply(values, weight, draw(dropout))


class _DropAndWeigh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, rule: Rule) -> tuple[Tensor, Tensor]:
        from dualparse.engines.numba.layer_kernels import drop_and_weigh

        kept, sums = torch.empty_like(values), values.new_empty(len(values))
        source, weights = _arrays(values, weight)
        drop_and_weigh(source, weights, kept.numpy(), sums.numpy(), *rule)
        ctx.save_for_backward(values, weight)
        ctx.rule = rule
        return kept, sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_kept: Tensor, to_sums: Tensor) -> tuple[Tensor, Tensor, None]:
        from dualparse.engines.numba.layer_kernels import drop_and_weigh_back

        values, weight = ctx.saved_tensors
        to_values = torch.empty_like(values)
        given = _arrays(to_kept, to_sums, weight, to_values)
        drop_and_weigh_back(*given, *ctx.rule)
        return to_values, to_sums @ values, None


def _sums(log_probs: Tensor, row: np.ndarray, rows: int) -> Tensor:
    """[P] -> [rows]."""
    return log_probs.new_zeros(rows).index_add(0, torch.from_numpy(row), log_probs)


def _attend(model: Seq2Seq, sources: Sources, hidden: Tensor, owner: np.ndarray) -> tuple[Tensor, Tensor]:
    """[N, n] decoder states, and whose source each looks at -> log attention weights [N, S], and features [N, 3n]: the
    states again and what they look at."""
    query, vector = model.attention_query(hidden), model.attention_score.weight[0]
    if small(sources.keys) and small(query):
        return _Attention.apply(sources.keys, sources.states, hidden, query, vector, owner, sources)
    position, real = sources.positions(torch.from_numpy(owner))
    scores = additive_scores(sources.keys[position], query.unsqueeze(1), vector).squeeze(1)
    log_weights = scores.masked_fill(~real, CLOSED).log_softmax(-1)
    context = (log_weights.exp().unsqueeze(1) @ sources.states[position]).squeeze(1)
    return log_weights, torch.cat([hidden, context], dim=-1)


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        keys: Tensor,
        states: Tensor,
        hidden: Tensor,
        query: Tensor,
        vector: Tensor,
        owner: np.ndarray,
        sources: Sources,
    ) -> tuple[Tensor, Tensor]:
        from dualparse.engines.numba.attention_kernels import attend

        powers = powers_of(keys), powers_of(query)
        log_weights = keys.new_full((len(query), sources.longest), CLOSED)
        features = states.new_empty(len(query), hidden.shape[1] + states.shape[1])
        ctx.where = (owner, sources.begin, sources.length)
        ctx.save_for_backward(powers[0], states, powers[1], vector, log_weights)
        attend(*_arrays(powers[0], states, hidden, powers[1], vector), *ctx.where, *_arrays(log_weights, features))
        return log_weights, features

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_weights: Tensor, to_features: Tensor) -> tuple[Tensor | None, ...]:
        from dualparse.engines.numba.attention_kernels import attend_back

        keys, states, query, vector, log_weights = ctx.saved_tensors
        given = _arrays(log_weights, to_weights.clone(), to_features)
        made = [torch.zeros_like(tensor) for tensor in (keys, states, query, vector)]
        attend_back(*_arrays(keys, states, query), *ctx.where, *given, *_arrays(*made))
        to_keys, to_states, to_query, to_vector = made
        to_hidden = to_features[:, : len(vector)]
        return to_keys.mul_(4 * vector), to_states, to_hidden, to_query.mul_(4 * vector), to_vector, None, None


def _arrays(*tensors: Tensor) -> tuple[np.ndarray, ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


def _take(rows: Tensor, index: np.ndarray) -> Tensor:
    return rows.index_select(0, torch.from_numpy(index))


def _turned(tokens: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Every row backwards, padding still behind its end."""
    place = np.arange(tokens.shape[1])
    return np.take_along_axis(tokens, np.where(place < length[:, None], length[:, None] - 1 - place, place), 1)
