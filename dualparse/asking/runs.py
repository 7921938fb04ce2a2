"""A trained run answers questions: with an answer, with readings to choose from, or with a refusal and its reason.

In: a parser of a run. Out: `Reply`s. What is likely enough is answered; what is not is offered, worded so that a person
can pick; what is about something else is refused. From which probability on is chosen on dev, see
`dualparse.asking.trust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dualparse.asking import refusals
from dualparse.asking.calibrate import Weighs
from dualparse.asking.evidence import Option
from dualparse.asking.familiar import common_words
from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Asker, Choice, Reply, answered
from dualparse.asking.saying import Sayer
from dualparse.asking.shown import answer_of
from dualparse.asking.weighing import Weighed
from dualparse.asking.yes_no import YesNo, yes_no
from dualparse.domains.metrics import meaning
from dualparse.domains.text import NEW_WORDS, Reading
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.sexpr import tokenize

MOST_CHOICES = 3
LEAST = 0.01  # probability of a reading that is offered beside the likeliest one
CLOSE = 0.05  # probability from which on another reading is told beside an answer


class RunAsker(Asker):
    """Answers questions with a trained run, from any number of threads at once."""

    def __init__(self, parser: Weighs):
        self.parser = parser
        self.sayer = Sayer(parser.domain)

    def ask(self, question: str) -> Reply:
        """The answer to a question, readings to choose from, or a refusal; `InputError` for a text without words."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: Sequence[str]) -> list[Reply]:
        """The same for many questions at once, which is much quicker than one by one."""
        readings = [self.parser.read(question) for question in questions]
        about = [self._about_one(reading) for reading in readings]
        found = self.parser.weigh(readings)
        singles = [place for place, each in enumerate(about) if each is not None]
        others = self.parser.weigh([_as_asked(readings[place], about[place]) for place in singles])
        for place, other in zip(singles, others, strict=True):
            found[place] = self._about(about[place], other) or found[place]
        return [self._reply(*pair) for pair in zip(questions, found, strict=True)]

    def run(self, form: str, question: str = "") -> Reply:
        """The answer to a form that somebody has chosen."""
        verdict = self.parser.domain.check(form)
        if not verdict.ok:
            return Reply(question, ERROR, form=form, reason=verdict.reason)
        try:
            return self._answered(
                Reply(question, ANSWERED, form=form, said=self.sayer.say(form), probability=1.0), form
            )
        except LF_ERRORS as error:
            return Reply(question, ERROR, form=form, reason=str(error))

    def close(self) -> None:
        """Nothing is held open."""

    def _about_one(self, reading: Reading) -> YesNo | None:
        if self.sayer.plain is None:
            return None
        return yes_no(reading.words, self.parser.domain.lexicon)

    def _about(self, asked: YesNo | None, weighed: Weighed) -> Weighed | None:
        """What a question about many says of the one; None where its likeliest answer is things of another kind.
        Readings may say the same of it."""
        assert asked is not None
        domain = self.parser.domain
        said: dict[str, list[Option]] = {}
        for option in weighed.options:
            form = asked.form(option.form)
            if option.valid and domain.check(form).ok:
                said.setdefault(meaning(form, domain) or form, []).append(option)
            elif option is weighed.options[0]:
                return None
        groups = sorted(said.values(), key=lambda group: -sum(map(weighed.chance, group)))
        if not groups:
            return None
        options = tuple(
            Option(
                tuple(replace(each, form=asked.form(each.form)) for option in group for each in option.forms),
                sum(option.share for option in group),
            )
            for group in groups
        )
        return replace(weighed, options=options, probability=sum(map(weighed.chance, groups[0])))

    def _reply(self, question: str, weighed: Weighed) -> Reply:
        reply = Reply(question, REFUSED, probability=round(weighed.probability, 4), notes=weighed.reading.notes)
        trust = self.parser.scales.trust
        options = [option for option in weighed.options if option.valid]
        if weighed.topic < trust.topic_cut:
            chance = min(weighed.probability, weighed.topic)
            notes = tuple(note for note in reply.notes if not note.startswith(NEW_WORDS))  # the reason names the words
            return replace(reply, probability=round(chance, 4), reason=self._away(weighed), notes=notes)
        if not options:
            return replace(reply, reason=self._cannot(weighed))
        choices = tuple(self._choice(weighed, option) for option in options[:MOST_CHOICES])
        if weighed.probability < trust.cut and not weighed.known:
            likely = (choice for choice in choices[1:] if choice.probability >= LEAST)
            return replace(reply, status=AMBIGUOUS, choices=(choices[0], *likely))
        others = tuple(choice for choice in choices[1:] if choice.probability >= CLOSE)
        best = options[0].form
        try:
            return self._answered(
                replace(reply, status=ANSWERED, form=choices[0].form, said=choices[0].said, choices=others), best
            )
        except LF_ERRORS as error:
            return replace(reply, status=ERROR, form=choices[0].form, said=choices[0].said, reason=str(error))

    def _choice(self, weighed: Weighed, option: Option) -> Choice:
        names = weighed.reading.names
        form = " ".join(names.get(token, token) for token in tokenize(option.form))
        return Choice(form, self.sayer.say(form), round(weighed.chance(option), 4))

    def _answered(self, reply: Reply, form: str) -> Reply:
        if self.parser.domain.answer is not None:
            return answered(reply, self.parser.domain.answer(reply.form))
        answer, notes = answer_of(form, self.parser.domain, self.sayer.plain)
        if answer is None:
            return replace(reply, notes=(*reply.notes, *notes))
        return answered(replace(reply, notes=(*reply.notes, *notes)), answer, self.sayer.columns(form))

    # -- why not

    def _away(self, weighed: Weighed) -> str:
        """Why a question is taken for one about something else."""
        title = self.parser.domain.title or self.parser.domain.name
        strange = [_typed(weighed.reading, word) for word in weighed.strange]
        spoken = [word for word in weighed.reading.words if word not in common_words() and word not in weighed.strange]
        if not strange:
            return refusals.unlike(title)
        if not spoken:
            return refusals.elsewhere(title, strange)
        if name := self._no_such(weighed):
            return f"the data has no {name!r}"
        return f"no question and no name here has the word {refusals.alternatives(strange)}"

    def _no_such(self, weighed: Weighed) -> str:
        """A name that stands where names stand, beside "hut" or "trail", and that nobody has."""
        words, strange = weighed.reading.words, set(weighed.strange)
        kinds = {id.rpartition(".")[0] for id in self.parser.domain.lexicon.entities} - {""}
        ends = {
            phrase[-1]
            for entity in self.parser.domain.lexicon.entities
            for phrase in self.parser.domain.lexicon.phrases(entity)
            if len(phrase) > 1
        } | kinds
        for first, second in zip(words, words[1:], strict=False):
            if first in strange and second in ends:
                return f"{_typed(weighed.reading, first)} {second}"
        return ""

    def _cannot(self, weighed: Weighed) -> str:
        if not weighed.options:
            return "no reading of this was found"
        return "this cannot be expressed here: no reading of it that was found makes sense"


def _as_asked(reading: Reading, asked: YesNo | None) -> Reading:
    assert asked is not None
    return replace(reading, words=asked.words, said=asked.words)


def _typed(reading: Reading, word: str) -> str:
    """A word as it was typed."""
    return next((said for text, said in zip(reading.words, reading.said, strict=True) if text == word), word)
