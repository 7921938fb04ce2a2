"""Logical-form text <-> tree. The only tree type of the package.

A tree is an atom (`str`) or a list (`tuple` of trees): immutable, hashable, cheap. In: text or tokens. Out: a tree,
or `LFSyntaxError` with the position and the reason. Tokens are separated by spaces; a parenthesis is a token of its
own with or without spaces around it, and `! type` reads as the single atom `!type`.

Nothing here recurses, and text, tokens and depth are limited, so that hostile text is refused in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from dualparse.lf.errors import LFSyntaxError

Tree = str | tuple["Tree", ...]

MAX_CHARACTERS = 100_000
MAX_TOKENS = 2_000
MAX_DEPTH = 100


def tokenize(text: str) -> list[str]:
    """Tokens of a form; a lone `!` joins the atom after it.

    >>> tokenize("(string ! type)")
    ['(', 'string', '!type', ')']
    """
    if len(text) > MAX_CHARACTERS:  # before splitting: the tokens of a huge text alone would fill the memory
        raise LFSyntaxError(f"longer than {MAX_CHARACTERS} characters")
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    if "!" not in tokens:
        return tokens
    joined: list[str] = []
    for token in tokens:
        if joined and joined[-1] == "!" and token not in ("(", ")"):
            joined[-1] = "!" + token
        else:
            joined.append(token)
    return joined


def read(text: str) -> Tree:
    """Text -> tree, or `LFSyntaxError` with position and reason.

    >>> read("( count ( all trail ) )")
    ('count', ('all', 'trail'))
    >>> read("( count ( all trail )")
    Traceback (most recent call last):
    dualparse.lf.errors.LFSyntaxError: missing closing parenthesis for the one opened at token 1 (at token 7)
    """
    tokens = tokenize(text)
    if "!" in tokens:  # it would join another atom as soon as the form is written in another order
        raise LFSyntaxError("'!' without an atom behind it", position=tokens.index("!"))
    return read_tokens(tokens)


def read_tokens(tokens: Iterable[str]) -> Tree:
    """Tokens -> tree; a lone atom is a tree.

    >>> read_tokens(["(", "all", "trail", ")"])
    ('all', 'trail')
    """
    if not isinstance(tokens, list):
        tokens = list(islice(tokens, MAX_TOKENS + 1))
    if len(tokens) > MAX_TOKENS:
        raise LFSyntaxError(f"more than {MAX_TOKENS} tokens", position=MAX_TOKENS)
    # Good forms take the quick loop, which keeps no positions; any doubt goes to `_explain`, which counts.
    if tokens.count("(") > MAX_DEPTH:
        _explain(tokens)
    top: list[Tree] = []
    current, append, enclosing = top, top.append, []
    for token in tokens:
        if token == "(":
            enclosing.append(current)
            current = []
            append = current.append
        elif token == ")":
            if not current or not enclosing:
                _explain(tokens)
            node = tuple(current)
            current = enclosing.pop()
            append = current.append
            append(node)
        else:
            append(token)
    if enclosing or len(top) != 1:
        _explain(tokens)
    return top[0]


def _explain(tokens: list[str]) -> None:
    """Raise for the first thing wrong with the tokens, if there is one."""
    if not tokens:
        raise LFSyntaxError("empty form")
    opened: list[int] = []
    for position, token in enumerate(tokens):
        if position and not opened:
            reason = (
                "closing parenthesis without an opening one" if token == ")" else f"'{token[:40]}' after the form's end"
            )
            raise LFSyntaxError(reason, position=position)
        if token == "(":
            opened.append(position)
            if len(opened) > MAX_DEPTH:
                raise LFSyntaxError(f"nested deeper than {MAX_DEPTH}", position=position)
        elif token == ")":
            if not opened:
                raise LFSyntaxError("closing parenthesis without an opening one", position=position)
            if opened.pop() == position - 1:
                raise LFSyntaxError("empty list", position=position)
    if opened:
        raise LFSyntaxError(
            f"missing closing parenthesis for the one opened at token {opened[-1] + 1}", position=len(tokens)
        )


def write(tree: Tree) -> str:
    """Tree -> text; `read(write(tree)) == tree` for atoms without spaces, parentheses or a lone `!`.

    >>> write(("count", ("all", "trail")))
    '( count ( all trail ) )'
    """
    if isinstance(tree, str):
        return tree
    tokens, items = ["("], iter(tree)
    enclosing: list[Iterator[Tree]] = []
    append = tokens.append
    while True:
        for item in items:
            if isinstance(item, str):
                append(item)
            else:
                append("(")
                enclosing.append(items)
                items = iter(item)
                break
        else:
            append(")")
            if not enclosing:
                return " ".join(tokens)
            items = enclosing.pop()
