"""Generated text that a person edited, generated again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dualparse.database.merge import GONE, merge

KEYS = st.sampled_from("abcdef")
TEXTS = st.dictionaries(KEYS, st.sampled_from(["1", "2", "3"]))


def lines(told: dict[str, str]) -> list[str]:
    return [f"{key}: {value}" for key, value in told.items()]


def key(line: str) -> str:
    return "" if line.startswith("#") else line[:1]


@given(TEXTS, TEXTS)
def test_a_file_nobody_edited_becomes_what_is_generated_now(base, now):
    merged = merge(lines(base), lines(now), "\n".join(lines(base)), key=key)
    assert sorted(merged.text.splitlines()) == sorted(lines(now))
    assert bool(merged.changes) == (base != now)


@given(TEXTS, TEXTS, TEXTS)
def test_every_line_is_the_persons_or_the_new_one(base, now, edited):
    merged = merge(lines(base), lines(now), "".join(f"{line}\n" for line in lines(edited)), key=key)
    expected = {}
    for name in sorted({*base, *now, *edited}):
        if name in edited and name not in base:
            expected[name] = edited[name]  # a line of theirs
        elif name in edited and edited[name] == base[name]:
            expected[name] = now.get(name)  # untouched: follows the database
        elif name in edited:
            expected[name] = edited[name] if name in now else None
        else:
            expected[name] = now.get(name) if name not in base else None  # taken out: stays out
    got = {line[:1]: line[3:] for line in merged.text.splitlines() if not line.startswith(GONE)}
    assert got == {name: value for name, value in expected.items() if value is not None}


@given(TEXTS, TEXTS, TEXTS)
def test_merging_again_changes_nothing(base, now, edited):
    once = merge(lines(base), lines(now), "\n".join(lines(edited)), key=key)
    again = merge(lines(now), lines(now), once.text, key=key)
    assert (again.text, again.changes) == (once.text, [])
