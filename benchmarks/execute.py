"""Forms executed per second on one core: text in, printed denotation out, nothing remembered between forms.

    python benchmarks/execute.py [--data FOLDER] [--repeat 5]

With OVERNIGHT's files (in FOLDER, in DUALPARSE_DATA or in the user's cache) the forms are the gold ones of train and
extra; without them, forms made here over the same eight worlds. The plain dialect is measured on the domain that ships
with the package. Times are CPU times, the best of several passes over all forms of a domain.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dualparse.data.examples import read_examples
from dualparse.domains import overnight
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.plain import plain
from dualparse.domains.world import World, read_world
from dualparse.fetch.benchmarks import data_dir
from dualparse.lf.errors import LF_ERRORS


def gold_forms(folder: Path, domain: str) -> list[str]:
    """The forms of train and extra, or none where the files are missing."""
    paths = [folder / f"{domain}_{split}.tsv" for split in ("train", "extra")]
    return [" ".join(example.lf) for path in paths if path.is_file() for example in read_examples(path)]


def made_forms(world: World) -> list[str]:
    """Forms over any world: every property selected, compared or counted."""
    return [form for property in world.properties if property.lstrip("!") != "type" for form in _about(world, property)]


def _about(world: World, property: str) -> Iterator[str]:
    index = world.index(property)
    if not index.names:
        return
    things = f"( call SW.getProperty ( call SW.singleton {next(iter(index.first))} ) ( string ! type ) )"
    for value in sorted(index.objects)[:20]:
        reference = value.id or f"( {value[1:-1]} )"
        for op in ("=", "!=", "<", ">=") if index.ordered else ("=", "!="):
            yield _listed(f"SW.filter {things} ( string {property} ) ( string {op} ) {reference}")
    for mode in ("max", "min"):
        if index.ordered:
            numeric = f"( call SW.ensureNumericProperty ( string {property} ) )"
            yield _listed(f"SW.superlative {things} ( string {mode} ) {numeric}")
        else:
            yield _listed(f"SW.countSuperlative {things} ( string {mode} ) ( string {property} )")


def _listed(call: str) -> str:
    return f"( call SW.listValue ( call {call} ) )"


def forms_per_second(execute: Callable[[str], str], forms: list[str], repeat: int) -> float:
    """CPU time of the best pass; forms that fail are part of the work."""
    best = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        for form in forms:
            try:
                execute(form)
            except LF_ERRORS:
                continue
        best = min(best, time.process_time() - started)
    return len(forms) / best


def trails_forms() -> tuple[World, list[str]]:
    """The embedded domain's world and the forms of its examples."""
    folder = EMBEDDED / "trails"
    paths = [folder / f"{split}.tsv" for split in ("train", "dev", "test")]
    forms = [" ".join(example.lf) for path in paths if path.is_file() for example in read_examples(path)]
    return read_world(folder / "world.tsv"), forms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="folder with OVERNIGHT's files")
    parser.add_argument("--repeat", type=int, default=5, help="passes over the forms of a domain")
    options = parser.parse_args()
    folder = options.data or data_dir() / "overnight"
    total, seconds = 0, 0.0
    for domain in overnight.DOMAINS:
        gold = gold_forms(folder, domain)
        forms = gold or made_forms(overnight.world(domain))
        speed = forms_per_second(overnight.executor(domain).execute, forms, options.repeat)
        total, seconds = total + len(forms), seconds + len(forms) / speed
        print(f"{domain:<14}{len(forms):>7} {'gold' if gold else 'made'} forms{speed:>10,.0f} a second")
    print(f"{'all eight':<14}{total:>7}      forms{total / seconds:>10,.0f} a second")
    world, forms = trails_forms()
    if forms:
        speed = forms_per_second(plain(world).execute, forms, options.repeat)
        print(f"{'trails (plain)':<14}{len(forms):>7} gold forms{speed:>10,.0f} a second")


if __name__ == "__main__":
    main()
