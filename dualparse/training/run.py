"""A whole run from one recipe: examples, vocabularies, then stage after stage into a run folder.

Finished stages are kept, a stage under way goes on from its checkpoint. Yields what happens; the caller shows it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from dualparse.config import DataSettings, ModelSettings, Recipe, Stage, dotted
from dualparse.data.vocab import Vocab
from dualparse.domains.domain import Domain
from dualparse.engines import cpu
from dualparse.engines.engine import told, why_plain
from dualparse.errors import InputError
from dualparse.files import LOCK, holding, replacing, unfinished
from dualparse.manifest import KEPT, forget_manifest, verify, write_manifest
from dualparse.networks.network import Network, TextModel
from dualparse.networks.tensors import load_tensors
from dualparse.runs import REFIT, Run
from dualparse.training.essence import TAKEN_OVER, read_in_answers, stage_recipe
from dualparse.training.loop import Record, Tick, fit
from dualparse.training.material import Material, load_material
from dualparse.training.run_parts import all_stages, is_finished, members, results
from dualparse.training.stages import prepare

MOST_TOLD = 3  # settings that differ, in an error


@dataclass(frozen=True)
class Note:
    """Something worth saying about a run that is not a number of an epoch."""

    text: str


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
    recipe: Recipe,
    folder: Path,
    *,
    resume: bool = False,
    device: torch.device,
    shared: Mapping[str, Path] | None = None,
    domain: Domain | None = None,
) -> Iterator[Note | Tick | Record]:
    """Run all stages of a recipe, on a domain or on the one the recipe names; the folder must be new unless the run is
    to be resumed.

    `shared` says which run trained a pre-training stage already, with the folder before it where it is one of a run
    below. Others are looked for in `start_from`.
    """
    if device.type == "cpu":
        cpu.prepare()  # at the start, so that a run that is resumed rounds as before
    shared = shared or {}
    run = _open_folder(recipe, folder, resume=resume)
    material = load_material(recipe, domain)  # before anything is written: what is wrong here leaves no folder behind
    vocabularies = {"query": material.query_vocab, "lf": material.lf_vocab}
    _same_vocabularies(run, vocabularies)
    with holding(folder):
        _open_folder(recipe, folder, resume=resume)  # another process may have been here since
        _check_weights(recipe, folder)
        forget_manifest(folder)
        yield from _train(recipe, run, material, device, shared, domain)
        write_manifest(folder)
        if recipe.refit:
            yield from refit(run, device=device, domain=domain)


def _train(
    recipe: Recipe,
    run: Run,
    material: Material,
    device: torch.device,
    shared: Mapping[str, Path],
    domain: Domain | None,
) -> Iterator[Note | Tick | Record]:
    """Every stage that is not there yet, in a folder that is ours."""
    folder = run.folder
    if (folder / "config.toml").exists() and _answering(run.recipe) != _answering(recipe):
        run.forget_scores()
    run.save_recipe(recipe)
    for leftover in filter(unfinished, folder.iterdir()):
        if leftover.name != LOCK:
            leftover.unlink()
    run.save_vocab("query", material.query_vocab)
    run.save_vocab("lf", material.lf_vocab)
    if material.domain.keep is not None:
        material.domain.keep(folder / KEPT)
    made = {"from the grammar": len(material.canonical), "by analogy": len(material.analogous)}
    made_up = ", ".join(f"{number} {how}" for how, number in made.items() if number)
    others = material.others
    pairs = sum(len(other.pairs_of("q2lf")) for other in others)
    family = f" and {pairs} of {len(others)} other domains" if others else ""
    dev = "the dev pairs among them" if recipe.data.everything else f"{len(material.dev)} for dev"
    yield Note(
        f"{material.domain.title}: {len(material.labeled) + sum(made.values())} pairs to train on"
        f"{made_up and f' ({made_up})'}{family}, "
        f"{dev}; {len(material.query_vocab)} query words, {len(material.lf_vocab)} form tokens"
    )
    run.write_log([record for record in run.read_log() if is_finished(run.folder, recipe, record["stage"])])
    for stage in recipe.stages:
        source = shared.get(stage) or recipe.start_from
        if is_finished(run.folder, recipe, stage):
            yield Note(f"{stage}: finished before, kept")
        elif source:
            yield from _take_over(run, recipe, stage, Run.open(Path(source)))
        if is_finished(run.folder, recipe, stage):
            run.checkpoint(stage).unlink(missing_ok=True)
            continue
        yield from _train_stage(recipe, run, stage, material, device)
    yield from _train_below(members(recipe), recipe, folder, device, shared, domain)


def _train_below(
    runs: Mapping[str, Recipe],
    recipe: Recipe,
    folder: Path,
    device: torch.device,
    shared: Mapping[str, Path],
    domain: Domain | None,
) -> Iterator[Note | Tick | Record]:
    """Runs in folders below this one's. Stages that the run it started from has trained already are taken over."""
    for number, (place, other) in enumerate(runs.items(), start=2):
        yield Note(f"parser {number} of {len(runs) + 1}, seed {other.seed}: {folder / place}")
        known: dict[str, Path] = {}
        for name, (inner, *_) in all_stages(other).items():
            earlier = Path(recipe.start_from) / place / inner
            if recipe.start_from and (earlier / "config.toml").is_file():
                known[name] = earlier
        known |= {name.removeprefix(f"{place}/"): path for name, path in shared.items() if name.startswith(f"{place}/")}
        below = train(other, folder / place, resume=True, device=device, shared=known, domain=domain)
        yield from _of(place, below)


def _of(place: str, events: Iterable[Note | Tick | Record]) -> Iterator[Note | Tick | Record]:
    """What happens in a run below, its stages with the folder before."""
    for event in events:
        yield event if isinstance(event, Note) else replace(event, stage=f"{place}/{event.stage}")


def refit(run: Run, *, device: torch.device, domain: Domain | None = None) -> Iterator[Note | Tick | Record]:
    """Train all stages of a finished run once more, with the dev pairs as well, into the folder `refit` below its own.
    A refit that was interrupted goes on."""
    recipe = refit_recipe(run)
    folder = run.folder / REFIT
    yield Note(f"once more with the dev pairs as well: {folder}")
    yield from _of(REFIT, train(recipe, folder, resume=True, device=device, domain=domain))


def refit_recipe(run: Run) -> Recipe:
    """The recipe of a run with the dev pairs as well. There is no dev to choose by then: what it chose counts."""
    recipe = run.recipe
    if recipe.data.everything:
        raise InputError("this run has learned from the dev pairs already", path=run.folder)
    best = {
        name: record["epoch"]
        for name, (place, _, stage) in all_stages(recipe).items()
        for record in Run(run.folder / place).read_log()
        if record["best"] and record["stage"] == stage
    }
    missing = [
        name
        for name, (place, each, stage) in all_stages(recipe).items()
        if name not in best or not is_finished(run.folder / place, each, stage)
    ]
    if missing:
        raise InputError(
            f"not finished: {', '.join(missing)} (dualparse train --resume goes on with it)", path=run.folder
        )
    changed = {
        "refit": False,
        "start_from": "",
        "data": recipe.data.model_copy(update={"everything": True}),
        "stop_at": best,
    }
    return recipe.model_copy(update=changed)


def _open_folder(recipe: Recipe, folder: Path, *, resume: bool) -> Run:
    run = Run(folder)
    if verify(folder, missing=True) is not None or (folder / "config.toml").exists():
        if not resume:
            raise InputError(
                "this folder holds a run already: use --resume to go on with it, or another --out", path=folder
            )
        if run.recipe == recipe.model_copy(update={"refit": False}) != recipe:
            raise InputError(f"this run was started without refit: dualparse refit {folder} makes one", path=folder)
        if others := other_settings(run.recipe, recipe):
            raise InputError(f"the run in this folder was started with other settings: {others}", path=folder)
        return run
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; expected a folder", path=folder)
    if folder.is_dir() and any(not unfinished(path) for path in folder.iterdir()):
        raise InputError("this folder is not empty and holds no run", path=folder)
    return run


def _check_weights(recipe: Recipe, folder: Path) -> None:
    """The weights of finished stages are what was written: nobody else reads those of a stage that is kept before the
    run gives answers."""
    for stage in recipe.stages:
        if is_finished(folder, recipe, stage):
            for name in results(recipe, stage).values():
                load_tensors(Run(folder).weights(name))


def other_settings(before: Recipe, recipe: Recipe) -> str:
    """In which settings two recipes differ. How many parsers answer, and how they choose, changes nothing of a run, nor
    does it matter when those of runs below it stop."""
    free = {"committee", *(f"search.{name}" for name in read_in_answers(recipe.stages))}
    there, here = (dict(dotted(each.model_dump())) for each in (before, recipe))
    keys = [key for key in there | here if there.get(key) != here.get(key) and key not in free]
    own = [key for key in keys if not key.startswith("stop_at.") or "/" not in key]
    told = [
        f"{key} is {there.get(key, 'not set')} there and {here.get(key, 'not set')} here" for key in own[:MOST_TOLD]
    ]
    return "; ".join(told + (["..."] if len(own) > MOST_TOLD else []))


def _answering(recipe: Recipe) -> tuple[object, ...]:
    """What a run answers with besides its weights."""
    return recipe.committee, recipe.search


def _same_vocabularies(run: Run, vocabularies: Mapping[str, Vocab]) -> None:
    """The weights of a run that is taken up belong to the vocabularies it began with."""
    for side, vocab in vocabularies.items():
        if run.vocab_path(side).exists() and run.vocab(side) != vocab:
            raise InputError("the examples of the domain have changed since this run began", path=run.vocab_path(side))


def _take_over(run: Run, recipe: Recipe, stage: Stage, earlier: Run) -> Iterator[Note]:
    """Copy what an earlier run made of this stage, if it did; its vocabularies and sizes must be ours."""
    if stage not in TAKEN_OVER:
        return
    before = earlier.recipe
    path = earlier.weights(results(before, stage).get(stage, stage))
    if stage not in before.stages or not path.exists():
        return
    for side in ("query", "lf"):
        if earlier.vocab(side) != run.vocab(side):
            raise InputError("its vocabulary differs from this run's", path=earlier.vocab_path(side))
    if _read_by(before, stage) != _read_by(recipe, stage):
        raise InputError(
            "it was trained with another model or other labels than this run's recipe", path=earlier.folder
        )
    for record in earlier.read_log():
        if record["stage"] == stage:
            run.append_log(record)
    load_tensors(path)  # a folder without a manifest may be damaged
    with replacing(run.weights(results(recipe, stage)[stage])) as part:
        shutil.copyfile(path, part)
    yield Note(f"{stage}: taken from {earlier.folder}")


def _read_by(recipe: Recipe, stage: Stage) -> tuple[ModelSettings, DataSettings]:
    """What decides the sizes of a stage's model, and which pairs it learns from."""
    read = ("labeled", "canonical", "analogies", "split_seed", "everything", "family")
    one = stage_recipe(recipe, stage)
    return one.model, DataSettings(**{name: getattr(one.data, name) for name in read})


def _train_stage(
    recipe: Recipe, run: Run, stage: str, material: Material, device: torch.device
) -> Iterator[Note | Tick | Record]:
    """Run one stage and write its weights."""
    prepared = prepare(stage, recipe, run, material, device)
    if prepared.note:
        yield Note(prepared.note)
    modules = prepared.task.stepper.modules.values()
    for reason in sorted({why_plain(each) for each in modules if isinstance(each, Network | TextModel)} - {""}):
        yield Note(f"{stage}: {reason}")
    started, best = time.perf_counter(), 0
    for event in fit(prepared.task, prepared.schedule, checkpoint=run.checkpoint(stage)):
        if isinstance(event, Record):
            run.append_log(vars(event))
            best = event.epoch if event.best else best
        yield event
    engine = json.dumps(told(*modules), sort_keys=True)
    metadata = {"stage": stage, "epoch": str(best), "seconds": f"{time.perf_counter() - started:.1f}", "engine": engine}
    for module, name in prepared.saves.items():
        run.save_weights(name, prepared.task.stepper.modules[module], metadata=metadata)
    run.checkpoint(stage).unlink(missing_ok=True)
