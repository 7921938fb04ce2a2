"""What a machine without a network needs for `make card`, in one file that travels beside the tree.

    python -m benchmarks.pack [--fewshot FOLDER] [--before COMMIT] [--python 3.12] [--out build/card.zip]

minilm/     MiniLM in half precision, with those word pieces alone that occur in the questions and utterances
known.json  what `benchmarks.matching` reads of OVERNIGHT: reading takes minutes, and needs more packages
data/       ATIS, OVERNIGHT, and the word vectors that their recipes begin with
earlier/    the version that the part `versions` compares with, in a folder named by its commit
commit      which version this is
site/       the packages of dualparse that do not come with torch or transformers, for that version of Python

`FOLDER` has the published few-label splits of OVERNIGHT; without it the rows of few labels are left out. Packages are
those of constraints.txt, fetched by pip for a 64-bit Linux and unpacked. Nothing is installed here.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import torch
from safetensors.torch import save_file

from benchmarks.card import BEFORE, COMMIT, EARLIER
from benchmarks.matching import Asked, read_domains
from benchmarks.versions import NEEDED, folder_of
from dualparse.data.examples import read_examples
from dualparse.domains.overnight import DOMAINS
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import data_dir, glove_path, require
from dualparse.files import replacing, write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.networks.encoder import MINILM, Encoder, open_encoder

ROOT = Path(__file__).parents[1]
OUT = ROOT / "build" / "card.zip"
MINILM_AT, KNOWN, DATA, SITE = "minilm", "known.json", "data", "site"
PACKAGES = (
    "annotated-doc",
    "annotated-types",
    "click",
    "cloudpickle",
    "colorama",
    "filelock",
    "joblib",
    "lxml",
    "markdown-it-py",
    "mdurl",
    "platformdirs",
    "portalocker",
    "pydantic",
    "pydantic-core",
    "pygments",
    "rapidfuzz",
    "rich",
    "sacrebleu",
    "shellingham",
    "snowballstemmer",
    "tabulate",
    "tomli-w",
    "typer",
    "typing-extensions",
    "typing-inspection",
)
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def smaller(encoder: Encoder, texts: Iterable[str], folder: Path) -> int:
    """Write an encoder in half precision that reads these texts as before and knows no other word pieces, but for
    single letters; returns how many it knows. A word is read as its longest known pieces from the left, so leaving
    unused ones out changes nothing."""
    told = json.loads(encoder.tokenizer.to_str())
    pieces: dict[str, int] = told["model"]["vocab"]
    encoder.tokenizer.no_truncation()
    used = {piece for item in encoder.tokenizer.encode_batch(list(texts)) for piece in item.tokens}
    special = [piece for piece in SPECIAL if piece in pieces]
    used |= {*special, *(piece for piece in pieces if len(piece.removeprefix("##")) == 1)}
    kept = sorted(used, key=lambda piece: (piece not in special, pieces[piece]))
    new = {piece: number for number, piece in enumerate(kept)}
    told["model"]["vocab"], told["truncation"], told["padding"] = new, None, None
    told["added_tokens"] = [each | {"id": new[each["content"]]} for each in told["added_tokens"]]
    for mark in told["post_processor"]["special_tokens"].values():
        mark["ids"] = [new[token] for token in mark["tokens"]]
    weights = {name: tensor.half() for name, tensor in encoder.body.state_dict().items()}
    (words,) = (name for name in weights if name.endswith("word_embeddings.weight"))
    weights[words] = weights[words][[pieces[piece] for piece in kept]]
    folder.mkdir(parents=True, exist_ok=True)
    whole = {name: tensor.contiguous() for name, tensor in weights.items() if tensor.is_floating_point()}
    save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
    config = encoder.body.config.to_dict() | {"vocab_size": len(kept), "dtype": "float16"}
    _write(folder / "config.json", config)
    _write(folder / "tokenizer.json", told)
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **_marks(special)})
    return len(kept)


def _marks(special: Iterable[str]) -> dict[str, str]:
    return {f"{token.strip('[]').lower()}_token": token for token in special}


def _write(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def texts_of(asked: Iterable[Asked]) -> Iterator[str]:
    """All that is read of OVERNIGHT."""
    for one in asked:
        yield from one.utterances
        yield from chain.from_iterable(questions for questions, _ in one.taught.values())
        yield from (question for question, _ in chain(one.dev, one.test))


def pack_data(folder: Path) -> list[str]:
    """ATIS, OVERNIGHT and the word vectors; returns the questions of ATIS."""
    atis = require("atis")
    for found in (atis, require("overnight")):
        shutil.copytree(found, folder / found.name, copy_function=shutil.copyfile)
    if glove := glove_path():
        shutil.copytree(glove.parent, folder / glove.parent.relative_to(data_dir()), copy_function=shutil.copyfile)
    files = sorted(atis.glob("*.tsv"))
    return [" ".join(each.query) for file in files for each in read_examples(file) if each.query]


def pack_code(folder: Path, commit: str) -> None:
    """An earlier version, in a folder named by its commit, and which commit this one is."""
    found, made = folder_of(commit), shutil.ignore_patterns("__pycache__")
    for name in NEEDED:
        shutil.copytree(found / name, folder / EARLIER / Path(commit).name / name, ignore=made)
    write_text(folder / COMMIT, current_commit())


def pack_packages(folder: Path, python: str, packages: Sequence[str] = PACKAGES) -> None:
    """Fetch wheels for another version of Python, and unpack them."""
    with TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--dest", place, "--constraint", str(ROOT / "constraints.txt")]
        command += ["--only-binary", ":all:", "--python-version", python]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
        if subprocess.run([*command, *packages]).returncode:
            raise InputError(f"pip found no wheels for Python {python}")
        for wheel in sorted(Path(place).glob("*.whl")):
            with ZipFile(wheel) as file:
                file.extractall(folder)


def zipped(folder: Path, out: Path) -> None:
    """All files below a folder in one."""
    with replacing(out) as part, ZipFile(part, "w", ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fewshot", type=Path, help="folder with the published few-label splits, DOMAIN.N.txt")
    parser.add_argument("--python", default="3.12", help="the version of Python there")
    parser.add_argument("--before", default=BEFORE, help="the commit that the part `versions` compares with")
    parser.add_argument("--out", type=Path, default=OUT)
    told = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        asked = read_domains(list(DOMAINS), told.fewshot, folder / KNOWN)
        questions = pack_data(folder / DATA)
        pack_code(folder, told.before)
        with torch.no_grad():
            count = smaller(open_encoder(MINILM), [*texts_of(asked.values()), *questions], folder / MINILM_AT)
        pack_packages(folder / SITE, told.python)
        zipped(folder, told.out)
    print(f"{told.out}: {told.out.stat().st_size / 2**20:.1f} MiB, {count} word pieces")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(str(error)) from None
