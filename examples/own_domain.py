"""Questions about things of your own: write a domain folder, train on it, ask. A few seconds.

    python examples/own_domain.py [FOLDER]

With a folder the domain and the trained run (FOLDER/run) stay there for the other examples.
"""

import sys
import tempfile
from pathlib import Path

import dualparse
from dualparse.config import make_recipe
from dualparse.training.run import choose_device, train

FACTS = {
    "boat.heron": ("harbour.north_pier", 6, True),
    "boat.otter": ("harbour.north_pier", 12, False),
    "boat.grey_gull": ("harbour.old_quay", 4, True),
    "boat.big_bertha": ("harbour.old_quay", 40, False),
}
BOATS = {boat: boat.split(".")[1].replace("_", " ") for boat in FACTS}
HARBOURS = {"harbour.north_pier": "north pier", "harbour.old_quay": "old quay"}

ONTOLOGY = """
type boat
type harbour
property berth     boat  harbour
property seats     boat  number seat
property electric  boat  boolean
"""


def pairs() -> list[tuple[str, str]]:
    """What people ask, and the form of each question."""
    found = [
        ("which boats are electric", "( filter ( all boat ) electric )"),
        ("show me the electric boats", "( filter ( all boat ) electric )"),
        ("how many boats are there", "( count ( all boat ) )"),
        ("which boat is the largest", "( argmax ( all boat ) seats )"),
        ("what is the smallest boat", "( argmin ( all boat ) seats )"),
        ("list all boats", "( all boat )"),
    ]
    for boat, name in BOATS.items():
        found.append((f"how many people fit on the {name}", f"( get {boat} seats )"))
        found.append((f"how big is the {name}", f"( get {boat} seats )"))
        found.append((f"where is the {name}", f"( get {boat} berth )"))
        found.append((f"in which harbour does the {name} lie", f"( get {boat} berth )"))
    for harbour, name in HARBOURS.items():
        found.append((f"which boats lie at {name}", f"( filter ( all boat ) berth = {harbour} )"))
        found.append((f"how many boats are at {name}", f"( count ( filter ( all boat ) berth = {harbour} ) )"))
    for seats in (4, 5, 6, 8, 10, 12, 20):
        form = f"( filter ( all boat ) seats >= ( number {seats} seat ) )"
        found.append((f"boats for at least {seats} people", form))
        found.append((f"we are {seats} which boats are large enough", form))
    return found


def write_domain(folder: Path) -> None:
    """The text files of a domain; docs/own-domain.md explains each of them."""
    facts = []
    for boat, (harbour, seats, electric) in FACTS.items():
        facts += [f"{boat}\tberth\t{harbour}", f"{boat}\tseats\t( number {seats} seat )"]
        facts += [f"{boat}\telectric\ttrue"] if electric else []
    lines = [f"{question}\t{form}" for question, form in pairs()]
    files = {
        "domain.toml": 'name = "boats"\ntitle = "Boats to hire"\n',
        "ontology.txt": ONTOLOGY,
        "world.tsv": "\n".join(facts),
        "lexicon.txt": "\n".join(f"{phrase} :- NP : {entity}" for entity, phrase in (BOATS | HARBOURS).items()),
        "train.tsv": "\n".join(lines),
        "dev.tsv": "\n".join(lines[::4]),  # a real domain has other questions here
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text.strip() + "\n", encoding="utf-8")


def main(folder: Path) -> None:
    write_domain(folder / "boats")
    recipe = make_recipe(
        {
            "domain": str(folder / "boats"),
            "model": {"embedding": 32, "hidden": 32, "dropout": 0.1},
            "train": {"epochs": 40, "learning_rate": 0.01, "evaluate_from": 40},
            "search": {"max_length": 20},
        }
    )
    for _ in train(recipe, folder / "run", device=choose_device("cpu")):
        pass  # progress comes as it is made; this example has no use for it
    parser = dualparse.load(folder / "run")
    for question in ("Where is Big Bertha?", "which boats lie at the old qauy", "boats for at least five people"):
        best = parser.parse(question)[0]
        print(question, "=>", best.form, "=>", best.answer, *best.notes)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
