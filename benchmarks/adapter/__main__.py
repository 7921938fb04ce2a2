"""Makes the adapter and the second reader that ship with the package, or scores them on questions they have not seen.

    python -m benchmarks.adapter [--updates 900] [--seed 1] [--out dualparse/matching/shipped/minilm.safetensors]
    python -m benchmarks.adapter --reader [--updates 700] [--out dualparse/matching/shipped/reader.safetensors]
    python -m benchmarks.adapter --score [--adapter none shipped reader FILE] [--split dev]
                                  [--out results/bench-adapter.jsonl]

Training draws questions over the invented schemas of `schemas/` and tells the wording of the form that each means from
the wordings of forms that are near to it; the second reader begins with the adapter that ships. The same seed on the
same machine makes the same file. Scores are of questions written by hand over four schemas that are in no training, of
*trails*, and of Chinook where its files are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

import torch

from benchmarks.adapter import reader as reading
from benchmarks.adapter.heldout import accuracy, read_heldout
from benchmarks.adapter.schema import read_schemas
from benchmarks.adapter.score import score
from benchmarks.adapter.train import Settings, changes_of, learn
from dualparse import __version__
from dualparse.matching.adapter import SHIPPED, about_base, open_matcher, save_adapter
from dualparse.matching.reader import SHIPPED as SHIPPED_READER
from dualparse.matching.reader import SecondReader

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
    about = _about("python -m benchmarks.adapter", vars(settings))
    save_adapter(out, changes_of(matcher), float(matcher.scale.detach()), about)
    _told(out)


def make_reader(settings: reading.Settings, out: Path) -> None:
    """Train a second reader and write it."""
    matcher, heldout, losses = open_matcher().eval().requires_grad_(False), read_heldout(), []
    reader, first = SecondReader(matcher), SecondReader(matcher)
    for update, loss in enumerate(reading.learn(reader, matcher, read_schemas(), settings), start=1):
        losses.append(loss)
        if update % LOOK_EVERY == 0 or update == settings.updates:
            mean, told = (
                sum(losses[-LOOK_EVERY:]) / len(losses[-LOOK_EVERY:]),
                reading.accuracy(reader, matcher, heldout),
            )
            print(f"{update} of {settings.updates}: loss {mean:.3f}, {told}", flush=True)
    reading.keep(out, reader, first, settings.rank, _about("python -m benchmarks.adapter --reader", vars(settings)))
    _told(out)


def _about(made_by: str, settings: dict[str, object]) -> dict[str, str]:
    made = {"made_by": made_by, "version": __version__, "torch": torch.__version__}
    return about_base() | made | {"settings": json.dumps(settings)}


def _told(out: Path) -> None:
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--reader", action="store_true", help="make the second reader")
    parser.add_argument("--score", action="store_true", help="score adapters instead of making one")
    parser.add_argument(
        "--adapter", nargs="+", default=["none", "shipped", "reader"], help="none, shipped, reader, or files"
    )
    parser.add_argument("--split", choices=("dev", "test"), default="dev", help="of trails; test leaves Chinook out")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order
    given = {name: value for name in ("updates", "rank", "seed") if (value := getattr(options, name)) is not None}
    if options.reader:
        make_reader(reading.Settings(**given), options.out or SHIPPED_READER)
        return
    if not options.score:
        make(Settings(**given), options.out or SHIPPED)
        return
    out, data = options.out or RESULTS, os.environ.get("DUALPARSE_DATA")
    chinook = Path(data) / "chinook" if data and options.split == "dev" and (Path(data) / "chinook").is_dir() else None
    for name in options.adapter:
        record = json.dumps(score(name, chinook=chinook, split=options.split))
        print(record)
        with out.open("a", encoding="utf-8") as lines:
            lines.write(record + "\n")


if __name__ == "__main__":
    main()
