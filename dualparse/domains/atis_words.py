"""Forms of ATIS in plain words, so that a person can check what was understood. In: a form. Out: an English phrase.

The phrase is always the same for the same form; no model takes part: "flights from boston to denver, on monday, leaving
after 17:00".
"""

from __future__ import annotations

from collections.abc import Iterator

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import Tree, read

_NOUNS = {
    "flight": "flights",
    "airline": "airlines",
    "airport": "airports",
    "city": "cities",
    "aircraft": "aircraft",
    "ground_transport": "ground transport",
    "rental_car": "rental cars",
    "limousine": "limousines",
    "taxi": "taxis",
    "air_taxi_operation": "air taxis",
    "rapid_transit": "rapid transit",
    "fare": "fares",
    "airline:e": "airlines",
    "abbrev": "abbreviations",
    "time_elapsed": "flight times",
    "ground_fare": "prices",
    "capacity": "capacities",
    "miles_distant": "distances in miles",
    "minutes_distant": "distances in minutes",
    "stop": "stops",
    "to": "destinations",
    "from": "places of departure",
    "services": "places served",
    "meal:t": "meals",
}
_ALONE = {  # of a flight
    "nonstop": "without a stop",
    "connecting": "with a connection",
    "daily": "every day",
    "weekday": "on weekdays",
    "tomorrow": "tomorrow",
    "today": "today",
    "tonight": "tonight",
    "day_after_tomorrow": "the day after tomorrow",
    "tomorrow_arrival": "arriving tomorrow",
    "overnight": "overnight",
    "round_trip": "as a round trip",
    "oneway": "one way",
    "economy": "in economy class",
    "discounted": "at a discount",
    "has_meal": "with a meal",
    "has_stops": "with stops",
    "turboprop": "by turboprop",
    "jet": "by jet",
}
_WITH = {  # of a flight and something else
    "from": "from {}",
    "to": "to {}",
    "from_airport": "from {}",
    "to_city": "to {}",
    "stop": "with a stop in {}",
    "airline": "by {}",
    "airline:e": "by {}",
    "flight_number": "number {}",
    "services": "serving {}",
    "loc:t": "in {}",
    "day": "on {}",
    "day_arrival": "arriving on {}",
    "day_return": "returning on {}",
    "day_number": "on day {}",
    "day_number_arrival": "arriving on day {}",
    "day_number_return": "returning on day {}",
    "month": "in {}",
    "month_arrival": "arriving in {}",
    "arrival_month": "arriving in the month of {}",
    "month_return": "returning in {}",
    "year": "in the year {}",
    "during_day": "in the {}",
    "during_day_arrival": "arriving in the {}",
    "departure_time": "leaving at {}",
    "arrival_time": "arriving at {}",
    "stop_arrival_time": "stopping at {}",
    "approx_departure_time": "leaving around {}",
    "approx_arrival_time": "arriving around {}",
    "approx_return_time": "returning around {}",
    "next_days": "in the next {} days",
    "days_from_today": "{} days from today",
    "after_day": "after {}",
    "before_day": "before {}",
    "class_type": "in {} class",
    "booking_class": "with booking class {}",
    "fare_basis_code": "with fare code {}",
    "meal": "with {}",
    "aircraft": "with the aircraft {}",
    "aircraft_code": "with aircraft {}",
    "manufacturer": "made by {}",
    "fare": "costing {}",
    "ground_fare": "costing {}",
    "cost": "at the cost of {}",
    "stops": "with {} stops",
    "capacity": "with {} seats",
    "time_elapsed": "taking {}",
    "named": "called {}",
    "abbrev": "abbreviated {}",
}
_COMPARED = {
    "departure_time": ("leaving before {}", "leaving after {}"),
    "arrival_time": ("arriving before {}", "arriving after {}"),
    "fare": ("costing less than {}", "costing more than {}"),
    "ground_fare": ("with prices under {}", "with prices over {}"),
}
_BEST = {
    "departure_time": ("leaving earliest", "leaving latest"),
    "arrival_time": ("arriving earliest", "arriving latest"),
    "fare": ("with the lowest fare", "with the highest fare"),
}
_BEFORE = {"min": "lowest of the ", "max": "highest of the ", "count": "number of ", "exists": "whether there are "}
_SEVERAL = ("and", "or")


def say(form: str) -> str:
    """A form in plain words; `LFSyntaxError` for what is no form.

    >>> say("( lambda $0 e ( and ( flight $0 ) ( from $0 boston:ci ) ( < ( arrival_time $0 ) 900:ti ) ) )")
    'flights from boston, arriving before 9:00'
    >>> say("( count $0 ( and ( airline $0 ) ( services $0 pittsburgh:ci ) ) )")
    'number of airlines serving pittsburgh'
    >>> say("( lambda $0 e ( exists $1 ( and ( from $1 boston:ci ) ( oneway $1 ) ( = ( fare $1 ) $0 ) ) ) )")
    'fares of flights from boston, one way'
    """
    return _value(read(form))


def _value(tree: Tree) -> str:
    """What a term stands for."""
    if isinstance(tree, str):
        return _name(tree)
    head, *rest = tree
    if head == "lambda" and len(rest) == 3:
        if isinstance(rest[2], tuple) and rest[2][:1] == ("lambda",):
            return _two(str(rest[0]), rest[2])
        return _things(str(rest[0]), rest[2])
    if head in ("argmin", "argmax", "sum") and len(rest) == 3:
        return _ranked(str(head), str(rest[0]), rest[1], rest[2])
    if head in ("min", "max", "count", "the", "exists") and len(rest) == 2:
        word = {
            "min": "lowest of the ",
            "max": "highest of the ",
            "count": "number of ",
            "exists": "whether there are ",
        }
        return word.get(str(head), "") + _things(str(rest[0]), rest[1])
    if head in ("=", "<", ">") and len(rest) == 2:
        compared = {"=": "is", "<": "is under", ">": "is over"}[str(head)]
        return f"whether {_value(rest[0])} {compared} {_value(rest[1])}"
    if head in _SEVERAL:
        return f" {head} ".join(map(_value, rest))
    if head == "not" and len(rest) == 1:
        return f"not {_value(rest[0])}"
    if len(rest) == 1 and head in _ALONE:
        return f"whether {_value(rest[0])} are {_ALONE[str(head)]}"
    if len(rest) == 1:
        return f"{_plain(head)} of {_value(rest[0])}"
    return f"whether {_value(rest[0])} are {_clause(str(head), ' and '.join(map(_value, rest[1:])))}" if rest else ""


def _things(variable: str, body: Tree) -> str:
    """All that a variable may stand for, as a phrase in the plural."""
    parts = list(_hoisted(body))
    if len(parts) == 1 and isinstance(parts[0], tuple) and parts[0][:1] == ("or",):
        return " or ".join(_things(variable, each) for each in parts[0][1:])
    kinds = [str(part[0]) for part in parts if _is_unary(part, variable) and part[0] not in _ALONE]
    noun = _noun(kinds[0]) if kinds else ""
    said = [_said(part, variable) for part in parts if not (kinds and part == (kinds[0], variable))]
    said = [each for each in said if each]
    if not noun and len(said) == 1 and said[0].startswith("that are "):
        return said[0].removeprefix("that are ").removeprefix("the ")
    places = [each for each in said if each.startswith(("from ", "to "))]
    others = [each for each in said if each not in places]
    noun = noun or ("flights" if places else "what is" if others else "everything")
    first = " ".join([noun, *places])
    return ", ".join([first, *others]) if places else " ".join([first, ", ".join(others)]).strip()


def _said(part: Tree, variable: str) -> str:
    """One condition on what a variable stands for."""
    if isinstance(part, str):
        return _name(part)
    head, rest = str(part[0]), part[1:]
    if head in _SEVERAL:
        inner = [_said(each, variable) for each in rest]
        return f" {head} ".join(f"({each})" if " or " in each or " and " in each else each for each in inner)
    if head == "not" and len(rest) == 1:
        return f"not {_said(rest[0], variable)}"
    if head == "exists" and len(rest) == 2:
        return _through(*_unwrapped(part), variable)
    if _is_unary(part, variable):
        return _ALONE.get(head) or f"that are {_noun(head)}"
    if head in ("<", ">", "=") and len(rest) == 2:
        return _related(head, rest[0], rest[1], variable)
    if len(rest) == 2 and rest[0] == variable:
        return _clause(head, _value(rest[1]))
    if len(rest) == 2 and rest[1] == variable:
        return f"that are the {_noun(head)} of {_value(rest[0])}"
    return f"where {_value(part).removeprefix('whether ')}"


def _related(op: str, left: Tree, right: Tree, variable: str) -> str:
    """A comparison: of a figure of the thing, or of the thing itself."""
    if op == "=" and variable in (left, right):
        other = right if left == variable else left
        if isinstance(other, tuple) and len(other) == 2:
            return f"that are the {_noun(str(other[0]))} of {_value(other[1])}"
        return f"that are the {_value(other)}"
    if isinstance(left, tuple) and len(left) == 2 and left[1] == variable:
        value, about = _value(right), str(left[0])
        if op == "=":
            return _clause(about, value)
        words = _COMPARED.get(about, (f"whose {_plain(about)} is under {{}}", f"whose {_plain(about)} is over {{}}"))
        return words[op == ">"].format(value)
    return f"where {_value((op, left, right)).removeprefix('whether ')}"


def _through(others: tuple[str, ...], parts: tuple[Tree, ...], variable: str) -> str:
    """A condition by way of other things: "that are the fares of flights from boston", "with their fare"."""
    said: list[str] = []
    left = list(others)
    for other in others:  # figures of the thing itself
        figure = _figure(other, parts, variable)
        if figure:
            left.remove(other)
            said.append(f"with their {_plain(figure)}")
    for other in [each for each in left if _figure(variable, parts, each)]:  # the thing is a figure of another
        figures = [each for each in left if each != other and _figure(each, parts, other)]
        left = [each for each in left if each != other and each not in figures]
        rest = [each for each in parts if not any(_holds(each, one) for one in (variable, *figures, *left))]
        nouns = [_noun(_figure(each, parts, other)) for each in (variable, *figures)]
        said.append(f"that are the {' and '.join(nouns)} of {_things(other, ('and', *rest))}")
    for other in left:
        own = [each for each in parts if _holds(each, other)]
        links = [each for each in own if _holds(each, variable)]
        things = _things(other, ("and", *(each for each in own if each not in links)))
        told = [_clause(str(each[0]), things) for each in links if each[1:] == (variable, other)]
        said.append(", ".join(told) or f"together with {things}")
    return ", ".join(said)


def _figure(value: str, parts: tuple[Tree, ...], thing: str) -> str:
    """What a variable is of a thing, where nothing else is said of it: "fare" for `( = ( fare $1 ) $0 )`; else ""."""
    held = [part for part in parts if _holds(part, value)]
    if len(held) != 1 or not isinstance(held[0], tuple) or len(held[0]) != 3:
        return ""
    head, left, right = held[0]
    if head == "=":
        term = left if right == value else right
        return str(term[0]) if isinstance(term, tuple) and term[1:] == (thing,) else ""
    return str(head) if (left, right) == (thing, value) else ""


def _hoisted(body: Tree) -> Iterator[Tree]:
    """Conditions, with those in the scope of other variables that do not speak of them in front."""
    for part in _parts(body):
        others, inner = _unwrapped(part)
        if not others:
            yield part
            continue
        free = [each for each in inner if not any(_holds(each, other) for other in others)]
        yield from free
        rest: Tree = ("and", *(each for each in inner if each not in free))
        for other in reversed(others):
            rest = ("exists", other, rest)
        yield rest


def _unwrapped(part: Tree) -> tuple[tuple[str, ...], tuple[Tree, ...]]:
    """The variables a condition brings in, and the conditions in their scope."""
    others: list[str] = []
    while isinstance(part, tuple) and part[:1] in (("exists",), ("lambda",)) and len(part) > 2:
        others.append(str(part[1]))
        part = part[-1]
    return tuple(others), tuple(_parts(part))


def _two(variable: str, inner: Tree) -> str:
    """Things, and something about each."""
    second, body = str(inner[1]), inner[3] if len(inner) > 3 else ("and",)
    parts = list(_parts(body))
    about = [part for part in parts if _holds(part, second)]
    own = _things(variable, ("and", *(part for part in parts if part not in about)))
    told = [_of_each(part, variable, second) for part in about]
    return f"{own} and for each {' and '.join(told)}"


def _of_each(part: Tree, variable: str, second: str) -> str:
    if isinstance(part, tuple) and part[0] == "=" and second in part[1:]:
        other = part[1] if part[2] == second else part[2]
        if isinstance(other, tuple) and other[1:] == (variable,):
            return f"the {_plain(other[0])}"
        return f"the {_value(other)}"
    if isinstance(part, tuple) and part[1:] == (variable, second):
        return f"the {_plain(part[0])}"
    return _said(part, second)


def _ranked(head: str, variable: str, body: Tree, by: Tree) -> str:
    things = _things(variable, body)
    about = _plain(by[0]) if isinstance(by, tuple) else _value(by)
    if head == "sum":
        return f"total {about} of {things}"
    known = _BEST.get(str(by[0])) if isinstance(by, tuple) and by[1:] == (variable,) else None
    word = known[head == "argmax"] if known else f"with the {'lowest' if head == 'argmin' else 'highest'} {about}"
    return f"{things}, {word}"


def _parts(body: Tree) -> Iterator[Tree]:
    """The conditions of a conjunction, those of conjunctions in it included."""
    if isinstance(body, tuple) and body[:1] == ("and",):
        for part in body[1:]:
            yield from _parts(part)
    else:
        yield body


def _is_unary(part: Tree, variable: str) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and part[1] == variable


def _holds(part: Tree, variable: str) -> bool:
    return part == variable or (isinstance(part, tuple) and any(_holds(each, variable) for each in part))


def _clause(head: str, value: str) -> str:
    if head in ("during_day", "during_day_arrival") and value in ("night", "daily", "late night"):
        return f"{'arriving ' if head.endswith('arrival') else ''}at {value}"
    return _WITH.get(head, f"whose {_plain(head)} is {{}}").format(value)


def _noun(head: str) -> str:
    return _NOUNS.get(head) or f"{_plain(head)}s"


def _plain(head: Tree) -> str:
    if not isinstance(head, str):
        raise LFSyntaxError("a predicate is a name")
    return head.partition(":")[0].replace("_", " ")


def _name(atom: str) -> str:
    """A constant as people write it.

    >>> _name("san_francisco:ci"), _name("1730:ti"), _name("200:do"), _name("ci0"), _name("$0")
    ('san francisco', '17:30', '$200', 'ci0', 'it')
    """
    if atom.startswith("$"):
        return "it"
    front, _, kind = atom.partition(":")
    if kind == "ti" and front.isdigit() and len(front) < 5:
        return f"{int(front) // 100}:{int(front) % 100:02}"
    return f"${front}" if kind == "do" else front.replace("_", " ")
