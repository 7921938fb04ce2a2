"""The game against the paper's formulas, computed by enumeration in a space that a beam holds completely."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import letters
import numpy as np
import pytest
import torch
from torch import Tensor

from dualparse.data.batch import Batch, collate
from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.found import Found, Options
from dualparse.game.play import Source, play, stack
from dualparse.game.rewards import Judged, Rewards, WayBack, less_mean
from dualparse.game.update import teach
from dualparse.networks.agent import Agent
from dualparse.training.searcher import Searcher

Judge = Callable[[tuple[str, ...], bool], float]


def sources(agent: Agent, texts: Sequence[tuple[str, ...]]) -> list[Source]:
    return [Source(text, agent.row(text, None, random.Random(0))) for text in texts]


def read(agent: Agent, starts: Sequence[Source]) -> Batch:
    return collate([source.row for source in starts], target_vocab_size=len(agent.target_vocab))


def by_the_paper(
    first: Agent,
    second: Agent,
    texts: Sequence[tuple[str, ...]],
    share: float,
    valid: Judge,
    *,
    k: int,
    baseline: bool = True,
    per_token: bool = False,
) -> Tensor:
    """What a loop is to minimise, written down as in the paper's Appendix A with the sum over the whole space."""
    total = torch.zeros((), dtype=torch.double)
    for source in texts:
        outputs = list(letters.space(first, source))
        rewards = []
        for output, ends in outputs:
            back = letters.log_prob(second, output, source).item()
            back /= len(source) + 1 if per_token else 1
            rewards.append(share * valid(output, ends) + (1 - share) * back)
        mean = sum(rewards) / len(rewards) if baseline else 0.0
        for (output, ends), reward in zip(outputs, rewards, strict=True):
            total = total - (reward - mean) / k * letters.log_prob(first, source, output, ends=ends)
            total = total - (1 - share) / k * letters.log_prob(second, output, source)
    return total


def gradients_of(loss: Tensor, agents: Sequence[Agent]) -> dict[str, dict[str, Tensor]]:
    for agent in agents:
        agent.model.zero_grad()
    loss.backward()
    return {agent.direction: letters.gradients(agent.model) for agent in agents}


def assert_same(found: dict[str, dict[str, Tensor]], expected: dict[str, dict[str, Tensor]]) -> None:
    for direction, gradients in expected.items():
        assert any(float(g.abs().max()) > 1e-3 for g in gradients.values()), "there is something to compare"
        for name, gradient in gradients.items():
            # The weighing of validity is done in single precision.
            torch.testing.assert_close(found[direction][name], gradient, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@pytest.mark.parametrize("baseline", [True, False], ids=["baseline", "no baseline"])
@pytest.mark.parametrize("per_token", [False, True], ids=["sums", "per token"])
def test_both_loops_and_the_guidance_have_the_gradients_of_the_paper(copy, baseline, per_token):
    told = letters.options(
        letters.from_query(0.3, per_token=per_token), letters.from_form(0.6, per_token=per_token), baseline=baseline
    )
    ways = {"k": letters.LARGEST, "baseline": baseline, "per_token": per_token}
    who = letters.players(copy=copy)
    q2lf, lf2q, query_lm = who.q2lf, who.lf2q, who.query_lm
    outcome = letters.iterate(letters.game(told, who))
    expected = (
        by_the_paper(q2lf, lf2q, letters.QUERIES, 0.3, lambda y, _: float(letters.check(" ".join(y)).ok), **ways)
        + by_the_paper(
            lf2q,
            q2lf,
            letters.FORMS,
            0.6,
            lambda x, ends: letters.fluency(query_lm, letters.QUERY, x, ends=ends),
            **ways,
        )
        - sum(letters.log_prob(q2lf, pair.query, pair.lf) for pair in letters.PAIRS)
        - sum(letters.log_prob(lf2q, pair.lf, pair.query) for pair in letters.PAIRS)
    )
    assert outcome.loss == pytest.approx(expected.item(), rel=1e-7)
    assert_same(outcome.gradients, gradients_of(expected, (q2lf, lf2q)))


def test_every_mix_of_check_and_language_model_is_a_validity():
    """Table 5 and what lies between: forms judged by lf_lm and by a graded check."""
    who = letters.players()
    judges = letters.reward("validity", 0.7 * 0.4, graded=True), letters.reward("form_lm", 0.7 * 0.6)
    told = letters.options((*judges, letters.from_query(0.7)[1]), (), guidance=0.0)
    outcome = letters.iterate(letters.game(told, who))

    def valid(form: tuple[str, ...], ends: bool) -> float:
        verdict = letters.check(" ".join(form))
        graded = 1.0 if verdict.ok else 0.5 if verdict.surface else 0.0
        return 0.4 * graded + 0.6 * letters.fluency(who.lf_lm, letters.LF, form, ends=ends)

    expected = by_the_paper(who.q2lf, who.lf2q, letters.QUERIES, 0.7, valid, k=letters.LARGEST)
    assert_same(outcome.gradients, gradients_of(expected, (who.q2lf, who.lf2q)))


def uniform(agent: Agent) -> Agent:
    """The agent made to write every token, the end included, with the same probability."""
    with torch.no_grad():
        agent.model.generate.weight.zero_()
        agent.model.generate.bias.zero_()
        agent.model.generate.bias[:EOS] = -1e4
    return agent


@pytest.mark.parametrize("loop", ["query", "form"])
def test_the_reader_may_learn_less_of_what_it_reads(loop):
    """The writer learns as ever."""
    rewards = {"query": letters.from_query, "form": letters.from_form}[loop]
    whole, quarter, none = (
        letters.iterate(
            letters.game(
                letters.options(**({"query": (), "form": ()} | {loop: rewards(0.3, lesson=lesson)}), guidance=0)
            )
        ).gradients
        for lesson in (1.0, 0.25, 0.0)
    )
    writer, reader = ("q2lf", "lf2q") if loop == "query" else ("lf2q", "q2lf")
    assert_same(quarter, {writer: whole[writer], reader: {k: g / 4 for k, g in whole[reader].items()}})
    assert_same({writer: none[writer]}, {writer: whole[writer]})
    assert not any(gradient.any() for gradient in none[reader].values())
    assert whole[reader]["generate.bias"].abs().max() > 0


def test_a_silent_reader_learns_all_the_rest():
    """lf2q learns what it would without the loop from queries; q2lf learns from its reward all the same."""
    silent, off, whole = (
        letters.iterate(letters.game(letters.options(**changes)))
        for changes in ({"query": letters.from_query(0.3, lesson=0.0)}, {"query": ()}, {})
    )
    assert_same(silent.gradients, {"q2lf": whole.gradients["q2lf"], "lf2q": off.gradients["lf2q"]})
    assert silent.figures == pytest.approx(whole.figures)


@pytest.mark.parametrize("baseline", [True, False], ids=["baseline", "no baseline"])
def test_for_a_uniform_policy_the_loss_has_the_gradient_of_the_expected_reward(baseline, monkeypatch):
    """No trick of policy gradients on the other side: E[r] is written down and differentiated.

    The paper's estimate weighs the k hypotheses alike, so it is exact where they are equally likely; then a baseline
    changes nothing, because the probabilities of the whole space add up to 1.
    """
    monkeypatch.setattr(letters, "LONGEST", 1)
    who = letters.players(copy=False)
    first, second = uniform(who.q2lf), who.lf2q
    told = letters.options(letters.from_query(0.3), (), guidance=0.0, beams=3, max_length=1, baseline=baseline)
    outcome = letters.iterate(letters.game(told, who))
    expected = torch.zeros((), dtype=torch.double)
    for query in letters.QUERIES:
        for form, ends in letters.space(first, query):
            probability = letters.log_prob(first, query, form, ends=ends).exp()
            assert probability.item() == pytest.approx(1 / 3)
            reward = 0.3 * letters.check(" ".join(form)).ok + 0.7 * letters.log_prob(second, form, query)
            expected = expected - probability * reward
    assert_same(outcome.gradients, gradients_of(expected, (first, second)))


def test_a_round_holds_everything_the_space_holds():
    who = letters.players()
    starts = sources(who.q2lf, letters.QUERIES)
    found = Searcher(who.q2lf, Options(letters.LARGEST, letters.LONGEST)).find(read(who.q2lf, starts))
    judged: dict[str, list[str]] = {}

    def judge(source: str, texts: Sequence[str]) -> list[float]:
        judged[source] = list(texts)
        return [1.0 + len(text) for text in texts]

    rewards = Rewards((Judged("length", 1.0, judge),), back=WayBack(1.0))
    played = play(who.q2lf, who.lf2q, starts, read(who.q2lf, starts), found, rewards, random.Random(0))
    assert played.present.sum(1).tolist() == list(letters.SIZES)
    for i, query in enumerate(letters.QUERIES):
        expected = {" ".join(form) for form, _ in letters.space(who.q2lf, query)}
        texts = played.texts[i * letters.LARGEST : (i + 1) * letters.LARGEST]
        there = [text for text, on in zip(texts, played.present[i], strict=True) if on]
        assert judged[" ".join(query)] == there, "what search did not find is not judged"
        assert set(there) == expected
        assert all(text == "" for text, on in zip(texts, played.present[i], strict=True) if not on)
        assert played.judged[0, i].tolist() == [
            1.0 + len(text) if on else 0.0 for text, on in zip(texts, played.present[i], strict=True)
        ]
    for place, (text, row) in enumerate(zip(played.texts, played.back, strict=True)):
        query = letters.QUERIES[place // letters.LARGEST]
        assert row == who.lf2q.row(text.split(), query, random.Random(0))


def test_hypotheses_become_rows_that_end_where_search_ended():
    """A finished one ends with </s>, one cut off by the limit does not, an absent one is all padding; what was copied
    from beyond the vocabulary is read as <unk> and predicted by its own number."""
    agent, other = letters.players().q2lf, letters.players().lf2q
    size = len(letters.LF)
    a, b, new = letters.LF.index["A"], letters.LF.index["B"], size
    found = Found(
        tokens=np.array([[[a, new, PAD], [new, a, b], [PAD, PAD, PAD], [PAD, PAD, PAD]]]),
        length=np.array([[2, 3, 0, 0]]),
        log_prob=np.array([[-1.0, -2.0, -3.0, -np.inf]]),
        finished=np.array([[True, False, True, False]]),
    )
    starts = sources(agent, [("x", "new")])
    played = play(agent, other, starts, read(agent, starts), found, Rewards(), random.Random(0))
    assert played.texts == ["A new", "new A B", "", ""]
    assert played.present.tolist() == [[1, 1, 1, 0]]
    assert played.back == [], "nobody asks for the way back"
    assert played.written.targets.tolist() == [
        [a, new, EOS, PAD],
        [new, a, b, PAD],
        [EOS, PAD, PAD, PAD],
        [PAD, PAD, PAD, PAD],
    ]
    assert played.written.inputs.tolist() == [
        [BOS, a, UNK, PAD],
        [BOS, UNK, a, b],
        [BOS, PAD, PAD, PAD],
        [BOS, PAD, PAD, PAD],
    ]
    assert played.written.source.tolist() == [[letters.QUERY.index["x"], UNK]]
    assert played.written.copy.tolist() == [[a, new]]


def test_the_way_back_knows_the_words_of_the_hypothesis_alone():
    """A word beyond the vocabulary can be found again where the hypothesis kept it, and is <unk> where it did not."""
    agent, other = letters.players().q2lf, letters.players().lf2q
    size, x = len(letters.QUERY), letters.QUERY.index["x"]
    new = len(letters.LF)
    found = Found(
        tokens=np.array([[[new], [letters.LF.index["B"]]]]),
        length=np.array([[1, 1]]),
        log_prob=np.zeros((1, 2)),
        finished=np.ones((1, 2), dtype=bool),
    )
    starts = sources(agent, [("x", "new")])
    played = play(agent, other, starts, read(agent, starts), found, Rewards(back=WayBack(1.0)), random.Random(0))
    assert [row.target for row in played.back] == [[x, size], [x, UNK]]
    assert [row.words for row in played.back] == [("new",), ("B",)]


def rewards(share: float, **more: object) -> Rewards:
    """Validity by somebody, and the way back."""
    return Rewards((Judged("validity", share, lambda source, texts: []),), (), WayBack(1 - share), **more)


def test_losses_of_a_loop_by_hand():
    columns = [torch.tensor([[1.0, 0.0, 5.0]]), torch.tensor([[-2.0, -4.0, 9.0]])]
    present = torch.tensor([[1.0, 1.0, 0.0]])
    written, back = torch.tensor([-1.0, -3.0, 7.0]), torch.tensor([-2.5, -4.5, 8.0])
    lessons = teach(rewards(0.25), columns, present, written, back)
    # rewards 0.25 - 1.5 and 0 - 3, mean -2.125: advantages 0.875 and -0.875; the absent third counts in k alone
    assert lessons.advantage.tolist() == [[0.875, -0.875, 0.0]]
    assert lessons.first.item() == pytest.approx(-(0.875 * -1 - 0.875 * -3) / 3)
    assert lessons.second.item() == pytest.approx(-0.75 * (-2.5 - 4.5) / 3)
    plain = teach(rewards(0.25, baseline=False), columns, present, written, back)
    assert plain.advantage.tolist() == [[-1.25, -3.0, 0.0]]
    assert plain.first.item() == pytest.approx(-(-1.25 * -1 - 3.0 * -3) / 3)


def test_rewards_carry_no_gradient():
    written, back = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    way = torch.tensor([[-1.0, -2.0]], requires_grad=True)
    lessons = teach(rewards(0.5), [torch.zeros(1, 2), way], torch.ones(1, 2), written, back)
    (lessons.first + lessons.second).backward()
    assert way.grad is None
    assert written.grad.tolist() == [-0.125, 0.125]
    assert back.grad.tolist() == [-0.25, -0.25]


def test_the_baseline_of_the_mix_is_the_mix_of_the_baselines():
    """The published setup subtracts the means of validity and reconstruction one by one."""
    validity, back = torch.rand(4, 5), -10 * torch.rand(4, 5)
    present, ones = (torch.rand(4, 5) > 0.3).float(), torch.ones(20)
    lessons = teach(rewards(0.3), [validity, back], present, ones, ones)
    torch.testing.assert_close(lessons.advantage, 0.3 * less_mean(validity, present) + 0.7 * less_mean(back, present))


def test_rows_of_different_lengths_are_stacked():
    agent = letters.players().q2lf
    row = agent.row(("x", "y", "new"), ("A", "new"), random.Random(0))
    short = letters.players().q2lf.encode_rows([agent.row(("y",), ("B",), random.Random(0))]).batch
    stacked = stack(agent, short.map(lambda tensor: tensor.numpy()), [row], (4, 5))
    size = len(letters.LF)
    assert [array.shape for array in stacked.arrays()] == [(2, 4), (2, 4), (2, 5), (2, 5)]
    assert stacked.source.tolist()[1] == [*row.source, PAD]
    assert stacked.copy.tolist()[1] == [*row.copy, PAD]
    assert stacked.targets.tolist() == [[letters.LF.index["B"], EOS, PAD, PAD, PAD], [4, size + 1, EOS, PAD, PAD]]
    assert stacked.inputs.tolist()[1] == [BOS, 4, UNK, PAD, PAD]


def test_noise_in_the_search_varies_what_is_found_and_leaves_the_model_as_it_was():
    agent = letters.players(dropout=0.5).q2lf
    batch = read(agent, sources(agent, letters.QUERIES))
    agent.model.train()
    torch.manual_seed(0)
    noisy, plain = (Searcher(agent, Options(2, letters.LONGEST), noisy=noise) for noise in (True, False))
    scores = {bool(noise.noisy): {str(noise.find(batch).log_prob) for _ in range(5)} for noise in (noisy, plain)}
    assert len(scores[True]) > 1 and len(scores[False]) == 1
    assert agent.model.training
