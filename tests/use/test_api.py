"""A trained run from Python: the toy domain, learned once."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, asdict, replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch
import toy

import dualparse
from dualparse.config import make_recipe
from dualparse.data.vocab import Vocab
from dualparse.domains.text import MAX_WORDS
from dualparse.engines.numba import loading as kernels
from dualparse.errors import InputError
from dualparse.lf.verdict import Verdict
from dualparse.manifest import write_manifest
from dualparse.runs import Run
from dualparse.training.run import train
from dualparse.use.api import MAX_TOKENS, LightParser, Parser, form_tokens, load
from dualparse.use.parses import Copy

RECIPE = {
    "domain": "toy",
    "model": {"embedding": 24, "hidden": 24, "dropout": 0.1},
    "train": {"epochs": 30, "learning_rate": 0.01, "batch_size": 8, "evaluate_from": 20, "evaluate_every": 5},
    "search": {"max_length": 12},
}


@pytest.fixture(scope="module")
def parser(tmp_path_factory) -> Parser:
    folder = tmp_path_factory.mktemp("api")
    files = toy.write_files(folder / "toy")
    with toy.registered(files):
        list(train(make_recipe(dict(RECIPE)), folder / "run", device=torch.device("cpu")))
        return load(folder / "run")


def test_a_question_has_a_form_a_verdict_and_an_answer(parser):
    best = parser.parse("how deep is blue lake", k=1)[0]
    assert best.form == "( get lake.blue depth )"
    assert best.verdict.ok
    assert best.answer == toy.execute(best.form)
    assert best.score < 0


@pytest.mark.parametrize("weight", [0.0, 0.7])
def test_without_torch_the_answers_are_the_same(parser, tmp_path, toy_domain, weight):
    """Readings, probabilities, copies, more readings than the search has, constraints, lessons; wordings load torch."""
    shutil.copytree(parser.run.folder, tmp_path / "run")
    toy_domain(toy.write_files(tmp_path / "toy"))
    search = parser.recipe.search.model_copy(update={"reconstruction": weight})
    Run(tmp_path / "run").save_recipe(parser.recipe.model_copy(update={"search": search}))
    load(tmp_path / "run").learn([("what is the depth of blue lake", "( get lake.blue depth )")])
    heavy, light = load(tmp_path / "run"), load(tmp_path / "run", light=True)
    assert isinstance(light, LightParser) and not isinstance(heavy, LightParser)
    for question in (
        "how deep is blue lake",
        "what is the depth of blue lake",
        "the depth of red lake",
        "list nothing",
    ):
        for more in ({}, {"k": 9}, {"constrained": True}):
            wanted, found = heavy.parse(question, **more), light.parse(question, **more)
            assert [(p.form, p.answer, p.copies, p.notes) for p in found] == [
                (p.form, p.answer, p.copies, p.notes) for p in wanted
            ]
            np.testing.assert_allclose(
                [(p.score, p.probability) for p in found], [(p.score, p.probability) for p in wanted], atol=1e-4
            )
        assert light.ask(question).status == heavy.ask(question).status
    form = "( get lake.blue depth )"
    assert light.verbalize(form) == heavy.verbalize(form)
    assert light.explain("how deep is blue lake").tokens == heavy.explain("how deep is blue lake").tokens


@pytest.mark.parametrize("change", [{"committee": 2}, {"network": "transformer"}, {"manifest": False}], ids=str)
def test_what_cannot_do_without_torch_is_loaded_with_it(parser, tmp_path, toy_domain, change):
    shutil.copytree(parser.run.folder, tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert run.light
    recipe = parser.recipe
    if "network" in change:
        recipe = recipe.model_copy(update={"model": recipe.model.model_copy(update=change)})
    else:
        recipe = recipe.model_copy(update=change)
    if change == {"manifest": False}:
        (tmp_path / "run" / "manifest.json").unlink()
        run = Run.open(tmp_path / "run")
    else:
        run.save_recipe(recipe)
    assert not run.light


def test_weights_that_do_not_fit_are_told_without_torch_too(parser, tmp_path, toy_domain):
    shutil.copytree(parser.run.folder, tmp_path / "run")
    toy_domain(toy.write_files(tmp_path / "toy"))
    run = Run.open(tmp_path / "run")
    run.save_vocab("lf", Vocab([*run.vocab("lf").tokens, "more"]))
    write_manifest(run.folder)
    with pytest.raises(InputError, match="do not fit the vocabulary"):
        load(tmp_path / "run", light=True)


def test_parsers_of_a_committee_answer_together(parser, tmp_path, toy_domain):
    """The run and one that has learned nothing: what they find is ranked by both, and copies are still told."""
    shutil.copytree(parser.run.folder, tmp_path / "run")
    toy_domain(toy.write_files(tmp_path / "toy"))
    untaught = make_recipe(RECIPE | {"seed": 1001, "stages": ["q2lf"], "train": {"epochs": 1, "learning_rate": 1e-9}})
    list(train(untaught, tmp_path / "run" / "members" / "2", device=torch.device("cpu")))
    Run(tmp_path / "run").save_recipe(parser.recipe.model_copy(update={"committee": 2}))
    together = load(tmp_path / "run")
    assert len(together.search.agents) == 2 and together.q2lf is together.search.agents[0]
    alone, both = (each.parse("how deep is blue lake", k=3) for each in (parser, together))
    assert both[0].form == alone[0].form and both[0].copies == alone[0].copies
    assert both[0].score < alone[0].score - 0.1, "the other one is not sure"
    assert together.explain("how deep is blue lake").tokens == tuple(both[0].form.split())


def test_wordings_do_not_wait_for_the_other_parsers(parser, tmp_path, toy_domain):
    shutil.copytree(parser.run.folder, tmp_path / "run")
    toy_domain(toy.write_files(tmp_path / "toy"))
    Run(tmp_path / "run").save_recipe(parser.recipe.model_copy(update={"committee": 2}))
    form = parser.parse("how deep is blue lake", k=1)[0].form
    with pytest.raises(InputError, match="one of 2 parsers, is not trained yet"):
        load(tmp_path / "run")
    unfinished = load(tmp_path / "run", whole=False)
    assert unfinished.verbalize(form, k=2) == parser.verbalize(form, k=2)
    with pytest.raises(InputError, match="one of 2 parsers, is not trained yet"):
        unfinished.parse("how deep is blue lake")


def test_programs_that_await_get_the_same(parser):
    async def both():
        return await asyncio.gather(
            parser.parse_async("how deep is blue lake", k=2), parser.ask_async("how deep is blue lake")
        )

    parses, reply = asyncio.run(both())
    assert parses == parser.parse("how deep is blue lake", k=2)
    assert reply == parser.ask("how deep is blue lake")


def test_upper_case_and_spaces_do_not_matter(parser):
    assert parser.parse("  How DEEP is\tBlue Lake\n", k=1) == parser.parse("how deep is blue lake", k=1)


def test_valid_readings_come_first_each_group_by_score(parser):
    readings = parser.parse("how many lakes are there", k=20)
    assert len(readings) == 20
    keys = [(not reading.verdict.ok, -reading.score) for reading in readings]
    assert keys == sorted(keys)
    assert any(reading.verdict.ok for reading in readings)
    invalid = [reading for reading in readings if not reading.verdict.ok]
    assert invalid
    assert all(reading.answer is None and reading.verdict.reason for reading in invalid)


def test_many_questions_at_once_are_answered_as_one_by_one(parser):
    questions = ["how deep is arn", "list all lakes", "everything near the blue one", "how deep is old berg town"]
    together = parser.parse_all(questions, k=2)
    for question, readings in zip(questions, together, strict=True):
        alone = parser.parse(question, k=2)
        assert [reading.form for reading in readings] == [reading.form for reading in alone]
        assert [reading.copies for reading in readings] == [reading.copies for reading in alone]
        assert [reading.score for reading in readings] == pytest.approx([reading.score for reading in alone], rel=1e-3)
    assert parser.parse_all([]) == []


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_compiled_search_answers_as_the_other_does(parser, monkeypatch):
    monkeypatch.setattr(kernels, "_loaded", False)
    expected = parser.parse("how deep is blue lake")
    load(parser.run.folder, compiled=True, domain=parser.domain)
    found = parser.parse("how deep is blue lake")
    assert kernels.usable(torch.zeros(1))
    assert [reading.form for reading in found] == [reading.form for reading in expected]
    assert [reading.copies for reading in found] == [reading.copies for reading in expected]
    assert [reading.score for reading in found] == pytest.approx([reading.score for reading in expected], rel=1e-3)


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_the_package_loads_with_every_option(parser, monkeypatch):
    monkeypatch.setattr(kernels, "_loaded", False)
    loaded = dualparse.load(parser.run.folder, compiled=True, threads=1, device="cpu", domain=parser.domain)
    assert kernels.usable(torch.zeros(1))
    assert loaded.parse("how deep is blue lake", k=1)[0].form == "( get lake.blue depth )"
    ours, its = (inspect.signature(each).parameters for each in (dualparse.load, load))
    assert {name: each.default for name, each in ours.items()} == {name: each.default for name, each in its.items()}


def test_one_thread_unless_somebody_says_otherwise(parser, monkeypatch):
    """As in the command: threads that wait for each other crawl on a busy machine."""
    before = torch.get_num_threads()
    try:
        for said, option, expected in ((None, None, 1), ("3", None, 2), (None, 3, 3), ("2", 1, 1)):
            torch.set_num_threads(2)
            monkeypatch.setenv("OMP_NUM_THREADS", said or "")
            load(parser.run.folder, domain=parser.domain, threads=option)
            assert torch.get_num_threads() == expected, (said, option)
    finally:
        torch.set_num_threads(before)
    with pytest.raises(InputError, match="0 threads"):
        load(parser.run.folder, domain=parser.domain, threads=0)


@pytest.mark.parametrize("nothing", [None, 3, b"list all lakes", ["list all lakes"]])
def test_what_is_no_text_is_an_input_error(parser, nothing):
    with pytest.raises(InputError, match="a question is text, not"):
        parser.parse(nothing)
    with pytest.raises(InputError, match="a form is text, not"):
        parser.verbalize(nothing)


def test_one_text_is_no_list_of_texts(parser):
    for texts in ("list all lakes", None):
        with pytest.raises(InputError, match="expected a list of questions, not"):
            parser.parse_all(texts)
        with pytest.raises(InputError, match="expected a list of forms, not"):
            parser.verbalize_all(texts)


def test_compiled_search_that_is_not_there_is_told(parser, monkeypatch):
    monkeypatch.setattr(kernels, "_loaded", False)
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"dualparse\[fast\]"):
        load(parser.run.folder, compiled=True)


@pytest.mark.parametrize("both", [False, True], ids=["q2lf", "both agents"])
def test_constrained_readings_are_valid_and_agree_with_the_others(parser, tmp_path, both):
    """The toy has no types: its constraint are complete trees, and its check does the rest."""
    run = Run(shutil.copytree(parser.run.folder, tmp_path / "run"))
    search = parser.recipe.search.model_copy(update={"reconstruction": 0.5 * both})
    run.save_recipe(parser.recipe.model_copy(update={"search": search}))
    held, questions = Parser(run, parser.domain, parser.device), ["how many lakes are there", "how deep is blue lake"]
    for free, readings in zip(held.parse_all(questions), held.parse_all(questions, constrained=True), strict=True):
        assert readings and all(reading.verdict.ok and reading.answer for reading in readings)
        assert {reading.form for reading in free if reading.verdict.ok} <= {reading.form for reading in readings}
        assert not all(reading.verdict.ok for reading in free)


def test_a_question_without_a_valid_reading_has_none(parser):
    none = replace(parser.domain, check=lambda form: Verdict(True, False, "never"))
    assert Parser(parser.run, none, parser.device).parse("how deep is blue lake", constrained=True) == []


def test_both_agents_choose_where_the_recipe_says_so(parser, tmp_path):
    run, question = Run(shutil.copytree(parser.run.folder, tmp_path / "run")), "how many lakes are there"
    search = parser.recipe.search.model_copy(update={"reconstruction": 3.0})
    run.save_recipe(parser.recipe.model_copy(update={"search": search}))
    both = Parser(run, parser.domain, parser.device)
    alone, together = ({reading.form: reading for reading in p.parse(question)} for p in (parser, both))
    assert alone.keys() == together.keys() and alone != together
    assert sum(math.exp(reading.score) for reading in together.values()) == pytest.approx(1.0)
    assert all(together[form].copies == alone[form].copies for form in alone)
    assert " ".join(both.explain(question).tokens) == next(iter(together))


def test_the_way_back_is_asked_once_of_each_form(parser, tmp_path, monkeypatch):
    folder = shutil.copytree(parser.run.folder, tmp_path / "both")
    run = Run.open(folder)
    run.save_recipe(
        run.recipe.model_copy(update={"search": run.recipe.search.model_copy(update={"reconstruction": 2.0})})
    )
    both, asked = Parser(Run.open(folder), parser.domain, parser.device), []
    listened = type(both.listeners).__call__

    def counted(self, queries, found):
        asked.append(sum(map(len, found)))
        return listened(self, queries, found)

    readings = [both.read(question) for question in ("how deep is blue lake", "list all lakes")]
    own = both._found(readings, both.recipe.search.beams, copies=False)
    forms = [[hypothesis for hypothesis, _ in row] for row in own]
    heard = both.listeners([reading.words for reading in readings], forms)
    monkeypatch.setattr(type(both.listeners), "__call__", counted)
    weighed = both.weigh(readings)
    assert asked == [sum(map(len, forms))]
    for row, figures, each in zip(forms, heard, weighed, strict=True):
        told = {form.text: float(figure) for form, figure in zip(row, figures, strict=True)}
        assert all(c.back == pytest.approx(told[c.form], abs=1e-4) for option in each.options for c in option.forms)


def test_a_question_of_unknown_words_gets_some_reading(parser):
    assert parser.parse("<pad> </s> ünbekannt 💧", k=1)[0].form


def test_entities_are_copied_from_all_their_words(parser):
    best = parser.parse("what is the depth of old berg town", k=1)[0]
    assert best.form == "( get town.berg depth )"
    assert Copy(token=2, words=(5, 6, 7)) in best.copies
    for reading in parser.parse("what is the depth of old berg town", k=5):
        tokens = reading.form.split()
        for copy in reading.copies:
            said = [parser.read("what is the depth of old berg town").words[i] for i in copy.words]
            entity = parser.domain.lexicon.map_words(said)[0]
            assert tokens[copy.token] in (*said, entity), "a copied token stands in the question"


def test_words_that_were_misspelt_are_told(parser):
    best = parser.parse("How deep is Bleu Lake?", k=1)[0]
    assert best.form == "( get lake.blue depth )"
    assert best.notes == ("read 'bleu lake' as 'blue lake'",)
    assert parser.parse("how deep is blue lake", k=1)[0].notes == ()


def test_an_explanation_has_a_weight_for_every_token_and_word(parser):
    told = parser.explain("How deep is Bleu Lake?")
    assert told.words == ("how", "deep", "is", "blue", "lake")
    assert told.said == ("How", "deep", "is", "Bleu", "Lake")
    assert " ".join(told.tokens) == parser.parse("how deep is blue lake", k=1)[0].form
    assert len(told.attention) == len(told.tokens) == len(told.gate)
    for row in told.attention:
        assert len(row) == len(told.words)
        assert sum(row) == pytest.approx(1.0, abs=1e-5)
    assert all(0 <= share <= 1 for share in told.gate)
    assert Copy(token=2, words=(3, 4)) in told.copies
    assert told.gate[2] > 0.5
    assert told.notes == ("read 'bleu lake' as 'blue lake'",)


def test_the_way_to_a_given_form_is_explained(parser):
    told = parser.explain("how deep is blue lake", "(near lake.blue)")
    assert told.tokens == ("(", "near", "lake.blue", ")")
    assert len(told.attention) == 4
    assert parser.explain("how deep is blue lake", "( near").tokens == ("(", "near"), "it need not be a good one"
    best = parser.parse("how deep is blue lake", k=1)[0]
    assert parser.explain("how deep is blue lake", best.form) == parser.explain("how deep is blue lake")
    assert parser.explain("how deep is blue lake").copies == best.copies


@pytest.mark.parametrize("form", ["", "  ", "( all lake ) " * MAX_TOKENS, "(" * 200_000])
def test_what_cannot_be_explained_is_an_input_error(parser, form):
    with pytest.raises(InputError, match="form"):
        parser.explain("how deep is blue lake", form)


def test_without_a_copy_mechanism_nothing_is_copied(tmp_path, toy_domain):
    toy_domain(toy.write_files(tmp_path / "toy"))
    recipe = make_recipe(RECIPE | {"model": {"copy_mechanism": False, "hidden": 8}, "train": {"epochs": 1}})
    list(train(recipe, tmp_path / "run", device=torch.device("cpu")))
    told = load(tmp_path / "run").explain("how deep is blue lake", "( get lake.blue depth )")
    assert told.copies == ()
    assert told.gate == (0.0,) * 5


def test_results_are_plain_and_frozen(parser):
    best, told = parser.parse("how deep is blue lake", k=1)[0], parser.explain("how deep is blue lake")
    for result in (best, told, parser.verbalize("( all lake )")[0]):
        assert json.loads(json.dumps(asdict(result)))
        with pytest.raises(FrozenInstanceError):
            setattr(result, next(iter(asdict(result))), None)
    assert asdict(best)["copies"][0].keys() == {"token", "words"}


def test_eight_threads_get_what_one_gets(parser):
    """A parser that is fresh, so that the threads also race for the agents."""
    fresh = Parser(parser.run, parser.domain, parser.device)
    jobs = ["how deep is arn", "list all lakes", "everything near the blue one", "how deep is bleu lake"] * 8

    def ask(who: Parser, question: str) -> tuple:
        best = who.parse(question, k=3)
        return best, who.verbalize(best[0].form, k=2), who.explain(question)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda question: ask(fresh, question), jobs))
    assert found == [ask(parser, question) for question in jobs]


def test_an_agent_is_loaded_once(parser, monkeypatch):
    fresh, calls, plain = Parser(parser.run, parser.domain, parser.device), [], type(parser.run).agent
    monkeypatch.setattr(type(parser.run), "agent", lambda *args, **more: calls.append(args[1]) or plain(*args, **more))
    with ThreadPoolExecutor(8) as pool:
        agents = set(map(id, pool.map(lambda _: fresh.q2lf, range(16))))
    assert calls == ["q2lf"]
    assert len(agents) == 1


def test_a_form_is_worded(parser):
    wordings = parser.verbalize("( all lake )", k=3)
    assert wordings[0].query == "list all lakes"
    assert len(wordings) == 3
    assert [w.score for w in wordings] == sorted((w.score for w in wordings), reverse=True)
    assert parser.verbalize("(all lake)")[0].query == "list all lakes", "spaces around parentheses do not matter"


def test_many_forms_at_once_are_worded_as_one_by_one(parser):
    forms = ["( all lake )", "( near town.arn )", "(all town)"]
    assert [w[0].query for w in parser.verbalize_all(forms)] == [parser.verbalize(form)[0].query for form in forms]
    assert parser.verbalize_all([]) == []


@pytest.mark.parametrize("k", [0, -1])
def test_at_least_one_result_must_be_asked_for(parser, k):
    with pytest.raises(InputError, match=f"k is {k}"):
        parser.parse("list all lakes", k=k)
    with pytest.raises(InputError, match=f"k is {k}"):
        parser.verbalize("( all lake )", k=k)


def test_a_form_without_meaning_is_worded_all_the_same(parser):
    assert parser.verbalize("( near )")[0].query


@pytest.mark.parametrize("form", ["", "   ", "( all lake", "( ) (", "( " * 10_000])
def test_what_is_no_form_is_an_input_error(parser, form):
    with pytest.raises(InputError, match="not a logical form"):
        parser.verbalize(form)


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_an_input_error(parser, question):
    with pytest.raises(InputError, match="empty"):
        parser.parse(question)
    with pytest.raises(InputError, match="empty"):
        parser.parse_all(["list all lakes", question])


def test_a_question_of_ten_thousand_words_is_an_input_error(parser):
    with pytest.raises(InputError, match="10000 words; 200 are the most"):
        parser.parse("lake " * 10_000)
    assert parser.parse("lake " * MAX_WORDS, k=1)


def test_forms_are_read_as_their_training_files_write_them():
    apart = Vocab.build([("(", "!", "type", ")")])
    joined = Vocab.build([("(", "!type", ")")])
    for text in ("( !type )", "( ! type )", "(! type)"):
        assert form_tokens(text, apart) == ["(", "!", "type", ")"]
        assert form_tokens(text, joined) == ["(", "!type", ")"]
    assert form_tokens("( ! )", apart) == ["(", "!", ")"]


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(InputError, match="no such run folder"):
        load(tmp_path / "nothing")
    with pytest.raises(InputError, match="not a run folder"):
        load(str(tmp_path))


def test_the_package_loads_a_run_and_is_light_without_one(parser):
    assert callable(dualparse.load)
    with pytest.raises(InputError, match="no such run folder"):
        dualparse.load("nowhere/at/all")
    with pytest.raises(InputError, match="unknown device"):
        load(parser.run.folder, device="abacus")
    code = "import sys, dualparse; dualparse.load; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture(scope="module")
def unsure(tmp_path_factory) -> Parser:
    """A parser that has learned so little that a wider search, other phrases or neighbours could change its mind. Both
    agents choose."""
    folder = tmp_path_factory.mktemp("unsure")
    recipe = RECIPE | {"train": {"epochs": 4, "learning_rate": 0.01, "batch_size": 8, "evaluate_from": 4}}
    recipe |= {"search": {"max_length": 12, "beams": 2, "reconstruction": 1.0}, "stages": ["q2lf", "lf2q"]}
    with toy.registered(toy.write_files(folder / "toy")):
        list(train(make_recipe(recipe), folder / "run", device=torch.device("cpu")))
        return load(folder / "run")


QUESTIONS = [" ".join(example.query or ()) for example in toy.examples()]
FORMS = [" ".join(example.lf or ()) for example in toy.examples()]


def test_the_best_reading_and_wording_do_not_depend_on_how_many_are_asked_for(unsure):
    few, many = unsure.parse_all(QUESTIONS, k=2), unsure.parse_all(QUESTIONS, k=12)
    assert [each[0] for each in few] == [each[0] for each in many]
    assert all(len({reading.form for reading in each}) == len(each) == 12 for each in many)
    one, twelve = unsure.verbalize_all(FORMS, k=1), unsure.verbalize_all(FORMS, k=12)
    assert [each[0] for each in one] == [each[0] for each in twelve]


def test_neighbours_decide_nothing(unsure):
    """The phrases by which lf2q is told of an entity are drawn for each form alone."""
    together = unsure.verbalize_all(FORMS, k=2)
    assert [[w.query for w in each] for each in together] == [
        [w.query for w in unsure.verbalize(form, k=2)] for form in FORMS
    ]
    for question, readings in zip(QUESTIONS, unsure.parse_all(QUESTIONS, k=2), strict=True):
        alone = unsure.parse(question, k=2)
        assert [reading.form for reading in readings] == [reading.form for reading in alone]
        assert [reading.score for reading in readings] == pytest.approx([reading.score for reading in alone], rel=1e-3)
