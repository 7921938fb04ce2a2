"""Answers from a connected folder, without any training.

In: a folder that `dualparse connect` wrote, and questions. Out: `Reply`s. A question is taken apart, its names are
found in the data, forms are proposed and weighed, the best runs in the database; readings that are as good are offered,
and what nothing explains is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date as Day
from functools import cached_property
from pathlib import Path
from threading import RLock

from dualparse.asking import refusals
from dualparse.asking.drafts import Draft, Given
from dualparse.asking.grounds import Judged, by_form, default_trust, grounds, judge
from dualparse.asking.labels import PAIRS, Labels
from dualparse.asking.lexis import stem
from dualparse.asking.masks import Masks
from dualparse.asking.names_in import Named, explained, names_in, without_names
from dualparse.asking.nearness import Nearness, open_nearness
from dualparse.asking.paths import Ways
from dualparse.asking.propose import Proposer
from dualparse.asking.question import Question, take_apart, without_setting, words_of
from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Asker, Choice, Reply, answered
from dualparse.asking.requests import NO_REASONS, asks_for_more
from dualparse.asking.short import codes_of
from dualparse.asking.shown import with_values
from dualparse.asking.slips import mended
from dualparse.asking.spoken import Spoken
from dualparse.asking.terms import Evidence, Terms
from dualparse.asking.trust import NAME as TRUST
from dualparse.asking.trust import Trust, read_trust_file
from dualparse.asking.weigh import Figures, figures_of, from_nowhere, other_kind, total
from dualparse.database.folder import Connected, is_connected, read_connected
from dualparse.database.index import Index, open_index, stamp
from dualparse.database.run import Runner
from dualparse.database.source import Source, open_source
from dualparse.domains import nodes as n
from dualparse.domains.typed import Checker
from dualparse.errors import InputError
from dualparse.files import written
from dualparse.lf.errors import LF_ERRORS

MOST_WORDED = 60  # drafts that are typed, worded and matched
MOST_CHOICES = 3
REMEMBERED = 1 << 14  # names of things
MOST_BESIDE = 2  # values shown beside things
ENOUGH = 2  # words that speak of the data: with no strange ones, a clear reading of them is of no other subject
KNOWN = 0.99  # that an answer is right whose question has a label
NEAR = 0.75  # cosine from which on a question may be answered that has a word which nothing here is called by
CLOSE = 0.3  # share of the first reading that one has to be offered
MOST_COMPARED, FAR = 6, 1.5  # readings that are compared with the question; how far behind the first one at the most
DOUBTFUL = 0.15  # probability of the first reading below which none is worth a question back
FAINT, LOOKED_AT = 0.08, 6  # share from which on, and number of readings that are run to see which say the same


@dataclass(frozen=True, slots=True)
class Ranked:
    """A draft that is well typed, its words, its figures and their sum."""

    draft: Draft
    node: n.Node
    said: str
    figures: Figures
    score: float
    cosine: float | None = None  # of the question and `said`, where they were compared


class FolderAsker(Asker):
    """Answers questions over one connected database, from any number of threads, one after the other."""

    def __init__(self, connected: Connected, *, today: Day | None = None):
        self.connected, self.today = connected, today
        self.source, self.index, self.runner = self._opened()
        self._stamp = stamp(connected, self.source)
        self.checker = Checker(connected.database.schema)
        self.terms = Terms(connected.database, connected.words)
        self.ways = Ways(connected.database)
        self._categories = frozenset(
            (held.owner, held.name) for table in connected.database.tables for held in table.properties if held.category
        )
        self.trust, self._learned = trust_of(connected.folder), self._learned_at()
        self._codes = codes_of(self.index, self._categories)
        self._lock = RLock()

    @cached_property
    def labels(self) -> Labels:
        """What people have said is meant, in the pairs of the folder."""
        return Labels(self.connected.folder, Masks(self, all_kinds=True))

    @cached_property
    def nearness(self) -> Nearness | None:
        """What compares the question with what forms say; None where the extra `pretrained` is not installed."""
        return open_nearness()

    @cached_property
    def _tells_reasons(self) -> bool:
        """Whether the data says why something is so."""
        names = (held.name for table in self.connected.database.tables for held in table.properties)
        return any(word in ("reason", "cause") for name in names for word in name.split("_"))

    def _opened(self) -> tuple[Source, Index, Runner]:
        """The data as it is now."""
        source = open_source(self.connected.location)
        try:
            return source, open_index(self.connected, source), Runner(source, self.connected.database)
        except InputError:
            source.close()
            raise

    def _learned_at(self) -> tuple[object, ...]:
        """What changes when somebody has labeled questions, or measured how sure answers are."""
        return tuple(written(self.connected.folder / name) for name in (PAIRS, TRUST))

    def _keep_up(self) -> None:
        """Open the data again if it has changed since: rows that are new are found, and no old page of it is read. The
        same of what the folder has learned."""
        learned = self._learned_at()
        if learned != self._learned:
            self.__dict__.pop("labels", None)
            self.trust, self._learned = trust_of(self.connected.folder), learned
        now = stamp(self.connected, self.source)
        if now != self._stamp:
            opened = self._opened()
            self._close()
            self.source, self.index, self.runner = opened
            self._stamp = now

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        self.index.connection.close()
        self.source.close()

    def __enter__(self) -> FolderAsker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def ask(self, question: str) -> Reply:
        """The answer to a question, readings to choose from, or a refusal; `InputError` for a text without words."""
        if not isinstance(question, str):  # whoever calls from a program without types
            raise InputError(f"a question is text, not {type(question).__name__}")
        if not question.strip():
            raise InputError("the question is empty")
        with self._lock:
            self._keep_up()
            try:
                return self._ask(question)
            except LF_ERRORS as error:
                return Reply(question, ERROR, reason=str(error))

    def run(self, form: str, question: str = "") -> Reply:
        """The answer to a form."""
        with self._lock:
            self._keep_up()
            try:
                node = self.checker.typed_text(form)
                said = Spoken(self.connected.words, ThingNames(self))(node)
                return self._answer(Reply(question, ANSWERED, form=form, said=said, probability=1.0), node)
            except LF_ERRORS as error:
                return Reply(question, ERROR, form=form, reason=str(error))

    def _ask(self, text: str) -> Reply:
        if form := self.labels.form_of(text):
            return replace(self.run(form, text), probability=KNOWN)
        reason = asks_for_more(text)
        if reason and not (reason == NO_REASONS and self._tells_reasons):
            return Reply(text, REFUSED, reason=reason)
        question, evidence, ranked = self.ranked(text)
        if not ranked:
            return Reply(text, REFUSED, reason="no word of this speaks of the data")
        judged = judge(question, evidence, ranked, self.trust)
        best = ranked[0].draft
        reply = Reply(text, REFUSED, notes=(*_slips(text, question), *_notes(best.names)))
        clear = not judged.strange and judged.evidence["spoken"] >= ENOUGH and judged.probability >= self.trust.cut
        elsewhere = judged.topic < self.trust.topic_cut and not clear
        reason = self._away(question, judged) if elsewhere else self._lacking(question, evidence, judged, best)
        refused = replace(reply, probability=round(min(judged.probability, judged.topic), 4), reason=reason)
        understood = judged.things and (ranked[0].cosine or 0.0) >= NEAR  # without that word
        if reason and (elsewhere or not understood):
            return refused
        reply = replace(reply, notes=(*reply.notes, reason)) if reason else reply
        reply = self._answer(replace(reply, form=best.form, said=ranked[0].said), self.checker.typed_text(best.form))
        same = self._same(ranked, judged)  # readings that come to the same are one
        judged = judge(question, evidence, ranked, self.trust, empty=is_empty(reply), same=same)
        reply = replace(reply, probability=round(judged.probability, 4))
        if judged.probability >= self.trust.cut:
            others = [reading for reading in enumerate(ranked[:MOST_CHOICES]) if reading[1].said != reply.said]
            return replace(reply, choices=_choices(others, judged))
        if reason:
            return refused
        if judged.probability < DOUBTFUL:
            told = refusals.unknown(judged.unexplained) if judged.unexplained else refusals.UNFIT
            return replace(refused, probability=reply.probability, reason=told)
        close = [
            (number, each)
            for number, each in enumerate(ranked[: len(same)])
            if same[number] == number and judged.shares[number] >= CLOSE * judged.shares[0]
        ]
        asked = Reply(reply.question, AMBIGUOUS, probability=reply.probability, notes=reply.notes)
        return replace(asked, choices=_choices(close, judged))

    def _answer(self, reply: Reply, node: n.Node) -> Reply:
        """With the values beside the things that the form is about."""
        shown = with_values(reply.form, node, most=MOST_BESIDE)
        columns = Spoken(self.connected.words, ThingNames(self)).columns(self.checker.typed_text(shown))
        return answered(reply, self.runner.answer(shown, today=self.today), columns)

    def judged(self, text: str) -> tuple[Judged | None, Reply]:
        """How likely the first reading of a question is meant, and the answer to it, whatever that probability is."""
        with self._lock:
            question, evidence, ranked = self.ranked(text)
            if not ranked:
                return None, Reply(text, REFUSED)
            reply = self.run(ranked[0].draft.form, text)
            same = self._same(ranked, judge(question, evidence, ranked, self.trust))
            return judge(question, evidence, ranked, self.trust, empty=is_empty(reply), same=same), reply

    def grounds(self, text: str) -> dict[str, float] | None:
        """What is known of the first reading of a text before anything is run; None without one."""
        question, evidence, ranked = self.ranked(text)
        return grounds(question, evidence, ranked) if ranked else None

    def _same(self, ranked: Sequence[Ranked], judged: Judged) -> tuple[int, ...]:
        """For each reading the number of the first one that says the same; the likely ones are run for that."""
        same = list(by_form(ranked))
        found: dict[str, int] = {}
        for number, each in enumerate(ranked[:LOOKED_AT]):
            if same[number] != number or judged.shares[number] < FAINT * judged.shares[0]:
                continue
            try:
                denotation = self.runner.answer(each.draft.form, today=self.today).denotation
            except LF_ERRORS:
                continue
            first = found.setdefault(denotation, number)
            same = [first if other == number else other for other in same]
        return tuple(same)

    def _lacking(self, question: Question, evidence: Evidence, judged: Judged, best: Draft) -> str:
        """What a question asks for and the data does not have; "" where nothing of the kind is known."""
        if judged.things:
            return refusals.unknown(judged.things)
        first = question.words[question.polite].text if question.words[question.polite :] else ""
        database = self.connected.database
        if first == "when" and (
            other_kind(question, database, best, self.terms.people) or from_nowhere(best, evidence, database)
        ):
            return "nothing in the data tells when"
        return _out_of_turn(question, best)

    def _away(self, question: Question, judged: Judged) -> str:
        """Why a question is taken for one that the data cannot answer."""
        title = self.connected.description.title or self.connected.description.name
        if not judged.strange:
            return refusals.unlike(title)
        if len(judged.unexplained) == len(question.content):
            return refusals.elsewhere(title, judged.strange)
        return refusals.unknown(judged.strange)

    def ranked(self, text: str) -> tuple[Question, Evidence, list[Ranked]]:
        """The readings of a question, the best first."""
        text, _ = mended(text, self.terms.spelt, self.index.knows)
        question = take_apart(text)
        evidence = self.terms.evidence(question)
        question = without_setting(question, {place for places in evidence.values() for place in places})
        known = explained(question, evidence)
        names = names_in(
            question,
            self.index,
            schema=self.terms.known,
            known=known,
            categories=self._categories,
            codes=self._codes,
        )
        question = without_names(question, names)
        given = Given(self.connected.database, self.ways, self.terms, question, evidence)
        drafts = Proposer(given, names).drafts()
        database = self.connected.database
        people = self.terms.people
        figured = [(figures_of(question, evidence, database, draft, people), draft) for draft in drafts]
        weighed = [(total(figures), figures, draft) for figures, draft in figured]
        weighed.sort(key=lambda each: (-each[0], each[2].form))
        seen: set[str] = set()
        ranked: list[Ranked] = []
        labels = _labels(names)
        plain = Spoken(self.connected.words, labels)
        for score, figures, draft in weighed:
            if draft.form in seen:
                continue
            seen.add(draft.form)
            try:
                node = self.checker.typed_text(draft.form)
            except LF_ERRORS:
                continue
            ranked.append(Ranked(draft, node, plain(node), figures, score))
            if len(ranked) == MOST_WORDED:
                break
        return question, evidence, self._compared(text, ranked)

    def _compared(self, text: str, ranked: list[Ranked]) -> list[Ranked]:
        """The readings, the first of them weighed once more with how near their wording is to the question."""
        close = [each for each in ranked[:MOST_COMPARED] if each.score >= ranked[0].score - FAR]
        if not close or self.nearness is None:
            return ranked
        cosines = self.nearness.cosines(text, [each.said for each in close])
        most, least = max(cosines), min(cosines)
        found = []
        for place, each in enumerate(ranked):
            cosine = cosines[place] if place < len(close) else None
            figures = replace(each.figures, behind=most - (least if cosine is None else cosine))
            found.append(replace(each, figures=figures, score=total(figures), cosine=cosine))
        return sorted(found, key=lambda each: -each.score)


def is_empty(reply: Reply) -> bool:
    """Whether an answer is that there is nothing."""
    return not reply.rows or all(value in (0, None) for row in reply.rows for value in row)


_COMPARES = frozenset(["<", ">", "<=", ">="])


def _out_of_turn(question: Question, best: Draft) -> str:
    """Who was there before a named one, where the reading compares no dates: data has no memory of it."""
    words = [word.text for word in question.words]
    if words[question.polite :][:1] != ["who"] or _COMPARES & set(best.form.split()):
        return ""
    named = {min(each.places): each for each in best.names if each.places}
    for place, word in enumerate(words):
        if word == "before" and (name := named.get(place + 1)):
            return f"nothing in the data tells who was there before {name.phrase}"
    return ""


def _choices(readings: Iterable[tuple[int, Ranked]], judged: Judged) -> tuple[Choice, ...]:
    """Readings, each with its number, as choices; of those in the same words the first."""
    told: dict[str, tuple[int, Ranked]] = {}
    for number, each in readings:
        told.setdefault(each.said, (number, each))
    few = list(told.values())[:MOST_CHOICES]
    return tuple(Choice(each.draft.form, each.said, round(judged.chance(number), 4)) for number, each in few)


def _slips(text: str, question: Question) -> tuple[str, ...]:
    """What was mended before a question was taken apart."""
    pairs = zip(words_of(text), question.words, strict=False) if text != question.text else ()
    return tuple(
        f"read {typed.text!r} as {word.text!r}" for typed, word in pairs if stem(typed.text) != stem(word.text)
    )


def _notes(names: Sequence[Named]) -> tuple[str, ...]:
    """What was read as something else than what was typed."""
    return tuple(
        f"read {named.phrase!r} as {named.value!r}"
        for named in names
        if named.how in ("slip", "part", "people") and named.phrase.casefold() != named.value.casefold()
    )


class ThingNames(dict[str, str]):
    """Names of things, looked up in the database when they are asked for; so many are kept."""

    def __init__(self, asker: FolderAsker):
        super().__init__()
        self._asker = asker

    def get(self, id: str, default: str | None = None) -> str | None:  # type: ignore[override]
        if id not in self:
            if len(self) >= REMEMBERED:
                self.clear()
            try:
                self[id] = str(self._asker.runner.answer(id).values[0][0])
            except (*LF_ERRORS, InputError, IndexError):
                return default
        return self[id]


def open_asker(target: str | Path, *, database: str = "", today: Day | None = None) -> FolderAsker:
    """What answers questions about a connected folder; `database` is another location of its data, `today` the day that
    "last month" is seen from."""
    folder = Path(target)
    if not is_connected(folder):
        raise InputError("no connected folder; make one with: dualparse connect DATABASE --out DIR", path=folder)
    return FolderAsker(read_connected(folder, database=database), today=today)


def trust_of(folder: Path) -> Trust:
    """What is known of the answers about a folder."""
    path = folder / TRUST
    return read_trust_file(path) if path.is_file() else default_trust()


def _labels(names: Sequence[Named]) -> dict[str, str]:
    return {key: named.value for named in names for key in named.keys}
