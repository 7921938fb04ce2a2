"""The rewards of the game (paper Section 3.2): functions with a name and a weight, listed in the recipe.

In: the entries of `game.rewards`. Out: `Rewards`, what the hypotheses of one loop are worth. Three kinds: a function of
texts, a language model of what was written, and how well the other agent finds the way back. `meaning` is a function of
texts: a matcher, which learns nothing in the game, compares query and utterance. One's own function joins by its name,
`"package.module:function"`:

    def brevity(source: str, hypotheses: list[str]) -> list[float]:
        return [-0.1 * len(hypothesis.split()) for hypothesis in hypotheses]

A function with a parameter `domain` is handed the `Domain` as well. Only a bad logical form may score 0 for an error;
any other exception is a bug and stops the run.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from torch import Tensor

from dualparse.config import GameSettings, RewardSettings
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.verdict import Verdict, refused
from dualparse.matching.index import Index
from dualparse.networks.network import TextModel
from dualparse.plugins import load_object

Score = Callable[[str, Sequence[str]], list[float]]
"""(source, hypotheses) -> a score for each hypothesis."""
Check = Callable[[str], Verdict]

TREE_ALONE = 0.5  # what a complete tree without meaning is worth when validity is graded
CHECKED = 1 << 16  # forms whose verdict is remembered
VALID = "valid"  # watched in every loop from queries, whatever the rewards are


@dataclass(frozen=True)
class Judged:
    """A function of the texts; with weight 0 it is watched and teaches nothing."""

    name: str
    weight: float
    score: Score


@dataclass(frozen=True)
class Fluent:
    """Eq. 10: log-probability under a fixed language model, per token or of the whole text."""

    name: str
    weight: float
    model: TextModel
    per_token: bool = True


@dataclass(frozen=True)
class WayBack:
    """log P(source | hypothesis) under the other agent, which learns the way back too.

    per_token  divided by the length of the source      noisy   measured with dropout on
    lesson     what the other agent learns, as a share of the weight: 1 in the paper, 0 leaves it as it is
    """

    weight: float
    per_token: bool = False
    noisy: bool = False
    lesson: float = 1.0
    name: str = "reconstruction"


@dataclass(frozen=True)
class Rewards:
    """What the hypotheses of a loop are worth: the weighted sum, less its mean over those of a source (`baseline`)."""

    judged: tuple[Judged, ...] = ()
    fluent: tuple[Fluent, ...] = ()
    back: WayBack | None = None
    baseline: bool = True

    @property
    def all(self) -> tuple[Judged | Fluent | WayBack, ...]:
        """In the order of their columns."""
        return (*self.judged, *self.fluent, *((self.back,) if self.back else ()))

    @property
    def count(self) -> bool:
        """Whether a loop with these is played at all."""
        return any(reward.weight for reward in self.all)

    @property
    def lesson(self) -> float:
        """Weight of what the second agent learns of the way back."""
        return self.back.weight * self.back.lesson if self.back else 0.0


def rewards_of(
    settings: GameSettings,
    loop: str,
    domain: Domain,
    *,
    query_lm: TextModel | None = None,
    lf_lm: TextModel | None = None,
    index: Index | None = None,
) -> Rewards:
    """The rewards of a loop ("query" or "form"). Without its language model or its index a reward is left out."""
    semantic = lru_cache(CHECKED)(domain.check)
    judged, fluent, back = [], [], None
    if loop == "query":
        judged.append(Judged(VALID, 0.0, partial(check_validity, semantic)))
    for entry in settings.rewards:
        if loop not in entry.loops:
            continue
        if entry.name == "reconstruction":
            said: dict[str, Any] = {"per_token": entry.per_token, "noisy": entry.noisy, "lesson": entry.lesson}
            back = WayBack(entry.weight, **{name: value for name, value in said.items() if value is not None})
        elif entry.name in ("fluency", "form_lm"):
            model = query_lm if entry.name == "fluency" else lf_lm
            if model is not None:
                fluent.append(Fluent(entry.name, entry.weight, model, entry.per_token is not False))
        elif entry.name == "validity":
            check = check_of(domain, entry.kind or "semantic", semantic)
            judged.append(Judged(entry.label, entry.weight, partial(check_validity, check, graded=bool(entry.graded))))
        elif entry.name == "meaning":
            if index is not None:
                judged.append(Judged(entry.name, entry.weight, partial(said_alike, index, loop)))
        else:
            judged.append(Judged(entry.label, entry.weight, own_reward(entry, domain)))
    return Rewards(tuple(judged), tuple(fluent), back, settings.baseline)


def check_of(domain: Domain, kind: str, semantic: Check) -> Check:
    """What a kind of validity asks of a form: to be a complete tree (surface), to pass the domain's check (semantic),
    or to run as well (executed)."""
    if kind == "semantic":
        return semantic
    if kind == "surface":
        return lambda text: Verdict((verdict := verdict_of(semantic, text)).surface, verdict.surface, verdict.reason)
    execute = domain.execute
    if execute is None:
        raise InputError(f"game.rewards: forms of {domain.name} cannot be run; expected kind surface or semantic")

    @lru_cache(CHECKED)
    def executed(text: str) -> Verdict:
        verdict = verdict_of(semantic, text)
        if verdict.ok:
            execute(text)  # its logical-form errors mean "invalid", as a check's do
        return verdict

    return executed


def validity(verdicts: Sequence[Verdict], *, graded: bool = False) -> list[float]:
    """Eq. 9: 1 for a form without error, else 0; graded, a complete tree alone is worth a half.

    >>> fine, tree, soup = Verdict(True, True), Verdict(True, False), Verdict(False, False)
    >>> validity([fine, tree, soup]), validity([fine, tree, soup], graded=True)
    ([1.0, 0.0, 0.0], [1.0, 0.5, 0.0])
    """
    tree_alone = TREE_ALONE if graded else 0.0
    return [1.0 if verdict.ok else tree_alone if verdict.surface else 0.0 for verdict in verdicts]


def verdict_of(check: Check, text: str) -> Verdict:
    """What a check says; one that raises a logical-form error says "invalid", any other exception is its bug."""
    try:
        return check(text)
    except LF_ERRORS as error:
        return refused(error)


def check_validity(check: Check, source: str, hypotheses: Sequence[str], *, graded: bool = False) -> list[float]:
    """The same as a reward: from the text of the forms, whatever the source."""
    return validity([verdict_of(check, text) for text in hypotheses], graded=graded)


def said_alike(index: Index, loop: str, source: str, hypotheses: Sequence[str]) -> list[float]:
    """How near what a query says is to what the utterance of a form says, as a cosine: of forms for the query of the
    loop from queries, of queries for the form of the other. A form that the grammar cannot word gets the floor of the
    index."""
    if loop == "query":
        return index.nearness([source.split()], [hypotheses])[0].tolist()
    told = index.nearness([text.split() for text in hypotheses], [[source]] * len(hypotheses))
    return [float(scores[0]) for scores in told]


def own_reward(entry: RewardSettings, domain: Domain) -> Score:
    """A function of one's own, found by its import path; its answers are looked at before they are believed."""
    function = load_object(entry.name, what="reward")
    if not callable(function):
        raise InputError(f"the reward {entry.name} is no function")
    more = {"domain": domain} if "domain" in inspect.signature(function).parameters else {}

    def score(source: str, hypotheses: Sequence[str]) -> list[float]:
        told = function(source, list(hypotheses), **more)
        try:
            scores = [float(value) for value in told]
        except (TypeError, ValueError):
            raise InputError(f"the reward {entry.name} gave {told!r}: expected a list of numbers") from None
        if len(scores) != len(hypotheses):
            raise InputError(f"the reward {entry.name} gave {len(scores)} scores for {len(hypotheses)} hypotheses")
        if not all(map(math.isfinite, scores)):
            raise InputError(f"the reward {entry.name} gave {scores} for {source!r}: expected finite numbers")
        return scores

    return score


def mix(rewards: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """A weighted sum of rewards.

    >>> mix([[1.0, 0.0], [-2.0, -4.0]], [0.5, 0.5])
    [-0.5, -2.0]
    """
    return [sum(w * r for w, r in zip(weights, column, strict=True)) for column in zip(*rewards, strict=True)]


def less_mean(rewards: Tensor, present: Tensor) -> Tensor:
    """Rewards [B, k] less their mean over the hypotheses of the same input; places without any give 0.

    >>> import torch
    >>> less_mean(torch.tensor([[1.0, 3.0, 9.0]]), torch.tensor([[1.0, 1.0, 0.0]])).tolist()
    [[-1.0, 1.0, 0.0]]
    """
    mean = (rewards * present).sum(-1, keepdim=True) / present.sum(-1, keepdim=True).clamp_min(1)
    return (rewards - mean) * present
