"""Ask a trained run: readings of a question, each with its verdict and answer.

python examples/parse_a_question.py RUN ["question"]
"""

import sys

import dualparse

run, question = [*sys.argv[1:], "which boats are electric"][:2]
parser = dualparse.load(run)
for number, parse in enumerate(parser.parse(question, k=3), start=1):
    print(f"{number}.", parse.form)
    print("   score ", round(parse.score, 3))
    print("   answer", parse.answer if parse.verdict.ok else f"none: {parse.verdict.reason}")
    for note in parse.notes:
        print("   note  ", note)
