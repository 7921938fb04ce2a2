"""Identifiers of a database as people's words, and what a word gives away about a column.

In: names such as `UnitPrice`, `rel_yr`, `tblCustomers`. Out: words (`unit price`), a name for forms (`unit_price`),
singular and plural, a unit, and whether the name is that of a secret.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

_PREFIXES = ("tbl", "dim", "fct", "fact", "stg", "vw", "v", "mv")
_SHORT = {  # what people write short in identifiers
    "yr": "year",
    "qty": "quantity",
    "amt": "amount",
    "num": "number",
    "no": "number",
    "nbr": "number",
    "desc": "description",
    "dept": "department",
    "emp": "employee",
    "cust": "customer",
    "prod": "product",
    "cat": "category",
    "addr": "address",
    "tel": "telephone",
    "dob": "birth date",
    "fname": "first name",
    "lname": "last name",
    "pct": "percent",
    "avg": "average",
    "dt": "date",
    "ts": "time",
    "mgr": "manager",
    "tot": "total",
    "cnt": "count",
    "loc": "location",
    "pos": "position",
    "seq": "sequence",
    "wt": "weight",
    "len": "length",
    "lvl": "level",
    "inv": "invoice",
    "org": "organisation",
    "lang": "language",
    "dur": "duration",
    "rnd": "round",
    "abbr": "abbreviation",
    "pref": "preferred",
    "intl": "international",
    "curr": "current",
    "prev": "previous",
    "vol": "volume",
    "freq": "frequency",
    "acct": "account",
    "mfr": "manufacturer",
    "keur": "in thousand euros",
    "kusd": "in thousand dollars",
    "kgbp": "in thousand pounds",
    "cap": "capacity",
    "att": "attendance",
    "nat": "nationality",
    "pts": "points",
    "ht": "height",
    "dist": "distance",
    "capt": "captain",
    "stad": "stadium",
    "plr": "player",
    "temp": "temperature",
    "elev": "elevation",
    "pop": "population",
    "bal": "balance",
    "sal": "salary",
    "nm": "name",
    "descr": "description",
    "cls": "class",
    "grp": "group",
    "doc": "document",
    "veh": "vehicle",
    "whs": "warehouse",
    "whse": "warehouse",
    "stat": "status",
    "sts": "status",
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
    "perf": "performance",
    "pmt": "payment",
    "txn": "transaction",
    "ord": "order",
    "itm": "item",
    "sup": "supplier",
    "mbr": "member",
    "usr": "user",
    "cntry": "country",
    "cty": "city",
}
_UNITS = {
    "millisecond": ("milliseconds", "millisecond", "millis", "msec", "ms"),
    "second": ("seconds", "second", "secs", "sec"),
    "minute": ("minutes", "minute", "mins"),
    "hour": ("hours", "hour", "hrs", "hr"),
    "day": ("days",),
    "byte": ("bytes",),
    "kilobyte": ("kb", "kilobytes"),
    "megabyte": ("mb", "megabytes"),
    "gigabyte": ("gb", "gigabytes"),
    "km": ("km", "kms", "kilometers", "kilometres"),
    "m": ("meters", "metres", "mtr", "m"),
    "cm": ("cm", "centimeters", "centimetres"),
    "mm": ("mm", "millimeters", "millimetres"),
    "mile": ("miles", "mi"),
    "m2": ("m2", "sqm"),
    "km2": ("km2", "sqkm"),
    "m3": ("m3",),
    "kg": ("kg", "kgs", "kilograms"),
    "g": ("grams", "g"),
    "percent": ("percent", "percentage", "pct"),
    "usd": ("usd", "dollars"),
    "eur": ("eur", "euro", "euros"),
    "gbp": ("gbp",),
    "money": (
        *("price", "cost", "amount", "revenue", "salary", "wage", "budget", "fee", "balance", "total", "subtotal"),
        *("fine", "wages", "earnings", "expense", "expenses", "debt", "deposit"),
        *("discount", "tax", "spend", "income", "payment", "paid", "sales", "gross", "freight", "rent", "turnover"),
    ),
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}
_MONEY = ("euro", "euros", "dollar", "dollars", "pound", "pounds")  # said after an amount, not of a column
_LASTING = ("duration", "dur", "time", "labour", "labor", "work", "run", "running", "play", "wait", "delay", "length")
_MEASURES = frozenset(
    (
        "length",
        "height",
        "width",
        "depth",
        "distance",
        "elevation",
        "duration",
        "time",
        "age",
        "weight",
        "size",
        "speed",
    )
)
_SECRETS = (
    *("password", "passwd", "pwd", "passphrase", "pass word", "token", "secret", "ssn", "social security"),
    *("api key", "apikey", "private key", "access key", "hash", "salt", "credit card", "creditcard", "card number"),
    *("cardnumber", "card no", "ccnumber", "cc number", "cvv", "cvc", "iban", "pin", "otp", "passport", "pass hash"),
    *("security answer", "national id", "bank account", "account number", "session id", "cookie", "credential"),
    *("credentials", "passcode", "encrypted"),
)
KEY_WORDS = ("id", "key", "fk", "code", "uuid", "ref")  # at the end of a column's name: it tells things apart
NUMBER_WORDS = ("no", "nr", "num", "number")  # it may
_CONTACTS = frozenset(
    ("phone", "telephone", "tel", "mobile", "fax", "email", "mail", "url", "link", "website", "uuid", "guid", "address")
    + ("street", "postal", "zip", "postcode", "zipcode", "latitude", "longitude", "ip")
)
_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


@cache
def _inflector() -> inflect.engine:
    """The rules of English, loaded when they are needed. Without what checks the types of each of its calls: to compile
    that takes thirty times as long as all the rest of it."""
    import typeguard

    checked = typeguard.typechecked
    typeguard.typechecked = lambda target: target  # type: ignore[assignment]
    try:
        import inflect
    finally:
        typeguard.typechecked = checked  # type: ignore[assignment]
    return inflect.engine()


@cache
def split(identifier: str) -> tuple[str, ...]:
    """The words of an identifier as they stand, in small letters.

    >>> split("UnitPrice"), split("rel_yr"), split("HTTPServer2"), split("billing city"), split("FloorSpaceM2")
    (('unit', 'price'), ('rel', 'yr'), ('http', 'server', '2'), ('billing', 'city'), ('floor', 'space', 'm2'))
    """
    text = "".join(c for c in unicodedata.normalize("NFKD", identifier) if not unicodedata.combining(c))
    parts = re.split(r"[\W_]+", _CAPITAL.sub(" ", text))
    found = [part.lower() for part in parts if part]
    if len(found) > 2 and "".join(found[-2:]) in _UNIT_OF:  # m2
        found[-2:] = ["".join(found[-2:])]
    return tuple(found)


def words(identifier: str) -> str:
    """An identifier as people would say it: prefixes go, abbreviations are written out.

    >>> words("tblCustomers"), words("rel_yr"), words("CustomerId")
    ('customers', 'rel year', 'customer id')
    """
    parts = split(identifier)
    if len(parts) > 1 and parts[0] in _PREFIXES:
        parts = parts[1:]
    elif parts and parts[0].startswith("tbl") and len(parts[0]) > 4:
        parts = (parts[0][3:], *parts[1:])
    return " ".join(_SHORT.get(part, part) for part in parts)


def singular(phrase: str) -> str:
    """A phrase with its last word in the singular.

    >>> singular("invoice lines"), singular("status"), singular("address"), singular("movies")
    ('invoice line', 'status', 'address', 'movie')
    """
    before, _, last = phrase.rpartition(" ")
    if (
        len(last) < 3
        or not last.isascii()
        or not last.isalpha()
        or last.endswith(("ss", "us", "is", "ics", "series", "news"))
    ):
        return phrase
    one = _inflector().singular_noun(last)
    return f"{before} {one}".strip() if one else phrase


def plural(phrase: str) -> str:
    """A phrase in the singular with its last word in the plural.

    >>> plural("invoice line"), plural("category"), plural("series")
    ('invoice lines', 'categories', 'series')
    """
    before, _, last = phrase.rpartition(" ")
    if not last.isascii() or not last.isalpha() or last in ("series", "news", "staff", "equipment", "information"):
        return phrase
    return f"{before} {_inflector().plural_noun(last) or last}".strip()


def article(phrase: str) -> str:
    """A phrase with "a" or "an" before it.

    >>> article("invoice")
    'an invoice'
    """
    return _inflector().a(phrase) if phrase[:1].isascii() and phrase[:1].isalpha() else f"a {phrase}"


def name(phrase: str, taken: Collection[str] = (), *, default: str = "thing") -> str:
    """A name for forms that is not taken yet.

    >>> name("unit price"), name("😀", default="column"), name("unit price", {"unit_price"})
    ('unit_price', 'column', 'unit_price_2')
    """
    made = re.sub(r"\W+", "_", phrase.lower()).strip("_") or default
    made = f"{default}_{made}" if made[0].isdigit() else made
    found, number = made, 2
    while found in taken:
        found, number = f"{made}_{number}", number + 1
    return found


def unit(identifier: str) -> str:
    """The unit a column's name gives away, or "".

    >>> unit("Milliseconds"), unit("UnitPrice"), unit("length_km"), unit("TotalTracks"), unit("min_players")
    ('millisecond', 'money', 'km', '', '')
    >>> unit("dur_min"), unit("price_min")  # minutes, the lowest
    ('minute', '')
    """
    parts = split(identifier)
    if not parts:
        return ""
    found = _UNIT_OF.get(parts[-1], "")
    if parts[-1] == "min" and parts[-2:-1] and parts[-2] in _LASTING:
        return "minute"
    if len(parts) == 1 and (len(parts[0]) == 1 or parts[0] in ("second", "minute", "hour")):
        return ""  # a column called `m` is not in metres, and `minute` says when
    return found or next((_UNIT_OF[part] for part in parts if _UNIT_OF.get(part) in ("usd", "eur", "gbp")), "")


def without_unit(identifier: str) -> str:
    """What a column is called, without the unit at the end of its name where that is abbreviated or a currency, or
    where what is measured stands before it.

    >>> without_unit("length_km"), without_unit("running_minutes"), without_unit("m"), without_unit("duration_hours")
    ('length', 'running minutes', 'm', 'duration')
    >>> without_unit("late_fee")  # a fee is an amount of money, and no unit
    'late fee'
    """
    parts = split(identifier)
    if len(parts) < 2 or unit(identifier) in ("", "money"):
        return words(identifier)
    spare = len(parts[-1]) < 4 or parts[-1] in _MONEY or parts[-2] in _MEASURES
    return words("_".join(parts[:-1])) if spare else words(identifier)


def is_secret(identifier: str) -> bool:
    """Whether a column's name is that of something nobody should be asked about.

    >>> [is_secret(name) for name in ("PasswordHash", "api_key", "user_ssn", "creditCardNo", "Pinterest", "Spin")]
    [True, True, True, True, False, False]
    """
    text = f" {' '.join(split(identifier))} "
    joined = text.replace(" ", "")
    return any(f" {secret} " in text or f" {secret}s " in text for secret in _SECRETS) or any(
        secret in joined for secret in ("password", "passwd", "creditcard", "apikey", "secretkey", "privatekey")
    )


def is_contact(identifier: str) -> bool:
    """Whether a column's values only look like names: numbers to call, addresses to write to.

    >>> is_contact("BillingPostalCode"), is_contact("City")
    (True, False)
    """
    return not _CONTACTS.isdisjoint(split(identifier))


def without_key(parts: Sequence[str]) -> tuple[str, ...]:
    """The words of a foreign key's column without those that only say that it is one.

    >>> without_key(("support", "rep", "id")), without_key(("id",)), without_key(("member", "no"))
    (('support', 'rep'), (), ('member',))
    >>> without_key(("ref", "id"))  # that of a referee, it may be
    ('ref',)
    """
    kept = list(parts)
    while kept and kept[-1] in KEY_WORDS + NUMBER_WORDS and (kept != ["ref"] or len(parts) == 1):
        kept.pop()
    while kept and kept[0] in ("id", "fk"):
        kept.pop(0)
    return tuple(kept)
