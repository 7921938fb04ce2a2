"""A clinic: singular snake_case names, declared keys, dates and times as such, units in a column of their own."""

from datetime import date, timedelta

from benchmarks.databases.draw import Draw

SCHEMA = """
CREATE TABLE department (department_code TEXT PRIMARY KEY, department_name TEXT NOT NULL, floor INTEGER,
    bed_capacity INTEGER, phone_extension TEXT, head_physician_no INTEGER REFERENCES physician (physician_no));
CREATE TABLE physician (physician_no INTEGER PRIMARY KEY, academic_title TEXT, given_name TEXT, family_name TEXT,
    specialty TEXT, department_code TEXT REFERENCES department (department_code), date_of_birth DATE,
    employed_since DATE, supervisor_no INTEGER REFERENCES physician (physician_no));
CREATE TABLE insurer (insurer_no INTEGER PRIMARY KEY, insurer_name TEXT, is_statutory BOOLEAN, city TEXT);
CREATE TABLE patient (patient_no INTEGER PRIMARY KEY, given_name TEXT, family_name TEXT, date_of_birth DATE, sex TEXT,
    blood_group TEXT, city TEXT, phone TEXT, insurer_no INTEGER REFERENCES insurer (insurer_no),
    family_doctor_no INTEGER REFERENCES physician (physician_no));
CREATE TABLE allergen (allergen_id INTEGER PRIMARY KEY, allergen_name TEXT);
CREATE TABLE patient_allergy (patient_no INTEGER REFERENCES patient (patient_no),
    allergen_id INTEGER REFERENCES allergen (allergen_id), PRIMARY KEY (patient_no, allergen_id));
CREATE TABLE admission (admission_no INTEGER PRIMARY KEY, patient_no INTEGER REFERENCES patient (patient_no),
    department_code TEXT REFERENCES department (department_code), admitted_on DATE, discharged_on DATE,
    diagnosis TEXT, is_emergency BOOLEAN);
CREATE TABLE appointment (appointment_no INTEGER PRIMARY KEY, patient_no INTEGER REFERENCES patient (patient_no),
    physician_no INTEGER REFERENCES physician (physician_no), scheduled_at TIMESTAMP, duration_min INTEGER,
    status TEXT, reason TEXT);
CREATE TABLE medication (medication_id INTEGER PRIMARY KEY, trade_name TEXT, active_substance TEXT, dosage_form TEXT,
    strength_mg REAL, package_price_eur REAL, prescription_only BOOLEAN, manufacturer TEXT);
CREATE TABLE prescription (prescription_no INTEGER PRIMARY KEY, patient_no INTEGER REFERENCES patient (patient_no),
    physician_no INTEGER REFERENCES physician (physician_no),
    medication_id INTEGER REFERENCES medication (medication_id), issued_on DATE, duration_days INTEGER,
    tablets_per_day REAL);
CREATE TABLE laboratory_result (result_no INTEGER PRIMARY KEY, patient_no INTEGER REFERENCES patient (patient_no),
    analyte TEXT, measured_value REAL, unit TEXT, taken_on DATE, is_abnormal BOOLEAN);
"""

DEPARTMENTS = [
    ("CAR", "Cardiology", 3, 28, "3100", 1),
    ("SUR", "General Surgery", 2, 36, "2100", 4),
    ("PED", "Paediatrics", 1, 22, "1100", 6),
    ("NEU", "Neurology", 4, 18, "4100", 8),
    ("ORT", "Orthopaedics", 2, 30, "2200", 10),
    ("DER", "Dermatology", 0, 6, "0100", None),
    ("ICU", "Intensive Care", 3, 12, "3900", 12),
    ("PAL", "Palliative Care", 5, 8, None, None),
]
PHYSICIANS = [
    (1, "Prof.", "Elisabeth", "Thorne", "cardiologist", "CAR", "1962-04-11", "1998-10-01", None),
    (2, "Dr.", "Mikael", "Sandqvist", "cardiologist", "CAR", "1979-09-23", "2011-03-01", 1),
    (3, "Dr.", "Adaeze", "Okonkwo", "cardiologist", "CAR", "1986-12-05", "2018-07-16", 2),
    (4, "Prof.", "Ruben", "Castellanos", "surgeon", "SUR", "1965-07-30", "2003-01-15", None),
    (5, "Dr.", "Freya", "Lindholm", "surgeon", "SUR", "1981-02-14", "2013-09-01", 4),
    (6, "Dr.", "Noor", "Al-Rashid", "paediatrician", "PED", "1974-05-19", "2008-04-01", None),
    (7, None, "Callum", "Reid", "paediatrician", "PED", "1993-08-08", "2023-02-01", 6),
    (8, "Prof.", "Henrike", "Vogt", "neurologist", "NEU", "1969-11-27", "2006-06-01", None),
    (9, "Dr.", "Takumi", "Arai", "neurologist", "NEU", "1988-03-03", "2019-11-15", 8),
    (10, "Dr.", "Beatriz", "Sampaio", "orthopaedist", "ORT", "1972-01-09", "2009-08-01", None),
    (11, "Dr.", "Oisín", "Kavanagh", "orthopaedist", "ORT", "1984-06-21", "2016-05-02", 10),
    (12, "Dr.", "Valeria", "Moretti", "anaesthetist", "ICU", "1977-10-16", "2010-02-01", None),
    (13, "Dr.", "Samuel", "Thorne", "dermatologist", "DER", "1990-04-02", "2021-09-01", None),
    (14, None, "Ling", "Xu", "anaesthetist", "ICU", "1995-12-30", "2025-01-07", 12),
]
INSURERS = [
    (1, "Alliance Mutual", 1, "Kronstadt"),
    (2, "Hearth Provident", 1, "Elmsbruck"),
    (3, "Meridian Private", 0, "Kronstadt"),
    (4, "Sterling Private Health", 0, "Marienfeld"),
    (5, "Guild of Mariners Fund", 1, "Port Anselm"),
    (6, "Novacare", 0, None),
]
ALLERGENS = ["penicillin", "latex", "peanut", "birch pollen", "house dust mite", "ibuprofen", "bee venom", "nickel"]
MEDICATIONS = [
    (1, "Cardiolan", "bisoprolol", "tablet", 5.0, 14.2, 1, "Helvion"),
    (2, "Cardiolan Forte", "bisoprolol", "tablet", 10.0, 19.8, 1, "Helvion"),
    (3, "Dolorex", "ibuprofen", "tablet", 400.0, 6.9, 0, "Anders & Roy"),
    (4, "Dolorex Junior", "ibuprofen", "syrup", 100.0, 5.45, 0, "Anders & Roy"),
    (5, "Penvalin", "penicillin", "tablet", 500.0, 22.6, 1, "Farmacor"),
    (6, "Somnara", "melatonin", "capsule", 3.0, 17.3, 0, "Luxmed"),
    (7, "Migrastop", "sumatriptan", "tablet", 50.0, 31.9, 1, "Luxmed"),
    (8, "Glucofin", "metformin", "tablet", 850.0, 11.15, 1, "Farmacor"),
    (9, "Respira", "salbutamol", "inhaler", 0.1, 27.4, 1, "Helvion"),
    (10, "Dermacalm", "hydrocortisone", "ointment", 10.0, 8.8, 0, "Luxmed"),
    (11, "Statinor", "atorvastatin", "tablet", 20.0, 24.75, 1, "Farmacor"),
    (12, "Thrombex", "heparin", "injection", 40.0, 63.5, 1, "Helvion"),
]
PATIENTS = [
    ("Margarethe", "Lindqvist", "1948-02-17", "female", "A+", "Kronstadt", "0551 7001", 1, 1),
    ("Tobias", "Ackermann", "1983-11-05", "male", "0-", "Elmsbruck", "0551 7002", 3, 2),
    ("Siobhán", "Gallagher", "1990-07-22", "female", "B+", "Port Anselm", None, 5, 11),
    ("Emil", "Vogt", "2016-05-30", "male", "A-", "Kronstadt", "0551 7004", 2, 6),
    ("Aiko", "Tanabe", "1971-09-14", "female", "AB+", "Marienfeld", "0551 7005", 4, 8),
    ("Gregor", "Novotny", "1955-12-01", "male", "0+", "Kronstadt", "0551 7006", 1, 1),
    ("Iman", "Farouk", "2001-03-09", "female", None, "Elmsbruck", "0551 7007", None, None),
    ("Reid", "Callahan", "1966-08-25", "male", "B-", "Port Anselm", "0551 7008", 5, 10),
]
GIVEN = [
    ("Anna", "female"),
    ("Bertil", "male"),
    ("Clara", "female"),
    ("Dario", "male"),
    ("Edith", "female"),
    ("Florin", "male"),
    ("Greta", "female"),
    ("Henk", "male"),
    ("Irina", "female"),
    ("Jakob", "male"),
    ("Katja", "female"),
    ("Leon", "male"),
    ("Mira", "female"),
    ("Nils", "male"),
    ("Olga", "female"),
    ("Pascal", "male"),
]
FAMILY = [
    *("Adler", "Bergmann", "Cormack", "Dreyer", "Ehlers", "Fischbach", "Gruber", "Hallgren", "Iversen", "Jansky"),
    *("Kowal", "Lorenz", "Marten", "Neumann", "Ostrova", "Petersen"),
]
DIAGNOSES = {
    "CAR": ["atrial fibrillation", "heart failure", "angina pectoris"],
    "SUR": ["appendicitis", "inguinal hernia", "gallstones"],
    "PED": ["pneumonia", "gastroenteritis", "febrile seizure"],
    "NEU": ["stroke", "migraine", "epilepsy"],
    "ORT": ["hip fracture", "torn meniscus", "slipped disc"],
    "ICU": ["septic shock", "polytrauma"],
}
ANALYTES = [
    ("haemoglobin", "g/dl", 95, 175, 120),
    ("potassium", "mmol/l", 30, 60, 35),
    ("creatinine", "mg/dl", 5, 28, 6),
    ("cholesterol", "mg/dl", 1300, 3100, 1310),
    ("CRP", "mg/l", 1, 1400, 0),
]
REASONS = ["follow-up", "first consultation", "vaccination", "wound check", "second opinion", "annual check-up"]


def tables() -> dict[str, list[tuple]]:
    """The rows of every table."""
    draw = Draw(2203)
    patients = _patients(draw)
    return {
        "department": DEPARTMENTS,
        "physician": PHYSICIANS,
        "insurer": INSURERS,
        "patient": patients,
        "allergen": list(enumerate(ALLERGENS, 1)),
        "patient_allergy": _allergies(draw, patients),
        "admission": _admissions(draw, patients),
        "appointment": _appointments(draw, patients),
        "medication": MEDICATIONS,
        "prescription": _prescriptions(draw, patients),
        "laboratory_result": _results(draw, patients),
    }


def _patients(draw: Draw) -> list[tuple]:
    rows: list[tuple] = [(number, *patient) for number, patient in enumerate(PATIENTS, 1001)]
    pairs = [(given, sex, family) for given, sex in GIVEN for family in FAMILY]
    for given, sex, family in draw.some(pairs, count=142):
        group = draw.one(["A+", "A+", "0+", "0+", "B+", "A-", "0-", "AB+", "AB-"]) if draw.chance(0.9) else None
        city = draw.one(["Kronstadt", "Kronstadt", "Elmsbruck", "Marienfeld", "Port Anselm", "Lower Elm"])
        phone = f"0551 {8000 + len(rows)}" if draw.chance(0.8) else None
        born = draw.day("1931-01-01", "2021-12-31").isoformat()
        insurer = draw.skewed(INSURERS[:5])[0] if draw.chance(0.94) else None
        rows.append(
            (
                1001 + len(rows),
                given,
                family,
                born,
                sex,
                group,
                city,
                phone,
                insurer,
                draw.one([1, 2, 3, 6, 8, 10, 11, None]),
            )
        )
    return rows


def _allergies(draw: Draw, patients: list[tuple]) -> list[tuple]:
    rows = [(1001, 1), (1002, 3), (1002, 4), (1003, 2), (1005, 6)]
    for patient in patients[8:]:
        rows += [
            (patient[0], allergen) for allergen in sorted(draw.some(range(1, 8), count=draw.one([0, 0, 0, 1, 1, 2])))
        ]
    return rows


def _admissions(draw: Draw, patients: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 261):
        code = draw.one(["CAR", "CAR", "SUR", "SUR", "PED", "NEU", "ORT", "ORT", "ICU"])
        start = draw.day("2022-01-03", "2025-11-28")
        stay = start + timedelta(days=draw.number(1, 17))
        left = None if stay > date(2025, 11, 25) else stay.isoformat()
        patient = draw.skewed(patients[:120])[0]
        rows.append((number, patient, code, start.isoformat(), left, draw.one(DIAGNOSES[code]), int(draw.chance(0.35))))
    return rows


def _appointments(draw: Draw, patients: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 481):
        day = draw.day("2024-01-02", "2026-01-31")
        future = day > date(2025, 12, 1)
        status = (
            draw.one(["scheduled"] * 5 + ["cancelled"]) if future else draw.one(["kept"] * 7 + ["cancelled", "missed"])
        )
        when = f"{day.isoformat()} {draw.number(8, 16):02}:{draw.one([0, 20, 40]):02}:00"
        minutes = draw.one([15, 20, 20, 30, 45])
        physician = draw.one([1, 2, 2, 3, 5, 6, 6, 7, 8, 9, 10, 11, 13])
        reason = draw.one(REASONS) if draw.chance(0.9) else None
        rows.append((number, draw.skewed(patients)[0], physician, when, minutes, status, reason))
    return rows


def _prescriptions(draw: Draw, patients: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 361):
        medication = draw.one([m[0] for m in MEDICATIONS if m[0] != 12])
        issued = draw.day("2023-01-02", "2025-11-30").isoformat()
        physician = draw.one([1, 2, 3, 5, 6, 8, 8, 9, 10, 13])
        tablets = draw.one([0.5, 1.0, 1.0, 2.0, 3.0]) if medication not in (4, 9, 10) else None
        rows.append(
            (number, draw.skewed(patients)[0], physician, medication, issued, draw.one([5, 7, 10, 14, 30, 90]), tablets)
        )
    return rows


def _results(draw: Draw, patients: list[tuple]) -> list[tuple]:
    rows = []
    for number in range(1, 401):
        analyte, unit, low, high, normal = draw.one(ANALYTES)
        value = draw.number(low, high)
        odd = value < normal or value > high * 0.85
        taken = draw.day("2024-01-02", "2025-11-30").isoformat()
        rows.append((number, draw.skewed(patients)[0], analyte, value / 10, unit, taken, int(odd)))
    return rows
