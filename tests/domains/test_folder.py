"""Loading a domain from a folder."""

from __future__ import annotations

import pytest

from dualparse.data.template import write_template
from dualparse.domains.folder import load
from dualparse.domains.metrics import denotation
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError


@pytest.fixture
def folder(tmp_path):
    write_template(tmp_path / "library")
    return tmp_path / "library"


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_domain_comes_out_of_a_folder(folder):
    domain = load(folder)
    assert (domain.name, domain.title, domain.metric) == ("library", "A small library", denotation)
    assert domain.description
    assert domain.execute("( get book.night_tram author )") == "(list (name author.tomas_varga))"
    assert domain.check("( get book.night_tram author )").ok
    assert domain.normalize("( or book.b book.a )") == domain.normalize("( or book.a book.b )")
    assert set(domain.files) == {"train", "dev", "test", "queries"}
    assert domain.grammar == folder / "domain.grammar"
    assert domain.lexicon.map_words(["crime", "stories"]) == ("genre.crime", "genre.crime")
    assert "which books did mira holt write" in domain.questions


def test_bad_forms_get_a_verdict_with_a_reason(folder):
    domain = load(folder)
    verdict = domain.check("( get book.night_tram pagse )")
    assert (verdict.surface, verdict.semantics) == (True, False)
    assert "pagse" in verdict.reason
    assert not domain.check("( get book.night_tram").surface
    with pytest.raises(LFExecutionError):
        domain.execute("( get book.nobody pages )")


def test_example_files_and_the_grammar_are_optional_and_found(folder):
    for file in ("domain.grammar", "dev.tsv", "queries.txt"):
        (folder / file).unlink()
    (folder / "extra.tsv").write_text("none\t( all book )\n")
    domain = load(folder)
    assert set(domain.files) == {"train", "test", "extra"}
    assert domain.grammar is None


def test_bad_examples_do_not_keep_a_domain_from_being_tried_out(folder):
    (folder / "train.tsv").write_text("no tab\n")
    assert load(folder).execute("( count ( all author ) )") == "(list (number 5 count))"


@pytest.mark.parametrize("file", ["domain.toml", "ontology.txt", "world.tsv", "lexicon.txt"])
def test_a_missing_file_is_named(folder, file):
    (folder / file).unlink()
    with pytest.raises(InputError, match=f"{file}: cannot be read"):
        load(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "message"),
    [
        ("domain.toml", 'title = "A', "title = A", 2, "not TOML"),
        ("domain.toml", "title", "tilte", 2, "unknown key 'tilte', did you mean 'title'?"),
        ("domain.toml", '"library"', '"My Library"', 1, "is not a name"),
        ("domain.toml", 'name = "library"', "name = 3", 1, "'name' must be a text"),
        ("domain.toml", '"how many books are available"', "7", 4, "'questions' must be a list of texts"),
        ("domain.toml", 'name = "library"', "", None, "no 'name'"),
        ("domain.toml", "title", 'metric = "exct"\ntitle', 2, "unknown metric 'exct', did you mean 'exact'?"),
        ("domain.toml", "title", 'metric = "math:sine"\ntitle', 2, "math has no 'sine', did you mean 'sin'?"),
        ("domain.toml", "[", "[" * 20_000, None, "nested too deeply"),
        ("ontology.txt", "type genre", "typ genre", 4, "expected 'type NAME'"),
        ("world.tsv", "212 page", "212 leaf", 4, "is a number page"),
        ("world.tsv", "book.salt_and_stone\tpages", "novel.salt_and_stone\tpages", 4, "unknown type 'novel'"),
        ("world.tsv", "\tgenre\t", "\tgenres\t", 3, "no property 'genres' of book"),
        ("world.tsv", "( number 212 page )", "( number 212 page", 4, "bad value"),
        (
            "world.tsv",
            "( number 212 page )",
            "( number 212 page )\nbook.salt_and_stone\tgenre\tgenre.novel",
            5,
            "line 3",
        ),
        (
            "lexicon.txt",
            "book.night_tram",
            "book.night_train",
            None,
            "the world knows no 'book.night_train', did you mean",
        ),
        ("lexicon.txt", "night tram :- NP :", "night tram : NP :", None, "expected 'phrase :- NP : entity'"),
    ],
)
def test_the_first_problem_is_raised_with_its_place(folder, file, old, new, line, message):
    change(folder / file, old, new)
    with pytest.raises(InputError) as caught:
        load(folder)
    assert message in str(caught.value)
    assert caught.value.path == folder / file
    assert line in (None, caught.value.line)


def test_a_number_may_have_a_phrase(folder):
    with (folder / "lexicon.txt").open("a", encoding="utf-8") as stream:
        stream.write("three hundred :- NP : 300\n")
    assert load(folder).lexicon.phrases("300") == (("three", "hundred"),)


def test_a_folder_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "nowhere")


def test_a_folder_names_its_metric(folder):
    path = folder / "domain.toml"
    for name, metric in {"exact": "exact", "operator:eq": "eq"}.items():
        before = path.read_text(encoding="utf-8")
        path.write_text(f'metric = "{name}"\n' + before, encoding="utf-8")
        assert load(folder).metric.__name__ == metric
        path.write_text(before, encoding="utf-8")
