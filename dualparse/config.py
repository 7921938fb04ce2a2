"""Settings of a run: typed, closed and explained. A recipe is a TOML file; every key has a default but `domain`.

An unknown key is an error that names the nearest known one, so that a typo never trains the wrong thing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from dualparse.errors import InputError
from dualparse.migration import SCHEMA, migrate, schema_of
from dualparse.plugins import is_reference
from dualparse.suggest import unknown_name
from dualparse.toml import DEEPEST, parse_toml, read_toml

MOST_OVERRIDE = 10_000  # characters of one `--set`
LARGEST = 8_192  # units of a layer: matrices grow by the square, and beyond this no memory holds them

LEARNED_FROM_DEV = "this run has learned from the dev pairs: scores on them say nothing, use --split test"

MEMBERS = "members"  # folder below a run's own: runs that answer together with it

ANY_DOMAIN = "{domain}"  # in a recipe that is the same for several

Stage = Literal["q2lf", "lf2q", "query_lm", "lf_lm", "matcher", "pseudo", "dual"]


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
    queries: bool = Field(
        True, description="use the queries without label (in the game, for pseudo pairs, by query_lm)"
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
    init: float = Field(0.2, gt=0, description="parameters of an LSTM start uniform in [-init, init]")
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


class TrainSettings(Closed):
    """How maximum likelihood training goes (paper Section 4.3.2)."""

    epochs: int = Field(100, ge=1, description="passes over the labeled pairs at the most")
    batch_size: int = Field(16, ge=1, le=65_536, description="pairs per update")
    updates: int = Field(1, ge=1, description="least updates of an epoch: few pairs are gone through several times")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's learning rate")
    weight_decay: ClassVar[float] = 1e-5  # L2 penalty, not on biases; as in the paper
    clip: ClassVar[float] = 5.0  # largest norm of the gradient; as in the paper
    average: float = Field(
        0.0, ge=0, lt=1, description="decay of a moving average of the weights that is evaluated and kept"
    )
    patience: int = Field(1000, ge=1, description="epochs without a better dev score after which training stops")
    evaluate_from: int = Field(1, ge=1, description="first epoch whose dev score is measured")
    evaluate_every: int = Field(1, ge=1, description="epochs from one dev score to the next")


class LanguageModelSettings(Closed):
    """How long the language models are trained; all else is as the agents have it by default."""

    epochs: int = Field(30, ge=1, description="passes over the texts at the most")
    patience: int = Field(3, ge=1, description="epochs without a better dev score after which training stops")


class MatcherSettings(Closed):
    """How the matcher is trained, from the adapter that ships with the package on (`docs/matching.md`)."""

    epochs: int = Field(12, ge=1, description="passes over the labeled pairs at the most, of 25 updates at the least")
    patience: ClassVar[int] = 4  # epochs without a better dev score after which training stops
    layers: int = Field(2, ge=1, description="last layers of the encoder that learn; two cores need seconds for each")


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


class GameSettings(TrainSettings):
    """The two-agent game (paper Section 3). The training settings are those of both agents during the game."""

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


_READS = {"fluency": "query_lm", "form_lm": "lf_lm"}  # reward -> the language model it asks


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
        "forms as well; 1 is good where no dev can tell; 0: not asked",
    )


class Recipe(Closed):
    """All settings of a run."""

    domain: str = Field(description="atis, one of OVERNIGHT's domains, an embedded domain, or the path of a folder")
    seed: int = Field(1, description="seed of initialisation, shuffling, dropout and sampling")
    stages: tuple[Stage, ...] = Field(
        ("q2lf", "lf2q"), description=f"what is trained: any of {', '.join(get_args(Stage))}"
    )
    start_from: str = Field("", description="folder of an earlier run whose pre-training stages are taken over")
    refit: bool = Field(
        False, description="then all stages once more with data.everything, each as long as was best on dev; for test"
    )
    committee: int = Field(
        1,
        ge=1,
        le=100,
        description="parsers from different seeds that answer together; 1: the run's own alone. --resume may change it",
    )
    stop_at: dict[str, int] = Field(
        {},
        description="stage (folder/stage of a run below) -> its last epoch, which counts without a look at dev "
        "(a refit says here what was best)",
    )
    data: DataSettings = Field(DataSettings(), description=DataSettings.__doc__)
    model: ModelSettings = Field(ModelSettings(), description=ModelSettings.__doc__)
    train: TrainSettings = Field(TrainSettings(), description=TrainSettings.__doc__)
    language_model: LanguageModelSettings = Field(LanguageModelSettings(), description=LanguageModelSettings.__doc__)
    matcher: MatcherSettings = Field(MatcherSettings(), description=MatcherSettings.__doc__)
    game: GameSettings = Field(GameSettings(), description=GameSettings.__doc__)
    pseudo: PseudoSettings = Field(PseudoSettings(), description=PseudoSettings.__doc__)
    search: SearchSettings = Field(SearchSettings(), description=SearchSettings.__doc__)

    @model_validator(mode="after")
    def _says_which_domain(self) -> Recipe:
        if self.domain == ANY_DOMAIN:
            raise ValueError("this recipe is for several domains, say for which: --set domain=NAME")
        return self

    @model_validator(mode="after")
    def _stops_fit(self) -> Recipe:
        for name, epoch in self.stop_at.items():
            stage = name.rpartition("/")[2]
            if stage not in self.stages:
                raise ValueError(f"stop_at: {name!r} is not among the stages {list(self.stages)}")
            most = self.training(stage).epochs
            if not 1 <= epoch <= most:
                raise ValueError(f"stop_at: {name} = {epoch}, expected 1 to {most}")
        if self.refit and self.data.everything:
            raise ValueError("refit needs dev to choose epochs by: leave out data.everything")
        return self

    @model_validator(mode="after")
    def _stages_fit(self) -> Recipe:
        if self.committee > 1 and "q2lf" not in self.stages:
            raise ValueError("committee: there is no parser without 'q2lf' among the stages")
        if self.search.prior and "lf_lm" not in self.stages:
            raise ValueError("search.prior: nobody knows how common forms are without 'lf_lm' among the stages")
        if self.search.prior and not self.search.reconstruction:
            raise ValueError("search.prior: it counts where both agents choose, which needs search.reconstruction")
        if self.search.matcher and "matcher" not in self.stages:
            raise ValueError("search.matcher: nobody compares forms with queries without 'matcher' among the stages")
        needed = {"pseudo": ["q2lf", "lf2q"], "dual": ["q2lf", "lf2q"]}
        needed["dual"] += [stage for reward, stage in _READS.items() if self.game.uses(reward)]
        for later, earlier in needed.items():
            if later in self.stages and (missing := [stage for stage in earlier if stage not in self.stages]):
                raise ValueError(f"the stage {later!r} needs {missing} among the stages")
        order: dict[str, int] = {stage: place for place, stage in enumerate(self.stages)}
        asked = ["matcher"] if self.game.uses("meaning") else []  # as it ships, where no stage trains it
        for later, earlier in (needed | {"dual": [*needed["dual"], *asked, "pseudo"]}).items():
            if behind := [stage for stage in earlier if order.get(stage, -1) > order.get(later, len(order))]:
                raise ValueError(f"the stage {later!r} comes before {behind}: expected it behind them")
        return self

    def training(self, stage: str) -> TrainSettings:
        """How a stage is trained."""
        if stage == "pseudo" and self.pseudo.epochs:
            first = min(self.train.evaluate_from, self.pseudo.epochs)
            return self.train.model_copy(update={"epochs": self.pseudo.epochs, "evaluate_from": first})
        if stage in ("query_lm", "lf_lm"):
            return TrainSettings(epochs=self.language_model.epochs, patience=self.language_model.patience)
        if stage == "matcher":
            return TrainSettings(epochs=self.matcher.epochs, patience=self.matcher.patience)
        return self.game if stage == "dual" else self.train


def read_recipe(path: Path, *, overrides: Sequence[str] = (), given: Path | str = "--set") -> Recipe:
    """A recipe file, with `a.b=value` overrides on top (the value as TOML writes it; bare words are text). Errors name
    the file, or where the overrides were `given` if it is right without them."""
    return make_recipe(read_toml(path, kind="recipe"), overrides=overrides, path=path, given=given)


def make_recipe(
    values: dict[str, Any], *, overrides: Sequence[str] = (), path: Path | None = None, given: Path | str = "--set"
) -> Recipe:
    """Settings from a plain dictionary; one with the schema number of an earlier version is brought up to date."""
    values = changed = _up_to_date(values, path)
    if overrides:
        changed = copy.deepcopy(values)
    for override in overrides:
        _apply(changed, override, given)
    try:
        return Recipe.model_validate(changed)
    except ValidationError as error:
        problems = [_explain(problem) for problem in error.errors()]
    own = [told for told in problems if told in _problems(values)] if overrides else problems
    raise InputError("; ".join(own or problems), path=path if own else given)


def _up_to_date(values: dict[str, Any], path: Path | None) -> dict[str, Any]:
    if "schema" not in values:
        return values
    told = {key: value for key, value in values.items() if key != "schema"}
    try:
        migrated = migrate(told, schema_of(values))
    except InputError as error:
        raise InputError(error.message, path=path) from None
    if migrated.removed:
        gone = ", ".join(f"{key} = {value!r}" for key, value in migrated.removed.items())
        raise InputError(f"settings of an earlier version that are no more: {gone}", path=path)
    return migrated.values


def read_saved_recipe(path: Path) -> tuple[Recipe, dict[str, Any]]:
    """The recipe of a run folder, whichever version wrote it, and what it says of settings that are no more (dotted key
    -> value): a parser that was trained with one of them still answers."""
    values = read_toml(path, kind="recipe")
    try:
        schema = schema_of(values)
        migrated = migrate({key: value for key, value in values.items() if key != "schema"}, schema)
    except InputError as error:
        raise InputError(error.message, path=path) from None
    return make_recipe(migrated.values, path=path), migrated.removed


def _problems(values: dict[str, Any]) -> list[str]:
    """All that is wrong with these settings, in words."""
    try:
        Recipe.model_validate(values)
    except ValidationError as error:
        return [_explain(problem) for problem in error.errors()]
    return []


def write_recipe(recipe: Recipe) -> str:
    """All settings, defaults included, as TOML, with the number of their schema."""
    return tomli_w.dumps({"schema": SCHEMA} | recipe.model_dump(mode="json", exclude_none=True))


def dotted(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys: `data.labeled = 0.5` and `"data.labeled" = 0.5` are the same."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def differences(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says that no other has by default: dotted key -> value."""
    usual = dict(dotted(type(recipe)(domain="").model_dump(mode="json")))
    told = dotted(recipe.model_dump(mode="json"))
    return {key: value for key, value in told if key == "domain" or key not in usual or value != usual[key]}


def explain(model: type[BaseModel] = Recipe, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """(key, default, meaning) of every setting, in order."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from explain(type(field.default), f"{prefix}{name}.")
        else:
            yield prefix + name, "required" if field.is_required() else _show(field.default), field.description or ""


def _show(value: object) -> str:
    """A value as TOML writes it, in one line; what is not set in a group is left out."""
    if isinstance(value, BaseModel):
        return inline(value.model_dump(mode="json", exclude_none=True))
    return "[" + ", ".join(map(_show, value)) + "]" if isinstance(value, tuple) else inline(value)


def inline(value: object) -> str:
    """A plain value as TOML writes it, in one line.

    >>> inline([{"name": "validity", "graded": True}, 0.5])
    '[{name = "validity", graded = true}, 0.5]'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)


def _apply(values: dict[str, Any], override: str, given: Path | str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise InputError(f"{override}: expected KEY=VALUE, for example train.epochs=20", path=given)
    if len(override) > MOST_OVERRIDE:
        raise InputError(f"{override[:40]}...: longer than {MOST_OVERRIDE} characters", path=given)
    try:
        value = parse_toml(f"value = {text}")["value"]
    except InputError:  # a bare word
        value = text
    *path, last = key.strip().split(".")
    if len(path) > DEEPEST:
        raise InputError(f"{override[:40]}...: no setting lies so deep", path=given)
    place = values
    for part in path:
        place = place.setdefault(part, {})
        if not isinstance(place, dict):
            raise InputError(f"{override}: {part!r} is no group of settings", path=given)
    place[last] = value


def _explain(problem: Any) -> str:
    """One problem in words; for an unknown key, with the keys that exist there."""
    place = [str(part) for part in problem["loc"]]  # empty for what is wrong with the settings as a whole
    if problem["type"] != "extra_forbidden":
        reason = problem["msg"].removeprefix("Value error, ")
        return ": ".join(filter(None, (".".join(place), reason[0].lower() + reason[1:])))
    *group, last = place
    model: type[BaseModel] = Recipe
    for part in group:
        if not part.isdigit():  # a place in a list
            default = model.model_fields[part].default
            model = type(default[0] if isinstance(default, tuple) else default)
    return unknown_name("setting", ".".join((*group, last)), (".".join((*group, name)) for name in model.model_fields))
