"""A domain is asked by its name: one of facts through a database of them, another one through its grammar."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from dualparse.asking import matched
from dualparse.asking.matched import MatchAsker
from dualparse.domains.domain import Domain
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.matching.index import open_index, templates_of
from dualparse.matching.matcher import Matcher
from dualparse.matching.reader import SecondReader
from dualparse.networks.encoder import open_encoder
from dualparse.use.asking import open_any

GRAMMAR = """
(rule $ROOT ($Huts) (IdentityFn))
(rule $Huts (all huts) (ConstantFn (all hut)))
(rule $Huts (huts that are huts) (ConstantFn (and (all hut) (all hut))))
(rule $Huts (which trail has the highest length) (ConstantFn (argmax (all trail) length)))
"""


@pytest.fixture
def domain(tmp_path) -> Domain:
    shutil.copytree(EMBEDDED / "trails", tmp_path / "huts")
    (tmp_path / "huts" / "domain.grammar").write_text(GRAMMAR)
    return open_domain(str(tmp_path / "huts"))


@pytest.fixture
def asker(domain, tiny_encoder, tmp_path) -> MatchAsker:
    found = MatchAsker(domain)
    matcher = Matcher(open_encoder(str(tiny_encoder)))
    found.index = open_index(templates_of(domain, cache=tmp_path / "cache"), matcher, cache=tmp_path / "cache")
    found.reader = SecondReader(matcher).eval().requires_grad_(False)
    return found


def test_the_nearest_utterance_answers_and_readings_with_one_answer_are_one(asker):
    reply = asker.ask("All huts?")
    readings = [reply.form, *(choice.form for choice in reply.choices)]
    assert reply.status in ("answered", "ambiguous") and len(set(readings)) == len(readings)
    chances = [reply.probability, *(choice.probability for choice in reply.choices)]
    assert sum(sorted(set(chances))) <= 1.001
    told = asker._choices([("( all hut )", 1.0), ("( and ( all hut ) ( all hut ) )", 1.0), ("( all peak )", 0.0)])
    assert [choice.form for choice in told] == ["( all hut )", "( all peak )"]
    assert told[0].probability == pytest.approx(0.8446, abs=1e-3)
    told = asker._choices([("( all peak )", 0.1), ("( all hut )", 0.0), ("( and ( all hut ) ( all hut ) )", 0.0)])
    assert [choice.form for choice in told] == ["( all peak )", "( all hut )"], "two do not outvote the nearest"


def test_what_is_sure_is_answered_what_is_not_is_asked_back_and_what_is_far_refused(asker, monkeypatch):
    monkeypatch.setattr(matched, "SURE", 0.0)
    sure = asker.ask("all huts")
    assert sure.status == "answered" and sure.kind == "rows" and sure.rows
    monkeypatch.setattr(matched, "SURE", 1.1)
    assert asker.ask("all huts").status == "ambiguous"
    monkeypatch.setattr(matched, "NEAR", 1.1)
    refused = asker.ask("all huts")
    assert refused.status == "refused" and "Hiking trails" in refused.reason


def test_a_form_is_run_and_a_bad_one_is_an_error(asker):
    assert len(asker.run("( all peak )").rows) == len(open_domain("trails").world.instances("peak"))
    assert asker.run("( all pek )").status == "error"


def test_a_domain_without_facts_and_grammar_says_so(domain):
    with pytest.raises(InputError, match="neither facts nor a grammar"):
        MatchAsker(replace(domain, grammar=None))


def test_a_domain_of_facts_is_asked_by_its_name():
    asker = open_any("trails")
    place = asker.connected.folder
    reply = asker.ask("which huts on the cloud traverse have showers")
    assert reply.status == "answered" and reply.rows == (("gentian hut",),) and "SELECT" in reply.sql
    asker.close()
    assert not place.exists()
    with pytest.raises(InputError, match="--database is for connected folders"):
        open_any("trails", database="x.sqlite")


def test_a_reply_has_its_rows_as_dicts_pandas_and_arrow():
    pytest.importorskip("pyarrow")
    asker = open_any("trails")
    reply = asker.run("( select ( filter ( all hut ) has_showers ) beds )")
    asker.close()
    assert reply.to_dicts()[0].keys() == {"hut", "number of beds"} and len(reply.rows) == len(reply.to_dicts())
    assert reply.to_arrow().column_names == ["hut", "number of beds"] and reply.to_arrow().num_rows == len(reply.rows)
    assert json.loads(json.dumps(reply.to_dict()))["rows"] == [list(row) for row in reply.rows]
