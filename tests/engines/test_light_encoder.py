"""The encoder in NumPy gives the vectors of the encoder in torch."""

from __future__ import annotations

from importlib.util import find_spec
from shutil import copytree

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from dualparse.engines.light.encoder import open_light_encoder
from dualparse.errors import InputError
from dualparse.matching.adapter import SHIPPED, make_adaptable, open_matcher, save_adapter
from dualparse.networks.encoder import open_encoder
from dualparse.networks.minilm import MINILM_PACKAGE, minilm_folder

TEXTS = ["which huts have showers", "a", "all long trails " * 40, "the number of trails whose length is over 10 km"]


def test_the_vectors_are_those_of_torch(tiny_encoder):
    light = open_light_encoder(tiny_encoder).vectors(TEXTS)
    assert np.allclose(light, open_encoder(str(tiny_encoder)).vectors(TEXTS).numpy(), atol=1e-5)
    assert light.shape == (4, 32) and np.allclose(np.linalg.norm(light, axis=1), 1)


def test_they_are_so_with_an_adapter(tiny_encoder, tmp_path):
    encoder = open_encoder(str(tiny_encoder))
    changes = make_adaptable(encoder, rank=2)
    torch.manual_seed(0)
    for change in changes.values():
        torch.nn.init.normal_(change.up, std=0.2)
    save_adapter(tmp_path / "one.safetensors", changes, 3.5, {})
    light = open_light_encoder(tiny_encoder, adapter=tmp_path / "one.safetensors").vectors(TEXTS)
    assert np.allclose(light, encoder.vectors(TEXTS).numpy(), atol=2e-3)
    assert not np.allclose(light, open_light_encoder(tiny_encoder).vectors(TEXTS), atol=2e-3)


@pytest.mark.skipif(find_spec(MINILM_PACKAGE) is None, reason="needs the extra pretrained")
@pytest.mark.parametrize("adapter", [None, SHIPPED], ids=["as it is", "adapted"])
def test_minilm_is_the_same_without_torch(adapter):
    light = open_light_encoder(minilm_folder(check=False), adapter=adapter).vectors(TEXTS)
    assert np.abs(light - open_matcher(adapter=adapter).encoder.vectors(TEXTS).numpy()).max() < 1e-5


def test_what_is_no_such_encoder_is_an_error(tiny_encoder, tmp_path):
    with pytest.raises(InputError, match="no encoder that can be read"):
        open_light_encoder(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "roberta", "hidden_act": "gelu"}')
    with pytest.raises(InputError, match="BERT's build"):
        open_light_encoder(tmp_path)


def test_weights_that_are_no_numbers_are_an_error(tiny_encoder, tmp_path):
    folder = copytree(tiny_encoder, tmp_path / "damaged")
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.0.output.dense.weight"].fill_(float("nan"))
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match="damaged"):
        open_light_encoder(folder)
