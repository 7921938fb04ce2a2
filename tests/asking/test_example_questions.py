"""Questions a connected folder offers to newcomers."""

from __future__ import annotations

from shops import SHOP, sqlite_file

from dualparse.asking.asker import open_asker
from dualparse.asking.example_questions import example_questions
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.use.service.served import connected_target


def test_examples_are_of_several_kinds_and_answered(tmp_path):
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "shop")
    target = connected_target(tmp_path / "shop")
    questions = target.about.questions
    assert len(questions) >= 4 and len(set(questions)) == len(questions)
    assert sum("are there" in each and "for each" not in each for each in questions) == 1
    assert any("for each" in each for each in questions) and any("highest" in each for each in questions)
    assert all(target.asker.ask(each).answered for each in questions)
    target.asker.close()
    with open_asker(tmp_path / "shop") as asker:
        assert len(example_questions(asker, patience=0.0)) == 1, "a slow database does not keep a server waiting"
