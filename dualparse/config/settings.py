"""The settings of a run in groups, one a table of a recipe: typed, closed and explained. Every key has a default.

An unknown key is an error that names the nearest known one, so that a typo never trains the wrong thing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from dualparse.plugins import is_reference
from dualparse.suggest import unknown_name

LARGEST = 8_192  # units of a layer: matrices grow by the square, and beyond this no memory holds them

Stage = Literal["q2lf", "lf2q", "query_lm", "lf_lm", "matcher", "reader", "pseudo", "dual"]


class Closed(BaseModel):
    """Unknown keys are errors; values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation in (int, float, float | str):
            raise ValueError("expected a number, not true or false")
        return value


class DataSettings(Closed):
    """Which examples are used, and how."""

    labeled: float | str = Field(
        1.0,
        description="share of the training pairs that keep their label; 0 with data.canonical only; or a file with a "
        "question a line, whose pairs keep it ({domain} in its name is the domain's)",
    )
    canonical: int = Field(
        0, ge=0, description="pairs made from the domain's grammar (canonical utterance, form) to train on as well"
    )
    analogies: int = Field(0, ge=0, description="pairs made by analogy with labeled ones, for q2lf to train on as well")
    family: tuple[str, ...] = Field(
        (),
        description="domains with forms of the same kind, its own among them: the pairs of all pre-train the agents, "
        "their dev pairs choose them, and all domains share them",
    )
    unlabeled: float = Field(1.0, ge=0, le=1, description="share of the other pairs kept, torn into queries and forms")
    queries: bool | str = Field(
        True,
        description="use the queries without label (in the game, for pseudo pairs, by query_lm); or a file with more "
        "of them, a question a line, such as the logged.txt of a run",
    )
    forms: bool = Field(True, description="use the forms without label")
    synthesized: bool = Field(False, description="use the domain's synthesised forms (its extra file) as well")
    split_seed: int = Field(1, description="seed of the dev and label splits; the same for every stage of a run")
    everything: bool = Field(
        False, description="learn from the dev pairs as well: no epoch is chosen then, the last of each stage counts"
    )
    min_count: int = Field(1, ge=1, description="a query word seen less often in training reads as <unk>")

    @field_validator("labeled")
    @classmethod
    def _a_share_or_a_file(cls, value: float | str) -> float | str:
        if not isinstance(value, str) and not 0 <= value <= 1:
            raise ValueError(f"expected a share from 0 to 1 or the name of a file, not {value:g}")
        if isinstance(value, str) and not value.strip():
            raise ValueError("expected a share from 0 to 1 or the name of a file, not an empty text")
        return value

    @field_validator("queries")
    @classmethod
    def _a_choice_or_a_file(cls, value: bool | str) -> bool | str:
        if isinstance(value, str) and not value.strip():
            raise ValueError("expected true, false or the name of a file, not an empty text")
        return value

    @model_validator(mode="after")
    def _something_is_labeled(self) -> DataSettings:
        if not self.labeled and not self.canonical:
            raise ValueError("nothing to train on: labeled is 0, and canonical (pairs from the grammar) is 0 as well")
        return self


NETWORKS = ("lstm", "transformer", "pretrained")  # shipped; one's own are named package.module:Class
MODELS = ("q2lf", "lf2q", "query_lm", "lf_lm")


class ModelSettings(Closed):
    """Sizes and parts of the two agents and of the language models (paper Section 4.3.1)."""

    network: str = Field(
        "lstm",
        description="both agents are of this kind: lstm, transformer, pretrained (an lstm that reads with a pretrained "
        "encoder), or package.module:Class of one's own",
    )
    networks: dict[str, str] = Field(
        {}, description="other kinds for some of q2lf, lf2q, query_lm, lf_lm; language models are lstm otherwise"
    )
    encoder: str = Field(
        "minilm",
        description="the pretrained encoder of the network pretrained and of the matcher: minilm (of the extra "
        "pretrained), a folder, or a name on the model hub",
    )
    layers: int = Field(2, ge=1, description="layers of a transformer (of its encoder, and of its decoder)")
    heads: int = Field(4, ge=1, description="heads of every attention of a transformer; they share the hidden units")
    copy_mechanism: bool = Field(True, description="copy source tokens: AttPtr (true) or Att (false)")
    embedding: int = Field(100, ge=1, le=LARGEST, description="size of a token's vector")
    hidden: int = Field(
        200, ge=1, le=LARGEST, description="hidden units of every layer (of each direction of an LSTM's encoder)"
    )
    dropout: float = Field(0.5, ge=0, lt=1, description="dropout on embeddings and before the output layer")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="share of source words read as <unk> in training")
    init: ClassVar[float] = 0.2  # parameters of an LSTM start uniform in [-init, init]; as in the paper
    word_vectors: str = Field(
        "none", description="start of the query words' vectors: 'none', 'glove' (dualparse data get glove) or a file"
    )

    @model_validator(mode="after")
    def _networks_are_known(self) -> ModelSettings:
        for model in self.networks:
            if model not in MODELS:
                raise ValueError(unknown_name("model", model, MODELS))
        for name in (self.network, *self.networks.values()):
            if name not in NETWORKS and not is_reference(name):
                raise ValueError(f"{unknown_name('network', name, NETWORKS)}, package.module:Class")
        if wrong := [model for model in MODELS[2:] if self.networks.get(model) == "pretrained"]:
            raise ValueError(
                f"networks: {wrong[0]} cannot be pretrained, which reads sources; expected another network"
            )
        if "transformer" in (self.network, *self.networks.values()) and self.hidden % self.heads:
            raise ValueError(f"heads: {self.heads} heads cannot share {self.hidden} hidden units evenly")
        return self

    def kind(self, model: str) -> str:
        """The network of q2lf, lf2q, query_lm or lf_lm.

        >>> ModelSettings(network="transformer", networks={"lf2q": "lstm"}).kind("lf2q")
        'lstm'
        """
        return self.networks.get(model, self.network if model in MODELS[:2] else "lstm")


class UpdateSettings(Closed):
    """How weights are learned, whatever they are learned from (paper Section 4.3.2)."""

    epochs: int = Field(100, ge=1, description="passes over the labeled pairs at the most")
    batch_size: int = Field(16, ge=1, le=65_536, description="pairs per update")
    updates: int = Field(1, ge=1, description="least updates of an epoch: few pairs are gone through several times")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's learning rate")
    weight_decay: ClassVar[float] = 1e-5  # L2 penalty, not on biases; as in the paper
    clip: ClassVar[float] = 5.0  # largest norm of the gradient; as in the paper
    average: float = Field(
        0.0, ge=0, lt=1, description="decay of a moving average of the weights that is evaluated and kept"
    )
    evaluate_every: int = Field(1, ge=1, description="epochs from one dev score to the next")


class TrainSettings(UpdateSettings):
    """How maximum likelihood training goes (paper Section 4.3.2)."""

    patience: int = Field(1000, ge=1, description="epochs without a better dev score after which training stops")
    evaluate_from: int = Field(1, ge=1, description="first epoch whose dev score is measured")


class LanguageModelSettings(Closed):
    """How long the language models are trained; all else is as the agents have it by default."""

    epochs: int = Field(30, ge=1, description="passes over the texts at the most")
    patience: int = Field(3, ge=1, description="epochs without a better dev score after which training stops")


class MatcherSettings(Closed):
    """How the matcher and the second reader are trained, from what ships with the package on (`docs/matching.md`)."""

    epochs: int = Field(12, ge=1, description="passes over the labeled pairs at the most, of 25 updates at the least")
    patience: ClassVar[int] = 4  # epochs without a better dev score after which training stops
    layers: int = Field(
        2, ge=1, description="last layers of the matcher's encoder that learn; two cores need seconds for each"
    )


class RewardSettings(Closed):
    """One reward of the game: a function's name, what it counts, and what is particular to it (paper Section 3.2)."""

    name: str = Field(
        description="validity (of forms, Eq. 9), form_lm (of forms, Table 5), fluency (of queries, Eq. 10), "
        "reconstruction (in both loops), meaning (in both, by the matcher), or a function of one's own, "
        "package.module:function"
    )
    weight: float = Field(ge=0, description="what it counts in the sum of a loop's rewards; 0: it is only watched")
    loop: Literal["query", "form"] | None = Field(
        None,
        description="the loop it counts in, where that is not plain: one's own function counts in that from queries",
    )
    kind: Literal["surface", "semantic", "executed"] | None = Field(
        None, description="validity: a complete tree, one that passes the domain's check (the default), one that runs"
    )
    graded: bool | None = Field(None, description="validity: a complete tree that does not check is worth 0.5, not 0")
    per_token: bool | None = Field(
        None, description="divide by the length; a language model does by default, reconstruction does not"
    )
    noisy: bool | None = Field(None, description="reconstruction: measured with dropout on")
    lesson: float | None = Field(
        None,
        ge=0,
        description="reconstruction: what the other agent learns, as a share of the weight; 1 by default",
    )

    @property
    def own(self) -> bool:
        """Whether it is somebody's own function."""
        return is_reference(self.name)

    @property
    def loops(self) -> tuple[str, ...]:
        """The loops it counts in."""
        if self.loop:
            return (self.loop,)
        return ("query",) if self.own else _SHIPPED[self.name][0]

    @property
    def label(self) -> str:
        """What log, plot and `dualparse game` call it."""
        if self.own:
            return self.name.rpartition(":")[2]
        return f"{self.kind}_validity" if self.kind not in (None, "semantic") else self.name

    @model_validator(mode="after")
    def _fits(self) -> RewardSettings:
        if not self.own and self.name not in _SHIPPED:
            raise ValueError(f"{unknown_name('reward', self.name, _SHIPPED)}, or one's own as package.module:function")
        loops, options = (("query", "form"), ()) if self.own else _SHIPPED[self.name]
        if self.loop and self.loop not in loops:
            raise ValueError(f"{self.name} counts in the loop {loops[0]!r} only")
        given = self.model_fields_set - {"name", "weight", "loop"}
        if wrong := sorted(key for key in given if getattr(self, key) is not None and key not in options):
            raise ValueError(f"{self.name} has no {wrong[0]}: expected {', '.join(options) or 'none of these'}")
        return self


_SHIPPED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # loops and options
    "validity": (("query",), ("kind", "graded")),
    "form_lm": (("query",), ("per_token",)),
    "fluency": (("form",), ("per_token",)),
    "reconstruction": (("query", "form"), ("per_token", "noisy", "lesson")),
    "meaning": (("query", "form"), ()),
}
_OF_THE_PAPER = tuple(RewardSettings(name=name, weight=0.5) for name in ("validity", "fluency", "reconstruction"))


class GameSettings(UpdateSettings):
    """The two-agent game (paper Section 3). The training settings are those of both agents during the game."""

    patience: ClassVar[int] = 1000  # all its epochs are played,
    evaluate_from: ClassVar[int] = 1  # and dev is looked at from the first on: it is often best early
    rewards: tuple[RewardSettings, ...] = Field(
        _OF_THE_PAPER,
        description="what a hypothesis is worth: functions by name and weight; a loop without any is not played",
    )
    beams: int = Field(5, ge=1, le=1_000, description="hypotheses per source (k)")
    max_length: int = Field(80, ge=1, le=10_000, description="longest hypothesis in tokens")
    baseline: bool = Field(True, description="subtract the mean reward of the k hypotheses of a source")
    noisy_search: bool = Field(False, description="read sources with dropout in the search: more varied hypotheses")
    guidance: float = Field(1.0, ge=0, description="weight of the labeled pairs")

    def uses(self, name: str) -> bool:
        """Whether a reward is there, be it only to be watched, in a loop that is played."""
        return any(entry.name == name and self.plays(loop) for entry in self.rewards for loop in entry.loops)

    def plays(self, loop: str) -> bool:
        """Whether the loop "query" or "form" is played."""
        return any(entry.weight and loop in entry.loops for entry in self.rewards)

    @model_validator(mode="after")
    def _told_apart(self) -> GameSettings:
        told = [(loop, entry.label) for entry in self.rewards for loop in entry.loops]
        if twice := [place for place in told if told.count(place) > 1]:
            loop, label = twice[0]
            raise ValueError(f"rewards: {label} is there twice in the loop {loop!r}")
        return self


class PseudoSettings(Closed):
    """The pseudo-labelling baseline (paper Section 4.4)."""

    discount: float = Field(0.5, ge=0, le=1, description="weight of a made-up pair")
    epochs: int = Field(0, ge=0, description="passes over labeled and made-up pairs at the most; 0: train.epochs")


class SearchSettings(Closed):
    """How outputs are searched for."""

    beams: int = Field(5, ge=1, le=1_000, description="beam width of evaluation; 1 is greedy")
    dev_beams: int = Field(1, ge=1, le=1_000, description="beam width of the dev scores during training")
    max_length: int = Field(100, ge=1, le=10_000, description="longest output in tokens")
    length_power: float = Field(
        1.0, ge=0, description="outputs are ranked by log-probability / length^power: 1 per token, 0 plain"
    )
    reconstruction: float = Field(
        0.0, ge=0, description="weight of lf2q's way back to the query where both agents choose a form; 0: q2lf alone"
    )
    prior: float = Field(
        0.0, ge=0, description="weight of how common a form is, by lf_lm, where both agents choose; 0: not asked"
    )
    matcher: float = Field(
        0.0,
        ge=0,
        description="weight of how well the utterance of a form says what the query says; the matcher then proposes "
        "forms as well, and a second reader has the same weight; 1 is good where no dev can tell; 0: not asked",
    )
