"""What a stranger has to know before changing one thing stays small."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 70  # lines of a function
KERNELS = {"launch", "search_kernel"}  # one call with all that a program of a GPU is given, and that program


def test_functions_fit_a_screen():
    long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / "dualparse").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= LONGEST
        and node.name not in KERNELS
    ]
    assert not long, f"look for the missing idea: {long}"


def test_there_are_few_recipes_grids_and_results():
    assert len(list((ROOT / "recipes").glob("*.toml"))) <= 12
    assert len(list((ROOT / "grids").glob("*.toml")) + list((ROOT / "grids" / "beyond").glob("*.toml"))) <= 24
    assert len([path for path in (ROOT / "results").rglob("*") if path.is_file() and path.name != ".lock"]) <= 60


def test_the_first_pages_are_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
    assert len((ROOT / "docs" / "dual-learning.md").read_text(encoding="utf-8").split()) <= 3_000
