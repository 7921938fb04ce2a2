"""A reward of one's own, trained with: the game on the embedded domain, with a function of yours in the recipe.

    python examples/custom_reward.py [FOLDER]

A reward gets a source and its hypotheses as text and gives a number for each. The recipe names this one by its file and
function, `custom_reward:brief`: queries are worth more the fewer words they have. The same game is played with the
paper's rewards and with this one in the place of fluency; then lf2q puts the same forms into words.
"""

import sys
import tempfile
from pathlib import Path

import dualparse
from dualparse.config import make_recipe
from dualparse.training.material import load_material
from dualparse.training.run import choose_device, train

FORMS = 40  # that are put into words at the end


def brief(source: str, hypotheses: list[str]) -> list[float]:
    """A tenth less for every word of a query."""
    return [-0.1 * len(hypothesis.split()) for hypothesis in hypotheses]


RECONSTRUCTION = {"name": "reconstruction", "weight": 0.5, "per_token": True}
GAMES = {
    "the paper's rewards": [{"name": name, "weight": 0.5} for name in ("validity", "fluency")],
    "brief queries": [
        {"name": "validity", "weight": 0.5},
        {"name": "custom_reward:brief", "weight": 4, "loop": "form"},
    ],
}


def settings(rewards: list[dict[str, object]]) -> dict[str, object]:
    """A small recipe."""
    return {
        "domain": "trails",
        "stages": ["query_lm", "q2lf", "lf2q", "dual"],
        "data": {"labeled": 0.5},
        "model": {"embedding": 32, "hidden": 48},
        "train": {"epochs": 6, "learning_rate": 0.005, "evaluate_from": 6},
        "language_model": {"epochs": 1},
        "game": {"epochs": 1, "beams": 3, "max_length": 20, "rewards": [*rewards, RECONSTRUCTION]},
    }


def main(folder: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parent))  # where `custom_reward` is found
    begun = ""
    for number, (name, rewards) in enumerate(GAMES.items()):
        run = folder / str(number)
        recipe = make_recipe(settings(rewards) | {"start_from": begun})  # the second game takes what came before over
        for _ in train(recipe, run, device=choose_device("cpu")):
            pass
        begun = str(run)
        parser = dualparse.load(run)
        forms = sorted({" ".join(pair.lf or ()) for pair in load_material(recipe).dev})[:FORMS]
        words = [len(wordings[0].query.split()) for wordings in parser.verbalize_all(forms)]
        print(f"{name}: {sum(words) / len(words):.2f} words a query")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
