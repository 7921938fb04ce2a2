"""Grammar files: what they mean, what is wrong with them, and what they derive."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.errors import InputError
from dualparse.lf.grammar import Deriver, Grammar, Limits, grammar_problems, read_grammar, swappable_types, swapped
from dualparse.lf.grammar.derive import size
from dualparse.lf.grammar.semantics import BadSemantics, Join, build, free_variables, parameters
from dualparse.lf.sexpr import read, write

SETS = """
# A set, and tests on it.
(rule $ROOT ($Set) (IdentityFn))
(rule $Set ($Kind that $Test) (JoinFn backward betaReduce))
(rule $Kind (trails) (ConstantFn (all trail)))
(rule $Test (start in $Village) (lambda v (lambda s (filter (var s) start = (var v)))))
(rule $Test (allow dogs) (ConstantFn (lambda s (filter (var s) dogs))))
(rule $Village (orsaz) (ConstantFn village.orsaz))
(rule $Village (san cordo) (ConstantFn village.san_cordo))
"""

ENDLESS = """
(rule $ROOT ($Number) (IdentityFn))
(rule $Number ($Number plus $Number) (lambda a (lambda b (+ (var a) (var b)))))
(for @n (0 1 2 3 4 5 6 7 8 9)
  (rule $Number (@n) (ConstantFn @n))
)
"""


@pytest.fixture
def grammar_of(tmp_path: Path):
    def make(text: str, **others: str) -> Grammar:
        for name, content in others.items():
            (tmp_path / f"{name}.grammar").write_text(content)
        path = tmp_path / "test.grammar"
        path.write_text(text)
        return read_grammar(path)

    return make


def pairs(grammar: Grammar, **limits: int) -> list[tuple[str, str]]:
    return [(item.utterance, write(item.form)) for item in Deriver(grammar, Limits(**limits))]


def test_utterances_come_with_their_forms(grammar_of):
    assert pairs(grammar_of(SETS)) == [
        ("trails that allow dogs", "( filter ( all trail ) dogs )"),
        ("trails that start in orsaz", "( filter ( all trail ) start = village.orsaz )"),
        ("trails that start in san cordo", "( filter ( all trail ) start = village.san_cordo )"),
    ]


def test_include_def_when_and_for(grammar_of):
    general = """
    (def @count some.long.name)
    (when (and generate (not parse)) (rule $ROOT (number of $X) (lambda x (@count (var x)))))
    (when (or parse geo880) (rule $ROOT (never $Y) (NumberFn) (anchored 1)))
    """
    text = '(include general.grammar) (for @x (a b) (rule $X (the "very (old)" @x) (ConstantFn (@x 1)))) # done'
    grammar = grammar_of(text, general=general)
    assert pairs(grammar) == [
        ("number of the very (old) a", "( some.long.name ( a 1 ) )"),
        ("number of the very (old) b", "( some.long.name ( b 1 ) )"),
    ]


def test_a_file_included_twice_counts_once(grammar_of):
    grammar = grammar_of(
        "(include a.grammar) (include b.grammar)",
        a="(include words.grammar)",
        b="(include words.grammar)",
        words="(rule $ROOT (yes) (ConstantFn yes))",
    )
    assert len(grammar.rules) == 1


def test_the_published_long_function_names_become_short(grammar_of):
    grammar = grammar_of(
        "(def @f edu.stanford.nlp.sempre.overnight.SimpleWorld.filter) (rule $ROOT (x) (ConstantFn (call @f)))"
    )
    assert pairs(grammar) == [("x", "( call SW.filter )")]


def test_an_application_inside_a_lambda_form_stays_and_join_reduces(grammar_of):
    grammar = grammar_of("""
    (rule $ROOT ($Rel $Test) (lambda r (lambda t (get ((var t) (domain (var r))) (var r)))))
    (rule $Rel (player) (ConstantFn player))
    (rule $Test ($Curried $Value) (JoinFn forward betaReduce))
    (rule $Curried (whose team is) (ConstantFn (lambda v (lambda s (filter (var s) team (var v))))))
    (rule $Value (lakers) (ConstantFn lakers))
    """)
    ((utterance, form),) = pairs(grammar)
    assert utterance == "player whose team is lakers"
    assert form == "( get ( ( lambda s ( filter ( var s ) team lakers ) ) ( domain player ) ) player )"


def test_join_without_reduction_keeps_the_application():
    assert Join(0, reduces=False).apply([("lambda", "x", "b"), "a"]) == (("lambda", "x", "b"), "a")


def test_an_inner_lambda_hides_the_outer_one():
    tree = ("lambda", "x", ("f", ("var", "x"), ("lambda", "x", ("g", ("var", "x")))))
    assert build(tree, parts=1).apply(["a"]) == ("f", "a", ("lambda", "x", ("g", ("var", "x"))))


def test_a_lambda_with_a_type_belongs_to_the_forms(grammar_of):
    grammar = grammar_of("(rule $ROOT (flights) (ConstantFn (lambda $0 e (flight $0))))")
    assert pairs(grammar) == [("flights", "( lambda $0 e ( flight $0 ) )")]


def test_select_takes_one_category(grammar_of):
    grammar = grammar_of(
        "(rule $ROOT ($A $B) (SelectFn 1)) (rule $A (very) (ConstantFn no)) (rule $B (old) (ConstantFn old))"
    )
    assert pairs(grammar) == [("very old", "old")]


def test_distinct_leaves_out_equal_parts(grammar_of):
    grammar = grammar_of("""
    (rule $ROOT ($P or $P) (lambda a (lambda b (or (var a) (var b)))) (distinct))
    (for @p (alice bob) (rule $P (@p) (ConstantFn @p)))
    """)
    assert [utterance for utterance, _ in pairs(grammar)] == ["alice or bob", "bob or alice"]


GOOD = "(rule $ROOT ($X) (IdentityFn))\n(rule $X (x) (ConstantFn x))\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (GOOD + "(rule $X (y) (ConstantFn y)", 3, "never closed"),
        (GOOD + "\n)", 4, "without an opening one"),
        (GOOD + '(rule $X ("y) (ConstantFn y))', 3, "quotation mark"),
        (GOOD + "(role $X (y) (ConstantFn y))", 3, "expected (include|def|when|for|rule ...)"),
        (GOOD + "oops", 3, "'oops'"),
        (GOOD + "(rule X (y) (ConstantFn y))", 3, "a rule is"),
        (GOOD + "(rule $X y (ConstantFn y))", 3, "a rule is"),
        (GOOD + "(rule $X (y) (ConstantFn y) (surprise))", 3, "surprise"),
        (GOOD + "(rule $X (y $Z) (lambda z (var z)))", 3, "no rule makes $Z"),
        (GOOD + "(rule $X (y) (ConstantFn y z))", 3, "ConstantFn takes one form"),
        (GOOD + "(rule $X (y $X) (ConstantFn y))", 3, "ConstantFn takes no categories"),
        (GOOD + "(rule $X (y $X $X) (IdentityFn))", 3, "IdentityFn takes one category"),
        (GOOD + "(rule $X ($X $X) (SelectFn 2))", 3, "SelectFn 2"),
        (GOOD + "(rule $X ($X $X) (JoinFn sideways))", 3, "JoinFn knows"),
        (GOOD + "(rule $X ($X $X) (JoinFn betaReduce))", 3, "either forward or backward"),
        (GOOD + "(rule $X ($X) (JoinFn forward))", 3, "two categories"),
        (GOOD + "(rule $X ($X $X) (JoinFn forward betaReduce))", 3, "not a function"),
        (GOOD + "(rule $X (y) (ConstantFn (f ())))", 3, "empty list"),
        (GOOD + "(rule $X ($X) (NumberFn))", 3, "unknown semantic function NumberFn"),
        (GOOD + "(rule $X ($X $X) (lambda a (f (var a))))", 3, "1 lambda parameters for 2 categories"),
        (GOOD + "(rule $X (y) (lambda a (f (var a))))", 3, "needs categories"),
        (GOOD + "(rule $X ($X) (lambda a (f (var b))))", 3, "variable b"),
        (GOOD + "(rule $X (y) (ConstantFn (lambda a (var a))))", 3, "waits for 1 arguments here, and for 0 in line 2"),
        (GOOD + "(rule $X (y) (ConstantFn (@f)))", 3, "@f is not defined"),
        (GOOD + "(rule $Z (y $Z) (IdentityFn))", 3, "never comes to words"),
        (GOOD + "(def f g)", 3, "def takes"),
        (GOOD + "(for @x y)", 3, "for takes"),
        (GOOD + "(when)", 3, "when takes"),
        (GOOD + "(when (xor a b) (rule $X (y) (ConstantFn y)))", 3, "condition must be"),
        (GOOD + "(when (not a b))", 3, "condition must be"),
        (GOOD + "(include)", 3, "include takes"),
        (GOOD + "(include nowhere.grammar)", 3, "there is no file"),
        (GOOD + "(include test.grammar)", 3, "circle"),
        ("(rule $ROOT (x) (ConstantFn (lambda a (var a))))", 1, "$ROOT is a function"),
        ("(rule $X (x) (ConstantFn x))", None, "no rule makes $ROOT"),
        ("(" * 1000, 1, "nested deeper"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(grammar_of, text, line, message):
    with pytest.raises(InputError) as caught:
        grammar_of(text)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert Path(caught.value.path).name == "test.grammar"


def test_a_mistake_in_an_included_file_names_that_file(grammar_of):
    with pytest.raises(InputError) as caught:
        grammar_of(GOOD + "(include other.grammar)", other="\n\n(rule $X (y) (Nonsense))")
    assert (Path(caught.value.path).name, caught.value.line) == ("other.grammar", 3)


def test_includes_in_a_circle_are_told(grammar_of):
    with pytest.raises(InputError, match="b.grammar:1: include goes round in a circle: test.grammar -> b"):
        grammar_of("(include b.grammar)", b="(include test.grammar)")


def test_a_file_that_is_not_utf8_is_told(tmp_path):
    path = tmp_path / "latin.grammar"
    path.write_bytes(b"# fine\n(rule $ROOT (caf\xe9) (ConstantFn x))\n")
    with pytest.raises(InputError, match="latin.grammar:2"):
        read_grammar(path)


def test_all_mistakes_are_listed(tmp_path):
    path = tmp_path / "bad.grammar"
    path.write_text(GOOD + "(rule $X (y) (Nonsense))\n(def a)\n(rule $X ($X) (lambda a (var b)))\n")
    assert sorted(problem.line for problem in grammar_problems(path)) == [3, 4, 5]


def test_what_can_never_be_used_is_a_warning(grammar_of):
    grammar = grammar_of(
        GOOD + "(rule $Value (10) (ConstantFn 10))\n(include general.grammar)",
        general="(rule $X ($VP $X) (SelectFn 1))\n(rule $X ($VP) (IdentityFn))\n(rule $Y ($X) (IdentityFn))",
    )
    assert [(Path(warning.path).name, warning.line, warning.message) for warning in grammar.warnings] == [
        ("general.grammar", 1, "no rule makes $VP, so the rule here and 1 more cannot be used"),
        ("test.grammar", 3, "$Value is never used by $ROOT"),
        ("general.grammar", 3, "$Y is never used by $ROOT"),
    ]
    assert pairs(grammar) == [("x", "x")]


def test_a_recursive_grammar_ends_at_the_depth_limit(grammar_of):
    grammar = grammar_of(ENDLESS)
    assert grammar.max_depth["$ROOT"] == float("inf")
    assert len(pairs(grammar, depth=2)) == 10
    assert len(pairs(grammar, depth=3)) == 10 + 10 * 10


def test_shallow_derivations_come_first_whatever_their_number(grammar_of):
    depths = [item.depth for item in islice(Deriver(grammar_of(ENDLESS), Limits(depth=40)), 5_000)]
    assert depths == sorted(depths)
    assert depths[-1] == 4


def test_limits_of_number_size_and_tries(grammar_of):
    grammar = grammar_of(ENDLESS)
    assert len(pairs(grammar, number=7)) == 7
    assert max(size(read(form)) for _, form in pairs(grammar, size=9, depth=4)) == 9
    deriver = Deriver(grammar, Limits(tried=500, depth=30))
    assert len(list(deriver)) < 500
    assert deriver.counts.tried == 500
    assert not deriver.complete


def test_a_form_nested_too_deep_to_be_read_is_dropped(grammar_of):
    grammar = grammar_of(
        "(rule $ROOT ($X) (IdentityFn)) (rule $X (x) (ConstantFn x)) (rule $X (not $X) (lambda x (not (var x))))"
    )
    deriver = Deriver(grammar, Limits(depth=400, size=10_000))
    assert [read(write(item.form)) for item in deriver]
    assert deriver.counts.too_large > 0


def test_memory_stays_bounded_over_many_derivations(grammar_of):
    grammar = grammar_of(ENDLESS)
    tracemalloc.start()
    deriver = Deriver(grammar, Limits(depth=30, tried=60_000))
    given_out = sum(1 for _ in deriver)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert given_out > 20_000
    assert peak < 40_000_000


def test_what_fails_inside_is_not_built_upon(grammar_of):
    grammar = grammar_of("""
    (rule $ROOT ($Sum) (lambda x (print (var x))))
    (rule $Sum ($N plus $N) (lambda a (lambda b (+ (var a) (var b)))))
    (rule $N ($Digit) (lambda d (number (var d))))
    (for @d (1 2 3) (rule $Digit (@d) (ConstantFn @d)))
    """)
    asked = Counter()

    def keep(derivation):
        asked[derivation.category] += 1
        return "3" not in derivation.words

    deriver = Deriver(grammar, keep=keep)
    assert [item.utterance for item in deriver] == ["1 plus 1", "1 plus 2", "2 plus 1", "2 plus 2"]
    assert asked == {"$N": 3, "$Sum": 4, "$ROOT": 4}  # words are not asked about, and 3 went no further
    assert deriver.counts.rejected == 1


def test_samples_are_derivations_and_the_seed_decides(grammar_of):
    grammar = grammar_of(ENDLESS)
    everything = {item.form for item in Deriver(grammar, Limits(depth=3))}
    drawn = list(islice(Deriver(grammar, Limits(depth=3)).sample(random.Random(5)), 50))
    again = list(islice(Deriver(grammar, Limits(depth=3)).sample(random.Random(5)), 50))
    assert drawn == again
    assert {item.form for item in drawn} <= everything
    assert len({item.form for item in drawn}) > 10


def test_sampling_ends_when_nothing_is_kept(grammar_of):
    deriver = Deriver(grammar_of(ENDLESS), Limits(depth=30), keep=lambda derivation: False)
    assert list(deriver.sample(random.Random(1))) == []


def test_entities_of_one_type_change_places(grammar_of):
    grammar = grammar_of("""
    (rule $ROOT ($Entity1 or $Entity2) (lambda a (lambda b (or (var a) (var b)))))
    (rule $Entity1 (alice) (ConstantFn person.alice))
    (rule $Entity2 (bob) (ConstantFn person.bob))
    (rule $Entity1 (3 cm) (ConstantFn (number 3 cm)))
    (rule $Entity2 (6 cm) (ConstantFn (number 6 cm)))
    (rule $Entity1 (the zoo) (ConstantFn place.zoo))
    (rule $ROOT (in $Year1 or $Season2) (lambda a (lambda b (in (var a) (var b)))))
    (rule $Year1 (1998) (ConstantFn (date 1998 -1 -1)))
    (rule $Season2 (may) (ConstantFn (date -1 5 -1)))
    """)
    assert list(swappable_types(grammar)) == ["person", "cm"]
    texts = [utterance for utterance, _ in pairs(swapped(grammar, ["person"]))]
    assert texts[0] == "bob or alice"
    assert "3 cm or 6 cm" in texts
    assert ("6 cm or 3 cm", "( or ( number 6 cm ) ( number 3 cm ) )") in pairs(swapped(grammar, ["cm", "person"]))
    assert swapped(swapped(grammar, ["person"]), ["person"]).rules == grammar.rules


@st.composite
def small_grammars(draw: st.DrawFn) -> str:
    """Up to four categories, each with a word, so that every derivation can end."""
    names = ["$ROOT", "$A", "$B", "$C"][: draw(st.integers(1, 4))]
    lines = [f"(rule {name} (w{i}) (ConstantFn c{i}))" for i, name in enumerate(names)]
    for number in range(draw(st.integers(0, 4))):
        children = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
        body = f"(f{number} {' '.join(f'(var x{i})' for i in range(len(children)))})"
        for i in reversed(range(len(children))):
            body = f"(lambda x{i} {body})"
        lines.append(f"(rule {draw(st.sampled_from(names))} (r{number} {' '.join(children)}) {body})")
    return "\n".join(lines)


def brute_force(grammar: Grammar, category: str, depth: int) -> list[tuple[str, ...]]:
    if depth == 0:
        return []
    found = []
    for rule in grammar.by_category[category]:
        options = [brute_force(grammar, child, depth - 1) for child in rule.children]
        found.extend(rule.words(words) for words in product(*options))
    return found


@given(text=small_grammars(), depth=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_every_derivation_comes_exactly_once(tmp_path_factory, text, depth):
    path = tmp_path_factory.mktemp("grammars") / "small.grammar"
    path.write_text(text)
    grammar = read_grammar(path)
    wanted = Counter(islice(brute_force(grammar, "$ROOT", depth), 20_000))
    if wanted.total() < 20_000:
        found = list(Deriver(grammar, Limits(depth=depth)))
        assert Counter(item.words for item in found) == wanted
        assert all(not free_variables(item.form) and not parameters(item.form) for item in found)


@given(st.text(alphabet='()$"#@\\ \nabrule', max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_grammar_or_an_input_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("soup") / "soup.grammar"
    path.write_text(text)
    with pytest.raises(InputError):
        read_grammar(path)


@given(
    st.recursive(st.sampled_from(["lambda", "var", "x", "JoinFn", "f"]), lambda t: st.lists(t, max_size=3).map(tuple))
)
@settings(max_examples=200, deadline=None)
def test_any_description_is_a_semantic_function_or_bad(tree):
    try:
        function = build(tree, parts=1)
    except BadSemantics:
        return
    assert isinstance(function.apply(["part"]), str | tuple)
    assert function.waiting([0]) >= 0


def test_the_published_grammars_are_read(benchmark_data):
    rules = {
        path.stem: len(read_grammar(path).rules)
        for path in sorted((benchmark_data / "overnight/grammars").glob("*.grammar"))
        if path.stem != "general"
    }
    assert rules == {
        "basketball": 86, "blocks": 87, "calendar": 70, "housing": 72, "publications": 83,
        "recipes": 89, "restaurants": 100, "socialnetwork": 119,
    }  # fmt: skip
