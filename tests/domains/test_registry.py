"""Domains by name or folder."""

from __future__ import annotations

import sys

import pytest
import toy

from dualparse.data.examples import load_examples
from dualparse.data.template import write_template
from dualparse.domains.embedded import FAMILY
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import Family, domain_names, open_domain, register, registered
from dualparse.errors import InputError


def test_every_embedded_domain_opens_and_its_examples_can_be_read():
    assert "trails" in FAMILY.names
    for name in FAMILY.names:
        domain = open_domain(name)
        assert domain.name == name
        splits = load_examples(domain, dev_seed=1)
        assert splits.train
        assert splits.dev
        assert splits.test


def test_a_folder_opens_by_its_path(tmp_path):
    write_template(tmp_path / "my-domain")
    domain = open_domain(str(tmp_path / "my-domain"))
    assert domain.name == "my-domain"
    assert domain.execute("( count ( all book ) )") == "(list (number 12 count))"


@pytest.mark.parametrize("name", ["blocks", "overnight/blocks"])
def test_overnight_opens_by_both_its_names(benchmark_data, name):
    domain = open_domain(name)
    assert domain.name == "blocks"
    assert len(load_examples(domain, dev_seed=1).dev) == 319


def test_atis_opens(benchmark_data):
    domain = open_domain("atis")
    assert len(load_examples(domain, dev_seed=1).train) == 4433


@pytest.mark.parametrize(
    ("name", "dataset"), [("atis", "atis"), ("overnight/blocks", "overnight"), ("blocks", "overnight")]
)
def test_without_the_files_the_error_has_the_line_that_gets_them(tmp_path, monkeypatch, name, dataset):
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=f"dualparse data get {dataset}$"):
        open_domain(name)


def test_an_unknown_name_is_answered_with_the_nearest_and_the_known_ones():
    with pytest.raises(InputError, match="unknown domain 'trials', did you mean 'trails'.*atis.*blocks.*folder"):
        open_domain("trials")
    with pytest.raises(InputError, match="unknown domain 'bloks', did you mean 'blocks'"):
        open_domain("overnight/bloks")


def test_a_path_that_is_not_there_is_said_to_be_one(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_domain(str(tmp_path / "nowhere"))


def test_the_names_are_complete():
    assert domain_names() == [*FAMILY.names, "atis", *DOMAINS]


MOON = Family("space", "Far away", ("moon", "mars"), lambda name: toy.domain(name=name))


def test_a_program_can_add_a_family_and_take_it_back():
    with registered(MOON):
        assert open_domain("moon").name == open_domain("space/moon").name == "moon"
        assert domain_names()[-2:] == ["moon", "mars"]
        with pytest.raises(InputError, match="unknown domain 'mooon', did you mean 'moon'"):
            open_domain("space/mooon")
    with pytest.raises(InputError, match="unknown domain 'moon'"):
        open_domain("moon")


@pytest.mark.parametrize(("name", "domain"), [("space", "venus"), ("night", "moon"), ("n", "atis")])
def test_a_name_that_is_taken_is_an_error(name, domain):
    with registered(MOON), pytest.raises(InputError, match="is known already: (Far away|Flights)"):
        register(Family(name, "Twice", (domain,), MOON.open))


def test_a_domain_can_be_named_by_its_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "moonbase.py").write_text(
        "import toy\nMOON = toy.domain(name='moon')\nNUMBER = 3\ndef mars():\n    return toy.domain(name='mars')\n"
    )
    assert open_domain("moonbase:MOON").name == "moon"
    assert open_domain("moonbase:mars").name == "mars"
    for reference, problem in {
        "moonbase:NUMBER": "is of type int; expected a Domain",
        "moonbase:marz": "moonbase has no 'marz', did you mean 'mars'",
        "moonbasis:MOON": "the module 'moonbasis' is not installed",
    }.items():
        with pytest.raises(InputError, match=problem):
            open_domain(reference)


def test_a_broken_package_stops_what_might_be_its_domains_and_nothing_else(tmp_path, monkeypatch):
    told = tmp_path / "wreck-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: wreck\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[dualparse.domains]\nwreck = wreck:FAMILY\n")
    (tmp_path / "wreck.py").write_text("FAMILY = 'none'\n")
    monkeypatch.syspath_prepend(tmp_path)
    write_template(tmp_path / "my-domain")
    assert open_domain("trails").name == "trails"
    assert open_domain(str(tmp_path / "my-domain")).name == "my-domain"
    with pytest.raises(InputError, match="entry point 'wreck' of the installed package 'wreck' is no Family"):
        open_domain("tides")
