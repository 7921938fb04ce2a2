"""`make campaign`: every kind of attack for its share of a time, and one table of what became of it.

    python -m benchmarks.campaign [--time 600] [--seed 1] [--only PART ...] [--cases N] [--out results/campaign.json]
    python -m benchmarks.campaign --only PART --seed 2 --more                (other cases, added to the stored line)
    python -m benchmarks.campaign --only PART --seed SEED --case NUMBER      (one case again, here and now)
    python -m benchmarks.campaign --page docs/reliability.md                 (the stored table into the page)

A part that is run replaces its line of the stored table, or adds to it with `--more`; the others stay.
The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.campaign.supervise import Outcome, run_part
from benchmarks.campaign.table import put_into, seeds_of, store, table
from benchmarks.campaign.worker import PARTS, part_class
from dualparse.use.cli.screen import Screen

FAILURES = Path("campaign-failures")  # a file for each; git leaves it alone
EVERY = 10.0  # seconds from one line about a part under way to the next


def again(name: str, *, seed: int, number: int) -> int:
    """Run one case in this process, so that what it raises is seen."""
    with tempfile.TemporaryDirectory() as folder:
        part = part_class(name)(Path(folder), seed=seed, seconds=60.0)
        try:
            print(f"{name} {number}: {dict(part.case(number))}; tried: {part.input!r}")
        finally:
            part.close()
    return 0


def run(names: list[str], options: argparse.Namespace, screen: Screen) -> list[Outcome]:
    """All parts, one after the other."""
    shares = sum(part_class(name).share for name in names)
    found = []
    for name in names:
        part, shown = part_class(name), time.monotonic()

        def say(outcome: Outcome) -> None:
            nonlocal shown
            if time.monotonic() - shown > EVERY:
                shown = time.monotonic()
                screen.print(f"{name}: {outcome.cases:,} {part.unit}, {outcome.failures} failures")  # noqa: B023

        outcome = run_part(
            name,
            seed=options.seed,
            seconds=options.time * part.share / shares,
            cases=options.cases or part.cases,
            failures=options.failures,
            say=say,
        )
        screen.print(f"{name}: {outcome.cases:,} {part.unit}, {outcome.failures} failures, {outcome.seconds:.0f} s")
        store(options.out, outcome, seed=options.seed, more=options.more)
        found.append(outcome)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=600.0, help="seconds for all parts together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--cases", type=int, help="most cases of a part; a whole campaign otherwise")
    parser.add_argument("--case", type=int, help="this one case of the one part that is named")
    parser.add_argument("--more", action="store_true", help="add to the stored lines; the seed must be another one")
    parser.add_argument("--out", type=Path, default=Path("results/campaign.json"))
    parser.add_argument("--failures", type=Path, default=FAILURES, help="folder for what failed")
    parser.add_argument("--page", type=Path, help="write the stored table into this page; nothing is run")
    options = parser.parse_args()
    if options.page:
        put_into(options.page, options.out)
        return 0
    names = options.only or list(PARTS)
    if options.case is not None:
        if len(names) != 1:
            parser.error("--case needs one --only")
        return again(names[0], seed=options.seed, number=options.case)
    for name in names if options.more else ():
        if part_class(name).numbers < sys.maxsize:
            parser.error(f"{name} has {part_class(name).numbers} cases whatever the seed is: there are no more")
        if options.seed in seeds_of(options.out, name):
            parser.error(f"the stored line of {name} counts the cases of seed {options.seed} already")
    screen = Screen(highlight=False, markup=False, soft_wrap=True)
    outcomes = run(names, options, screen)
    screen.print(table(options.out))
    failures = sum(outcome.failures for outcome in outcomes)
    if failures:
        screen.print(f"{failures} failures are in {options.failures}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
