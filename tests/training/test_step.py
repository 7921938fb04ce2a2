"""One optimisation step: against Adam written out, with averages, clipping and a state that can be put back."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from dualparse.training.step import Adam, Stepper


def make(settings: Adam, *, seed: int = 0) -> Stepper:
    """A linear layer that learns to give what it is told; the figures are (loss, steps)."""
    torch.manual_seed(seed)
    layer = nn.Linear(3, 2)

    def loss(key, inputs, wanted):
        total = ((layer(inputs) - wanted) ** 2).sum()
        return total, torch.stack([total.detach(), torch.ones(())])

    return Stepper({"layer": layer}, loss, 2, settings)


def batches(count: int, *, seed: int = 1):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(4, 3, generator=generator), torch.randn(4, 2, generator=generator)) for _ in range(count)]


def weights(stepper: Stepper) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in stepper.parameters]


def test_steps_are_those_of_adam_with_clipping_and_decay_off_biases():
    settings = Adam(learning_rate=0.01, weight_decay=0.1, clip=0.5)
    stepper = make(settings)
    values = dict(zip(stepper.names, weights(stepper), strict=True))
    mean = {name: torch.zeros_like(value) for name, value in values.items()}
    square = {name: torch.zeros_like(value) for name, value in values.items()}
    for t, (inputs, wanted) in enumerate(batches(5), start=1):
        error = 2 * (inputs @ values["layer.weight"].T + values["layer.bias"] - wanted)
        gradients = {"layer.weight": error.T @ inputs, "layer.bias": error.sum(0)}
        norm = sum((g**2).sum() for g in gradients.values()).sqrt()
        assert norm > settings.clip
        for name, gradient in gradients.items():
            gradient = gradient * settings.clip / norm
            if "bias" not in name:
                gradient = gradient + settings.weight_decay * values[name]
            mean[name] = 0.9 * mean[name] + 0.1 * gradient
            square[name] = 0.999 * square[name] + 0.001 * gradient**2
            step = (mean[name] / (1 - 0.9**t)) / ((square[name] / (1 - 0.999**t)).sqrt() + 1e-8)
            values[name] = values[name] - settings.learning_rate * step
        stepper((), (inputs, wanted))
    for name, value in zip(stepper.names, weights(stepper), strict=True):
        torch.testing.assert_close(value, values[name], rtol=1e-4, atol=1e-5)


def test_small_gradients_are_not_clipped():
    (batch,) = batches(1)
    near, far = make(Adam(clip=1e6)), make(Adam(clip=1e9))
    near((), batch)
    far((), batch)
    for a, b in zip(weights(near), weights(far), strict=True):
        assert torch.equal(a, b)


def test_averages_follow_the_weights():
    stepper = make(Adam(average=0.8, learning_rate=0.1))
    expected = weights(stepper)
    for batch in batches(6):
        stepper((), batch)
        expected = [0.8 * average + 0.2 * now for average, now in zip(expected, weights(stepper), strict=True)]
    now = weights(stepper)
    stepper.swap_averages()
    for value, average in zip(weights(stepper), expected, strict=True):
        torch.testing.assert_close(value, average)
    stepper.swap_averages()
    for value, before in zip(weights(stepper), now, strict=True):
        assert torch.equal(value, before)


def test_without_averages_nothing_is_swapped():
    stepper = make(Adam())
    before = weights(stepper)
    stepper.swap_averages()
    assert all(torch.equal(a, b) for a, b in zip(before, weights(stepper), strict=True))


def test_figures_add_up_and_start_again():
    stepper, made = make(Adam()), batches(4)
    for batch in made[:3]:
        stepper((), batch)
    loss, steps = stepper.take_figures()
    assert steps == 3
    assert loss > 0
    stepper((), made[3])
    assert stepper.take_figures()[1] == 1
    assert stepper.take_figures() == [0, 0]


@pytest.mark.parametrize("average", [0.0, 0.9])
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_a_state_put_back_goes_on_bit_by_bit(average, steps):
    settings = Adam(average=average, learning_rate=0.05)
    made = batches(8)
    first = make(settings)
    for batch in made[:steps]:
        first((), batch)
    state = {name: tensor.clone() for name, tensor in first.state().items()}
    second = make(settings, seed=99)
    second.load_state(state)
    for batch in made[steps:]:
        first((), batch)
        second((), batch)
    for name, tensor in first.state().items():
        assert torch.equal(tensor, second.state()[name]), name


def test_several_modules_have_names_of_their_own():
    parts = {"one": nn.Linear(2, 2), "two": nn.Linear(2, 2)}
    stepper = Stepper(parts, lambda key, x: (parts["one"](parts["two"](x)).sum(), torch.zeros(1)), 1, Adam())
    assert stepper.names == ["one.weight", "one.bias", "two.weight", "two.bias"]
    before = weights(stepper)
    stepper((), (torch.ones(1, 2),))
    assert all(not torch.equal(a, b) for a, b in zip(before, weights(stepper), strict=True))


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_modules_with_losses_of_their_own_learn_side_by_side_what_they_learn_one_after_the_other(average, monkeypatch):
    """Each on a core, all in turn, and as a graph has it, from the sum of the losses."""

    def two(cores: int, *, graph: bool = False) -> Stepper:
        torch.manual_seed(3)
        layers = {"one": nn.Linear(3, 2), "other": nn.Linear(3, 2)}

        def loss(key, inputs, wanted):
            losses = [((layer(inputs) - wanted) ** 2).sum() for layer in layers.values()]
            return losses, torch.zeros(1)

        monkeypatch.setattr("dualparse.engines.cores._cores", cores)
        settings = Adam(learning_rate=0.01, weight_decay=0.1, clip=0.5, average=average)
        stepper = Stepper(layers, loss, 1, settings)
        step = stepper._step if graph else stepper
        stepper.capture = graph
        for batch in batches(4):
            step((), batch)
        return stepper

    plain, *others = two(1), two(2), two(1, graph=True)
    for other in others:
        for found, wanted in zip(weights(other) + other.averages, weights(plain) + plain.averages, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-7)
