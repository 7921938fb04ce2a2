"""The paper's numbers (paper.toml) by dataset, share of labels and method. What it shows in figures only is unknown."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PAPER: dict[str, Any] = tomllib.loads(Path(__file__).with_name("paper.toml").read_text(encoding="utf-8"))
DOMAINS: list[str] = PAPER["domains"]  # OVERNIGHT's, in the order of its tables
DATASETS: dict[str, list[str]] = {"ATIS": ["atis"], "OVERNIGHT": DOMAINS}
LM = "LM validity"
LM_VALIDITY = f" ({LM})"  # behind the name of a method: a language model judges forms, not the check
METHODS: set[str] = {  # all it has numbers of
    *(name for table in ("table2", "table3", "table4") for name in PAPER[table]),
    *(f"{base}+Dual+LF+Q{LM_VALIDITY}" for base in PAPER["table5"]),
}


def paper_score(dataset: str, method: str, labeled: float) -> float | None:
    """Test accuracy the paper prints for a method; for OVERNIGHT the average.

    >>> paper_score("ATIS", "AttPtr+Dual+LF", 1.0), paper_score("OVERNIGHT", "Att", 0.5)
    (89.1, 65.4)
    >>> paper_score("ATIS", "Att", 0.3)  # in no table
    """
    return _scores(dataset, method, labeled)[-1]


def paper_scores(dataset: str, method: str, labeled: float) -> list[float | None]:
    """The same for every domain of a dataset."""
    return _scores(dataset, method, labeled)[: len(DATASETS[dataset])]


def _scores(dataset: str, method: str, labeled: float) -> list[float | None]:
    """Scores by domain, then for OVERNIGHT their average; None where the paper has none."""
    atis, domains = dataset == "ATIS", len(DOMAINS)
    unknown: list[float | None] = [None] if atis else [None] * (domains + 1)
    if labeled == 1.0:
        row = PAPER["table3" if atis else "table2"].get(method)
        return unknown if row is None else [row] if atis else list(row)
    if labeled == 0.5 and method in PAPER["table4"]:
        row = PAPER["table4"][method]
        return list(row[domains + 1 :] if atis else row[: domains + 1])
    for base, row in PAPER["table5"].items():
        if labeled == 0.5 and method == f"{base}+Dual+LF+Q{LM_VALIDITY}":
            return [row["lm"][0]] if atis else [*unknown[:-1], row["lm"][1]]
    return unknown
