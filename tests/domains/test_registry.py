"""Domains by name or folder."""

from __future__ import annotations

import pytest

from dualparse.data.examples import load_examples
from dualparse.data.template import write_template
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import domain_names, embedded_names, open_domain
from dualparse.errors import InputError


def test_every_embedded_domain_opens_and_its_examples_can_be_read():
    assert "trails" in embedded_names()
    for name in embedded_names():
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
    assert domain_names() == [*embedded_names(), "atis", *DOMAINS]
