"""What the results of sweeps say, beside what the paper says. Reads files only.

results.py   stored results -> outcomes with the paper's names for methods; medians over seeds
paper.py     the paper's numbers
tables.py    tables laid out like the paper's
figures.py   its curves, and the paper against ours per method
claims.py    which of its claims our numbers support
sure.py      how sure answers are, and how well that holds
page.py      all of it as one page, and a part of it for a page of somebody else's
"""
