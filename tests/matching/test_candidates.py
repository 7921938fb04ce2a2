"""The forms of a grammar, each with its utterance, and found again however their parts are ordered."""

from __future__ import annotations

import pytest

from dualparse.data.examples import Example
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.matching import candidates as module
from dualparse.matching.candidates import candidates_of, from_pairs, kept_candidates


def test_the_forms_of_a_grammar_hold_every_test_form_of_overnight(benchmark_data):
    from dualparse.data.examples import load_examples

    domain = open_domain("publications")
    candidates = candidates_of(domain)
    assert len(candidates) == 227
    for example in load_examples(domain, dev_seed=1).test:
        assert candidates.number(" ".join(example.lf or ())) is not None


def test_questions_whose_form_is_not_there_are_left_out():
    domain = open_domain("trails")
    candidates = from_pairs(domain, [("( all hut )", "hut"), ("( count ( all hut ) )", "number of hut")])
    examples = [
        Example(("how", "many", "huts"), tuple(["(", "count", "(", "all", "hut", ")", ")"])),
        Example(("which", "trails"), tuple(["(", "all", "trail", ")"])),
        Example(None, tuple(["(", "all", "hut", ")"])),
    ]
    assert candidates.pairs(examples) == (["how many huts"], [1])
    assert candidates.number("( all") is None


def test_a_form_that_is_worded_twice_is_one_candidate():
    candidates = from_pairs(open_domain("trails"), [("( all hut )", "hut"), ("( all hut )", "every hut")])
    assert (candidates.forms, candidates.utterances) == (("( all hut )",), ("hut",))


def test_a_domain_without_a_grammar_has_no_candidates(benchmark_data):
    with pytest.raises(InputError, match="has no grammar"):
        candidates_of(open_domain("atis"))


def test_what_a_grammar_says_is_worked_out_once(benchmark_data, tmp_path, monkeypatch):
    domain = open_domain("calendar")
    made = candidates_of(domain)
    derived = []
    monkeypatch.setattr(module, "candidates_of", lambda domain: derived.append(domain.name) or made)
    assert kept_candidates(domain, cache=tmp_path) is made
    kept = kept_candidates(domain, cache=tmp_path)
    assert derived == ["calendar"] and (kept.forms, kept.utterances, kept.numbers) == (
        made.forms,
        made.utterances,
        made.numbers,
    )
    next(tmp_path.glob("candidates/*")).write_text("[[1]]")
    assert kept_candidates(domain, cache=tmp_path) is made and len(derived) == 2, "a damaged file is made anew"
    (tmp_path / "file").touch()
    assert kept_candidates(domain, cache=tmp_path / "file") is made, "no place to keep it is no error"
