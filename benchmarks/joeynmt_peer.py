"""JoeyNMT as a peer: an environment of its own, its configuration for a model of our sizes, and the process to talk to.

In: the examples of a domain. Out: a `Peer` that trains and decodes on command, in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dualparse.data.examples import Example
from dualparse.files import write_text

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "joeynmt.txt"
ENVIRONMENT = HERE.parent / ".cache" / "peer-venv"
NAME = "JoeyNMT 2.3.0"


def environment(folder: Path = ENVIRONMENT) -> Path:
    """The interpreter of a virtual environment with JoeyNMT, made if it is not there (a few small packages).

    It sees this environment's packages behind its own, so both sides run the very same torch and none is fetched.
    """
    python, ready = folder / "bin" / "python", folder / "ready.txt"
    borrowed = sysconfig.get_path("purelib")
    wanted = REQUIREMENTS.read_text(encoding="utf-8") + f"# beside {borrowed}\n"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", str(REQUIREMENTS)]
    done = subprocess.run([python, *install], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{NAME} could not be installed:\n{done.stderr}")
    write_text(Path(own.stdout.strip()) / "borrowed.pth", borrowed + "\n")
    write_text(ready, wanted)
    return python


def configuration(folder: Path, *, batch_size: int, decode_batch: int, beams: int, max_length: int) -> dict[str, Any]:
    """A recurrent model of our sizes. The decoder does not read its attention back: neither does ours, and it is faster.

    The scheduler is one that JoeyNMT offers and that leaves the learning rate alone; it insists on having one.
    """
    embeddings = {"embedding_dim": 100, "dropout": 0.5}
    network = {"type": "recurrent", "rnn_type": "lstm", "hidden_size": 200, "num_layers": 1, "dropout": 0.5}
    start = {"initializer": "uniform", "init_weight": 0.2, "bias_initializer": "uniform", "bias_init_weight": 0.2}
    return {
        "name": "peer",
        "joeynmt_version": "2.3.0",
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


class Peer:
    """The running process."""

    def __init__(self, process: subprocess.Popen[str], answers: IO[str], commands: IO[str]):
        self.process, self._answers, self._commands = process, answers, commands
        self.about = self._answer()

    def train(self, updates: int) -> dict[str, float]:
        return self._ask({"do": "train", "updates": updates})

    def decode(self) -> dict[str, float]:
        return self._ask({"do": "decode"})

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        self._commands.write(json.dumps(command) + "\n")
        self._commands.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"the peer's process ended with status {self.process.wait()}: see its log")
        return json.loads(line)


@contextmanager
def started(python: Path, config: Path, *, threads: int) -> Iterator[Peer]:
    """A peer at work; its process ends with the block."""
    command = [python, HERE / "joeynmt_worker.py", config, str(threads)]
    log = config.with_suffix(".log")
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            yield Peer(process, process.stdout, process.stdin)
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{log.read_text(encoding='utf-8')[-2000:]}") from error
        finally:
            process.stdin.close()
