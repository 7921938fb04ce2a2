"""OVERNIGHT: generator, worlds and denotations of the original evaluator."""

from __future__ import annotations

from pathlib import Path

import pytest

from dualparse.domains import metrics, overnight
from dualparse.domains.overnight import DOMAINS, JavaRandom
from dualparse.domains.world import read_table
from dualparse.lf.errors import LFExecutionError, LFSyntaxError


def test_the_generator_is_javas():
    draw = JavaRandom(1)
    assert [draw.below(1000) for _ in range(5)] == [985, 588, 847, 313, 254]
    assert JavaRandom(42).below(10) == 0
    assert JavaRandom(42).unit() == 0.7275636800328681
    first = -1155869325 % (1 << 32)  # Java's first nextInt() of seed 1
    assert [JavaRandom(1).below(1 << power) for power in (1, 3, 30)] == [first >> 31, first >> 29, first >> 2]


def test_the_generator_draws_again_where_a_block_is_incomplete():
    bound = (1 << 30) + 1  # half of all draws are rejected
    draw = JavaRandom(1)
    again = JavaRandom(1)
    expected = [bits for bits in (again._bits(31) for _ in range(40)) if bits < bound]
    assert [draw.below(bound) for _ in expected] == expected
    assert len(expected) < 30


def test_there_are_eight_domains():
    assert len(DOMAINS) == 8
    assert all(len(overnight.world(domain).known) > 60 for domain in DOMAINS)


def test_worlds_are_made_once():
    assert overnight.world("blocks") is overnight.world("blocks")


@pytest.mark.parametrize(
    ("domain", "last"),
    [("blocks", "en.color"), ("socialnetwork", "en.employment"), ("basketball", "en.stats"), ("recipes", "en.meal")],
)
def test_type_belongs_to_the_class_made_last(domain, last):
    assert overnight.world(domain).index("type").first == {last}


def test_normalize_keeps_the_order():
    assert overnight.normalize("( string  ! type )") == "( string !type )"
    with pytest.raises(LFSyntaxError):
        overnight.normalize("( string")


@pytest.mark.parametrize("domain", DOMAINS)
def test_worlds_equal_the_originals(benchmark_data, domain):
    path = benchmark_data / "overnight" / "worlds" / f"{domain}.tsv"
    if not path.is_file():
        pytest.skip("needs the worlds of the original evaluator")
    assert overnight.world(domain).table() == read_table(path)


def _forms(folder: Path, domain: str, split: str) -> list[str]:
    text = (folder / f"{domain}_{split}.tsv").read_text(encoding="utf-8")
    return [line.split("\t")[1] for line in text.splitlines()]


@pytest.mark.parametrize("domain", DOMAINS)
def test_denotations_equal_the_originals(benchmark_data, domain):
    folder = benchmark_data / "overnight"
    path = folder / "denotations" / f"{domain}.tsv"
    if not path.is_file():
        pytest.skip("needs the denotations of the original evaluator")
    forms = {split: _forms(folder, domain, split) for split in ("train", "extra")}
    execute = overnight.executor(domain).execute
    compared = 0
    for split, line, denotation in read_table(path):
        assert execute(forms[split][int(line) - 1]) == denotation, (split, line)
        compared += 1
    assert compared == len(forms["train"]) + len(forms["extra"])


@pytest.mark.parametrize("domain", DOMAINS)
def test_load(benchmark_data, domain):
    loaded = overnight.load(domain, benchmark_data / "overnight")
    assert loaded.name == domain
    assert loaded.metric is metrics.denotation
    assert set(loaded.files) == {"train", "test", "extra"}
    assert all(path.is_file() for path in loaded.files.values())
    assert loaded.grammar is None or loaded.grammar.is_file()
    assert loaded.world is overnight.world(domain)
    assert len(loaded.lexicon) >= 10
    form = _forms(benchmark_data / "overnight", domain, "train")[0]
    assert loaded.check(form).ok
    assert loaded.execute(form) == overnight.executor(domain).execute(form)
    assert not loaded.check(form + " )").surface
    with pytest.raises(LFExecutionError):
        loaded.execute("( call SW.listValue ( var s ) )")


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_test_form_runs(benchmark_data, domain):
    execute = overnight.executor(domain).execute
    for form in _forms(benchmark_data / "overnight", domain, "test"):
        assert execute(form).startswith("(list")
