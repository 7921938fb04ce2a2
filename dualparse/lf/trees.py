"""Going through trees, and trees with something changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dualparse.lf.sexpr import Tree

Path = tuple[int, ...]  # the indices that lead from the root to a part


def parts(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """The tree and all that is in it, with the way there.

    >>> list(parts(("all", "hut")))
    [((), ('all', 'hut')), ((0,), 'all'), ((1,), 'hut')]
    """
    yield path, tree
    if not isinstance(tree, str):
        for index, part in enumerate(tree):
            yield from parts(part, (*path, index))


def atoms(tree: Tree) -> Iterator[str]:
    """
    >>> list(atoms(("count", ("all", "hut"))))
    ['count', 'all', 'hut']
    """
    if isinstance(tree, str):
        yield tree
    else:
        for part in tree:
            yield from atoms(part)


def renamed(tree: Tree, names: Mapping[str, str]) -> Tree:
    """
    >>> renamed(("to", "$0", "ci0"), {"$0": "$1"})
    ('to', '$1', 'ci0')
    """
    if isinstance(tree, str):
        return names.get(tree, tree)
    return tuple(renamed(part, names) for part in tree)


def put(tree: Tree, path: Path, new: Tree) -> Tree:
    """The tree with another part in that place.

    >>> put(("count", ("all", "hut")), (1, 1), "peak")
    ('count', ('all', 'peak'))
    """
    if not path:
        return new
    index, rest = path[0], path[1:]
    return (*tree[:index], put(tree[index], rest, new), *tree[index + 1 :])
