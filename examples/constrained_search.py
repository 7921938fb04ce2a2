"""Search under a constraint: a guide says which token may come next. Here: any, complete trees, forms of the domain.

A guide is a grammar that is read from left to right (`dualparse.lf.guide`), and one of your own goes the same way:
`Rules` makes one from a table of places and what may stand there.

    python examples/constrained_search.py RUN ["question"]
"""

import sys

import dualparse
from dualparse.choosing.constraint import Constraint
from dualparse.choosing.search import find
from dualparse.engines.found import Options
from dualparse.lf.guide import trees

run, question = [*sys.argv[1:], "list the boats of the moon"][:2]
parser = dualparse.load(run)
words, agent = parser.read(question).words, parser.q2lf
guides = {
    "free": None,
    "one complete tree each": Constraint(trees, agent.target_vocab),
    "the types of the domain": Constraint.of(parser.domain, agent.target_vocab),
}

for name, constraint in guides.items():
    print(name)
    for hypothesis in find(agent, [words], Options(beams=5, max_length=30), constraint=constraint)[0]:
        verdict = parser.domain.check(hypothesis.text)
        print(f"   {hypothesis.score:7.3f}  {hypothesis.text:60} {'ok' if verdict.ok else verdict.reason}")
