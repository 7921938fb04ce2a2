"""The compiled engine: the attentional LSTM and the LSTM language model on a CPU, with loops that Numba compiled.

Teacher forcing goes without padding (`packed`), search with compiled steps (`search`).
"""

from __future__ import annotations

from torch import Tensor, nn

from dualparse.data.batch import Batch
from dualparse.engines.exact import is_exactly
from dualparse.engines.found import Found, Options, Walk, trace
from dualparse.engines.numba import loading
from dualparse.engines.numba.packed import packed_log_probs, packed_memory, packed_text_log_probs
from dualparse.engines.numba.search import compiled_beam
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Memory, Seq2Seq


class Compiled:
    """Runs what it knows as the plain engine does, up to rounding and to what dropout draws, and quicker."""

    name = "numba"

    def supports(self, network: nn.Module) -> bool:
        return is_exactly(network, Seq2Seq, LanguageModel)

    def works_with(self, tensor: Tensor) -> bool:
        """Whether the kernels are loaded and take such numbers."""
        return loading.usable(tensor)

    def score(self, network: Seq2Seq, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
        return packed_log_probs(network, batch, shared=shared, times=times)

    def score_texts(self, model: LanguageModel, inputs: Tensor, targets: Tensor) -> Tensor:
        return packed_text_log_probs(model, inputs, targets)

    def read(self, network: Seq2Seq, source: Tensor, copy: Tensor) -> Memory:
        return packed_memory(network, source, copy)

    def search(
        self, network: Seq2Seq, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
    ) -> Found:
        """What `beam` finds, by compiled steps."""
        *parts, copied = compiled_beam(network, memory, **vars(options), walk=walk)
        return trace(*parts, length_power=options.length_power, copied=copied if copies else None)
