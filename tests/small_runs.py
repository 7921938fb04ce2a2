"""Runs of the toy domain that take a moment, for tests of what whole runs leave behind."""

from __future__ import annotations

import json
from pathlib import Path

from dualparse.config import Recipe, make_recipe
from dualparse.networks.tensors import load_tensors

STAGES = ["q2lf", "lf2q", "query_lm", "lf_lm"]


def recipe(**changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": "toy",
        "stages": STAGES,
        "model": {"embedding": 6, "hidden": 8},
        "train": {"epochs": 3, "learning_rate": 0.01, "average": 0.5},
        "language_model": {"epochs": 2},
        "search": {"max_length": 12},
    }
    return make_recipe(values | changes)


def left_behind(folder: Path) -> dict[str, object]:
    """Everything a run wrote, less the seconds, and less the manifest, whose digests are of the seconds as well."""
    found: dict[str, object] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".safetensors":
            tensors, metadata = load_tensors(path)
            found[path.name] = {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}
            found[path.name + "?"] = {key: value for key, value in metadata.items() if key != "seconds"}
        elif path.name == "manifest.json":
            continue
        elif path.suffix == ".jsonl":
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found[path.name] = [{key: value for key, value in line.items() if key != "seconds"} for line in lines]
        else:
            found[path.name] = left_behind(path) if path.is_dir() else path.read_bytes()
    return found
