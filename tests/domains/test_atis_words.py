"""Forms of ATIS in plain words."""

from __future__ import annotations

import pytest

from dualparse.domains.atis_words import say

FLIGHT = "( flight $0 ) ( from $0 boston:ci ) ( to $0 denver:ci )"
SAID = {
    f"( lambda $0 e ( and {FLIGHT} ) )": "flights from boston to denver",
    "( lambda $0 e ( and ( from $0 boston:ci ) ( to $0 denver:ci ) ) )": "flights from boston to denver",
    f"( lambda $0 e ( and {FLIGHT} ( nonstop $0 ) ( > ( departure_time $0 ) 1700:ti ) ) )": (
        "flights from boston to denver, without a stop, leaving after 17:00"
    ),
    f"( lambda $0 e ( and {FLIGHT} ( or ( day $0 monday:da ) ( day $0 friday:da ) ) ) )": (
        "flights from boston to denver, on monday or on friday"
    ),
    f"( lambda $0 e ( and {FLIGHT} ( not ( stop $0 chicago:ci ) ) ) )": (
        "flights from boston to denver, not with a stop in chicago"
    ),
    f"( argmin $0 ( and {FLIGHT} ) ( fare $0 ) )": "flights from boston to denver, with the lowest fare",
    f"( count $0 ( and {FLIGHT} ) )": "number of flights from boston to denver",
    "( lambda $0 e ( and ( airline $0 ) ( exists $1 ( and ( flight $1 ) ( to $1 boston:ci ) "
    "( airline $1 $0 ) ) ) ) )": ("airlines that are the airlines of flights to boston"),
    "( lambda $0 e ( exists $1 ( and ( oneway $1 ) ( from $1 boston:ci ) ( = ( fare $1 ) $0 ) ) ) )": (
        "fares of flights from boston, one way"
    ),
    f"( lambda $0 e ( exists $1 ( and {FLIGHT} ( = ( fare $0 ) $1 ) ) ) )": (
        "flights from boston to denver, with their fare"
    ),
    "( lambda $0 e ( exists $1 ( exists $2 ( and ( flight $2 ) ( to $2 boston:ci ) ( = ( airline:e $2 ) $0 ) "
    "( = ( flight_number $2 ) $1 ) ) ) ) )": "airlines and flight numbers of flights to boston",
    "( lambda $0 e ( exists $1 ( and ( flight $0 ) ( to $0 boston:ci ) ( flight $1 ) ( from $1 boston:ci ) ) ) )": (
        "flights to boston, together with flights from boston"
    ),
    "( capacity boeing:mf )": "capacity of boeing",
    "boston:ci": "boston",
}


@pytest.mark.parametrize("form", SAID)
def test_forms_are_said_in_plain_words(form):
    assert say(form) == SAID[form]
