"""The point of it all: queries and forms without labels, played with, teach what the labeled pairs do not.

A small domain: two kinds of question, four things, three relations, eight places. Sixteen labeled pairs show every
word, but a third of the combinations of question, thing and relation in none of them, and no combination with more than
one place. Words have to be learned: nothing is copied.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from statistics import mean

import torch
import toy

from dualparse.config import GameSettings
from dualparse.data.examples import Example
from dualparse.data.vocab import Vocab
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.engines.found import Options
from dualparse.game.play import Players
from dualparse.lf import sexpr
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.verdict import VALID, Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Seq2Seq
from dualparse.training.game import Sets, game_task
from dualparse.training.loop import Schedule, fit
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task, form_scores, language_model_task

QUESTIONS = (("show {} {} {}", "( {1} {0} {2} )"), ("how many {} are {} {}", "( count ( {1} {0} {2} ) )"))
THINGS = {"huts": "hut", "lakes": "lake", "trails": "trail", "peaks": "peak"}
RELATIONS = {"near": "near", "north of": "north", "below": "below"}
PLACES = {name: f"en.{name}" for name in ("arn", "berg", "cham", "dorf", "egg", "fels", "gais", "horn")}
GREEDY = Options(beams=1, max_length=14)
SIZE = 24


@dataclass(frozen=True)
class Hikes:
    """The examples: labeled pairs, pairs to be torn apart, pairs to be tested on."""

    labeled: list[Example]
    torn: list[Example]
    test: list[Example]

    @property
    def vocabularies(self) -> tuple[Vocab, Vocab]:
        pairs = self.labeled + self.torn + self.test
        return Vocab.build(pair.query or () for pair in pairs), Vocab.build(pair.lf or () for pair in pairs)


def hikes(seed: int) -> Hikes:
    labeled, others = [], []
    combinations = itertools.product(QUESTIONS, THINGS.items(), RELATIONS.items())
    for i, ((query, form), (things, thing), (words, relation)) in enumerate(combinations):
        for j, (name, place) in enumerate(PLACES.items()):
            pair = Example(
                tuple(query.format(things, words, name).split()), tuple(form.format(thing, relation, place).split())
            )
            shown = (i + seed) % 3 and j == (5 * i + seed) % len(PLACES)
            (labeled if shown else others).append(pair)
    random.Random(seed).shuffle(others)
    return Hikes(labeled, others[:120], others[120:])


def check(text: str) -> Verdict:
    """Relations hold between a kind of thing and a place; what is found can be counted."""
    try:
        tree = sexpr.read(text)
    except LFSyntaxError as error:
        return Verdict(False, False, error.reason)
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] == "count":
        tree = tree[1]
    arguments = (RELATIONS, THINGS, PLACES)
    fine = len(tree) == 3 and all(part in known.values() for part, known in zip(tree, arguments, strict=True))
    return VALID if fine else Verdict(True, False, "no relation between a thing and a place")


def domain() -> Domain:
    return toy.domain(lexicon=Lexicon([]), check=check, execute=None)


def supervised(direction: str, data: Hikes, seed: int) -> Agent:
    """An agent trained on the labeled pairs until it has learned what it can from them."""
    source, target = data.vocabularies if direction == "q2lf" else data.vocabularies[::-1]
    model = Seq2Seq(len(source), len(target), embedding=SIZE, hidden=SIZE, dropout=0.1, copy=False)
    model.initialize(generator=torch.Generator().manual_seed(seed))
    agent = Agent("q2lf" if direction == "q2lf" else "lf2q", model, source, target, Lexicon([]))
    task = agent_task(
        agent, data.labeled, data.test, domain(), optimizer=Adam(5e-3), batch_size=8, seed=seed, search=GREEDY
    )
    list(fit(task, Schedule(140, evaluate_from=60, evaluate_every=20, seed=seed)))
    return agent


def fluent(data: Hikes, seed: int) -> LanguageModel:
    """A language model of all queries but those of the test."""
    vocab = data.vocabularies[0]
    model = LanguageModel(len(vocab), embedding=SIZE, hidden=SIZE, dropout=0.0)
    model.initialize(generator=torch.Generator().manual_seed(seed))
    queries = [pair.query or () for pair in data.labeled + data.torn]
    task = language_model_task(
        model, "query_lm", vocab, queries, queries[:20], optimizer=Adam(1e-2), batch_size=16, seed=seed
    )
    list(fit(task, Schedule(8, seed=seed)))
    return model


def play(q2lf: Agent, lf2q: Agent, data: Hikes, seed: int) -> None:
    """Six epochs of the game; the weights of the last one are kept, whatever the test says."""
    sets = Sets(
        data.labeled,
        data.labeled + [Example(pair.query, None) for pair in data.torn],
        data.labeled + [Example(None, pair.lf) for pair in data.torn],
    )
    task = game_task(
        Players(q2lf, lf2q, fluent(data, seed), None),
        sets,
        data.test,
        domain(),
        GameSettings(beams=3, max_length=12, batch_size=8),
        optimizer=Adam(4e-3),
        seed=seed,
        dev_search=GREEDY,
    )
    list(fit(task, Schedule(6, evaluate_from=6, seed=seed)))


def test_the_game_with_unlabeled_data_beats_supervised_training():
    """Supervised training may even choose its best epoch on the test; the margin is large all the same."""
    before, after = [], []
    for seed in (1, 2, 3):
        data = hikes(seed)
        assert len(data.labeled) == 16
        q2lf, lf2q = supervised("q2lf", data, seed), supervised("lf2q", data, seed)
        before.append(form_scores(q2lf, data.test, domain(), GREEDY)["accuracy"])
        play(q2lf, lf2q, data, seed)
        after.append(form_scores(q2lf, data.test, domain(), GREEDY)["accuracy"])
    assert mean(after) > mean(before) + 20, (before, after)
    assert all(late > early for early, late in zip(before, after, strict=True)), (before, after)
