"""What a card has to show: engines and captured graphs give what the plain engine gives there, within the tolerance
stated with each check; networks that are not captured train as well. Every check returns the difference it found.

Tolerances are those of the arithmetic: 1e-4 for single precision in another order, 2e-2 for products on tensor cores
(TF32, half precision), which training and the game's search are allowed.
"""

from __future__ import annotations

import copy
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import letters
import numpy as np
import torch
import toy
from torch import Tensor, nn

from dualparse.config import make_recipe
from dualparse.data.batch import Batch, Row, collate
from dualparse.engines import graphs
from dualparse.engines.beam import beam
from dualparse.engines.engine import engine_for
from dualparse.engines.found import Found, Options
from dualparse.engines.plain import Plain, score
from dualparse.engines.shared_gpu import TOLD
from dualparse.engines.triton import search as fused_search
from dualparse.networks.agent import Agent
from dualparse.networks.lstm import Seq2Seq
from dualparse.networks.network import Network
from dualparse.networks.transformer import Transformer
from dualparse.runs import Run
from dualparse.training.game import sources
from dualparse.training.run import train
from dualparse.training.searcher import Searcher, find_together
from dualparse.training.step import Adam, Stepper

SINGLE, TENSOR_CORES = 1e-4, 2e-2
CARD = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CARD else "cpu")  # on a CPU the checks can be tried, and show nothing of a card
HERE = Path(__file__).parents[1] / "networks"

Check = Callable[[], float]


def rows_of(seed: int, count: int, size: int) -> list[Row]:
    sources, copies = toy.random_sources(seed, count, source_size=size, target_size=size, longest=12)
    drawn = random.Random(seed)
    targets = [[drawn.randrange(4, size) for _ in range(drawn.randint(1, 9))] for _ in range(count)]
    return [Row(*row) for row in zip(sources, copies, [()] * count, targets, strict=True)]


def batch_of(seed: int, count: int = 12, size: int = 40) -> Batch:
    return collate(rows_of(seed, count, size), target_vocab_size=size).map(lambda a: torch.from_numpy(a).to(DEVICE))


def lstm(*, copy_: bool = True, size: int = 40) -> Seq2Seq:
    model = Seq2Seq(size, size, embedding=20, hidden=48, dropout=0.0, copy=copy_)
    model.initialize(scale=0.4, generator=torch.Generator().manual_seed(1))
    return model.to(DEVICE)


def transformer() -> Transformer:
    model = Transformer(40, 40, embedding=20, hidden=32, layers=2, heads=4, dropout=0.0)
    model.initialize(generator=torch.Generator().manual_seed(1))
    return model.to(DEVICE)


def apart(found: Tensor, wanted: Tensor) -> float:
    """The largest difference, as a share of the largest number."""
    return float(((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-6)).detach())


def gradients(model: nn.Module, total: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(total, list(model.parameters())))


def scores_and_gradients() -> float:
    """The Triton engine's scores and gradients, with copying and without."""
    worst = 0.0
    for copying in (True, False):
        model, batch = lstm(copy_=copying), batch_of(3)
        engine = engine_for(model)
        assert engine.name == "triton" or not CARD, f"the engine is {engine.name}"
        found, wanted = engine.score(model, batch), score(model, batch)
        pairs = zip(gradients(model, found.sum()), gradients(model, wanted.sum()), strict=True)
        worst = max(worst, apart(found, wanted), *(apart(*pair) for pair in pairs))
    return worst


def scores_where_a_card_is_shared() -> float:
    """The LSTM as one kernel, which is used where processes share a card."""
    with patch.dict("os.environ", TOLD), graphs.quick_products():
        model, batch = lstm(), batch_of(3)
        found, wanted = engine_for(model).score(model, batch), score(model, batch)
        pairs = zip(gradients(model, found.sum()), gradients(model, wanted.sum()), strict=True)
        return max(apart(found, wanted), *(apart(*pair) for pair in pairs))


def after_steps(model: Network, *, capture: bool) -> tuple[list[Tensor], float]:
    """Weights and the summed loss after four steps on batches of two shapes."""
    twin = copy.deepcopy(model)
    known = graphs.STEPS if capture else ()
    batches = [batch_of(seed, size=40) for seed in (1, 2)]

    def loss(key: int, *tensors: Tensor) -> tuple[Tensor, Tensor]:
        total = -engine_for(twin).score(twin, Batch(*tensors)).sum()
        return total, total.detach().view(1)

    with patch.object(graphs, "STEPS", known):
        stepper = Stepper({"m": twin}, loss, 1, Adam(1e-3))
    assert stepper.capture == (capture and CARD)
    for number in (0, 1, 0, 1):
        stepper(number, batches[number].arrays())
    return [parameter.detach() for parameter in twin.parameters()], stepper.take_figures()[0]


def steps_of(model: Network) -> float:
    (found, loss), (wanted, expected) = (after_steps(model, capture=capture) for capture in (True, False))
    return max(abs(loss / expected - 1), *(float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True)))


def captured_steps() -> float:
    """Losses and weights after captured steps of training."""
    return steps_of(lstm())


def captured_steps_of_a_transformer() -> float:
    """The same of a Transformer."""
    return steps_of(transformer())


def disagreement(found: Found, wanted: Found) -> float:
    """The largest difference of the best log-probability per token; another hypothesis counts where it is worse."""
    best = [each.log_prob[:, 0] / (each.length[:, 0] + 1) for each in (found, wanted)]
    return float(np.abs(best[0] - best[1]).max())


def searches() -> float:
    """The search in one kernel, in almost single precision, against `beam`."""
    model, batch = lstm().eval(), batch_of(5, count=30)
    with torch.no_grad():
        engine = engine_for(model)
        found = engine.search(model, engine.read(model, batch.source, batch.copy), Options(4, 12))
        return disagreement(found, Plain().search(model, model.encode(batch.source, batch.copy), Options(4, 12)))


def games_searches(*, fused: bool) -> float:
    """Captured searches of the game, two agents beside each other, three times in a row."""
    agents = [toy.agent(direction, hidden=32) for direction in ("q2lf", "lf2q")]
    for agent in agents:
        agent.model.to(DEVICE).eval()
    rows = [[agent.row(p.query if agent.direction == "q2lf" else p.lf, None, random.Random(1)) for p in toy.examples()]
            for agent in agents]  # fmt: skip
    real = fused_search.available
    with patch.object(fused_search, "available", lambda *given: fused and real(*given)):
        searchers = [Searcher(agent, Options(4, 12)) for agent in agents]
        assert all(searcher.capture == CARD for searcher in searchers)
        worst = 0.0
        for size in (16, 16, 9):
            read = [
                collate(some[:size], target_vocab_size=len(agent.target_vocab))
                for agent, some in zip(agents, rows, strict=True)
            ]
            found = find_together(list(zip(searchers, read, strict=True)))
            for agent, some, each in zip(agents, rows, found, strict=True):
                worst = max(worst, disagreement(each, plainly(agent, some[:size])))
    return worst


def plainly(agent: Agent, rows: list[Row]) -> Found:
    batch = agent.encode_rows(rows).batch
    with torch.no_grad():
        return beam(agent.model, agent.model.encode(batch.source, batch.copy), beams=4, max_length=12)


def games_searches_in_one_kernel() -> float:
    return games_searches(fused=True)


def games_searches_step_by_step() -> float:
    return games_searches(fused=False)


def update(*, capture: bool) -> tuple[list[Tensor], Tensor]:
    """Weights and figures after an update of the game that was played once."""
    who = letters.players()
    for model in (who.q2lf.model, who.lf2q.model, who.query_lm, who.lf_lm):
        model.float().to(DEVICE)
    none = {} if capture else {"STEPS": (), "SEARCHES": ()}
    with patch.multiple(graphs, **none) if none else patch.dict({}):
        game = letters.game(letters.options(beams=4), who)
    assert game.stepper.capture == (capture and CARD)
    rng = random.Random(0)
    sets = (game.sets.queries, game.sets.forms)
    starts = [sources(agent, some, rng) for agent, some in zip(game.agents, sets, strict=True)]
    for searcher in game.searchers:  # the same hypotheses for both: those of a search without graphs
        searcher.capture = False
    rounds = game.rounds(*starts, rng)
    game.stepper(*game.inputs(rounds, range(len(game.sets.labeled))))
    figures = torch.tensor(game.stepper.take_figures())
    return [p.detach() for agent in game.agents for p in agent.model.parameters()], figures


def games_update() -> float:
    """Weights and figures after a captured update of the game."""
    (found, figures), (wanted, expected) = update(capture=True), update(capture=False)
    return max(apart(figures, expected), *(float((a - b).abs().max()) for a, b in zip(found, wanted, strict=True)))


def run_of(network: dict[str, object]) -> float:
    """Every stage of a run on the card, the game included; afterwards the mean loss of its last epoch."""
    recipe = make_recipe(
        {
            "domain": "toy",
            "stages": ["q2lf", "lf2q", "query_lm", "lf_lm", "dual"],
            "model": {"embedding": 12, "hidden": 16} | network,
            "train": {"epochs": 4, "learning_rate": 0.01},
            "language_model": {"epochs": 2},
            "game": {"epochs": 1, "beams": 2, "max_length": 12},
            "search": {"max_length": 12},
        }
    )
    sys.path.insert(0, str(HERE))
    try:
        with tempfile.TemporaryDirectory() as folder, toy.registered(toy.write_files(Path(folder) / "toy")):
            list(train(recipe, Path(folder) / "run", device=DEVICE))
            losses = [r["figures"]["loss"] for r in Run(Path(folder) / "run").read_log() if r["stage"] == "q2lf"]
            return losses[-1] - losses[0]
    finally:
        sys.path.remove(str(HERE))


def a_transformer_trains_and_plays() -> float:
    """The loss falls: the difference is below 0."""
    return run_of({"network": "transformer", "networks": {"query_lm": "transformer"}})


def a_network_of_somebody_else_trains_and_plays() -> float:
    """The loss falls: the difference is below 0."""
    return run_of({"network": "gru:GRU", "networks": {"lf_lm": "gru:Bigrams"}})


def the_lstm_trains_and_plays() -> float:
    """The loss falls: the difference is below 0."""
    return run_of({})


CHECKS: dict[Check, float] = {
    scores_and_gradients: SINGLE * 10,
    scores_where_a_card_is_shared: TENSOR_CORES,
    captured_steps: TENSOR_CORES,
    captured_steps_of_a_transformer: TENSOR_CORES,
    searches: SINGLE * 10,
    games_searches_in_one_kernel: TENSOR_CORES,
    games_searches_step_by_step: TENSOR_CORES,
    games_update: TENSOR_CORES,
    the_lstm_trains_and_plays: 0.0,
    a_transformer_trains_and_plays: 0.0,
    a_network_of_somebody_else_trains_and_plays: 0.0,
}
