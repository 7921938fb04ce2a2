"""JoeyNMT's side of the comparison: a process in JoeyNMT's own environment that trains and decodes on command.

    python joeynmt_worker.py CONFIG.json THREADS

One JSON object a line comes in, one goes out: {"do": "train", "updates": 20} or {"do": "decode"} -> seconds and counts.
Only JoeyNMT's own functions are timed: its training step as its training loop calls it, its beam search as its
prediction loop calls it. Reading files, building batches, logging, validation and checkpoints are not.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from joeynmt.batch import Batch
from joeynmt.config import parse_global_args
from joeynmt.helpers import expand_reverse_index
from joeynmt.prediction import prepare
from joeynmt.search import search
from joeynmt.training import TrainManager


class Peer:
    """A model of JoeyNMT, its trainer and its data."""

    def __init__(self, config: Path):
        self.arguments = parse_global_args(json.loads(config.read_text()), rank=0, mode="train")
        self.model, self.train_data, _, self.test_data = prepare(self.arguments, rank=0, mode="train")
        self.trainer = TrainManager(
            rank=0,
            model=self.model,
            model_dir=self.arguments.model_dir,
            device=self.arguments.device,
            autocast=self.arguments.autocast,
            seed=self.arguments.seed,
            train_args=self.arguments.train,
            dev_args=self.arguments.test,
        )
        self.batches = self._epochs()

    def _epochs(self) -> Iterator[Batch]:
        """Batches without end, shuffled anew for every epoch as the training loop does it."""
        batches = self._iterator(self.train_data, self.arguments.train.batch_size, shuffle=True)
        for epoch in itertools.count(1):
            batches.batch_sampler.set_seed(self.arguments.seed + epoch)
            yield from batches

    def _iterator(self, data: Any, batch_size: int, *, shuffle: bool) -> Any:
        return data.make_iter(
            batch_size=batch_size,
            batch_type="sentence",
            seed=self.arguments.seed,
            shuffle=shuffle,
            device=self.arguments.device,
            pad_index=self.model.pad_index,
            eos_index=self.model.eos_index,
        )

    def about(self) -> dict[str, Any]:
        return {
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
            "source_tokens": len(self.model.src_vocab),
            "target_tokens": len(self.model.trg_vocab),
            "torch": torch.__version__,
        }

    def train(self, updates: int) -> dict[str, float]:
        """Some updates; the same calls in the same order as in `TrainManager.train_and_validate`."""
        batches = list(itertools.islice(self.batches, updates))
        trainer, loss = self.trainer, 0.0
        started = time.perf_counter()
        for batch in batches:
            loss += trainer._train_step(batch)[0]
            trainer.clip_grad_fun(parameters=self.model.parameters())
            trainer.optimizer.step()
            self.model.zero_grad()
        seconds = time.perf_counter() - started
        tokens = sum(batch.ntokens for batch in batches)
        return {"seconds": seconds, "items": sum(batch.nseqs for batch in batches), "loss": loss / tokens}

    def decode(self) -> dict[str, float]:
        """Beam search for all test queries, to n-best lists of words; the same calls as in `prediction.predict`."""
        options = self.arguments.test
        batches = list(self._iterator(self.test_data, options.batch_size, shuffle=False))
        self.model.eval()
        outputs: list[list[str]] = []
        started = time.perf_counter()
        for batch in batches:
            back = expand_reverse_index(batch.sort_by_src_length(), options.n_best)
            numbers, _, _ = search(
                model=self.model,
                batch=batch,
                beam_size=options.beam_size,
                beam_alpha=options.beam_alpha,
                max_output_length=options.max_output_length,
                n_best=options.n_best,
                return_prob=options.return_prob,
                generate_unk=options.generate_unk,
                autocast=self.arguments.autocast,
            )
            outputs += self.model.trg_vocab.arrays_to_sentences(arrays=numbers[back], cut_at_eos=True)
        seconds = time.perf_counter() - started
        outputs = outputs[:: options.n_best]
        end = self.model.trg_vocab.lookup  # token -> number; the end token is the last of a finished output
        outputs = [tokens[:-1] if end(tokens[-1]) == self.model.eos_index else tokens for tokens in outputs]
        exact = sum(" ".join(tokens) == gold for tokens, gold in zip(outputs, self.test_data.trg, strict=True))
        return {
            "seconds": seconds,
            "items": len(outputs),
            "length": sum(map(len, outputs)) / len(outputs),
            "exact": exact / len(outputs),
        }


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what JoeyNMT prints must not mix with the answers
    torch.set_num_threads(int(sys.argv[2]))
    peer = Peer(Path(sys.argv[1]))
    print(json.dumps(peer.about()), file=answers, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        answer = peer.decode() if command["do"] == "decode" else peer.train(command["updates"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
