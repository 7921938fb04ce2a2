"""A university with a library: plural tables in snake_case, keys called `id` and declared, names in two columns."""

from datetime import date, timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE, building TEXT,
    head_id INTEGER REFERENCES lecturers (id));
CREATE TABLE lecturers (id INTEGER PRIMARY KEY, title TEXT, given_name TEXT NOT NULL, family_name TEXT NOT NULL,
    email TEXT, office TEXT, department_id INTEGER NOT NULL REFERENCES departments (id), joined_on DATE,
    salary INTEGER);
CREATE TABLE programmes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, degree TEXT,
    department_id INTEGER NOT NULL REFERENCES departments (id), duration_years INTEGER, annual_fee INTEGER);
CREATE TABLE students (id INTEGER PRIMARY KEY, student_no TEXT UNIQUE, given_name TEXT NOT NULL,
    family_name TEXT NOT NULL, birth_date DATE, home_country TEXT, email TEXT, enrolled_on DATE,
    programme_id INTEGER REFERENCES programmes (id), advisor_id INTEGER REFERENCES lecturers (id),
    mentor_id INTEGER REFERENCES students (id));
CREATE TABLE courses (id INTEGER PRIMARY KEY, code TEXT UNIQUE, title TEXT NOT NULL, credits INTEGER,
    level INTEGER, department_id INTEGER NOT NULL REFERENCES departments (id));
CREATE TABLE course_prerequisites (course_id INTEGER NOT NULL REFERENCES courses (id),
    prerequisite_id INTEGER NOT NULL REFERENCES courses (id), PRIMARY KEY (course_id, prerequisite_id));
CREATE TABLE semesters (id INTEGER PRIMARY KEY, name TEXT UNIQUE, starts_on DATE, ends_on DATE);
CREATE TABLE rooms (id INTEGER PRIMARY KEY, name TEXT, building TEXT, seats INTEGER, has_projector BOOLEAN);
CREATE TABLE classes (id INTEGER PRIMARY KEY, course_id INTEGER NOT NULL REFERENCES courses (id),
    semester_id INTEGER NOT NULL REFERENCES semesters (id), lecturer_id INTEGER REFERENCES lecturers (id),
    room_id INTEGER REFERENCES rooms (id), weekday TEXT, starts_at TEXT);
CREATE TABLE enrolments (student_id INTEGER NOT NULL REFERENCES students (id),
    class_id INTEGER NOT NULL REFERENCES classes (id), status TEXT, mark INTEGER, grade TEXT,
    PRIMARY KEY (student_id, class_id));
CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT, subject TEXT, publication_year INTEGER,
    pages INTEGER, copies INTEGER);
CREATE TABLE loans (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books (id),
    student_id INTEGER NOT NULL REFERENCES students (id), borrowed_on DATE, due_on DATE, returned_on DATE, fine REAL);
CREATE TABLE societies (id INTEGER PRIMARY KEY, name TEXT NOT NULL, founded_year INTEGER, yearly_fee REAL);
CREATE TABLE society_members (society_id INTEGER NOT NULL REFERENCES societies (id),
    student_id INTEGER NOT NULL REFERENCES students (id), role TEXT, joined_on DATE,
    PRIMARY KEY (society_id, student_id));
"""

DEPARTMENTS = [
    (1, "Computer Science", "CS", "Turing House", 2),
    (2, "Mathematics", "MA", "Noether Building", 5),
    (3, "History", "HI", "Old Quad", 8),
    (4, "Biology", "BI", "Greenhouse", 11),
    (5, "Economics", "EC", "Old Quad", 13),
    (6, "Fine Art", "FA", "The Foundry", None),
]
LECTURERS = [
    (1, "Dr", "Anneliese", "Holt", "a.holt@brennan.example", "T2.14", 1, "2016-09-01", 58200),
    (2, "Prof", "Rajesh", "Menon", "r.menon@brennan.example", "T3.01", 1, "2004-09-01", 91500),
    (3, "Dr", "Femi", "Adeyemi", "f.adeyemi@brennan.example", "T2.09", 1, "2021-01-15", 52400),
    (4, "Mr", "Callum", "Reid", "c.reid@brennan.example", None, 1, "2024-08-20", 41800),
    (5, "Prof", "Ludmila", "Horák", "l.horak@brennan.example", "N1.20", 2, "1998-10-01", 96000),
    (6, "Dr", "Simon", "Pell", "s.pell@brennan.example", "N1.07", 2, "2013-02-04", 60100),
    (7, "Dr", "Yuki", "Tanabe", "y.tanabe@brennan.example", "N2.11", 2, "2022-09-01", 51000),
    (8, "Prof", "Eleanor", "Marchbank", "e.marchbank@brennan.example", "Q11", 3, "2001-09-01", 88900),
    (9, "Dr", "Owen", "Garrick", "o.garrick@brennan.example", "Q14", 3, "2018-09-01", 55300),
    (10, "Ms", "Nadia", "Holt", "n.holt@brennan.example", "G0.5", 4, "2019-03-11", 47700),
    (11, "Prof", "Tobias", "Lindqvist", "t.lindqvist@brennan.example", "G1.2", 4, "2009-01-07", 85400),
    (12, "Dr", "Priya", "Sandhu", "p.sandhu@brennan.example", "G1.8", 4, "2020-09-01", 54600),
    (13, "Prof", "Marguerite", "Duval", "m.duval@brennan.example", "Q31", 5, "2007-09-01", 94200),
    (14, "Dr", "Hassan", "Karimi", "h.karimi@brennan.example", "Q33", 5, "2017-09-01", 59800),
    (15, "Ms", "Bronagh", "Tierney", "b.tierney@brennan.example", None, 6, "2023-09-01", 43900),
    (16, "Dr", "Wendell", "Snow", None, "F3", 6, "2011-09-01", 56900),
]
PROGRAMMES = [
    (1, "Computer Science", "BSc", 1, 3, 9250),
    (2, "Data Science", "MSc", 1, 1, 14800),
    (3, "Mathematics", "BSc", 2, 3, 9250),
    (4, "Modern History", "BA", 3, 3, 9000),
    (5, "Marine Biology", "BSc", 4, 4, 9600),
    (6, "Economics", "BA", 5, 3, 9250),
    (7, "Development Economics", "MSc", 5, 1, 13200),
    (8, "Painting", "BA", 6, 3, 9400),
    (9, "Archive Studies", "MA", 3, 1, 8700),
]
COURSES = [
    (1, "CS101", "Introduction to Programming", 10, 1, 1),
    (2, "CS110", "Computer Systems", 10, 1, 1),
    (3, "CS205", "Databases", 10, 2, 1),
    (4, "CS210", "Algorithms", 15, 2, 1),
    (5, "CS320", "Machine Learning", 15, 3, 1),
    (6, "CS331", "Computer Graphics", 10, 3, 1),
    (7, "MA101", "Calculus", 15, 1, 2),
    (8, "MA102", "Linear Algebra", 10, 1, 2),
    (9, "MA204", "Probability", 10, 2, 2),
    (10, "MA310", "Topology", 10, 3, 2),
    (11, "HI103", "The Roman World", 10, 1, 3),
    (12, "HI215", "Revolutions", 10, 2, 3),
    (13, "HI322", "The Cold War", 20, 3, 3),
    (14, "BI101", "Cell Biology", 10, 1, 4),
    (15, "BI208", "Genetics", 10, 2, 4),
    (16, "BI330", "Coral Reefs", 20, 3, 4),
    (17, "EC101", "Microeconomics", 10, 1, 5),
    (18, "EC102", "Macroeconomics", 10, 1, 5),
    (19, "EC240", "Game Theory", 15, 2, 5),
    (20, "EC305", "Econometrics", 20, 3, 5),
    (21, "FA110", "Life Drawing", 10, 1, 6),
    (22, "FA230", "Printmaking", 10, 2, 6),
    (23, "CS390", "Compiler Construction", 20, 3, 1),
]
PREREQUISITES = [
    *((3, 1), (4, 1), (5, 4), (5, 8), (5, 9), (6, 8), (6, 1), (23, 4), (23, 2)),
    *((9, 7), (10, 7), (10, 8), (12, 11), (15, 14), (16, 15), (19, 17), (20, 18), (20, 9), (22, 21)),
]
SEMESTERS = [
    (1, "Autumn 2023", "2023-09-25", "2024-01-26"),
    (2, "Spring 2024", "2024-02-05", "2024-06-07"),
    (3, "Autumn 2024", "2024-09-23", "2025-01-24"),
    (4, "Spring 2025", "2025-02-03", "2025-06-06"),
    (5, "Autumn 2025", "2025-09-22", "2026-01-23"),
]
ROOMS = [
    (1, "Lovelace Theatre", "Turing House", 180, 1),
    (2, "Lab 4", "Turing House", 32, 1),
    (3, "Seminar Room B", "Noether Building", 24, 0),
    (4, "Euler Hall", "Noether Building", 140, 1),
    (5, "The Long Room", "Old Quad", 60, 1),
    (6, "Gibbon Room", "Old Quad", 18, 0),
    (7, "Wet Lab", "Greenhouse", 28, 0),
    (8, "Linnaeus Theatre", "Greenhouse", 110, 1),
    (9, "Studio 1", "The Foundry", 22, 0),
    (10, "Print Shop", "The Foundry", 12, 0),
    (11, "Observatory", "Hilltop", 40, 1),
]
TEACHERS = {1: (1, 4), 2: (3,), 3: (3,), 4: (2, 1), 5: (1,), 6: (4,), 7: (6,), 8: (7,), 9: (7, 6), 10: (5,)}
TEACHERS |= {11: (9,), 12: (8, 9), 13: (8,), 14: (10,), 15: (12,), 16: (11,), 17: (14,), 18: (13, 14), 19: (14,)}
TEACHERS |= {20: (13,), 21: (15,), 22: (15,)}
STUDENTS = [
    ("Aoife", "Brennan", "2004-05-17", "Ireland", 1),
    ("Mateo", "Quintana", "2003-11-02", "Spain", 5),
    ("Chidera", "Obi", "2002-08-29", "Nigeria", 2),
    ("Lena", "Vogt", "2004-01-23", "Germany", 3),
    ("Freddie", "Marsh", "2005-03-30", "United Kingdom", 8),
    ("Xin", "Zhao", "2003-06-12", "China", 1),
    ("Saanvi", "Iyer", "2004-09-08", "India", 6),
    ("Tomos", "Gwynne", "1999-12-25", "United Kingdom", 9),
    ("Inès", "Lavigne", "2004-07-04", "France", 4),
    ("Gabriel", "O'Shea", "2005-10-19", "Ireland", 3),
]
FIRST = [
    *("Amy", "Ben", "Chloe", "Dan", "Esme", "Felix", "Grace", "Harry", "Isla", "Jack", "Kezia", "Leo"),
    *("Molly", "Noor", "Oscar", "Poppy", "Ravi", "Sofia", "Theo", "Uma", "Viktor", "Willow", "Zain"),
]
LAST = [
    *("Archer", "Bailey", "Chowdhury", "Dixon", "Eriksen", "Fletcher", "Grant", "Hughes", "Ibrahim", "Jansen"),
    *("Kowalski", "Lawson", "Moretti", "Nguyen", "Osborne", "Petrov", "Quayle", "Rahman", "Stone", "Underhill"),
]
COUNTRIES = [*["United Kingdom"] * 9, "Ireland", "Germany", "France", "India", "China", "Nigeria", "Poland", "Spain"]
BOOKS = [
    (1, "The Patient Machine", "Ilse Kramer", "computing", 2014, 388, 4),
    (2, "Sorting It Out", "D. K. Nwankwo", "computing", 2008, 512, 3),
    (3, "Tables, Keys and Joins", "Martha Bellweather", "computing", 2019, 296, 5),
    (4, "A First Course in Limits", "Ludmila Horák", "mathematics", 2003, 341, 6),
    (5, "Chance and Its Uses", "P. Okafor", "mathematics", 2011, 420, 2),
    (6, "Knots for Everyone", "Ludmila Horák", "mathematics", 2016, 205, 1),
    (7, "The Last Consul", "Piers Harcourt", "history", 1987, 623, 2),
    (8, "Barricades", "Eleanor Marchbank", "history", 2009, 478, 3),
    (9, "Winter in Berlin", "Eleanor Marchbank", "history", 2017, 355, 2),
    (10, "Inside the Cell", "S. Varga", "biology", 2020, 714, 7),
    (11, "Reefs of the South", "Tobias Lindqvist", "biology", 2013, 268, 2),
    (12, "Peas to Genomes", "S. Varga", "biology", 2022, 550, 4),
    (13, "Bread, Rent and Wages", "Amartya Bose", "economics", 1999, 310, 3),
    (14, "Two Prisoners", "Hassan Karimi", "economics", 2021, 190, 2),
    (15, "The Price of Everything", "Joan Tilley", "economics", 2006, 402, 4),
    (16, "Line and Shadow", "Vita Romero", "art", 1994, 160, 2),
    (17, "Ink", "Wendell Snow", "art", 2018, 224, 1),
    (18, "Notes on Colour", "Vita Romero", "art", 2001, 187, 1),
    (19, "How to Write an Essay", "Joan Tilley", None, 2012, 144, 9),
]
SOCIETIES = [
    (1, "Chess", 1921, 6.0),
    (2, "Rowing", 1888, 45.0),
    (3, "Debating", 1902, 8.0),
    (4, "Film", 1967, 12.0),
    (5, "Climbing", 1994, 25.0),
    (6, "Baking", 2016, 10.0),
    (7, "Robotics", 2011, 15.0),
    (8, "Beekeeping", 2024, 20.0),
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
HEADS_OF_YEAR = "2023-09-18", "2024-09-16", "2025-09-15"


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2203)
    students = _students(draw)
    classes = _classes(draw)
    return {
        "departments": DEPARTMENTS,
        "lecturers": LECTURERS,
        "programmes": PROGRAMMES,
        "students": students,
        "courses": COURSES,
        "course_prerequisites": PREREQUISITES,
        "semesters": SEMESTERS,
        "rooms": ROOMS,
        "classes": classes,
        "enrolments": _enrolments(draw, students, classes),
        "books": BOOKS,
        "loans": _loans(draw, students),
        "societies": SOCIETIES,
        "society_members": _members(draw, students),
    }


def _students(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    drawn = draw.some([(first, last) for first in FIRST for last in LAST], count=120)
    for number in range(1, 131):
        if number <= len(STUDENTS):
            first, last, born, country, programme = STUDENTS[number - 1]
        else:
            first, last = drawn[number - 11]
            born = draw.day("2002-09-01", "2007-08-31").isoformat()
            country, programme = draw.one(COUNTRIES), draw.one([1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 8, 9])
        started = HEADS_OF_YEAR[min((number - 1) // 45, 2)]
        teachers = [row[0] for row in LECTURERS if row[6] == PROGRAMMES[programme - 1][3]]
        advisor = draw.one(teachers) if draw.chance(0.95) else None
        mentor = draw.number(1, min(number - 1, 80)) if number > 12 and draw.chance(0.55) else None
        address = f"{first[0]}{last}{number}@students.brennan.example".lower().replace("'", "")
        email = address if draw.chance(0.93) else None
        rows.append(
            (number, f"S{2300 + number}", first, last, born, country, email, started, programme, advisor, mentor)
        )
    return rows


def _classes(draw: Draw) -> list[tuple]:
    rows: list[tuple] = []
    homes = {1: (1, 2), 2: (3, 4), 3: (5, 6), 4: (7, 8), 5: (5, 4), 6: (9, 10)}
    for semester in SEMESTERS:
        for course in COURSES:
            if course[0] not in TEACHERS or course[0] % 2 == semester[0] % 2 and course[4] > 1 or draw.chance(0.08):
                continue
            teacher = draw.one(TEACHERS[course[0]])
            room = draw.one(homes[course[5]]) if draw.chance(0.95) else None
            start = f"{draw.one([9, 10, 11, 13, 14, 15, 16]):02}:00"
            rows.append((len(rows) + 1, course[0], semester[0], teacher, room, draw.one(DAYS), start))
    return rows


def _enrolments(draw: Draw, students: list[tuple], classes: list[tuple]) -> list[tuple]:
    fields = {course[0]: course[5] for course in COURSES}
    rows = []
    for student in students[:127]:
        field = PROGRAMMES[student[8] - 1][3]
        done: set[int] = set()  # nobody takes a course again that they have finished
        for semester in SEMESTERS:
            if semester[3] < student[7]:
                continue
            here = [each for each in classes if each[2] == semester[0] and each[1] not in done]
            near = [each for each in here if fields[each[1]] == field]
            chosen = draw.some(near, count=draw.number(1, 3)) + draw.some(here, count=draw.number(1, 2))
            for class_id, course in sorted({each[:2] for each in chosen}):
                outcome = _outcome(draw, semester[0])
                done |= {course} if outcome[0] == "completed" else set()
                rows.append((student[0], class_id, *outcome))
    return rows


def _outcome(draw: Draw, semester: int) -> tuple[str, int | None, str | None]:
    """The status, mark and grade of an enrolment; marks of the running semester are not there yet."""
    if draw.chance(0.07):
        return "withdrawn", None, None
    if semester == SEMESTERS[-1][0]:
        return "enrolled", None, None
    mark = min(96, draw.number(22, 58) + draw.number(8, 42))
    grade = next(grade for least, grade in ((70, "A"), (60, "B"), (50, "C"), (40, "D"), (0, "F")) if mark >= least)
    return ("failed" if grade == "F" else "completed"), mark, grade


def _loans(draw: Draw, students: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 341):
        book, student = draw.skewed(BOOKS[:17]), draw.skewed(students[:120])
        earliest = max(student[7], "2023-10-01")
        start = draw.day(earliest, "2025-12-22")
        due = start + timedelta(days=21)
        back: date | None = start + timedelta(days=draw.number(2, 34))
        if back is not None and back > date(2025, 12, 31) or draw.chance(0.02):
            back = None
        late = (back - due).days if back else 0
        fine = round(late * 0.5, 2) if late > 0 else None
        rows.append(
            (
                number,
                book[0],
                student[0],
                start.isoformat(),
                due.isoformat(),
                back.isoformat() if back else None,
                fine,
            )
        )
    return rows


def _members(draw: Draw, students: list[tuple]) -> list[tuple]:
    rows = []
    for society in SOCIETIES[:7]:
        members = draw.some(students[:115], count=draw.number(9, 30))
        for place, student in enumerate(members):
            role = {0: "president", 1: "treasurer", 2: "secretary"}.get(place, "member")
            joined = draw.day(student[7], "2025-12-10").isoformat()
            rows.append((society[0], student[0], role, joined))
    return rows
