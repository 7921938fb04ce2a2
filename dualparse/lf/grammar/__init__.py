"""Grammars that pair utterances with logical forms: reading the files, deriving, and varying them (paper Section 4.2).

`text` reads a file into nodes, `statements` carries out include, def, when and for, `rules` makes the grammar and finds
its mistakes, `semantics` builds forms from parts, `derive` enumerates and samples, `swap` exchanges entities.
"""

from dualparse.lf.grammar.derive import Counts, Derivation, Deriver, Keep, Limits
from dualparse.lf.grammar.rules import Grammar, Rule, grammar_problems, is_category, read_grammar
from dualparse.lf.grammar.swap import swappable_types, swapped

__all__ = [
    "Counts",
    "Derivation",
    "Deriver",
    "Grammar",
    "Keep",
    "Limits",
    "Rule",
    "grammar_problems",
    "is_category",
    "read_grammar",
    "swappable_types",
    "swapped",
]
