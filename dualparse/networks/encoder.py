"""A pretrained encoder of sentences: texts in, vectors of length 1 out.

An encoder is a folder as transformers saves one (config.json, model.safetensors, tokenizer.json), or a name as people
name them on the model hub. The default, MiniLM-L6, comes with the extra `pretrained` as a package and needs no network;
its weights are checked against their checksum. Where the package cannot be installed, `DUALPARSE_MINILM` names a folder
with MiniLM, in half precision or with fewer word pieces if you like, which is taken as it is. Vectors are means over
the tokens of a text, as MiniLM was trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.errors import InputError
from dualparse.networks.minilm import INSTALL, LONGEST, MINILM, minilm_folder


@dataclass(frozen=True)
class Tokens:
    """Texts as numbers.

    ids [N, S] word pieces, 0 behind the end    length [N]
    seen [N] the lengths once more, on the host: looking at them waits for no device
    """

    ids: Tensor
    length: Tensor
    seen: Tensor

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Tensor) -> Tokens:
        """Some of the texts, by their numbers on the host, cut to the longest of them."""
        seen, there = self.seen[rows], rows.to(self.ids.device, non_blocking=True)
        width = max(int(seen.max()), 1) if len(seen) else 1
        return Tokens(self.ids[there, :width], self.length[there], seen)

    def to(self, device: torch.device) -> Tokens:
        return Tokens(self.ids.to(device), self.length.to(device), self.seen)

    def beside(self, others: Tokens) -> Tokens:
        """These texts and then others, to be read in one pass."""
        width = max(self.ids.shape[1], others.ids.shape[1])
        ids = torch.cat([F.pad(one.ids, (0, width - one.ids.shape[1])) for one in (self, others)])
        return Tokens(ids, torch.cat([self.length, others.length]), torch.cat([self.seen, others.seen]))


class Encoder(nn.Module):
    """A transformer that has read a lot, and its tokenizer."""

    def __init__(self, body: Any, tokenizer: Any, name: str):
        super().__init__()
        self.body, self.tokenizer, self.name = body, tokenizer, name

    @property
    def width(self) -> int:
        return int(self.body.config.hidden_size)

    @property
    def device(self) -> torch.device:
        return next(self.body.parameters()).device

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """Texts as numbers, on the CPU."""
        read = [item.ids for item in self.tokenizer.encode_batch(list(texts))]
        length = torch.tensor([len(ids) for ids in read], dtype=torch.long)
        ids = torch.zeros(len(read), int(length.max()) if len(read) else 1, dtype=torch.long)
        for row, numbers in zip(ids, read, strict=True):
            row[: len(numbers)] = torch.tensor(numbers)
        return Tokens(ids, length, length)

    def means(self, tokens: Tokens) -> Tensor:
        """[N, n] the mean over the tokens of each text."""
        mask = torch.arange(tokens.ids.shape[1], device=tokens.ids.device) < tokens.length[:, None]
        states = self.body(input_ids=tokens.ids, attention_mask=mask.long()).last_hidden_state
        weight = mask.to(states.dtype).unsqueeze(-1)
        return (states * weight).sum(1) / weight.sum(1).clamp_min(1)

    def forward(self, tokens: Tokens) -> Tensor:
        """[N, n] vectors of length 1."""
        return F.normalize(self.means(tokens).float(), dim=-1)

    @torch.no_grad()
    def vectors(self, texts: Sequence[str], *, at_once: int = 256) -> Tensor:
        """[N, n] vectors of texts without gradients, on the CPU; similar lengths go together."""
        if not texts:
            return torch.zeros(0, self.width)
        tokens, was_training = self.tokens(texts), self.training
        order = tokens.length.argsort(stable=True)
        self.eval()
        parts = [self(tokens.take(rows).to(self.device)).cpu() for rows in order.split(at_once)]
        self.train(was_training)
        return torch.cat(parts)[order.argsort()]


def in_half(device: torch.device) -> AbstractContextManager[object]:
    """Half precision in the products, where the processor is made for it."""
    return torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()


def open_encoder(name: str = MINILM) -> Encoder:
    """An encoder by the name of a folder, or on the model hub; the default is the MiniLM that comes as a package."""
    if find_spec("transformers") is None or find_spec("tokenizers") is None:
        raise InputError(f"a pretrained encoder needs transformers and tokenizers: {INSTALL}")
    place = str(minilm_folder()) if name == MINILM else name
    transformers, tokenizers = import_module("transformers"), import_module("tokenizers")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place).backend_tokenizer
        body, told = _body(transformers, place)
    except (OSError, ValueError, AttributeError, KeyError, SafetensorError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"no encoder {name!r}: expected a folder with one, or its name on the hub ({reason})"
        ) from None
    assert isinstance(tokenizer, tokenizers.Tokenizer)
    if problem := _problem(body, tokenizer, told["missing_keys"]):
        raise InputError(f"no encoder {name!r}: {problem}")
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return Encoder(body, tokenizer, name)


def _body(transformers: Any, place: str) -> tuple[Any, dict[str, Any]]:
    """The transformer of an encoder, and what transformers tells of its weights."""
    how = {"dtype": torch.float32, "output_loading_info": True}
    try:
        return transformers.AutoModel.from_pretrained(place, add_pooling_layer=False, **how)
    except TypeError:  # encoders that never have a pooling layer
        return transformers.AutoModel.from_pretrained(place, **how)


def _problem(body: Any, tokenizer: Any, missing: Iterable[str]) -> str:
    """What is wrong with an encoder that could be read; "" where nothing is. Layers without weights would be drawn at
    random, and a tokenizer without words reads nothing: both would be silently useless."""
    if gone := sorted(name for name in missing if "pooler" not in name):  # what is pooled is not read
        return f"its weights are not complete ({gone[0]} is missing)"
    if bad := next((name for name, weight in body.named_parameters() if not weight.isfinite().all()), ""):
        return f"its weights are damaged ({bad} has values that are no numbers)"
    known, rows = tokenizer.get_vocab(), body.get_input_embeddings().weight.shape[0]
    if max(known.values(), default=0) >= rows or len(known) < rows / 2:
        return f"its tokenizer is not the one of its weights ({len(known)} word pieces, {rows} vectors)"
    return ""
