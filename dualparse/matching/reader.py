"""The second reader: it reads a question and an utterance together, and says how well one says what the other says.

In: what the lower layers of an encoder make of questions and of utterances, each read by itself. Out: a score for each
pair. Only the last layers look at both, so what lies below is worked out once for a question and its twenty utterances,
and two cores read them within a tenth of a second. It begins as it ships: from invented schemas it has learned what
two texts that differ in one word can mean (`python -m benchmarks.adapter --reader`).
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.errors import InputError
from dualparse.matching.adapter import open_matcher, read_changes
from dualparse.matching.matcher import Matcher
from dualparse.matching.upper import States, above, blocks_of, states_below
from dualparse.networks.encoder import Tokens
from dualparse.networks.minilm import MINILM

LAYERS = 2  # that look at both texts
AT_ONCE = 64  # pairs that are read together
SHIPPED = Path(__file__).parent / "shipped" / "reader.safetensors"
SHIPPED_SHA256 = "68eef183c6714f24d06de5c4e6f0a8e7b1c69057f78d449bf275a864d039adde"


class SecondReader(nn.Module):
    """The last layers of an encoder, as many as `layers`, which read two texts together; they begin as the encoder has
    them. A score is the likeness of both texts, each seen with the other, and what a linear layer makes of all."""

    def __init__(self, matcher: Matcher, layers: int = LAYERS):
        super().__init__()
        blocks = blocks_of(matcher.encoder)
        if not 1 <= layers <= len(blocks):
            raise InputError(f"{layers} layers of {matcher.encoder.name!r} are to read; it has {len(blocks)}")
        self.first = len(blocks) - layers
        self.layers = nn.ModuleList(copy.deepcopy(blocks[self.first :])).requires_grad_(True)
        self.which = nn.Parameter(torch.zeros(2, matcher.encoder.width))  # added to the first text, to the second
        self.steepness = nn.Parameter(matcher.scale.detach().clone())
        self.score = nn.Linear(matcher.encoder.width, 1)
        nn.init.zeros_(self.score.weight)
        nn.init.zeros_(self.score.bias)
        self._matcher = [matcher]  # in a list: its parameters are none of ours
        self._body = [above(matcher.encoder.body, self.layers)]

    def beside(self, matcher: Matcher) -> SecondReader:
        """This reader behind another matcher, whose lower layers read the texts for it; on its device."""
        self._matcher = [matcher]
        return self.to(matcher.encoder.device)

    def states(self, texts: Sequence[str]) -> States:
        """What the layers below make of texts."""
        return self.states_of(self._matcher[0].encoder.tokens(texts))

    def states_of(self, tokens: Tokens) -> States:
        """The same of texts as numbers."""
        return states_below(self._matcher[0].encoder, tokens, self.first)

    def forward(self, questions: States, utterances: States) -> Tensor:
        """[N] scores of pairs of texts."""
        joined, length = questions.joined(utterances)
        states, there = joined.padded()
        place = torch.arange(there.shape[1])
        second = (place >= length[:, :1]).to(there.device)
        states = states + self.which[second.long()] * there.unsqueeze(-1)
        read = self._body[0](inputs_embeds=states, attention_mask=there.long()).last_hidden_state.float()
        one, other = (_mean(read, there & side) for side in (~second, second))
        alike = (F.normalize(one, dim=-1) * F.normalize(other, dim=-1)).sum(-1)
        return self.steepness.exp() * alike + self.score(_mean(read, there)).squeeze(-1)

    def read_all(self, questions: States, utterances: States, shown: Tensor) -> Tensor:
        """[Q, n] the scores of the utterances `shown` to each question, by their numbers."""
        again = torch.arange(len(questions)).repeat_interleave(shown.shape[1])
        return self(questions.take(again), utterances.take(shown.flatten())).view(shown.shape)

    @torch.no_grad()
    def scores(self, questions: Sequence[str], utterances: Sequence[Sequence[str]]) -> list[Tensor]:
        """For every question the scores of its utterances."""
        counts = [len(texts) for texts in utterances]
        if not sum(counts):
            return [torch.zeros(0) for _ in questions]
        known = {text: number for number, text in enumerate(dict.fromkeys(t for texts in utterances for t in texts))}
        asked, said = self.states(questions), self.states(list(known))
        whose = torch.arange(len(questions)).repeat_interleave(torch.tensor(counts))
        which = torch.tensor([known[text] for texts in utterances for text in texts])
        was_training = self.training
        self.eval()
        order = (asked.length[whose] + said.length[which]).argsort(stable=True)
        parts = [self(asked.take(whose[rows]), said.take(which[rows])).cpu() for rows in order.split(AT_ONCE)]
        self.train(was_training)
        return list(torch.cat(parts)[order.argsort()].split(counts))

    def state_dict(self, *args: object, **named: object) -> dict[str, Tensor]:  # type: ignore[override]
        """What is kept, in half precision."""
        return {name: tensor.half() for name, tensor in super().state_dict(*args, **named).items()}  # type: ignore[call-overload]


def _mean(read: Tensor, there: Tensor) -> Tensor:
    """[N, n] the mean of the states [N, S, n] that are `there`."""
    weight = there.to(read.dtype).unsqueeze(-1)
    return (read * weight).sum(1) / weight.sum(1).clamp_min(1)


def open_reader(matcher: Matcher, encoder: str = MINILM) -> SecondReader:
    """A second reader that has learned nothing of any domain yet, beside a matcher by that encoder: as it ships for the
    packaged MiniLM, and as the encoder is for others."""
    reader = SecondReader(open_matcher(encoder))
    if encoder == MINILM:
        with SHIPPED.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != SHIPPED_SHA256:
                reason = "not the reader this version came with (SHA-256 differs): install it anew"
                raise InputError(reason, path=SHIPPED)
        change(reader, read_changes(SHIPPED), path=SHIPPED)
    return reader.beside(matcher).eval().requires_grad_(False)


@torch.no_grad()
def change(reader: SecondReader, changes: Mapping[str, Tensor], *, path: Path) -> None:
    """Change a reader as a file says: NAME.up and NAME.down are added to a matrix, all else takes its place."""
    for name, parameter in reader.named_parameters():
        part = name.removesuffix(".weight")
        up, down = changes.get(f"{part}.up"), changes.get(f"{part}.down")
        if up is not None and down is not None and (len(up), down.shape[1]) == tuple(parameter.shape):
            parameter.add_((up.float() @ down.float()).to(parameter))
        elif (learned := changes.get(name)) is not None and learned.shape == parameter.shape:
            parameter.copy_(learned)
        else:
            raise InputError("it was trained with another encoder", path=path)


def restored_reader(matcher: Matcher, tensors: Mapping[str, Tensor], *, path: Path) -> SecondReader:
    """The reader that was kept in a run, beside its matcher; `path` is the file it comes from."""
    numbers = {name.split(".")[1] for name in tensors if name.startswith("layers.")}
    reader = SecondReader(matcher, max(len(numbers), 1)).beside(matcher)
    change(reader, tensors, path=path)
    return reader.eval().requires_grad_(False)
