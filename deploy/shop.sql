-- A small shop to ask about; put your own schema in its place.
CREATE TABLE genre (genre_id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE film (
  film_id integer PRIMARY KEY,
  title text NOT NULL,
  genre_id integer NOT NULL REFERENCES genre,
  released date,
  running_minutes integer
);
INSERT INTO genre VALUES (1, 'Drama'), (2, 'Comedy'), (3, 'Western');
INSERT INTO film VALUES
  (1, 'The Long Ferry', 1, '1998-03-01', 121),
  (2, 'Salt', 1, '2004-10-11', 95),
  (3, 'Winter Ledger', 2, '2011-01-20', 88),
  (4, 'Dust', 3, '1971-06-05', 140);
