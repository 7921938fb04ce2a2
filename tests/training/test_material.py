"""What a run trains on when its pairs come from a grammar, or from other domains as well."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

from dualparse.config import Recipe, make_recipe
from dualparse.data.examples import Example, load_examples
from dualparse.domains.domain import Domain
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.registry import open_domain
from dualparse.engines.found import Options
from dualparse.errors import InputError
from dualparse.networks.agent import Agent
from dualparse.networks.tensors import load_tensors
from dualparse.runs import Run
from dualparse.training import stages, supervised
from dualparse.training.essence import stage_recipe
from dualparse.training.loop import Record
from dualparse.training.material import Material, load_material
from dualparse.training.run import Note, train
from dualparse.training.score import score_run

CPU = torch.device("cpu")


def recipe(domain: str = "trails", **changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": domain,
        "stages": ["q2lf", "lf2q", "query_lm", "dual"],
        "data": {"labeled": 0, "canonical": 24, "forms": False},
        "model": {"embedding": 6, "hidden": 8},
        "train": {"epochs": 1},
        "language_model": {"epochs": 1},
        "game": {"epochs": 1, "beams": 2, "max_length": 6, "batch_size": 64},
        "search": {"max_length": 6},
    }
    return make_recipe(values | changes)


def texts(examples: list, side: str) -> set[str]:
    return {" ".join(getattr(example, side)) for example in examples}


@pytest.fixture
def grammar_only(tmp_path: Path) -> Path:
    """A domain folder in which nobody has labeled anything."""
    folder = tmp_path / "domain"
    shutil.copytree(EMBEDDED / "trails", folder)
    for name in ("train", "dev", "test"):
        (folder / f"{name}.tsv").unlink()
    return folder


def test_everything_is_learned_from_where_nothing_is_held_out():
    held, whole = (load_material(recipe(data={"labeled": 0.5, "everything": every})) for every in (False, True))
    splits = load_examples(open_domain("trails"), dev_seed=1)
    assert held.dev == splits.dev and whole.dev == []
    assert whole.labeled[: len(held.labeled)] == held.labeled
    added = whole.labeled[len(held.labeled) :]
    assert len(added) == len(splits.dev) // 2 and all(pair in splits.dev for pair in added)
    torn = [pair.query for pair in splits.dev if pair not in added]
    assert sorted(example.query for example in whole.queries if example not in held.queries) == sorted(torn)
    assert len(whole.forms) == len(held.forms) + len(torn)
    assert {word for pair in splits.dev for word in pair.query} <= set(whole.query_vocab.tokens)


@pytest.fixture
def no_dev_file(tmp_path: Path) -> Path:
    folder = tmp_path / "lakes"
    shutil.copytree(EMBEDDED / "trails", folder)
    (folder / "dev.tsv").unlink()
    return folder


def test_the_pairs_of_a_list_keep_their_label_and_are_none_of_dev(no_dev_file, tmp_path):
    drawn = load_examples(open_domain(str(no_dev_file)), dev_seed=1)
    listed = [drawn.train[3], drawn.dev[2], drawn.dev[5]]
    (tmp_path / f"{open_domain(str(no_dev_file)).name}.3.txt").write_text("\n".join(sorted(texts(listed, "query"))))
    data = {"labeled": str(tmp_path / "{domain}.3.txt")}
    material = load_material(recipe(str(no_dev_file), data=data))
    assert texts(material.labeled, "query") == texts(listed, "query") and len(material.labeled) == 3
    assert material.dev == [pair for pair in drawn.dev if pair not in listed]
    assert len(material.forms) == len(drawn.train) + len(drawn.dev) - len(material.dev) - 3
    whole = load_material(recipe(str(no_dev_file), data=data | {"everything": True}))
    assert len(whole.labeled) == 3 and len(whole.forms) == len(drawn.train) + len(drawn.dev) - 3


def test_a_run_of_a_list_is_scored_on_the_dev_pairs_it_has_not_seen(no_dev_file, tmp_path):
    splits = load_examples(open_domain(str(no_dev_file)), dev_seed=1)
    (tmp_path / "few.txt").write_text("\n".join(sorted(texts(splits.dev[:150], "query"))))
    changes = {"stages": ["q2lf"], "data": {"labeled": str(tmp_path / "few.txt")}, "search": {"beams": 1}}
    for _ in train(recipe(str(no_dev_file), **changes), tmp_path / "run", device=CPU):
        pass
    scores = score_run(Run.open(tmp_path / "run"), split="dev", device=CPU)
    assert scores["q2lf"]["examples"] == len(splits.dev) - 150


def test_a_grammar_without_labels_is_learned_whole_where_nothing_is_held_out(grammar_only):
    data = {"labeled": 0, "canonical": 24, "forms": False, "everything": True}
    material = load_material(recipe(str(grammar_only), data=data))
    assert len(material.canonical) == 24 and material.dev == []


def test_a_grammar_gives_pairs_and_all_queries_lose_their_form():
    material = load_material(recipe())
    splits = load_examples(open_domain("trails"), dev_seed=1)
    assert material.labeled == []
    assert len(material.pairs) == len(material.canonical) == 24
    assert all(material.domain.check(" ".join(pair.lf or ())).ok for pair in material.canonical)
    assert texts(material.queries, "query") == texts(splits.train + splits.extra_queries, "query")
    assert material.forms == []
    assert material.all_forms == material.canonical
    assert material.all_queries == material.queries  # query_lm reads what people say, not what the grammar says
    assert material.dev == splits.dev


def test_canonical_pairs_join_labeled_ones():
    material = load_material(recipe(data={"canonical": 10, "labeled": 0.1}))
    assert (len(material.labeled), len(material.canonical), len(material.pairs)) == (97, 10, 107)
    assert material.all_queries == material.labeled + material.queries
    assert material.all_forms == material.pairs + material.forms


def test_lf2q_learns_to_speak_as_people_do_where_any_have_spoken(tmp_path):
    settings = recipe(data={"canonical": 10, "labeled": 0.01})
    material = load_material(settings)
    assert material.pairs_of("q2lf") == material.labeled + material.canonical
    assert material.pairs_of("lf2q") == material.labeled and len(material.labeled) == 10
    list(train(settings, tmp_path / "run", device=CPU))
    game = stages.prepare("dual", settings, Run.open(tmp_path / "run"), material, CPU).task.epoch.__self__
    ids = [material.query_vocab.ids(pair.query or ()) for pair in material.labeled]
    assert [row.target for row in game.labeled[1]] == ids * 2


def test_without_canonical_pairs_nothing_changes():
    material = load_material(recipe(data={}))
    assert material.canonical == []
    assert material.pairs == material.labeled == load_examples(material.domain, dev_seed=1).train


def test_entities_go_by_all_their_names():
    material = load_material(recipe(data={"labeled": 0, "canonical": 400}))
    said = " ".join(texts(material.canonical, "query"))
    assert {"lodge", "demanding"} <= set(said.split())  # of the lexicon; the grammar has neither


def test_the_vocabularies_know_all_that_is_read(grammar_only):
    settings = recipe(str(grammar_only), data={"labeled": 0, "canonical": 24})
    material = load_material(settings)
    read = material.canonical + material.queries
    assert {word for example in read for word in example.query or ()} <= set(material.query_vocab.tokens)
    assert {token for example in material.canonical for token in example.lf or ()} <= set(material.lf_vocab.tokens)


def test_the_seed_of_the_split_decides_and_nothing_else():
    def pairs(**data: object) -> list[Example]:
        return load_material(recipe(data={"labeled": 0, "canonical": 24} | data)).canonical

    assert pairs() == pairs()
    assert pairs(split_seed=2) != pairs()
    assert pairs(queries=False) == pairs()


def test_a_small_grammar_gives_what_it_has(tmp_path):
    shutil.copytree(EMBEDDED / "trails", tmp_path / "small")
    rules = "(rule $ROOT (all $What) (IdentityFn))\n(rule $What (huts) (ConstantFn (all hut)))\n"
    (tmp_path / "small" / "domain.grammar").write_text(rules, encoding="utf-8")
    material = load_material(recipe(str(tmp_path / "small")))
    assert texts(material.canonical, "query") == {"all huts"}


def test_no_grammar_is_an_input_error(tmp_path):
    shutil.copytree(EMBEDDED / "trails", tmp_path / "plain")
    (tmp_path / "plain" / "domain.grammar").unlink()
    with pytest.raises(InputError, match="data.canonical = 24, but the domain 'trails' has no grammar"):
        load_material(recipe(str(tmp_path / "plain")))


def test_nothing_left_to_train_on_is_an_input_error(grammar_only):
    with pytest.raises(InputError, match="nothing to train on: labeled is 0, and canonical"):
        recipe(data={"labeled": 0})
    with pytest.raises(InputError, match="has no training pairs: data.canonical"):
        load_material(recipe(str(grammar_only), data={}))


def test_dev_is_drawn_from_the_grammar_where_nobody_labeled_anything(grammar_only):
    material = load_material(recipe(str(grammar_only)))
    assert (len(material.canonical), len(material.dev)) == (19, 5)
    assert not texts(material.canonical, "lf") & texts(material.dev, "lf")
    assert len(material.queries) == 439


def test_a_domain_without_labels_is_trained_resumed_and_taken_up(grammar_only, tmp_path):
    (grammar_only / "queries.txt").write_text("which huts have showers\nwalks with dogs\n", encoding="utf-8")
    domain = str(grammar_only)
    told = list(train(recipe(domain), tmp_path / "whole", device=CPU))
    assert isinstance(told[0], Note)
    assert "19 pairs to train on (19 from the grammar), 5 for dev" in told[0].text
    assert any(isinstance(event, Note) and "2 queries, 19 forms, 19 pairs" in event.text for event in told)

    generator = train(recipe(domain), tmp_path / "broken", device=CPU)
    while not isinstance(event := next(generator), Record) or event.stage != "lf2q":
        pass
    generator.close()
    list(train(recipe(domain), tmp_path / "broken", resume=True, device=CPU))
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")

    further = recipe(domain, start_from=str(tmp_path / "whole"))
    notes = [e.text for e in train(further, tmp_path / "further", device=CPU) if isinstance(e, Note)]
    assert any(note.startswith("q2lf: taken from") for note in notes)
    assert weights(tmp_path / "further") == weights(tmp_path / "whole")


@pytest.mark.parametrize("data", [{"labeled": 0, "canonical": 23}])
def test_a_run_on_other_canonical_pairs_is_not_taken_up(tmp_path, data):
    list(train(recipe(stages=["q2lf"]), tmp_path / "first", device=CPU))
    other = recipe(stages=["q2lf"], start_from=str(tmp_path / "first"), data=data)
    with pytest.raises(InputError, match="vocabulary differs|other labels"):
        list(train(other, tmp_path / "second", device=CPU))


@pytest.mark.parametrize("name", ["blocks", "calendar"])
def test_overnight_trains_from_its_grammars(benchmark_data, tmp_path, name):
    settings = recipe(name, data={"labeled": 0, "canonical": 40, "forms": False, "unlabeled": 0.05})
    material: Material = load_material(settings)
    assert len(material.canonical) == 40
    assert all(material.domain.check(" ".join(pair.lf or ())).ok for pair in material.canonical)
    list(train(settings, tmp_path / "run", device=CPU))
    assert Run.open(tmp_path / "run").weights("q2lf").exists()


def weights(folder: Path) -> dict[str, dict[str, bytes]]:
    return {
        path.name: {name: tensor.numpy().tobytes() for name, tensor in load_tensors(path)[0].items()}
        for path in sorted(folder.glob("*.safetensors"))
    }


@pytest.fixture
def sibling(tmp_path: Path) -> Path:
    """Another domain with forms of the same kind, a word and a name of its own."""
    folder = tmp_path / "sibling"
    shutil.copytree(EMBEDDED / "trails", folder)
    told = (folder / "domain.toml").read_text(encoding="utf-8")
    (folder / "domain.toml").write_text(told.replace('name = "trails"', 'name = "paths"', 1), encoding="utf-8")
    pairs = "snowbound huts\t( filter ( all hut ) has_showers )\nthe dagger\tpeak.sable_horn\n"
    (folder / "train.tsv").write_text(pairs * 2, encoding="utf-8")
    with (folder / "lexicon.txt").open("a", encoding="utf-8") as stream:
        stream.write("the dagger :- NP : peak.sable_horn\n")
    return folder


def test_questions_that_were_logged_are_played_with_as_well(tmp_path):
    log = tmp_path / "logged.txt"
    log.write_text("huts with a sauna\npeaks beyond the glacier\n")
    half = load_material(recipe(data={"labeled": 0.5}))
    more = load_material(recipe(data={"labeled": 0.5, "queries": str(log)}))
    assert texts(more.queries, "query") - texts(half.queries, "query") == set(log.read_text().splitlines())
    assert len(more.queries) == len(half.queries) + 2
    assert more.query_vocab == half.query_vocab, "the agents of an earlier run can go on with them"
    with pytest.raises(InputError, match="gone.txt: cannot be read"):
        load_material(recipe(data={"queries": str(tmp_path / "gone.txt")}))
    with pytest.raises(InputError, match="data.queries"):
        recipe(data={"queries": " "})


def test_a_family_shares_pairs_and_words(sibling):
    family = {"family": ["trails", str(sibling)]}
    alone, material = load_material(recipe(data={})), load_material(recipe(data=family))
    assert [len(relative.labeled) for relative in material.others] == [4]
    assert "snowbound" in material.query_vocab.index and "snowbound" not in alone.query_vocab.index
    assert "dagger" in material.lf_vocab.index and "dagger" not in alone.lf_vocab.index
    for name in ("labeled", "queries", "forms", "dev"):
        assert getattr(material, name) == getattr(alone, name)
    half = load_material(recipe(data=family | {"labeled": 0.5}))
    assert [len(relative.labeled) for relative in half.others] == [2]
    assert half.query_vocab == material.query_vocab


def test_a_family_is_trained_told_of_and_loaded(sibling, tmp_path):
    settings = recipe(data={"family": ["trails", str(sibling)], "labeled": 0.5})
    told = list(train(settings, tmp_path / "run", device=CPU))
    assert " and 2 of 1 other domains, " in told[0].text
    agent = Run.open(tmp_path / "run").agent("q2lf", open_domain("trails"), CPU)
    assert "snowbound" in agent.source_vocab.index
    with pytest.raises(InputError, match="vocabulary differs|other labels"):
        list(train(recipe(data={"labeled": 0.5}, start_from=str(tmp_path / "run")), tmp_path / "on", device=CPU))


def test_a_domain_is_of_its_own_family(sibling):
    with pytest.raises(InputError, match="'trails' is not in its family"):
        load_material(family_recipe("trails", sibling))


def test_an_unknown_relative_is_an_input_error():
    with pytest.raises(InputError, match="unknown domain"):
        load_material(recipe(data={"family": ["trials"]}))


def family_recipe(domain: str, *family: Path | str, **changes: object) -> Recipe:
    return recipe(domain, data={"family": [str(name) for name in family]}, **changes)


def test_a_family_trains_the_same_agents_for_each_of_its_domains(sibling, tmp_path):
    found = {}
    for name in ("trails", str(sibling)):
        settings = family_recipe(name, "trails", sibling, stages=["q2lf", "lf2q"])
        folder = tmp_path / f"run{len(found)}"
        told = list(train(settings, folder, device=CPU))
        found[name] = weights(folder)
        assert "of 1 other domains" in told[0].text
        assert stage_recipe(settings, "q2lf").domain == stage_recipe(settings, "lf2q").domain == "trails"
        assert stage_recipe(settings, "query_lm").domain == name
    assert found["trails"] == found[str(sibling)]


def test_dev_of_a_family_is_that_of_all(sibling, tmp_path, monkeypatch):
    (sibling / "dev.tsv").write_text("snowbound huts\t( filter ( all hut ) has_showers )\n", encoding="utf-8")
    settings = family_recipe("trails", "trails", sibling)
    material = load_material(settings)
    asked = []

    def score(agent: Agent, dev: list, domain: Domain, search: Options) -> dict[str, float]:
        asked.append((domain.name, agent.lexicon is domain.lexicon))
        return {"score": 100.0 if domain.name == "trails" else 0.0}

    monkeypatch.setattr(supervised, "form_scores", score)
    task = stages.prepare("q2lf", settings, Run(tmp_path / "run"), material, CPU).task
    size = len(load_material(recipe(data={})).dev)
    assert task.evaluate() == {"score": pytest.approx(100 * size / (size + 1))}
    assert asked == [("trails", True), ("paths", True)]


def test_every_grammar_of_a_family_makes_pairs(sibling):
    family = [str(name) for name in ("trails", sibling)]
    joint = load_material(recipe(data={"family": family, "canonical": 24}))
    own, other = joint.relatives
    assert len(other.pairs_of("q2lf")) == 4 + 24
    assert len(other.pairs_of("lf2q")) == 4, "as people speak"
    assert own.pairs_of("q2lf") == joint.pairs and len(joint.canonical) == 24
    words = {word for pair in joint.canonical for word in pair.query or ()}
    assert words <= set(joint.query_vocab.tokens)


def test_pairs_made_by_analogy_are_for_q2lf_and_made_of_labeled_ones(monkeypatch):
    seen: dict[str, object] = {}
    new = Example(("new",), ("form",))

    def make(labeled: list[Example], check: object, **options: object) -> list[Example]:
        seen.update(options, labeled=labeled, check=check)
        return [new]

    monkeypatch.setattr("dualparse.training.material.by_analogy", make)
    material = load_material(recipe(data={"labeled": 0.5, "analogies": 9}))
    assert seen == {"labeled": material.labeled, "check": material.domain.check, "n": 9, "seed": 1}
    assert material.pairs_of("q2lf") == [*material.labeled, new] and new not in material.pairs_of("lf2q")
    assert new not in material.all_forms and new not in material.all_queries
    assert load_material(recipe(data={"labeled": 0.5})).analogous == []


def test_analogies_are_made_in_every_domain_of_a_family(sibling, monkeypatch):
    monkeypatch.setattr("dualparse.training.material.by_analogy", lambda labeled, check, **options: labeled[:3])
    (other,) = load_material(recipe(data={"family": ["trails", str(sibling)], "analogies": 3})).others
    assert other.pairs_of("q2lf") == other.labeled + other.labeled[:3] and other.pairs_of("lf2q") == other.labeled
