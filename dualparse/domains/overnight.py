"""OVERNIGHT: eight small domains whose forms run over worlds made by a fixed random generator.

In: a domain's name, and the folder with its files. Out: its `World`, its executor, its `Domain`. The worlds need no
files: they are drawn here exactly as the original evaluator draws them, with the algorithm of `java.util.Random`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from dualparse.domains.answers import Answers
from dualparse.domains.domain import Domain
from dualparse.domains.functions import sempre
from dualparse.domains.lexicon import read_lexicon
from dualparse.domains.metrics import denotation
from dualparse.domains.registry import Family
from dualparse.domains.world import World
from dualparse.domains.world_rules import sempre_rules
from dualparse.fetch.benchmarks import dataset, require
from dualparse.lf.execute import Executor
from dualparse.lf.sexpr import read, write
from dualparse.lf.values import TRUE, Value, date, name, number, time

INSTANCES = 60  # of the class a domain is about, and of each class of events

T = TypeVar("T")


class JavaRandom:
    """The generator of `java.util.Random`: 48-bit linear congruential, as its documentation defines it.

    >>> draw = JavaRandom(1)
    >>> [draw.below(1000) for _ in range(5)]
    [985, 588, 847, 313, 254]
    """

    def __init__(self, seed: int):
        self._state = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def _bits(self, bits: int) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        return self._state >> (48 - bits)

    def below(self, bound: int) -> int:
        """0 <= x < bound."""
        if bound & (bound - 1) == 0:
            return (bound * self._bits(31)) >> 31
        while True:
            bits = self._bits(31)
            if bits - bits % bound + bound - 1 < 1 << 31:  # the last, incomplete block of bounds is drawn again
                return bits % bound

    def unit(self) -> float:
        """0 <= x < 1."""
        return ((self._bits(26) << 27) + self._bits(27)) / (1 << 53)

    def int(self, low: int, high: int) -> int:
        """low <= x < high."""
        return low + self.below(high - low)

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def focus(self, choices: Sequence[T]) -> T:
        """The first one, half of the time."""
        return choices[0] if self.coin() else self.pick(choices)

    def coin(self) -> bool:
        return self.unit() < 0.5

    def year(self) -> Value:
        return date(self.int(2000, 2010))


class _Maker:
    """A world in the making: entities by class, facts about one entity after the other."""

    def __init__(self) -> None:
        self.world, self.draw = World(overwrite_types=True), JavaRandom(1)

    def make(self, kind: str, names: str = "", *, count: int = 0) -> list[str]:
        """Ids of a class: the named ones first, then numbered by index up to `count`. Draws nothing."""
        ids = [f"en.{kind}.{label}" for label in names.split()]
        ids += [f"en.{kind}.{index}" for index in range(len(ids), count)]
        for id in ids:
            self.world.entity(id)
        return ids

    def tell(self, subject: str, property: str, value: str | Value) -> None:
        self.world.add(subject, property, value if isinstance(value, Value) else name(value))

    def amount(self, subject: str, property: str, low: int, high: int, unit: str) -> None:
        self.tell(subject, property, number(self.draw.int(low, high), unit))

    def coins(self, subject: str, properties: str) -> None:
        for property in properties.split():
            if self.draw.coin():
                self.tell(subject, property, TRUE)


def _blocks(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    blocks = maker.make("block", "block1 block2", count=INSTANCES)
    shapes, colors = maker.make("shape", "pyramid cube"), maker.make("color", "red green")
    for block in blocks:
        tell(block, "shape", draw.pick(shapes))
        tell(block, "color", draw.pick(colors))
        for property in ("length", "width", "height"):
            maker.amount(block, property, 2, 8, "en.inch")
        for property in ("left", "right", "above", "below"):
            tell(block, property, draw.pick(blocks))
        maker.coins(block, "is_special")


def _calendar(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    meetings = maker.make("meeting", "weekly_standup annual_review", count=INSTANCES)
    people, locations = maker.make("person", "alice bob"), maker.make("location", "greenberg_cafe central_office")
    for meeting in meetings:
        tell(meeting, "date", date(2015, 1, draw.int(1, 5)))
        tell(meeting, "start_time", time(draw.int(9, 16)))
        tell(meeting, "end_time", time(draw.int(9, 16)))
        maker.amount(meeting, "length", 1, 4, "en.hour")
        tell(meeting, "attendee", draw.pick(people))
        tell(meeting, "attendee", draw.pick(people))
        tell(meeting, "location", draw.pick(locations))
        maker.coins(meeting, "is_important")


def _restaurants(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    restaurants = maker.make("restaurant", "thai_cafe pizzeria_juno", count=INSTANCES)
    neighborhoods = maker.make("neighborhood", "tribeca midtown_west chelsea")
    cuisines, foods = maker.make("cuisine", "thai french italian"), maker.make("food", "breakfast lunch dinner")
    for restaurant in restaurants:
        maker.amount(restaurant, "star_rating", 0, 6, "en.star")
        maker.amount(restaurant, "price_rating", 1, 5, "en.dollar_sign")
        maker.amount(restaurant, "num_reviews", 20, 60, "en.review")
        tell(restaurant, "neighborhood", draw.pick(neighborhoods))
        tell(restaurant, "cuisine", draw.pick(cuisines))
        for food in foods:
            if draw.coin():
                tell(restaurant, "meals", food)
        maker.coins(restaurant, "reserve credit outdoor takeout delivery waiter kids groups")


def _housing(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    units = maker.make("housing_unit", "123_sesame_street 900_mission_ave", count=INSTANCES)
    kinds = maker.make("housing", "apartment condo house flat")
    neighborhoods = maker.make("neighborhood", "tribeca midtown_west chelsea")
    for unit in units:
        tell(unit, "rent", number(draw.pick([1500, draw.int(1000, 3000)]), "en.dollar"))
        tell(unit, "size", number(draw.pick([800, draw.int(500, 1500)]), "en.square_feet"))
        tell(unit, "posting_date", draw.year())
        tell(unit, "neighborhood", draw.pick(neighborhoods))
        tell(unit, "housing_type", draw.pick(kinds))
        maker.coins(unit, "allows_cats allows_dogs has_private_bath has_private_room")


def _publications(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    articles = maker.make("article", "multivariate_data_analysis", count=INSTANCES)
    people = maker.make("person", "efron lakoff")
    venues = maker.make("venue", "computational_linguistics annals_of_statistics")
    for article in articles:
        tell(article, "author", draw.pick(people))
        tell(article, "author", draw.pick(people))
        tell(article, "venue", draw.pick(venues))
        tell(article, "publication_date", draw.year())
        for _ in range(draw.int(1, 10)):
            tell(article, "cites", draw.pick(articles))
        tell(article, "won_award", TRUE)


def _socialnetwork(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    people = maker.make("person", "alice bob", count=INSTANCES)
    genders = maker.make("gender", "male female")
    statuses = maker.make("relationship_status", "single married")
    cities = maker.make("city", "new_york beijing")
    universities = maker.make("university", "brown berkeley ucla")
    fields = maker.make("field", "computer_science economics history")
    companies = maker.make("company", "google mckinsey toyota")
    jobs = maker.make("job_title", "ceo software_engineer program_manager")
    for person in people:
        tell(person, "gender", draw.pick(genders))
        tell(person, "relationship_status", draw.pick(statuses))
        maker.amount(person, "height", 150, 210, "en.cm")
        tell(person, "birthdate", draw.year())
        tell(person, "birthplace", draw.pick(cities))
        for _ in range(draw.int(0, 3)):
            tell(person, "friend", draw.pick(people))
        maker.coins(person, "logged_in")
    for education in maker.make("education", count=INSTANCES):
        tell(education, "student", draw.focus(people))
        tell(education, "university", draw.pick(universities))
        tell(education, "field_of_study", draw.pick(fields))
        tell(education, "education_start_date", draw.year())
        tell(education, "education_end_date", draw.year())
    for employment in maker.make("employment", count=INSTANCES):
        tell(employment, "employee", draw.focus(people))
        tell(employment, "employer", draw.pick(companies))
        tell(employment, "job_title", draw.pick(jobs))
        tell(employment, "employment_start_date", draw.year())
        tell(employment, "employment_end_date", draw.year())


def _basketball(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    players = maker.make("player", "kobe_bryant lebron_james", count=INSTANCES)
    teams, positions = maker.make("team", "lakers cavaliers"), maker.make("position", "point_guard forward")
    for stats in maker.make("stats", count=INSTANCES):
        tell(stats, "player", draw.focus(players))
        tell(stats, "position", draw.pick(positions))
        tell(stats, "team", draw.pick(teams))
        tell(stats, "season", draw.year())
        for unit in ("point", "assist", "steal", "turnover", "rebound", "block", "foul"):
            maker.amount(stats, f"num_{unit}s", 0, 10, unit)
        maker.amount(stats, "num_games_played", 0, 10, "game")


def _recipes(maker: _Maker) -> None:
    draw, tell = maker.draw, maker.tell
    recipes = maker.make("recipe", "rice_pudding quiche", count=INSTANCES)
    cuisines, ingredients = maker.make("cuisine", "chinese french"), maker.make("ingredient", "milk spinach")
    meals = maker.make("meal", "lunch dinner")
    for recipe in recipes:
        maker.amount(recipe, "preparation_time", 5, 30, "en.minute")
        maker.amount(recipe, "cooking_time", 5, 30, "en.minute")
        tell(recipe, "cuisine", draw.pick(cuisines))
        tell(recipe, "requires", draw.pick(ingredients))
        tell(recipe, "meal", draw.pick(meals))
        tell(recipe, "posting_date", draw.year())


_MAKERS: dict[str, Callable[[_Maker], None]] = {
    "basketball": _basketball,
    "blocks": _blocks,
    "calendar": _calendar,
    "housing": _housing,
    "publications": _publications,
    "recipes": _recipes,
    "restaurants": _restaurants,
    "socialnetwork": _socialnetwork,
}
DOMAINS = tuple(_MAKERS)


@cache
def world(name: str) -> World:
    """The world of a domain, the same object every time; it must not be changed.

    >>> len(world("blocks").instances("en.block"))
    60
    """
    maker = _Maker()
    _MAKERS[name](maker)
    return maker.world


def executor(name: str) -> Executor:
    """The executor of a domain, which remembers no form.

    >>> executor("blocks").execute("( call SW.listValue ( call SW.getProperty en.block.block1 ( string shape ) ) )")
    '(list (name en.shape.cube))'
    """
    return sempre(world(name))


def normalize(text: str) -> str:
    """The form as one spelling: order is part of an OVERNIGHT form, so nothing is sorted."""
    return write(read(text))


def load(name: str, folder: Path) -> Domain:
    """A domain with its files from the benchmark's folder. It has no dev file: dev is drawn from train."""
    answers = Answers(executor(name))
    grammar = folder / "grammars" / f"{name}.grammar"
    return Domain(
        name=name,
        title=f"OVERNIGHT {name}",
        lexicon=read_lexicon(folder / f"{name}_lexicon.txt"),
        check=answers.check,
        execute=answers.execute,
        fresh=answers.fresh,
        normalize=normalize,
        files={split: folder / f"{name}_{split}.tsv" for split in ("train", "test", "extra")},
        metric=denotation,
        grammar=grammar if grammar.is_file() else None,
        world=world(name),
        guide=partial(sempre_rules, world(name)),
    )


FAMILY = Family(
    name="overnight",
    title="OVERNIGHT, eight small domains",
    names=DOMAINS,
    open=lambda name: load(name, require("overnight")),
    dataset=dataset("overnight"),
)
