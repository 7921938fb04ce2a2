"""Engines never change what is computed: what a subclass overrides is used wherever a network is."""

from __future__ import annotations

import logging
import random
from copy import deepcopy
from pathlib import Path

import httpx
import pytest
import torch
import toy
import toy_run
from small_runs import recipe
from toy import tiny_model

from dualparse.choosing.search import find
from dualparse.engines import engine
from dualparse.engines.engine import engine_for, told
from dualparse.engines.exact import KINDS, _usual, is_exactly
from dualparse.engines.found import Options
from dualparse.engines.graphs import captures_searches, captures_steps
from dualparse.engines.numba import loading
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Seq2Seq
from dualparse.networks.network import quiet
from dualparse.runs import Run
from dualparse.training.run import train
from dualparse.use.api import Parser
from dualparse.use.service.app import make_app

CPU = torch.device("cpu")
needs_numba = pytest.mark.skipif(not loading.load(), reason="needs the extra `fast`")


@needs_numba
@pytest.mark.parametrize("method", ["encode", "log_probs", "step"])
def test_what_a_subclass_overrides_is_used_in_training_search_game_and_service(method, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from overriding import ASKED

    rewards = [{"name": "validity", "weight": 0.5}, {"name": "reconstruction", "weight": 0.5}]
    game = {"epochs": 1, "beams": 2, "batch_size": 8, "max_length": 8, "rewards": rewards}
    model = {"embedding": 6, "hidden": 8, "network": f"overriding:{method}"}
    chosen = recipe(stages=["q2lf", "lf2q", "dual"], model=model, game=game, train={"epochs": 1})
    used = {}
    with toy.registered(toy.write_files(tmp_path / "toy")):
        before, stage = 0, ""
        for event in train(chosen, tmp_path / "run", device=CPU):
            if getattr(event, "stage", stage) != stage:
                used[stage], before, stage = ASKED[method] - before, ASKED[method], event.stage
        used[stage] = ASKED[method] - before
    del used[""]
    parser = Parser(Run.open(tmp_path / "run"), toy.domain(), CPU)
    before = ASKED[method]
    find(parser.q2lf, [("how", "deep")], Options(2, 5), rng=random.Random(0))
    if method != "log_probs":  # a search asks for steps alone
        used["search"] = ASKED[method] - before
    with toy_run.serving(make_app({"toy": parser})) as url:
        before = ASKED[method]
        answer = httpx.post(f"{url}/parse", json={"question": "how deep is blue lake"}, timeout=60)
        used["service"] = ASKED[method] - before
    assert answer.status_code == 200
    assert set(used) >= {"q2lf", "lf2q", "dual", "service"} and all(used.values()), used


@needs_numba
def test_an_engine_asks_for_the_exact_class_and_the_log_tells_once(caplog):
    class Other(Seq2Seq):
        pass

    engine._tell.cache_clear()
    with caplog.at_level(logging.INFO, logger="dualparse.engines.engine"):
        assert engine_for(tiny_model().float()).name == "numba"
        assert engine_for(tiny_model()).name == "plain", "the compiled loops know single precision only"
        for _ in range(2):
            assert engine_for(Other(9, 8, embedding=3, hidden=4)).name == "plain"
    assert [record.getMessage().partition(" runs ")[2] for record in caplog.records] == [
        "on the plain engine: numba does not know it"
    ]


def replaced_method(model):
    model.log_probs = lambda memory, inputs, targets: torch.zeros(targets.shape)


def other_part(model):
    model.attention_keys = torch.nn.Sequential(model.attention_keys, torch.nn.Tanh())


def deeper_encoder(model):
    one = model.encoder
    model.encoder = torch.nn.LSTM(one.input_size, one.hidden_size, 2, batch_first=True, bidirectional=True)


def replaced_method_of_a_part(model):
    model.generate.forward = lambda features: features


def hook(model):
    model.generate.register_forward_hook(lambda *told: None)


@needs_numba
@pytest.mark.parametrize("change", [replaced_method, other_part, deeper_encoder, replaced_method_of_a_part, hook])
def test_what_is_changed_on_one_network_alone_is_used_too(change):
    model = tiny_model().float()
    assert engine_for(model).name == "numba"
    change(model)
    assert engine_for(model).name == "plain"


@needs_numba
def test_a_method_replaced_on_the_class_is_used_too(monkeypatch):
    model = tiny_model().float()
    monkeypatch.setattr(Seq2Seq, "encode", lambda *given, **told: None)
    assert engine_for(model).name == "plain"


def test_knowing_a_class_draws_no_random_number():
    before = torch.get_rng_state()
    for kind, make in KINDS.items():
        _usual.cache_clear()
        with torch.random.fork_rng():
            model = make()
        assert is_exactly(model, kind) and is_exactly(quiet(model), kind) and is_exactly(deepcopy(model), kind)
    assert torch.equal(torch.get_rng_state(), before)


def test_graphs_are_for_known_classes_on_a_gpu_alone():
    model = tiny_model().float()
    assert not captures_steps(model) and not captures_searches(model)


@needs_numba
def test_results_say_which_engine_ran(monkeypatch):
    monkeypatch.setenv("DUALPARSE_SHARED_GPU", "1")
    found = told(tiny_model().float(), LanguageModel(7))
    assert found["engines"] == {"Seq2Seq": "numba", "LanguageModel": "numba"} and found["device"] == "cpu"
    assert set(found["versions"]) >= {"torch", "numba"}
    assert found["switches"]["DUALPARSE_SHARED_GPU"] == "1"
