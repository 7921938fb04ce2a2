"""One piece of a sweep, made for a process of its own: a shared stage, a cell, or a test score that was still missing.

In: a `Job`, plain data that can be written as JSON. Out: a run folder, and for a cell its result in the store. While it
works, a job holds its lock and tells how far it is in a small file beside it, so that anybody can see what runs.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from filelock import FileLock, Timeout

import dualparse
from dualparse.config import Recipe, make_recipe
from dualparse.files import write_text
from dualparse.lab.sharing import WHOLE
from dualparse.lab.store import Store
from dualparse.migration import SCHEMA
from dualparse.training.run_parts import all_stages, results

if TYPE_CHECKING:
    import torch

    from dualparse.runs import Run

PROGRESS_SECONDS = 0.5  # between two notes of progress


@dataclass(frozen=True)
class Job:
    """What to do and where.

    state    path without ending of its lock (.lock), progress (.json) and error (.error.txt)
    shared   what it takes from others (see `plan.shared_by`) -> folder of the run that trained it
    facts    goes into the result as it is: names of cell, grid and method, what varies, commit
    results  the folder its result goes to, under the name of the job; a stage has none
    """

    kind: Literal["stage", "cell", "test"]
    name: str
    recipe: dict[str, Any]
    folder: str
    state: str
    device: str = "auto"
    shared: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    results: str = ""
    test: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        return cls(**json.loads(text))

    def source(self, stage: str) -> str:
        """The folder of the run that trained a stage already, if there is one."""
        below = (folder for place, folder in self.shared.items() if stage.startswith(f"{place}/"))
        return self.shared.get(stage) or next(below, self.shared.get(WHOLE, ""))

    def beside(self, ending: str) -> Path:
        """A file of its state."""
        return Path(self.state + ending)


def run_job(job: Job) -> None:
    """Do a job. It waits while another process does the same one, and then finds it done."""
    job.beside(".lock").parent.mkdir(parents=True, exist_ok=True)
    with FileLock(job.beside(".lock")):
        try:
            _KINDS[job.kind](job)
        finally:
            job.beside(".json").unlink(missing_ok=True)


def is_running(state: str) -> bool:
    """Whether some process holds the lock of a job."""
    path = Path(state + ".lock")
    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


def read_progress(state: str) -> dict[str, Any]:
    """How far a job says it is; empty where it says nothing."""
    try:
        return dict(json.loads(Path(state + ".json").read_bytes()))
    except (OSError, ValueError):
        return {}


def _run_stage(job: Job) -> None:
    _train(job, make_recipe(job.recipe))


def _run_cell(job: Job) -> None:
    """Train and score; the result is written when all is done."""
    store = Store(Path(job.results))
    if store.get(job.name):  # another sweep was quicker
        return
    from dualparse.runs import Run

    started = time.perf_counter()
    recipe = make_recipe(job.recipe)
    device = _train(job, recipe)
    trained = time.perf_counter()
    run = Run.open(Path(job.folder))
    result: dict[str, Any] = job.facts | {
        "schema": SCHEMA,
        "recipe": recipe.model_dump(mode="json"),
        "best": _best(run),
        "stages": _stages(job, run, recipe),
        "train_seconds": round(trained - started, 1),
    }
    again = _for_test(run)
    if recipe.refit:
        seconds = {stage: told["seconds"] for stage, told in _stages(job, again, recipe).items()}
        result["refit"] = {"epochs": again.recipe.stop_at, "seconds": seconds}
    _score(result, run, "dev", device)
    if job.test:
        _score(result, again, "test", device)
    result |= {
        "data": checksums(recipe),
        "hardware": hardware(device),
        "software": software(),
        "seconds": round(time.perf_counter() - started, 1),
    }
    store.put(job.name, result)


def _run_test(job: Job) -> None:
    """Score a finished cell on test, once. What is known of it comes with the job."""
    from dualparse.runs import Run
    from dualparse.training.run import choose_device

    store = Store(Path(job.results))
    if (known := store.get(job.name)) and known.tested:
        return
    result = dict(job.facts)
    _score(result, _for_test(Run.open(Path(job.folder))), "test", choose_device(job.device))
    store.put(job.name, result)


_KINDS = {"stage": _run_stage, "cell": _run_cell, "test": _run_test}


def _train(job: Job, recipe: Recipe) -> torch.device:
    from dualparse.lab.sweep.taking import take_parsers
    from dualparse.training.loop import Record, Tick
    from dualparse.training.run import choose_device, train

    device = choose_device(job.device)
    shared = {name: Path(folder) for name, folder in job.shared.items()}
    shared = take_parsers(recipe, Path(job.folder), shared)
    told, score, begun = 0.0, "", time.time()
    _tell(job, begun=begun)
    for event in train(recipe, Path(job.folder), resume=True, device=device, shared=shared):
        if isinstance(event, Record) and event.best:
            score = _main_score(event.scores) or score
        if isinstance(event, Tick) and time.monotonic() - told > PROGRESS_SECONDS:
            done = round((event.epoch - 1 + event.done / event.total) / event.epochs, 4)
            _tell(job, begun=begun, stage=event.stage, epoch=event.epoch, epochs=event.epochs, done=done, score=score)
            told = time.monotonic()
    return device


def _tell(job: Job, **progress: object) -> None:
    write_text(job.beside(".json"), json.dumps(progress))


def _main_score(scores: dict[str, float]) -> str:
    name = next((name for name in ("accuracy", "bleu", "perplexity") if name in scores), "")
    return f"dev {name} {scores[name]:.1f}" if name else ""


def _score(result: dict[str, Any], run: Run, split: str, device: torch.device) -> None:
    """Scores of a split, for every example whether it came out right, as a string of 0 and 1, and how many mistakes of
    which kind there are."""
    from dualparse.lab.mistakes import read_mistakes
    from dualparse.training.score import score_run

    result[split] = score_run(run, split=split, device=device)
    result["engine"] = run.metrics()["engine"]
    path = run.folder / f"predictions.{split}.jsonl"
    if "q2lf" in result[split]:
        hits = (json.loads(line)["correct"] for line in path.read_text(encoding="utf-8").splitlines())
        result["correct"] = result.get("correct", {}) | {split: "".join("01"[bool(hit)] for hit in hits)}
        wrong = [mistake.kind.value for mistake in read_mistakes(run.folder, split=split).mistakes if mistake.wrong]
        result["mistakes"] = result.get("mistakes", {}) | {split: dict(Counter(wrong).most_common())}


def _for_test(run: Run) -> Run:
    """The run itself, or the one that learned from the dev pairs as well where the recipe asks for it."""
    from dualparse.runs import REFIT, Run

    return Run.open(run.folder / REFIT) if run.recipe.refit else run


def _best(run: Run) -> dict[str, Any]:
    """The best epoch of every stage, with its dev scores."""
    records = [record for record in run.read_log() if record["best"]]
    return {record["stage"]: {"epoch": record["epoch"]} | record["scores"] for record in records}


def _stages(job: Job, run: Run, recipe: Recipe) -> dict[str, Any]:
    """Seconds of every stage, wherever it was trained, with which engines, and the name of the shared run it came from;
    those of runs below with their folder before."""
    from dualparse.networks.tensors import load_tensors
    from dualparse.runs import Run

    told: dict[str, dict[str, Any]] = {}
    for name, (place, each, stage) in all_stages(recipe).items():
        weights = Run(run.folder / place).weights(next(iter(results(each, stage).values())))
        about = load_tensors(weights)[1]
        told[name] = {"seconds": float(about["seconds"])}
        if engine := json.loads(about.get("engine", "{}")):
            told[name] |= {"engines": engine["engines"], "device": engine["device"]}
        if source := job.source(name):
            told[name]["shared"] = Path(source).name
    return told


def checksums(recipe: Recipe) -> dict[str, str]:
    """SHA-256 of every file a run reads. The files of a domain lie beside its training file, with the same prefix."""
    from dualparse.domains.registry import open_domain
    from dualparse.fetch.benchmarks import glove_path
    from dualparse.fetch.download import sha256

    paths: set[Path] = set()
    for domain in map(open_domain, (recipe.domain, *recipe.data.family)):
        paths |= {*domain.files.values(), *([domain.grammar] if domain.grammar else [])}
        if train := domain.files.get("train"):
            paths |= set(train.parent.glob(train.name.removesuffix("train.tsv") + "*"))
    vectors = recipe.model.word_vectors
    if vectors != "none" and (path := glove_path() if vectors == "glove" else Path(vectors)):
        paths.add(path)
    return {path.name: sha256(path) for path in sorted(paths) if path.is_file()}


def current_commit() -> str:
    """The commit this package was checked out at, marked when its files differ from it.

    Outside a checkout it is what DUALPARSE_COMMIT says, or `unknown`.
    """
    if "DUALPARSE_COMMIT" in os.environ:
        return os.environ["DUALPARSE_COMMIT"]
    package = Path(dualparse.__file__).parent
    if not (package.parent / ".git").exists():
        return "unknown"
    commit = _git(package, "rev-parse", "--short", "HEAD")
    changed = _git(package, "status", "--porcelain", "-uno", ".")
    return (commit or "unknown") + ("+changes" if changed else "")


def _git(folder: Path, *words: str) -> str:
    """What git says, or nothing where it cannot be asked."""
    try:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=folder).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def hardware(device: torch.device) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"{platform.machine()} CPU"


def software() -> dict[str, str]:
    import torch

    versions = {"dualparse": dualparse.__version__, "python": platform.python_version(), "torch": torch.__version__}
    return {name: str(version) for name, version in versions.items()}
