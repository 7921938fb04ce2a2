"""The loop with a task whose dev scores are written down beforehand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from dualparse.errors import InputError
from dualparse.training import loop
from dualparse.training.loop import Record, Schedule, Task, Tick, epoch_seed, fit
from dualparse.training.step import Adam, Stepper


def make(scores: Sequence[float], *, average: float = 0.0, steps: int = 3) -> Task:
    """A layer trained on noise that depends on torch's generator; epoch e scores `scores[e - 1]`."""
    layer = nn.Linear(3, 1)
    with torch.no_grad():
        layer.weight.fill_(0.5)
        layer.bias.zero_()
    now = {"epoch": 0}

    def loss(key):
        total = (layer(torch.randn(4, 3)) ** 2).sum()
        return total, total.detach().reshape(1)

    def epoch(number):
        assert layer.training
        now["epoch"] = number
        for i in range(steps):
            stepper((), ())
            yield i + 1, steps

    def evaluate():
        assert not layer.training
        return {"score": scores[now["epoch"] - 1], "norm": float(layer.weight.detach().norm())}

    stepper = Stepper({"layer": layer}, loss, 1, Adam(learning_rate=0.01, average=average))
    return Task("toy", stepper, epoch, lambda figures: {"loss": figures[0]}, evaluate)


def records(events) -> list[Record]:
    return [event for event in events if isinstance(event, Record)]


def plain(found: list[Record]) -> list[dict[str, object]]:
    """Records without the one thing two runs may differ in."""
    return [{key: value for key, value in vars(record).items() if key != "seconds"} for record in found]


def weights(task: Task) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in task.stepper.parameters]


def same(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


def test_every_step_ticks_and_every_epoch_has_a_record():
    events = list(fit(make([1, 2]), Schedule(epochs=2)))
    assert [(e.epoch, e.done, e.total) for e in events if isinstance(e, Tick)] == [
        (epoch, done, 3) for epoch in (1, 2) for done in (1, 2, 3)
    ]
    assert [(r.stage, r.epoch, r.scores["score"], r.best) for r in records(events)] == [
        ("toy", 1, 1, True),
        ("toy", 2, 2, True),
    ]
    assert all(r.figures["loss"] > 0 for r in records(events))


def test_the_weights_of_the_best_epoch_are_kept():
    scores = [1, 5, 3, 5, 2]
    task, norms = make(scores), {}
    for record in records(fit(task, Schedule(epochs=5))):
        norms[record.epoch] = record.scores["norm"]
        assert record.best == (record.epoch <= 2), "a tie is not better"
    assert float(weights(task)[0].norm()) == norms[2]
    assert len(set(norms.values())) == 5


@pytest.mark.parametrize(
    ("scores", "patience", "last"),
    [([3, 2, 2, 2, 2, 2], 2, 3), ([3, 2, 4, 2, 2, 2], 2, 5), ([1, 2, 3, 4, 5, 6], 1, 6), ([1] * 6, 1, 2)],
)
def test_training_stops_after_epochs_without_a_better_score(scores, patience, last):
    found = records(fit(make(scores), Schedule(epochs=6, patience=patience)))
    assert found[-1].epoch == last


def test_epochs_before_the_first_evaluation_do_not_wear_patience_out():
    found = records(fit(make([9, 9, 9, 9, 1, 2, 1, 1, 1, 1]), Schedule(epochs=10, patience=2, evaluate_from=5)))
    assert [r.epoch for r in found if r.scores] == [5, 6, 7, 8]


def test_epochs_between_two_evaluations_do_not_wear_patience_out():
    task = make([0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 1])
    found = records(fit(task, Schedule(epochs=12, patience=2, evaluate_from=3, evaluate_every=3)))
    assert [r.epoch for r in found if r.scores] == [3, 6, 9]
    assert found[-1].epoch == 9


@pytest.mark.parametrize("average", [0.0, 0.9])
def test_an_epoch_to_stop_at_counts_without_a_look_at_dev(average):
    whole, cut = make([1, 2, 9], average=average), make([], average=average)
    list(fit(whole, Schedule(epochs=2, evaluate_from=2)))
    events = list(fit(cut, Schedule(epochs=7, evaluate_every=1, stop_at=2)))
    assert [(r.epoch, r.scores, r.best) for r in records(events)] == [(1, {}, False), (2, {}, True)]
    assert {event.epochs for event in events if isinstance(event, Tick)} == {2}
    assert same(weights(cut), weights(whole))


def test_dev_is_scored_when_the_schedule_says_so_and_at_the_end():
    found = records(fit(make([1] * 8), Schedule(epochs=8, evaluate_from=2, evaluate_every=4)))
    assert [r.epoch for r in found if r.scores] == [2, 6, 8]


def test_the_average_is_what_is_scored_and_kept():
    task = make([1, 2, 3], average=0.9)
    found = records(fit(task, Schedule(epochs=3)))
    assert float(weights(task)[0].norm()) == found[-1].scores["norm"]
    raw = make([1, 2, 3])
    list(fit(raw, Schedule(epochs=3)))
    assert not same(weights(task), weights(raw)), "training itself is the same, what is kept is not"
    assert plain(found)[2]["figures"] == plain(records(fit(make([1, 2, 3]), Schedule(epochs=3))))[2]["figures"]


def test_the_same_seed_gives_the_same_weights_whatever_happened_before():
    found = []
    for before, seed in ((1, 7), (2, 7), (1, 8)):
        torch.manual_seed(before)
        task = make([1, 2, 3])
        found.append((plain(records(fit(task, Schedule(epochs=3, seed=seed)))), weights(task)))
    assert found[0][0] == found[1][0] != found[2][0]
    assert same(found[0][1], found[1][1])


def test_seeds_of_epochs_and_stages_differ():
    seeds = {epoch_seed(seed, stage, epoch) for seed in (1, 2) for stage in ("a", "b") for epoch in range(50)}
    assert len(seeds) == 200


SCORES = [1, 3, 2, 3, 4, 1, 1, 1]
LIMITS = Schedule(epochs=8, patience=3, evaluate_from=2)


@given(
    interruptions=st.lists(st.integers(0, 30), max_size=4),
    average=st.sampled_from([0.0, 0.9]),
    every=st.sampled_from([-1.0, 3600.0]),
)
@settings(max_examples=25, deadline=None)
def test_abandoned_anywhere_and_taken_up_ends_the_same(tmp_path_factory, interruptions, average, every):
    """After any number of events, any number of times, with a checkpoint at every epoch or none at all."""
    whole = make(SCORES, average=average)
    expected = plain(records(fit(whole, LIMITS)))
    path = tmp_path_factory.mktemp("run") / "toy.checkpoint.safetensors"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "CHECKPOINT_SECONDS", every)
        for events in interruptions:
            generator = fit(make(SCORES, average=average), LIMITS, checkpoint=path)
            for _ in range(events):
                if next(generator, None) is None:
                    break
            generator.close()
        task = make(SCORES, average=average)
        assert plain(records(fit(task, LIMITS, checkpoint=path))) == expected
    assert same(weights(task), weights(whole))


def test_a_checkpoint_spares_the_epochs_it_has_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path = tmp_path / "c.safetensors"
    generator = fit(make(SCORES), LIMITS, checkpoint=path)
    while not (isinstance(event := next(generator), Record) and event.epoch == 4):
        pass
    generator.close()
    events = list(fit(make(SCORES), LIMITS, checkpoint=path))
    assert [r.epoch for r in records(events)] == list(range(1, 9))
    assert min(event.epoch for event in events if isinstance(event, Tick)) == 5


def test_checkpoints_are_not_written_more_often_than_need_be(tmp_path):
    list(fit(make(SCORES), LIMITS, checkpoint=tmp_path / "c.safetensors"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "empty", "text"])
def test_a_damaged_checkpoint_is_an_input_error(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path: Path = tmp_path / "c.safetensors"
    list(fit(make(SCORES), LIMITS, checkpoint=path))
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "text": b"hello " * 100}[damage])
    with pytest.raises(InputError, match=r"c\.safetensors: damaged or cut short"):
        next(fit(make(SCORES), LIMITS, checkpoint=path))


def test_a_checkpoint_of_another_model_is_an_input_error(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    path = tmp_path / "c.safetensors"
    list(fit(make(SCORES), LIMITS, checkpoint=path))
    with pytest.raises(InputError, match="does not fit"):
        next(fit(make(SCORES, average=0.5), LIMITS, checkpoint=path))


def test_records_can_be_written_as_json():
    for record in records(fit(make([1, 2]), Schedule(epochs=2))):
        assert Record(**json.loads(json.dumps(vars(record)))) == record


@pytest.mark.parametrize("where", ["a loss", "a weight"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_training_that_diverges_is_stopped_and_says_where(where, value, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    task = make([0.1, 0.2, 0.3, 0.4])
    whole, summarize = task.epoch, task.summarize
    now = {"epoch": 0}

    def epoch(number):
        now["epoch"] = number
        yield from whole(number)
        if number == 3 and where == "a weight":
            with torch.no_grad():
                task.stepper.parameters[0][0, 0] = value

    def told(figures):
        return {"loss": value} if now["epoch"] == 3 and where == "a loss" else summarize(figures)

    broken = Task("toy", task.stepper, epoch, told, task.evaluate)
    path = tmp_path / "x.safetensors"
    with pytest.raises(InputError, match=r"toy, epoch 3: training diverged .* last good state is in .*x\.safetensors"):
        list(fit(broken, Schedule(4), checkpoint=path))
    assert plain(records(fit(make([0.1, 0.2, 0.3, 0.4]), Schedule(4), checkpoint=path))) == plain(
        records(fit(make([0.1, 0.2, 0.3, 0.4]), Schedule(4)))
    )
