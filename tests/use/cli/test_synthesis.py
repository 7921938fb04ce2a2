"""The commands that make forms and show grammars."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from dualparse.data.examples import Example, Splits, read_examples
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.use.cli import synthesis

GRAMMAR = """
(rule $ROOT (not $Entity) (lambda x (not (var x))))
(rule $Entity (the zoo) (ConstantFn place.zoo))
(rule $Entity ("the [red] park") (ConstantFn place.park))
(rule $Lost (nowhere) (ConstantFn place.nowhere))
"""


def run(*arguments: str) -> Result:
    app = typer.Typer()
    synthesis.register(app)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})


@pytest.fixture
def grammar_file(tmp_path: Path) -> str:
    path = tmp_path / "small.grammar"
    path.write_text(GRAMMAR)
    return str(path)


def test_synthesize_writes_forms_that_the_reader_takes_and_the_domain_accepts(tmp_path):
    out = tmp_path / "extra.tsv"
    result = run("synthesize", "--domain", "trails", "--n", "40", "--seed", "3", "--out", str(out))
    assert result.exit_code == 0
    examples = read_examples(out)
    assert len(examples) == 40
    assert all(example.query is None for example in examples)
    domain = open_domain("trails")
    assert all(domain.check(" ".join(example.lf)).ok for example in examples)
    assert "made: derived" in result.stderr and "also in dev" in result.stderr
    again = run("synthesize", "--domain", "trails", "--n", "40", "--seed", "3")
    assert again.stdout == out.read_text()


def test_synthesize_writes_pairs_for_training(tmp_path):
    out = tmp_path / "pairs.tsv"
    assert run("synthesize", "-d", "trails", "-n", "5", "--pairs", "--out", str(out)).exit_code == 0
    assert all(example.labeled for example in read_examples(out))


def test_pairs_come_from_pairs(tmp_path):
    out = tmp_path / "pairs.tsv"
    result = run("synthesize", "-d", "trails", "-n", "30", "--from", "pairs", "--out", str(out))
    assert result.exit_code == 0 and "30 pairs with" in result.stderr
    made, domain = read_examples(out), open_domain("trails")
    known = {example.query for example in read_examples(domain.files["train"])}
    assert len(made) == 30 and all(pair.labeled and pair.query not in known for pair in made)
    assert all(domain.check(" ".join(pair.lf or ())).ok for pair in made)
    assert run("synthesize", "-d", "trails", "-n", "30", "--from", "pairs").stdout == out.read_text()


def test_a_training_form_that_is_no_tree_does_no_harm(tmp_path, monkeypatch):
    broken = Example(("show", "broken", "things"), ("(", "count", "(", "all"))
    monkeypatch.setattr(synthesis, "load_examples", lambda domain, **_: Splits([broken, *PAIRS], [], [], [], []))
    result = run("synthesize", "-d", "trails", "-n", "1", "--from", "pairs")
    assert result.exit_code == 0 and "1 pairs with 1 new forms" in result.stderr


PAIRS = [
    Example(tuple(query.split()), tuple(form.split()))
    for query, form in (
        ("show me the huts", "( all hut )"),
        ("show me the huts with wifi", "( filter ( all hut ) has_wifi )"),
        ("count the huts", "( count ( all hut ) )"),
    )
]


@pytest.mark.parametrize("option", [["--depth", "3"], ["--no-swap"], ["--size", "9"], ["--tried", "7"]])
def test_options_of_grammars_are_no_options_of_pairs(option):
    result = run("synthesize", "-d", "trails", "--from", "pairs", *option)
    name = option[0].removeprefix("--no-").removeprefix("--")
    assert isinstance(result.exception, InputError) and f"--{name} says something about forms" in str(result.exception)


def test_pairs_that_have_nothing_in_common_make_no_others(monkeypatch):
    monkeypatch.setattr(synthesis, "by_analogy", lambda *given, **options: [])
    result = run("synthesize", "-d", "trails", "--from", "pairs")
    assert isinstance(result.exception, InputError) and "training pairs of 'trails'" in str(result.exception)


def test_fewer_pairs_than_asked_for_are_told(monkeypatch):
    monkeypatch.setattr(synthesis, "by_analogy", lambda train, check, **options: train[:2])
    assert "fewer than the 9 asked for" in run("synthesize", "-d", "trails", "-n", "9", "--from", "pairs").stderr


def test_synthesize_says_when_there_are_no_more(tmp_path):
    result = run("synthesize", "-d", "trails", "-n", "4000", "--depth", "3")
    assert result.exit_code == 0
    assert "fewer than the 4000 asked for: there are no more" in result.stderr


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("synthesize", "-d", "trails", "-n", "2", "--out", str(tmp_path / "file" / "x.tsv"))
    assert isinstance(result.exception, InputError)


def test_show_lists_categories_and_warnings(grammar_file):
    result = run("grammar", "show", grammar_file)
    assert result.exit_code == 0
    assert "$Entity" in result.stdout and "4 rules" in result.stdout
    assert "small.grammar:5: $Lost is never used" in result.stdout.replace("\n", "")


def test_show_lists_the_rules_of_a_category(grammar_file):
    result = run("grammar", "show", grammar_file, "--category", "Entity")
    assert "small.grammar:4" in result.stdout
    assert "the [red] park" in result.stdout and "place.park" in result.stdout
    wrong = run("grammar", "show", grammar_file, "--category", "Entitty")
    assert isinstance(wrong.exception, InputError)
    assert "did you mean '$Entity'" in str(wrong.exception)


def test_derive_shows_utterances_and_forms(grammar_file):
    result = run("grammar", "derive", grammar_file)
    assert result.stdout.splitlines() == [
        "not the zoo",
        "  ( not place.zoo )",
        "not the [red] park",
        "  ( not place.park )",
    ]
    assert "2 shown" in result.stderr
    assert (
        run("grammar", "derive", grammar_file, "--pairs", "--number", "1").stdout == "not the zoo\t( not place.zoo )\n"
    )


def test_derive_shows_answers_of_a_domain():
    result = run("grammar", "derive", "trails", "--number", "3")
    lines = result.stdout.splitlines()
    assert len(lines) == 9
    assert all(line.startswith("  = ") for line in lines[2::3])


def test_sample_is_decided_by_the_seed():
    first, second, other = (run("grammar", "sample", "trails", "--seed", seed).stdout for seed in "112")
    assert first == second != other
    assert len(first.splitlines()) == 30


def test_sample_of_a_tiny_grammar_ends(grammar_file):
    assert len(run("grammar", "sample", grammar_file, "--number", "10").stdout.splitlines()) == 4


@pytest.mark.parametrize("command", ["show", "derive", "sample"])
def test_a_bad_grammar_is_told_with_its_line(tmp_path, command):
    path = tmp_path / "bad.grammar"
    path.write_text("(rule $ROOT (x) (ConstantFn x))\n(rule $ROOT ($Y) (IdentityFn))\n")
    result = run("grammar", command, str(path))
    assert isinstance(result.exception, InputError)
    assert str(result.exception).endswith("bad.grammar:2: no rule makes $Y")
