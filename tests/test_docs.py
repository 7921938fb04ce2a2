"""The pages keep their word: links lead somewhere, commands and settings exist, names are those of the code.

Pages are read with the Markdown parser that comes with rich. What they show is parsed, not run; one page is run as a
whole by tests/test_own_domain_doc.py.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dualparse.config import GameSettings, Recipe, explain, make_recipe, read_recipe
from dualparse.lab.store import Store
from dualparse.use.cli.main import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
GROUPS = ("data", "model", "train", "language_model", "game", "pseudo", "search")
FILE_ENDINGS = {"tsv", "txt", "toml", "json", "jsonl", "py", "md"}
OPERATORS = {"|", "||", "&&", "&", ";"}
REDIRECTIONS = {"<", ">", ">>"}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@dataclass(frozen=True)
class Link:
    text: str
    target: str
    code: bool  # the text is code: the name of something


@dataclass(frozen=True)
class Page:
    """What a page says, by kind."""

    links: tuple[Link, ...]
    code: tuple[str, ...]  # inline code that is no link
    blocks: tuple[tuple[str, str], ...]  # (language, text) of every fenced block
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # cells of the tables, as text

    def fenced(self, *languages: str) -> list[str]:
        return [text for language, text in self.blocks if language in languages]


@cache
def read(path: Path) -> Page:
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    inline = [token for token in tokens if token.type == "inline"]
    links = [link for token in inline for link in _links(token.children or [])]
    links += [
        Link("", source, False)
        for token in tokens
        if token.type in ("html_block", "inline")
        for source in re.findall(r'<(?:img|a)\b[^>]*?(?:src|href)="([^"]+)"', token.content)
    ]
    linked = {link.text for link in links}
    code = [
        child.content
        for token in inline
        for child in token.children or []
        if child.type == "code_inline" and child.content not in linked
    ]
    return Page(
        tuple(links),
        tuple(code),
        tuple((token.info.strip(), token.content) for token in tokens if token.type == "fence"),
        tuple(_after(tokens, "heading_open")),
        tuple(_rows(tokens)),
    )


def _links(children: list[Token]) -> Iterator[Link]:
    target = ""
    inside: list[Token] = []
    for child in children:
        if child.type == "image":
            yield Link(child.content, str(child.attrGet("src")), False)
        elif child.type == "link_open":
            target, inside = str(child.attrGet("href")), []
        elif child.type == "link_close":
            yield Link("".join(c.content for c in inside), target, [c.type for c in inside] == ["code_inline"])
        else:
            inside.append(child)


def _after(tokens: list[Token], kind: str) -> Iterator[str]:
    for before, token in zip(tokens, tokens[1:], strict=False):
        if before.type == kind:
            yield token.content


def _rows(tokens: list[Token]) -> Iterator[tuple[str, ...]]:
    cells: list[str] = []
    for before, token in zip(tokens, tokens[1:], strict=False):
        if before.type == "tr_open":
            cells = []
        elif before.type == "td_open":
            cells.append(token.content)
        elif before.type == "tr_close" and cells:
            yield tuple(cells)


def anchors(path: Path) -> set[str]:
    """The names a forge gives to the headings of a page."""
    found: set[str] = set()
    for heading in read(path).headings:
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        found.add(next(name for i in range(99) if (name := f"{slug}-{i}" if i else slug) not in found))
    return found


@every_page
def test_links_lead_somewhere(page):
    for link in read(page).links:
        if re.match(r"[a-z]+:", link.target):
            continue
        path, _, anchor = unquote(link.target).partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), link
        assert target.exists(), f"{link.target} is not there"
        if anchor:
            assert anchor in anchors(target), f"{link.target}: no such heading in {target.name}"


@every_page
def test_names_of_code_exist(page):
    """A link from code to a module says that the module has that name."""
    for link in read(page).links:
        path = link.target.partition("#")[0]
        if not link.code or not path.endswith(".py"):
            continue
        target = (page.parent / path).resolve()
        if target.name == link.text or not target.is_relative_to(ROOT / "dualparse"):
            continue
        parts = target.relative_to(ROOT).with_suffix("").parts
        thing: Any = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        for name in link.text.removesuffix("()").split("."):
            assert has(thing, name), f"{path} has no {link.text}"
            thing = getattr(thing, name, None)


def has(thing: Any, name: str) -> bool:
    """Whether a module or class has it; what only objects have stands in the class's annotations or its source."""
    if hasattr(thing, name) or name in getattr(thing, "__annotations__", {}):
        return True
    return inspect.isclass(thing) and f"self.{name} =" in inspect.getsource(thing)


def shell_commands(text: str) -> Iterator[list[str]]:
    """The simple commands of a line of shell, as words."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word in OPERATORS:
            if words:
                yield words
            words = []
        else:
            words.append(word)


def typed(page: Path) -> list[list[str]]:
    """Every command that a page tells the reader to type."""
    lines: list[str] = []
    for block in read(page).fenced("console"):
        lines += re.findall(r"^\$ (.*)", block.replace("\\\n", " "), re.MULTILINE)
    for block in read(page).fenced("sh", "bash"):
        lines += block.replace("\\\n", " ").splitlines()
    return [words for line in lines for words in shell_commands(line)]


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that `dualparse ...` calls, and what is left for it."""
    command, rest = typer.main.get_command(app), words[1:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"no such command: dualparse {' '.join(words[1:])}"
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


def is_ours(words: list[str]) -> bool:
    return words[0].rpartition("/")[2] == "dualparse"


@every_page
def test_commands_can_be_typed(page):
    for words in typed(page):
        if is_ours(words):
            command, rest = command_of(list(takewhile(lambda word: word not in REDIRECTIONS, words)))
            try:
                values = command.make_context("dualparse", list(rest)).params
            except typer.Exit:  # --help and the like
                continue
            recipe = values.get("recipe")
            if isinstance(recipe, Path) and (ROOT / recipe).is_file():
                read_recipe(ROOT / recipe, overrides=values["set_"])
        elif words[0] == "make":
            targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert {word for word in words[1:] if "=" not in word} <= set(targets), words


@every_page
def test_commands_in_passing_exist(page):
    """`dualparse NAME --option` in a sentence; the rest may be a placeholder."""
    for code in read(page).code:
        if not code.startswith("dualparse "):
            continue
        command, rest = command_of(re.split(r"\s+", code.partition(" | ")[0]))
        named = (name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))
        known = {"--help", *named}
        assert {word for word in rest if word.startswith("--")} <= known, code


@every_page
def test_files_named_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"\b(?:recipes|grids|benchmarks|examples)/[\w./-]+\.(?:toml|py|txt)\b", text):
        assert (ROOT / path).is_file(), f"{path} is not there"


@every_page
def test_modules_named_in_passing_exist(page):
    """`engines/cores.py` in a sentence."""
    for code in read(page).code:
        if re.fullmatch(r"[a-z_]+(/[a-z_]+)*/[a-z_]+\.py", code):
            assert (ROOT / code).is_file() or (ROOT / "dualparse" / code).is_file(), f"{code} is not there"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "lab").glob("*.md")), ids=lambda page: page.name)
def test_sweeps_the_notebook_names_are_stored(page):
    named = {
        code for code in read(page).code if re.fullmatch(r"(table|figure|tune|tuning|trails|family)\d?-[\w-]+", code)
    }
    assert named <= stored_grids() | {path.stem for path in (ROOT / "recipes").glob("*.toml")}


@cache
def stored_grids() -> set[str]:
    return {stored.name.partition("/")[0] for stored in Store(ROOT / "results").read()}


@every_page
def test_settings_named_exist(page):
    known = {key for key, _, _ in explain()}
    for code in read(page).code:
        match = re.fullmatch(rf"({'|'.join(GROUPS)})\.(\w+)(?:\s*=.*)?", code)
        if match and match[2] not in FILE_ENDINGS:
            assert f"{match[1]}.{match[2]}" in known, f"no such setting: {code}"


@every_page
def test_defaults_in_tables_are_right(page):
    defaults = {key: default for key, default, _ in explain()}
    for row in read(page).rows:
        key = row[0].strip("`")
        if key in defaults and len(row) == 3:
            assert row[1].strip("`") == defaults[key], f"the default of {key} is {defaults[key]}"


@every_page
def test_recipes_shown_can_be_read(page):
    for block in read(page).fenced("toml"):
        values = tomllib.loads(block)
        if set(values) <= set(Recipe.model_fields):
            make_recipe({"domain": "trails", "stages": ["q2lf", "lf2q", "query_lm", "lf_lm", "dual"]} | values)


@every_page
def test_imports_shown_can_be_made(page):
    for block in read(page).fenced("python"):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dualparse":
                assert hasattr(importlib.import_module("dualparse"), node.attr), block
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dualparse"):
                module = importlib.import_module(node.module or "")
                assert not [alias.name for alias in node.names if not hasattr(module, alias.name)], block


def test_the_page_on_the_game_tells_all_its_settings():
    told = {row[0].strip("`") for row in read(ROOT / "docs" / "dual-learning.md").rows}
    own = GameSettings.model_fields.keys() - GameSettings.__mro__[1].model_fields.keys()
    assert {f"game.{name}" for name in own} <= told


def test_the_errors_of_the_faq_are_those_of_the_code():
    """A heading in code is an error message; `...` stands for what differs."""
    messages = [heading[1:-1] for heading in read(ROOT / "docs" / "faq.md").headings if heading.startswith("`")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "dualparse").rglob("*.py")))
    source = re.sub(r'"\n\s*f?"', "", source)  # a text over two lines of code
    source += "".join(f"unknown {kind} " for kind in re.findall(r'unknown_name\("(\w+)"', source))
    assert len(messages) > 15
    for message in messages:
        missing = [part for part in re.split(r"\.\.\.", message) if part.strip() not in source]
        assert not missing, f"no error says {missing}"


def test_the_picture_of_the_rooms_is_complete():
    rooms = read(ROOT / "docs" / "architecture.md").fenced("")[0]
    package = ROOT / "dualparse"
    there = {path.name for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    told = set(re.findall(r"\w+\.py\b|\b\w+(?=/)", rooms))
    missing = {name for name in there - {"__init__.py"} if name not in told}
    assert not missing, f"give {sorted(missing)} a place in docs/architecture.md"
    names = {path.name for path in package.rglob("*")}
    assert not [name for name in told if name.endswith(".py") and name not in names]
