"""A small database for tests: a film shop, as somebody who was in a hurry made it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

SHOP = """
CREATE TABLE tblGenres (GenreId INTEGER PRIMARY KEY, Name TEXT NOT NULL);
CREATE TABLE Films (
  FilmId INTEGER PRIMARY KEY, Title TEXT, GenreId INTEGER REFERENCES tblGenres (GenreId), rel_yr INTEGER,
  RunningMinutes INTEGER, RentalPrice NUMERIC(6,2), in_print INTEGER, added TEXT, poster BLOB);
CREATE TABLE Actors (actor_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, born DATE, country TEXT);
CREATE TABLE FilmActor (
  FilmId INTEGER REFERENCES Films, actor_id INTEGER REFERENCES Actors, PRIMARY KEY (FilmId, actor_id));
CREATE TABLE members (
  id INTEGER PRIMARY KEY, name TEXT, password_hash TEXT, api_key TEXT, city TEXT, manager_id INTEGER);
CREATE TABLE rentals (id INTEGER PRIMARY KEY, film_id INTEGER, member_id INTEGER, rented_at INTEGER, days INTEGER);
CREATE VIEW cheap_films AS SELECT FilmId, Title FROM Films WHERE RentalPrice < 3;
INSERT INTO tblGenres VALUES (1, 'Drama'), (2, 'Comedy'), (3, 'Western');
INSERT INTO Films VALUES
  (1, 'The Long Ferry', 1, 1998, 121, 3.5, 1, '2024-01-05', x'00'),
  (2, 'Salt', 1, 2004, 95, 2.5, 0, '2024-02-11', NULL),
  (3, 'Winter Ledger', 2, 2011, 88, 2, 1, '2024-02-12', NULL), (4, 'Dust', 3, 1971, 140, 4, 1, '2024-03-01', NULL);
INSERT INTO Actors VALUES (1, 'Mira', 'Holt', '1970-05-01', 'Chile'), (2, 'Zoë', 'Varga', '1981-11-30', 'Chile'),
  (3, 'Tomas', 'O''Neil', '1990-01-02', 'Peru');
INSERT INTO FilmActor VALUES (1, 1), (1, 2), (2, 1), (4, 3);
INSERT INTO members VALUES (1, 'Ann Lee', 'SECRET-HASH', 'SECRET-KEY', 'Bergen', NULL),
  (2, 'Bo Dahl', 'SECRET-HASH', 'SECRET-KEY', 'Bergen', 1), (3, 'Cy Moe', 'SECRET-HASH', 'SECRET-KEY', 'Oslo', 1);
INSERT INTO rentals VALUES (1, 1, 1, 1700000000, 2), (2, 4, 3, 1700100000, 3), (3, 1, 2, 1700200000, 1);
"""


def sqlite_file(path: Path, script: str) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path
