"""Metrics: what it means that a predicted form is right. A gold form and a predicted one in, true or a share out.

A metric is a function of (gold, predicted, domain) and is stored with every result by its `__name__`. A domain brings
its own; a folder's `domain.toml` names one: `metric = "exact"`, `"denotation"` or `"package.module:function"`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS, LFSyntaxError
from dualparse.plugins import is_reference, load_object
from dualparse.suggest import unknown_name

if TYPE_CHECKING:
    from dualparse.domains.domain import Domain

Metric = Callable[[str, str, "Domain"], float]  # a truth value, or a share between 0 and 1


def exact(gold: str, predicted: str, domain: Domain) -> bool:
    """Exact match of normal forms (paper Section 4.1, ATIS)."""
    try:
        return domain.normalize(gold) == domain.normalize(predicted)
    except LFSyntaxError:
        return False


def denotation(gold: str, predicted: str, domain: Domain) -> bool:
    """Both forms run, and their answers are the same (paper Section 4.1, OVERNIGHT)."""
    found = meaning(predicted, domain)
    return found is not None and found == meaning(gold, domain)


def meaning(form: str, domain: Domain) -> str | None:
    """The denotation of a form; None where it does not run, or the domain has no executor."""
    if domain.execute is None:
        return None
    try:
        return domain.execute(form)
    except LF_ERRORS:
        return None


SHIPPED: dict[str, Metric] = {metric.__name__: metric for metric in (exact, denotation)}


def find_metric(name: str) -> Metric:
    """The metric of a name; an unknown one is an error that names the nearest.

    >>> find_metric("denotation").__name__
    'denotation'
    """
    if name in SHIPPED:
        return SHIPPED[name]
    if not is_reference(name):
        raise InputError(unknown_name("metric", name, SHIPPED) + ", or package.module:function")
    found = load_object(name, what="metric")
    if not callable(found) or not hasattr(found, "__name__"):
        raise InputError(f"metric {name!r} is no function of (gold, predicted, domain)")
    return found
