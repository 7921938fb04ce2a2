"""The game against the paper's formulas, computed by enumeration in a space that a beam holds completely."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import letters
import numpy as np
import pytest
import torch
from torch import Tensor

from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.found import Found, Options
from dualparse.game.dual import Round, Rules, Source, loop_losses, play, stack
from dualparse.game.rewards import less_mean
from dualparse.game.searcher import Searcher
from dualparse.networks.agent import Agent

Judge = Callable[[tuple[str, ...], bool], float]


def sources(agent: Agent, texts: Sequence[tuple[str, ...]]) -> list[Source]:
    return [Source(text, agent.row(text, None, random.Random(0))) for text in texts]


def by_the_paper(
    first: Agent, second: Agent, texts: Sequence[tuple[str, ...]], rules: Rules, valid: Judge, *, k: int
) -> Tensor:
    """What a loop is to minimise, written down as in the paper's Appendix A with the sum over the whole space."""
    total = torch.zeros((), dtype=torch.double)
    for source in texts:
        outputs = list(letters.space(first, source))
        rewards = []
        for output, ends in outputs:
            back = letters.log_prob(second, output, source).item()
            back /= len(source) + 1 if rules.per_token else 1
            rewards.append(rules.weight * valid(output, ends) + (1 - rules.weight) * back)
        baseline = sum(rewards) / len(rewards) if rules.baseline else 0.0
        for (output, ends), reward in zip(outputs, rewards, strict=True):
            total = total - (reward - baseline) / k * letters.log_prob(first, source, output, ends=ends)
            total = total - (1 - rules.weight) / k * letters.log_prob(second, output, source)
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
    rules = (
        Rules(0.3, baseline=baseline, per_token=per_token),
        Rules(0.6, check=0.0, lm=1.0, baseline=baseline, per_token=per_token),
    )
    who = letters.players(copy=copy)
    q2lf, lf2q, query_lm = who.q2lf, who.lf2q, who.query_lm
    outcome = letters.iterate(letters.game(letters.options(from_query=rules[0], from_form=rules[1]), who))
    k = letters.LARGEST
    expected = (
        by_the_paper(q2lf, lf2q, letters.QUERIES, rules[0], lambda y, _: float(letters.check(" ".join(y)).ok), k=k)
        + by_the_paper(
            lf2q,
            q2lf,
            letters.FORMS,
            rules[1],
            lambda x, ends: letters.fluency(query_lm, letters.QUERY, x, ends=ends),
            k=k,
        )
        - sum(letters.log_prob(q2lf, pair.query, pair.lf) for pair in letters.PAIRS)
        - sum(letters.log_prob(lf2q, pair.lf, pair.query) for pair in letters.PAIRS)
    )
    assert outcome.loss == pytest.approx(expected.item(), rel=1e-7)
    assert_same(outcome.gradients, gradients_of(expected, (q2lf, lf2q)))


def test_every_mix_of_check_and_language_model_is_a_validity():
    """Table 5 and what lies between: forms judged by lf_lm and by a graded check."""
    who = letters.players()
    rules = Rules(0.7, check=0.4, lm=0.6)
    told = letters.options(from_query=rules, graded=True, form_loop=False, guidance=0.0)
    outcome = letters.iterate(letters.game(told, who))

    def valid(form: tuple[str, ...], ends: bool) -> float:
        verdict = letters.check(" ".join(form))
        graded = 1.0 if verdict.ok else 0.5 if verdict.surface else 0.0
        return 0.4 * graded + 0.6 * letters.fluency(who.lf_lm, letters.LF, form, ends=ends)

    expected = by_the_paper(who.q2lf, who.lf2q, letters.QUERIES, rules, valid, k=letters.LARGEST)
    assert_same(outcome.gradients, gradients_of(expected, (who.q2lf, who.lf2q)))


def uniform(agent: Agent) -> Agent:
    """The agent made to write every token, the end included, with the same probability."""
    with torch.no_grad():
        agent.model.generate.weight.zero_()
        agent.model.generate.bias.zero_()
        agent.model.generate.bias[:EOS] = -1e4
    return agent


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
def test_by_probability_the_loss_has_the_gradient_of_the_expected_reward(copy):
    """For a policy as it comes: the reward expected of what was found, when one of it is drawn."""
    who = letters.players(copy=copy)
    first, second = who.q2lf, who.lf2q
    told = letters.options(from_query=Rules(0.3, sharpness=1.0), form_loop=False, guidance=0.0)
    outcome = letters.iterate(letters.game(told, who))
    expected = torch.zeros((), dtype=torch.double)
    for query in letters.QUERIES:
        outputs = list(letters.space(first, query))
        likely = torch.stack([letters.log_prob(first, query, form, ends=ends) for form, ends in outputs]).softmax(0)
        for probability, (form, _) in zip(likely, outputs, strict=True):
            reward = 0.3 * letters.check(" ".join(form)).ok + 0.7 * letters.log_prob(second, form, query)
            expected = expected - probability * reward
    assert_same(outcome.gradients, gradients_of(expected, (first, second)))


def test_the_reader_may_hear_likely_hypotheses_only():
    """The writer learns as ever, the reader by probability."""
    hear = [
        letters.iterate(letters.game(letters.options(from_query=rules, form_loop=False, guidance=0.0)))
        for rules in (Rules(0.3), Rules(0.3, hearing=1.0), Rules(0.3, sharpness=1.0))
    ]
    plain, hearing, sharp = (outcome.gradients for outcome in hear)
    assert_same(hearing, {"q2lf": plain["q2lf"], "lf2q": sharp["lf2q"]})
    assert not torch.allclose(plain["lf2q"]["generate.bias"], sharp["lf2q"]["generate.bias"])


@pytest.mark.parametrize("loop", ["from_query", "from_form"])
def test_the_reader_may_learn_less_of_what_it_reads(loop):
    """The writer learns as ever."""
    whole, quarter, none = (
        letters.iterate(
            letters.game(
                letters.options(
                    **{loop: Rules(0.3, lesson=lesson)},
                    query_loop=loop == "from_query",
                    form_loop=loop == "from_form",
                    guidance=0.0,
                )
            )
        ).gradients
        for lesson in (1.0, 0.25, 0.0)
    )
    writer, reader = ("q2lf", "lf2q") if loop == "from_query" else ("lf2q", "q2lf")
    assert_same(quarter, {writer: whole[writer], reader: {k: g / 4 for k, g in whole[reader].items()}})
    assert_same({writer: none[writer]}, {writer: whole[writer]})
    assert not any(gradient.any() for gradient in none[reader].values())
    assert whole[reader]["generate.bias"].abs().max() > 0


def test_a_silent_reader_learns_all_the_rest():
    """lf2q learns what it would without the loop from queries; q2lf learns from its reward all the same."""
    silent, off, whole = (
        letters.iterate(letters.game(letters.options(**changes)))
        for changes in ({"from_query": Rules(0.3, lesson=0.0)}, {"query_loop": False}, {})
    )
    assert_same(silent.gradients, {"q2lf": whole.gradients["q2lf"], "lf2q": off.gradients["lf2q"]})
    torch.testing.assert_close(silent.figures, whole.figures)


def test_shares_by_probability():
    with np.errstate(divide="ignore"):
        found = np.log(np.array([[0.6, 0.2, 0.0], [0.1, 0.3, 0.1], [0.0, 0.0, 0.0]]))
    played = Round(None, [], [], np.zeros((3, 3)), found)
    np.testing.assert_allclose(played.shares(1.0) / 3, [[0.75, 0.25, 0], [0.2, 0.6, 0.2], [0, 0, 0]], rtol=1e-6)
    np.testing.assert_allclose(played.shares(2.0)[0] / 3, [0.9, 0.1, 0], rtol=1e-6)
    assert played.shares(0.0).tolist() == [[1, 1, 0], [1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize("baseline", [True, False], ids=["baseline", "no baseline"])
def test_for_a_uniform_policy_the_loss_has_the_gradient_of_the_expected_reward(baseline, monkeypatch):
    """No trick of policy gradients on the other side: E[r] is written down and differentiated.

    The paper's estimate weighs the k hypotheses alike, so it is exact where they are equally likely; then a baseline
    changes nothing, because the probabilities of the whole space add up to 1.
    """
    monkeypatch.setattr(letters, "LONGEST", 1)
    who = letters.players(copy=False)
    first, second = uniform(who.q2lf), who.lf2q
    rules = Rules(0.3, baseline=baseline)
    told = letters.options(from_query=rules, form_loop=False, guidance=0.0, search=Options(3, 1))
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
    found = Searcher(who.q2lf, Options(letters.LARGEST, letters.LONGEST)).find(
        [source.row for source in sources(who.q2lf, letters.QUERIES)]
    )
    judged = []

    def judge(texts: Sequence[str]) -> list[float]:
        judged.extend(texts)
        return [float(len(text)) for text in texts]

    played = play(who.q2lf, who.lf2q, sources(who.q2lf, letters.QUERIES), found, judge, random.Random(0))
    assert played.texts == judged
    assert np.isfinite(played.log_prob).sum(1).tolist() == list(letters.SIZES)
    assert played.validity.ravel().tolist() == [len(text) for text in judged]
    for i, query in enumerate(letters.QUERIES):
        expected = {" ".join(form) for form, _ in letters.space(who.q2lf, query)}
        texts = played.texts[i * letters.LARGEST : (i + 1) * letters.LARGEST]
        assert {text for text, on in zip(texts, played.log_prob[i], strict=True) if np.isfinite(on)} == expected
        assert all(text == "" for text, on in zip(texts, played.log_prob[i], strict=True) if not np.isfinite(on))
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
    played = play(agent, other, sources(agent, [("x", "new")]), found, lambda texts: [0.0] * 4, random.Random(0))
    assert played.texts == ["A new", "new A B", "", ""]
    assert played.shares(0.0).tolist() == [[1, 1, 1, 0]]
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
    played = play(agent, other, sources(agent, [("x", "new")]), found, lambda texts: [0.0] * 2, random.Random(0))
    assert [row.target for row in played.back] == [[x, size], [x, UNK]]
    assert [row.words for row in played.back] == [("new",), ("B",)]


def test_losses_of_a_loop_by_hand():
    validity, back = torch.tensor([[1.0, 0.0, 5.0]]), torch.tensor([[-2.0, -4.0, 9.0]])
    share = torch.tensor([[1.0, 1.0, 0.0]])
    log_written, log_back = torch.tensor([[-1.0, -3.0, 7.0]]), torch.tensor([[-2.5, -4.5, 8.0]])
    losses = loop_losses(Rules(0.25), validity, back, share, share, log_written, log_back)
    # rewards 0.25 - 1.5 and 0 - 3, mean -2.125: advantages 0.875 and -0.875; the absent third counts in k alone
    assert losses.advantage.tolist() == [[0.875, -0.875, 0.0]]
    assert losses.first.item() == pytest.approx(-(0.875 * -1 - 0.875 * -3) / 3)
    assert losses.second.item() == pytest.approx(-0.75 * (-2.5 - 4.5) / 3)
    plain = loop_losses(Rules(0.25, baseline=False), validity, back, share, share, log_written, log_back)
    assert plain.advantage.tolist() == [[-1.25, -3.0, 0.0]]
    assert plain.first.item() == pytest.approx(-(-1.25 * -1 - 3.0 * -3) / 3)


def test_rewards_carry_no_gradient():
    log_written, log_back = torch.zeros(1, 2, requires_grad=True), torch.zeros(1, 2, requires_grad=True)
    reward = torch.tensor([[-1.0, -2.0]], requires_grad=True)
    losses = loop_losses(
        Rules(0.5), torch.zeros(1, 2), reward, torch.ones(1, 2), torch.ones(1, 2), log_written, log_back
    )
    (losses.first + losses.second).backward()
    assert reward.grad is None
    assert log_written.grad.tolist() == [[-0.125, 0.125]]
    assert log_back.grad.tolist() == [[-0.25, -0.25]]


def test_the_baseline_of_the_mix_is_the_mix_of_the_baselines():
    """The published setup subtracts the means of validity and reconstruction one by one."""
    validity, back = torch.rand(4, 5), -10 * torch.rand(4, 5)
    present = (torch.rand(4, 5) > 0.3).float()
    ones = torch.ones(4, 5)
    losses = loop_losses(Rules(0.3), validity, back, present, present, ones, ones)
    torch.testing.assert_close(losses.advantage, 0.3 * less_mean(validity, present) + 0.7 * less_mean(back, present))


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
    rows = [source.row for source in sources(agent, letters.QUERIES)]
    agent.model.train()
    torch.manual_seed(0)
    noisy, plain = (Searcher(agent, Options(2, letters.LONGEST), noisy=noise) for noise in (True, False))
    scores = {bool(noise.noisy): {str(noise.find(rows).log_prob) for _ in range(5)} for noise in (noisy, plain)}
    assert len(scores[True]) > 1 and len(scores[False]) == 1
    assert agent.model.training
