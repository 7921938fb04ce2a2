"""One round of the two-agent game: forms for a query, what each is worth, and the way back.

python examples/play_a_round.py RUN ["query"]
"""

import sys

import torch

import dualparse
from dualparse.game.tell import open_players, tell_round

run, query = [*sys.argv[1:], "how big is the heron"][:2]
parser = dualparse.load(run)
players = open_players(parser.run, parser.domain, torch.device("cpu"))
told = tell_round(parser.run, players, parser.domain, parser.read(query).words, "q2lf", beams=4)
print("query:", told.source)
for move in told.moves:
    print(f"{move.text}\n   reward {move.reward:.2f}  advantage {move.advantage:+.2f}  comes back as: {move.said_back}")
