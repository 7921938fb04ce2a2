"""Each stage of a run as a task: pre-training of the agents and language models, pseudo-labelling, the game.

In: a recipe, the run so far and its material. Out: a task for the loop, and under which names its weights are kept.
Where a later stage makes the final agents, the pre-trained ones are kept as `pretrained-q2lf`, `pretrained-lf2q`. With
`pseudo` among the stages, the game goes on with its q2lf, kept as `pseudo-q2lf`.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from itertools import cycle, islice

import torch

from dualparse.config import Recipe, UpdateSettings
from dualparse.data.batch import Direction
from dualparse.data.examples import Example
from dualparse.game.play import Players
from dualparse.networks.agent import Agent
from dualparse.runs import LANGUAGE_MODELS, Run, new_agent, new_language_model, search_options
from dualparse.training.game import Sets, game_task
from dualparse.training.loop import Schedule, Task
from dualparse.training.matcher import matcher_task
from dualparse.training.material import Material, Relative, set_word_vectors
from dualparse.training.pseudo import pseudo_pairs
from dualparse.training.reader import reader_task
from dualparse.training.run_parts import results
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task, language_model_task


@dataclass(frozen=True)
class Prepared:
    """A stage ready to run; `saves` says under which name each of its modules is kept."""

    task: Task
    schedule: Schedule
    saves: dict[str, str]
    note: str = ""


def prepare(stage: str, recipe: Recipe, run: Run, material: Material, device: torch.device) -> Prepared:
    """Make the task of a stage."""
    if stage == "dual":
        return _game(recipe, run, material, device)
    if stage == "pseudo":
        return _pseudo(recipe, run, material, device)
    if stage == "matcher":
        return _matcher(recipe, material, device)
    if stage == "reader":
        return _reader(recipe, run, material, device)
    if stage in LANGUAGE_MODELS:
        return _language_model(stage, recipe, material, device)
    return _agent("q2lf" if stage == "q2lf" else "lf2q", recipe, material, device)


def _agent(direction: Direction, recipe: Recipe, material: Material, device: torch.device) -> Prepared:
    agent, note = _fresh_agent(direction, direction, recipe, material, device)
    if material.relatives:
        first, *others = material.relatives
        agent = replace(agent, lexicon=first.domain.lexicon)
        task = _supervised(agent, recipe, first, first.pairs_of(direction), others=others, joint=True)
    else:
        task = _supervised(agent, recipe, material, material.pairs_of(direction), others=[])
    return Prepared(task, _schedule(recipe, direction), results(recipe, direction), note)


def _fresh_agent(
    direction: Direction, stage: str, recipe: Recipe, material: Material, device: torch.device
) -> tuple[Agent, str]:
    agent = new_agent(recipe, direction, material.query_vocab, material.lf_vocab, material.domain)
    agent.model.initialize(scale=recipe.model.init, generator=_generator(recipe, stage))
    note = set_word_vectors(agent.model, agent.source_vocab, agent.target_vocab, recipe.model)
    agent.model.to(device)
    return agent, f"{stage}: {note}" if note else ""


def _supervised(
    agent: Agent,
    recipe: Recipe,
    material: Material | Relative,
    pairs: list[Example],
    *,
    weights: list[float] | None = None,
    others: list[Relative],
    joint: bool = False,
) -> Task:
    return agent_task(
        agent,
        pairs,
        material.dev,
        material.domain,
        optimizer=adam(recipe.train),
        batch_size=recipe.train.batch_size,
        updates=recipe.train.updates,
        seed=recipe.seed,
        search=search_options(recipe, beams=recipe.search.dev_beams),
        weights=weights,
        others=others,
        joint=joint,
    )


def _pseudo(recipe: Recipe, run: Run, material: Material, device: torch.device) -> Prepared:
    """Train q2lf anew on the labeled pairs and on pairs the pre-trained agents made up, these at a discount."""
    settings = recipe.pseudo
    made = pseudo_pairs(
        _trained_agent("q2lf", recipe, run, material, device),
        _trained_agent("lf2q", recipe, run, material, device),
        material.queries,
        material.forms,
        search_options(recipe),
        rng=random.Random(f"{recipe.seed}/pseudo/phrases"),
    )
    agent, _ = _fresh_agent("q2lf", "pseudo", recipe, material, device)
    pairs = material.pairs + material.analogous
    weights = [1.0] * len(pairs) + [settings.discount] * len(made)
    task = _supervised(agent, recipe, material, pairs + made, weights=weights, others=material.others)
    note = f"pseudo: {len(made)} pairs made up, each worth {settings.discount}"
    return Prepared(
        Task("pseudo", task.stepper, task.epoch, task.summarize, task.evaluate),
        _schedule(recipe, "pseudo"),
        results(recipe, "pseudo"),
        note,
    )


def _language_model(stage: str, recipe: Recipe, material: Material, device: torch.device) -> Prepared:
    """Language models read the unlabeled side too (paper Section 4.3.2)."""
    side, settings = LANGUAGE_MODELS[stage], recipe.training(stage)
    vocab = material.query_vocab if side == "query" else material.lf_vocab
    model = new_language_model(recipe, stage, vocab)
    model.initialize(scale=recipe.model.init, generator=_generator(recipe, stage))
    model.to(device)
    read = material.all_queries if side == "query" else material.all_forms

    def texts(examples: list[Example]) -> list[tuple[str, ...]]:
        return [getattr(example, side) for example in examples]

    task = language_model_task(
        model,
        stage,
        vocab,
        texts(read),
        texts(material.dev),
        optimizer=adam(settings),
        batch_size=settings.batch_size,
        updates=settings.updates,
        seed=recipe.seed,
    )
    return Prepared(task, _schedule(recipe, stage), results(recipe, stage))


def _matcher(recipe: Recipe, material: Material, device: torch.device) -> Prepared:
    encoder, layers = recipe.model.encoder, recipe.matcher.layers
    task, note = matcher_task(_matched(material), encoder=encoder, layers=layers, seed=recipe.seed, device=device)
    return Prepared(task, _schedule(recipe, "matcher"), results(recipe, "matcher"), note)


def _reader(recipe: Recipe, run: Run, material: Material, device: torch.device) -> Prepared:
    encoder = recipe.model.encoder
    task, note = reader_task(_matched(material), run.matcher(), encoder=encoder, seed=recipe.seed, device=device)
    return Prepared(task, _schedule(recipe, "reader"), results(recipe, "reader"), note)


def _matched(material: Material) -> list[Relative]:
    """The pairs that matcher and second reader learn from: those of the family, or the domain's own."""
    return material.relatives or [Relative(material.domain, material.labeled, [], [], material.dev, [])]


def _game(recipe: Recipe, run: Run, material: Material, device: torch.device) -> Prepared:
    settings = recipe.game
    beginner = results(recipe, "pseudo" if "pseudo" in recipe.stages else "q2lf")["q2lf"]
    players = Players(
        run.agent("q2lf", material.domain, device, weights=beginner),
        _trained_agent("lf2q", recipe, run, material, device),
        run.language_model("query_lm", device) if settings.uses("fluency") else None,
        run.language_model("lf_lm", device) if settings.uses("form_lm") else None,
        run.index(material.domain, device) if settings.uses("meaning") else None,
    )
    read, said = (material.pairs_of(direction) for direction in ("q2lf", "lf2q"))
    sets = Sets(list(islice(cycle(said), len(read))), material.all_queries, material.all_forms, read)
    task = game_task(
        players,
        sets,
        material.dev,
        material.domain,
        settings,
        optimizer=adam(settings),
        seed=recipe.seed,
        dev_search=search_options(recipe, beams=recipe.search.dev_beams),
    )
    note = f"dual: {len(sets.queries)} queries, {len(sets.forms)} forms, {len(sets.labeled)} pairs"
    return Prepared(task, _schedule(recipe, "dual"), results(recipe, "dual"), note)


def _trained_agent(direction: Direction, recipe: Recipe, run: Run, material: Material, device: torch.device) -> Agent:
    return run.agent(direction, material.domain, device, weights=results(recipe, direction)[direction])


def adam(settings: UpdateSettings) -> Adam:
    return Adam(settings.learning_rate, settings.weight_decay, settings.clip, settings.average)


def _schedule(recipe: Recipe, stage: str) -> Schedule:
    """Where there is no dev, the last epoch counts."""
    settings = recipe.training(stage)
    return Schedule(
        settings.epochs,
        settings.patience,
        settings.evaluate_from,
        settings.evaluate_every,
        recipe.seed,
        recipe.stop_at.get(stage, settings.epochs if recipe.data.everything else 0),
    )


def _generator(recipe: Recipe, stage: str) -> torch.Generator:
    seed = hashlib.sha256(f"{recipe.seed}/{stage}/init".encode()).digest()[:6]
    return torch.Generator().manual_seed(int.from_bytes(seed, "big"))
