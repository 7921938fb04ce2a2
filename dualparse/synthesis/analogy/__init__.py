"""Pairs made by analogy: what a few other words changed in one form, they change in another.

In: labeled pairs. Two of them whose queries differ in one place, and whose forms do as well, tell what the words there
mean: *flights to ci0* and *flights to ci0 on da0* that `on da0` is one more condition, `( day $0 da0 )`. Out: pairs in
which such a change was made to another pair, valid and with a query that nobody has labeled yet. Nothing vouches for
them but the likeness, so a change counts the more, the more often it was seen, and not at all where the same words
meant something else more often.

The idea is that of Andreas (2020), Good-Enough Compositional Data Augmentation; here forms are trees, not words.
"""

from dualparse.synthesis.analogy.pairs import by_analogy

__all__ = ["by_analogy"]
