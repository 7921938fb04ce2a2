"""Order-free normal form of a logical form, for exact match (paper Section 4.2: accuracy on ATIS).

In: a tree or its text. Out: the same with the arguments of every `and` and `or` sorted by their printed text.
Variables keep their names and duplicates stay, because the benchmark compares forms that way.
"""

from __future__ import annotations

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import MAX_DEPTH, Tree, read, write

ORDER_FREE = frozenset({"and", "or"})


def normalize(tree: Tree) -> Tree:
    """The normal form of a tree; two forms match exactly when theirs are equal.

    >>> normalize(("and", ("to", "$0", "b"), ("from", "$0", "a")))
    ('and', ('from', '$0', 'a'), ('to', '$0', 'b'))
    """
    return _normalize(tree, depth=0)


def normalize_text(text: str) -> str:
    """The normal form of a form's text; `LFSyntaxError` if the text is not one tree.

    >>> normalize_text("( lambda $0 e ( or ( wet $0 ) ( dry $0 ) ) )")
    '( lambda $0 e ( or ( dry $0 ) ( wet $0 ) ) )'
    """
    return write(normalize(read(text)))


def _normalize(tree: Tree, *, depth: int) -> Tree:
    if isinstance(tree, str):
        return tree
    if depth == MAX_DEPTH:  # the reader's limit, for trees that did not come from it
        raise LFSyntaxError(f"nested deeper than {MAX_DEPTH}")
    parts = tuple([_normalize(part, depth=depth + 1) for part in tree])
    if parts[0] in ORDER_FREE:
        return (parts[0], *sorted(parts[1:], key=write))
    return parts
