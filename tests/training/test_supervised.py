"""Supervised training on a toy domain that is learned completely in a second or two."""

from __future__ import annotations

import math
import random

import pytest
import torch
import toy

from dualparse.choosing.search import find
from dualparse.data.examples import Example
from dualparse.data.vocab import Vocab
from dualparse.engines.engine import score
from dualparse.engines.found import Options
from dualparse.networks.language_model import LanguageModel
from dualparse.training.loop import Record, Schedule, Task, fit
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task, language_model_task

GREEDY = Options(beams=1, max_length=20)
FAST = Adam(learning_rate=1e-2)


def make(agent, pairs, *, dev=None, optimizer=FAST, seed=1, batch_size=8, weights=None) -> Task:
    return agent_task(
        agent,
        pairs,
        pairs if dev is None else dev,
        toy.domain(),
        optimizer=optimizer,
        batch_size=batch_size,
        seed=seed,
        search=GREEDY,
        weights=weights,
    )


def records(task: Task, **schedule) -> list[Record]:
    return [event for event in fit(task, Schedule(**schedule)) if isinstance(event, Record)]


@pytest.mark.parametrize(("updates", "passes"), [(1, 1), (3, 1), (4, 2), (7, 3)])
def test_few_pairs_are_gone_through_several_times_an_epoch(updates, passes):
    pairs = toy.examples()[:20]
    task = agent_task(
        toy.agent(hidden=8), pairs, pairs, toy.domain(), optimizer=FAST, batch_size=8, updates=updates, seed=1,
        search=GREEDY,
    )  # fmt: skip
    once = 3
    assert list(task.epoch(1)) == [(i + 1, passes * once) for i in range(passes * once)]


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
def test_q2lf_learns_the_toy_domain_completely(copy):
    agent, pairs = toy.agent(copy=copy, hidden=24), toy.examples()
    found = records(make(agent, pairs), epochs=40, evaluate_from=20, evaluate_every=5)
    best = max(found, key=lambda record: record.scores.get("accuracy", 0))
    assert best.scores == {"score": 100.0, "accuracy": 100.0, "valid": 100.0}
    assert found[-1].figures["loss"] < 0.01 < 0.5 < found[0].figures["loss"]
    hypotheses = find(agent, [pair.query for pair in pairs], Options(beams=3, max_length=20), rng=random.Random(0))
    assert [h[0].tokens for h in hypotheses] == [pair.lf for pair in pairs]


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
def test_lf2q_learns_to_say_every_form(copy):
    """Some forms have several queries; what is said must be one of them."""
    agent, pairs = toy.agent("lf2q", copy=copy, hidden=24), toy.examples()
    found = records(make(agent, pairs), epochs=40, evaluate_from=20, evaluate_every=5)
    assert max(record.scores.get("bleu", 0) for record in found) > 60
    said = find(agent, [pair.lf for pair in pairs], GREEDY, rng=random.Random(0))
    known = {(pair.lf, pair.query) for pair in pairs}
    right = sum((pair.lf, h[0].tokens) in known for pair, h in zip(pairs, said, strict=True))
    assert right >= 0.9 * len(pairs)


def test_the_same_seed_trains_the_same_model():
    """Dropout, order and initialisation hang on the seeds alone."""
    runs = []
    for noise, seed in ((1, 3), (2, 3), (1, 4)):
        torch.manual_seed(noise)
        random.seed(noise)
        agent = toy.agent(dropout=0.5)
        found = records(make(agent, toy.examples(), seed=seed), epochs=3, seed=seed)
        runs.append(([(r.figures, r.scores) for r in found], [p.detach().clone() for p in agent.model.parameters()]))
    assert runs[0][0] == runs[1][0] != runs[2][0]
    assert all(torch.equal(a, b) for a, b in zip(runs[0][1], runs[1][1], strict=True))


def test_the_last_batch_is_not_counted_twice():
    """The rows that only fill it up leave loss and gradient alone."""
    pairs = toy.examples()[:5]
    small, large = toy.agent(), toy.agent()
    tasks = [make(small, pairs, batch_size=5), make(large, pairs, batch_size=64)]
    losses = [records(task, epochs=1)[0].figures["loss"] for task in tasks]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    for (name, a), b in zip(small.model.named_parameters(), large.model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-5, msg=name)


def test_the_loss_is_per_token():
    agent = toy.agent()
    pair = toy.examples()[0]
    batch = agent.encode([pair], random.Random(0)).batch
    expected = -float(score(agent.model, batch).detach()) / (len(pair.lf) + 1)
    assert records(make(agent, [pair]), epochs=1)[0].figures["loss"] == pytest.approx(expected, abs=1e-5)


def test_pairs_of_weight_zero_teach_nothing():
    """Two pairs that contradict each other: the one with the weight wins, and the other one changes no bit."""
    right = Example(("list", "all", "lakes"), ("(", "all", "lake", ")"))
    wrong = Example(("list", "all", "lakes"), ("(", "all", "town", ")"))
    agent = toy.agent(hidden=16)
    records(make(agent, [right, wrong], dev=[right], weights=[1.0, 0.0], batch_size=2), epochs=30, evaluate_from=30)
    assert find(agent, [right.query], GREEDY, rng=random.Random(0))[0][0].tokens == right.lf


def test_weights_scale_the_gradient_and_not_the_figures():
    pairs = toy.examples()[:4]
    gradients, losses = [], []
    for weights in (None, [1.0] * 4, [0.5] * 4):
        agent = toy.agent()
        task = make(agent, pairs, weights=weights, batch_size=4, optimizer=Adam(clip=1e9, weight_decay=0.0))
        loss, figures = task.stepper.loss((20, 20), torch.arange(4), torch.ones(4))
        loss.backward()
        gradients.append(agent.model.generate.weight.grad)
        losses.append(figures.tolist())
    assert torch.equal(gradients[0], gradients[1])
    torch.testing.assert_close(gradients[2], gradients[0] / 2)
    assert losses[0] == losses[1] == losses[2]


def test_averaged_weights_learn_the_toy_domain_too():
    agent = toy.agent(hidden=24)
    task = make(agent, toy.examples(), optimizer=Adam(learning_rate=1e-2, average=0.9))
    assert records(task, epochs=40, evaluate_from=40)[-1].scores["accuracy"] == 100.0


def texts(word: str) -> list[tuple[str, ...]]:
    return [pair.query for pair in toy.examples() if word in pair.query]


def test_a_language_model_learns_what_queries_look_like():
    queries = [pair.query for pair in toy.examples()]
    vocab = Vocab.build(queries)
    model = LanguageModel(len(vocab), embedding=16, hidden=24, dropout=0.0)
    model.initialize(generator=torch.Generator().manual_seed(0))
    task = language_model_task(model, "query_lm", vocab, queries, queries, optimizer=FAST, batch_size=8, seed=1)
    found = records(task, epochs=15)
    assert found[0].scores["perplexity"] > 10 > 3 > found[-1].scores["perplexity"]
    assert found[-1].scores["score"] == pytest.approx(-math.log(found[-1].scores["perplexity"]))
    assert found[-1].best


def test_a_language_model_stops_when_dev_gets_worse():
    train, dev = texts("near"), texts("depth")
    vocab = Vocab.build(train + dev)
    model = LanguageModel(len(vocab), embedding=8, hidden=8, dropout=0.0)
    model.initialize(generator=torch.Generator().manual_seed(0))
    task = language_model_task(model, "query_lm", vocab, train, dev, optimizer=FAST, batch_size=8, seed=1)
    found = records(task, epochs=60, patience=2)
    scores = [record.scores["score"] for record in found]
    assert len(found) < 60
    assert scores.index(max(scores)) == len(scores) - 3
    assert task.evaluate()["score"] == pytest.approx(max(scores)), "the weights of the best epoch are back"
