"""Names and numbers become placeholders, and what a question names fills them."""

from __future__ import annotations

import pytest

from dualparse.domains.lexicon import Lexicon
from dualparse.domains.registry import open_domain
from dualparse.matching.placeholders import NUMBER, Placeholders, filled

HUTS = ("marmot", "ibex", "eagle", "wolf", "fox", "bear")


def words(text: str) -> list[str]:
    return text.split()


@pytest.fixture(scope="module")
def places() -> Placeholders:
    entries = [((name, "hut"), f"hut.{name}") for name in HUTS]
    return Placeholders(Lexicon([*entries, (("winter",), "season.winter"), (("summer",), "season.summer")]))


def forms(places: Placeholders, form: str, utterance: str, question: str) -> list[str]:
    return [made for made, _ in filled(places.template(form, utterance), places.of_question(words(question)))]


def test_a_name_and_a_number_become_placeholders_and_words_of_few_do_not(places):
    masked = places.of_question(words("in winter does the ibex hut have over 20 beds"))
    assert masked.text == "in winter does the [hut] have over [number] beds"
    assert masked.stood == {"[hut]": ("hut.ibex",), NUMBER: ("20",)}


def test_a_template_is_filled_with_what_the_question_names(places):
    form = "( filter ( all hut ) beds > ( number 20 bed ) )"
    template = places.template(form, "huts that have more than 20 beds")
    assert template.text == "huts that have more than [number] beds"
    assert places.key(form) == template.form == "( filter ( all hut ) beds > ( number [number] bed ) )"
    assert forms(places, form, "huts that have more than 20 beds", "huts with over three hundred beds") == [
        "( filter ( all hut ) beds > ( number 300 bed ) )"
    ]


def test_two_names_fill_in_both_orders_that_of_the_question_first(places):
    form, said = "( more ( beds hut.ibex ) ( beds hut.fox ) )", "is the ibex hut larger than the fox hut"
    template = places.template(form, said)
    found = list(filled(template, places.of_question(words("does the bear hut beat the wolf hut"))))
    assert found == [
        ("( more ( beds hut.bear ) ( beds hut.wolf ) )", True),
        ("( more ( beds hut.wolf ) ( beds hut.bear ) )", False),
    ]


def test_the_places_of_a_form_follow_its_utterance(places):
    form, said = "( more ( beds hut.ibex ) ( beds hut.fox ) )", "is the fox hut smaller than the ibex hut"
    found = list(filled(places.template(form, said), places.of_question(words("bear hut smaller than the wolf hut"))))
    assert found[0] == ("( more ( beds hut.wolf ) ( beds hut.bear ) )", True)


def test_a_question_that_names_too_little_fills_nothing(places):
    assert forms(places, "( beds hut.ibex )", "beds of the ibex hut", "how many beds are there") == []


def test_one_is_a_number_where_one_is_wanted(places):
    form, said = "( filter_count ( all trail ) passes >= 2 )", "trails that pass at least 2 huts"
    assert forms(places, form, said, "trails with at least one hut") == ["( filter_count ( all trail ) passes >= 1 )"]
    assert places.of_question(words("which one is it")).stood == {}


def test_years_are_numbers_and_days_and_nothing_are_not(places):
    assert NUMBER in places.key("( opened ( date 1950 -1 -1 ) )")
    for form in ("( on ( date 2015 1 2 ) )", "( at ( time 10 30 ) )", "( filter_count ( all trail ) passes = 0 )"):
        assert places.key(form) == form


def test_without_names_to_find_everything_stays_as_it_is():
    places = Placeholders(None)
    assert places.of_question(["over", "20", "beds"]).text == "over 20 beds"
    assert places.template("( beds 20 )", "20 beds").text == "20 beds" and places.key("( beds 20 )") == "( beds 20 )"


def test_dev_questions_of_the_embedded_domain_name_all_that_their_forms_need():
    from dualparse.data.examples import load_examples

    domain = open_domain("trails")
    places, fit = Placeholders(domain.lexicon), 0
    dev = load_examples(domain, dev_seed=1).dev
    for example in dev:
        form = " ".join(example.lf or ())
        said = {what for stood in places.of_question(example.query or ()).stood.values() for what in stood}
        wanted = {token for token in form.split() if places.key(token) != token}
        fit += wanted <= said | {"1"}
    assert fit == len(dev)
