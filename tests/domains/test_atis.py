"""The ATIS domain from the benchmark files."""

from __future__ import annotations

import pytest

from dualparse.domains import atis
from dualparse.domains.metrics import exact
from dualparse.errors import InputError


def test_loading(benchmark_data):
    domain = atis.load(benchmark_data / "atis")
    assert (domain.name, domain.metric, domain.execute) == ("atis", exact, None)
    assert set(domain.files) == {"train", "dev", "test", "extra"}
    assert all(path.is_file() for path in domain.files.values())
    assert domain.check("( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ) )").ok
    assert not domain.check("( lambda $0 e ( and ( flight $0 ) ( from $0 da0 ) ) )").ok
    assert domain.normalize("( and ( b $0 ) ( a $0 ) )") == "( and ( a $0 ) ( b $0 ) )"
    assert domain.lexicon.map_words(["first", "class", "to", "ci0"]) == ("first:cl", "first:cl", "to", "ci0")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"atis_train\.tsv"):
        atis.load(tmp_path)
