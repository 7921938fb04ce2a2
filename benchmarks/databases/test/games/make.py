"""A board-game club: names in CamelCase without declared keys for some, dates as text, many-to-many, its own slang."""

from datetime import timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE Members (Id INTEGER PRIMARY KEY, Forename TEXT, Surname TEXT, Nickname TEXT, Town TEXT, Joined TEXT,
    Birthday TEXT, Email TEXT, CommitteeRole TEXT, SubsPaid BOOLEAN, IntroducedBy INTEGER);
CREATE TABLE Publishers (Id INTEGER PRIMARY KEY, Name TEXT, Country TEXT, Founded INTEGER);
CREATE TABLE Designers (Id INTEGER PRIMARY KEY, Name TEXT, Nationality TEXT);
CREATE TABLE Mechanics (Id INTEGER PRIMARY KEY, Name TEXT);
CREATE TABLE Games (Id INTEGER PRIMARY KEY, Title TEXT NOT NULL, PublisherId INTEGER, YearPublished INTEGER,
    MinPlayers INTEGER, MaxPlayers INTEGER, PlayingTimeMins INTEGER, MinAge INTEGER, Weight REAL, PricePaid REAL,
    DonatedBy INTEGER, Condition TEXT, IsCooperative BOOLEAN);
CREATE TABLE GameDesigners (GameId INTEGER, DesignerId INTEGER, PRIMARY KEY (GameId, DesignerId));
CREATE TABLE GameMechanics (GameId INTEGER, MechanicId INTEGER, PRIMARY KEY (GameId, MechanicId));
CREATE TABLE Venues (Id INTEGER PRIMARY KEY, Name TEXT, Town TEXT, Seats INTEGER, HireFee REAL, HasBar BOOLEAN,
    StepFreeAccess BOOLEAN);
CREATE TABLE Evenings (Id INTEGER PRIMARY KEY, HeldOn TEXT, VenueId INTEGER, Theme TEXT, Attendance INTEGER,
    HostId INTEGER);
CREATE TABLE Plays (Id INTEGER PRIMARY KEY, EveningId INTEGER, GameId INTEGER, StartedAt TEXT, LengthMins INTEGER,
    WinnerId INTEGER);
CREATE TABLE PlayMembers (PlayId INTEGER, MemberId INTEGER, Score INTEGER, PRIMARY KEY (PlayId, MemberId));
CREATE TABLE Loans (Id INTEGER PRIMARY KEY, GameId INTEGER, MemberId INTEGER, TakenOn TEXT, DueBack TEXT,
    ReturnedOn TEXT, Fine REAL);
CREATE TABLE Ratings (Id INTEGER PRIMARY KEY, MemberId INTEGER, GameId INTEGER, Stars INTEGER, Remark TEXT);
"""

PUBLISHERS = [
    (1, "Tin Lantern", "United Kingdom", 2006),
    (2, "Édition du Corbeau", "France", 1998),
    (3, "Hex & Sons", "United States", 2011),
    (4, "Murmel Spiele", "Germany", 1974),
    (5, "Polder Games", "Netherlands", 2003),
    (6, "Wobbly Meeple", "United Kingdom", 2017),
    (7, "Aurora Spel", "Sweden", None),
]
DESIGNERS = [
    (1, "Winifred Slate", "British"),
    (2, "Klaus Immergrün", "German"),
    (3, "Odile Marchand", "French"),
    (4, "Theo Barnacle", "British"),
    (5, "Saskia de Wit", "Dutch"),
    (6, "Rex Calloway", "American"),
    (7, "Yuki Amano", "Japanese"),
    (8, "Birgit Nyström", "Swedish"),
    (9, "Horace Tiddle", "British"),
]
MECHANICS = [
    *("dice rolling", "worker placement", "bluffing", "tile laying", "deck building", "auction", "trick taking"),
    *("hidden roles", "area control", "storytelling"),
]
# title, publisher, year, players from and to, minutes, age, weight, price, donor, condition, cooperative, by, ways
GAMES = [
    ("The Lighthouse Keepers", 1, 2015, 2, 4, 60, 10, 2.1, 32.0, None, "good", 1, (1,), (1, 10)),
    ("Puffin Panic", 1, 2018, 2, 6, 20, 6, 1.1, 14.5, 3, "battered", 0, (1, 4), (1,)),
    ("Der Müller", 4, 1986, 3, 5, 75, 12, 2.6, None, 1, "fair", 0, (2,), (2, 6)),
    ("Canal Barons", 5, 2009, 2, 4, 120, 14, 3.4, 41.0, None, "good", 0, (5,), (2, 4)),
    ("Whispers at Court", 2, 2012, 4, 8, 45, 12, 1.9, 24.0, None, "good", 0, (3,), (3, 8)),
    ("Empire of Ash", 3, 2019, 2, 5, 240, 14, 4.6, 78.0, None, "like new", 0, (6,), (9, 2, 1)),
    ("Goblin Bake Off", 6, 2020, 2, 5, 30, 8, 1.4, 19.99, 5, "good", 0, (4,), (5,)),
    ("Tulip Fever", 5, 2016, 3, 6, 50, 10, 2.0, 27.5, None, "fair", 0, (5,), (6,)),
    ("The Long Winter", 7, 2021, 1, 4, 150, 14, 3.8, 55.0, None, "like new", 1, (8,), (2, 1)),
    ("Midnight Express", 3, 2014, 2, 5, 60, 8, 1.8, 36.0, 2, "good", 0, (6, 7), (4,)),
    ("Kitsune", 2, 2017, 2, 2, 25, 10, 1.7, 16.0, None, "good", 0, (7,), (3, 7)),
    ("Sheepdog Trials", 6, 2022, 2, 4, 40, 8, 1.6, 22.0, None, "like new", 0, (1,), (4,)),
    ("Hanse", 4, 1994, 3, 5, 90, 12, 3.0, None, 1, "battered", 0, (2,), (6, 9)),
    ("Fog on the Fens", 1, 2023, 1, 5, 90, 12, 2.9, 44.0, None, "like new", 1, (1, 9), (10, 8)),
    ("Nutmeg", 5, 2007, 2, 5, 45, 10, 2.2, 18.0, 8, "fair", 0, (5, 2), (6,)),
    ("Rook & Rascal", 1, 2011, 3, 4, 35, 8, 1.3, 12.0, None, "missing pieces", 0, (4,), (7,)),
    ("Viking Funeral", 7, 2013, 3, 7, 60, 14, 2.3, 30.0, 4, "good", 0, (8,), (3, 9)),
    ("Orbit", 3, 2024, 1, 4, 100, 12, 3.2, 59.0, None, "like new", 0, (7,), (5, 2)),
    ("Marmalade", 6, 2018, 2, 6, 15, 6, 1.0, 9.5, None, "missing pieces", 0, (4,), (1,)),
    ("Die Zwerge im Keller", 4, 2001, 2, 4, 45, 8, 1.5, 11.0, 1, "fair", 1, (2,), (4, 1)),
    ("Counterfeit", 2, 2020, 4, 10, 30, 12, 1.6, 21.0, None, "good", 0, (3,), (8, 3)),
    ("Allotment Wars", 6, 2016, 2, 4, 50, 10, 2.0, 25.0, 6, "good", 0, (4,), (9,)),
]
VENUES = [
    (1, "The Drunken Duck", "Market Bosworth", 40, 0.0, 1, 0),
    (2, "St Oswald's Hall", "Little Thorpe", 90, 45.0, 0, 1),
    (3, "The Old Library", "Ashby Parva", 30, 20.0, 0, 1),
    (4, "Cricket Pavilion", "Little Thorpe", 55, 30.0, 1, 1),
    (5, "Rosie's Tea Room", "Ashby Parva", 18, 12.5, 0, 0),
    (6, "Kestrel Arms", "Market Bosworth", 60, 0.0, 1, 1),
]
MEMBERS = [
    ("Rosalind", "Peabody", "Roz", "Market Bosworth", "2009-02-03", "1958-05-21", "chair", 1, None),
    ("Desmond", "Achebe-Clarke", "Des", "Ashby Parva", "2010-09-14", "1964-11-02", "treasurer", 1, 1),
    ("Philippa", "Wren", "Pip", "Little Thorpe", "2012-01-31", "1987-03-15", "secretary", 1, 1),
    ("Barnaby", "Thistle", None, "Little Thorpe", "2013-06-11", "1979-08-30", None, 0, 2),
    ("Nkechi", "Obi", "Kech", "Market Bosworth", "2015-10-06", "1992-12-12", "librarian", 1, 3),
    ("Alasdair", "McCrum", "Al", "Ashby Parva", "2011-04-19", "1971-01-07", None, 1, 1),
    ("Imelda", "Frost", None, "Little Thorpe", "2018-03-06", "2000-07-04", "social secretary", 1, 3),
    ("Stanley", "Ng", "Stan", "Market Bosworth", "2016-08-23", "1969-09-09", None, 1, 2),
    ("Gwendolyn", "Thistle", "Gwen", "Little Thorpe", "2014-05-20", "1981-02-26", None, 1, 4),
    ("Renée", "Lafitte", None, "Ashby Parva", "2021-11-02", "1995-06-18", None, 0, 6),
    ("Magnus", "Orbit", "Mags", None, "2025-09-30", "2003-10-10", None, 0, None),
]
FORENAMES = [
    *("Ailsa", "Bertie", "Cressida", "Dougal", "Effie", "Fitz", "Gilly", "Hamish", "Ivy", "Jago"),
    *("Kitty", "Lorcan", "Merry", "Noel", "Ottilie", "Percy"),
]
SURNAMES = [
    *("Ackroyd", "Bickle", "Cobb", "Dunstan", "Eames", "Fairweather", "Gribble", "Hopper", "Inchbald", "Jessop"),
]
THEMES = [
    "open night",
    "open night",
    "open night",
    "new releases",
    "family night",
    "co-op night",
    "Hallowe'en special",
    None,
]
REMARKS = ["a bit long", "cracking fun", "never again", "lovely bits", "too fiddly", None, None, None]


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2204)
    members = _members(draw)
    evenings = _evenings(draw, members)
    plays, seats = _plays(draw, evenings, members)
    return {
        "Members": members,
        "Publishers": PUBLISHERS,
        "Designers": DESIGNERS,
        "Mechanics": list(enumerate(MECHANICS, 1)),
        "Games": [(number, *game[:12]) for number, game in enumerate(GAMES, 1)],
        "GameDesigners": [(number, who) for number, game in enumerate(GAMES, 1) for who in game[12]],
        "GameMechanics": [(number, way) for number, game in enumerate(GAMES, 1) for way in game[13]],
        "Venues": VENUES,
        "Evenings": evenings,
        "Plays": plays,
        "PlayMembers": seats,
        "Loans": _loans(draw, members),
        "Ratings": _ratings(draw, members),
    }


def _members(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    for number, member in enumerate(MEMBERS, 1):
        mail = None if number in (4, 8) else f"{member[0]}.{member[1]}@dicebox.example".lower()
        rows.append((number, *member[:6], mail, *member[6:]))
    pairs = [(first, last) for first in FORENAMES for last in SURNAMES]
    for first, last in draw.some(pairs, count=64):
        number = len(rows) + 1
        town = draw.one(["Market Bosworth", "Market Bosworth", "Little Thorpe", "Ashby Parva", "Nether Wallop"])
        joined = draw.day("2013-01-01", "2025-11-30").isoformat()
        born = draw.day("1950-01-01", "2009-12-31").isoformat()
        mail = f"{first}.{last}@dicebox.example".lower() if draw.chance(0.8) else None
        friend = draw.number(1, number - 1) if draw.chance(0.7) else None
        rows.append((number, first, last, None, town, joined, born, mail, None, int(draw.chance(0.8)), friend))
    return rows


def _evenings(draw: Draw, members: list[tuple]) -> list[tuple]:
    days = sorted({draw.day("2023-01-03", "2025-12-16").isoformat() for _ in range(95)})
    rows = []
    for number, day in enumerate(days, 1):
        venue = draw.one([1, 1, 1, 2, 3, 3, 4, 6])
        host = draw.one([1, 2, 3, 3, 5, 7, 9]) if draw.chance(0.9) else None
        rows.append((number, day, venue, draw.one(THEMES), draw.number(7, 38), host))
    return rows


def _plays(draw: Draw, evenings: list[tuple], members: list[tuple]) -> tuple[list[tuple], list[tuple]]:
    plays: list[tuple] = []
    seats: list[tuple] = []
    for evening in evenings:
        for _ in range(draw.number(2, 5)):
            which = draw.one([number for number in range(len(GAMES)) if GAMES[number][0] != "Hanse"])
            game = GAMES[which]
            people = draw.some(members[:60], count=draw.number(max(2, game[3]), max(2, game[4])))
            winner = None if game[11] or draw.chance(0.04) else draw.skewed(sorted(people))[0]
            number = len(plays) + 1
            start = f"{evening[1]} {draw.number(18, 21)}:{draw.one(['00', '15', '30', '45'])}"
            plays.append((number, evening[0], which + 1, start, max(10, game[5] + draw.number(-12, 35)), winner))
            for person in people:
                seats.append((number, person[0], draw.number(3, 140) if draw.chance(0.9) else None))
    return plays, seats


def _loans(draw: Draw, members: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 161):
        taken = draw.day("2023-02-01", "2025-12-15")
        due = taken + timedelta(days=21)
        back = taken + timedelta(days=draw.number(3, 34))
        home = None if back.isoformat() > "2025-12-14" else back.isoformat()
        fine = round((back - due).days * 0.2, 2) if home and back > due else None
        game = draw.one([1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 17, 18, 19, 21])
        rows.append((number, game, draw.skewed(members)[0], taken.isoformat(), due.isoformat(), home, fine))
    return rows


def _ratings(draw: Draw, members: list[tuple]) -> list[tuple]:
    rows: list[tuple] = []
    for number, game in enumerate(GAMES, 1):
        middle = 4 if game[7] < 2.5 else 3
        for member in draw.some(members[:50], count=draw.number(4, 16)):
            stars = max(1, min(5, middle + draw.one([-2, -1, 0, 0, 0, 1, 1])))
            rows.append((len(rows) + 1, member[0], number, stars, draw.one(REMARKS)))
    return rows
