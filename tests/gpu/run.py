"""The checks of a card without pytest: one line each, and a file with the versions.

python -m tests.gpu.run [--out results/gpu-parity.json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))


def main() -> int:
    from gpu.checks import CHECKS, lstm

    from dualparse.engines.engine import told
    from dualparse.files import write_text

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/gpu-parity.json"))
    out = parser.parse_args().out
    if not torch.cuda.is_available():
        print("no GPU here: nothing was checked")
        return 0
    found = []
    for check, tolerance in CHECKS.items():
        started, reason = time.perf_counter(), ""
        try:
            difference = check()
        except (AssertionError, RuntimeError, ValueError, TypeError, AttributeError, ImportError, KeyError) as error:
            difference, reason = float("nan"), f"{type(error).__name__}: {str(error).splitlines()[:1]}"
            traceback.print_exc()
        fine = difference <= tolerance
        name = check.__name__.replace("_", " ")
        print(
            f"{'ok    ' if fine else 'FAILED'} {name}: {difference:.2e}, at most {tolerance:.0e} {reason}", flush=True
        )
        found.append(
            {
                "check": name,
                "difference": None if reason else difference,
                "tolerance": tolerance,
                "ok": fine,
                "seconds": round(time.perf_counter() - started, 1),
                "error": reason,
            }
        )
    write_text(out, json.dumps({"engine": told(lstm()), "checks": found}, indent=2) + "\n")
    return int(not all(each["ok"] for each in found))


if __name__ == "__main__":
    raise SystemExit(main())
