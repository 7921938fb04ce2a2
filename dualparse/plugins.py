"""What a user names as `package.module:name`: the text in, the object out.

One way to name a thing that is not part of dualparse, wherever a recipe, a command or a domain's folder may name one.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

from dualparse.errors import InputError
from dualparse.suggest import nearest

_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def is_reference(text: str) -> bool:
    """Whether a text has the form `package.module:name`.

    >>> is_reference("collections:Counter"), is_reference("denotation"), is_reference("C:/domains/lakes")
    (True, False, False)
    """
    return _REFERENCE.fullmatch(text) is not None


def load_object(reference: str, *, what: str) -> object:
    """The object of a reference; `what` says in an error what was looked for. Modules in the current folder are found,
    too, as they are by `python -m`.

    >>> load_object("collections:Counter", what="network").__name__
    'Counter'
    """
    if not is_reference(reference):
        raise InputError(f"{reference!r} names no {what}: expected package.module:name")
    module_name, _, name = reference.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        missing = f"its module {error.name!r}" if error.name != module_name else f"the module {module_name!r}"
        raise InputError(f"{what} {reference!r}: {missing} is not installed, nor in {here}") from error
    except ImportError as error:
        raise InputError(f"{what} {reference!r} cannot be imported: {error}") from error
    if not hasattr(module, name):
        raise InputError(f"{what} {reference!r}: {module_name} has no {name!r}{nearest(name, vars(module))}")
    return getattr(module, name)
