"""dualparse: questions into logical forms that run, from little labelled data.

>>> import dualparse                                     # quick: torch is loaded when a run is
>>> parser = dualparse.load("runs/trails")               # doctest: +SKIP
>>> parser.parse("which huts have showers")[0].answer    # doctest: +SKIP
'(list (name hut.marmot_hut) (name hut.gentian_hut))'
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from dualparse.asking.reply import Asker
    from dualparse.domains.domain import Domain
    from dualparse.use.api import Parser

__version__ = "0.1.0"
__all__ = ["asker", "load"]


def asker(folder: str | Path) -> Asker:
    """What answers the questions about a folder, a connected database or a trained run, with a `Reply` each. It may be
    asked by any number of threads at once; `ask_async` is for programs that await.

    >>> shop = asker("shop")                                                    # doctest: +SKIP
    >>> shop.ask("which films are longer than two hours").to_dicts()            # doctest: +SKIP
    [{'film': 'Dust', 'running minutes': 140}]
    """
    from dualparse.use.asking import open_any

    return open_any(folder)


def load(
    folder: str | Path,
    *,
    device: str | torch.device = "cpu",
    compiled: bool = False,
    threads: int | None = None,
    whole: bool = True,
    light: bool = False,
    domain: Domain | None = None,
) -> Parser:
    """Open the folder of a trained run: see `dualparse.use.api.Parser` for what it can be asked.

    `device` is "cpu", "cuda" or "auto"; the other options are those of `dualparse.use.api.load`.
    """
    from dualparse.use.api import load

    return load(folder, device=device, compiled=compiled, threads=threads, whole=whole, light=light, domain=domain)
