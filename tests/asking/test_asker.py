"""Questions about a connected folder, answered without training."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from shops import SHOP, sqlite_file

import dualparse
from dualparse.asking.asker import FolderAsker, _choices, _slips, open_asker
from dualparse.asking.confidence import Confidence
from dualparse.asking.evidence import log_odds
from dualparse.asking.grounds import by_form, of_same, shares_of
from dualparse.asking.question import take_apart
from dualparse.asking.requests import NO_REASONS, asks_for_change, asks_for_more
from dualparse.asking.trust import Trust
from dualparse.asking.weigh import OTHER
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.errors import InputError


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("shop")
    sqlite_file(place / "shop.sqlite", SHOP)
    connect(locate(str(place / "shop.sqlite")), place / "folder")
    return place / "folder"


@pytest.fixture(scope="module")
def asker(folder) -> FolderAsker:
    return open_asker(folder)


ANSWERS = {
    "which films are longer than two hours": [("The Long Ferry", 121), ("Dust", 140)],
    "how many films are there": [(4,)],
    "which actors come from chile": [("Mira Holt",), ("Zoë Varga",)],
    "chilean actors": [("Mira Holt",), ("Zoë Varga",)],
    "where is Tomas O'Neil from": [("Peru",)],
    "what is the longest film": [("Dust", 140)],
    "the two cheapest films": [("Winter Ledger", 2), ("Salt", 2.5)],
    "how many films are there in each genre": [("Comedy", 1), ("Drama", 2), ("Western", 1)],
    "average rental price of films": [(3,)],
    "members who never rented anything": [],
    "actors born after 1985": [("Tomas O'Neil", "1990-01-02")],
    "films in the western genre": [("Dust",)],
    "which films are longer than Salt": [("The Long Ferry", 121), ("Dust", 140)],
    "films of the same genre as Salt": [("The Long Ferry",), ("Salt",)],
    "which actors are older than Zoë Varga": [("Mira Holt", "1970-05-01")],
    "actors born before Zoë Varga": [("Mira Holt", "1970-05-01")],
    "which genre is the longest film": [("Western",)],
    "members without a manager": [("Ann Lee",)],
    "which film is in print": [("The Long Ferry",), ("Winter Ledger",), ("Dust",)],
    "how long is Salt": [(95,)],
    "genres with 2 films or more": [("Drama", 2)],
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_is_answered_from_the_database(question, asker):
    (first, *_), rows = asker.ranked(question)[2], ANSWERS[question]
    reply = asker.run(first.draft.form)
    assert reply.status == "answered" and sorted(map(str, reply.rows)) == sorted(map(str, rows)), first.said


def test_a_unit_may_stand_before_what_is_said_of_its_number(asker):
    question, _, ranked = asker.ranked("films with a rental price of 3 dollars or more")
    assert all(place < len(question.words) for each in ranked for place in each.draft.covers)
    assert asker.ask(question.text).rows == (("The Long Ferry", 3.5), ("Dust", 4))


def test_an_answer_says_what_was_understood(asker):
    reply = asker.ask("which films are longer than two hours")
    assert reply.status == "answered" and reply.sql.startswith("SELECT")
    assert reply.said == "films whose running minutes are over 2 hours"
    assert 0.3 < reply.probability <= 1


def test_a_slip_is_told(asker):
    reply = asker.ask("how long is Winter Leger")
    assert reply.rows == ((88,),) and reply.notes == ("read 'Winter Leger' as 'Winter Ledger'",)


def test_what_the_data_does_not_have_is_refused(asker):
    for question in ("what is the weather in paris", "who won the election", "xyzzy frobnicate quux"):
        reply = asker.ask(question)
        assert reply.status == "refused" and reply.reason and not reply.rows, question
    assert "weather" in asker.ask("what is the weather tomorrow").reason


def test_nothing_is_changed(asker):
    reply = asker.ask("please delete all films")
    assert reply.status == "refused" and "'delete'" in reply.reason
    assert asks_for_change("update the price of Salt") and not asks_for_change("orders per member")


def test_an_opinion_is_none_of_the_data(asker):
    for question in ("which film should we buy more of", "what is the best film to watch on a rainy day"):
        assert asker.ask(question).reason == "this asks for an opinion; the data holds none"
    assert not asks_for_more("which actor has the best film")


def test_a_reason_a_manner_and_a_prediction_are_none_of_the_data(asker):
    for question in ("why is Dust so long", "how do we rent out Dust", "will Dust be rented often next year"):
        reply = asker.ask(question)
        assert reply.status == "refused" and reply.reason.startswith("this asks "), question
    assert "'give'" in asker.ask("give Ann Lee a free rental").reason
    assert asker.ask("how many films do we have").answered


FOR_DATA = (
    "give films longer than 120 minutes",
    "give names from the 2020 cohort",
    "give every film from the 1990s",
    "make me a bar chart of sales",
    "make me the list of huts",
    "order 10248 customer name",
    "book 12 author",
    "mark twain books on loan",
    "flag colours on ships",
    "set up date of each machine",
    "put options by month",
    "send dates after the 1 May",
    "promote date of Bo",
    "will smith's films",
    "which deliveries do we expect in May",
    "how can I contact Ann Lee",
    "is any painting worth a million",
    "what did Ann think of Dust",
    "how long should I plan for it",
    "give players on the team Reds",
    "approve dates by invoice",
)


@pytest.mark.parametrize("question", FOR_DATA)
def test_what_begins_like_a_request_may_ask_for_data(question):
    assert asks_for_more(question) == ""


@pytest.mark.parametrize(
    "text",
    [
        "erase the Bo row",
        "nominate Bo for the prize",
        "mark WQ-042 as available",
        "reorder 500 helmets",
        "set Bo aside to 3",
    ]
    + ["make me treasurer of the club", "give Bo a rise", "offer Azul 10% off", "extend the hire by two days"],
)
def test_what_asks_to_change_something_is_told(text):
    assert asks_for_change(text)


def test_a_label_goes_before_what_a_question_begins_with(folder, tmp_path):
    place = shutil.copytree(folder, tmp_path / "folder")
    (place / "train.tsv").write_text("why is Dust here\t( get film.4 running_minutes )\n")
    with open_asker(place) as asker:
        assert asker.ask("why is Dust here").answered
        assert asker.ask("why is Salt dear").reason == NO_REASONS


def test_data_that_has_reasons_is_asked_for_them(tmp_path):
    sqlite_file(tmp_path / "shop.sqlite", SHOP + "ALTER TABLE rentals ADD COLUMN late_reason TEXT;")
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "folder")
    with open_asker(tmp_path / "folder") as asker:
        assert asker.ask("why were rentals late").reason != NO_REASONS


def test_who_was_there_before_somebody_is_not_known(asker):
    reply = asker.ask("who was the manager before Ann Lee")
    assert reply.status == "refused" and "before" in reply.reason
    assert asker.ask("actors born before Zoë Varga").answered, "dates can be compared"


def test_nobody_is_a_figure(asker):
    question, evidence, ranked = asker.ranked("who is Salt's running time")
    figures = [each for each in ranked if each.draft.gives.endswith(".running_minutes")]
    assert all(each.figures.missed >= OTHER for each in figures)


def test_doubtful_readings_are_not_worth_a_question_back(asker, monkeypatch):
    sure = Trust(Confidence(-4.0, {}), Confidence(4.0, {}), cut=0.9, topic_cut=0.1)
    monkeypatch.setattr(asker, "trust", sure)
    reply = asker.ask("films of Mira Holt and Salt in a genre")
    assert reply.status == "refused" and reply.reason and reply.probability < 0.15 and not reply.choices
    monkeypatch.setattr(asker, "trust", replace(sure, right=Confidence(-1.0, {})))
    assert asker.ask("films of Mira Holt and Salt in a genre").status == "ambiguous"


def test_a_date_of_things_nobody_spoke_of_answers_no_when(asker):
    reply = asker.ask("when did Ann Lee marry")
    assert reply.status == "refused" and not reply.rows


def test_nobody_counts_or_ranks_a_thing_they_name(asker):
    for question in ("how many Salt are there", "the longest of Salt"):
        forms = [each.draft.form for each in asker.ranked(question)[2]]
        assert forms and not [form for form in forms if form.startswith(("( count film.", "( argmax film."))], question


def test_a_not_is_taken_up_once(asker):
    forms = [each.draft.form for each in asker.ranked("which genres have never been rented")[2]]
    assert forms and all(form.count(" missing )") < 2 for form in forms[:20])


def test_a_form_that_was_chosen_runs(asker):
    reply = asker.run("( count ( all film ) )")
    assert reply.status == "answered" and reply.rows == ((4,),) and reply.said == "number of films"
    assert asker.run("( count ( all pony ) )").status == "error"


def test_a_folder_that_is_not_connected_is_told(tmp_path):
    with pytest.raises(InputError, match="dualparse connect"):
        open_asker(tmp_path)


def test_a_program_that_awaits_goes_on_meanwhile(folder):
    async def both() -> list[str]:
        with_database = dualparse.asker(folder)
        try:
            replies = await asyncio.gather(
                *map(with_database.ask_async, ("how many films are there", "chilean actors"))
            )
        finally:
            with_database.close()
        return [reply.said for reply in replies]

    assert asyncio.run(both()) == ["number of films", "actors whose country is Chile"]


def test_slips_in_the_words_of_the_schema_are_mended_and_told(asker):
    reply = asker.ask("which fims are longer than two hours")
    assert [row[0] for row in reply.rows] == ["The Long Ferry", "Dust"] and reply.notes == ("read 'fims' as 'films'",)


@pytest.mark.parametrize("nothing", [None, 3, b"films", "", "  "])
def test_what_is_no_question_is_an_input_error(asker, nothing):
    with pytest.raises(InputError, match="a question is text, not|the question is empty"):
        asker.ask(nothing)


def test_another_ending_of_a_word_is_no_slip(asker):
    (said,) = _slips("longst filming", take_apart("longest film"))
    assert said == "read 'longst' as 'longest'"


def test_two_readings_in_the_same_words_are_one_choice(asker):
    _, _, ranked = asker.ranked("where is Tomas O'Neil from")
    judged = asker.judged("where is Tomas O'Neil from")[0]
    first, other = ranked[:2]
    told = _choices([(0, first), (1, replace(other, said=first.said)), (2, other)], judged)
    assert [choice.said for choice in told] == [first.said, other.said] and told[0].form == first.draft.form


def test_what_is_asked_for_by_a_name_that_nothing_has_is_refused_by_that_name(asker):
    reply = asker.ask("what is the budget of Dust")
    assert reply.status == "refused" and reply.reason == "nothing in the data is called 'budget'"


def test_polite_words_ask_for_nothing(asker):
    plain, polite = (asker.ask(f"{front}how many films there are") for front in ("", "could you please tell me "))
    assert plain.rows == polite.rows == ((4,),) and polite.kind == "value"


def test_readings_that_come_to_the_same_are_one(asker):
    question, evidence, ranked = asker.ranked("where is Tomas O'Neil from")
    judged = asker.judged("where is Tomas O'Neil from")[0]
    assert len(ranked) > 1 and judged.evidence["share"] >= log_odds(judged.shares[0])
    twice = [ranked[0], ranked[0]]
    assert of_same(shares_of(twice), (0, 1)) == [0.5, 0.5] and of_same(shares_of(twice), by_form(twice)) == [1.0]


def changed_sqlite(path: Path, *, log: bool = False) -> Callable[[str], None]:
    """A shop in SQLite, with a write-ahead log or without; runs statements in it."""
    sqlite_file(path, SHOP)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if log else 'DELETE'}")

    def change(statement: str) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
            connection.commit()

    return change


@pytest.mark.parametrize("log", [False, True])
def test_a_row_inserted_while_questions_are_asked_is_found(tmp_path, log):
    change = changed_sqlite(tmp_path / "shop.sqlite", log=log)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "out")
    with open_asker(tmp_path / "out") as asker:
        assert asker.ask("how long is Glass Harbour").status == "refused"
        change("INSERT INTO Films (FilmId, Title, RunningMinutes) VALUES (50, 'Glass Harbour', 77)")
        assert asker.ask("how long is Glass Harbour").rows == ((77,),)
        change("UPDATE Films SET RunningMinutes = 78 WHERE FilmId = 50")
        assert asker.run("( get film.50 running_minutes )").rows == ((78,),)


def test_a_file_that_is_written_anew_while_questions_are_asked_is_read_anew(tmp_path):
    boats = tmp_path / "boats.csv"
    boats.write_text("boat_id,name,length_m\n1,Albatross,2\n2,Heron,1\n")
    connect(locate(str(boats)), tmp_path / "out")
    with open_asker(tmp_path / "out") as asker:
        assert asker.ask("how long is Albatross").rows == ((2,),)
        boats.write_text("boat_id,name,length_m\n1,Albatross,2\n2,Heron,1\n3,Cormorant,3\n")
        assert asker.ask("how long is Cormorant").rows == ((3,),)
