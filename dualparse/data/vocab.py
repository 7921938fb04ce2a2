"""Token <-> number. A vocabulary is a text file: line number = id, four special tokens first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lines import numbered_lines

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")


class Vocab:
    """A fixed list of tokens.

    >>> vocab = Vocab.build([("which", "trail"), ("which", "hut")])
    >>> vocab.ids(("which", "bus"))
    [4, 1]
    >>> vocab.tokens[4]
    'which'
    """

    def __init__(self, tokens: Sequence[str]):
        if tuple(tokens[: len(SPECIAL)]) != SPECIAL:
            raise ValueError(f"a vocabulary starts with {SPECIAL}")
        self.tokens: tuple[str, ...] = tuple(tokens)
        # The special tokens have numbers but no spelling: a question with the word "<pad>" is no padding.
        self.index: dict[str, int] = {token: i for i, token in enumerate(self.tokens) if i >= len(SPECIAL)}
        if len(set(self.tokens)) != len(self.tokens):
            raise ValueError("a vocabulary must not repeat a token")

    @classmethod
    def build(cls, sequences: Iterable[Sequence[str]], *, min_count: int = 1, always: Iterable[str] = ()) -> Vocab:
        """Most frequent first (ties by spelling); `always` joins whatever the counts say."""
        counts = Counter(token for sequence in sequences for token in sequence)
        kept = {token: n for token, n in counts.items() if n >= min_count}
        for token in always:
            kept.setdefault(token, counts[token])
        for token in SPECIAL:
            kept.pop(token, None)
        return cls(SPECIAL + tuple(sorted(kept, key=lambda token: (-kept[token], token))))

    @classmethod
    def load(cls, path: Path) -> Vocab:
        tokens = [line for _, line in numbered_lines(path)]
        if not tokens or tokens.pop():  # what stands behind the last line end
            raise InputError("cut short: the last line has no end", path=path)
        try:
            return cls(tokens)
        except ValueError as error:
            raise InputError(str(error), path=path) from None

    def save(self, path: Path) -> None:
        write_text(path, "".join(token + "\n" for token in self.tokens))

    def ids(self, tokens: Iterable[str]) -> list[int]:
        get = self.index.get
        return [get(token, UNK) for token in tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocab) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)
