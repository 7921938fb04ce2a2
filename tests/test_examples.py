"""Every example runs and says what its text promises; those that need a run get the one `own_domain.py` trains."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

PROMISES = {
    "check_a_form.py": ["one complete tree: True  makes sense: True", "have type number bed, not number km"],
    "constrained_search.py": ["one complete tree each"],
    "execute_a_form.py": ["( count ( all hut ) ) => (list (number 10 count))", "does not run", "not a form"],
    "explain_a_parse.py": ["boat.grey_gull", "copied from 'Grey Gull'"],
    "parse_a_question.py": ["1. ( filter ( all boat ) electric )", "(name boat.heron)"],
    "parse_many_questions.py": ["the same forms: True"],
    "play_a_round.py": ["query: how big is the heron", "( get boat.heron seats )", "advantage +"],
    "read_a_question.py": ["is the marmot hut open", "read 'twenty five' as '25'"],
    "synthesize_forms.py": ["8 new forms"],
    "verbalize_a_form.py": ["which boat is the largest"],
}
WITHOUT_RUN = {"check_a_form.py", "execute_a_form.py", "read_a_question.py", "synthesize_forms.py"}


def play(name: str, *arguments: object) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")


@pytest.fixture(scope="session")
def boats(tmp_path_factory) -> Path:
    """The folder `own_domain.py` leaves behind."""
    folder = tmp_path_factory.mktemp("examples")
    play("own_domain.py", folder)
    return folder


def test_every_example_is_played():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*PROMISES, "own_domain.py", "custom_reward.py"}


@pytest.mark.parametrize("name", PROMISES)
def test_an_example_does_what_it_says(name, boats, capsys):
    play(name, *([] if name in WITHOUT_RUN else [boats / "run"]))
    told = capsys.readouterr()
    for promise in PROMISES[name]:
        assert promise in told.out
    assert told.err == ""


def test_constrained_search_finds_complete_trees_alone_and_forms_alone(boats, capsys):
    play("constrained_search.py", boats / "run", "list the boats of the moon")
    _, bound = capsys.readouterr().out.split("one complete tree each")
    trees, typed = (part.strip().splitlines() for part in bound.split("the types of the domain"))
    assert len(trees) == 5 and typed
    for complaint in ("after the form's end", "without an opening one", "missing closing", "empty list"):
        assert complaint not in bound
    assert all(line.endswith(" ok") for line in typed)


def test_a_reward_of_ones_own_changes_what_is_learned(tmp_path, capsys):
    play("custom_reward.py", tmp_path)
    lines = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    words = {name: float(told.split()[0]) for name, _, told in lines}
    assert words["brief queries"] < words["the paper's rewards"] - 0.3


def test_a_domain_of_ones_own_is_learned(boats):
    import dualparse

    parser = dualparse.load(boats / "run")
    best = parser.parse("Where is Big Bertha?", k=1)[0]
    assert best.form == "( get boat.big_bertha berth )"
    assert best.answer == "(list (name harbour.old_quay))"
    assert parser.parse("boats for at least five people", k=1)[0].notes == ("read 'five' as '5'",)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_says_how_to_run_it(path):
    text = path.read_text(encoding="utf-8")
    assert f"\npython examples/{path.name}" in text.replace("\n    ", "\n").split('"""')[1]
    assert len(text.splitlines()) < 110
