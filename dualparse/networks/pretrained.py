"""An LSTM agent that reads its source with a pretrained encoder, such as MiniLM.

The encoder reads the word pieces of the whole source; a word is the mean of its pieces, so that it is copied as a word.
Beside it stands the word's own vector, which may start from word vectors and learns at the full rate; the encoder
learns ten times slower. A BiLSTM on top and the decoder are those of `lstm`. Of the encoder's word pieces only those
that the vocabulary has are kept. Words arrive as numbers, so `know` has to tell what these stand for.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dualparse.data.vocab import PAD, SPECIAL
from dualparse.networks.dropout import Dropout
from dualparse.networks.encoder import Encoder, in_half
from dualparse.networks.lstm import Seq2Seq

SLOWER = 0.1  # the encoder's share of the learning rate
UNKNOWN = "\N{SNOWMAN}"  # a word that no encoder has read often
LONGEST = 510  # word pieces of a source; words beyond have their own vector alone


class Pretrained(Seq2Seq):
    """P(target | source), the source read by somebody who has read a lot."""

    slower = {"body.": SLOWER}

    pieces: Tensor  # [V, P] the word pieces of each source token, 0 where there are no more
    marks: Tensor  # [3] beginning and end of a text, and what is unknown

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        reader: Encoder,
        embedding: int = 100,
        hidden: int = 200,
        dropout: float = 0.5,
        word_dropout: float = 0.0,
        copy: bool = True,
    ):
        super().__init__(
            source_size,
            target_size,
            embedding=embedding,
            hidden=hidden,
            dropout=dropout,
            word_dropout=word_dropout,
            copy=copy,
        )
        self.encoder = nn.LSTM(reader.width + embedding + 1, hidden, batch_first=True, bidirectional=True)
        self.body, self._tokenizer = reader.body, reader.tokenizer
        _draw_for_itself(self.body)
        ends = self._tokenizer.encode("").ids
        unknown = self._tokenizer.encode(UNKNOWN, add_special_tokens=False).ids[:1]
        self._keep([unknown] * source_size, (ends[0], ends[-1], *unknown))

    def know(self, tokens: Sequence[str]) -> None:
        texts = [token if number >= len(SPECIAL) else UNKNOWN for number, token in enumerate(tokens)]
        read = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        first, last, *unknown = self.marks.tolist()
        self._keep([item.ids or unknown for item in read], (first, last, *unknown))
        kept = [0, *sorted({*self.marks.tolist(), *self.pieces.flatten().tolist()} - {0})]
        new = torch.zeros(max(kept) + 1, dtype=torch.long)
        new[kept] = torch.arange(len(kept))
        self.pieces, self.marks = new[self.pieces], new[self.marks]
        whole = self.body.get_input_embeddings().weight.detach()
        self.body.set_input_embeddings(nn.Embedding.from_pretrained(whole[kept], freeze=False, padding_idx=0))

    def _keep(self, read: Sequence[Sequence[int]], marks: Sequence[int]) -> None:
        """The word pieces of every token, and the marks around a text."""
        pieces = torch.zeros(len(read), max(map(len, read)), dtype=torch.long)
        for number, (row, ids) in enumerate(zip(pieces, read, strict=True)):
            if number != PAD:
                row[: len(ids)] = torch.tensor(ids)
        self.register_buffer("pieces", pieces, persistent=False)
        self.register_buffer("marks", torch.tensor(marks), persistent=False)

    @torch.no_grad()
    def initialize(self, *, scale: float = 0.2, generator: torch.Generator | None = None) -> None:
        """The encoder stays as it came; all else is that of an LSTM."""
        body, self.body = self.body, nn.Identity()
        super().initialize(scale=scale, generator=generator)
        self.body = body

    def read(self, source: Tensor) -> Tensor:
        """[B, S] numbers -> [B, S, n + E] what the encoder makes of each word, and the word's own vector."""
        own = self.source_embedding(source)
        pieces = self.pieces[source]
        there = pieces != 0
        count = there.sum(-1)
        place = (1 + count.cumsum(1) - count).unsqueeze(-1) + torch.arange(pieces.shape[-1], device=source.device)
        there &= place <= LONGEST
        last = (count.sum(1) + 1).clamp(max=LONGEST + 1)
        width = int(last.max()) + 1
        # Whatever stands nowhere goes to one place more, which is cut off.
        ids = source.new_zeros(len(source), width + 1)
        ids[:, 0] = self.marks[0]
        ids.scatter_(1, last.unsqueeze(1), self.marks[1].expand(len(source), 1))
        place = place.masked_fill(~there, width)
        ids.scatter_(1, place.flatten(1), pieces.flatten(1))
        mask = torch.arange(width, device=source.device) <= last.unsqueeze(1)
        with in_half(source.device):
            states = self.body(input_ids=ids[:, :width], attention_mask=mask.long()).last_hidden_state
        states = states.to(own.dtype)
        index = place.masked_fill(~there, 0).flatten(1).unsqueeze(-1).expand(-1, -1, states.shape[-1])
        parts = states.gather(1, index).view(*pieces.shape, -1) * there.unsqueeze(-1)
        return torch.cat([parts.sum(2) / there.sum(-1, keepdim=True).clamp_min(1), own], dim=-1)


def _draw_for_itself(body: nn.Module) -> None:
    """What the encoder drops is drawn as in other networks; attention weights are not dropped."""
    for module in body.modules():
        for name, part in module.named_children():
            if isinstance(part, nn.Dropout):
                attends = "attention" in type(module).__name__.lower() and "output" not in type(module).__name__.lower()
                setattr(module, name, Dropout(0.0 if attends else part.p))
