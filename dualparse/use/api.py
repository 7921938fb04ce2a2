"""Use a trained run from Python: questions in, hypotheses with their verdicts and answers out.

>>> parser = load("runs/trails")                                     # doctest: +SKIP
>>> parser.parse("which huts have showers", k=3)[0].answer           # doctest: +SKIP
'(list (name hut.marmot_hut) (name hut.gentian_hut))'

All results are frozen dataclasses of plain values: `dataclasses.asdict` makes JSON of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dualparse.asking.calibrate import calibrate
from dualparse.asking.memory import Lesson, read_lessons, write_lessons
from dualparse.asking.reply import Reply
from dualparse.asking.runs import RunAsker
from dualparse.asking.trust import PRECISION, Trust, write_trust
from dualparse.asking.weighing import Weighed
from dualparse.choosing.ranking import FOUND, Hypothesis, with_forms
from dualparse.data.vocab import SPECIAL, Vocab
from dualparse.domains.domain import Domain
from dualparse.domains.metrics import meaning
from dualparse.domains.text import Reader, Reading, unknown_names
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS, LFSyntaxError
from dualparse.lf.sexpr import read, tokenize
from dualparse.lf.verdict import Verdict
from dualparse.runs import Run, search_options
from dualparse.use.parses import Copy, Explanation, Parse, Wording
from dualparse.use.parts import LightParts, Parts

if TYPE_CHECKING:
    import torch

Choice = TypeVar("Choice", Hypothesis, tuple[Hypothesis, Verdict])

MAX_TOKENS = 500  # of a form to be explained: attention takes memory for every token and word


class Parser(Parts):
    """A trained run, ready to use, from any number of threads at once.

    The agents are loaded when they are first asked for; after that nothing in a `Parser` changes, unless it is told to
    `learn` or to `keep_up` with its folder.
    """

    def __init__(self, run: Run, domain: Domain, device: torch.device | None = None):
        super().__init__(run, domain, device)
        self._reader = reader(run.vocab("query"), domain)
        self.asker = RunAsker(self)

    def learn(self, pairs: Sequence[tuple[str, str]]) -> list[Lesson]:
        """Remember what questions mean, as (question, form), and keep it in the run folder; gives all that is known.
        `InputError` for a form that is not valid."""
        lessons = read_lessons(self.run.folder)
        for question, form in pairs:
            if problem := self.problem(question, form):
                raise InputError(f"{form!r}: {problem}")
            reading = self.read(question)
            lessons.append(Lesson(reading.words, self._target(form, reading)))
        write_lessons(self.run.folder, lessons)
        with self._loading:
            self._memory = self._scales = None
        return read_lessons(self.run.folder)

    def problem(self, question: str, form: str) -> str:
        """Why a form cannot be what a question means; "" where it can."""
        try:
            tokens = self._target(form, self.read(question))
        except InputError as error:
            return error.message
        verdict = self.domain.check(" ".join(tokens))
        return "" if verdict.ok else f"no valid form: {verdict.reason}"

    def calibrate(self, *, precision: float = PRECISION) -> Trust:
        """Fit on dev how likely answers are right, and keep it in the run folder; `precision` is the share of right
        answers among those that are to be given."""
        trust = calibrate(self, precision=precision)
        write_trust(self.run.folder, trust)
        with self._loading:
            self._scales = None
        return trust

    def read(self, question: str) -> Reading:
        """The words the model is given for a question; `InputError` for a text without words or with too many."""
        return self._reader.read(question)

    def read_form(self, form: str) -> tuple[list[str], dict[str, str]]:
        """The tokens that lf2q is given for a form, and how the names among them are spoken; `InputError` for what is
        no form."""
        if not isinstance(form, str):
            raise InputError(f"a form is text, not {type(form).__name__}")
        try:
            read(form)  # it is said, not run
        except LFSyntaxError as error:
            raise InputError(f"not a logical form: {error}") from None
        tokens = form_tokens(form, self._lf_vocab)
        if self.domain.preparation is None:
            return tokens, {}
        numbered, names = self.domain.preparation.form(tokens)
        return numbered, {token: name.partition(":")[0].replace("_", " ") for token, name in names.items()}

    def ask(self, question: str) -> Reply:
        """An answer, two or three readings to choose from, or a refusal that says why."""
        return self.asker.ask(question)

    async def ask_async(self, question: str) -> Reply:
        """`ask` for programs that await: others go on meanwhile."""
        from asyncio import to_thread  # here: it takes longer to load than some answers

        return await to_thread(self.ask, question)

    async def parse_async(self, question: str, *, k: int = 5, constrained: bool = False) -> list[Parse]:
        """`parse` for programs that await."""
        from asyncio import to_thread

        return await to_thread(self.parse, question, k=k, constrained=constrained)

    def parse(self, question: str, *, k: int = 5, constrained: bool = False) -> list[Parse]:
        """The k best readings, valid ones first, each group by score. Which is the best does not depend on `k`.

        `constrained`: the search writes only what the types of the domain let become a form, and none of the readings
        is invalid. There may be fewer than `k`, or none.
        """
        return self.parse_all([question], k=k, constrained=constrained)[0]

    def parse_all(self, questions: Sequence[str], *, k: int = 5, constrained: bool = False) -> list[list[Parse]]:
        """The same for many questions at once, which is much quicker than one by one."""
        _refuse_one_text(questions, "questions")
        return self.parse_readings([self.read(question) for question in questions], k=k, constrained=constrained)

    def parse_readings(
        self, readings: Sequence[Reading], *, k: int = 5, constrained: bool = False
    ) -> list[list[Parse]]:
        """The same for questions that were read before."""
        own = self._found(readings, self.recipe.search.beams, constrained=constrained, copies=True)
        kept = [judged[:k] for judged in self._widened(own, readings, k, constrained=constrained)]
        weighed = self._weighed(readings, own)
        shares = self._shares(readings, [[hypothesis for hypothesis, _ in judged] for judged in kept])
        parses = []
        for judged, row, weight in zip(kept, shares, weighed, strict=True):
            meant = self._meant(weight.reading.words)
            parses.append([self._parse(*pair, weight, meant, share) for pair, share in zip(judged, row, strict=True)])
        return parses

    # -- readings

    def weigh(self, readings: Sequence[Reading]) -> list[Weighed]:
        """What each of the readings may mean, and how likely that is right."""
        return self._weighed(readings, self._found(readings, self.recipe.search.beams, copies=False))

    def _weighed(
        self, readings: Sequence[Reading], judged: Sequence[Sequence[tuple[Hypothesis, Verdict]]]
    ) -> list[Weighed]:
        """Only what the recipe's own width finds counts, so that a probability does not depend on `k`."""
        recalled = [
            {each.form: each.alike for each in self.memory.recall(reading.words)} if len(self.memory) else {}
            for reading in readings
        ]
        found = self._with(readings, [[hypothesis for hypothesis, _ in row] for row in judged], recalled)
        back = self._ways_back(readings, found)
        return [
            self.scales.weigh(
                reading, row, ways, recalled=alike, known=bool(row) and self._told(reading) == row[0].tokens
            )
            for reading, row, ways, alike in zip(readings, found, back, recalled, strict=True)
        ]

    def _ways_back(
        self, readings: Sequence[Reading], found: Sequence[Sequence[Hypothesis]]
    ) -> list[list[float | None]]:
        """How well each form explains its question; None where nobody can tell. Where both agents have chosen, lf2q has
        said so of most forms already."""
        weight = self.recipe.search.reconstruction
        told = [[dict(each.parts).get("reconstruction") if weight else None for each in row] for row in found]
        back = [[None if part is None else part / weight for part in row] for row in told]
        if not self.hears or not any(None in row for row in back):
            return back
        left = [
            [each for each, known in zip(*pair, strict=True) if known is None] for pair in zip(found, back, strict=True)
        ]
        heard = self._heard([reading.words for reading in readings], left)
        for row, more in zip(back, map(iter, heard), strict=True):
            row[:] = [float(next(more)) if known is None else known for known in row]
        return back

    def _told(self, reading: Reading) -> tuple[str, ...] | None:
        """The form that somebody has said is meant by this very question."""
        return self.memory.known(reading.words) if len(self.memory) else None

    def _with(
        self, readings: Sequence[Reading], found: list[list[Hypothesis]], forms: Sequence[Iterable[tuple[str, ...]]]
    ) -> list[list[Hypothesis]]:
        """What was found, and other forms, with the probability the parsers give them."""
        return with_forms([reading.words for reading in readings], found, forms, self._likely)

    def _shares(
        self, readings: Sequence[Reading], found: Sequence[Sequence[Hypothesis]]
    ) -> list[list[Sequence[float]]]:
        """How much of each token of each hypothesis was copied; where search did not record it, a second look says."""
        recorded = [[h.copied for h in hypotheses if h.copied is not None] for hypotheses in found]
        if all(len(known) == len(hypotheses) for known, hypotheses in zip(recorded, found, strict=True)):
            return [list(known) for known in recorded]
        tokens = [[hypothesis.tokens for hypothesis in hypotheses] for hypotheses in found]
        return self._copied([reading.words for reading in readings], tokens)

    def _widened(
        self,
        own: list[list[tuple[Hypothesis, Verdict]]],
        readings: Sequence[Reading],
        k: int,
        *,
        constrained: bool = False,
    ) -> list[list[tuple[Hypothesis, Verdict]]]:
        """Where more are asked for than the recipe's own search gives: a wider one finds more, but what the own one
        puts first stays first."""
        if _at_least_one(k) <= self.recipe.search.beams:
            return own
        wider = self._found(readings, k, constrained=constrained, copies=True)
        return [_led_by(*pair) for pair in zip(own, wider, strict=True)]

    def _found(
        self, readings: Sequence[Reading], k: int, *, constrained: bool = False, copies: bool
    ) -> list[list[tuple[Hypothesis, Verdict]]]:
        """Forms for every reading, judged, valid ones first; both agents choose where the recipe says so. `constrained`
        leaves valid ones alone: what types cannot tell, an empty selection for one, the domain's check does."""
        words = [reading.words for reading in readings]
        held = self.constraint if constrained else None
        found = self._chosen(words, k, held, copies)
        judged = [self._judged(*pair) for pair in zip(readings, found, strict=True)]
        if len(self.memory):
            judged = [self._taught(*pair) for pair in zip(readings, judged, strict=True)]
        return [[pair for pair in each if pair[1].ok] for each in judged] if constrained else judged

    def _taught(self, reading: Reading, judged: list[tuple[Hypothesis, Verdict]]) -> list[tuple[Hypothesis, Verdict]]:
        """With the form in front that somebody has said is meant by this very question."""
        form = self._told(reading)
        if form is None:
            return judged
        found = self._with([reading], [[hypothesis for hypothesis, _ in judged]], [[form]])[0]
        known = next(each for each in found if each.tokens == form)
        others = [pair for pair in judged if pair[0].tokens != form]
        return [(known, self.domain.check(known.text)), *others]

    def _judged(self, reading: Reading, hypotheses: Sequence[Hypothesis]) -> list[tuple[Hypothesis, Verdict]]:
        """Hypotheses with their verdicts, valid ones first; sorting is stable, so each group keeps its order."""
        judged = [(hypothesis, self._verdict(reading, hypothesis)) for hypothesis in hypotheses]
        return sorted(judged, key=lambda pair: not pair[1].ok)

    def _verdict(self, reading: Reading, hypothesis: Hypothesis) -> Verdict:
        """What the domain says of a form, and whether the question names all that it speaks of."""
        if missing := unknown_names(hypothesis.tokens, reading.names):
            return Verdict(surface=True, semantics=False, reason=f"the question names no {missing[0]}")
        return self.domain.check(hypothesis.text)

    def _answer(self, form: str, hypothesis: Hypothesis) -> str | None:
        """The denotation of a form; a database is asked with the names in their places."""
        if self.domain.answer is None:
            return meaning(hypothesis.text, self.domain)
        try:
            return self.domain.answer(form).denotation
        except LF_ERRORS:
            return None

    def _parse(
        self,
        hypothesis: Hypothesis,
        verdict: Verdict,
        weighed: Weighed,
        meant: Sequence[str],
        shares: Sequence[float],
    ) -> Parse:
        form = " ".join(_renamed(hypothesis.tokens, weighed.reading.names))
        answer = self._answer(form, hypothesis) if verdict.ok else None
        copies = _copies(meant, hypothesis.tokens, shares)
        chance = weighed.chances.get(hypothesis.text, 0.0)
        parts = dict(hypothesis.parts) or {FOUND: hypothesis.log_prob}
        return Parse(form, hypothesis.score, verdict, answer, copies, weighed.reading.notes, chance, parts)

    def _meant(self, words: Sequence[str]) -> Sequence[str]:
        """What each word of a question can be copied as."""
        return self.domain.lexicon.map_words(words)

    def verbalize(self, form: str, *, k: int = 1) -> list[Wording]:
        """The k likeliest questions for a form; `InputError` for what is no form."""
        return self.verbalize_all([form], k=k)[0]

    def verbalize_all(self, forms: Sequence[str], *, k: int = 1) -> list[list[Wording]]:
        """The same for many forms at once, which gives what one by one gives."""
        _refuse_one_text(forms, "forms")
        read = [self.read_form(form) for form in forms]
        from dualparse.choosing.chooser import Search

        wording = Search([self.lf2q], search_options(self.recipe))
        tokens = [each for each, _ in read]
        found = wording.choose(tokens, k=_at_least_one(k))
        if k > self.recipe.search.beams:
            found = [_led_by(*pair) for pair in zip(wording.choose(tokens), found, strict=True)]
        return [
            [Wording(" ".join(_renamed(h.tokens, spoken)), h.score) for h in hypotheses[:k]]
            for hypotheses, (_, spoken) in zip(found, read, strict=True)
        ]

    def explain(self, question: str, form: str | None = None) -> Explanation:
        """What the model attended to and copied on its way to a form: its own best one, unless a form is given.
        `InputError` where the network shows none of it."""
        if not self.q2lf.model.shows:
            raise InputError(f"this model shows no attention: its network is {self.recipe.model.kind('q2lf')}")
        from dualparse.networks.agent import look_all

        reading = self.read(question)
        tokens = self._best(reading) if form is None else self._target(form, reading)
        seen = look_all(self.q2lf, [reading.words], [[tokens]])[0][0]
        return Explanation(
            reading.words,
            _renamed(tokens, reading.names),
            tuple(tuple(weights) for weights in seen.attention.tolist()),
            tuple(seen.gate.tolist()),
            _copies(self._meant(reading.words), tokens, seen.copied.tolist()),
            reading.notes,
            reading.said,
        )

    def _best(self, reading: Reading) -> tuple[str, ...]:
        """What `parse` puts first."""
        return self._found([reading], self.recipe.search.beams, copies=False)[0][0][0].tokens

    def _target(self, form: str, reading: Reading) -> tuple[str, ...]:
        """A form as the model would have to write it; it need not be a good one."""
        try:
            tokens = form_tokens(form, self._lf_vocab)
        except LFSyntaxError as error:
            raise InputError(f"not a logical form: {error}") from None
        if not 0 < len(tokens) <= MAX_TOKENS:
            raise InputError(f"a form of 1 to {MAX_TOKENS} tokens can be explained, this one has {len(tokens)}")
        return _renamed(tokens, {name: token for token, name in reading.names.items()})


class LightParser(LightParts, Parser):
    """A trained run that answers without torch: ready in a fraction of a second, for a question at a time. What it is
    asked beyond readings and answers (wordings, explanations) loads torch then."""


def _at_least_one(k: int) -> int:
    if k < 1:
        raise InputError(f"k is {k}; at least 1 is needed")
    return k


def _led_by(own: Sequence[Choice], more: Sequence[Choice]) -> list[Choice]:
    """What a wider search has found, with the best of the recipe's own search in front."""
    led = list(own[:1])
    kept = {_tokens(each) for each in led}
    led.extend(each for each in more if _tokens(each) not in kept)
    return led


def _tokens(found: Hypothesis | tuple[Hypothesis, Verdict]) -> tuple[str, ...]:
    return found.tokens if isinstance(found, Hypothesis) else found[0].tokens


def _refuse_one_text(texts: object, what: str) -> None:
    """A text is a sequence of texts too: its letters."""
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InputError(f"expected a list of {what}, not {type(texts).__name__}")


def _copies(meant: Sequence[str], tokens: Sequence[str], shares: Sequence[float]) -> tuple[Copy, ...]:
    """Tokens whose probability came by copying for the most part, with every word that stands for them."""
    return tuple(
        Copy(place, tuple(i for i, text in enumerate(meant) if text == token))
        for place, (token, share) in enumerate(zip(tokens, shares, strict=True))
        if share > 0.5
    )


def load(
    folder: str | Path,
    *,
    device: str | torch.device = "cpu",
    compiled: bool = False,
    threads: int | None = None,
    whole: bool = True,
    light: bool = False,
    domain: Domain | None = None,
) -> Parser:
    """Open a run folder, with a domain or the one its recipe names; `device` is "cpu", "cuda" or "auto", or a device of
    torch.

    `compiled` loads compiled search (the extra `fast`) now: on a CPU every question then takes a third to a half of the
    time. This takes a second, ten when it is the first time; without it, the first call with many questions does it.
    `whole` loads all that answers to questions depend on now; without it, each part is loaded when it is first asked
    for: wordings need one agent alone.

    `light` answers without torch, with the same answers: loading takes a fraction of a second instead of seconds, and
    many questions take longer. It is for runs of one parser whose networks are the paper's; others are loaded as ever.

    `threads`: how many share an operation of torch, in the whole process, as in the command: what `OMP_NUM_THREADS`
    says, or one.
    """
    run = Run.open(Path(folder))
    if light and run.light and not compiled:
        parser: Parser = LightParser(run, domain or run.domain())
        if whole:
            parser.load()
        return parser
    from dualparse.engines.cores import settle_threads
    from dualparse.engines.kept_memory import keep_freed_memory
    from dualparse.engines.numba import loading as kernels
    from dualparse.training.run import choose_device

    settle_threads(threads)
    chosen = choose_device(device) if isinstance(device, str) else device
    if compiled and not kernels.load():
        raise InputError("compiled search needs Numba (pip install 'dualparse[fast]')")
    if chosen.type == "cpu":
        keep_freed_memory()
    parser = Parser(run, domain or run.domain(), chosen)
    if whole:
        parser.load()
    return parser


def reader(vocab: Vocab, domain: Domain) -> Reader:
    """What reads questions for a model with this vocabulary."""
    lexicon = domain.lexicon
    phrases = [phrase for entity in sorted(lexicon.entities) for phrase in lexicon.phrases(entity)]
    return Reader(vocab.tokens[len(SPECIAL) :], phrases, domain.preparation)


def form_tokens(form: str, vocab: Vocab) -> list[str]:
    """The tokens of a form as the training files write them: some write `! type`, which reads as the atom `!type`."""
    tokens: list[str] = []
    for token in tokenize(form):
        apart = len(token) > 1 and token[0] == "!" and token not in vocab.index
        tokens.extend((token[0], token[1:]) if apart else (token,))
    return tokens


def _renamed(tokens: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(names.get(token, token) for token in tokens)
