"""Reading examples and splitting them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.examples import Example, dev_split, labeled_split, listed_pairs, load_examples, read_examples
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.errors import InputError
from dualparse.lf.verdict import VALID

SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 2**32)


def pairs(size: int) -> list[Example]:
    return [Example(("query", str(i)), ("form", str(i))) for i in range(size)]


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def domain(**files: Path) -> Domain:
    return Domain(
        name="toy",
        title="Toy",
        lexicon=Lexicon(),
        check=lambda form: VALID,
        execute=None,
        normalize=lambda form: form,
        files=files,
    )


def test_a_pair_is_split_by_whitespace(tmp_path):
    path = write(tmp_path, "train.tsv", "which  trails are long\t( all  trail )\n")
    assert read_examples(path) == [Example(("which", "trails", "are", "long"), ("(", "all", "trail", ")"))]


def test_the_word_none_means_no_query_and_only_alone_in_the_query_column(tmp_path):
    path = write(tmp_path, "extra.tsv", "none\t( all none )\nnone of them\t( count x )\n")
    assert read_examples(path) == [
        Example(None, ("(", "all", "none", ")")),
        Example(("none", "of", "them"), ("(", "count", "x", ")")),
    ]


def test_a_text_file_holds_queries(tmp_path):
    path = write(tmp_path, "queries.txt", "which trails\r\n\nnone\n")
    assert read_examples(path) == [Example(("which", "trails"), None), Example(("none",), None)]


def test_the_mark_some_editors_begin_a_file_with_is_no_part_of_the_query(tmp_path):
    path = write(tmp_path, "queries.txt", b"\xef\xbb\xbfwhich trails\n")
    assert read_examples(path) == [Example(("which", "trails"), None)]


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("a.tsv", "a\tb\nno tab here\n", 2, "found 1 column"),
        ("a.tsv", "a\tb\tc\n", 1, "found 3 columns"),
        ("a.tsv", "a\tb\n\n \t( all x )\n", 3, "the query is empty"),
        ("a.tsv", "a\t \n", 1, "the form is empty"),
        ("a.txt", "fine\na\tb\n", 2, "found a tab"),
        ("a.tsv", b"a\tb\n\xff\tb\n", 2, "not UTF-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path, name, text, line, message):
    path = write(tmp_path, name, text)
    with pytest.raises(InputError, match=message) as caught:
        read_examples(path)
    assert (caught.value.path, caught.value.line) == (path, line)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="nowhere.tsv"):
        read_examples(tmp_path / "nowhere.tsv")


@given(size=st.integers(0, 200), seed=SEEDS, share=SHARES)
def test_dev_split_loses_and_repeats_nothing(size, seed, share):
    examples = pairs(size)
    train, dev = dev_split(examples, seed=seed, share=share)
    assert len(dev) == round(share * size)
    assert sorted(train + dev, key=examples.index) == examples
    assert dev_split(examples, seed=seed, share=share) == (train, dev)


def test_dev_split_depends_on_the_seed():
    assert dev_split(pairs(100), seed=1) != dev_split(pairs(100), seed=2)


@given(size=st.integers(0, 200), seed=SEEDS, ratio=SHARES)
def test_labeled_split_loses_and_repeats_nothing(size, seed, ratio):
    examples = pairs(size)
    split = labeled_split(examples, ratio=ratio, seed=seed)
    assert sorted([e.query for e in split.labeled + split.queries]) == sorted(e.query for e in examples)
    assert sorted([e.lf for e in split.labeled + split.forms]) == sorted(e.lf for e in examples)
    assert all(e.lf is None for e in split.queries)
    assert all(e.query is None for e in split.forms)
    assert split.unlabeled == split.queries + split.forms
    assert labeled_split(examples, ratio=ratio, seed=seed) == split


@given(size=st.integers(1, 200), seed=SEEDS, ratios=st.tuples(SHARES, SHARES), kept=st.tuples(SHARES, SHARES))
def test_splits_are_nested(size, seed, ratios, kept):
    (low, high), (few, many) = sorted(ratios), sorted(kept)
    small = labeled_split(pairs(size), ratio=low, seed=seed, unlabeled_ratio=many)
    large = labeled_split(pairs(size), ratio=high, seed=seed, unlabeled_ratio=many)
    assert set(small.labeled) <= set(large.labeled)
    assert set(large.unlabeled) <= set(small.unlabeled)
    fewer = labeled_split(pairs(size), ratio=low, seed=seed, unlabeled_ratio=few)
    assert set(fewer.unlabeled) <= set(small.unlabeled)
    assert fewer.labeled == small.labeled


def test_the_amounts_are_what_the_ratios_say():
    split = labeled_split(pairs(1000), ratio=0.3, seed=7, unlabeled_ratio=0.25)
    assert (len(split.labeled), len(split.queries), len(split.forms)) == (300, 175, 175)
    assert len(labeled_split(pairs(10), ratio=0.001, seed=7).labeled) == 1
    assert labeled_split(pairs(10), ratio=0, seed=7).labeled == []
    assert labeled_split(pairs(10), ratio=1, seed=7).unlabeled == []
    assert labeled_split(pairs(10), ratio=0.5, seed=7, unlabeled_ratio=0).unlabeled == []


def test_positions_do_not_give_the_pairing_away():
    split = labeled_split(pairs(200), ratio=0.5, seed=3)
    together = sum(q.query[1] == f.lf[1] for q, f in zip(split.queries, split.forms, strict=True))
    assert together < 10


def test_splits_neither_use_nor_move_the_global_generator():
    random.seed(5)
    expected = random.random()
    random.seed(5)
    first = dev_split(pairs(50), seed=1), labeled_split(pairs(50), ratio=0.5, seed=1)
    assert random.random() == expected
    assert (dev_split(pairs(50), seed=1), labeled_split(pairs(50), ratio=0.5, seed=1)) == first


def test_the_draw_is_the_same_on_every_machine():
    _, dev = dev_split(pairs(10), seed=1)
    split = labeled_split(pairs(10), ratio=0.3, seed=1)
    assert [e.query[1] for e in dev] == ["3", "4"]
    assert [e.query[1] for e in split.labeled] == ["0", "6", "7"]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_of_0_to_1_is_refused(share):
    with pytest.raises(InputError, match="between 0 and 1"):
        dev_split(pairs(3), seed=1, share=share)
    with pytest.raises(InputError, match="between 0 and 1"):
        labeled_split(pairs(3), ratio=share, seed=1)
    with pytest.raises(InputError, match="between 0 and 1"):
        labeled_split(pairs(3), ratio=0.5, seed=1, unlabeled_ratio=share)


def test_only_pairs_are_split():
    with pytest.raises(ValueError, match="only pairs"):
        labeled_split([Example(("a",), None)], ratio=0.5, seed=1)


def test_load_examples_reads_every_file_of_a_domain(tmp_path):
    files = {
        "train": write(tmp_path, "train.tsv", "a\tf\nnone\tg\n"),
        "dev": write(tmp_path, "dev.tsv", "b\tf\n"),
        "test": write(tmp_path, "test.tsv", "c\tf\n"),
        "extra": write(tmp_path, "extra.tsv", "none\th\n"),
        "queries": write(tmp_path, "queries.txt", "d\n"),
    }
    splits = load_examples(domain(**files), dev_seed=1)
    assert splits.train == [Example(("a",), ("f",))]
    assert splits.dev == [Example(("b",), ("f",))]
    assert splits.test == [Example(("c",), ("f",))]
    assert splits.extra_forms == [Example(None, ("g",)), Example(None, ("h",))]
    assert splits.extra_queries == [Example(("d",), None)]


def test_dev_is_drawn_from_train_where_there_is_no_dev_file(tmp_path):
    train = write(tmp_path, "train.tsv", "".join(f"q{i}\tf\n" for i in range(10)))
    splits = load_examples(domain(train=train), dev_seed=3)
    assert (splits.train, splits.dev) == dev_split(read_examples(train), seed=3)
    assert (len(splits.train), len(splits.dev), splits.test) == (8, 2, [])


def test_a_domain_may_have_no_training_examples(tmp_path):
    queries = write(tmp_path, "queries.txt", "d\n")
    splits = load_examples(domain(queries=queries), dev_seed=1)
    assert splits.extra_queries == [Example(("d",), None)]
    assert splits.train == splits.dev == splits.test == splits.extra_forms == []


@pytest.mark.parametrize(("split", "text"), [("test", "none\tf\n"), ("dev", "none\tf\n"), ("extra", "a\tf\n")])
def test_a_pair_where_a_form_belongs_or_the_other_way_round_is_refused(tmp_path, split, text):
    files = {"train": write(tmp_path, "train.tsv", "a\tf\n"), split: write(tmp_path, f"{split}.tsv", text)}
    with pytest.raises(InputError, match=f"{split}.tsv"):
        load_examples(domain(**files), dev_seed=1)


def test_the_published_files_are_read(benchmark_data):
    sizes = {path.stem: len(read_examples(path)) for path in sorted((benchmark_data / "atis").glob("*.tsv"))}
    assert sizes == {"atis_dev": 491, "atis_extra": 3797, "atis_test": 448, "atis_train": 4433}
    extra = read_examples(benchmark_data / "overnight" / "blocks_extra.tsv")
    assert len(extra) == 939
    assert all(example.query is None for example in extra)


def numbered_pairs(*queries: str) -> list[Example]:
    return [Example(tuple(query.split()), (f"f{number}",)) for number, query in enumerate(queries)]


def test_a_list_names_pairs_by_their_questions(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("b b\n\na\na\n")
    assert listed_pairs(numbered_pairs("a", "c", "a", "b b", "a"), path) == {0, 2, 3}
    split = labeled_split(numbered_pairs("a", "c", "b b"), kept={2}, seed=1)
    assert [example.lf for example in split.labeled] == [("f2",)]
    assert sorted(example.query for example in split.queries) == [("a",), ("c",)] and len(split.forms) == 2


@pytest.mark.parametrize("text, told", [("a\na\n", r"few.txt:2.*no other one"), ("x\n", r"few.txt:1"), ("\n", "none")])
def test_a_list_that_does_not_fit_the_training_pairs_is_an_error(tmp_path, text, told):
    path = tmp_path / "few.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        listed_pairs(numbered_pairs("a", "c"), path)
