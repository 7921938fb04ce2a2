"""Reading ontology files."""

from __future__ import annotations

import pytest

from dualparse.errors import InputError
from dualparse.lf.ontology import Ontology, read_ontology

GOOD = """\
# a comment
entity:\tci\tno
entity:\tti\tyes

unary:\tflight
unary:\tnonstop
cat:\tcity\tci
binary:\ttype:flight\tfrom\ttype:ci
binary:\ttype:flight\tdeparture_time\ttype:ti
"""


def test_reading(tmp_path):
    path = tmp_path / "ontology.txt"
    path.write_text(GOOD, encoding="utf-8")
    ontology = read_ontology(path)
    assert dict(ontology.entity_types) == {"ci": False, "ti": True}
    assert ontology.unary == {"flight": {"flight"}, "nonstop": {"flight"}, "city": {"ci"}}
    assert ontology.binary == {"from": (("flight", "ci"),), "departure_time": (("flight", "ti"),)}
    assert ontology.thing_types == {"flight"}
    assert ontology == Ontology.declare(
        entities={"ci": False, "ti": True},
        unary=["flight", "nonstop"],
        cats=[("city", "ci")],
        binary=[("flight", "from", "ci"), ("flight", "departure_time", "ti")],
    )


def test_a_unary_predicate_takes_the_type_it_is_named_after_or_any_thing():
    ontology = Ontology.declare(
        entities={"ci": False},
        unary=["train", "bus", "late"],
        binary=[("train", "from", "ci"), ("bus", "from", "ci")],
    )
    assert ontology.unary == {"train": {"train"}, "bus": {"bus"}, "late": {"train", "bus"}}


BAD_ROWS = [
    ("entity: do", "expected 'entity: TYPE yes'"),
    ("entity: do maybe", "expected 'entity: TYPE yes'"),
    ("entity: ci no", "declared twice"),
    ("unary: a b", "expected 'unary: NAME'"),
    ("cat: airport", "expected 'cat: NAME TYPE'"),
    ("cat: airport ap", "unknown entity type 'ap'"),
    ("binary: flight to type:ci", "expected 'binary: type:A NAME type:B'"),
    ("binary: type:flght to type:ci", "unknown type 'flght'"),
    ("ternary: x", "unknown row 'ternary:'"),
]


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS)
def test_errors_name_file_and_line(tmp_path, row, reason):
    path = tmp_path / "ontology.txt"
    path.write_text(GOOD + row + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=reason) as caught:
        read_ontology(path)
    assert (caught.value.path, caught.value.line) == (path, GOOD.count("\n") + 1)


def test_every_problem_can_be_collected(tmp_path):
    path = tmp_path / "ontology.txt"
    path.write_text(GOOD + "".join(f"{row}\n" for row, _ in BAD_ROWS), encoding="utf-8")
    problems: list[InputError] = []
    ontology = read_ontology(path, report=problems.append)
    assert sorted(problem.line for problem in problems) == [GOOD.count("\n") + 1 + k for k in range(len(BAD_ROWS))]
    assert set(ontology.binary) == {"from", "departure_time"}


def test_a_missing_file_and_other_encodings_are_input_errors(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_ontology(tmp_path / "none.txt")
    path = tmp_path / "latin.txt"
    path.write_bytes(b"entity: ci no\nunary: caf\xe9\n")
    with pytest.raises(InputError, match="not UTF-8") as caught:
        read_ontology(path)
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("token", "kind"),
    [("ci0", "ci"), ("ci12", "ci"), ("denver:ci", "ci"), ("9:00:ti", "ti")]
    + [(token, None) for token in ("ci", "0", "zz0", "denver", ":ci", "denver:zz", "flight0", "$0", "")],
)
def test_entity_tokens(tmp_path, token, kind):
    assert Ontology.declare(entities={"ci": False, "ti": True}).entity_type(token) == kind
