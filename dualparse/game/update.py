"""Steps 3 to 5 of the game (paper Section 3.1, Appendix A): from `Inputs` to the loss of each agent.

In: tensors as `play.Inputs` lays them out. Out: two losses, which have nothing in common, and a vector of sums for the
log, which `summarize` gives their names. The steps are numbered as in `play`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dualparse.data.batch import Batch
from dualparse.data.vocab import PAD, UNK
from dualparse.engines.cores import each_on_a_core, each_on_a_stream
from dualparse.engines.engine import score, score_texts
from dualparse.game.play import LOOPS, Inputs
from dualparse.game.rewards import Fluent, Rewards, WayBack, less_mean
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import length_normalized
from dualparse.networks.network import Network, noise_apart, quiet

MOST_LOSS = 50.0  # a loss per token beyond which its exponential is of no interest


@dataclass(frozen=True)
class Scored:
    """What an agent makes of its rows, as log-probabilities: its own hypotheses [Bk]; the way back from those of the
    other agent [B'k], with a gradient where it learns that; labeled pairs [P]; and the way back as a reward [B'k]."""

    written: Tensor
    back: Tensor | None
    labeled: Tensor
    reward: Tensor | None


@dataclass(frozen=True)
class Lessons:
    """What a loop teaches: a loss for each agent, and the rewards [B, k] behind them."""

    first: Tensor
    second: Tensor | float
    reward: Tensor
    advantage: Tensor


class Update:
    """The losses of an iteration, as a function of its inputs.

    rewards   of the loop from queries and of the one from forms        guidance  weight of the labeled pairs
    graphs    whether it will be captured on a GPU: pieces of work then run on streams
    """

    def __init__(self, agents: Sequence[Agent], rewards: Sequence[Rewards], *, guidance: float, graphs: bool):
        self.agents, self.rewards, self.guidance, self.graphs = agents, rewards, guidance, graphs
        self.quiet = [quiet(agent.model) for agent in agents]
        self.names = figure_names(rewards)

    def __call__(self, key: object, *tensors: Tensor) -> tuple[list[Tensor], Tensor]:
        """The losses of q2lf and lf2q, and the sums of the log in the order of `names`."""
        given = Inputs(*tensors)
        scored, fluent = self._score(given)
        guided = [-each.labeled.sum() for each in scored]
        losses = [self.guidance * each for each in guided]
        sums: dict[str, Tensor] = {}
        for i, rewards in enumerate(self.rewards):
            if not rewards.count:
                continue
            present, reader = given.present[i], scored[1 - i]
            back = _back(given.rows[1 - i], given.present[1 - i].shape, present.numel())
            columns = [*given.judged[i], *fluent[i]]
            if rewards.back and reader.reward is not None:
                columns.append(way_back(rewards.back, reader.reward, back.targets).view_as(present))
            lessons = teach(rewards, columns, present, scored[i].written, reader.back)
            losses[i] = losses[i] + lessons.first
            losses[1 - i] = losses[1 - i] + lessons.second
            sums |= _sums(LOOPS[i], rewards, columns, lessons, present)
            if reader.reward is not None:
                said = {"log_back": reader.reward, "tokens_back": _tokens(back.targets)}
                sums |= {f"{LOOPS[i]}_{name}": (each.view_as(present) * present).sum() for name, each in said.items()}
        for agent, loss, batch, each in zip(self.agents, guided, given.rows, scored, strict=True):
            labels = batch.targets[len(batch.targets) - len(each.labeled) :]
            sums |= {f"{agent.direction}_loss": loss, f"{agent.direction}_tokens": _tokens(labels).sum()}
        return losses, torch.stack([sums[name].detach().to(losses[0].dtype) for name in self.names])

    def _score(self, given: Inputs) -> tuple[list[Scored], list[list[Tensor]]]:
        """Step 3 for both agents, and what language models say of the hypotheses of each loop, all side by side. Who is
        not to learn the way back goes it for the reward alone. The reward is measured without dropout, unless it shall
        be noisy: then what is learned from says it, or a pass after that one, as an agent has one source of noise."""
        ways = [self.rewards[1 - i].back for i in (0, 1)]  # what each agent is asked for as the one who reads
        learns = [self.rewards[1 - i].lesson > 0 for i in (0, 1)]
        counts = [present.numel() if way else 0 for way, present in zip(ways, given.present[::-1], strict=True)]

        def away(model: Network, i: int) -> Tensor:
            with torch.no_grad():
                return score(model, _back(given.rows[i], given.present[i].shape, counts[i]))

        def taught(i: int) -> tuple[Tensor, Tensor | None]:
            model, (sources, k), way = self.agents[i].model, given.present[i].shape, ways[i]
            batch = given.rows[i] if learns[i] else _without_back(given.rows[i], (sources, k), counts[i])
            total = score(model, batch, shared=sources, times=k if sources else 1)
            return total, away(model, i) if way and way.noisy and not learns[i] else None

        def reward(i: int) -> Tensor | None:
            way = ways[i]
            return away(self.quiet[i], i) if way and not way.noisy else None

        def judge(i: int) -> list[Tensor]:
            present, size = given.present[i], len(self.agents[i].target_vocab)
            written = given.rows[i].targets[: present.numel()], given.rows[i].inputs[: present.numel()]
            return [fluency_of(each, *written, size).view_as(present) for each in self.rewards[i].fluent]

        work: list[Callable[[], Any]] = [partial(do, i) for do in (taught, reward, judge) for i in (0, 1)]
        done = self._beside_each_other(work)
        scored = []
        for i, ((total, noisy), calm) in enumerate(zip(done[:2], done[2:4], strict=True)):
            written, back, labeled = total.tensor_split(_ends(given.present[i].numel(), counts[i] * learns[i]))
            said = noisy if calm is None else calm
            said = back.detach() if said is None and learns[i] else said
            scored.append(Scored(written, back if learns[i] else None, labeled, said))
        return scored, done[4:]

    def _beside_each_other(self, work: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of all: on streams of a GPU, on cores, or one after the other where neither may be."""
        if self.graphs:
            return each_on_a_stream(work)
        with noise_apart([agent.model for agent in self.agents]) as apart:
            if apart and self.agents[0].device.type == "cpu":
                return each_on_a_core(operator.call, work)
            return [do() for do in work]


def _ends(own: int, back: int) -> tuple[int, int]:
    return own, own + back


def way_back(reward: WayBack, log_probs: Tensor, targets: Tensor) -> Tensor:
    """The reconstruction reward, [n], from the log-probability of the way back."""
    return length_normalized(log_probs, targets) if reward.per_token else log_probs


def fluency_of(reward: Fluent, targets: Tensor, inputs: Tensor, size: int) -> Tensor:
    """What a language model says of hypotheses, [n]; words beyond its vocabulary are unknown."""
    known = torch.where(targets < size, targets, UNK)
    scores = score_texts(reward.model, inputs, known)
    return length_normalized(scores, known) if reward.per_token else scores


def worth(rewards: Rewards, columns: Sequence[Tensor], present: Tensor) -> tuple[Tensor, Tensor]:
    """Step 4: reward and advantage [B, k] from what each reward says [B, k]; they carry no gradient."""
    weighed = (each.weight * column.detach() for each, column in zip(rewards.all, columns, strict=True) if each.weight)
    reward = sum(weighed, torch.zeros_like(present))
    return reward, less_mean(reward, present) if rewards.baseline else reward * present


def teach(
    rewards: Rewards, columns: Sequence[Tensor], present: Tensor, written: Tensor, back: Tensor | None
) -> Lessons:
    """Steps 4 and 5 of one loop: `written` and `back` [Bk] carry the gradients of the first and the second agent; the
    second learns nothing where there is no `back`. The baselines of all rewards add up to that of their sum."""
    reward, advantage = worth(rewards, columns, present)
    k = present.shape[1]
    first = -(advantage * written.view_as(present) * present).sum() / k
    second = 0.0 if back is None else -rewards.lesson * (back.view_as(present) * present).sum() / k
    return Lessons(first, second, reward, advantage)


def _tokens(targets: Tensor) -> Tensor:
    """[B, T] -> tokens of each row, the end included."""
    return (targets != PAD).sum(-1)


def _back(batch: Batch, own: tuple[int, int], count: int) -> Batch:
    """The ways back among the rows of an agent with `own` (sources, hypotheses each)."""
    read, write = slice(own[0], own[0] + count), slice(own[0] * own[1], own[0] * own[1] + count)
    return Batch(batch.source[read], batch.copy[read], batch.inputs[write], batch.targets[write])


def _without_back(batch: Batch, own: tuple[int, int], count: int) -> Batch:
    """The other rows."""
    if not count:
        return batch

    def cut(tensor: Tensor, begin: int) -> Tensor:
        return torch.cat([tensor[:begin], tensor[begin + count :]])

    n = own[0] * own[1]
    return Batch(cut(batch.source, own[0]), cut(batch.copy, own[0]), cut(batch.inputs, n), cut(batch.targets, n))


def figure_names(rewards: Sequence[Rewards]) -> list[str]:
    """What the log adds up, in order."""
    names = []
    for loop, each in zip(LOOPS, rewards, strict=True):
        if each.count:
            shown = ["reward", *(reward.name for reward in each.all)]
            names += [f"{loop}_{name}" for name in ("hypotheses", "advantage")]
            names += [f"{loop}_{name}{power}" for name in shown for power in ("", "_square")]
            names += [f"{loop}_{name}" for name in ("log_back", "tokens_back") if each.back]
    return [*names, "q2lf_loss", "q2lf_tokens", "lf2q_loss", "lf2q_tokens"]


def _sums(
    loop: str, rewards: Rewards, columns: Sequence[Tensor], lessons: Lessons, present: Tensor
) -> dict[str, Tensor]:
    """What a loop adds to the log."""
    told = {"reward": lessons.reward} | {each.name: c for each, c in zip(rewards.all, columns, strict=True)}
    sums = {"hypotheses": present.sum(), "advantage": (lessons.advantage.abs() * present).sum()}
    sums |= {name: (value * present).sum() for name, value in told.items()}
    sums |= {f"{name}_square": (value**2 * present).sum() for name, value in told.items()}
    return {f"{loop}_{name}": value for name, value in sums.items()}


def summarize(names: Sequence[str], figures: Sequence[float]) -> dict[str, float]:
    """Named figures of an epoch: mean and spread of every reward of each loop, the perplexity of the way back, how much
    there is to choose (advantage), and the losses of the guidance."""
    sums = dict(zip(names, figures, strict=True))
    named: dict[str, float] = {}
    for loop in LOOPS:
        count = max(sums.get(f"{loop}_hypotheses", 0.0), 1.0)
        for name in (
            name.removesuffix("_square") for name in names if name.startswith(loop) and name.endswith("_square")
        ):
            mean = named[name] = sums[name] / count
            named[f"{name}_spread"] = max(sums[f"{name}_square"] / count - mean**2, 0.0) ** 0.5
        if f"{loop}_advantage" in sums:
            named[f"{loop}_advantage"] = sums[f"{loop}_advantage"] / count
        if f"{loop}_log_back" in sums:
            loss = -sums[f"{loop}_log_back"] / max(sums[f"{loop}_tokens_back"], 1.0)
            named[f"{loop}_perplexity"] = math.exp(min(loss, MOST_LOSS))
    for direction in ("q2lf", "lf2q"):
        named[f"{direction}_loss"] = sums[f"{direction}_loss"] / max(sums[f"{direction}_tokens"], 1.0)
    return {name: round(value, 5) for name, value in named.items()}
