"""A recipe: all settings of a run, and what must hold between them."""

from __future__ import annotations

from typing import get_args

from pydantic import Field, model_validator

from dualparse.config.settings import (
    Closed,
    DataSettings,
    GameSettings,
    LanguageModelSettings,
    MatcherSettings,
    ModelSettings,
    PseudoSettings,
    SearchSettings,
    Stage,
    TrainSettings,
)

LEARNED_FROM_DEV = "this run has learned from the dev pairs: scores on them say nothing, use --split test"

MEMBERS = "members"  # folder below a run's own: runs that answer together with it

ANY_DOMAIN = "{domain}"  # in a recipe that is the same for several

_READS = {"fluency": "query_lm", "form_lm": "lf_lm"}  # reward -> the language model it asks


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
        needed = {"pseudo": ["q2lf", "lf2q"], "dual": ["q2lf", "lf2q"], "reader": ["matcher"]}
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

    def training(self, stage: str) -> TrainSettings | GameSettings:
        """How a stage is trained."""
        if stage == "pseudo" and self.pseudo.epochs:
            first = min(self.train.evaluate_from, self.pseudo.epochs)
            return self.train.model_copy(update={"epochs": self.pseudo.epochs, "evaluate_from": first})
        if stage in ("query_lm", "lf_lm"):
            return TrainSettings(epochs=self.language_model.epochs, patience=self.language_model.patience)
        if stage in ("matcher", "reader"):
            return TrainSettings(epochs=self.matcher.epochs, patience=self.matcher.patience)
        return self.game if stage == "dual" else self.train
