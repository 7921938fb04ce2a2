"""The fused engine: the attentional LSTM on a GPU, with kernels of its own for what costs most.

Teacher forcing is the network's own code with other `Layers`; a search is one kernel from the first token to the last.
"""

from __future__ import annotations

from torch import Tensor, nn

from dualparse.data.batch import Batch
from dualparse.engines.exact import is_exactly
from dualparse.engines.found import Found, Options, Walk, trace
from dualparse.engines.plain import Plain
from dualparse.engines.triton import search as fused_search
from dualparse.engines.triton.attention import available, fused_scores
from dualparse.engines.triton.lstm import available as lstm_pays_off
from dualparse.engines.triton.lstm import fused_lstm
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Layers, Memory, Seq2Seq, Start, recurrent

PLAIN = Plain()


def fused_recurrent(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor, start: Start | None = None) -> Start:
    """As `lstm.recurrent`, by one kernel where that pays off."""
    chosen = fused_lstm if lstm_pays_off(lstm, inputs) else recurrent
    return chosen(lstm, inputs, lengths, start)


FUSED = Layers(fused_recurrent, fused_scores)


class Fused:
    """Runs what it knows as the plain engine does, up to the precision of tensor cores where that is allowed."""

    name = "triton"

    def supports(self, network: nn.Module) -> bool:
        return is_exactly(network, Seq2Seq)

    def works_with(self, tensor: Tensor) -> bool:
        """Whether there are kernels for such numbers."""
        return available(tensor)

    def score(self, network: Seq2Seq, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
        memory = self.read(network, batch.source, batch.copy)
        if shared:
            memory = memory.repeated(shared, times)
        return network.log_probs(memory, batch.inputs, batch.targets, layers=FUSED).sum(-1)

    def score_texts(self, model: LanguageModel, inputs: Tensor, targets: Tensor) -> Tensor:
        return PLAIN.score_texts(model, inputs, targets)

    def read(self, network: Seq2Seq, source: Tensor, copy: Tensor) -> Memory:
        return network.encode(source, copy, layers=FUSED)

    def search(
        self, network: Seq2Seq, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
    ) -> Found:
        """The kernel does not know what was copied."""
        if walk is not None or not fused_search.available(memory.mask.device, options.beams):
            return PLAIN.search(network, memory, options, walk=walk, copies=copies)
        packed = fused_search.launch(network, memory, **vars(options), tuning=fused_search.PRECISE)
        parts = fused_search.unpack(packed.cpu().numpy(), options.beams)
        return trace(*parts, length_power=options.length_power)
