"""Synthesised forms in figures: how much of the published data our derivation gives, and what is new.

    DUALPARSE_DATA=DIR python benchmarks/synthesis.py [--out results/synthesis.json]

In: the benchmark folder and the embedded domain. Out: a JSON file, and the Markdown tables of `docs/synthesis.md`.
Every form is counted once, by its normal form.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dualparse.data.examples import read_examples
from dualparse.domains.domain import Domain
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import open_domain
from dualparse.files import write_text
from dualparse.lf.grammar import Deriver, Grammar, read_grammar, swappable_types, swapped
from dualparse.lf.recombine import conditions, opened, places, without
from dualparse.lf.sexpr import Tree, read, write
from dualparse.synthesis.derived import keep_valid, spell
from dualparse.synthesis.forms import synthesize

ATIS_FORMS = 4592  # as many as the paper made
TRAILS_FORMS = 500


def forms_of(domain: Domain) -> dict[str, list[str]]:
    """Split -> its forms."""
    found = {name: read_examples(path) for name, path in domain.files.items() if name != "queries"}
    return {name: [" ".join(example.lf) for example in examples if example.lf] for name, examples in found.items()}


def distinct_forms(domain: Domain) -> dict[str, list[str]]:
    """Split -> its normal forms, each once."""
    return {name: list(dict.fromkeys(map(domain.normalize, forms))) for name, forms in forms_of(domain).items()}


def derive(grammar: Grammar, domain: Domain) -> tuple[set[str], Deriver, float]:
    start = time.perf_counter()
    deriver = Deriver(grammar, keep=keep_valid(domain.check, root=grammar.root))
    made = {domain.normalize(spell(item.form)) for item in deriver}
    return made, deriver, time.perf_counter() - start


def covered(gold: list[str], made: set[str]) -> float:
    return 100 * sum(form in made for form in gold) / len(gold)


def measure_grammar(name: str) -> dict[str, object]:
    """A domain with a grammar: coverage as it is and with all entities swapped, and the forms that are new."""
    domain = open_domain(name)
    forms = distinct_forms(domain)
    grammar = read_grammar(domain.grammar)
    plain, deriver, seconds = derive(grammar, domain)
    types = swappable_types(grammar)
    other, _, more = derive(swapped(grammar, types), domain) if types else (set(), deriver, 0.0)
    both = plain | other
    checked = [form for form in both if domain.check(form).ok]
    gold = {form for split in forms.values() for form in split}
    return {
        "domain": name,
        "rules": len(grammar.rules),
        "tried": deriver.counts.tried,
        "plain": len(plain),
        "both": len(both),
        "valid": 100 * len(checked) / len(both),
        "coverage_plain": {split: covered(found, plain) for split, found in forms.items()},
        "coverage_both": {split: covered(found, both) for split, found in forms.items()},
        "missed": sorted(gold - both),
        "published": len(forms.get("extra", [])),
        "surplus": len(both - gold) if "extra" in forms else None,
        "new": len(both - set(forms["train"])),
        "new_in_test": len((both - set(forms["train"])) & set(forms["test"])),
        "seconds": seconds + more,
    }


def measure_drawn(name: str, n: int, source: str) -> dict[str, object]:
    """`n` forms as `dualparse synthesize` makes them."""
    domain = open_domain(name)
    result = synthesize(domain, forms_of(domain), n=n, seed=1, source=source)
    return {
        "domain": name,
        "source": source,
        "forms": len(result.forms),
        "distinct": len({domain.normalize(item.form) for item in result.forms}),
        "valid": 100 * sum(domain.check(item.form).ok for item in result.forms) / len(result.forms),
        "kinds": dict(result.by_kind),
        "rejected": dict(result.rejected),
        "overlaps": result.overlaps,
        "seconds": result.seconds,
        "samples": [[item.kind, item.utterance or item.source, item.form] for item in result.forms[:12]],
    }


def measure_neighbours(name: str) -> dict[str, object]:
    """How many dev forms training does not have, and how many of them are a known condition away from one it has."""
    domain = open_domain(name)
    forms = distinct_forms(domain)
    known, trees = set(forms["train"]), [read(form) for form in forms["train"]]
    parts = set(conditions(trees))
    fewer = {domain.normalize(write(less)) for tree in trees for less, _ in _shortened(tree)}
    new = [form for form in forms["dev"] if form not in known]
    more = [
        form
        for form in new
        if any(part in parts and domain.normalize(write(less)) in known for less, part in _shortened(read(form)))
    ]
    away = {"one more": len(more), "one less": sum(form in fewer for form in new)}
    return {"domain": name, "new in dev": len(new), **away, "either": len({*more, *(f for f in new if f in fewer)})}


def _shortened(tree: Tree) -> Iterator[tuple[Tree, Tree | None]]:
    """A form less one condition, and that condition with its variable left open, where it is about one thing."""
    for place in places(tree):
        for number, condition in enumerate(place.conditions):
            if len(place.conditions) > 1:
                yield without(tree, place, number), opened(condition)


def table(rows: list[dict], columns: dict[str, Callable[[dict], object]]) -> str:
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(str(show(row)) for show in columns.values()) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def show_tables(grammars: list[dict], drawn: list[dict]) -> str:
    coverage = table(
        grammars,
        {
            "domain": lambda row: row["domain"],
            "rules": lambda row: row["rules"],
            "forms": lambda row: row["plain"],
            "with swap": lambda row: row["both"],
            "valid": lambda row: percent(row["valid"]),
            "train": lambda row: percent(row["coverage_plain"]["train"]),
            "extra": lambda row: percent(row["coverage_plain"].get("extra")),
            "extra, with swap": lambda row: percent(row["coverage_both"].get("extra")),
            "test": lambda row: percent(row["coverage_plain"]["test"]),
            "published": lambda row: row["published"] or "-",
            "not published": lambda row: "-" if row["surplus"] is None else row["surplus"],
            "new to train": lambda row: row["new"],
            "of these in test": lambda row: row["new_in_test"],
            "seconds": lambda row: f"{row['seconds']:.1f}",
        },
    )
    made = table(
        drawn,
        {
            "domain": lambda row: row["domain"],
            "from": lambda row: row["source"],
            "forms": lambda row: row["forms"],
            "distinct": lambda row: row["distinct"],
            "valid": lambda row: percent(row["valid"]),
            "made by": lambda row: ", ".join(f"{kind} {count}" for kind, count in row["kinds"].items()),
            "rejected": lambda row: ", ".join(f"{why} {count}" for why, count in row["rejected"].items()),
            "also in": lambda row: ", ".join(f"{split} {count}" for split, count in row["overlaps"].items()),
            "seconds": lambda row: f"{row['seconds']:.1f}",
        },
    )
    return f"{coverage}\n\n{made}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/synthesis.json"))
    options = parser.parse_args()
    grammars = [measure_grammar(name) for name in (*DOMAINS, "trails")]
    sources = (("atis", ATIS_FORMS, "ontology"), ("atis", ATIS_FORMS, "forms"), ("trails", TRAILS_FORMS, "grammar"))
    drawn = [measure_drawn(*source) for source in sources]
    # Forms of the benchmarks stay out of the file; those of the embedded domain may be shown.
    published = [{**row, "samples": row["samples"] if row["domain"] == "trails" else []} for row in drawn]
    shown = [{**row, "missed": len(row["missed"])} for row in grammars]
    neighbours = measure_neighbours("atis")
    told = {"grammars": shown, "drawn": published, "neighbours": neighbours}
    write_text(options.out, json.dumps(told, indent=1) + "\n")
    print(show_tables(grammars, drawn), neighbours, sep="\n\n")
    for row in grammars:
        for form in row["missed"]:
            print("missed", row["domain"], form)


if __name__ == "__main__":
    main()
