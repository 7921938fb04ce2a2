"""Questions by the thousand: one call for all of them is many times quicker than one call each.

python examples/parse_many_questions.py RUN
"""

import sys
import time

import dualparse

parser = dualparse.load(sys.argv[1], device="auto")
questions = [f"boats for at least {number} people" for number in range(50)]
parser.parse(questions[0])  # loads the model

start = time.perf_counter()
together = parser.parse_all(questions, k=1)
middle = time.perf_counter()
alone = [parser.parse(question, k=1) for question in questions]
end = time.perf_counter()

print("the same forms:", [p[0].form for p in together] == [p[0].form for p in alone])
print(f"together {middle - start:.2f} s, one by one {end - middle:.2f} s")
