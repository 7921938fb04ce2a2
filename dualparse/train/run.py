"""A whole run from one recipe: examples, vocabularies, then stage after stage into a run folder.

Finished stages are kept, a stage under way goes on from its checkpoint. Yields what happens; the caller shows it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from dualparse.config import ModelSettings, Recipe, TrainSettings
from dualparse.data.benchmarks import glove_path, require
from dualparse.data.catalog import open_domain
from dualparse.data.examples import Example, Split, labeled_split, load_examples
from dualparse.data.glove import read_vectors
from dualparse.data.vocab import SPECIAL, Vocab
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.files import unfinished
from dualparse.models.language_model import LanguageModel
from dualparse.models.seq2seq import Seq2Seq
from dualparse.runs import LANGUAGE_MODELS, Run, new_agent, new_language_model, search_options
from dualparse.train.loop import Record, Schedule, Task, Tick, fit
from dualparse.train.step import Adam
from dualparse.train.supervised import agent_task, language_model_task


@dataclass(frozen=True)
class Note:
    """Something worth saying about a run that is not a number of an epoch."""

    text: str


@dataclass(frozen=True)
class Material:
    """All that the stages of a run share: the domain, its examples as this run may use them, the vocabularies."""

    domain: Domain
    train: Split
    dev: list[Example]
    query_vocab: Vocab
    lf_vocab: Vocab


def choose_device(name: str = "auto") -> torch.device:
    """`auto` takes a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"unknown device {name!r}: expected auto, cpu or cuda") from None
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"unknown device {name!r}: expected auto, cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError("no CUDA device here: use --device cpu")
    return device


def train(
    recipe: Recipe, folder: Path, *, resume: bool = False, device: torch.device
) -> Iterator[Note | Tick | Record]:
    """Run all stages of a recipe; the folder must be new unless the run is to be resumed."""
    run = _open_folder(recipe, folder, resume=resume)
    material = load_material(recipe)  # before anything is written: what is wrong here leaves no folder behind
    run.save_recipe(recipe)
    for leftover in filter(unfinished, folder.iterdir()):
        leftover.unlink()
    _keep_vocab(run, "query", material.query_vocab)
    _keep_vocab(run, "lf", material.lf_vocab)
    yield Note(
        f"{material.domain.title}: {len(material.train.labeled)} pairs to train on, {len(material.dev)} for dev; "
        f"{len(material.query_vocab)} query words, {len(material.lf_vocab)} form tokens"
    )
    finished = [record for record in run.read_log() if run.weights(record["stage"]).exists()]
    run.write_log(finished)
    for stage in recipe.stages:
        if run.weights(stage).exists():
            run.checkpoint(stage).unlink(missing_ok=True)
            yield Note(f"{stage}: finished before, kept")
            continue
        yield from _train_stage(recipe, run, stage, material, device)


def load_material(recipe: Recipe) -> Material:
    """The examples a run may use. Vocabularies come from the whole training file, as in the paper."""
    domain = open_domain(recipe.domain)
    settings = recipe.data
    splits = load_examples(domain, dev_seed=settings.split_seed)
    for name, examples in (("training", splits.train), ("dev", splits.dev)):
        if not examples:
            raise InputError(f"the domain {domain.name!r} has no {name} pairs")
    train = labeled_split(
        splits.train, ratio=settings.labeled, seed=settings.split_seed, unlabeled_ratio=settings.unlabeled
    )
    phrases = [phrase for entity in sorted(domain.lexicon.entities) for phrase in domain.lexicon.phrases(entity)]
    words = {word for phrase in phrases for word in phrase}
    queries = [example.query for example in splits.train if example.query]
    forms = [example.lf for example in splits.train if example.lf]
    query_vocab = Vocab.build(queries, min_count=settings.min_count)
    lf_vocab = Vocab.build(forms, always=domain.lexicon.entities | words)
    return Material(domain, train, splits.dev, query_vocab, lf_vocab)


def _open_folder(recipe: Recipe, folder: Path, *, resume: bool) -> Run:
    run = Run(folder)
    if (folder / "config.toml").exists():
        if not resume:
            raise InputError(
                "this folder holds a run already: use --resume to go on with it, or another --out", path=folder
            )
        if run.recipe != recipe:
            raise InputError(
                "the run in this folder was started with other settings (see its config.toml)", path=folder
            )
        return run
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; expected a folder", path=folder)
    if folder.is_dir() and any(not unfinished(path) for path in folder.iterdir()):
        raise InputError("this folder is not empty and holds no run", path=folder)
    return run


def _keep_vocab(run: Run, side: str, vocab: Vocab) -> None:
    """Write a vocabulary; the weights of a run that is taken up belong to the one it began with."""
    if run.vocab_path(side).exists() and run.vocab(side) != vocab:
        raise InputError("the examples of the domain have changed since this run began", path=run.vocab_path(side))
    run.save_vocab(side, vocab)


def _train_stage(
    recipe: Recipe, run: Run, stage: str, material: Material, device: torch.device
) -> Iterator[Note | Tick | Record]:
    """Train one model and write its weights."""
    settings = recipe.language_model if stage in LANGUAGE_MODELS else recipe.train
    generator = torch.Generator().manual_seed(_stage_seed(recipe.seed, stage))
    if stage in LANGUAGE_MODELS:
        task, note = _prepare_language_model(recipe, stage, material, settings, generator, device)
    else:
        task, note = _prepare_agent(recipe, stage, material, settings, generator, device)
    if note:
        yield Note(note)
    schedule = Schedule(
        settings.epochs,
        settings.patience,
        settings.evaluate_from,
        settings.evaluate_every,
        settings.final_rate,
        recipe.seed,
    )
    started, best = time.perf_counter(), 0
    for event in fit(task, schedule, checkpoint=run.checkpoint(stage)):
        if isinstance(event, Record):
            run.append_log(vars(event))
            best = event.epoch if event.best else best
        yield event
    metadata = {"stage": stage, "epoch": str(best), "seconds": f"{time.perf_counter() - started:.1f}"}
    run.save_weights(stage, task.stepper.modules[stage], metadata=metadata)
    run.checkpoint(stage).unlink(missing_ok=True)


def _prepare_agent(
    recipe: Recipe,
    stage: str,
    material: Material,
    settings: TrainSettings,
    generator: torch.Generator,
    device: torch.device,
) -> tuple[Task, str]:
    direction = "q2lf" if stage == "q2lf" else "lf2q"
    agent = new_agent(recipe, direction, material.query_vocab, material.lf_vocab, material.domain)
    agent.model.initialize(scale=recipe.model.init, generator=generator)
    note = set_word_vectors(agent.model, agent.source_vocab, agent.target_vocab, recipe.model)
    agent.model.to(device)
    task = agent_task(
        agent,
        material.train.labeled,
        material.dev,
        material.domain,
        optimizer=adam(settings),
        batch_size=settings.batch_size,
        seed=recipe.seed,
        search=search_options(recipe, beams=recipe.search.dev_beams),
    )
    return task, f"{stage}: {note}" if note else ""


def _prepare_language_model(
    recipe: Recipe,
    stage: str,
    material: Material,
    settings: TrainSettings,
    generator: torch.Generator,
    device: torch.device,
) -> tuple[Task, str]:
    """Language models read the unlabeled side too (paper Section 4.3.2)."""
    side = LANGUAGE_MODELS[stage]
    vocab = material.query_vocab if side == "query" else material.lf_vocab
    model: LanguageModel = new_language_model(recipe, vocab)
    model.initialize(scale=recipe.model.init, generator=generator)
    model.to(device)
    more = material.train.queries if side == "query" else material.train.forms

    def texts(examples: list[Example]) -> list[tuple[str, ...]]:
        return [getattr(example, side) for example in examples]

    task = language_model_task(
        model,
        stage,
        vocab,
        texts(material.train.labeled + more),
        texts(material.dev),
        optimizer=adam(settings),
        batch_size=settings.batch_size,
        seed=recipe.seed,
    )
    return task, ""


def adam(settings: TrainSettings) -> Adam:
    return Adam(settings.learning_rate, settings.weight_decay, settings.clip, settings.average)


def set_word_vectors(model: Seq2Seq, source: Vocab, target: Vocab, settings: ModelSettings) -> str:
    """Start the embeddings of known words from word vectors; says how many had none."""
    if settings.word_vectors == "none":
        return ""
    path = glove_path() if settings.word_vectors == "glove" else Path(settings.word_vectors)
    if path is None:
        path = require("glove")
    words = [token for vocab in (source, target) for token in vocab.tokens[len(SPECIAL) :]]
    found = read_vectors(path, words, dimension=settings.embedding)
    vectors = dict(zip(found.words, torch.from_numpy(found.vectors), strict=True))
    with torch.no_grad():
        for vocab, embedding in ((source, model.source_embedding), (target, model.target_embedding)):
            for number, token in enumerate(vocab.tokens):
                if token in vectors:
                    embedding.weight[number] = vectors[token]
    return f"{len(found.words)} of {len(set(words))} tokens start from word vectors; {len(found.missing)} have none"


def _stage_seed(seed: int, stage: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{stage}/init".encode()).digest()[:6], "big")
