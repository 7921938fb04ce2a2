"""Makes the adapter that ships with the package, or one of your own; or scores it on questions it has not seen.

    python -m benchmarks.adapter [--updates 1600] [--seed 1] [--out dualparse/matching/shipped/minilm.safetensors]
    python -m benchmarks.adapter --score [--adapter none shipped FILE] [--out results/bench-adapter.jsonl]

Training draws questions over the invented schemas of `schemas/` and tells the wording of the form that each means from
the wordings of forms that are near to it. The same seed on the same machine makes the same file. Scores are of
questions written by hand over four schemas that are in no training, and of the test questions of *trails*.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import torch

from benchmarks.adapter.heldout import accuracy, read_heldout
from benchmarks.adapter.schema import read_schemas
from benchmarks.adapter.score import score
from benchmarks.adapter.train import Settings, changes_of, learn
from dualparse import __version__
from dualparse.matching.adapter import SHIPPED, about_base, open_matcher, save_adapter

LOOK_EVERY = 100
RESULTS = Path(__file__).parents[2] / "results" / "bench-adapter.jsonl"


def make(settings: Settings, out: Path) -> None:
    """Train an adapter and write it."""
    matcher, heldout, losses = open_matcher(adapter=None), read_heldout(), []
    for update, loss in learn(matcher, read_schemas(), settings):
        losses.append(loss)
        if update % LOOK_EVERY == 0 or update == settings.updates:
            mean = sum(losses[-LOOK_EVERY:]) / len(losses[-LOOK_EVERY:])
            print(f"{update} of {settings.updates}: loss {mean:.3f}, {accuracy(matcher.encoder, heldout)}", flush=True)
    about = about_base() | {
        "made_by": "python -m benchmarks.adapter",
        "version": __version__,
        "torch": torch.__version__,
    }
    save_adapter(
        out, changes_of(matcher), float(matcher.scale.detach()), about | {"settings": json.dumps(vars(settings))}
    )
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=Settings.updates)
    parser.add_argument("--rank", type=int, default=Settings.rank)
    parser.add_argument("--seed", type=int, default=Settings.seed)
    parser.add_argument("--score", action="store_true", help="score adapters instead of making one")
    parser.add_argument("--adapter", nargs="+", default=["none", "shipped"], help="none, shipped, or files")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order
    if not options.score:
        make(Settings(updates=options.updates, rank=options.rank, seed=options.seed), options.out or SHIPPED)
        return
    out = options.out or RESULTS
    records = [score(name) for name in options.adapter]
    out.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    for record in records:
        print(json.dumps(record))


if __name__ == "__main__":
    main()
