"""What a parser gets wrong, in groups: the predictions file of a run in, mistakes with their kind and detail out.

A wrong prediction is, in this order: invalid; another form with the right answer; right but for an entity or value;
right but for a predicate, with the same tree; another tree. Reads files only and needs no model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from dualparse.config import LEARNED_FROM_DEV, read_saved_recipe
from dualparse.domains.domain import Domain
from dualparse.domains.registry import trained_on
from dualparse.errors import InputError
from dualparse.lf.canonical import ORDER_FREE
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.ontology import Ontology
from dualparse.lf.sexpr import Tree, read, write
from dualparse.lf.trees import atoms
from dualparse.lines import numbered_lines

VERDICT = {"surface": bool, "semantics": bool, "reason": str}
FIELDS = {
    "query": str,
    "gold": str,
    "predicted": str,
    "verdict": dict,
    "exact": bool,
    "denotation": str | None,
    "gold_denotation": str | None,
    "correct": bool,
}
HIDDEN = "_"
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
VARIABLE = re.compile(r"\$\d+")


class Kind(StrEnum):
    """How a prediction is wrong."""

    INVALID = "invalid"
    OTHER_FORM = "right answer, another form"
    ENTITY = "wrong entity"
    PREDICATE = "wrong predicate"
    STRUCTURE = "wrong structure"


@dataclass(frozen=True)
class Mistake:
    """A prediction that is not the gold form. `wrong` by the domain's metric: where that is the answer, another form
    with the right answer is no error. `detail` says what differs, in words that repeat."""

    kind: Kind
    detail: str
    query: str
    gold: str
    predicted: str
    wrong: bool


@dataclass(frozen=True)
class Mistakes:
    """All mistakes of a split."""

    run: str
    split: str
    examples: int
    mistakes: list[Mistake]

    @property
    def wrong(self) -> int:
        return sum(mistake.wrong for mistake in self.mistakes)

    def groups(self) -> dict[Kind, list[Mistake]]:
        """By kind, the largest group first."""
        found: dict[Kind, list[Mistake]] = {}
        for mistake in self.mistakes:
            found.setdefault(mistake.kind, []).append(mistake)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def read_mistakes(run: Path, *, split: str) -> Mistakes:
    """The mistakes of a run on a split, from what `dualparse evaluate` wrote."""
    if not (run / "config.toml").is_file():
        raise InputError("not a run folder: config.toml is missing", path=run)
    path = run / f"predictions.{split}.jsonl"
    recipe, _ = read_saved_recipe(run / "config.toml")
    if split == "dev" and recipe.data.everything:
        raise InputError(LEARNED_FROM_DEV, path=run)
    if not path.is_file():
        raise InputError(f"no such file; dualparse evaluate {run} --split {split} writes it", path=path)
    records = list(_records(path))
    domain = trained_on(run, recipe.domain)
    mistakes = [explain(record, domain) for record in records if not record["exact"]]
    return Mistakes(run.resolve().name, split, len(records), mistakes)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not (_has(record, FIELDS) and _has(record["verdict"], VERDICT)):
            raise InputError("not a prediction of this version; evaluate the run again", path=path, line=number)
        yield record


def _has(record: Any, fields: Mapping[str, Any]) -> bool:
    """Whether it is an object with all these fields, each of its type."""
    return isinstance(record, dict) and all(
        name in record and isinstance(record[name], kind) for name, kind in fields.items()
    )


def explain(record: Mapping[str, Any], domain: Domain) -> Mistake:
    """Kind and detail of one prediction that is not the gold form."""
    kind, detail = _compare(record, entity_test(domain))
    return Mistake(kind, detail, record["query"], record["gold"], record["predicted"], not record["correct"])


def _compare(record: Mapping[str, Any], is_entity: Callable[[str], bool]) -> tuple[Kind, str]:
    verdict = record["verdict"]
    if not (verdict["surface"] and verdict["semantics"]):
        return Kind.INVALID, re.sub(r" \(at token \d+\)$", "", verdict["reason"])
    try:
        gold, predicted = read(record["gold"]), read(record["predicted"])
    except LFSyntaxError as error:  # the gold form of some domains is text that only its own reader takes
        return Kind.STRUCTURE, str(error)
    if record["denotation"] is not None and record["denotation"] == record["gold_denotation"]:
        return Kind.OTHER_FORM, _difference(gold, predicted)
    for kind, hidden in ((Kind.ENTITY, is_entity), (Kind.PREDICATE, _everything)):
        if _outline(gold, hidden) == _outline(predicted, hidden):
            swaps = sorted({f"{a} -> {b}" for a, b in _pairs(gold, predicted, hidden) if a != b})
            return kind, ", ".join(swaps)
    return Kind.STRUCTURE, _difference(gold, predicted)


def entity_test(domain: Domain) -> Callable[[str], bool]:
    """Whether a token of a form is an entity or a value, rather than part of the language.

    An entity of the lexicon that others are named after (`en.recipe`, of `en.recipe.quiche`) is a type.
    """
    entities = domain.lexicon.entities
    types = {entity.rpartition(".")[0] for entity in entities}
    ontology = domain.ontology if isinstance(domain.ontology, Ontology) else None

    def is_entity(token: str) -> bool:
        if NUMBER.fullmatch(token) or (token in entities and token not in types):
            return True
        return ontology is not None and ontology.entity_type(token) is not None

    return is_entity


def _everything(_: str) -> bool:
    return True


def _outline(tree: Tree, hidden: Callable[[str], bool]) -> Tree:
    """The tree without what is hidden, the arguments of `and` and `or` sorted by what is left of them."""
    if isinstance(tree, str):
        return HIDDEN if hidden(tree) else tree
    parts = tuple(_outline(part, hidden) for part in tree)
    return (parts[0], *sorted(parts[1:], key=write)) if tree[0] in ORDER_FREE else parts


def _pairs(one: Tree, other: Tree, hidden: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """The atoms that stand in the same place of two trees with the same outline. Among the arguments of `and` and `or`
    equal ones go together first."""
    if isinstance(one, str) or isinstance(other, str):
        yield str(one), str(other)
        return
    left, right = list(one), list(other)
    if one[0] in ORDER_FREE and other[0] in ORDER_FREE:
        same = Counter(left[1:]) & Counter(right[1:])
        left, right = (
            [parts[0], *sorted((Counter(parts[1:]) - same).elements(), key=lambda part: write(_outline(part, hidden)))]
            for parts in (left, right)
        )
    for pair in zip(left, right, strict=True):
        yield from _pairs(*pair, hidden)


def _difference(gold: Tree, predicted: Tree) -> str:
    """Which tokens one has and the other has not, variables aside."""
    one, other = (Counter(atom for atom in atoms(tree) if not VARIABLE.fullmatch(atom)) for tree in (gold, predicted))
    left_out, added = (" ".join(sorted(extra.elements())) for extra in (one - other, other - one))
    parts = [f"{name}: {tokens}" for name, tokens in (("left out", left_out), ("added", added)) if tokens]
    return "; ".join(parts) or "the same tokens in another tree"


def heading(kind: Kind, group: Iterable[Mistake]) -> str:
    """The name of a group; where the answer is what counts, another form with the right one is not wrong."""
    return kind if any(mistake.wrong for mistake in group) else f"{kind} (counted as right)"


def frequent(mistakes: Iterable[Mistake], n: int = 3) -> list[tuple[str, int]]:
    """The details that come more than once, most frequent first."""
    return [(detail, count) for detail, count in Counter(m.detail for m in mistakes).most_common(n) if count > 1]


def mistakes_text(found: Mistakes, *, examples: int = 2) -> str:
    """The groups as Markdown."""
    lines = [
        f"{found.wrong} of {found.examples} {found.split} examples are wrong; "
        f"{len(found.mistakes)} differ from the gold form.",
        "",
        "| what is wrong | examples | most often |",
        "|---|---:|---|",
    ]
    for kind, group in found.groups().items():
        often = "; ".join(f"`{detail}` ({count})" for detail, count in frequent(group))
        lines.append(f"| {heading(kind, group)} | {len(group)} | {often} |")
    for kind, group in found.groups().items():
        lines += ["", f"**{kind[0].upper()}{kind[1:]}**"]
        for mistake in group[:examples]:
            lines += ["", f"- {mistake.query}", f"  - gold `{mistake.gold}`", f"  - said `{mistake.predicted}`"]
            lines += [f"  - `{mistake.detail}`"]
    return "\n".join(lines)
