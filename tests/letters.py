"""A world of two letters on each side, so small that a beam can hold every output there is; all in double precision."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import toy
from torch import Tensor

from dualparse.config import GameSettings, RewardSettings
from dualparse.data.batch import Batch
from dualparse.data.examples import Example
from dualparse.data.vocab import BOS, EOS, SPECIAL, UNK, Vocab
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.engines.engine import score, score_texts
from dualparse.game.play import Players
from dualparse.lf.verdict import VALID, Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Seq2Seq
from dualparse.training.game import Game, Sets, sources
from dualparse.training.step import Adam, differentiate

QUERY, LF = Vocab((*SPECIAL, "x", "y")), Vocab((*SPECIAL, "A", "B"))
LEXICON = Lexicon([(("x",), "A")])
LONGEST = 2
QUERIES = (("x", "new"), ("x",), ("y", "x", "new"))  # "y" and "new" are no tokens of forms: they can only be copied
FORMS = (("A", "odd"), ("A",), ("B", "A", "odd"))
PAIRS = (Example(("x", "y"), ("A", "B")), Example(("y",), ("B",)))
SIZES = (1 + 3 + 3**2, 1 + 2 + 2**2, 1 + 4 + 4**2)  # how many outputs each of these sources has when copying
LARGEST = max(SIZES)


def agent(direction: str, *, seed: int, copy: bool = True, lexicon: Lexicon = LEXICON, dropout: float = 0.0) -> Agent:
    source, target = (QUERY, LF) if direction == "q2lf" else (LF, QUERY)
    model = Seq2Seq(len(source), len(target), embedding=3, hidden=4, dropout=dropout, copy=copy)
    model.initialize(scale=0.8, generator=torch.Generator().manual_seed(seed))
    return Agent("q2lf" if direction == "q2lf" else "lf2q", model.double(), source, target, lexicon)


def language_model(vocab: Vocab, *, seed: int) -> LanguageModel:
    model = LanguageModel(len(vocab), embedding=3, hidden=4, dropout=0.0)
    model.initialize(scale=0.8, generator=torch.Generator().manual_seed(seed))
    return model.double()


def players(*, copy: bool = True, dropout: float = 0.0) -> Players:
    return Players(
        agent("q2lf", seed=1, copy=copy, dropout=dropout),
        agent("lf2q", seed=2, copy=copy, dropout=dropout),
        language_model(QUERY, seed=3),
        language_model(LF, seed=4),
    )


def check(text: str) -> Verdict:
    """A form may not begin with B; a word nobody knows is not even a tree."""
    if "new" in text:
        return Verdict(False, False, "what is this")
    return Verdict(True, False, "begins with B") if text.startswith("B") else VALID


def domain(**changes: object) -> Domain:
    return toy.domain(**({"lexicon": LEXICON, "check": check, "execute": None} | changes))


def reward(name: str, weight: float, **options: object) -> RewardSettings:
    return RewardSettings(name=name, weight=weight, **options)  # type: ignore[arg-type]


def from_query(share: float, **back: object) -> tuple[RewardSettings, ...]:
    """The paper's rewards of the loop from queries; `share` is alpha."""
    return reward("validity", share), reward("reconstruction", 1 - share, loop="query", **back)


def from_form(share: float, **back: object) -> tuple[RewardSettings, ...]:
    """Those of the loop from forms; `share` is beta."""
    return reward("fluency", share), reward("reconstruction", 1 - share, loop="form", **back)


def options(
    query: Sequence[RewardSettings] = from_query(0.3),
    form: Sequence[RewardSettings] = from_form(0.6),
    **changes: object,
) -> GameSettings:
    """A search that finds everything, and the rewards of each loop."""
    told: dict[str, object] = {"beams": LARGEST, "max_length": LONGEST, "batch_size": 3}
    return GameSettings(rewards=(*query, *form), **(told | changes))  # type: ignore[arg-type]


def game(told: GameSettings, who: Players | None = None, **changes: object) -> Game:
    sets = Sets(PAIRS, [Example(q, None) for q in QUERIES], [Example(None, f) for f in FORMS])
    return Game(who or players(), sets, domain(**changes), told, optimizer=Adam())


@dataclass(frozen=True)
class Outcome:
    """An iteration over all queries, forms and pairs: its loss, gradients by agent, and sums of the log by name."""

    loss: float
    gradients: dict[str, dict[str, Tensor]]
    figures: dict[str, float]


def iterate(game: Game) -> Outcome:
    """One iteration up to the gradients."""
    rng = random.Random(0)
    queries, forms = (
        sources(a, s, rng) for a, s in zip(game.agents, (game.sets.queries, game.sets.forms), strict=True)
    )
    key, inputs = game.inputs(game.rounds(queries, forms, rng), range(len(game.sets.labeled)))
    losses, figures = game.update(key, *inputs)
    for module in game.stepper.modules.values():
        module.zero_grad(set_to_none=False)
    differentiate(losses)
    return Outcome(
        sum(loss.item() for loss in losses),
        {name: gradients(m) for name, m in game.stepper.modules.items()},
        dict(zip(game.update.names, figures.tolist(), strict=True)),
    )


def gradients(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: torch.zeros_like(p) if p.grad is None else p.grad.clone() for name, p in module.named_parameters()}


def space(agent: Agent, source: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Every output an agent can write for a source within the limit, and whether it has ended."""
    unknown = agent.row(source, None, random.Random(0)).words if agent.model.copy else ()
    tokens = (*agent.target_vocab.tokens[len(SPECIAL) :], *unknown)
    for length in range(LONGEST + 1):
        for output in itertools.product(tokens, repeat=length):
            yield output, length < LONGEST


def log_prob(agent: Agent, source: Sequence[str], target: Sequence[str], *, ends: bool = True) -> Tensor:
    """log P(target | source), one row at a time and without padding."""
    row = agent.row(source, target, random.Random(0))
    size = len(agent.target_vocab)
    inputs = [BOS, *(n if n < size else UNK for n in row.target)]
    targets = [*row.target, EOS]
    steps = len(targets) if ends else len(row.target)
    read = (row.source or [0], row.copy or [0], inputs[:steps], targets[:steps])
    return score(agent.model, Batch(*(torch.tensor([numbers]) for numbers in read)))[0]


def fluency(model: LanguageModel, vocab: Vocab, words: Sequence[str], *, ends: bool) -> float:
    """log P(words) per token; the end counts where there is one."""
    numbers = vocab.ids(words)
    inputs, targets = [BOS, *numbers], [*numbers, EOS]
    steps = len(targets) if ends else len(numbers)
    return score_texts(model, torch.tensor([inputs[:steps]]), torch.tensor([targets[:steps]])).item() / steps
