"""Search under a constraint: a mask says which tokens may follow. Here: every output is one complete tree.

A mask sees the tokens so far, [B, k, t], and answers with what may come next, [B, k, V + S]: V tokens of the
vocabulary, and S words of the question that can be copied.

    python examples/constrained_search.py RUN ["question"]
"""

import random
import sys

import torch
from torch import Tensor

import dualparse
from dualparse.choosing.search import find
from dualparse.data.vocab import EOS
from dualparse.engines.found import Options

run, question = [*sys.argv[1:], "list the boats of the moon"][:2]
parser = dualparse.load(run)
words, agent = parser.read(question).words, parser.q2lf
OPEN, CLOSE = (agent.target_vocab.index[token] for token in "()")


def one_tree(prefix: Tensor) -> Tensor:
    """`</s>` when all parentheses are closed and something is written, `)` when one is open, a form begins with `(`."""
    depth = (prefix == OPEN).sum(-1) - (prefix == CLOSE).sum(-1)  # [B, k]
    begun = prefix.shape[-1] > 0
    complete = (depth == 0) & begun
    allowed = torch.ones(*depth.shape, len(agent.target_vocab) + len(words), dtype=torch.bool)
    allowed[complete] = False
    allowed[..., EOS] = complete
    allowed[..., CLOSE] = (depth > 0) & (prefix[..., -1] != OPEN) if begun else False
    if not begun:
        allowed[...] = False
        allowed[..., OPEN] = True
    return allowed


options = Options(beams=5, max_length=30)
for name, mask in (("free", None), ("one complete tree each", one_tree)):
    print(name)
    for hypothesis in find(agent, [words], options, rng=random.Random(0), mask=mask)[0]:
        verdict = parser.domain.check(hypothesis.text)
        print(f"   {hypothesis.score:7.3f}  {hypothesis.text:60} {'ok' if verdict.ok else verdict.reason}")
