"""A bike-hire firm: short names, keys that are not declared, dates as text, flags as 0 and 1, abbreviations."""

from datetime import date, timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE depots (depot_id INTEGER PRIMARY KEY, name TEXT, town TEXT, postcode TEXT, opened_on TEXT,
    capacity INTEGER, has_workshop BOOLEAN, mgr_id INTEGER);
CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, role TEXT, depot_id INTEGER,
    boss_id INTEGER, hired_on TEXT, hourly_rate REAL, mobile TEXT);
CREATE TABLE bike_models (model_id INTEGER PRIMARY KEY, name TEXT, maker TEXT, kind TEXT, gears INTEGER,
    weight_kg REAL, day_rate REAL, is_electric BOOLEAN);
CREATE TABLE bikes (bike_id INTEGER PRIMARY KEY, tag TEXT UNIQUE, model_id INTEGER, depot_id INTEGER, bought_on TEXT,
    purchase_price REAL, status TEXT, colour TEXT, km_tot INTEGER);
CREATE TABLE riders (rider_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, email TEXT, mobile TEXT, town TEXT,
    joined_on TEXT, birth_date TEXT, member_type TEXT);
CREATE TABLE hires (hire_id INTEGER PRIMARY KEY, rider_id INTEGER, bike_id INTEGER, from_depot_id INTEGER,
    to_depot_id INTEGER, out_at TEXT, back_at TEXT, km REAL, fee REAL, late_fee REAL);
CREATE TABLE repairs (repair_id INTEGER PRIMARY KEY, bike_id INTEGER, staff_id INTEGER, reported_on TEXT,
    fixed_on TEXT, fault TEXT, parts_cost REAL, labour_min INTEGER);
CREATE TABLE extras (extra_id INTEGER PRIMARY KEY, name TEXT, price REAL);
CREATE TABLE hire_extras (hire_id INTEGER, extra_id INTEGER, PRIMARY KEY (hire_id, extra_id));
"""

DEPOTS = [
    (1, "Harbour", "Westquay", "WQ1 4TD", "2014-04-12", 60, 1, 1),
    (2, "Station Road", "Westquay", "WQ2 8AB", "2015-05-01", 40, 0, 4),
    (3, "Old Mill", "Tarnley", "TA5 1MM", "2017-03-18", 25, 1, 6),
    (4, "University", "Westquay", "WQ3 2UN", "2018-09-20", 80, 1, 9),
    (5, "Lido", "Sandmouth", "SM7 7LD", "2019-06-01", 30, 0, 11),
    (6, "Castle Gate", "Tarnley", "TA1 9CG", "2021-04-02", 20, 0, None),
    (7, "Pier", "Sandmouth", "SM7 1PR", "2023-05-27", 35, 0, 14),
    (8, "Northfield", "Northfield", None, "2025-10-04", 15, 0, None),
]
STAFF = [
    (1, "Dilys", "Morgan", "manager", 1, None, "2014-03-01", 24.5, "07700 900101"),
    (2, "Kofi", "Asante", "mechanic", 1, 1, "2014-06-15", 17.8, "07700 900102"),
    (3, "Rhian", "Tudor", "front desk", 1, 1, "2016-02-08", 12.6, "07700 900103"),
    (4, "Gareth", "Blunt", "manager", 2, 1, "2015-04-20", 20.0, "07700 900104"),
    (5, "Oona", "Quigley", "front desk", 2, 4, "2022-07-01", 12.2, None),
    (6, "Sanjay", "Rao", "manager", 3, 1, "2017-01-09", 21.0, "07700 900106"),
    (7, "Wren", "Hollis", "mechanic", 3, 6, "2019-11-04", 16.4, "07700 900107"),
    (8, "Tomasz", "Zielak", "mechanic", 4, 9, "2020-02-17", 16.9, "07700 900108"),
    (9, "Imogen", "Vance", "manager", 4, 1, "2018-08-06", 21.5, "07700 900109"),
    (10, "Bryn", "Castle", "front desk", 4, 9, "2023-09-11", 11.9, "07700 900110"),
    (11, "Leila", "Haddad", "manager", 5, 1, "2019-05-13", 20.4, "07700 900111"),
    (12, "Fergus", "Oakes", "van driver", 1, 1, "2021-03-22", 13.7, "07700 900112"),
    (13, "Yusuf", "Demir", "mechanic", 4, 9, "2024-01-15", 15.8, None),
    (14, "Petra", "Lind", "manager", 7, 1, "2023-05-02", 19.6, "07700 900114"),
    (15, "Morgan", "Tate", "van driver", 5, 11, "2025-03-03", 13.2, "07700 900115"),
]
MODELS = [
    (1, "Swift 3", "Albatross", "city", 3, 14.2, 14.0, 0),
    (2, "Swift 8", "Albatross", "city", 8, 13.6, 16.0, 0),
    (3, "Goat", "Ridgeback Bros", "mountain", 24, 13.1, 22.0, 0),
    (4, "Goat XL", "Ridgeback Bros", "mountain", 27, 13.9, 25.0, 0),
    (5, "Mule", "Van Horst", "cargo", 7, 31.5, 30.0, 0),
    (6, "Mule Electric", "Van Horst", "cargo", 9, 38.0, 42.0, 1),
    (7, "Breeze", "Albatross", "city", 7, 22.4, 28.0, 1),
    (8, "Volt", "Ridgeback Bros", "mountain", 12, 21.7, 38.0, 1),
    (9, "Twosome", "Van Horst", "tandem", 18, 19.8, 34.0, 0),
    (10, "Tadpole", "Pipkin", "kids", 1, 6.3, 7.0, 0),
    (11, "Froglet", "Pipkin", "kids", 6, 8.9, 9.0, 0),
    (12, "Heron", "Albatross", "road", 20, 9.2, 26.0, 0),
]
EXTRAS = [
    (1, "helmet", 2.0),
    (2, "child seat", 5.0),
    (3, "pannier", 3.0),
    (4, "phone holder", 1.5),
    (5, "lock", 2.5),
    (6, "trailer", 12.0),
    (7, "rain poncho", 4.0),
]
RIDERS = [
    (
        "Maggie",
        "O'Dowd",
        "maggie.odowd@mailbox.example",
        "07700 900201",
        "Westquay",
        "2019-03-02",
        "1961-07-14",
        "annual",
    ),
    ("Jürgen", "Pohl", "j.pohl@post.example", "07700 900202", "Tarnley", "2020-06-21", "1978-01-30", "annual"),
    ("Sky", "Harbour", "sky@skyharbour.example", None, "Sandmouth", "2022-05-05", "2001-12-09", "student"),
    ("Amara", "Nwosu", "amara.n@uni.example", "07700 900204", "Westquay", "2023-09-28", "2004-04-18", "student"),
    (
        "Billy",
        "Tarnley",
        "billyt@mailbox.example",
        "07700 900205",
        "Northfield",
        "2021-08-13",
        "1990-10-02",
        "pay as you go",
    ),
    ("Zoë", "Brandt", "zoe.brandt@post.example", "07700 900206", "Westquay", "2018-04-07", "1985-06-25", "annual"),
    ("Dai", "Prosser", None, "07700 900207", "Tarnley", "2024-02-29", "1949-11-11", None),
    ("Hannah", "Lind", "h.lind@post.example", "07700 900208", "Sandmouth", "2025-07-19", "1996-03-03", "pay as you go"),
]
FIRST = [
    *("Alun", "Bea", "Cai", "Delia", "Ewan", "Flora", "Gus", "Heidi", "Ivo", "Jess"),
    *("Kit", "Lowri", "Mabli", "Ned", "Orla", "Pia", "Quinn", "Rafe", "Sian", "Tess"),
]
LAST = [
    *("Abbot", "Beddow", "Cadwal", "Dunmore", "Ellwood", "Fenn", "Gower", "Huxley", "Ings", "Jowett"),
    *("Kemble", "Leyland", "Marsh", "Nunn"),
]
FAULTS = ["flat tyre", "brakes", "gears", "bent wheel", "chain", "lights", "battery", "saddle"]
COLOURS = ["red", "blue", "green", "black", "yellow", "white"]


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2201)
    bikes = _bikes(draw)
    riders = _riders(draw)
    hires, hired = _hires(draw, bikes, riders)
    return {
        "depots": DEPOTS,
        "staff": STAFF,
        "bike_models": MODELS,
        "bikes": bikes,
        "riders": riders,
        "hires": hires,
        "repairs": _repairs(draw),
        "extras": EXTRAS,
        "hire_extras": hired,
    }


def _bikes(draw: Draw) -> list[tuple]:
    rows = []
    for number in range(1, 111):
        model = draw.skewed(MODELS[:11])
        depot = draw.skewed(DEPOTS[:7])[0]
        bought = draw.day("2016-03-01", "2025-08-30").isoformat()
        price = round(model[6] * draw.number(24, 34) + draw.number(0, 99) / 100, 2)
        status = draw.one(["available"] * 7 + ["out"] * 3 + ["in repair"] * 2 + ["stolen", "sold"])
        rows.append(
            (
                number,
                f"WQ-{number:03}",
                model[0],
                depot,
                bought,
                price,
                status,
                draw.one(COLOURS),
                draw.number(90, 9800),
            )
        )
    return rows


def _riders(draw: Draw) -> list[tuple]:
    rows: list[tuple] = [(number, *rider) for number, rider in enumerate(RIDERS, 1)]
    for number in range(len(rows) + 1, 141):
        first, last = draw.one(FIRST), draw.one(LAST)
        email = f"{first}.{last}{number}@mailbox.example".lower() if draw.chance(0.85) else None
        mobile = f"07700 901{number:03}" if draw.chance(0.8) else None
        town = draw.one(["Westquay", "Westquay", "Westquay", "Tarnley", "Sandmouth", "Northfield"])
        joined = draw.day("2018-01-01", "2025-12-20").isoformat()
        born = draw.day("1948-01-01", "2008-12-31").isoformat()
        kind = draw.one(["annual", "annual", "student", "pay as you go", "pay as you go", None])
        rows.append((number, first, last, email, mobile, town, joined, born, kind))
    return rows


def _hires(draw: Draw, bikes: list[tuple], riders: list[tuple]) -> tuple[list[tuple], list[tuple]]:
    rates = {model[0]: model[6] for model in MODELS}
    rows, extras = [], []
    for number in range(1, 901):
        rider, bike = draw.skewed(riders[:130]), draw.one(bikes[:104])
        start = draw.day("2023-01-05", "2025-12-28")
        days = draw.one([1, 1, 1, 1, 2, 2, 3, 5])
        out = f"{start.isoformat()} {draw.number(8, 17):02}:{draw.one([0, 15, 30, 45]):02}:00"
        back = f"{_later(start, days)} {draw.number(9, 19):02}:{draw.one([0, 15, 30, 45]):02}:00"
        late = draw.one([5.0, 10.0, 15.0]) if draw.chance(0.12) else None
        away = draw.one(DEPOTS[:7])[0] if draw.chance(0.3) else bike[3]
        fee = round(rates[bike[2]] * days, 2)
        still = start >= date(2025, 12, 20)
        km = None if still or draw.chance(0.1) else draw.number(20, 640) / 10 * days
        km = None if km is None else round(km, 1)
        rows.append(
            (number, rider[0], bike[0], bike[3], None if still else away, out, None if still else back, km, fee, late)
        )
        for extra in draw.some(EXTRAS[:6], count=draw.one([0, 0, 1, 1, 2, 3])):
            extras.append((number, extra[0]))
    return rows, extras


def _later(start: date, days: int) -> str:
    return (start + timedelta(days=days - 1)).isoformat()


def _repairs(draw: Draw) -> list[tuple]:
    rows = []
    mechanics = [2, 2, 2, 7, 7, 8, 8, 8]
    for number in range(1, 211):
        reported = draw.day("2023-02-01", "2025-12-22")
        fixed = None if reported > date(2025, 12, 5) else _later(reported, draw.number(1, 12))
        cost = draw.number(200, 9900) / 100 if draw.chance(0.8) else None
        who = draw.one(mechanics) if draw.chance(0.93) else None
        rows.append(
            (
                number,
                draw.number(1, 96),
                who,
                reported.isoformat(),
                fixed,
                draw.skewed(FAULTS),
                cost,
                draw.number(10, 150),
            )
        )
    return rows
