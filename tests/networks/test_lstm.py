"""The network against the paper's equations, written out again here step by step and row by row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import random_sources, tiny_model

from dualparse.data.batch import Batch, pad
from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.plain import score
from dualparse.networks.dropout import Dropout
from dualparse.networks.lstm import Seq2Seq
from dualparse.networks.network import quiet
from dualparse.training.step import Adam, Stepper

V = 8  # target vocabulary of the tiny models


def make_batch(seed: int, rows: int = 3, longest: int = 6) -> Batch:
    """Random sources with targets that are generated, copied, or both."""
    sources, copies = random_sources(seed, rows, target_size=V, longest=longest)
    rng = np.random.default_rng(seed)
    targets = [[int(rng.choice([*range(4, V), *copy])) for _ in range(rng.integers(0, 5))] for copy in copies]
    inputs = [[BOS, *(n if n < V else UNK for n in row)] for row in targets]
    arrays = (pad(sources), pad(copies), pad(inputs), pad([[*row, EOS] for row in targets]))
    return Batch(*map(torch.from_numpy, arrays))


def row_of(batch: Batch, i: int) -> Batch:
    """One row without any padding."""
    source = int((batch.source[i] != PAD).sum())
    target = int((batch.targets[i] != PAD).sum())
    return batch.take(slice(i, i + 1), source, target)


def teacher_forced(model: Seq2Seq, batch: Batch) -> torch.Tensor:
    return model.log_probs(model.encode(batch.source, batch.copy), batch.inputs, batch.targets)


@pytest.mark.parametrize("copy", [True, False])
def test_a_quiet_twin_drops_nothing_while_the_other_learns(copy):
    model = tiny_model(seed=5, copy=copy).train()
    model.dropout, model.word_dropout = Dropout(0.5), 0.5
    twin, batch = quiet(model), make_batch(5)
    with torch.no_grad():
        model.generate.bias.add_(1.0)  # after the twin was made
        found = score(twin, batch)
        assert model.training and model.dropout.training and not twin.training
        assert not torch.equal(found, score(model, batch))
        torch.testing.assert_close(found, score(model.eval(), batch))
    assert [id(p) for p in twin.parameters()] == [id(p) for p in model.parameters()]


# The equations again, on single numpy vectors.


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, hidden, cell, w_x, w_h, b):
    i, f, g, o = np.split(w_x @ x + w_h @ hidden + b, 4)
    cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(cell), cell


def reference(model: Seq2Seq, source, copy, target) -> list[np.ndarray]:
    """P(. | y_<t, x) over the vocabulary and the copied numbers, for every t (Eqs. 1-8)."""
    p = {name: value.detach().numpy() for name, value in model.named_parameters()}
    n = model.decoder.hidden_size

    def weights(which, suffix):
        w_x = p[f"{which}.weight_ih_l0{suffix}"]
        if which == "encoder":
            w_x = w_x[:, :-1]  # the marker of padding, which a sentence does not have
        return (
            w_x,
            p[f"{which}.weight_hh_l0{suffix}"],
            p[f"{which}.bias_ih_l0{suffix}"] + p[f"{which}.bias_hh_l0{suffix}"],
        )

    def run(words, suffix):
        hidden, cell, states = np.zeros(n), np.zeros(n), []
        for word in words:
            hidden, cell = lstm_step(p["source_embedding.weight"][word], hidden, cell, *weights("encoder", suffix))
            states.append((hidden, cell))
        return states

    forward, backward = run(source, ""), run(source[::-1], "_reverse")[::-1]
    h = [np.concatenate([f[0], b[0]]) for f, b in zip(forward, backward, strict=True)]
    s, cell = backward[0]
    distributions = []
    for previous in [BOS, *target]:
        phi = p["target_embedding.weight"][previous if previous < V else UNK]
        s, cell = lstm_step(phi, s, cell, *weights("decoder", ""))
        u = [
            p["attention_score.weight"][0]
            @ np.tanh(p["attention_keys.weight"] @ h_i + p["attention_query.weight"] @ s + p["attention_keys.bias"])
            for h_i in h
        ]
        a = np.exp(u) / np.exp(u).sum()
        c = sum(a_i * h_i for a_i, h_i in zip(a, h, strict=True))
        logits = p["generate.weight"] @ np.concatenate([s, c]) + p["generate.bias"]
        full = np.zeros(V + len(source))
        full[:V] = np.exp(logits) / np.exp(logits).sum()
        if model.copy:
            g = sigmoid(p["gate.weight"][0] @ np.concatenate([s, c, phi]) + p["gate.bias"][0])
            full *= g
            for number, a_i in zip(copy, a, strict=True):
                full[number] += (1 - g) * a_i
        distributions.append(full)
    return distributions


def unpadded(batch: Batch, i: int):
    row = row_of(batch, i)
    return row.source[0].tolist(), row.copy[0].tolist(), row.targets[0, :-1].tolist()


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_teacher_forcing_follows_the_equations(copy, seed):
    model, batch = tiny_model(seed=seed, copy=copy), make_batch(seed)
    found = teacher_forced(model, batch)
    for i in range(len(batch.source)):
        source, copied, target = unpadded(batch, i)
        expected = [
            np.log(full[n if copy or n < V else UNK])
            for full, n in zip(reference(model, source, copied, target), [*target, EOS], strict=True)
        ]
        np.testing.assert_allclose(found[i, : len(expected)].detach().numpy(), expected, rtol=1e-9)
        assert not found[i, len(expected) :].any(), "0 at padding"


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_every_step_follows_the_equations(copy, seed):
    model, batch = tiny_model(seed=seed, copy=copy), make_batch(seed)
    memory = model.encode(batch.source, batch.copy)
    state = model.begin(memory, 2)
    every = [reference(model, *unpadded(batch, i)) for i in range(len(batch.source))]
    for t in range(batch.inputs.shape[1]):
        probabilities, state = model.step(
            memory, state, batch.targets[:, t - 1 : t].repeat(1, 2) if t else torch.full((3, 2), BOS)
        )
        for i, distributions in enumerate(every):
            if t < len(distributions):
                wide = V + len(unpadded(batch, i)[0]) if copy else V
                for k in range(2):
                    found = probabilities[i, k].detach().numpy()
                    np.testing.assert_allclose(found[:wide], distributions[t][:wide], rtol=1e-9, atol=1e-15)
                    assert not found[wide:].any()


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_mixture_sums_to_one(copy, seed):
    """Over all tokens there are, asked one by one through teacher forcing; repeated copies and padding included."""
    model, batch = tiny_model(seed=seed, copy=copy), make_batch(seed, rows=4)
    memory = model.encode(batch.source, batch.copy)
    width = V + batch.source.shape[1] if copy else V
    total = torch.zeros(batch.inputs.shape, dtype=torch.float64)
    for token in range(1, width):  # PAD is asked for through `step` below: as a target it means "no target"
        total += model.log_probs(memory, batch.inputs, torch.full_like(batch.inputs, token)).exp()
    probabilities, _ = model.step(memory, model.begin(memory, 1), torch.full((4, 1), BOS))
    assert probabilities.shape[-1] == width
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(4, 1, dtype=torch.float64))
    torch.testing.assert_close(total[:, 0] + probabilities[:, 0, PAD], torch.ones(4, dtype=torch.float64))


def test_repeated_copy_tokens_add_up():
    """The gate shut: a token gets exactly the attention of all its positions, and tokens not in the source nothing."""
    model = tiny_model()
    with torch.no_grad():
        model.gate.weight.zero_()
        model.gate.bias.fill_(-50.0)
    source, copy = torch.tensor([[4, 5, 6, 0]]), torch.tensor([[V, 5, V, 0]])
    memory = model.encode(source, copy)
    attention = model.look(memory, torch.tensor([[BOS]]), torch.tensor([[V]])).attention[0, 0]
    probabilities = model.step(memory, model.begin(memory, 1), torch.tensor([[BOS]]))[0][0, 0]
    torch.testing.assert_close(probabilities[V], attention[0] + attention[2])
    torch.testing.assert_close(probabilities[5], attention[1])
    assert float(probabilities.detach()[[0, 1, 2, 3, 4, 6, 7]].sum()) < 1e-20


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_teacher_forcing_is_the_steps_one_by_one(copy, seed):
    model, batch = tiny_model(seed=seed, copy=copy), make_batch(seed, rows=4)
    memory = model.encode(batch.source, batch.copy)
    together, state = model.log_probs(memory, batch.inputs, batch.targets), model.begin(memory, 1)
    for t in range(batch.inputs.shape[1]):
        # Search feeds back what it found, extended numbers included.
        read = batch.targets[:, t - 1 : t] if t else torch.full((4, 1), BOS)
        probabilities, state = model.step(memory, state, read)
        wanted = batch.targets[:, t]
        if not copy:
            wanted = torch.where(wanted < V, wanted, UNK)
        single = probabilities[:, 0].gather(1, wanted[:, None])[:, 0].log().masked_fill(wanted == PAD, 0.0)
        torch.testing.assert_close(together[:, t], single)


def test_the_probability_of_a_row_is_that_of_its_steps():
    model, batch = tiny_model(), make_batch(5)
    torch.testing.assert_close(score(model, batch), teacher_forced(model, batch).sum(-1))


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_padding_changes_nothing(copy, seed):
    """Values, the decoder's start, and gradients of a padded batch are those of its rows alone."""
    model, batch = tiny_model(seed=seed, copy=copy), make_batch(seed, rows=4)
    wider = Batch(
        *(torch.nn.functional.pad(t, (0, 3)) for t in (batch.source, batch.copy, batch.inputs, batch.targets))
    )
    together, alone = [], {name: torch.zeros_like(p) for name, p in model.named_parameters()}
    for part in (batch, wider):
        model.zero_grad()
        together.append(score(model, part))
        together[-1].sum().backward()
        together.append({name: p.grad.clone() for name, p in model.named_parameters()})
    memory = model.encode(wider.source, wider.copy)
    for i in range(4):
        model.zero_grad()
        row = row_of(batch, i)
        single = score(model, row)
        single.sum().backward()
        torch.testing.assert_close(single[0], together[0][i])
        torch.testing.assert_close(single[0], together[2][i])
        lonely = model.encode(row.source, row.copy)
        torch.testing.assert_close(lonely.hidden[0], memory.hidden[i])
        torch.testing.assert_close(lonely.cell[0], memory.cell[i])
        torch.testing.assert_close(lonely.states[0], memory.states[i, : row.source.shape[1]])
        for name, p in model.named_parameters():
            alone[name] += p.grad
    for name, gradient in alone.items():
        torch.testing.assert_close(gradient, together[1][name], msg=name)
        torch.testing.assert_close(gradient, together[3][name], msg=name)


def test_padding_still_changes_nothing_after_training():
    """The marker that closes the encoder at padding outlives updates and weight decay."""
    torch.manual_seed(0)
    model, batch = tiny_model(scale=0.2), make_batch(7, rows=4)

    def loss(key):
        return -score(model, batch).sum(), torch.zeros(1)

    stepper = Stepper({"m": model}, loss, 1, Adam(0.1, weight_decay=1e-2))
    before = float(score(model, batch).detach().sum())
    for _ in range(50):
        stepper((), ())
    together = score(model, batch)
    assert float(together.detach().sum()) > before + 1
    for i in range(4):
        torch.testing.assert_close(score(model, row_of(batch, i))[0], together[i])


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@pytest.mark.parametrize("scale", [20.0, 200.0])
def test_extreme_weights_give_finite_values_and_gradients(copy, scale):
    """In single precision, as in training: saturated gates and logits of hundreds lose no information to infinity."""
    model = tiny_model(seed=3, copy=copy, scale=scale).float()
    model.zero_grad()
    batch = make_batch(3, rows=4)
    log_probs = teacher_forced(model, batch)
    log_probs.sum().backward()
    assert bool(torch.isfinite(log_probs).all())
    assert bool((log_probs <= 1e-5).all())
    assert float(log_probs.detach().min()) < -20
    for name, parameter in model.named_parameters():
        assert bool(torch.isfinite(parameter.grad).all()), name


def test_an_empty_source_gives_finite_values():
    model = tiny_model()
    log_probs = teacher_forced(model, Batch(*(torch.tensor([row]) for row in ([PAD], [PAD], [BOS, 4], [4, EOS]))))
    assert bool(torch.isfinite(log_probs).all())


def test_attention_is_a_distribution_over_the_words():
    model, batch = tiny_model(), make_batch(2, rows=4)
    weights = model.look(model.encode(batch.source, batch.copy), batch.inputs, batch.targets).attention
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert not weights.masked_select((batch.source == PAD)[:, None, :]).any()


def test_a_look_tells_how_much_of_each_target_was_copied():
    """The share times the target's probability is the gate times the attention on the positions that carry it."""
    model, batch = tiny_model(seed=2), make_batch(2, rows=4)
    memory = model.encode(batch.source, batch.copy)
    look = model.look(memory, batch.inputs, batch.targets)
    carried = (batch.copy.unsqueeze(1) == batch.targets.unsqueeze(2)) & (batch.source != PAD).unsqueeze(1)
    copied = look.gate * (look.attention * carried).sum(-1)
    probability = model.log_probs(memory, batch.inputs, batch.targets).exp()
    real = batch.targets != PAD
    torch.testing.assert_close((look.copied * probability)[real], copied[real])
    assert float(copied.detach().max()) > 0.01


def test_a_network_that_cannot_copy_copies_nothing():
    model, batch = tiny_model(copy=False), make_batch(2, rows=4)
    look = model.look(model.encode(batch.source, batch.copy), batch.inputs, batch.targets)
    assert look.gate.shape == look.copied.shape == batch.targets.shape
    assert not look.gate.any() and not look.copied.any()


def test_initialisation_is_uniform_by_its_generator_alone():
    torch.manual_seed(1)
    first = tiny_model(seed=4, scale=0.2)
    torch.manual_seed(2)
    second, other = tiny_model(seed=4, scale=0.2), tiny_model(seed=5, scale=0.2)
    for (name, a), b, c in zip(first.named_parameters(), second.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b), name
        assert not torch.equal(a, c), name
        usual = a[:, :-1] if name.startswith("encoder.weight_ih") else a
        assert float(usual.detach().abs().max()) <= 0.2
    assert not first.source_embedding.weight[PAD].any()
    assert not first.target_embedding.weight[PAD].any()


def test_dropout_is_on_in_training_alone():
    model = Seq2Seq(9, V, embedding=5, hidden=6, dropout=0.5)
    model.initialize(generator=torch.Generator().manual_seed(0))
    batch = make_batch(1)
    torch.manual_seed(0)
    assert not torch.equal(score(model, batch), score(model, batch))
    model.eval()
    assert torch.equal(score(model, batch), score(model, batch))
