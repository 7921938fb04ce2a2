"""Every problem of a domain folder, with file and line."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualparse.data.folder_check import Severity, check_folder
from dualparse.data.template import write_template
from dualparse.domains.embedded import EMBEDDED, FAMILY
from dualparse.errors import InputError

FILES = ["domain.toml", "ontology.txt", "world.tsv", "lexicon.txt", "domain.grammar", "train.tsv", "queries.txt"]
SOUP = [
    *["(", ")", "!", "=", "#", '"', "[", "]", ":", ".", "\t", "\n", "\r"],
    *[
        "type",
        "property",
        "number",
        "date",
        "name",
        "questions",
        "rule",
        "$ROOT",
        "none",
        "all",
        "book",
        "pages",
        "author.new",
        "book.new",
        ":-",
        "NP",
    ],
]


@pytest.fixture
def folder(tmp_path):
    write_template(tmp_path / "library")
    return tmp_path / "library"


def append(path, *lines):
    """Add lines to a file; gives the number of the first of them."""
    before = path.read_bytes() if path.exists() else b""
    path.write_bytes(before + b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines))
    return before.count(b"\n") + 1


def found(folder):
    """(file, line, severity) -> message, for one problem a line."""
    return {(p.path.name, p.line, str(p.severity)): p.message for p in check_folder(folder)}


def test_the_template_has_no_problem(folder):
    assert check_folder(folder) == []


@pytest.mark.parametrize("name", FAMILY.names)
def test_the_embedded_domains_have_no_error(name):
    assert [str(p) for p in check_folder(EMBEDDED / name) if p.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("file", "line", "severity", "message"),
    [
        ("ontology.txt", "type shelf", "warning", "the world has no shelf"),
        ("ontology.txt", "property price book number euro", "warning", "no fact tells the price of a book"),
        ("ontology.txt", "property price bok number euro", "error", "unknown type 'bok'"),
        ("world.tsv", "book.night_tram\tpages\t( number 7 meter )", "error", "is a number page"),
        ("world.tsv", "book.night_tram\tauthor\tauthor.mira_hold", "warning", "did you mean 'author.mira_holt'?"),
        ("world.tsv", "author.new\ttype\tauthor", "warning", "no phrase in lexicon.txt names author.new"),
        ("lexicon.txt", "tram :- NP : book.night_trams", "error", "the world knows no 'book.night_trams'"),
        ("lexicon.txt", "holt :- NP : author.tomas_varga", "warning", "it will be taken as author.mira_holt"),
        ("lexicon.txt", "holt :- NP : author.mira_holt", "warning", "the same entry as in line"),
        ("lexicon.txt", "Mira :- NP : author.mira_holt", "warning", "capital letters"),
        ("domain.grammar", "(rule $ROOT ($Nothing) (IdentityFn))", "error", "$Nothing"),
        ("domain.grammar", "(rule", "error", ""),
        ("train.tsv", "no tab", "error", "expected query<TAB>form"),
        ("train.tsv", "\t( all book )", "error", "the query is empty"),
        ("train.tsv", "a\t( all book", "error", "the form does not run: missing closing parenthesis"),
        ("train.tsv", "a\t( all boks )", "error", "the form does not run: "),
        ("train.tsv", "a\t( filter ( all book ) pages > ( number 3 km ) )", "error", "the form does not run: "),
        ("train.tsv", "books by Varga\t( all book )", "warning", "capital letters"),
        ("train.tsv", "all  books\t( all book )", "warning", "white space"),
        ("train.tsv", "all\u00a0books\t( all book )", "warning", "white space"),
        ("train.tsv", " all books\t( all book )", "warning", "white space"),
        (
            "train.tsv",
            "books by tomas varga\t( filter ( all book ) author = author.tomas_varga )",
            "warning",
            "the same as line 2",
        ),
        ("train.tsv", "books by tomas varga\t( all book )", "warning", "the same query as in line 2 with another form"),
        ("dev.tsv", "books by tomas varga\t( all book )", "error", "the query also stands in train.tsv, line 2"),
        ("test.tsv", "who wrote the paper fox\t( all book )", "error", "the query also stands in dev.tsv, line 2"),
        ("test.tsv", "none\t( all book )", "error", "of no use for evaluation"),
        (
            "test.tsv",
            "what\t( filter ( all book ) pages > ( number 77 page ) )",
            "warning",
            "'77' stands in no training form",
        ),
        ("queries.txt", "books by tomas varga", "error", "the query also stands in train.tsv, line 2"),
        ("queries.txt", "one\ttwo", "error", "found a tab"),
        ("extra.tsv", "a query\t( all book )", "error", "write 'none' for the query"),
        ("extra.tsv", "none\t( all boks )", "error", "the form does not run"),
        ("train.tsv", b"\xff\t( all book )\n", "error", "not UTF-8"),
    ],
)
def test_one_problem_is_found_where_it_is(folder, file, line, severity, message):
    number = append(folder / file, line)
    problems = found(folder)
    assert (file, number, severity) in problems
    assert message in problems[file, number, severity]


def test_what_a_query_names_or_holds_can_be_copied(folder):
    form = "( filter ( filter ( all book ) pages > ( number 77 page ) ) author = author.anna_lind )"
    append(folder / "test.tsv", f"books over 77 pages by lind\t{form}")
    assert check_folder(folder) == []


def test_all_problems_are_reported_at_once(folder):
    places = {
        ("ontology.txt", append(folder / "ontology.txt", "property a b c")),
        ("world.tsv", append(folder / "world.tsv", "nothing")),
        ("lexicon.txt", append(folder / "lexicon.txt", "nothing")),
        ("train.tsv", append(folder / "train.tsv", "nothing")),
        ("train.tsv", append(folder / "train.tsv", "nothing at all")),
        ("train.tsv", append(folder / "train.tsv", b"\xff\n")),
        ("dev.tsv", append(folder / "dev.tsv", "a\t( nothing )")),
        ("queries.txt", append(folder / "queries.txt", "a\tb")),
    }
    problems = check_folder(folder)
    assert {(p.path.name, p.line) for p in problems} == places
    assert [p.path.name for p in problems] == [
        "ontology.txt", "world.tsv", "lexicon.txt", "train.tsv", "train.tsv", "train.tsv", "dev.tsv", "queries.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "problems"),
    [
        ("domain.toml", {("domain.toml", "error")}),
        ("ontology.txt", {("ontology.txt", "error")}),
        ("world.tsv", {("world.tsv", "error")}),
        ("train.tsv", {("train.tsv", "error"), ("dev.tsv", "warning"), ("test.tsv", "warning")}),
        ("test.tsv", {("test.tsv", "warning")}),
        ("dev.tsv", set()),
        ("queries.txt", set()),
    ],
)
def test_a_missing_file_is_one_problem_not_hundreds(folder, file, problems):
    (folder / file).unlink()
    assert {(p.path.name, str(p.severity)) for p in check_folder(folder)} == problems
    assert sum(p.severity is Severity.ERROR for p in check_folder(folder)) <= 1


def test_an_empty_file_of_examples_is_an_error(folder):
    (folder / "dev.tsv").write_text("\n")
    assert ("dev.tsv", None, "error") in found(folder)


def test_an_empty_folder_lacks_its_files_and_no_folder_is_raised(tmp_path):
    errors = {p.path.name for p in check_folder(tmp_path) if p.severity is Severity.ERROR}
    assert errors == {"domain.toml", "ontology.txt", "world.tsv", "lexicon.txt", "train.tsv"}
    with pytest.raises(InputError, match="no such folder"):
        check_folder(tmp_path / "nowhere")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    file=st.sampled_from(FILES),
    soup=st.lists(st.sampled_from(SOUP) | st.text(max_size=8) | st.binary(max_size=6), max_size=25),
)
def test_no_content_makes_the_check_itself_fail(tmp_path_factory, file, soup):
    folder = tmp_path_factory.mktemp("soup") / "library"
    write_template(folder)
    content = b" ".join(part if isinstance(part, bytes) else part.encode("utf-8", "replace") for part in soup)
    (folder / file).write_bytes(content)
    for problem in check_folder(folder):
        assert str(problem)
