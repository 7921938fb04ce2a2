"""Run folders: what a training run leaves behind, and how to take it up again. Text and safetensors, nothing pickled.
Opening one needs no torch; its models do, when they are asked for.

config.toml                      all settings, defaults included
query.vocab, lf.vocab            one token a line, line number = id
q2lf.safetensors ...             the weights of every finished stage; pretrained-q2lf... where a later one goes on
STAGE.checkpoint.safetensors     a stage under way
log.jsonl                        a record per epoch
confidence.json                  how likely its answers are right (`dualparse.asking.trust`)
learned.jsonl                    what people have said is meant (`dualparse.asking.memory`)
manifest.json                    the size and SHA-256 of the files above, written when all stages are finished
predictions.SPLIT.jsonl, metrics.json   what `evaluate` found
domain                           how its database is asked (`dualparse.asking.folder_domain`), where it has one
refit                            a run folder: the same once more, with the dev pairs as well
members/2 ...                    run folders with other seeds: parsers that answer together with its own
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualparse import manifest
from dualparse.choosing.ranking import Weighted
from dualparse.config import MEMBERS, Recipe, read_saved_recipe, write_recipe
from dualparse.data.batch import DIRECTIONS, Direction
from dualparse.data.vocab import Vocab
from dualparse.domains.domain import Domain
from dualparse.domains.registry import trained_on
from dualparse.engines.found import Options
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.log import read_log

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

    from dualparse.choosing.chooser import Chooser, Search
    from dualparse.choosing.light import LightAgent
    from dualparse.choosing.scorers import Commonness, WayBack
    from dualparse.matching.index import Index
    from dualparse.matching.matcher import Matcher
    from dualparse.matching.reader import SecondReader
    from dualparse.networks.agent import Agent
    from dualparse.networks.network import TextModel

_log = logging.getLogger(__name__)

REFIT = "refit"  # folder of the run that learned from dev as well, below that of the run it follows
LANGUAGE_MODELS = {"query_lm": "query", "lf_lm": "lf"}  # stage -> whose vocabulary
TINY = 1e-30  # weights below this are 0: they change nothing, and the smallest would slow a CPU down


class Run:
    """A run folder. Reading it back gives the same objects that were written."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._recipe: tuple[bytes, Recipe] | None = None  # the text of config.toml, and what it says
        self._whole = False  # every file is what the manifest says: its tensors need no second look

    @classmethod
    def open(cls, folder: Path) -> Run:
        """An existing run; anything else is an error that says what was expected."""
        if not folder.is_dir():
            raise InputError("no such run folder (dualparse train RECIPE --out FOLDER makes one)", path=folder)
        if not (folder / "config.toml").is_file() and not (folder / manifest.NAME).is_file():
            raise InputError("not a run folder: config.toml is missing", path=folder)
        run = cls(folder)
        run._whole = manifest.verify(folder) is not None
        if not run._whole:
            _log.warning("%s has no manifest.json: its files are taken as they are", folder)
        return run

    @property
    def recipe(self) -> Recipe:
        """Read anew only when the file has other content than before: another object may have written it."""
        path = self.folder / "config.toml"
        text = path.read_bytes() if path.is_file() else b""
        if self._recipe is None or self._recipe[0] != text:
            recipe, _ = read_saved_recipe(path)
            if not text.endswith(b"\n"):  # it would read well, with defaults for what is gone
                raise InputError("cut short: the last line has no end", path=path)
            self._recipe = (text, recipe)
        return self._recipe[1]

    def save_recipe(self, recipe: Recipe) -> None:
        """Write `config.toml`; a finished run stays one."""
        with manifest.changing(self.folder, "config.toml"):
            write_text(self.folder / "config.toml", write_recipe(recipe))

    def vocab_path(self, side: str) -> Path:
        return self.folder / f"{side}.vocab"

    def vocab(self, side: str) -> Vocab:
        return Vocab.load(self.vocab_path(side))

    def save_vocab(self, side: str, vocab: Vocab) -> None:
        vocab.save(self.vocab_path(side))

    def weights(self, stage: str) -> Path:
        return self.folder / f"{stage}.safetensors"

    def checkpoint(self, stage: str) -> Path:
        return self.folder / f"{stage}.checkpoint.safetensors"

    def save_weights(self, stage: str, module: nn.Module, *, metadata: Mapping[str, str]) -> None:
        from dualparse.networks.tensors import save_tensors

        save_tensors(self.weights(stage), module.state_dict(), metadata)

    def domain(self) -> Domain:
        """The domain it was trained on: the one it holds itself, or the one its recipe names."""
        return trained_on(self.folder, self.recipe.domain)

    def agent(self, direction: Direction, domain: Domain, device: torch.device, *, weights: str | None = None) -> Agent:
        """A trained agent; `weights` names others than the final ones."""
        agent = new_agent(self.recipe, direction, self.vocab("query"), self.vocab("lf"), domain)
        self._load(agent.model, weights or direction)
        agent.model.to(device).eval()
        return agent

    def parsers(
        self, domain: Domain, device: torch.device, *, weights: str = "q2lf", count: int | None = None
    ) -> list[Agent]:
        """All that answer together, or the first so many, the run's own first; `weights` names others than the final
        ones."""
        own, others = self.agent("q2lf", domain, device, weights=weights), self._members(weights, count)
        return [own, *(other.agent("q2lf", domain, device, weights=weights) for other in others)]

    def search(
        self,
        domain: Domain,
        device: torch.device,
        *,
        weights: str = "q2lf",
        count: int | None = None,
        beams: int | None = None,
    ) -> Search:
        """What finds forms: the run's parsers, as `parsers` has them, and how its recipe has them search."""
        from dualparse.choosing.chooser import Search

        parsers = self.parsers(domain, device, weights=weights, count=count)
        return Search(parsers, search_options(self.recipe, beams=beams))

    def scorers(self, domain: Domain, device: torch.device, *, weights: str = "lf2q") -> list[Weighted]:
        """Which agents and language models besides q2lf have a say in which form is chosen, by the recipe."""
        recipe = self.recipe
        if not recipe.search.reconstruction or "lf2q" not in recipe.stages:
            return []
        heard = [
            Weighted("reconstruction", self.way_back(domain, device, weights=weights), recipe.search.reconstruction)
        ]
        if recipe.search.prior:
            heard.append(Weighted("prior", self.commonness(device), recipe.search.prior))
        return heard

    def chooser(self, domain: Domain, device: torch.device, search: Search) -> Chooser:
        """What chooses forms by the recipe: the search, which a matcher adds to, and whoever else has a say."""
        from dualparse.choosing.chooser import Proposed, Reranked

        heard = self.scorers(domain, device)
        if not self.recipe.search.matcher:
            return Reranked(search, heard)
        index = self.index(domain, device)
        return Reranked(Proposed(search, index), [*heard, *self.comparers(index)])

    def comparers(self, index: Index) -> list[Weighted]:
        """Who compares the utterances of forms with queries: the matcher, and the second reader where the recipe trains
        one. Both count alike."""
        from dualparse.choosing.scorers import Meaning, SecondReading

        weight = self.recipe.search.matcher
        heard = [Weighted("matcher", Meaning(index), weight)]
        if "reader" in self.recipe.stages:
            heard.append(Weighted("reader", SecondReading(index, self.reader(index.matcher)), weight))
        return heard

    def index(self, domain: Domain, device: torch.device) -> Index:
        """All that the grammar says, to be compared with questions by the trained matcher, or by one as it ships where
        the run trains none."""
        from dualparse.matching.index import open_index, templates_of

        return open_index(templates_of(domain), self.matcher().to(device))

    def matcher(self) -> Matcher:
        """The trained matcher, or one as it ships where the run trains none."""
        from dualparse.matching.adapter import open_matcher
        from dualparse.matching.upper import restored

        encoder = self.recipe.model.encoder
        if "matcher" in self.recipe.stages:
            return restored(encoder, self._tensors("matcher"), path=self.weights("matcher"))
        return open_matcher(encoder).eval().requires_grad_(False)

    def reader(self, matcher: Matcher) -> SecondReader:
        """The trained second reader, beside its matcher."""
        from dualparse.matching.reader import restored_reader

        return restored_reader(matcher, self._tensors("reader"), path=self.weights("reader"))

    def way_back(
        self, domain: Domain, device: torch.device, *, weights: str = "lf2q", count: int | None = None
    ) -> WayBack:
        """Every lf2q that has a say where both agents choose, the run's own first. A member has one only where it had
        something to teach."""
        from dualparse.choosing.scorers import WayBack

        others = [other for other in self._members("q2lf", count) if "lf2q" in other.recipe.stages]
        return WayBack([each.agent("lf2q", domain, device, weights=weights) for each in (self, *others)])

    def commonness(self, device: torch.device, *, count: int | None = None) -> Commonness:
        """Every lf_lm that says how common a form is where both agents choose: the run's own, and those of members."""
        from dualparse.choosing.scorers import Commonness

        others = [other for other in self._members("q2lf", count) if "lf_lm" in other.recipe.stages]
        return Commonness([each.language_model("lf_lm", device) for each in (self, *others)], self.vocab("lf"))

    def _members(self, weights: str, count: int | None) -> list[Run]:
        """The runs whose parsers answer together with this one's; they must have these weights."""
        count = count or self.recipe.committee
        others = [Run(self.folder / MEMBERS / str(number)) for number in range(2, count + 1)]
        if missing := next((other.folder for other in others if not other.weights(weights).exists()), None):
            raise InputError(
                f"{missing.relative_to(self.folder)}, one of {count} parsers, is not trained yet: {self._way_on}",
                path=self.folder,
            )
        return [Run.open(other.folder) for other in others]

    @property
    def _way_on(self) -> str:
        if self.folder.name == REFIT:
            return f"dualparse refit {self.folder.parent} goes on with it"
        return f"dualparse train RECIPE --out {self.folder} --resume goes on with it (with the same --set)"

    def language_model(self, stage: str, device: torch.device) -> TextModel:
        """A trained language model."""
        model = new_language_model(self.recipe, stage, self.vocab(LANGUAGE_MODELS[stage]))
        self._load(model, stage)
        return model.to(device).eval()

    def _tensors(self, stage: str) -> dict[str, Tensor]:
        from dualparse.networks.tensors import load_tensors

        path = self.weights(stage)
        if not path.exists():
            if stage in (stages := self.recipe.stages):
                raise InputError(f"{stage} is not trained yet: {self._way_on}", path=path)
            raise InputError(f"this run has no {stage} model: its recipe trains {', '.join(stages)}", path=path)
        return load_tensors(path, check=not self._whole)[0]

    def _load(self, module: nn.Module, stage: str) -> None:
        path, tensors = self.weights(stage), self._tensors(stage)
        wanted = module.state_dict()
        for name, tensor in wanted.items():
            if name not in tensors:
                raise InputError(f"{name} is missing: weights of another kind of model", path=path)
            if tensors[name].shape != tensor.shape:
                raise InputError(
                    f"{name} is {list(tensors[name].shape)}, expected {list(tensor.shape)}: "
                    "the weights do not fit the vocabulary or the settings of this folder",
                    path=path,
                )
        module.load_state_dict({name: _without_tiny(tensors[name]) for name in wanted})

    @property
    def light(self) -> bool:
        """Whether `light_agent` can stand in for every model that an answer asks: one parser, the paper's networks, and
        files that are what the manifest says."""
        recipe = self.recipe
        kinds = {recipe.model.kind(direction) for direction in DIRECTIONS if direction in recipe.stages}
        return (
            self._whole
            and recipe.committee == 1
            and kinds == {"lstm"}
            and not recipe.search.prior
            and not recipe.search.matcher
        )

    def light_agent(self, direction: Direction, domain: Domain) -> LightAgent:
        """A trained agent in NumPy; torch is not loaded for it."""
        from dualparse.choosing.light import LightAgent
        from dualparse.engines.light.network import load_light

        source, target = _in_order(direction, self.vocab("query"), self.vocab("lf"))
        model = load_light(self.weights(direction), copy=self.recipe.model.copy_mechanism)
        if (model.source_size, model.target_size) != (len(source), len(target)):
            raise InputError("the weights do not fit the vocabulary of this folder", path=self.weights(direction))
        return LightAgent(direction, model, source, target, domain.lexicon)

    def write_log(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Replace the log by these records."""
        write_text(self.folder / "log.jsonl", "".join(json.dumps(record) + "\n" for record in records))

    def append_log(self, record: Mapping[str, Any]) -> None:
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")

    def read_log(self) -> list[dict[str, Any]]:
        """All records; a last line that a crash cut off is left out."""
        path = self.folder / "log.jsonl"
        return read_log(path) if path.exists() else []

    def metrics(self) -> dict[str, Any]:
        path = self.folder / "metrics.json"
        try:
            return dict(json.loads(path.read_bytes())) if path.exists() else {}
        except (ValueError, TypeError, RecursionError):  # not JSON, not UTF-8, not an object
            raise InputError("not a JSON object; delete it and evaluate again", path=path) from None

    def save_metrics(self, metrics: Mapping[str, Any]) -> None:
        write_text(self.folder / "metrics.json", json.dumps(metrics, indent=2) + "\n")

    def forget_scores(self) -> None:
        """Of parsers that are no longer those of this run."""
        named = (self.folder / name for name in ("metrics.json", "confidence.json"))
        for path in (*self.folder.glob("predictions.*.jsonl"), *self.folder.glob("calibration.*"), *named):
            path.unlink(missing_ok=True)

    def save_predictions(self, split: str, predictions: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(json.dumps(prediction, ensure_ascii=False) + "\n" for prediction in predictions)
        write_text(self.folder / f"predictions.{split}.jsonl", text)


def _without_tiny(tensor: Tensor) -> Tensor:
    return tensor.masked_fill(tensor.abs() < TINY, 0) if tensor.is_floating_point() else tensor


def new_agent(recipe: Recipe, direction: Direction, query: Vocab, lf: Vocab, domain: Domain) -> Agent:
    """An agent with the sizes of a recipe, untrained."""
    from dualparse.networks.agent import Agent
    from dualparse.networks.registry import new_network

    source, target = _in_order(direction, query, lf)
    settings = recipe.model
    model = new_network(settings.kind(direction), len(source), len(target), settings)
    model.know(source.tokens)
    return Agent(direction, model, source, target, domain.lexicon)


def _in_order(direction: Direction, query: Vocab, lf: Vocab) -> tuple[Vocab, Vocab]:
    """The vocabularies of what is read and of what is written."""
    return (query, lf) if direction == "q2lf" else (lf, query)


def search_options(recipe: Recipe, *, beams: int | None = None) -> Options:
    """How a run searches; `beams` overrides the recipe's width."""
    settings = recipe.search
    return Options(beams or settings.beams, settings.max_length, settings.length_power)


def new_language_model(recipe: Recipe, stage: str, vocab: Vocab) -> TextModel:
    """A language model with the sizes of a recipe, untrained."""
    from dualparse.networks.registry import new_text_model

    return new_text_model(recipe.model.kind(stage), len(vocab), recipe.model)
