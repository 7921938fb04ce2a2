"""Everyday ways to ask, over a school and the matches of its teams: each says something by itself in any database."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from shops import sqlite_file

from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.database.connect import connect
from dualparse.database.location import locate

SCHOOL = """
CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT, building TEXT);
CREATE TABLE teachers (
  id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, department_id INTEGER REFERENCES departments, hired DATE,
  salary REAL, mentor_id INTEGER REFERENCES teachers);
CREATE TABLE courses (
  id INTEGER PRIMARY KEY, title TEXT, credits INTEGER, pages INTEGER, department_id INTEGER REFERENCES departments,
  teacher_id INTEGER REFERENCES teachers);
CREATE TABLE students (id INTEGER PRIMARY KEY, full_name TEXT, town TEXT, born DATE);
CREATE TABLE terms (id INTEGER PRIMARY KEY, name TEXT, starts DATE);
CREATE TABLE enrolments (
  id INTEGER PRIMARY KEY, student_id INTEGER REFERENCES students, course_id INTEGER REFERENCES courses,
  term_id INTEGER REFERENCES terms, grade TEXT, enrolled_on DATE);
CREATE TABLE teams (id INTEGER PRIMARY KEY, team_name TEXT, founded INTEGER);
CREATE TABLE players (
  player_id INTEGER PRIMARY KEY, name TEXT, nat TEXT, pos TEXT, ht INTEGER, team_id INTEGER REFERENCES teams);
CREATE TABLE goals (goal_id INTEGER PRIMARY KEY, player_id INTEGER, assist_player_id INTEGER, own_cap INTEGER);
CREATE TABLE matches (
  id INTEGER PRIMARY KEY, home_team_id INTEGER REFERENCES teams, away_team_id INTEGER REFERENCES teams,
  played_on DATE, spectators INTEGER);
INSERT INTO departments VALUES (1, 'Mathematics', 'North Wing'), (2, 'Biology', 'Glass House'), (3, 'Music', 'Barn');
INSERT INTO teachers VALUES
  (1, 'Alma', 'Reyes', 1, '2009-09-01', 61000, NULL), (2, 'Bent', 'Kofoed', 1, '2016-02-01', 52000, 1),
  (3, 'Cleo', 'Marsh', 2, '2012-09-01', 57000, 1), (4, 'Doru', 'Pop', 2, '2019-09-01', 49000, 3);
INSERT INTO courses VALUES
  (1, 'Topology', 8, 310, 1, 1), (2, 'Databases', 5, 120, 1, 2), (3, 'Genetics', 6, 450, 2, 3),
  (4, 'Botany', 4, 200, 2, 4);
INSERT INTO students VALUES
  (1, 'Ida Holm', 'Ribe', '2003-04-05'), (2, 'Jon Vega', 'Tonder', '2004-05-06'),
  (3, 'Kit Larsen', 'Ribe', '2002-01-02'),
  (4, 'Liv Sand', 'Esbjerg', '2005-02-03');
INSERT INTO terms VALUES (1, 'Autumn 2024', '2024-09-01'), (2, 'Spring 2025', '2025-02-01');
INSERT INTO enrolments VALUES
  (1, 1, 1, 1, 'A', '2024-08-01'), (2, 1, 4, 1, 'B', '2024-08-02'), (3, 2, 4, 2, 'A', '2025-01-10'),
  (4, 3, 4, 2, 'C', '2025-01-11'), (5, 3, 3, 1, 'A', '2024-08-03'), (6, 2, 2, 1, 'B', '2024-08-04');
INSERT INTO teams VALUES (1, 'Harbour Rovers', 1901), (2, 'Redfield United', 1923), (3, 'Low Wanderers', 1950);
INSERT INTO players VALUES
  (11, 'Ole Dahl', 'NOR', 'GK', 190, 1), (12, 'Per Lund', 'SWE', 'DF', 181, 1), (13, 'Rui Melo', 'POR', 'MF', 175, 2),
  (14, 'Ian Bell', 'SCO', 'GK', 188, 3), (15, 'Sven Ek', 'SWE', 'MF', 179, 3), (16, 'Tor Aas', 'NOR', 'DF', 184, 2);
INSERT INTO goals VALUES (1, 13, 15, 1), (2, 15, 13, 2), (3, 15, 12, 3), (4, 16, NULL, 4);
INSERT INTO matches VALUES
  (1, 1, 2, '2024-03-02', 800), (2, 2, 1, '2024-05-11', 1200),
  (3, 3, 1, '2024-07-20', 300), (4, 2, 3, '2025-03-08', 950);
"""

ANSWERS = {
    "who mentors Cleo Marsh": ["Alma Reyes"],
    "who does Cleo Marsh mentor": ["Doru Pop"],
    "does Alma Reyes teach Topology": [True],
    "does Bent Kofoed teach Topology": [False],
    "whos in the maths dept": ["Alma Reyes", "Bent Kofoed"],
    "how many enrolments in autumn 2024": [4],
    "who got an A in Botany": ["Jon Vega"],
    "how many students took databases": [1],
    "the longest serving teacher in the school": ["Alma Reyes"],
    "who taught Genetics": ["Cleo Marsh"],
    "when was Redfield United founded": [1923],
    "how many credits is Topology worth": [8],
    "how many pages does genetics have on average": [450],
    "where is the biology department": ["Glass House"],
    "students who take both botany and genetics": ["Kit Larsen"],
    "students from Ribe and Tonder": ["Ida Holm", "Jon Vega", "Kit Larsen"],
    "matches of Harbour Rovers away": ["2", "3"],
    "how many matches were played between March and May 2024": [2],
    "teachers hired before 1/9/2012": ["Alma Reyes"],
    "matches in spring 2024": ["1", "2"],
    "teams founded before 1930": ["Harbour Rovers", "Redfield United"],
    "which players are goalkeepers": ["Ian Bell", "Ole Dahl"],
    "swedish midfielders": ["Sven Ek"],
    "how many goals did Sven Ek score": [2],
    "who assisted the goals of Sven Ek": ["Per Lund", "Rui Melo"],
    "number of players by position": ["DF", "GK", "MF"],
    "position of Lund Per": ["DF"],
    "the biggest match": ["2"],
}

STALL = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, cost_price REAL, price REAL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, town TEXT);
CREATE TABLE employees (id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT);
CREATE TABLE customer_orders (
  id INTEGER PRIMARY KEY, order_no TEXT UNIQUE, customer_id INTEGER REFERENCES customers,
  handled_by INTEGER REFERENCES employees, ordered_on DATE);
CREATE TABLE order_lines (
  id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES customer_orders, product_id INTEGER REFERENCES products,
  units INTEGER);
CREATE TABLE reviews (
  id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products, customer_id INTEGER REFERENCES customers,
  stars INTEGER, review_text TEXT);
CREATE TABLE shifts (
  id INTEGER PRIMARY KEY, employee_id INTEGER REFERENCES employees, day_no INTEGER, started_on DATE, hours REAL);
CREATE TABLE loans (
  id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products, customer_id INTEGER REFERENCES customers,
  borrowed_on DATE, due_on DATE, returned_on DATE);
INSERT INTO loans VALUES
  (1, 1, 1, '2024-04-20', '2024-05-11', '2024-05-09'), (2, 3, 2, '2024-05-02', '2024-05-23', '2024-06-01'),
  (3, 2, 2, '2024-05-08', '2024-06-05', NULL), (4, 2, 3, '2024-05-30', '2024-06-20', NULL);
INSERT INTO products VALUES (1, 'Oak Stool', 40, 65), (2, 'Tin Kettle', 12, 80), (3, 'Jute Mat', 9, 15);
INSERT INTO customers VALUES (1, 'Mara', 'Quist', 'Ribe'), (2, 'Odd', 'Falk', 'Varde'), (3, 'Pia', 'Stern', 'Ribe');
INSERT INTO employees VALUES (1, 'Juno', 'Berg'), (2, 'Kasimir', 'Thal');
INSERT INTO customer_orders VALUES
  (1, 'ZX901', 1, 1, '2024-02-01'), (2, 'ZX902', 2, 1, '2024-03-01'), (3, 'ZX903', 1, 2, '2025-01-05');
INSERT INTO order_lines VALUES (1, 1, 1, 2), (2, 1, 2, 1), (3, 2, 2, 4), (4, 3, 1, 1);
INSERT INTO reviews VALUES (1, 1, 1, 5, 'Sturdy.'), (2, 1, 2, 3, 'It wobbles.'), (3, 2, 2, 4, 'Boils well.');
INSERT INTO shifts VALUES (1, 1, 1, '2024-05-01', 7.5), (2, 2, 1, '2024-05-02', 4), (3, 1, 2, '2024-05-03', 9);
"""

AT_THE_STALL = {
    "most expensive product?": ["Tin Kettle"],
    "the product with the highest cost price": ["Oak Stool"],
    "how many loans in May 2024?": ["3"],
    "how many loans were due in May 2024": ["2"],
    "how many loans were returned in May 2024": ["1"],
    "who has ordered the tin kettle": ["Mara Quist", "Odd Falk"],
}


@pytest.fixture(scope="module")
def asker(tmp_path_factory) -> FolderAsker:
    place: Path = tmp_path_factory.mktemp("school")
    sqlite_file(place / "school.sqlite", SCHOOL)
    connect(locate(str(place / "school.sqlite")), place / "folder")
    return open_asker(place / "folder")


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_is_read_as_it_is_meant(question, asker):
    ranked = asker.ranked(question)[2]
    first = ranked[0]
    assert sorted(row[0] for row in asker.run(first.draft.form).rows) == sorted(ANSWERS[question]), first.said


@pytest.fixture(scope="module")
def stall(tmp_path_factory) -> FolderAsker:
    place: Path = tmp_path_factory.mktemp("stall")
    sqlite_file(place / "stall.sqlite", STALL)
    connect(locate(str(place / "stall.sqlite")), place / "folder")
    return open_asker(place / "folder")


@pytest.mark.parametrize("question", AT_THE_STALL)
def test_a_question_about_a_stall_is_read_as_it_is_meant(question, stall):
    first = stall.ranked(question)[2][0]
    told = [row[0] for row in stall.run(first.draft.form).rows]
    assert sorted(set(map(str, told))) == sorted(AT_THE_STALL[question]), first.said


def test_what_is_asked_for_beside_the_most_of_something_is_shown(stall):
    first = stall.ranked("the 2 shifts with the most hours: started on and hours")[2][0]
    assert [row[1:] for row in stall.run(first.draft.form).rows] == [("2024-05-03", 9), ("2024-05-01", 7.5)]


def test_what_a_question_names_is_not_what_it_asks_for(asker):
    told = asker.ranked("what was on in autumn 2024 for Ida Holm")[2]
    assert not [
        each.draft.form
        for each in told
        if each.draft.form.startswith("( get")
        and each.draft.form.endswith(("term = term.1 ) term )", "student = student.1 ) student )"))
    ]


def test_a_clear_reading_of_known_words_is_of_no_other_subject(stall):
    trust = stall.trust
    stall.trust = replace(trust, topic_cut=1.0)
    try:
        assert stall.ask("how many customers are from Ribe").answered
        assert stall.ask("customers").status == "refused"
        assert stall.ask("how many customers are from Ribe by zeppelin").status == "refused"
    finally:
        stall.trust = trust
