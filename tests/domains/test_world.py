"""Worlds: facts stored both ways, types from ids, files in and out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.world import World, parse_fact, read_table, read_world, write_table, write_world
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.values import TRUE, date, name, number

FACTS = """\
# trails and huts
trail.larch_path\tlength\t( number 8.4 km )
trail.larch_path\tpasses\thut.marmot_hut

trail.fox_loop\tlength\t(number 12 km)
trail.fox_loop\tloop\ttrue
trail.fox_loop\tpasses\thut.marmot_hut
trail.fox_loop\tpasses\thut.eagle_hut
hut.eagle_hut\topened\t( date 2004 5 1 )
village.orsaz\ttype\tvillage
"""


def test_reading(tmp_path):
    path = tmp_path / "world.tsv"
    path.write_text(FACTS, encoding="utf-8")
    world = read_world(path)
    assert world.types == ("trail", "hut", "village")
    assert [hut.id for hut in world.instances("hut")] == ["hut.marmot_hut", "hut.eagle_hut"]
    assert world.instances("lake") == ()
    passes, passed = world.index("passes"), world.index("!passes")
    assert passes.values[name("trail.fox_loop")] == [name("hut.marmot_hut"), name("hut.eagle_hut")]
    assert passed.values[name("hut.marmot_hut")] == [name("trail.larch_path"), name("trail.fox_loop")]
    assert (passes.first, passes.second) == ({"trail"}, {"hut"})
    assert (passed.first, passed.second) == ({"hut"}, {"trail"})
    length = world.index("length")
    assert length.ordered
    assert length.low[name("trail.larch_path")] == 8.4
    assert world.index("loop").holders == {TRUE: {name("trail.fox_loop")}}
    assert world.index("opened").values == {name("hut.eagle_hut"): [date(2004, 5, 1)]}


def test_one_object_for_each_value():
    world = World()
    world.add("trail.a", "length", number(8, "km"))
    world.add("trail.b", "length", number(8, "km"))
    lengths = world.index("length").values
    assert lengths[name("trail.a")][0] is lengths[name("trail.b")][0] is world.literals["number", "8", "km"]


def test_duplicates_are_kept_in_values_and_dropped_in_distinct():
    world = World()
    for _ in range(2):
        world.add("trail.a", "passes", name("hut.a"))
    assert world.index("passes").counts[name("trail.a")] == 2
    assert world.index("passes").distinct[name("trail.a")] == [name("hut.a")]


def test_a_property_may_be_told_of_several_types():
    world = World()
    world.add("hut.a", "elevation", number(2000, "m"))
    world.add("peak.b", "elevation", number(3000, "m"))
    assert world.index("elevation").first == {"hut", "peak"}
    assert world.index("elevation").names == {name("hut.a"), name("peak.b")}


def test_overwritten_types_keep_the_last():
    world = World(overwrite_types=True)
    world.add("en.block.a", "shape", name("en.shape.cube"))
    assert world.index("type").first == {"en.shape"}
    assert world.index("!type").second == {"en.shape"}
    assert world.index("shape").first == {"en.block"}


def test_an_index_sees_facts_told_later():
    world = World()
    world.add("trail.a", "passes", name("hut.a"))
    assert len(world.index("passes").subjects) == 1
    world.add("trail.b", "passes", name("hut.a"))
    assert len(world.index("passes").subjects) == 2


def test_an_unknown_property_is_an_execution_error():
    with pytest.raises(LFExecutionError, match="unknown property 'colour'"):
        World().index("colour")


@pytest.mark.parametrize(("id", "type"), [("trail", "trail"), ("trail.a", "hut")])
def test_ids_decide_types(id, type):
    with pytest.raises(ValueError, match="type"):
        World().add(id, "type", name(type))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("trail.a\tlength", "found 2 columns"),
        ("trail.a\tlength\t( number 3 km )\tx", "found 4 columns"),
        ("larch\tlength\t( number 3 km )", "'larch' is not the id"),
        ("trail.\tlength\t( number 3 km )", "is not the id"),
        ("trail.a b\tlength\t( number 3 km )", "is not the id"),
        ("trail.a\t!length\t( number 3 km )", "not the name of a property"),
        ("trail.a\t\t( number 3 km )", "not the name of a property"),
        ("trail.a\tlength\t( number x km )", "bad value: .*'x' is not a number"),
        ("trail.a\tlength\t( number 3 km", "bad value: missing closing"),
        ("trail.a\topened\t( date 2004 5 )", "bad value"),
        ("trail.a\tlength\t12", "neither the id"),
        ("trail.a\tlength\t( get x y )", "neither the id"),
        ("trail.a\tlength\t", "bad value: empty"),
        ("trail.a\tloop\tfalse", "left out"),
        ("trail.a\tloop\t( boolean false )", "left out"),
        ("trail.a\ttype\thut", "the type of trail.a is trail"),
    ],
)
def test_bad_lines_name_file_and_line(tmp_path, line, reason):
    path = tmp_path / "world.tsv"
    path.write_text(f"trail.x\tlength\t( number 1 km )\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=reason) as caught:
        read_world(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_every_problem_is_reported(tmp_path):
    path = tmp_path / "world.tsv"
    path.write_bytes(b"a\n\xff\ntrail.a\tloop\ttrue\nb\n")
    found: list[InputError] = []
    world = read_world(path, report=found.append)
    assert [error.line for error in found] == [1, 2, 4]
    assert world.types == ("trail",)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_world(tmp_path / "world.tsv")


ids = st.builds("{}.{}".format, st.sampled_from(["trail", "hut"]), st.sampled_from("abc"))
values = st.one_of(
    ids.map(name),
    st.just(TRUE),
    st.builds(number, st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "km"])),
    st.dates().map(lambda day: date(day.year, day.month, day.day)),
    st.builds(date, st.integers(1, 3000), st.one_of(st.just(-1), st.integers(1, 12))),
)


@given(st.lists(st.one_of(st.tuples(ids, st.sampled_from("pq"), values), ids), max_size=12))
def test_a_world_reads_back_as_it_was_told(tmp_path_factory, told):
    world = World()
    for fact in told:
        if isinstance(fact, str):
            world.entity(fact)
        else:
            world.add(*fact)
    path = tmp_path_factory.mktemp("world") / "world.tsv"
    write_world(world, path)
    again = read_world(path)
    assert again.table() == world.table()
    assert again.properties == world.properties
    assert list(again.facts()) == list(world.facts())


def test_tables(tmp_path):
    world = World()
    world.add(*parse_fact("trail.a\tlength\t( number 8.4 km )"))
    write_table(world.table(), tmp_path / "table.tsv")
    assert (tmp_path / "table.tsv").read_text(encoding="utf-8") == (
        "(name trail)\t!type\t(name trail.a)\n"
        "(name trail.a)\tlength\t(number 8.400 km)\n"
        "(name trail.a)\ttype\t(name trail)\n"
        "(number 8.400 km)\t!length\t(name trail.a)\n"
    )
    assert read_table(tmp_path / "table.tsv") == world.table()
    (tmp_path / "table.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected 3 columns"):
        read_table(tmp_path / "table.tsv")
