"""A single-layer LSTM language model of queries or of logical forms (paper Section 3.2.1, Eq. 10).

It judges how natural a query is (the validity reward of the loop that starts from a form) and, as the alternative of
the paper's Table 5, how form-like a form is.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.data.vocab import PAD
from dualparse.networks.dropout import Dropout
from dualparse.networks.network import TextModel


class LanguageModel(TextModel):
    """P(sequence)."""

    own_noise = True

    def __init__(self, size: int, *, embedding: int = 100, hidden: int = 200, dropout: float = 0.5):
        super().__init__()
        self.embedding = nn.Embedding(size, embedding, padding_idx=PAD)
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.predict = nn.Linear(hidden, size)
        self.dropout = Dropout(dropout)

    def log_probs(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """log P(target_t | target_<t), [B, T]; 0 at padding."""
        hidden, _ = self.lstm(self.dropout(self.embedding(inputs)))
        logits = self.predict(self.dropout(hidden))
        losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)
        return (-losses).masked_fill(targets == PAD, 0.0)


def length_normalized(log_probs: Tensor, targets: Tensor) -> Tensor:
    """Log-probabilities [B] divided by the number of tokens predicted, the end included (Eq. 10)."""
    return log_probs / (targets != PAD).sum(-1).clamp_min(1)
