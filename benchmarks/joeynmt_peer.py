"""JoeyNMT as a peer: an environment of its own, its configuration for a model of our sizes, and the process to talk to.

In: the examples of a domain. Out: a `Worker` that trains and decodes on command, in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchmarks.worker import Worker, started
from dualparse.data.examples import Example
from dualparse.files import write_text

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "joeynmt.txt"
CONSTRAINTS = HERE.parent / "constraints.txt"
ENVIRONMENT = HERE.parent / ".cache" / "joeynmt"
VERSION = "2.3.0"
NAME = f"JoeyNMT {VERSION}"


def environment(folder: Path = ENVIRONMENT) -> Path:
    """The interpreter of a virtual environment with JoeyNMT, made if it is not there (a few minutes, once)."""
    python, ready = folder / "bin" / "python", folder / "ready.txt"
    pins = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    torch = next(line for line in pins if line.startswith("torch=="))
    wanted = f"{sys.version}\n{torch}\n{REQUIREMENTS.read_text(encoding='utf-8')}"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    _install(python, "--constraint", str(CONSTRAINTS), "--requirement", str(REQUIREMENTS))
    _install(python, "--no-deps", f"joeynmt=={VERSION}")
    write_text(ready, wanted)
    return python


def _install(python: Path, *what: str) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{NAME} could not be installed:\n{done.stderr[-2000:]}")


def configuration(folder: Path, *, batch_size: int, decode_batch: int, beams: int, max_length: int) -> dict[str, Any]:
    """A recurrent model of our sizes. The decoder does not read its attention back, as ours: that is faster.

    The scheduler is one that JoeyNMT offers and that leaves the learning rate alone; it insists on having one.
    """
    embeddings = {"embedding_dim": 100, "dropout": 0.5}
    network = {"type": "recurrent", "rnn_type": "lstm", "hidden_size": 200, "num_layers": 1, "dropout": 0.5}
    start = {"initializer": "uniform", "init_weight": 0.2, "bias_initializer": "uniform", "bias_init_weight": 0.2}
    return {
        "name": "peer",
        "joeynmt_version": VERSION,
        "model_dir": str(folder / "model"),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "dev"),
            "test": str(folder / "test"),
            "dataset_type": "plain",
            "src": {"lang": "query", "level": "word"},
            "trg": {"lang": "lf", "level": "word"},
        },
        "training": {
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "scheduling": "exponential",
            "decrease_factor": 1.0,
            "weight_decay": 1e-5,
            "clip_grad_norm": 5.0,
            "batch_size": batch_size,
            "batch_type": "sentence",
            "normalization": "none",
        },
        "testing": {
            "batch_size": decode_batch,
            "beam_size": beams,
            "n_best": beams,
            "beam_alpha": 1.0,
            "max_output_length": max_length,
        },
        "model": start
        | {
            "embed_initializer": "uniform",
            "embed_init_weight": 0.2,
            "encoder": network | {"bidirectional": True, "embeddings": embeddings},
            "decoder": network
            | {
                "attention": "bahdanau",
                "hidden_dropout": 0.5,
                "init_hidden": "last",
                "input_feeding": False,
                "embeddings": embeddings,
            },
        },
    }


def write_inputs(folder: Path, splits: Mapping[str, Sequence[Example]], settings: Mapping[str, int]) -> Path:
    """Plain text files, one example a line, and the configuration; returns the path of the latter."""
    for split, examples in splits.items():
        write_text(folder / f"{split}.query", "".join(" ".join(example.query or ()) + "\n" for example in examples))
        write_text(folder / f"{split}.lf", "".join(" ".join(example.lf or ()) + "\n" for example in examples))
    (folder / "model").mkdir()
    path = folder / "config.json"
    write_text(path, json.dumps(configuration(folder, **settings), indent=1) + "\n")
    return path


def start(python: Path, config: Path, *, threads: int) -> AbstractContextManager[Worker]:
    """A peer at work; its process ends with the block."""
    return started([python, HERE / "joeynmt_worker.py", config, str(threads)], config.with_suffix(".log"))
