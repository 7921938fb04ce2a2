"""Where did the model look, and what did it copy? Each token of the form with the words it attended to.

python examples/explain_a_parse.py RUN ["question"]
"""

import sys

import dualparse

run, question = [*sys.argv[1:], "how big is the Grey Gull?"][:2]
told = dualparse.load(run).explain(question)
copied = {copy.token: " ".join(told.said[word] for word in copy.words) for copy in told.copies}
for place, (token, weights, gate) in enumerate(zip(told.tokens, told.attention, told.gate, strict=True)):
    weight, word = max(zip(weights, told.words, strict=True))
    source = f"copied from {copied[place]!r}" if place in copied else "generated"
    print(f"{token:18} looked at {word!r:10} ({weight:.2f})  gate {gate:.2f}  {source}")
