"""What a command costs that answers one question: seconds from start to end, and the memory it takes at most.

    python -m benchmarks.start RUN [--rounds 7] [--out FILE]

Every round starts each command once, so that a load from elsewhere meets all of them; the median counts. What is read
from disk is read once before.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.load import keep_to_cores, processor, wait_for_quiet
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.runs import Run
from dualparse.use.api import load

CORES = 2
PATIENCE = 20.0  # seconds a round waits for a machine on which little else runs
MEASURE = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
MEASURE += "told = resource.getrusage(resource.RUSAGE_CHILDREN); print(told.ru_maxrss)"


def commands(run: Path, question: str) -> dict[str, list[str]]:
    """By name, what is started."""
    program = [sys.executable, "-m", "dualparse.use.cli.main"]
    whole = f"import dualparse; dualparse.load({str(run)!r}).parse({question!r})"
    return {
        "dualparse parse RUN QUESTION": [*program, "parse", str(run), question],
        "dualparse ask RUN QUESTION": [*program, "ask", str(run), question],
        "dualparse.load(RUN).parse(QUESTION), with torch": [sys.executable, "-c", whole],
        "dualparse --help": [*program, "--help"],
    }


def started(command: list[str]) -> tuple[float, float]:
    """Seconds, and megabytes."""
    begun = time.perf_counter()
    told = subprocess.run([sys.executable, "-S", "-c", MEASURE, *command], check=True, capture_output=True, text=True)
    return time.perf_counter() - begun, int(told.stdout) / (1024 if sys.platform == "linux" else 1024**2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cores = keep_to_cores(CORES)
    asked = commands(options.run, load(options.run, light=True).domain.questions[0])
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
    for round_ in range(options.rounds + 1):
        wait_for_quiet(0.1, patience=PATIENCE)
        for name, command in asked.items():
            told = started(command)
            if round_:
                found[name].append(told)
    rows = []
    for name, told in found.items():
        seconds, megabytes = (statistics.median(each) for each in zip(*told, strict=True))
        rows.append({"command": name, "seconds": round(seconds, 3), "megabytes": round(megabytes, 1)})
        print(f"{seconds:6.2f} s  {megabytes:6.0f} MB  {name}")
    about = {"commit": current_commit(), "domain": Run.open(options.run).recipe.domain, "processor": processor()}
    if options.out:
        write_text(options.out, json.dumps(about | {"cores": cores, "commands": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
