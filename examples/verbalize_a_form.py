"""The way back: say a logical form in words, with the second of the two agents.

python examples/verbalize_a_form.py RUN ["( form )"]
"""

import sys

import dualparse

run, form = [*sys.argv[1:], "( argmax ( all boat ) seats )"][:2]
for wording in dualparse.load(run).verbalize(form, k=3):
    print(f"{wording.score:.3f}  {wording.query}")
