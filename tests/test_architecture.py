"""Imports flow one way, and nothing below the models needs torch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import dualparse

ROOT = Path(dualparse.__file__).parent

# A part may import from parts of lower rank and from itself. Equal ranks do not know each other.
RANKS = {
    "errors": 0,
    "suggest": 0,
    "lines": 1,
    "toml": 2,
    "files": 1,
    "manifest": 2,
    "log": 2,
    "migration": 1,
    "plugins": 1,
    "lf": 2,
    "fetch": 2,
    "domains": 3,
    "database": 3.5,
    "evaluate": 4,
    "data": 4,
    "config": 4,
    "synthesis": 5,
    "networks": 6,
    "matching": 6.5,
    "engines": 7,
    "choosing": 8,
    "runs": 9,
    "game": 10,
    "training": 11,
    "asking": 11.5,
    "grading": 11.7,
    "use.parses": 11.9,
    "use.parts": 11.9,
    "use.api": 12,
    "use.asking": 12.5,
    "use.service": 13,
    "use.assistants": 13.5,
    "lab": 14,
    "use.cli": 15,
}
WITHOUT_TORCH = {name for name, rank in RANKS.items() if rank < RANKS["networks"]}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """`dualparse.lf.sexpr` -> `lf`, `dualparse.use.cli.main` -> `use.cli`."""
    parts = module.split(".")
    return ".".join(parts[1 : 3 if parts[1:2] == ["use"] else 2])


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module a tree imports, inside functions too; for `from a import b` both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_flow_one_way(path):
    part = part_of(name_of(path))
    if part in ("", "use"):
        return  # the package itself
    assert part in RANKS, f"give {part} its place in the order"
    for target in imported(parse(path)):
        other = part_of(target) if target.startswith("dualparse.") else ""
        if other in RANKS and other != part:
            assert RANKS[other] < RANKS[part], f"{name_of(path)} imports {target}"


@pytest.mark.parametrize("path", [p for p in modules() if part_of(name_of(p)) in WITHOUT_TORCH], ids=name_of)
def test_no_torch_below_the_models(path):
    roots = {target.split(".")[0] for target in imported(parse(path))}
    assert not roots & {"torch", "safetensors"}


def test_evaluation_needs_forms_and_domains_only():
    parts = {part_of(target) for target in imported(parse(ROOT / "evaluate.py")) if target.startswith("dualparse.")}
    assert parts == {"lf", "domains"}


def test_the_networks_know_no_settings_and_no_words():
    for name in ("lstm", "language_model"):
        targets = set(imported(parse(ROOT / "networks" / f"{name}.py")))
        assert not {t for t in targets if t.startswith(("dualparse.config", "dualparse.domains", "dualparse.lf"))}


def at_the_start(tree: ast.AST) -> Iterator[str]:
    """What importing a module imports: neither in functions nor for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from imported(node)
        elif isinstance(node, (ast.If, ast.Try)) and "TYPE_CHECKING" not in ast.unparse(getattr(node, "test", node)):
            yield from at_the_start(node)


def loaded_by(name: str) -> dict[str, set[str]]:
    """Everything that importing a module imports, by the module of ours that imports it."""
    files = {name_of(path): path for path in modules()}
    waiting, seen = [name], {}
    while waiting:
        if (name := waiting.pop()) not in seen:
            seen[name] = set(at_the_start(parse(files[name])))
            waiting += [target for target in seen[name] if target in files]
    return seen


def test_the_command_starts_without_torch():
    """It takes seconds to load; a typo must not cost them."""
    for name, targets in loaded_by("dualparse.use.cli.main").items():
        assert not {target.split(".")[0] for target in targets} & {"torch", "sacrebleu"}, name


def test_only_the_command_knows_the_laboratory_and_loads_it_when_asked():
    for path in modules():
        part = part_of(name_of(path))
        if part not in ("lab", "use.cli"):
            assert not [t for t in imported(parse(path)) if part_of(t) == "lab"], name_of(path)
    loaded = loaded_by("dualparse.use.cli.main")
    assert not [name for name in loaded if part_of(name) == "lab"]


def offered(path: Path) -> set[str]:
    """The public names that a module defines."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    named = {node.name for node in parse(path).body if isinstance(node, kinds)}
    named |= {
        target.id
        for node in parse(path).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {name for name in named if not name.startswith("_")}


def used(path: Path) -> set[str]:
    """The names that a module makes use of, its own among them."""
    nodes = list(ast.walk(parse(path)))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def test_training_holds_nothing_for_experiments_alone():
    """What no run needs to be trained, scored or used belongs into the laboratory."""
    outside = [path for path in modules() if part_of(name_of(path)) != "lab"]
    needed = set().union(*map(used, outside))
    for path in modules():
        if part_of(name_of(path)) == "training":
            assert offered(path) <= needed, name_of(path)


CATCH_ALL = ("Exception", "BaseException")


def test_no_star_imports_and_no_catch_all():
    for path in modules():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), name_of(path)
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else ""
                # The command itself turns what nobody has thought of into one line.
                allowed = ("BaseException",) if name_of(path) == "dualparse.use.cli.main" else CATCH_ALL
                assert caught and caught not in allowed, f"{name_of(path)}:{node.lineno}"
