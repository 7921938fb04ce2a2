"""What a run makes of questions: an answer, readings to choose from, a refusal with its reason."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dualparse.asking.evidence import Candidate, options_of
from dualparse.asking.runs import RunAsker
from dualparse.asking.saying import Sayer, own_words
from dualparse.asking.trust import Trust
from dualparse.asking.weighing import Scales, Weighed
from dualparse.asking.yes_no import yes_no
from dualparse.choosing.ranking import Hypothesis
from dualparse.config import make_recipe
from dualparse.domains.registry import open_domain
from dualparse.domains.text import Reading

TRAILS = open_domain("trails")
SHOWERS, WIFI = "( filter ( all hut ) has_showers )", "( filter ( all hut ) has_wifi )"


class Stub:
    """A parser that finds what it is told: words -> (forms with log-probabilities, probability, topic)."""

    domain = TRAILS
    recipe = make_recipe({"domain": "trails"})

    def __init__(self, **found: tuple[dict[str, float], float, float]):
        self.found = {text.replace("_", " "): told for text, told in found.items()}
        self.scales = Scales(TRAILS, Trust(cut=0.8, topic_cut=0.3), dev_seed=1)

    def read(self, question: str) -> Reading:
        words = tuple(question.lower().split())
        return Reading(words, tuple(question.split()), ())

    def weigh(self, readings: Sequence[Reading]) -> list[Weighed]:
        return [self._weighed(reading) for reading in readings]

    def _weighed(self, reading: Reading) -> Weighed:
        forms, probability, topic = self.found.get(" ".join(reading.words), ({}, 0.0, 1.0))
        told = [Candidate(f, self.domain.check(f).ok, self.scales._comes_to(f), p, 5) for f, p in forms.items()]
        strange = tuple(self.scales.familiar.strange(reading.words))
        return Weighed(reading, tuple(options_of(told)), probability, topic, strange, {})


def ask(question: str, **found: tuple[dict[str, float], float, float]):
    return RunAsker(Stub(**found)).ask(question)


def test_a_likely_reading_is_answered_with_values_beside_and_in_plain_words():
    reply = ask(
        "huts above 2500", huts_above_2500=({"( filter ( all hut ) elevation > ( number 2500 m ) )": -0.1}, 0.9, 1)
    )
    assert reply.status == "answered" and reply.probability == 0.9
    assert reply.said == "huts whose elevation is over 2500 m"
    assert reply.columns == ("hut", "elevation") and reply.units == ("", "m")
    assert ("ibex hut", 2630) in reply.rows


def test_what_is_below_the_cut_is_asked_back_with_readings_in_words():
    reply = ask("huts with comfort", huts_with_comfort=({SHOWERS: -0.5, WIFI: -1.0, "( all hut )": -3.0}, 0.5, 1))
    assert reply.status == "ambiguous" and reply.rows == ()
    assert [choice.said for choice in reply.choices] == ["huts that have showers", "huts that have wifi", "huts"]
    chances = [choice.probability for choice in reply.choices]
    assert chances == sorted(chances, reverse=True) and sum(chances) <= 1
    chosen = RunAsker(Stub()).run(reply.choices[1].form, "huts with comfort")
    assert chosen.status == "answered" and chosen.probability == 1.0 and chosen.said == "huts that have wifi"


def test_what_nobody_would_mean_is_no_choice():
    reply = ask("huts with comfort", huts_with_comfort=({SHOWERS: -0.5, WIFI: -1.0, "( all hut )": -9.0}, 0.5, 1))
    assert [choice.said for choice in reply.choices] == ["huts that have showers", "huts that have wifi"]


def found(form: str, log_prob: float, **parts: float) -> Hypothesis:
    return Hypothesis(tuple(form.split()), log_prob, 0.0, True, parts=tuple(parts.items()))


def test_what_a_matcher_says_counts_in_which_answer_is_likeliest():
    scales, reading = Scales(TRAILS, Trust(), dev_seed=1), Reading(("showers",), ("showers",), ())
    alone = scales.weigh(reading, [found(SHOWERS, -1.0), found(WIFI, -2.0)], [None, None])
    assert alone.options[0].form == SHOWERS
    forms = [found(SHOWERS, -1.0, q2lf=-1.0, matcher=9.0), found(WIFI, -2.0, q2lf=-2.0, matcher=12.0)]
    assert [option.form for option in scales.weigh(reading, forms, [None, None]).options] == [WIFI, SHOWERS]
    agents = [found(SHOWERS, -1.0, q2lf=-1.0, reconstruction=0.0), found(WIFI, -2.0, q2lf=-2.0, reconstruction=9.0)]
    assert scales.weigh(reading, agents, [None, None]).options[0].form == SHOWERS, "the way back is given beside"
    recalled = found("( all hut )", -1.5)  # nobody has looked at it: nothing is held against it
    told = scales.weigh(reading, [*forms, recalled], [None] * 3)
    assert [option.form for option in told.options] == ["( all hut )", WIFI, SHOWERS]


def test_of_an_unlikely_reading_the_others_are_not_likelier():
    reply = ask("hm hut", hm_hut=({SHOWERS: -0.5, WIFI: -1.0}, 0.1, 1))
    assert [choice.probability for choice in reply.choices] == pytest.approx([0.1, 0.0607], abs=1e-3)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            "what is the zloty of uzbekistan",
            "this seems to be about something other than the data here (Hiking trails of the Orsaz valley): nothing",
        ),
        ("which huts have a jacuzzi", "no question and no name here has the word 'jacuzzi'"),
        ("how long is the Badger trail", "the data has no 'Badger trail'"),
        ("hut which is trail", "this does not read like a question about the data here (Hiking trails"),
    ],
)
def test_a_refusal_says_why(question, reason):
    reply = ask(question, **{question.lower().replace(" ", "_"): ({SHOWERS: -0.1}, 0.9, 0.1)})
    assert reply.status == "refused" and reply.reason.startswith(reason)
    assert reply.probability == 0.1 and not reply.rows
    assert not any("never seen" in note for note in reply.notes)  # the reason names the words


def test_what_cannot_be_expressed_is_refused():
    assert ask("huts").reason == "no reading of this was found"
    reply = ask("huts", huts=({"( all castle )": -0.1}, 0.9, 1))
    assert reply.status == "refused" and "cannot be expressed" in reply.reason


@pytest.mark.parametrize(("hut", "has"), [("plover", False), ("marmot", True)])
def test_yes_or_no_about_one_thing_is_an_answer(hut, has):
    reply = ask(f"does the {hut} hut have showers", which_huts_have_showers=({SHOWERS: -0.1, WIFI: -4.0}, 0.9, 1))
    assert (reply.status, reply.kind, reply.rows) == ("answered", "yes_no", ((has,),))
    assert reply.said == f"whether {hut} hut has showers"


def test_readings_that_say_the_same_of_the_thing_are_one():
    """The plover hut has neither: it does not matter which of the two is meant."""
    reply = ask("does the plover hut have comfort", which_huts_have_comfort=({SHOWERS: -0.7, WIFI: -0.7}, 0.5, 1))
    assert (reply.status, reply.rows, reply.probability) == ("answered", ((False,),), 1.0)


def test_questions_that_only_begin_like_yes_or_no_are_left_alone():
    lexicon = TRAILS.lexicon
    for question in ("is the fox loop easy or hard", "does birch pass huts and which ones", "is there a hut", "is it"):
        assert yes_no(question.split(), lexicon) is None
    asked = yes_no(["is", "the", "fox", "loop", "easy"], lexicon)
    assert asked and asked.words == ("which", "trails", "are", "easy")
    reply = ask("is the fox loop long", is_the_fox_loop_long=({"( get trail.fox_loop length )": -0.1}, 0.9, 1))
    assert reply.rows == ((5.2,),), "nothing was found about many"


def test_what_is_not_told_is_no_or_not_recorded():
    no = RunAsker(Stub()).run("( get hut.plover_hut has_showers )")
    assert (no.kind, no.rows) == ("yes_no", ((False,),))
    unknown = RunAsker(Stub()).run("( get trail.fox_loop climbs )")
    assert (unknown.kind, unknown.rows, unknown.notes) == ("none", (), ())
    nothing = RunAsker(Stub()).run("( filter ( all hut ) elevation > ( number 9000 m ) )")
    assert (nothing.status, nothing.kind) == ("answered", "none")
    assert RunAsker(Stub()).run("( get hut.nowhere price )").status == "error"


def test_forms_without_an_ontology_are_said_in_their_own_words():
    assert own_words("( lambda $0 e ( and ( flight $0 ) ( to $0 denver:ci ) ) )") == "flight, to denver"
    assert Sayer(TRAILS).say("( all") == "all"


def test_every_form_of_the_domain_that_ships_is_worded(tmp_path):
    sayer = Sayer(TRAILS)
    forms = {line.split("\t")[1] for line in TRAILS.files["train"].read_text().splitlines()[::7]}
    said = {form: sayer.say(form) for form in forms}
    assert len(said) > 80 and all(said.values())
    assert len(set(said.values())) > 0.97 * len(said), "forms that differ are worded alike"
