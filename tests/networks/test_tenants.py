"""Other networks live here too: one of PyTorch's Transformer layers, one that only the tests know. Both train, play the
game, are killed and resumed, loaded, searched, served and explained, through the same settings as the LSTM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import torch
import toy
import toy_run
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import left_behind, recipe
from toy import random_sources

from dualparse.config import Recipe, make_recipe
from dualparse.data.batch import Batch, Row, collate
from dualparse.data.vocab import BOS, EOS, UNK
from dualparse.engines.beam import beam
from dualparse.engines.engine import engine_for, told
from dualparse.engines.numba import loading
from dualparse.engines.plain import score
from dualparse.errors import InputError
from dualparse.networks.minilm import OWN_MINILM
from dualparse.networks.network import Network
from dualparse.networks.registry import NETWORKS, TEXT_MODELS, new_network, new_text_model
from dualparse.runs import Run
from dualparse.training.run import Note, train
from dualparse.training.score import score_run
from dualparse.use.api import Parser
from dualparse.use.service.app import make_app

CPU = torch.device("cpu")
V = 8
TENANTS = {
    "transformer": {"network": "transformer", "layers": 1, "heads": 2},
    "gru": {"network": "gru:GRU"},
    "pretrained": {"network": "pretrained"},
}
CLASSES = {"transformer": "Transformer", "gru": "GRU", "pretrained": "Pretrained"}
STAGES = ["q2lf", "lf2q", "query_lm", "lf_lm", "dual"]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def encoder(tiny_encoder):
    """The encoder that a recipe names when it names none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(OWN_MINILM, str(tiny_encoder))
        yield


@pytest.fixture(params=TENANTS)
def tenant(request) -> str:
    return request.param


def of(tenant: str, **changes: object) -> Recipe:
    model = {"embedding": 12, "hidden": 16, "dropout": 0.2} | TENANTS[tenant]
    if tenant == "transformer":
        model["networks"] = {"query_lm": "transformer"}
    elif tenant == "gru":
        model["networks"] = {"lf_lm": "gru:Bigrams"}
    game = {"epochs": 2, "beams": 2, "batch_size": 8, "max_length": 12}
    return recipe(**({"stages": STAGES, "model": model, "game": game} | changes))


def network(tenant: str, *, copy: bool = True, seed: int = 1) -> Network:
    model = {"embedding": 6, "hidden": 8, "dropout": 0.3, "copy_mechanism": copy} | TENANTS[tenant]
    chosen = make_recipe({"domain": "toy", "model": model}).model
    made = new_network(chosen.kind("q2lf"), 9, V, chosen)
    made.initialize(scale=1.0, generator=torch.Generator().manual_seed(seed))
    return made.double().eval()


def batch_of(seed: int, rows: int) -> Batch:
    """Rows of all lengths, the last with neither source nor target."""
    sources, copies = random_sources(seed, rows, target_size=V)
    targets = [[4 + (seed + i + j) % (V - 4) for j in range((seed * i) % 5)] for i in range(rows)]
    made = [Row(*row) for row in zip(sources, copies, [()] * rows, targets, strict=True)]
    return collate([*made, Row([], [], (), [])], target_vocab_size=V).map(torch.from_numpy)


@given(seed=st.integers(0, 999), copy=st.booleans(), beams=st.integers(1, 4))
@settings(max_examples=15)
@pytest.mark.parametrize("name", TENANTS)
def test_search_finds_what_teacher_forcing_scores_and_padding_changes_nothing(name, seed, copy, beams):
    model, batch = network(name, copy=copy, seed=seed), batch_of(seed, 5)
    with torch.no_grad():
        memory = model.encode(batch.source, batch.copy)
        found = beam(model, memory, beams=beams, max_length=5)
        for i, k in [(i, k) for i in range(6) for k in range(beams) if found.length[i, k]]:
            tokens = found.tokens[i, k, : found.length[i, k]].tolist()
            targets = tokens + [EOS] * bool(found.finished[i, k])
            inputs = [BOS, *(token if token < V else UNK for token in tokens)][: len(targets)]
            length = max(int((batch.source[i] != 0).sum()), 1)
            alone = Batch(
                batch.source[i : i + 1, :length],
                batch.copy[i : i + 1, :length],
                torch.tensor([inputs]),
                torch.tensor([targets]),
            )
            assert float(score(model, alone)[0]) == pytest.approx(float(found.log_prob[i, k]), abs=1e-4)


@given(seed=st.integers(0, 999), copy=st.booleans())
@settings(max_examples=15)
@pytest.mark.parametrize("name", TENANTS)
def test_sources_with_several_targets_are_read_once(name, seed, copy):
    model, batch = network(name, copy=copy, seed=seed), batch_of(seed, 5)
    twice = batch.map(lambda part: part[[0, 0, 1, 1, 2, 3]])
    twice = Batch(twice.source, twice.copy, batch.inputs, batch.targets)
    once = Batch(*(part[[0, 1, 2, 3]] for part in (batch.source, batch.copy)), batch.inputs, batch.targets)
    torch.testing.assert_close(score(model, once, shared=2, times=2), score(model, twice))


def test_probabilities_of_a_step_add_up_to_one(tenant):
    model, batch = network(tenant), batch_of(3, 5)
    memory = model.encode(batch.source, batch.copy)
    probabilities, _ = model.step(memory, model.begin(memory, 3), torch.full((6, 3), BOS))
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(6, 3).double())


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A whole run of each tenant, the game included, and the files of the toy."""
    folder = tmp_path_factory.mktemp("tenants")
    sys.path.insert(0, str(Path(__file__).parent))
    with toy.registered(toy.write_files(folder / "toy")):
        for name in TENANTS:
            list(train(of(name), folder / name, device=CPU))
    sys.path.remove(str(Path(__file__).parent))
    return folder


def test_a_run_is_scored_and_says_which_engine_ran(played, tenant):
    run = Run.open(played / tenant)
    assert {record["stage"] for record in run.read_log()} == set(STAGES)
    with toy.registered(toy.write_files(played / "toy")):
        assert score_run(run, split="dev", beams=3, device=CPU)["q2lf"]["beams"] == 3
    kind = CLASSES[tenant]
    assert run.metrics()["engine"]["engines"] == {kind: "plain"}
    assert type(run.agent("q2lf", toy.domain(), CPU).model).__name__ == kind


KILLED = """
import sys, time
from pathlib import Path
import torch, toy
from test_tenants import of, train
from dualparse.domains.registry import register
from dualparse.training import loop
loop.CHECKPOINT_SECONDS = -1.0
register(toy.family({{name: Path({data!r}) / f"{{name}}.tsv" for name in ("train", "dev", "test")}}))
for event in train(of({name!r}), Path({folder!r}), device=torch.device("cpu")):
    if getattr(event, "stage", "") == "dual" and event.epoch == 2:
        print("here", flush=True)
        time.sleep(600)
"""


def test_a_run_that_is_killed_in_the_game_goes_on_to_the_same_weights(played, tenant, tmp_path):
    folder, tests = tmp_path / "run", Path(__file__).parents[1]
    script = KILLED.format(data=str(played / "toy"), name=tenant, folder=str(folder))
    paths = os.pathsep.join(map(str, (tests, tests / "networks", tests.parent)))
    command, environment = [sys.executable, "-c", script], os.environ | {"PYTHONPATH": paths}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not Run(folder).weights("q2lf").exists(), "the game is not over"
    with toy.registered(toy.write_files(played / "toy")):
        list(train(of(tenant), folder, resume=True, device=CPU))
    there, kept = left_behind(folder), left_behind(played / tenant)
    assert {name for name in there if name.endswith(".safetensors")} == {
        *(f"{name}.safetensors" for name in STAGES if name != "dual"),
        "pretrained-q2lf.safetensors",
        "pretrained-lf2q.safetensors",
    }
    assert there == {name: kept[name] for name in there}


def test_a_run_is_served_and_explained_where_it_shows_attention(played, tenant):
    parser = Parser(Run.open(played / tenant), toy.domain(), CPU)
    with toy_run.serving(make_app({"toy": parser})) as url, httpx.Client(base_url=url, timeout=60) as client:
        answer = client.post("/parse", json={"question": "how deep is blue lake"})
        assert answer.status_code == 200, answer.text
        looked = client.post("/explain", json={"question": "how deep is blue lake"})
    if tenant != "gru":
        assert looked.status_code == 200
        for weights in looked.json()["attention"]:
            assert sum(weights) == pytest.approx(1, abs=1e-3)  # each is rounded
    else:
        assert looked.status_code == 422 and "shows no attention" in looked.text


def test_all_four_models_of_a_run_may_be_of_their_own_kinds(played, tmp_path):
    kinds = {"q2lf": "transformer", "lf2q": "gru:GRU", "query_lm": "gru:Bigrams", "lf_lm": "transformer"}
    model = {"embedding": 12, "hidden": 16, "layers": 1, "heads": 2, "networks": kinds}
    names = ("validity", "form_lm", "fluency", "reconstruction")
    game = {"epochs": 1, "beams": 2, "max_length": 12, "rewards": [{"name": name, "weight": 0.5} for name in names]}
    with toy.registered(toy.write_files(played / "toy")):
        told = list(train(recipe(stages=STAGES, model=model, game=game), tmp_path / "run", device=CPU))
        run = Run.open(tmp_path / "run")
        score_run(run, split="dev", beams=2, device=CPU)
    models = [run.agent(name, toy.domain(), CPU).model for name in ("q2lf", "lf2q")]
    models += [run.language_model(name, CPU) for name in ("query_lm", "lf_lm")]
    assert [type(each).__name__ for each in models] == ["Transformer", "GRU", "Bigrams", "TransformerLanguageModel"]
    assert run.metrics()["engine"]["engines"] == {"GRU": "plain", "Transformer": "plain"}
    figures = next(record["figures"] for record in run.read_log() if record["stage"] == "dual")
    assert {"query_form_lm", "form_fluency", "query_reconstruction", "form_reconstruction"} <= set(figures)
    if loading.load():
        notes = [each.text for each in told if isinstance(each, Note)]
        assert "dual: gru.GRU runs on the plain engine: numba does not know it" in notes
    parser = Parser(run, toy.domain(), CPU)
    assert len(parser.parse("how deep is blue lake", k=2)) == 2
    assert parser.verbalize("( all lake )")[0].query


def test_each_model_may_be_of_its_own_kind():
    told = make_recipe(
        {"domain": "toy", "model": {"network": "transformer", "networks": {"lf2q": "gru:GRU", "lf_lm": "transformer"}}}
    ).model
    assert [told.kind(name) for name in ("q2lf", "lf2q", "query_lm", "lf_lm")] == [
        "transformer",
        "gru:GRU",
        "lstm",
        "transformer",
    ]
    assert set(NETWORKS) - {"pretrained"} == set(TEXT_MODELS) == {"lstm", "transformer"}
    assert type(new_text_model("gru:Bigrams", 9, told)).__name__ == "Bigrams"


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({"network": "transfomer"}, "did you mean 'transformer'"),
        ({"networks": {"q2l": "lstm"}}, "did you mean 'q2lf'"),
        ({"networks": {"q2lf": "lstn"}}, "did you mean 'lstm'"),
        ({"network": "transformer", "hidden": 10, "heads": 4}, "4 heads cannot share 10"),
        ({"networks": {"lf_lm": "pretrained"}}, "lf_lm cannot be pretrained"),
    ],
)
def test_a_network_nobody_knows_is_an_error_that_names_the_nearest(model, reason):
    with pytest.raises(InputError, match=reason):
        make_recipe({"domain": "toy", "model": model})


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gru:GRUU", "did you mean 'GRU'"),
        ("nowhere_at_all:GRU", "not installed"),
        ("gru:Memory", "no subclass of dualparse.networks.network.Network"),
        ("gru:UNK", "neither a class nor a function"),
        ("gru:Bigrams", "no subclass"),
        ("halves:Half", "lacks begin, step"),
        ("halves:narrow", "cannot be called with"),
        ("halves:other", "gives a Linear"),
        ("halves:Bare", "source_embedding is to be an nn.Embedding of 9 tokens"),
    ],
)
def test_a_class_that_is_no_network_is_an_error_that_says_why(name, reason, tmp_path, monkeypatch):
    (tmp_path / "halves.py").write_text(
        "from torch import nn\n"
        "from gru import GRU\n"
        "from dualparse.networks.network import Network\n"
        "class Half(Network):\n"
        "    def encode(self, source, copy): ...\n"
        "    def log_probs(self, memory, inputs, targets): ...\n"
        "def narrow(size): ...\n"
        "def other(a, b, c): return nn.Linear(2, 2)\n"
        "class Bare(Half):\n"
        "    def __init__(self, a, b, c): super().__init__()\n"
        "    def begin(self, memory, beams): ...\n"
        "    def step(self, memory, state, tokens): ...\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=reason):
        new_network(name, 9, V, make_recipe({"domain": "toy"}).model)


def test_the_plain_engine_runs_what_the_others_do_not_know():
    models = [network(name).float() for name in TENANTS]
    assert {engine_for(model).name for model in models} == {"plain"}
    assert set(told(*models)["versions"]) >= {"torch"}
