"""`dualparse synthesize`, `dualparse grammar show | derive | sample`: new forms and pairs, and where they come from."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterable
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dualparse.data.examples import NO_QUERY, load_examples, read_examples
from dualparse.domains.domain import Domain
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.grammar import Derivation, Deriver, Grammar, Limits, read_grammar
from dualparse.suggest import unknown_name
from dualparse.synthesis.analogy import by_analogy
from dualparse.synthesis.derived import keep_valid, spell
from dualparse.synthesis.forms import synthesize
from dualparse.synthesis.made import ILL_TYPED, Synthesis, canonical_pairs
from dualparse.use.cli.answers import answer
from dualparse.use.cli.screen import Screen, say

PANEL = "Logical forms"
MAX_TRIED = 5_000_000  # a recursive grammar may have more derivations than anyone can wait for

commands = typer.Typer(help="Look at the grammar that a domain's forms come from.", no_args_is_help=True)


class Source(StrEnum):
    """What new forms, or pairs, are made from."""

    GRAMMAR = "grammar"
    ONTOLOGY = "ontology"
    FORMS = "forms"
    PAIRS = "pairs"


Target = Annotated[str, typer.Argument(help="A domain's name, its folder, or a grammar file.", metavar="DOMAIN|FILE")]
Depth = Annotated[int, typer.Option(help="Rules inside rules, at most.", min=1, max=60)]
Size = Annotated[int, typer.Option(help="Tokens of a form, at most.", min=1)]
Tried = Annotated[int, typer.Option(help="Derivations to try, at most.", min=1)]
Pairs = Annotated[bool, typer.Option("--pairs", help="Print utterance<TAB>form lines, as training files have them.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("synthesize", rich_help_panel=PANEL)(synthesize_forms)
    app.add_typer(commands, name="grammar", rich_help_panel=PANEL)


def synthesize_forms(
    context: typer.Context,
    domain: Annotated[str, typer.Option("--domain", "-d", help="A domain's name or the path of its folder.")],
    n: Annotated[int, typer.Option("--n", "-n", help="How many forms.", min=1)] = 500,
    seed: Annotated[int, typer.Option(help="The same seed gives the same forms.")] = 1,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output without it.")] = None,
    source: Annotated[
        Source | None,
        typer.Option(
            "--from",
            help="What to make them from; the grammar where there is one, else the ontology. From pairs come pairs.",
        ),
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Write the canonical utterance as the query.")] = False,
    swap: Annotated[bool, typer.Option(help="Also swap entities of one type (OVERNIGHT's grammars).")] = True,
    depth: Depth = Limits.depth,
    size: Size = Limits.size,
    tried: Tried = MAX_TRIED,
) -> None:
    """Make new logical forms: distinct, valid, and not among the domain's training forms.

    Writes lines that the training commands read as unlabeled forms, and a report to standard error. From pairs it makes
    pairs, by analogy: new queries with their forms.

    Example: dualparse synthesize --domain trails --n 500 --seed 1 --out extra.tsv
    Example: dualparse synthesize --domain atis --n 4592 --seed 1 --out extra.tsv
    Example: dualparse synthesize --domain atis --n 4592 --from forms --out extra.tsv
    Example: dualparse synthesize --domain trails --n 20 --from pairs
    """
    console = Screen(stderr=True, highlight=False)
    opened = open_domain(domain)
    if source is Source.PAIRS:
        _refuse(context, "swap", "depth", "size", "tried")
        _synthesize_pairs(opened, n, seed, out, console)
        return
    with console.status("making forms"):
        result = synthesize(
            opened,
            _forms(opened),
            n=n,
            seed=seed,
            source=source,
            limits=Limits(depth=depth, size=size, tried=tried),
            swap=swap,
        )
    _write(_pair_lines(result) if pairs else [f"{NO_QUERY}\t{item.form}" for item in result.forms], out)
    _report(result, n, console)


def _refuse(context: typer.Context, *options: str) -> None:
    """Options that would change nothing."""
    for name in options:
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE":
            raise InputError(f"--{name} says something about forms; --from pairs makes pairs of those there are")


def _synthesize_pairs(domain: Domain, n: int, seed: int, out: Path | None, console: Console) -> None:
    train, started = load_examples(domain, dev_seed=1).train, time.perf_counter()
    with console.status("making pairs"):
        made = by_analogy(train, domain.check, n=n, seed=seed)
    if not made:
        raise InputError(f"no two of the {len(train)} training pairs of {domain.name!r} tell what to make of others")
    known, ours = ([" ".join(pair.lf or ()) for pair in pairs] for pairs in (train, made))
    new = set(map(domain.normalize, ours)) - {domain.normalize(form) for form in known if domain.check(form).surface}
    _write([f"{' '.join(pair.query or ())}\t{form}" for pair, form in zip(made, ours, strict=True)], out)
    console.print(f"{len(made)} pairs with {len(new)} new forms in {time.perf_counter() - started:.1f} s")
    if len(made) < n:
        console.print(f"[yellow]fewer than the {n} asked for: there are no more[/yellow]")


def _forms(domain: Domain) -> dict[str, list[str]]:
    found = {name: read_examples(path) for name, path in domain.files.items() if name != "queries"}
    return {
        name: [" ".join(example.lf) for example in examples if example.lf is not None]
        for name, examples in found.items()
    }


def _pair_lines(result: Synthesis) -> list[str]:
    pairs = canonical_pairs(result)
    if not pairs:
        raise InputError("only a grammar gives canonical utterances: leave --pairs out, or use --from grammar")
    return [f"{' '.join(words)}\t{' '.join(form)}" for words, form in pairs]


def _write(lines: Iterable[str], out: Path | None) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
        return
    try:
        write_text(out, text)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=out) from error


def _report(result: Synthesis, wanted: int, console: Console) -> None:
    table = Table("", "forms", box=None, pad_edge=False, show_header=False)
    for kind, count in result.by_kind.most_common():
        table.add_row(f"made: {kind}", str(count))
    for reason, count in result.rejected.most_common():
        table.add_row(f"rejected: {reason}", str(count))
        for detail, times in result.reasons.most_common(5) if reason == ILL_TYPED else ():
            table.add_row(f"    {escape(detail)}", str(times))
    for split, count in result.overlaps.items():
        table.add_row(f"also in {split}", str(count))
    console.print(table)
    console.print(f"{len(result.forms)} forms in {result.seconds:.1f} s")
    if len(result.forms) < wanted:
        why = "there are no more" if result.complete else "the limits were reached"
        console.print(f"[yellow]fewer than the {wanted} asked for: {why}[/yellow]")


@commands.command("show")
def show_grammar(
    target: Target,
    category: Annotated[str | None, typer.Option(help="Show the rules of one category.", metavar="NAME")] = None,
) -> None:
    """Show a grammar's categories, or the rules of one of them.

    Example: dualparse grammar show trails
    Example: dualparse grammar show trails --category TrailFact
    """
    grammar, _ = _open(target)
    console = Screen(highlight=False)
    if category is not None:
        console.print(_rules_table(grammar, "$" + category.removeprefix("$")))
        return
    table = Table("category", "rules", "gives", "depth", "example", box=None, pad_edge=False)
    for name, rules in grammar.by_category.items():
        waiting = grammar.waiting[name]
        gives = "form" if not waiting else f"function of {waiting}"
        deepest = grammar.max_depth[name]
        depth = f"{grammar.min_depth[name]}-{deepest}" if deepest != float("inf") else f"{grammar.min_depth[name]}-..."
        table.add_row(name, str(len(rules)), gives, depth, escape(" ".join(rules[0].parts)))
    console.print(table)
    console.print(f"{len(grammar.rules)} rules; derivations begin with {grammar.root}")
    for warning in grammar.warnings:
        console.print(f"warning: {warning}", markup=False, style="yellow", soft_wrap=True)


def _rules_table(grammar: Grammar, category: str) -> Table:
    if category not in grammar.by_category:
        raise InputError(unknown_name("category", category, list(grammar.by_category)))
    table = Table("line", "said as", "meaning", box=None, pad_edge=False)
    for rule in grammar.by_category[category]:
        table.add_row(f"{rule.path.name}:{rule.line}", escape(" ".join(rule.parts)), escape(str(rule.semantics)))
    return table


@commands.command("derive")
def derive(
    target: Target,
    number: Annotated[int, typer.Option(help="Derivations to show.", min=1)] = 20,
    depth: Depth = Limits.depth,
    size: Size = Limits.size,
    tried: Tried = MAX_TRIED,
    pairs: Pairs = False,
) -> None:
    """List derivations, shallow ones first: utterance, form and answer. What does not run is left out.

    Example: dualparse grammar derive trails --number 10
    Example: dualparse grammar derive trails --number 100000 --pairs > pairs.tsv
    """
    grammar, domain = _open(target)
    deriver = _deriver(grammar, domain, Limits(depth=depth, size=size, number=number, tried=tried))
    _print(deriver, domain, pairs)
    counts = deriver.counts
    Screen(stderr=True, highlight=False).print(
        f"{counts.given} shown; {counts.tried} tried, {counts.rejected} did not run, {counts.too_large} too large"
    )


@commands.command("sample")
def sample(
    target: Target,
    number: Annotated[int, typer.Option(help="Derivations to show.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same derivations.")] = 1,
    depth: Depth = Limits.depth,
    size: Size = Limits.size,
    pairs: Pairs = False,
) -> None:
    """Draw derivations at random: utterance, form and answer.

    Example: dualparse grammar sample trails --number 5 --seed 3
    """
    grammar, domain = _open(target)
    deriver = _deriver(grammar, domain, Limits(depth=depth, size=size, tried=MAX_TRIED))
    seen: dict[object, Derivation] = {}
    # A small grammar repeats itself; a bound on the draws ends the search for one more.
    for derivation in islice(deriver.sample(random.Random(seed)), 50 * number):
        seen.setdefault(derivation.form, derivation)
        if len(seen) == number:
            break
    _print(seen.values(), domain, pairs)


def _open(target: str) -> tuple[Grammar, Domain | None]:
    """A grammar file alone has no domain, so its forms have no answers."""
    if Path(target).is_file():
        return read_grammar(Path(target)), None
    domain = open_domain(target)
    if domain.grammar is None:
        raise InputError(f"the domain {domain.name!r} has no grammar")
    return read_grammar(domain.grammar), domain


def _deriver(grammar: Grammar, domain: Domain | None, limits: Limits) -> Deriver:
    keep = None if domain is None else keep_valid(domain.check, root=grammar.root)
    return Deriver(grammar, limits, keep)


def _print(derivations: Iterable[Derivation], domain: Domain | None, pairs: bool) -> None:
    for derivation in derivations:
        form = spell(derivation.form)
        if pairs:
            say(f"{derivation.utterance}\t{form}")
            continue
        say("\n".join([derivation.utterance, f"  {form}", *_answer(form, domain)]))


def _answer(form: str, domain: Domain | None) -> list[str]:
    if domain is None or domain.execute is None:
        return []
    try:
        return [f"  = {answer(domain.execute(form))}"]
    except LF_ERRORS as error:  # a domain may accept by its types what it cannot run
        return [f"  ! {error}"]
