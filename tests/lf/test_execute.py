"""The evaluator core: static checks, kinds, lambdas, limits, on functions made up here."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lf.errors import LF_ERRORS, LFExecutionError, LFSyntaxError
from dualparse.lf.execute import (
    CALL_STEPS,
    CHARACTERS_A_STEP,
    INTEGER,
    LIST,
    NULL,
    STRING,
    VALUE,
    Executor,
    Function,
    PlainReader,
    SempreReader,
    charge,
)
from dualparse.lf.values import name

runs: list[str] = []


def _note(word: str) -> list:
    runs.append(word)
    return [name(f"en.{word}")]


FUNCTIONS = {
    function.name: function
    for function in (
        Function("one", {(VALUE,): lambda value: [value]}),
        Function("both", {(LIST, LIST): lambda a, b: a + b, (VALUE, VALUE): lambda a, b: [a, b]}),
        Function("size", {(LIST,): len}),
        Function("null", {(): lambda: None}),
        Function("note", {(STRING,): _note}, atoms=("word",)),
        Function("maybe", {(LIST,): lambda a: a, (LIST, LIST): lambda a, b: b, (LIST, NULL): lambda a, b: a}),
        Function("plus", {(INTEGER, VALUE): lambda a, b: a + int(b.degree)}, atoms=("value", "number")),
    )
}
sempre = Executor(SempreReader(FUNCTIONS), max_steps=10_000)
plain = Executor(PlainReader(FUNCTIONS, {"a.b": name("a.b")}), max_steps=10_000)
run = sempre.execute


# -- values at the root


@pytest.mark.parametrize(
    ("form", "denotation"),
    [
        ("en.block.block1", "(name en.block.block1)"),
        ("( string shape )", "(string shape)"),
        ("( number 3 en.inch )", "(number 3 en.inch)"),
        ("( number 2174.5625 )", "(number 2174.563)"),
        ("( date 2004 -1 -1 )", "(date 2004 -1 -1)"),
        ("( time 10 0 )", "(time 10 0)"),
        ("( boolean true )", "(boolean true)"),
        ("( call one en.b )", "(list (name en.b))"),
        ("( call both en.b en.a )", "(list (name en.b) (name en.a))"),
        ("( call size ( call both en.b en.a ) )", "(number 2)"),
    ],
)
def test_printing(form, denotation):
    assert run(form) == denotation


def test_the_root_must_have_a_value():
    with pytest.raises(LFExecutionError, match="no value"):
        run("( call null )")


# -- every node is checked before anything runs


@pytest.mark.parametrize(
    "node",
    [
        "( )",
        "( call )",
        "( call ( one ) )",
        "( string )",
        "( string a b )",
        "( string ( a ) )",
        "( var )",
        "( var a b )",
        "( var ( a ) )",
        "( lambda s )",
        "( lambda ( s ) a )",
        "( lambda s a b )",
        "( date 1 2 )",
        "( number x )",
        "( time 10 )",
        "( a )",
        "( a b c )",
        "( ( lambda s a ) )",
        "( ( lambda s a ) b c )",
    ],
)
@pytest.mark.parametrize("where", ["%s", "( call both ( call note ( string x ) ) %s )", "( ( lambda s en.a ) %s )"])
def test_bad_nodes_are_syntax_errors_wherever_they_stand(node, where):
    runs.clear()
    with pytest.raises(LFSyntaxError):
        run(where % node)
    assert runs == []


@pytest.mark.parametrize("form", ["", "( call one en.a", "( call one en.a ) )", "( call one en.a ) en.b", ")"])
def test_text_must_be_one_tree(form):
    with pytest.raises(LFSyntaxError):
        run(form)


def test_trees_that_did_not_come_from_text_are_limited_too():
    for reader in (sempre, plain):
        tree = "en.a"
        for _ in range(5_000):
            tree = ("call", "one", tree) if reader is sempre else ("size", tree)
        with pytest.raises(LFSyntaxError, match="deeper"):
            reader.execute_tree(tree)
        with pytest.raises(LFSyntaxError, match="empty"):
            reader.execute_tree(())


# -- kinds and arity


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("( call one ( string a ) )", "argument 1 of one must be one value, not a string"),
        ("( call one ( call one en.a ) )", "must be one value, not a list"),
        ("( call size en.a )", "must be a list, not one value"),
        ("( call size ( call size ( call one en.a ) ) )", "must be a list, not an integer"),
        ("( call size ( call null ) )", "must be a list, not nothing"),
        ("( call both en.a ( call one en.b ) )", "both does not take one value with a list"),
        ("( call note en.a )", "must be a string"),
        ("( call one )", "takes 1 arguments, not 0"),
        ("( call maybe )", "takes 1 or 2 arguments, not 0"),
        ("( call both en.a en.b en.c )", "takes 2 arguments, not 3"),
        ("( call two en.a )", "unknown function 'two'"),
    ],
)
def test_wrong_kinds_and_arity(form, reason):
    with pytest.raises(LFExecutionError, match=reason):
        run(form)


def test_null_is_taken_only_where_a_function_says_so():
    assert run("( call maybe ( call one en.a ) ( call null ) )") == "(list (name en.a))"


# -- lambdas


@pytest.mark.parametrize(
    ("form", "denotation"),
    [
        ("( ( lambda s ( call one ( var s ) ) ) en.a )", "(list (name en.a))"),
        ("( ( lambda s ( var s ) ) ( string a ) )", "(string a)"),
        ("( ( lambda s ( call both ( var s ) ( var s ) ) ) en.a )", "(list (name en.a) (name en.a))"),
        (
            "( ( ( lambda s ( lambda t ( call both ( var s ) ( var t ) ) ) ) en.a ) en.b )",
            "(list (name en.a) (name en.b))",
        ),
        ("( ( lambda f ( ( var f ) en.a ) ) ( lambda s ( call one ( var s ) ) ) )", "(list (name en.a))"),
        ("( ( lambda s ( ( lambda s ( var s ) ) en.b ) ) en.a )", "(name en.b)"),
        ("( ( lambda s ( ( lambda t ( ( lambda s ( var t ) ) en.b ) ) ( var s ) ) ) en.a )", "(name en.a)"),
        ("( call one ( ( lambda s ( var s ) ) en.a ) )", "(list (name en.a))"),
    ],
)
def test_beta_reduction(form, denotation):
    assert run(form) == denotation


def test_an_argument_runs_where_its_variable_stands():
    runs.clear()
    assert run("( ( lambda s en.a ) ( call note ( string x ) ) )") == "(name en.a)"
    assert runs == []
    run("( ( lambda s ( call both ( var s ) ( var s ) ) ) ( call note ( string x ) ) )")
    assert runs == ["x", "x"]


@pytest.mark.parametrize("argument", ["( call nonsense )", "( var t )", "( en.a en.b )", "( call size en.a )"])
def test_an_unused_argument_never_runs(argument):
    assert run(f"( ( lambda s en.a ) {argument} )") == "(name en.a)"


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("( var s )", "unbound variable 's'"),
        ("( call one ( var s ) )", "unbound variable 's'"),
        ("( ( lambda s ( var t ) ) en.a )", "unbound variable 't'"),
        ("( call both ( ( lambda s ( var s ) ) en.a ) ( var s ) )", "unbound variable 's'"),
        ("( lambda s ( var s ) )", "without an argument"),
        ("( call one ( lambda s ( var s ) ) )", "without an argument"),
        ("( en.a en.b )", "only a lambda"),
        ("( ( lambda s ( ( var s ) en.b ) ) en.a )", "only a lambda"),
    ],
)
def test_lambdas_that_fail(form, reason):
    with pytest.raises(LFExecutionError, match=reason):
        run(form)


# -- limits


def test_a_form_that_never_ends():
    omega = "( lambda x ( ( var x ) ( var x ) ) )"
    with pytest.raises(LFExecutionError, match="too many steps"):
        run(f"( {omega} {omega} )")


def test_a_form_that_nests_without_end():
    nest = "( lambda x ( call size ( ( var x ) ( var x ) ) ) )"
    with pytest.raises(LFExecutionError, match="nested deeper"):
        Executor(SempreReader(FUNCTIONS)).execute(f"( {nest} {nest} )")


def _doubling(times: int) -> str:
    form = "( call one en.a )"
    for _ in range(times):
        form = f"( ( lambda s ( call both ( var s ) ( var s ) ) ) {form} )"
    return form


def test_a_form_that_doubles():
    assert run(f"( call size {_doubling(4)} )") == "(number 16)"
    with pytest.raises(LFExecutionError, match="too many steps"):
        run(_doubling(30))


def _price(form: str, *, functions: dict[str, Function] = FUNCTIONS) -> int:
    """The least budget that a form gets by with."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high) // 2
        try:
            Executor(SempreReader(functions), max_steps=middle).execute(form)
            high = middle
        except LFExecutionError as error:
            assert error.reason == "too many steps"
            low = middle + 1
    return low


def test_a_call_pays_for_what_goes_in_and_what_comes_out():
    pair, printed = "( call both en.a en.b )", 2 * len("(name en.a)") // CHARACTERS_A_STEP
    assert _price(pair) == CALL_STEPS + 2 + printed
    both = f"( call both {pair} {pair} )"
    assert _price(f"( call size {both} )") == 4 * CALL_STEPS + (2 + 2) + (4 + 4) + 4


def test_a_long_answer_pays_for_its_characters():
    long, short = f"( call one en.{'a' * 8_000} )", "( call one en.a )"
    assert _price(long) - _price(short) == pytest.approx(8_000 / CHARACTERS_A_STEP, abs=1)


def test_a_variable_pays_for_the_variables_it_is_looked_for_behind():
    near, far = (
        f"( ( lambda s {'( ( lambda t ' * 40} ( var {which} ) {') en.b )' * 40} ) en.a )" for which in ("t", "s")
    )
    assert _price(far) == _price(near) + 40


def test_a_function_pays_for_more_than_it_is_given_before_it_does_it():
    worked: list[int] = []

    def work(values: list) -> list:
        charge(5_000)
        worked.append(1)
        return values

    functions = FUNCTIONS | {"work": Function("work", {(LIST,): work})}
    form = "( call size ( call work ( call one en.a ) ) )"
    assert _price(form, functions=functions) == 3 * CALL_STEPS + 1 + 2 + 1 + 5_000
    worked.clear()
    with pytest.raises(LFExecutionError, match="too many steps"):
        Executor(SempreReader(functions), max_steps=4_000).execute(form)
    assert worked == []


def test_outside_of_a_form_nothing_is_charged():
    charge(1 << 60)
    with pytest.raises(LFExecutionError):
        run("( call two en.a )")
    charge(1 << 60)


def test_a_form_ends_when_its_time_is_over():
    omega = "( lambda x ( ( var x ) ( var x ) ) )"
    executor = Executor(SempreReader(FUNCTIONS), max_steps=1 << 60)
    started = time.monotonic()
    with pytest.raises(LFExecutionError, match="not done within 0.05 seconds"):
        executor.execute(f"( {omega} {omega} )", seconds=0.05)
    assert time.monotonic() - started < 2
    assert executor.execute("( call one en.a )", seconds=10) == "(list (name en.a))"


def test_there_is_a_limit_by_default():
    with pytest.raises(LFExecutionError, match="too many steps"):  # without a limit this takes years
        Executor(SempreReader(FUNCTIONS)).execute(_doubling(40))


# -- the plain dialect


@pytest.mark.parametrize(
    ("form", "denotation"),
    [
        ("a.b", "(name a.b)"),
        ("true", "(boolean true)"),
        ("( one a.b )", "(list (name a.b))"),
        ("( note word )", "(list (name en.word))"),
        ("( plus ( size ( one a.b ) ) 3 )", "(number 4)"),
        ("( size ( both ( one a.b ) ( one ( number 3 km ) ) ) )", "(number 2)"),
        ("( ( lambda s ( one ( var s ) ) ) a.b )", "(list (name a.b))"),
    ],
)
def test_plain_forms(form, denotation):
    assert plain.execute(form) == denotation


@pytest.mark.parametrize(
    "form", ["( )", "( one ( number x ) )", "( nonsense ( var ) )", "( plus ( size ( one a.b ) ) many )", "( ( one ) )"]
)
def test_plain_syntax_errors(form):
    with pytest.raises(LFSyntaxError):
        plain.execute(form)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("( nonsense a.b )", "unknown function 'nonsense'"),
        ("( one a.c )", "unknown entity 'a.c'"),
        ("( one )", "takes 1 arguments"),
        ("( call one a.b )", "unknown function 'call'"),
        ("( note ( one a.b ) )", "must be a string"),
        ("( a.b a.b )", "unknown function 'a.b'"),
    ],
)
def test_plain_execution_errors(form, reason):
    with pytest.raises(LFExecutionError, match=reason):
        plain.execute(form)


# -- anything at all

WORDS = [
    "(",
    ")",
    "call",
    "lambda",
    "var",
    "string",
    "number",
    "date",
    "s",
    "t",
    "3",
    "-1",
    "!",
    "true",
    "a.b",
    *FUNCTIONS,
]


@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_token_soup_gives_a_value_or_one_of_the_two_errors(text):
    for executor in (sempre, plain):
        try:
            assert executor.execute(text).startswith("(")
        except LF_ERRORS as error:
            assert error.reason


leaves = st.sampled_from(
    ["a.b", "en.c", "s", "3", "true", ("var", "s"), ("var", "t"), ("string", "x"), ("number", "3")]
)


def _grow(children):
    lambdas = st.tuples(st.just("lambda"), st.sampled_from("st"), children)
    calls = st.builds(
        lambda label, arguments: ("call", label, *arguments),
        st.sampled_from(list(FUNCTIONS)),
        st.lists(children, max_size=2),
    )
    heads = st.builds(
        lambda label, arguments: (label, *arguments), st.sampled_from(list(FUNCTIONS)), st.lists(children, max_size=2)
    )
    return st.one_of(calls, heads, lambdas, st.tuples(lambdas, children), st.tuples(children, children))


@given(st.recursive(leaves, _grow, max_leaves=20))
def test_well_formed_trees_give_a_value_or_one_of_the_two_errors(tree):
    for executor in (sempre, plain):
        try:
            assert executor.execute_tree(tree).startswith("(")
        except LF_ERRORS as error:
            assert error.reason
