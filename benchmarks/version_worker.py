"""One version of the project at work: supervised training, search and the game, on command (see versions.py).

    python -P version_worker.py --code FOLDER --device cpu --threads 2 [--game RUN]

Runs in the folder of any version that has `benchmarks.ours` and `benchmarks.game`, by what is written there: whatever
it imports is that version's. Without `--game` the version makes the run that the game is played with, and says where.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--domain", required=True)
    parser.add_argument("--pretrain", type=int, default=15)
    parser.add_argument("--game", type=Path)
    parser.add_argument("--alone", action="store_true", help="not the game alone: supervised training and search, too")
    options = parser.parse_args()
    sys.path.insert(0, str(options.code))

    import torch

    import dualparse
    from benchmarks import game
    from benchmarks.worker import answer

    if not Path(dualparse.__file__ or "").is_relative_to(options.code):
        raise RuntimeError(f"dualparse was imported from {dualparse.__file__}, not from {options.code}")
    torch.set_num_threads(options.threads)
    device = torch.device(options.device)
    if options.game is None:
        folder = game.pretrained(options.domain, options.pretrain, device)
        return answer({"folder": str(folder)}, lambda command: {})
    if device.type == "cpu":
        game.cpu.prepare()
    ours = _ours(options.domain, device) if options.alone else None
    player = game.Player(options.game, device)

    def work(command: dict[str, Any]) -> dict[str, float]:
        if command["do"] == "play":
            return player.play(command["iterations"])
        assert ours is not None
        return ours.train(command["updates"]) if command["do"] == "train" else ours.decode()

    answer({"version": dualparse.__version__, "torch": torch.__version__}, work)


def _ours(domain: str, device: Any) -> Any:
    """An agent with its training and its test queries, on a device."""
    from benchmarks import ours
    from benchmarks.against_joeynmt import BATCH, SEARCH

    class There(ours.Ours):
        def _new_agent(self, recipe: Any) -> Any:
            agent = super()._new_agent(recipe)
            agent.model.to(device)
            return agent

    return There(domain, batch_size=BATCH, search=SEARCH)


if __name__ == "__main__":
    main()
