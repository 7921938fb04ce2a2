"""The stages `matcher` and `reader`: a run trains them, takes them up where they were, and answers with them."""

from __future__ import annotations

import re
import shutil
from itertools import product
from pathlib import Path

import pytest
import torch
from small_runs import left_behind
from tiny_encoder import write_tiny_encoder

import dualparse
from dualparse.config import Recipe, make_recipe
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.game.tell import open_players, tell_round
from dualparse.lab.weigh import Way, choose_so, try_ways
from dualparse.matching.adapter import open_matcher
from dualparse.runs import Run
from dualparse.training import loop
from dualparse.training import matcher as stage
from dualparse.training import reader as reading
from dualparse.training.loop import Record
from dualparse.training.material import load_splits
from dualparse.training.run import Note, refit, train
from dualparse.training.score import score_run
from dualparse.training.step import Adam
from dualparse.use.api import load

CPU = torch.device("cpu")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Vectors of tests are none of the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", autouse=True)
def quick():
    """An encoder that has read nothing has to learn faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "OPTIMIZER", Adam(1e-2, clip=1.0))
        patch.setattr(reading, "OPTIMIZER", Adam(1e-2, clip=1.0))
        yield


@pytest.fixture(scope="module")
def encoder(books, tmp_path_factory) -> Path:
    pytest.importorskip("transformers", reason="needs the extra pretrained")
    texts = [line.partition("\t")[0] for line in (books / "train.tsv").read_text().splitlines()]
    grammar = re.findall(r"[a-z0-9]+", (books / "domain.grammar").read_text())
    return write_tiny_encoder(tmp_path_factory.mktemp("encoder"), " ".join([*texts, *grammar]))


@pytest.fixture(scope="module")
def books(tmp_path_factory) -> Path:
    """A small domain with a grammar."""
    folder = tmp_path_factory.mktemp("domain") / "books"
    return shutil.copytree(Path(dualparse.__file__).parent / "domains" / "template", folder)


def recipe_of(books: Path, encoder: Path, **changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": str(books),
        "stages": ["matcher", "reader", "q2lf", "lf2q"],
        "model": {"embedding": 6, "hidden": 8, "encoder": str(encoder)},
        "train": {"epochs": 1},
        "matcher": {"epochs": 4, "layers": 2},
        "search": {"max_length": 12, "beams": 2, "reconstruction": 0.5, "matcher": 1.0},
    }
    return make_recipe(values | changes)


@pytest.fixture(scope="module")
def trained(books, encoder, tmp_path_factory) -> tuple[Path, list[Record]]:
    folder = tmp_path_factory.mktemp("matcher") / "run"
    events = list(train(recipe_of(books, encoder), folder, device=CPU))
    assert any(isinstance(event, Note) and event.text.startswith("matcher: ") for event in events)
    return folder, [event for event in events if isinstance(event, Record)]


def test_the_matcher_of_a_run_learns_what_the_pairs_mean(trained):
    folder, events = trained
    records = [record for record in events if record.stage == "matcher"]
    assert [record.epoch for record in records] == [1, 2, 3, 4]
    assert records[-1].figures["loss"] < records[0].figures["loss"]
    run = Run.open(folder)
    assert "matcher.safetensors" in (folder / "manifest.json").read_text()
    domain = open_domain(run.recipe.domain)
    index, dev = run.index(domain, CPU), load_splits(domain, run.recipe.data).dev
    near = index.propose([example.query or () for example in dev], len(index))
    among = [[form for form, _ in each] for each in near]
    first = [domain.normalize(" ".join(e.lf or ())) == domain.normalize(f[0]) for e, f in zip(dev, among, strict=True)]
    assert sum(first) > 0, "dev forms are found among all the grammar says"


def test_the_second_reader_of_a_run_learns_what_the_matcher_cannot_tell(trained):
    folder, events = trained
    records = [record for record in events if record.stage == "reader"]
    assert records[-1].figures["loss"] < records[0].figures["loss"]
    run = Run.open(folder)
    assert "reader.safetensors" in (folder / "manifest.json").read_text()
    scores = score_run(run, split="dev", device=CPU)
    assert scores["reader"]["accuracy"] >= scores["matcher"]["accuracy"]
    parts = load(folder).parse("novels by mira holt", k=3)[0].parts
    assert {"q2lf", "reconstruction", "matcher", "reader"} <= set(parts)


def test_a_reader_without_a_matcher_is_an_error(books, encoder):
    with pytest.raises(InputError, match="the stage 'reader' needs .'matcher'. among the stages"):
        recipe_of(books, encoder, stages=["reader", "q2lf"], search={})
    with pytest.raises(InputError, match="the stage 'reader' comes before .'matcher'."):
        recipe_of(books, encoder, stages=["reader", "matcher"], search={})


def test_a_later_run_takes_matcher_and_reader_over(trained, books, encoder, tmp_path):
    events = list(train(recipe_of(books, encoder, start_from=str(trained[0])), tmp_path / "run", device=CPU))
    told = [event.text for event in events if isinstance(event, Note)]
    assert f"reader: taken from {trained[0]}" in told
    assert (tmp_path / "run" / "reader.safetensors").read_bytes() == (trained[0] / "reader.safetensors").read_bytes()


@pytest.mark.parametrize("stages", [["matcher"], ["matcher", "reader"]])
def test_a_matcher_that_was_interrupted_goes_on_as_if_nothing_had_happened(
    trained, books, encoder, tmp_path, monkeypatch, stages
):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    recipe = recipe_of(books, encoder, stages=stages, search={})
    list(train(recipe, tmp_path / "whole", device=CPU))
    events = train(recipe, tmp_path / "run", device=CPU)
    for event in events:
        if isinstance(event, Record) and (event.stage, event.epoch) == (stages[-1], 2):
            break
    events.close()
    assert (tmp_path / "run" / f"{stages[-1]}.checkpoint.safetensors").exists()
    list(train(recipe, tmp_path / "run", resume=True, device=CPU))
    assert left_behind(tmp_path / "run") == left_behind(tmp_path / "whole")


def test_evaluate_tells_all_ways_side_by_side(trained):
    run = Run.open(trained[0])
    scores = score_run(run, split="test", device=CPU)
    assert list(scores) == ["q2lf", "both", "matcher", "reader", "combined", "lf2q"]
    weights = {name: scores["combined"][name] for name in ("reconstruction", "matcher", "reader")}
    assert weights == {"reconstruction": 0.5, "matcher": 1.0, "reader": 1.0}
    assert "matcher" not in scores["both"]
    assert scores["matcher"]["accuracy"] > scores["q2lf"]["accuracy"], "an agent of one epoch has no valid form"
    assert (run.folder / "predictions.test.combined.jsonl").exists()


def test_a_parser_answers_with_forms_the_matcher_proposes(trained):
    folder, _ = trained
    parser = load(folder)
    found = parser.parse("novels by mira holt", k=5)
    alone = parser.search.choose([parser.read("novels by mira holt").words])[0]
    assert found[0].verdict.ok and found[0].form not in {each.text for each in alone}


def test_ways_with_a_matcher_score_as_a_run_that_chooses_so(trained, tmp_path):
    run = Run.open(shutil.copytree(trained[0], tmp_path / "run"))
    scores = try_ways(run, device=CPU, beams=[5], reconstructions=[0.1, 3.0], matchers=[0.0, 0.05, 2.0])
    assert {(way.reconstruction, way.matcher) for way in scores} == {
        *product((0.0, 0.1, 3.0), (0.0, 0.05, 2.0)),
        (0.5, 1),
    }
    assert len({score for way, score in scores.items() if way.matcher}) > 1, "some weights are better than others"
    for way, score in scores.items():
        choose_so(run, way)
        told = score_run(run, split="dev", device=CPU)
        who = "combined" if way.matcher else "both" if way.reconstruction else "q2lf"
        assert told[who]["accuracy"] == round(score, 2), way
    assert choose_so(run, Way(2, 0.0, 0.0, 2.0)) and Way.of(Run.open(run.folder).recipe) == Way(2, 0.0, 0.0, 2.0)


GAME = {
    "stages": ["matcher", "q2lf", "lf2q", "dual"],
    "data": {"labeled": 0.5},
    "game": {"epochs": 1, "beams": 2, "rewards": [{"name": "meaning", "weight": 2.0}]},
    "search": {"max_length": 12},
}


def test_what_is_meant_is_a_reward_of_both_loops(books, encoder, tmp_path):
    folder = tmp_path / "run"
    events = list(train(recipe_of(books, encoder, **GAME), folder, device=CPU))
    figures = next(e.figures for e in events if isinstance(e, Record) and e.stage == "dual")
    assert {"query_meaning", "query_meaning_spread", "form_meaning", "form_meaning_spread"} <= set(figures)
    assert figures["form_reward"] == pytest.approx(2 * figures["form_meaning"], abs=1e-3)
    run = Run.open(folder)
    domain = open_domain(run.recipe.domain)
    index, players = run.index(domain, CPU), open_players(run, domain, CPU)
    query, form = "books by mira holt", "( filter ( all book ) author = author.mira_holt )"
    asked = tell_round(run, players, domain, query.split(), "q2lf")
    near = index.nearness([query.split()], [[move.text for move in asked.moves]])[0]
    assert [move.rewards["meaning"] for move in asked.moves] == pytest.approx(near.tolist())
    said = tell_round(run, players, domain, form.split(), "lf2q")
    near = [index.nearness([move.text.split()], [[form]])[0][0] for move in said.moves]
    assert [move.rewards["meaning"] for move in said.moves] == pytest.approx(near) and all(near)


def test_without_the_stage_the_matcher_that_ships_says_what_is_meant(books, encoder, tmp_path):
    recipe = recipe_of(books, encoder, **GAME | {"stages": ["q2lf", "lf2q", "dual"]})
    events = list(train(recipe, tmp_path / "run", device=CPU))
    assert any("query_meaning" in event.figures for event in events if isinstance(event, Record))
    shipped = Run.open(tmp_path / "run").index(open_domain(recipe.domain), CPU).matcher
    assert shipped.scale.item() == open_matcher(str(encoder)).scale.item()


def test_a_game_for_what_is_meant_needs_a_grammar(toy_files, encoder, tmp_path):
    recipe = make_recipe({**GAME, "domain": "toy", "stages": ["q2lf", "lf2q", "dual"]})
    with pytest.raises(
        InputError, match="meaning compares queries with the utterances of a grammar, and 'toy' has none"
    ):
        list(train(recipe, tmp_path / "run", device=CPU))
    assert not (tmp_path / "run").exists()


def test_no_labels_leave_the_matcher_as_it_ships(books, encoder, tmp_path):
    data = {"labeled": 0.0, "canonical": 20}
    recipe = recipe_of(books, encoder, stages=["matcher"], data=data, search={})
    records = [e for e in train(recipe, tmp_path / "run", device=CPU) if isinstance(e, Record)]
    assert records[0].figures == {"loss": 0.0}
    assert Run.open(tmp_path / "run").weights("matcher").exists()


def test_a_refit_learns_from_dev_as_well(books, encoder, tmp_path):
    recipe = recipe_of(books, encoder, stages=["matcher"], search={})
    list(train(recipe, tmp_path / "run", device=CPU))
    notes = [e.text for e in refit(Run.open(tmp_path / "run"), device=CPU) if isinstance(e, Note)]
    before, after = (_pairs(note) for note in (_note(tmp_path / "run", recipe), " ".join(notes)))
    assert after > before


def _note(folder: Path, recipe: Recipe) -> str:
    shutil.rmtree(folder)
    return " ".join(e.text for e in train(recipe, folder, device=CPU) if isinstance(e, Note))


def _pairs(text: str) -> int:
    return int(text.partition("matcher: ")[2].partition(" pairs")[0])


def test_a_matcher_needs_a_grammar_and_a_weight_needs_a_matcher(toy_files, encoder, tmp_path):
    recipe = make_recipe({"domain": "toy", "stages": ["matcher"], "model": {"encoder": str(encoder)}})
    with pytest.raises(InputError, match="'toy' has no grammar"):
        list(train(recipe, tmp_path / "run", device=CPU))
    with pytest.raises(InputError, match="search.matcher: nobody compares"):
        make_recipe({"domain": "toy", "search": {"matcher": 1.0}})
