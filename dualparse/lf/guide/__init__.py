"""Which token may come next in a form, so that it can still become a valid one.

A guide knows a form by its beginning alone. `Rules` guides by a grammar whose places have types (the two dialects that
run: `dualparse.domains.world_rules`), `TypedForms` by an ontology (forms that are checked, as ATIS has them).
"""

from dualparse.lf.guide.guide import Guide, Place
from dualparse.lf.guide.ontology_guide import TypedForms
from dualparse.lf.guide.rules import Rules, Symbol, trees

__all__ = ["Guide", "Place", "Rules", "Symbol", "TypedForms", "trees"]
