"""An agent that reads with a pretrained encoder: words are means of their word pieces, and it learns slowly there."""

from __future__ import annotations

import torch

from dualparse.data.vocab import SPECIAL
from dualparse.networks.encoder import open_encoder
from dualparse.networks.pretrained import Pretrained
from dualparse.training.step import Adam, Stepper

WORDS = [*SPECIAL, "huts", "showers", "over", "snowdrift"]


def reading(folder) -> Pretrained:
    return Pretrained(len(WORDS), 9, reader=open_encoder(str(folder)), embedding=5, hidden=6, dropout=0.0).eval()


def test_a_word_is_the_mean_of_its_pieces_in_their_sentence(tiny_encoder):
    network, encoder = reading(tiny_encoder), open_encoder(str(tiny_encoder))
    huts, showers, over = (encoder.tokenizer.token_to_id(word) for word in ("huts", "showers", "over"))
    unknown = encoder.tokenizer.token_to_id("[UNK]")
    network._keep([[unknown]] * 4 + [[huts], [showers, over], [over], [unknown]], network.marks.tolist())
    found = network.read(torch.tensor([[4, 5, 0], [6, 4, 4]]))
    text = torch.tensor([[2, huts, showers, over, 3]])
    states = encoder.body(input_ids=text).last_hidden_state[0]
    torch.testing.assert_close(found[0, 0, :-5], states[1])
    torch.testing.assert_close(found[0, 1, :-5], states[2:4].mean(0))
    assert not found[0, 2, :-5].any() and found.shape == (2, 3, 37)


def test_only_the_pieces_of_the_vocabulary_are_kept_and_read_as_before(tiny_encoder):
    network, encoder = reading(tiny_encoder), open_encoder(str(tiny_encoder))
    before = len(encoder.body.get_input_embeddings().weight)
    network.know(WORDS)
    assert len(network.body.get_input_embeddings().weight) == 7 < before  # [PAD] [UNK] [CLS] [SEP] and three words
    text = encoder.tokens(["huts over snowdrift"]).ids
    states = encoder.body(input_ids=text).last_hidden_state[0]
    torch.testing.assert_close(network.read(torch.tensor([[4, 6, 7]]))[0, :, :-5], states[1:-1])


def test_a_source_longer_than_the_encoder_reads_is_no_error(tiny_encoder):
    network = reading(tiny_encoder)
    found = network.read(torch.full((2, 600), 4))
    assert found[0, 509, :-5].any() and not found[0, 510:, :-5].any()


def test_the_encoder_stays_as_it_came_and_learns_slower_than_the_rest(tiny_encoder):
    network = reading(tiny_encoder)
    before = {name: tensor.clone() for name, tensor in network.body.state_dict().items()}
    network.initialize(generator=torch.Generator().manual_seed(1))
    assert all(torch.equal(before[name], tensor) for name, tensor in network.body.state_dict().items())
    stepper = Stepper(
        {"q2lf": network}, lambda key: (network.read(torch.tensor([[4]])).sum(), torch.zeros(1)), 1, Adam()
    )
    rates = {id(p): group["lr"] for group in stepper.optimizers["q2lf"].param_groups for p in group["params"]}
    assert {rates[id(p)] for p in network.body.parameters()} == {1e-4}
    assert rates[id(network.generate.weight)] == 1e-3
