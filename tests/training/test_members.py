"""Committees: parsers in run folders below a run that answer together with its own."""

from __future__ import annotations

import json
from random import Random

import pytest
import torch
import toy
from small_runs import recipe

from dualparse.choosing.committee import find_by_committee
from dualparse.choosing.ranking import Weighted, rerank
from dualparse.choosing.scorers import WayBack
from dualparse.data.examples import load_examples
from dualparse.errors import InputError
from dualparse.networks.tensors import load_tensors
from dualparse.runs import REFIT, Run, search_options
from dualparse.training.loop import Tick
from dualparse.training.run import Note, refit, train
from dualparse.training.score import score_run
from dualparse.use.api import Parser

CPU = torch.device("cpu")


def test_members_of_a_committee_are_runs_that_answer_together(toy_files, tmp_path):
    folder = tmp_path / "run"
    events = list(train(recipe(stages=["q2lf", "lf2q"], committee=3), folder, device=CPU))
    run, others = Run.open(folder), [Run.open(folder / "members" / name) for name in ("2", "3")]
    assert [other.recipe.seed for other in others] == [1001, 2001]
    assert all(other.recipe.stages == ("q2lf",) for other in others), "their lf2q would teach nobody"
    parsers = run.parsers(toy.domain(), CPU)
    assert len(parsers) == 3 and len({parser.model.generate.weight.sum().item() for parser in parsers}) == 3
    together = score_run(run, split="test", device=CPU)["q2lf"]
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    found = find_by_committee(parsers, asked, search_options(run.recipe), rng=Random(0))
    told = [json.loads(line) for line in (folder / "predictions.test.jsonl").read_text().splitlines()]
    assert [[text for text, _ in line["hypotheses"]] for line in told] == [[h.text for h in forms] for forms in found]
    assert together["examples"] == 9 and together["parsers"] == 3
    again = [event for event in train(recipe(stages=["q2lf", "lf2q"], committee=3), folder, resume=True, device=CPU)]
    assert not any(isinstance(event, Tick) for event in again) and any(isinstance(event, Tick) for event in events)
    others[1].weights("q2lf").unlink()
    with pytest.raises(
        InputError, match=f"members/3, one of 3 parsers, is not trained yet: .* --out {folder} --resume"
    ):
        score_run(run, split="test", device=CPU)


def test_before_a_later_stage_the_same_parsers_answer_with_what_they_knew(toy_files, tmp_path):
    changes = {"stages": ["q2lf", "lf2q", "pseudo"], "data": {"labeled": 0.5}, "committee": 2}
    list(train(recipe(**changes), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    for before, weights in ((True, "pretrained-q2lf"), (False, "q2lf")):
        assert score_run(run, split="test", before=before, device=CPU)["q2lf"]["parsers"] == 2
        parsers = run.parsers(toy.domain(), CPU, weights=weights)
        found = find_by_committee(parsers, asked, search_options(run.recipe), rng=Random(0))
        name = "predictions.test.before.jsonl" if before else "predictions.test.jsonl"
        told = [json.loads(line) for line in (run.folder / name).read_text().splitlines()]
        expected = [[[h.text, round(h.score, 4)] for h in forms] for forms in found]
        assert [line["hypotheses"] for line in told] == expected


@pytest.mark.parametrize(("stages", "listeners"), [(["q2lf", "lf2q", "pseudo"], 2), (["q2lf", "lf2q"], 1)])
def test_where_both_agents_choose_every_lf2q_of_a_committee_has_a_say(toy_files, tmp_path, stages, listeners):
    changes = {"stages": stages, "data": {"labeled": 0.5}, "committee": 2, "search": {"reconstruction": 0.5}}
    list(train(recipe(**changes), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    heard = run.way_back(toy.domain(), CPU).listeners
    assert len(heard) == listeners and len({agent.model.generate.weight.sum().item() for agent in heard}) == listeners
    scores = score_run(run, split="test", device=CPU)["both"]
    assert scores["parsers"] == 2 and scores.get("listeners", 1) == listeners
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    weighted = [Weighted("reconstruction", WayBack(heard), 0.5)]
    found = rerank(asked, run.search(toy.domain(), CPU).choose(asked), weighted)
    told = [json.loads(line) for line in (run.folder / "predictions.test.both.jsonl").read_text().splitlines()]
    assert [line["hypotheses"] for line in told] == [[[h.text, round(h.score, 4)] for h in forms] for forms in found]


def test_common_forms_go_first_where_the_recipe_says_so(toy_files, tmp_path):
    """By the language models of all members, and in answers as in scores."""
    search = {"reconstruction": 0.5, "prior": 0.7}
    stages = ["q2lf", "lf2q", "lf_lm", "pseudo"]
    list(train(recipe(stages=stages, data={"labeled": 0.5}, committee=2, search=search), tmp_path / "run", device=CPU))
    run, domain = Run.open(tmp_path / "run"), toy.domain(files=toy_files)
    common = run.commonness(CPU)
    assert len({model.predict.weight.sum().item() for model in common.models}) == 2
    assert score_run(run, split="test", device=CPU)["both"]["prior"] == 0.7
    asked = [example.query for example in load_examples(domain, dev_seed=1).test]
    found = run.search(domain, CPU).choose(asked)
    back = Weighted("reconstruction", run.way_back(domain, CPU), 0.5)
    chosen = rerank(asked, found, [back, Weighted("prior", common, 0.7)])
    expected = [[[h.text, round(h.score, 4)] for h in forms] for forms in chosen]
    told = [json.loads(line) for line in (run.folder / "predictions.test.both.jsonl").read_text().splitlines()]
    assert [line["hypotheses"] for line in told] == expected
    assert expected != [[[h.text, round(h.score, 4)] for h in forms] for forms in rerank(asked, found, [back])]
    answers = Parser(run, domain, CPU).parse_all([" ".join(query) for query in asked], k=len(expected[0]))
    for answer, forms in zip(answers, expected, strict=True):
        valid_first = sorted(forms, key=lambda pair: not toy.check(pair[0]).ok)
        assert [parse.form for parse in answer] == [form for form, _ in valid_first]
        assert [parse.score for parse in answer] == pytest.approx([score for _, score in valid_first], abs=1e-3)


def test_members_are_refit_and_taken_over_as_well(toy_files, tmp_path):
    first = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5}, committee=2, refit=True)
    list(train(first, tmp_path / "run", device=CPU))
    again = Run.open(tmp_path / "run" / REFIT)
    member = Run.open(again.folder / "members" / "2")
    log = Run.open(tmp_path / "run" / "members" / "2").read_log()
    assert member.recipe.data.everything
    assert member.recipe.stop_at == {record["stage"]: record["epoch"] for record in log if record["best"]}
    assert again.recipe.stop_at.items() >= {f"members/2/{s}": e for s, e in member.recipe.stop_at.items()}.items()
    assert not (tmp_path / "run" / "members" / "2" / REFIT).exists(), "that of the whole is enough"
    later = first.model_copy(update={"start_from": str(tmp_path / "run"), "refit": False})
    notes = [event.text for event in train(later, tmp_path / "later", device=CPU) if isinstance(event, Note)]
    assert f"q2lf: taken from {tmp_path / 'run' / 'members' / '2'}" in notes


def test_a_finished_run_may_become_a_committee(toy_files, tmp_path):
    folder = tmp_path / "run"
    alone, together = recipe(stages=["q2lf"]), recipe(stages=["q2lf"], committee=2)
    list(train(alone, folder, device=CPU))
    before = load_tensors(folder / "q2lf.safetensors")[0]
    list(train(together, folder, resume=True, device=CPU))
    run = Run.open(folder)
    assert run.recipe == together and len(run.parsers(toy.domain(), CPU)) == 2
    assert all(torch.equal(before[name], tensor) for name, tensor in load_tensors(run.weights("q2lf"))[0].items())
    list(refit(run, device=CPU))
    list(train(recipe(stages=["q2lf"], committee=3), folder, resume=True, device=CPU))
    list(refit(run, device=CPU))
    assert len(Run.open(folder / REFIT).parsers(toy.domain(), CPU)) == 3
    other = recipe(stages=["q2lf"], committee=3, seed=4, search={"max_length": 9})
    with pytest.raises(InputError, match="seed is 1 there and 4 here; search.max_length is 12 there and 9 here$"):
        list(train(other, folder, resume=True, device=CPU))
    score_run(run, split="test", device=CPU)
    list(train(alone, folder, resume=True, device=CPU))
    assert len(run.parsers(toy.domain(), CPU)) == 1, "and one alone again"
    assert run.metrics() == {} and not list(folder.glob("predictions.*")), "which has not been scored"
