"""What a run gains from people who say what they meant, simulated with questions whose forms are known.

    python -m benchmarks.learning corrections RUN... [--out FILE]   `dualparse learn` after half of the test questions
    python -m benchmarks.learning suggestions RUN... [--out FILE]   `dualparse suggest` against random order

`corrections`: one half of the test questions is asked, and those answered wrongly get the form that was meant. The
other half is the old test; questions of it that mean the same as a corrected one, but for names and numbers, are its
paraphrases. `suggestions`: a run that was trained with few labels (data.labeled) asks for those of its unlabeled
training questions, some at a time; what is labeled next is chosen by `suggest`, or at random. Runs are copied first.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import typer

from dualparse.asking.calibrate import examples_of, judged, weighed
from dualparse.asking.learning import Warmed, warm_start
from dualparse.asking.memory import read_lessons
from dualparse.asking.suggesting import suggest
from dualparse.data.examples import Example, load_examples
from dualparse.domains.lexicon import Lexicon
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.training.material import load_material
from dualparse.use.api import Parser, load

OUT = Path("results/bench-learning.json")
CPU = torch.device("cpu")
Choose = Callable[[Parser, Sequence[Example], int], list[Example]]

app = typer.Typer(add_completion=False)


@app.callback()
def main() -> None:
    """Learning from use: measuring what it gains."""


@app.command()
def corrections(runs: list[Path], out: Path = OUT, seed: int = 1) -> None:
    """Correct what one half of the test questions gets wrong; measure the other half."""
    rows = []
    for run in runs:
        with copied(run) as folder:
            rows.append(_corrected(folder, seed))
        print(run.name, json.dumps(rows[-1]))
    _keep(out, "corrections", rows)


def _corrected(folder: Path, seed: int) -> dict[str, Any]:
    parser = load(folder)
    test = examples_of(parser, "test")
    random.Random(seed).shuffle(test)
    asked, old = test[: len(test) // 2], test[len(test) // 2 :]
    wrong = [each for each, good in zip(asked, judged(parser, asked)[1], strict=True) if not good]
    taught = [each for each in wrong if not parser.problem(*_texts(each))]
    meant = {skeleton(each, parser.domain.lexicon) for each in taught}
    alike = [each for each in old if skeleton(each, parser.domain.lexicon) in meant]

    def measured(parser: Parser) -> dict[str, float]:
        groups = {"corrected": taught, "paraphrases": alike, "old_test": old}
        return {name: round(accuracy(parser, some), 2) for name, some in groups.items()}

    before = measured(parser)
    started = time.perf_counter()
    parser.learn(list(map(_texts, taught)))
    seconds = {"remembering": round(time.perf_counter() - started, 2)}
    remembered = measured(load(folder))
    started = time.perf_counter()
    warmed = warm(parser)
    seconds["warm_start"] = round(time.perf_counter() - started, 1)
    return {
        "run": folder.name,
        "domain": parser.domain.name,
        "questions": {"asked": len(asked), "corrected": len(taught), "paraphrases": len(alike), "old_test": len(old)},
        "before": before,
        "remembered": remembered,
        "after_warm_start": measured(load(folder)),
        "kept": warmed.kept,
        "seconds": seconds,
    }


@app.command()
def suggestions(runs: list[Path], out: Path = OUT, rounds: int = 5, each: int = 20, seeds: int = 3) -> None:
    """Label the questions that are suggested, or others at random, and learn them, round by round."""
    rows = []
    for run in runs:
        curves: dict[str, list[list[float]]] = {"suggested": [], "random": []}
        for name, seed in [("suggested", 0), *(("random", seed) for seed in range(1, seeds + 1))]:
            with copied(run) as folder:
                curves[name].append(_curve(folder, _suggested if name == "suggested" else _drawn(seed), rounds, each))
            print(run.name, name, curves[name][-1], flush=True)
        areas = {name: round(sum(map(area, found)) / len(found), 2) for name, found in curves.items()}
        rows.append({"run": run.name, "domain": load(run).domain.name, "labels_a_round": each, **curves, "area": areas})
        print(run.name, areas)
    _keep(out, "suggestions", rows)


def _curve(folder: Path, choose: Choose, rounds: int, count: int) -> list[float]:
    """Accuracy on test before, and after every round."""
    parser = load(folder)
    test, pool = examples_of(parser, "test"), _pool(parser)
    found = [round(accuracy(parser, test), 2)]
    for _ in range(rounds):
        chosen = choose(parser, pool, count)
        pool = [example for example in pool if example not in chosen]
        parser.learn([_texts(example) for example in chosen if not parser.problem(*_texts(example))])
        warm(parser)
        parser = load(folder)
        found.append(round(accuracy(parser, test), 2))
    return found


def _pool(parser: Parser) -> list[Example]:
    """The training questions that the run has no label of, each once."""
    labeled = {(each.query, each.lf) for each in load_material(parser.recipe, parser.domain).labeled}
    train = load_examples(parser.domain, dev_seed=parser.recipe.data.split_seed).train
    return list({each.query: each for each in train if (each.query, each.lf) not in labeled}.values())


def _suggested(parser: Parser, pool: Sequence[Example], count: int) -> list[Example]:
    found = weighed(parser, [" ".join(example.query or ()) for example in pool])
    return [pool[number] for number in suggest(found, parser.scales.familiar, most=count)]


def _drawn(seed: int) -> Choose:
    drawn = random.Random(seed)
    return lambda parser, pool, count: drawn.sample(list(pool), count)


def area(curve: Sequence[float]) -> float:
    """Under accuracy over labels, as a mean height.

    >>> area([50, 60, 60])
    57.5
    """
    return sum((left + right) / 2 for left, right in zip(curve, curve[1:], strict=False)) / (len(curve) - 1)


def accuracy(parser: Parser, examples: Sequence[Example]) -> float:
    """Share of the questions whose likeliest reading is right, in per cent."""
    return 100 * sum(judged(parser, examples)[1]) / max(len(examples), 1)


def warm(parser: Parser) -> Warmed:
    """Let q2lf go on over its old pairs and all lessons of the run."""
    *_, told = warm_start(parser.run, parser.domain, read_lessons(parser.run.folder), device=CPU)
    assert isinstance(told, Warmed)
    return told


def skeleton(example: Example, lexicon: Lexicon) -> tuple[str, ...]:
    """A form with types in the place of names, and a mark for every number."""
    named = set(lexicon.entities)
    return tuple(
        "#" if token.replace(".", "", 1).isdigit() else token.rpartition(".")[0] if token in named else token
        for token in example.lf or ()
    )


def _texts(example: Example) -> tuple[str, str]:
    return " ".join(example.query or ()), " ".join(example.lf or ())


@contextmanager
def copied(run: Path) -> Iterator[Path]:
    """A copy of a run that may learn."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(run, Path(folder) / run.name))


def _keep(out: Path, name: str, rows: list[dict[str, Any]]) -> None:
    told = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else {}
    write_text(out, json.dumps(told | {name: {"commit": current_commit(), "runs": rows}}, indent=1) + "\n")


if __name__ == "__main__":
    app()
