"""How much does the type checker catch? Breaks gold forms of ATIS in several ways and counts the rejected ones.

    DUALPARSE_DATA=DIR python benchmarks/typecheck_mutations.py [--seed 1] [--show 3]

In: the benchmark folder. Out: a table, one line for each way of breaking a form, and with --show some accepted ones.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dualparse.lf.ontology import Ontology, read_ontology
from dualparse.lf.sexpr import Tree, read, tokenize, write
from dualparse.lf.typecheck import check_text

Place = tuple[int, ...]


def nodes(tree: Tree, path: Place = ()) -> Iterator[tuple[Place, Tree]]:
    """All subtrees with the way to each."""
    yield path, tree
    if not isinstance(tree, str):
        for index, part in enumerate(tree):
            yield from nodes(part, (*path, index))


def replaced(tree: Tree, path: Place, new: Tree) -> Tree:
    """The tree with another subtree at `path`."""
    if not path:
        return new
    return (*tree[: path[0]], replaced(tree[path[0]], path[1:], new), *tree[path[0] + 1 :])


class Mutator:
    """The ways of breaking a form; each gives the broken text, or None where the form has nothing to break."""

    def __init__(self, ontology: Ontology, vocabulary: list[str], rng: random.Random):
        self.ontology, self.vocabulary, self.rng = ontology, vocabulary, rng
        self.predicates = sorted({*ontology.unary, *ontology.binary})

    def calls(self, tree: Tree) -> list[tuple[Place, Tree]]:
        return [(path, node) for path, node in nodes(tree) if isinstance(node, tuple) and node[0] in self.predicates]

    def predicate(self, tree: Tree) -> str | None:
        """another predicate"""
        if not (calls := self.calls(tree)):
            return None
        path, node = self.rng.choice(calls)
        new = self.rng.choice([name for name in self.predicates if name != node[0]])
        return write(replaced(tree, path, (new, *node[1:])))

    def predicate_of_other_types(self, tree: Tree) -> str | None:
        """another predicate, no declaration shared"""
        if not (calls := self.calls(tree)):
            return None
        path, node = self.rng.choice(calls)
        mine = self.signatures(node[0])
        new = self.rng.choice([name for name in self.predicates if not mine & self.signatures(name)])
        return write(replaced(tree, path, (new, *node[1:])))

    def signatures(self, name: str) -> set[tuple[str, ...]]:
        return {(kind,) for kind in self.ontology.unary.get(name, ())} | set(self.ontology.binary.get(name, ()))

    def entity(self, tree: Tree) -> str | None:
        """an entity of another type"""
        kinds = [(path, self.ontology.entity_type(node)) for path, node in nodes(tree) if isinstance(node, str)]
        found = [(path, kind) for path, kind in kinds if kind and path and path[-1] > 0]
        if not found:
            return None
        path, kind = self.rng.choice(found)
        other = self.rng.choice([name for name in self.ontology.entity_types if name != kind])
        return write(replaced(tree, path, f"{other}0"))

    def variable(self, tree: Tree) -> str | None:
        """another variable"""
        found = [
            (path, node)
            for path, node in nodes(tree)
            if isinstance(node, str) and node.startswith("$") and len(path) > 1
        ]
        if not found:
            return None
        path, node = self.rng.choice(found)
        return write(replaced(tree, path, self.rng.choice([name for name in ("$0", "$1", "$2", "$3") if name != node])))

    def dropped(self, tree: Tree) -> str | None:
        """an argument dropped"""
        if not (calls := self.calls(tree)):
            return None
        path, node = self.rng.choice(calls)
        index = self.rng.randrange(1, len(node))
        return write(replaced(tree, path, (*node[:index], *node[index + 1 :])))

    def duplicated(self, tree: Tree) -> str | None:
        """an argument twice"""
        if not (calls := self.calls(tree)):
            return None
        path, node = self.rng.choice(calls)
        index = self.rng.randrange(1, len(node))
        return write(replaced(tree, path, (*node[: index + 1], *node[index:])))

    def swapped(self, tree: Tree) -> str | None:
        """two arguments swapped"""
        calls = [(path, node) for path, node in self.calls(tree) if len(node) == 3]
        if not calls:
            return None
        path, node = self.rng.choice(calls)
        return write(replaced(tree, path, (node[0], node[2], node[1])))

    def token_dropped(self, tree: Tree) -> str | None:
        """a token dropped"""
        tokens = tokenize(write(tree))
        del tokens[self.rng.randrange(len(tokens))]
        return " ".join(tokens)

    def token_replaced(self, tree: Tree) -> str | None:
        """a token replaced by any other"""
        tokens = tokenize(write(tree))
        index = self.rng.randrange(len(tokens))
        tokens[index] = self.rng.choice([token for token in self.vocabulary if token != tokens[index]])
        return " ".join(tokens)


def gold_forms(folder: Path) -> list[str]:
    """The distinct gold forms of all splits, in the order of the files."""
    forms: dict[str, None] = {}
    for split in ("train", "dev", "test", "extra"):
        for line in (folder / f"atis_{split}.tsv").read_text(encoding="utf-8").splitlines():
            forms[line.split("\t")[1]] = None
    return list(forms)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="accepted forms to print for each way")
    options = parser.parse_args()
    if "DUALPARSE_DATA" not in os.environ:
        sys.exit("set DUALPARSE_DATA to the folder of the benchmarks")
    folder = Path(os.environ["DUALPARSE_DATA"]) / "atis"
    ontology, forms = read_ontology(folder / "atis_ontology.txt"), gold_forms(folder)
    start = time.perf_counter()
    rejected = [form for form in forms if not check_text(form, ontology).ok]
    rate = len(forms) / (time.perf_counter() - start)
    print(f"{len(forms)} distinct gold forms, {len(rejected)} rejected, {rate:,.0f} forms a second")
    vocabulary = sorted({token for form in forms for token in form.split()})
    mutator = Mutator(ontology, vocabulary, random.Random(options.seed))
    ways: list[Callable[[Tree], str | None]] = [
        mutator.predicate_of_other_types,
        mutator.predicate,
        mutator.entity,
        mutator.variable,
        mutator.dropped,
        mutator.duplicated,
        mutator.swapped,
        mutator.token_dropped,
        mutator.token_replaced,
    ]
    for way in ways:
        report(way, forms, ontology, show=options.show)


def report(way: Callable[[Tree], str | None], forms: list[str], ontology: Ontology, *, show: int) -> None:
    """Print the share of mutants rejected; a mutant that is a gold form itself counts as accepted rightly."""
    gold = set(forms)
    mutants = [text for form in forms if (text := way(read(form))) is not None]
    accepted = [text for text in mutants if check_text(text, ontology).ok]
    known = sum(text in gold for text in accepted)
    share = 100 * (1 - len(accepted) / len(mutants))
    print(
        f"{way.__doc__:42} {len(mutants):5} mutants {share:6.1f} % rejected; {known} of those accepted are gold forms"
    )
    for text in [text for text in accepted if text not in gold][:show]:
        print("   ", text)


if __name__ == "__main__":
    main()
