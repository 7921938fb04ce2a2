"""Pairs that grammars make: how many a domain has, and how many test questions are among them, word for word.

    DUALPARSE_DATA=DIR python -m benchmarks.canonical [--pairs 1000] [--out results/canonical.json]

In: OVERNIGHT and the embedded domain. The pairs are those of `data.canonical`, as training gets them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dualparse.config import DataSettings
from dualparse.data.examples import load_examples
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import open_domain
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.training.material import canonical_examples


def measure(name: str, pairs: int) -> dict[str, object]:
    """One domain: its pairs, its test questions, and those of them that the grammar says, too."""
    domain, settings = open_domain(name), DataSettings(canonical=pairs)
    made = canonical_examples(domain, settings)
    said = {pair.query for pair in made}
    test = load_examples(domain, dev_seed=settings.split_seed).test
    return {"domain": name, "pairs": len(made), "test": len(test), "said": sum(each.query in said for each in test)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = [measure(name, options.pairs) for name in (*DOMAINS, "trails")]
    text = json.dumps({"commit": current_commit(), "asked_for": options.pairs, "rows": rows}, indent=1) + "\n"
    print(text, end="")
    if options.out:
        write_text(options.out, text)


if __name__ == "__main__":
    main()
