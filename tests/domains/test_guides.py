"""Guides of the domains: every form of the data is allowed, and whatever else they lead to is of the right types."""

from __future__ import annotations

import random
import re

import pytest
from walks import refused, step, wander

from dualparse.domains.domain import Domain
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import open_domain
from dualparse.domains.world import World
from dualparse.domains.world_rules import plain_rules, sempre_rules
from dualparse.lf.guide import Guide
from dualparse.lf.values import TRUE, number
from dualparse.lf.values import name as named

# What only running can tell, of forms whose types are right; and where anything may be asked of what a filter leaves.
BY_ACCIDENT = re.compile(
    r"nothing has a value|lists are equal|of nothing|no '\S+' to co|empty list|not a number|must be .* not nothing"
)
OF_A_FILTER = re.compile(r"values of '\S+' have type|is a property of")


def forms_of(domain: Domain, *splits: str) -> list[list[str]]:
    lines = [
        line
        for split in splits
        if split in domain.files
        for line in domain.files[split].read_text(encoding="utf-8").splitlines()
    ]
    return [line.split("\t")[1].split() for line in lines]


def guide_of(domain: Domain, *splits: str) -> tuple[Guide, set[str], list[list[str]]]:
    forms = forms_of(domain, *splits)
    tokens = {token for form in forms for token in form}
    assert domain.guide is not None
    return domain.guide(tokens), tokens, forms


@pytest.mark.parametrize("name", ["trails", *DOMAINS, "atis"])
def test_every_form_of_the_data_is_allowed_token_by_token(name, request):
    if name != "trails":
        request.getfixturevalue("benchmark_data")
    domain = open_domain(name)
    guide, _, forms = guide_of(domain, "train", "dev", "test")
    valid = [form for form in forms if domain.check(" ".join(form)).ok]
    assert len(valid) > 100 and len(valid) > 0.99 * len(forms)
    assert [where for form in valid if (where := refused(guide, form))] == []


@pytest.mark.parametrize("name", ["trails", "blocks", "socialnetwork", "atis"])
@pytest.mark.parametrize("longest", [20, 60])
def test_random_walks_end_in_forms_of_the_right_types(name, longest, request):
    if name != "trails":
        request.getfixturevalue("benchmark_data")
    domain, rng = open_domain(name), random.Random(longest)
    guide, tokens, _ = guide_of(domain, "train", "dev", "test")
    if guide.start().need > longest:
        pytest.skip("no form is as short")
    reasons = []
    for _ in range(200):
        form = wander(guide, tokens, rng, longest=longest)
        if form is None and name == "atis":
            continue  # an ontology's guide estimates how far the end is; see below
        assert form is not None and len(form) <= longest
        verdict = domain.check(" ".join(form))
        if not verdict.ok:
            assert verdict.surface
            reasons.append(verdict.reason)
    allowed = [BY_ACCIDENT, *([OF_A_FILTER] if name in DOMAINS else [])]
    assert [reason for reason in reasons if not any(some.search(reason) for some in allowed)] == []
    assert not (reasons and name == "atis")


def test_hardly_a_walk_by_an_ontology_has_no_next_step(benchmark_data):
    domain, rng = open_domain("atis"), random.Random(0)
    guide, tokens, _ = guide_of(domain, "train")
    walks = [wander(guide, tokens, rng, longest=30) for _ in range(400)]
    assert walks.count(None) <= 4


def small_world() -> World:
    world = World()
    world.add("trail.larch_path", "start", named("village.orsaz"))
    world.add("trail.larch_path", "length", number(7, "km"))
    world.add("trail.larch_path", "loop", TRUE)
    return world


@pytest.mark.parametrize(
    ("rules", "beginning", "expected"),
    [
        (plain_rules, "( get ( all trail )", {"start", "length", "loop"}),
        (plain_rules, "( argmax ( all trail )", {"length"}),
        (plain_rules, "( argmax_count ( all trail )", {"start", "loop"}),
        (plain_rules, "( filter ( all trail ) loop", {")", "=", "!="}),
        (plain_rules, "( filter ( all trail ) length <", {"(", "<km_number>"} - {"<km_number>"}),
        (plain_rules, "( or trail.larch_path", {"(", "<trail>"}),
        (plain_rules, "( count ( all", {"trail", "village"}),
        (plain_rules, "( sum ( all trail )", {"length"}),
        (sempre_rules, "( call SW.listValue ( call SW.getProperty trail ( string ! type ) )", {")"}),
        (
            sempre_rules,
            "( call SW.listValue ( call SW.getProperty trail.larch_path ( string",
            {"start", "length", "loop"},
        ),
        (sempre_rules, "( call SW.listValue ( call SW.getProperty ( ( lambda s ( call SW.filter ( var", {"s"}),
        (
            sempre_rules,
            "( call SW.listValue ( call SW.superlative ( call SW.domain ( string loop ) ) ( string",
            {"max", "min"},
        ),
    ],
)
def test_what_may_come_next_follows_from_the_types(rules, beginning, expected):
    guide = rules(small_world())
    place = guide.start()
    for token in beginning.split():
        place = step(guide, place, token)
        assert place is not None, token
    assert set(place.moves()) == expected


def test_the_variable_of_a_lambda_gets_an_argument_of_its_type():
    guide = sempre_rules(small_world())
    body = "( call SW.filter ( var s ) ( string length ) ( string < ) ( number 3 km ) )"
    right = f"( call SW.listValue ( ( lambda s {body} ) ( call SW.domain ( string loop ) ) ) )"
    assert refused(guide, right.split()) == ""
    assert refused(guide, right.replace("string loop", "string !start").split()).endswith("!start")


def test_no_end_depends_on_words_that_cannot_be_written():
    """Only a copied name could end the form; without it there is no way to any village."""
    tokens = ["(", ")", "get", "filter", "start"]
    assert plain_rules(small_world(), tokens).start().need > 100
    assert plain_rules(small_world(), [*tokens, "trail.larch_path"]).start().need == 1
