"""A football league: abbreviations, codes, units in names, flags as 0 and 1, two clubs to a match, a view."""

from datetime import date, timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE stadium (stad_id INTEGER PRIMARY KEY, name TEXT, city TEXT, cap INTEGER, built_yr INTEGER,
    pitch_len_m INTEGER, has_roof INTEGER);
CREATE TABLE club (club_id INTEGER PRIMARY KEY, name TEXT, abbr TEXT, city TEXT, founded_yr INTEGER, stad_id INTEGER,
    budget_keur INTEGER);
CREATE TABLE coach (coach_id INTEGER PRIMARY KEY, fname TEXT, lname TEXT, nat TEXT, dob TEXT, club_id INTEGER,
    from_dt TEXT, to_dt TEXT);
CREATE TABLE player (plr_id INTEGER PRIMARY KEY, fname TEXT, lname TEXT, dob TEXT, nat TEXT, pos TEXT, ht_cm INTEGER,
    wt_kg INTEGER, club_id INTEGER, shirt_no INTEGER, is_capt INTEGER, pref_foot TEXT, wage_eur INTEGER);
CREATE TABLE referee (ref_id INTEGER PRIMARY KEY, fname TEXT, lname TEXT, home_town TEXT, licensed_yr INTEGER,
    is_intl INTEGER);
CREATE TABLE season (sea_id INTEGER PRIMARY KEY, label TEXT, start_dt TEXT, end_dt TEXT, prize_keur INTEGER);
CREATE TABLE match (match_id INTEGER PRIMARY KEY, sea_id INTEGER, rnd INTEGER, kickoff TEXT, home_club_id INTEGER,
    away_club_id INTEGER, home_goals INTEGER, away_goals INTEGER, att INTEGER, dur_min INTEGER, ref_id INTEGER,
    is_postponed INTEGER);
CREATE TABLE appearance (match_id INTEGER, plr_id INTEGER, min_played INTEGER, is_starter INTEGER,
    PRIMARY KEY (match_id, plr_id));
CREATE TABLE goal (goal_id INTEGER PRIMARY KEY, match_id INTEGER, plr_id INTEGER, assist_plr_id INTEGER, minute INTEGER,
    is_pen INTEGER, is_own INTEGER);
CREATE TABLE card (card_id INTEGER PRIMARY KEY, match_id INTEGER, plr_id INTEGER, minute INTEGER, colour TEXT);
CREATE TABLE transfer (tr_id INTEGER PRIMARY KEY, plr_id INTEGER, from_club_id INTEGER, to_club_id INTEGER, tr_dt TEXT,
    fee_keur INTEGER, is_loan INTEGER);
CREATE TABLE injury (inj_id INTEGER PRIMARY KEY, plr_id INTEGER, body_part TEXT, from_dt TEXT, to_dt TEXT);
CREATE VIEW v_standing AS
WITH side AS (
    SELECT sea_id, home_club_id AS club_id, home_goals AS gf, away_goals AS ga FROM match WHERE home_goals IS NOT NULL
    UNION ALL
    SELECT sea_id, away_club_id, away_goals, home_goals FROM match WHERE home_goals IS NOT NULL
)
SELECT s.label AS season, c.name AS club, COUNT(*) AS played, SUM(gf > ga) AS won, SUM(gf = ga) AS drawn,
    SUM(gf < ga) AS lost, SUM(gf) AS goals_for, SUM(ga) AS goals_against, SUM(3 * (gf > ga) + (gf = ga)) AS pts
FROM side JOIN season s USING (sea_id) JOIN club c USING (club_id) GROUP BY sea_id, club_id
ORDER BY sea_id, club_id;
"""

STADIUMS = [
    (1, "Granite Arena", "Kaldvik", 21500, 1998, 105, 1),
    (2, "Havnen Park", "Storhamn", 16800, 1936, 104, 0),
    (3, "Bjornefoss", "Bjornefoss", 9400, 1971, 102, 0),
    (4, "Lindby Ground", "Lindby", 6200, 1954, 100, 0),
    (5, "Ravn Stadion", "Ravnsund", 12750, 2006, 105, 1),
    (6, "The Shipyard", "Storhamn", 11300, 2014, 105, 0),
    (7, "Tjelde Field", "Tjelde", 4100, 1962, 101, 0),
    (8, "Ostmark Park", "Ostmark", 8800, 1988, 103, 0),
    (9, "National Dome", "Kaldvik", 38000, 2019, 105, 1),
]
CLUBS = [
    (1, "Kaldvik FK", "KFK", "Kaldvik", 1903, 1, 18400),
    (2, "Storhamn United", "STU", "Storhamn", 1911, 2, 15900),
    (3, "Bjornefoss IL", "BIL", "Bjornefoss", 1926, 3, 7300),
    (4, "Lindby Rovers", "LIR", "Lindby", 1947, 4, 4850),
    (5, "Ravnsund BK", "RBK", "Ravnsund", 1919, 5, 11200),
    (6, "Dockers 08", "D08", "Storhamn", 2008, 6, 9100),
    (7, "Tjelde IF", "TIF", "Tjelde", 1932, 7, 3600),
    (8, "Ostmark Athletic", "OSA", "Ostmark", 1921, 8, 6750),
]
COACHES = [
    (1, "Henrik", "Aasen", "NOR", "1969-04-11", 1, "2021-06-01", None),
    (2, "Paulo", "Brito", "POR", "1975-09-30", 2, "2022-07-01", "2024-11-18"),
    (3, "Magnus", "Ekdal", "SWE", "1980-01-22", 2, "2024-11-20", None),
    (4, "Sigrid", "Thorsen", "NOR", "1984-12-05", 3, "2023-01-09", None),
    (5, "Colin", "Barraclough", "ENG", "1961-08-17", 4, "2018-03-12", None),
    (6, "Jens", "Mikkelsen", "DEN", "1972-02-28", 5, "2020-12-01", "2025-06-30"),
    (7, "Aldo", "Ferrante", "ITA", "1978-05-19", 5, "2025-07-01", None),
    (8, "Petri", "Salonen", "FIN", "1982-10-03", 6, "2023-07-15", None),
    (9, "Arne", "Tveit", "NOR", "1966-06-14", 7, "2015-01-01", None),
    (10, "Magnus", "Storhamn", "NOR", "1979-03-27", 8, "2024-01-02", None),
]
REFEREES = [
    (1, "Solveig", "Dahl", "Kaldvik", 2009, 1),
    (2, "Erik", "Nyman", "Ravnsund", 2012, 1),
    (3, "Tor", "Haugland", "Lindby", 2004, 0),
    (4, "Mikko", "Lehto", "Storhamn", 2016, 0),
    (5, "Anja", "Krogh", "Ostmark", 2019, 0),
    (6, "Lars", "Bakken", "Tjelde", 2022, 0),
    (7, "Ida", "Fossum", "Bjornefoss", 2025, 0),
]
SEASONS = [
    (1, "2023/24", "2023-08-12", "2024-05-26", 2400),
    (2, "2024/25", "2024-08-10", "2025-05-25", 2650),
    (3, "2025/26", "2025-08-09", "2026-05-24", 2800),
]
STARS = {  # by club: given name, family name, born, nation, position
    1: [
        ("Emil", "Hagen", "1996-02-14", "NOR", "FW"),
        ("Ousmane", "Diarra", "1999-07-21", "SEN", "MF"),
        ("Jonas", "Lund", "1990-11-02", "DEN", "GK"),
    ],
    2: [
        ("Oliver", "Storm", "2001-03-09", "SWE", "FW"),
        ("Mateus", "Pinto", "1997-05-25", "BRA", "DF"),
        ("Kristian", "Lund", "1994-08-08", "NOR", "MF"),
    ],
    3: [("Sander", "Bjornefoss", "2003-10-12", "NOR", "MF"), ("Ville", "Koskinen", "1992-12-30", "FIN", "DF")],
    4: [("Terry", "O'Keefe", "1988-04-01", "IRL", "DF"), ("Ragnar", "Lie", "2000-06-18", "NOR", "FW")],
    5: [("Adam", "Sylla", "1998-09-05", "FRA", "FW"), ("Mads", "Kjær", "1995-01-16", "DEN", "MF")],
    6: [("Noah", "Wiik", "2006-02-27", "NOR", "FW"), ("Rasmus", "Ek", "1993-03-19", "SWE", "GK")],
    7: [("Gunnar", "Tveit", "1991-05-13", "NOR", "DF"), ("Ali", "Rezaei", "2002-11-24", "IRN", "FW")],
    8: [("Hugo", "Berntsen", "1997-08-29", "NOR", "MF"), ("Luka", "Babic", "1996-04-04", "CRO", "FW")],
}
FIRST = [
    *("Aksel", "Birk", "Casper", "David", "Elias", "Filip", "Georg", "Håkon", "Isak", "Jakob", "Kasper", "Leo"),
    *("Marius", "Nils", "Oscar", "Per", "Ruben", "Simon", "Tobias", "Ulrik", "Viktor", "William", "Yngve", "Pål"),
]
LAST = [
    *("Andersen", "Berg", "Carlsen", "Dyrstad", "Engen", "Fjeld", "Gran", "Holm", "Iversen", "Johnsen", "Knutsen"),
    *("Larsen", "Moen", "Nygård", "Olsen", "Pedersen", "Rud", "Strand", "Torp", "Ulven", "Vik", "Wold", "Ødegård"),
]
NATIONS = [*["NOR"] * 8, "SWE", "SWE", "DEN", "DEN", "FIN", "ISL", "GER", "NED"]
SQUAD = ["GK", "GK", *["DF"] * 6, *["MF"] * 6, *["FW"] * 4]
WEIGHT = {"GK": 0, "DF": 1, "MF": 3, "FW": 6}  # in scoring
PARTS = ["knee", "ankle", "hamstring", "hamstring", "shoulder", "groin", "head"]

Transfers = dict[int, tuple[str, int | None, int]]  # of a player: the day, the club left, the club joined


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2205)
    players = _players(draw)
    transfers = _transfers(draw, players)
    matches = _matches(draw)
    moved: Transfers = {row[1]: (row[4], row[2], row[3]) for row in transfers}
    appearances = _appearances(draw, players, moved, matches)
    return {
        "stadium": STADIUMS,
        "club": CLUBS,
        "coach": COACHES,
        "player": players,
        "referee": REFEREES,
        "season": SEASONS,
        "match": matches,
        "appearance": appearances,
        "goal": _goals(draw, players, moved, matches, appearances),
        "card": _cards(draw, appearances),
        "transfer": transfers,
        "injury": _injuries(draw, players),
    }


def _players(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    drawn = draw.some([(first, last) for first in FIRST for last in LAST], count=8 * len(SQUAD))
    for club in CLUBS:
        left = list(SQUAD)
        captain = draw.number(0, 7)
        shirts = draw.some(range(2, 34), count=len(SQUAD))
        for place in range(len(SQUAD)):
            if place < len(STARS[club[0]]):
                first, last, born, nation, position = STARS[club[0]][place]
                left.remove(position)
            else:
                first, last = drawn[len(rows)]
                born = draw.day("1988-01-01", "2007-06-30").isoformat()
                nation, position = draw.one(NATIONS), left.pop(0)
            height = draw.number(186, 201) if position == "GK" else draw.number(167, 195)
            weight = height - 100 - draw.number(2, 14)
            foot = draw.one(["right", "right", "right", "left", "both"]) if draw.chance(0.94) else None
            wage = round(club[6] * draw.number(12, 70) / 100, -2) + draw.number(0, 19) * 10
            rows.append(
                (
                    *(len(rows) + 1, first, last, born, nation, position, height, weight, club[0], shirts[place]),
                    *(int(place == captain), foot, int(wage)),
                )
            )
    return rows


def _transfers(draw: Draw, players: list[tuple]) -> list[tuple]:
    """Where players came from: each is at the club now that the transfer took them to."""
    rows: list[tuple] = []
    young = [player for player in players if player[5] != "GK"]
    for player in [each for club in CLUBS for each in draw.some([y for y in young if y[8] == club[0]], count=3)]:
        year = draw.one([2023, 2024, 2024, 2025, 2025])
        first, last = draw.one([("01-03", "01-31"), ("07-01", "08-30")])
        day = draw.day(f"{year}-{first}", f"{year}-{last}").isoformat()
        others = [club[0] for club in CLUBS if club[0] != player[8]]
        origin = draw.one(others) if draw.chance(0.75) else None
        loan = int(draw.chance(0.2))
        fee = None if loan or draw.chance(0.25) else draw.number(4, 190) * 10
        rows.append((player[0], origin, player[8], day, fee, loan))
    return [(number, *row) for number, row in enumerate(sorted(rows, key=lambda row: (row[3], row[0])), 1)]


def _matches(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    strength = {1: 3, 2: 2, 5: 2, 6: 1, 8: 0, 3: 0, 4: -1, 7: -1}
    for season in SEASONS:
        order = draw.some([club[0] for club in CLUBS], count=8)
        for leg, start in enumerate((season[2], f"{int(season[2][:4]) + 1}-03-02")):
            for turn in range(7):
                ring = [order[0], *(order[1 + (turn + place) % 7] for place in range(7))]
                day = date.fromisoformat(start) + timedelta(days=14 * turn)
                for place in range(4):
                    pair = ring[place], ring[7 - place]
                    home, away = pair if (turn + place + leg) % 2 else pair[::-1]
                    kickoff = f"{day + timedelta(days=draw.one([0, 0, 1]))} {draw.one(['15:00', '17:30', '20:00'])}"
                    edge = strength[home] - strength[away]
                    goals = _score(draw, edge + 1), _score(draw, -edge)
                    rows.append((len(rows) + 1, season[0], 7 * leg + turn + 1, kickoff, home, away, *goals))
    return [_played(draw, row) for row in rows]


def _score(draw: Draw, edge: int) -> int:
    return max(0, draw.one([0, 0, 1, 1, 1, 2, 2, 3]) + (draw.number(0, edge) // 2 if edge > 0 else 0))


def _played(draw: Draw, row: tuple) -> tuple:
    """The match with its crowd, length and referee; of one that is still to come, only what is known."""
    referee = draw.one([1, 1, 2, 2, 3, 3, 4, 5, 6])
    if row[3] > "2025-12-31":
        return (*row[:6], None, None, None, None, referee if row[2] < 10 else None, 0)
    if row[0] == 137:
        return (*row[:6], None, None, None, None, referee, 1)
    stadium = STADIUMS[CLUBS[row[4] - 1][5] - 1]
    crowd = stadium[3] * draw.number(38, 99) // 100 + draw.number(0, 9)
    return (*row, min(crowd, stadium[3]), draw.number(92, 103), referee, 0)


def _club_at(player: tuple, day: str, moved: Transfers) -> int | None:
    if player[0] in moved and day < moved[player[0]][0]:
        return moved[player[0]][1]
    return player[8]


def _appearances(draw: Draw, players: list[tuple], moved: Transfers, matches: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    hurt = {players[40][0], players[100][0]}  # two who never played
    for match in matches:
        if match[6] is None:
            continue
        for club in match[4:6]:
            squad = [each for each in players if _club_at(each, match[3], moved) == club and each[0] not in hurt]
            keepers = [each for each in squad if each[5] == "GK"]
            field = draw.some([each for each in squad if each[5] != "GK"], count=12)
            ends = [draw.number(46, 88) for _ in range(2)]
            rows.append((match[0], draw.skewed(keepers)[0], 90, 1))
            rows += [(match[0], each[0], 90, 1) for each in field[:8]]
            rows += [(match[0], each[0], end, 1) for each, end in zip(field[8:10], ends, strict=True)]
            rows += [(match[0], each[0], 90 - end, 0) for each, end in zip(field[10:], ends, strict=True)]
    return rows


def _goals(
    draw: Draw, players: list[tuple], moved: Transfers, matches: list[tuple], appearances: list[tuple]
) -> list[tuple]:
    rows: list[tuple] = []
    for match in matches:
        there = [players[row[1] - 1] for row in appearances if row[0] == match[0]]
        scored: list[tuple] = []
        for club, count in ((match[4], match[6] or 0), (match[5], match[7] or 0)):
            ours = [each for each in there if _club_at(each, match[3], moved) == club]
            theirs = [each for each in there if each not in ours and each[5] == "DF"]
            chances = [each for each in ours for _ in range(WEIGHT[each[5]])]
            for _ in range(count):
                own, penalty = draw.chance(0.03), draw.chance(0.09)
                scorer = draw.one(theirs if own else chances)
                helpers = [each[0] for each in ours if each[0] != scorer[0]]
                helper = draw.one(helpers) if draw.chance(0.7) and not own and not penalty else None
                scored.append((draw.number(1, 90), match[0], scorer[0], helper, int(penalty and not own), int(own)))
        for minute, *rest, penalty_flag, own_flag in sorted(scored, key=lambda row: row[0]):
            rows.append((len(rows) + 1, *rest, minute, penalty_flag, own_flag))
    return rows


def _cards(draw: Draw, appearances: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for match, player, played, starter in appearances:
        if draw.chance(0.11):
            minute = draw.number(1, played) if starter else draw.number(91 - played, 90)
            rows.append((len(rows) + 1, match, player, minute, "R" if draw.chance(0.06) else "Y"))
    return rows


def _injuries(draw: Draw, players: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 61):
        start = draw.day("2023-08-01", "2025-12-22")
        end = start + timedelta(days=draw.number(5, 150))
        over = end.isoformat() if end < date(2026, 1, 1) else None
        rows.append((number, draw.one(players)[0], draw.one(PARTS), start.isoformat(), over))
    return rows
