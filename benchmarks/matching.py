"""How well OVERNIGHT's questions are matched with the utterances of its grammars, from no label to all of them.

    python -m benchmarks.matching [--rows none others few-16 ...] [--seeds 1 2 3] [--jobs 8] [--device auto]
                                  [--encoder minilm] [--fewshot FOLDER] [--known FILE] [--seconds 400]
                                  [--out results/bench-matching.jsonl] [--dev] [--updates N] [--show]

A row says what a matcher learns from:

    none         nothing: MiniLM as it is
    shipped      nothing of any benchmark: MiniLM with the adapter and the second reader that ship with the package
    others       the labeled pairs of the seven other domains; and then, scored apart, the domain's own questions
                 without their forms: the surest, each with the form it is thought to mean
    few-N        N labeled pairs of every domain (the published splits), all domains together
    half-own     half of the pairs of the domain, by itself      half-all   of all domains together
    full-own     all pairs of the domain, by itself              full-all   of all domains together

Dev is a fifth of the training pairs and never trained on. How much a second reader counts is chosen on dev, of the
other domains where the domain itself has no labels; few labels or none at all leave no dev, and there it counts as much
as the matcher. Every cell is scored in two ways: the matcher alone, and with the second reader where the row has one.
Both begin as they ship. `--dev` leaves test out and stores nothing. A cell that the file has already, with the same
settings, is left out, so a run can be taken up again; of a cell with several records the last one counts. Cells come
seed by seed, the rows in the order they are given; after `--seconds` what is not done is left.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

import torch

from dualparse.data.examples import Example, labeled_split, load_examples
from dualparse.domains.metrics import meaning
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.matching.adapter import SHIPPED, open_matcher
from dualparse.matching.candidates import candidates_of
from dualparse.matching.learn import LOOK_EVERY, ReaderSettings, Settings, learn_to_match, learn_to_read, lesson
from dualparse.matching.matcher import Matcher, Ranked, rank
from dualparse.matching.reader import SecondReader, open_reader
from dualparse.networks.minilm import MINILM

WEIGHTS = (0.25, 0.5, 1.0, 2.0)  # of the second reader, tried on dev
FIRST = 4  # questions of a domain where trainings are cut short
SUREST = 0.6  # share of the questions without forms that are learned from
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Row:
    """What is learned from: the share of the pairs that are labeled, or a number of them; and how long."""

    updates: int
    reader: int | None = None  # updates of the second reader, 0: as it ships; None: there is none
    labeled: float = 1.0
    few: int = 0
    together: bool = False
    others: bool = False
    unlabeled: int = 0  # updates with the domain's own questions, after those with labels
    adapted: bool = True  # begins with the shipped adapter
    told_from: int = Settings.others
    hard: int = Settings.hard

    @property
    def share(self) -> str:
        """What names the pairs that are labeled."""
        return str(self.few or self.labeled)


ROWS = {
    "none": Row(0, adapted=False),
    "shipped": Row(0, reader=0),
    "others": Row(1000, reader=600, others=True, unlabeled=200),
    "few-16": Row(400, reader=400, few=16, together=True),
    "few-48": Row(600, reader=600, few=48, together=True),
    "few-200": Row(1500, reader=1500, few=200, together=True),
    "half-own": Row(700, labeled=0.5),
    "half-all": Row(2200, reader=2000, labeled=0.5, together=True),
    "full-own": Row(800, reader=600),
    "full-all": Row(2800, reader=2200, together=True),
}


@dataclass(frozen=True)
class Asked:
    """A domain with its questions, in plain values: what its grammar says and the denotation of each form; by name of a
    share or a number of labels the questions that keep theirs, with the numbers of their forms, and how many pairs that
    were; dev and test with the denotations they should have."""

    utterances: list[str]
    denotations: list[str | None]
    taught: dict[str, tuple[list[str], list[int]]]
    labels: dict[str, int]
    dev: list[tuple[str, str | None]]
    test: list[tuple[str, str | None]]


def read_domain(name: str, fewshot: Path | None) -> Asked:
    """All that is needed of a domain."""
    domain = open_domain(name)
    splits, candidates = load_examples(domain, dev_seed=1), candidates_of(domain)

    def asked(examples: Iterable[Example]) -> list[tuple[str, str | None]]:
        return [(" ".join(e.query or ()), meaning(" ".join(e.lf or ()), domain)) for e in examples]

    whole = {" ".join(example.query or ()): example for example in [*splits.train, *splits.dev]}
    labeled: dict[str, list[Example]] = {}
    for row in ROWS.values():
        if not row.few:
            labeled[row.share] = labeled_split(splits.train, ratio=row.labeled, seed=1).labeled
        elif fewshot:
            lines = (fewshot / f"{name}.{row.few}.txt").read_text(encoding="utf-8").splitlines()
            labeled[row.share] = [whole[text] for line in lines if (text := " ".join(line.split())) in whole]
    return Asked(
        list(candidates.utterances),
        [meaning(form, domain) for form in candidates.forms],
        {share: candidates.pairs(examples) for share, examples in labeled.items()},
        {share: len(examples) for share, examples in labeled.items()},
        asked(splits.dev),
        asked(splits.test),
    )


def read_domains(names: Sequence[str], fewshot: Path | None, known: Path | None) -> dict[str, Asked]:
    """The domains, from a file that knows them, or from their own files into it."""
    if known and known.exists():
        told = json.loads(known.read_text(encoding="utf-8"))
        if set(names) <= set(told):
            return {name: Asked(**told[name]) for name in names}
    found = {name: read_domain(name, fewshot) for name in names}
    if known:
        write_text(known, json.dumps({name: asdict(one) for name, one in found.items()}))
    return found


class TooLate(Exception):
    """The time is up."""


def within(progress: Iterable[object], until: float) -> None:
    """Go through a training, as long as there is time."""
    for _ in progress:
        if time.time() > until:
            raise TooLate


def run_cell(
    name: str,
    seed: int,
    domain: str,
    asked: dict[str, Asked],
    encoder: str,
    device: str,
    *,
    until: float = float("inf"),
    test: bool = True,
) -> list[dict]:
    """One training; a record for every domain it answers."""
    row, started = ROWS[name], time.perf_counter()
    taught = [d for d in asked if d != domain] if row.others else list(asked) if row.together else [domain]
    answered = taught if row.together else [domain]
    judged = taught if row.others else answered  # whose dev may choose
    splits = ["dev", "test"] if test else ["dev"]
    matcher, reader, matched = trained(row, seed, {d: asked[d] for d in taught}, encoder, torch.device(device), until)
    ranked = {d: answers(matcher, reader, asked[d], asked[d].dev) for d in {*judged, *answered}}
    weight = 1.0
    if reader is not None and row.updates and not row.few:
        tried = {w: mean(accuracy(asked[d], asked[d].dev, ranked[d], w) for d in judged) for w in WEIGHTS}
        weight = max(WEIGHTS, key=lambda w: tried[w])
    records = []
    for d in answered:
        record: dict = {"row": name, "seed": seed, "domain": d, "settings": _settings(name), "encoder": encoder}
        record |= {"labels": sum(asked[x].labels[row.share] for x in taught) if row.updates else 0}
        for split in splits:
            questions: list[tuple[str, str | None]] = getattr(asked[d], split)
            found = ranked[d] if split == "dev" else answers(matcher, reader, asked[d], questions)
            record[split] = {"matcher": accuracy(asked[d], questions, found, 0.0), "examples": len(questions)}
            record[split] |= {"among_10": among(asked[d], questions, found, 10)}
            if reader is not None:
                record[split] |= {"reader": accuracy(asked[d], questions, found, weight)}
        seconds = {"matcher": round(matched, 1), "all": round(time.perf_counter() - started, 1)}
        made = {"torch": torch.__version__, "device": _device_name(torch.device(device))}
        records.append(record | {"weight": weight if reader is not None else None, "seconds": seconds} | made)
    if row.unlabeled and reader is not None:
        learn_unlabeled(row, seed, matcher, reader, asked[domain], weight, until)
        for split in splits:
            questions = getattr(asked[domain], split)
            found = answers(matcher, reader, asked[domain], questions)
            records[0][split] |= {"unlabeled": accuracy(asked[domain], questions, found, weight)}
    return records


def trained(
    row: Row, seed: int, taught: dict[str, Asked], encoder: str, place: torch.device, until: float
) -> tuple[Matcher, SecondReader | None, float]:
    """A matcher and a second reader that have learned from some domains, and the seconds of the first."""
    started = time.perf_counter()
    matcher, reader = open_matcher(encoder, adapter=SHIPPED if row.adapted else None).to(place), None
    if row.updates:
        pairs = {d: one.taught[row.share] for d, one in taught.items()}
        lessons = [lesson(matcher.encoder, q, taught[d].utterances, m).to(place) for d, (q, m) in pairs.items()]
        settings = Settings(updates=row.updates, seed=seed, others=row.told_from, hard=row.hard)
        within(learn_to_match(matcher, lessons, settings), until)
    matched = time.perf_counter() - started
    if row.reader is not None:
        reader = open_reader(matcher, encoder).requires_grad_(True)
    if row.reader and reader is not None:
        within(learn_to_read(reader, matcher, lessons, ReaderSettings(updates=row.reader, seed=seed)), until)
    return matcher, reader, matched


def learn_unlabeled(
    row: Row, seed: int, matcher: Matcher, reader: SecondReader, one: Asked, weight: float, until: float
) -> None:
    """Go on with the questions of a domain, each with the form that both think it means; their own forms are not looked
    at. Questions that they are less sure of are left out."""
    questions = list(dict.fromkeys(one.taught[row.share][0]))
    found = [ranked.weighed(weight) for ranked in rank(matcher, questions, one.utterances, reader=reader)]
    sure = [float((each.matcher + weight * each.reader).softmax(0)[0]) for each in found]  # type: ignore[operator]
    kept = sorted(range(len(found)), key=lambda place: -sure[place])[: round(SUREST * len(found))]
    meant = [int(found[place].numbers[0]) for place in kept]
    place = matcher.encoder.device
    own = lesson(matcher.encoder, [questions[place] for place in kept], one.utterances, meant).to(place)
    settings = Settings(updates=row.unlabeled, seed=seed, others=row.told_from, hard=row.hard)
    within(learn_to_match(matcher, [own], settings), until)
    within(learn_to_read(reader, matcher, [own], ReaderSettings(updates=row.unlabeled, seed=seed)), until)


def answers(
    matcher: Matcher, reader: SecondReader | None, one: Asked, questions: Sequence[tuple[str, str | None]]
) -> list[Ranked]:
    return rank(matcher, [question for question, _ in questions], one.utterances, reader=reader)


def accuracy(one: Asked, questions: Sequence[tuple[str, str | None]], found: Sequence[Ranked], weight: float) -> float:
    """Share of the questions whose best candidate has the right denotation, in per cent."""
    return among(one, questions, [ranked.weighed(weight) for ranked in found], 1)


def among(one: Asked, questions: Sequence[tuple[str, str | None]], found: Sequence[Ranked], k: int) -> float:
    """Share of the questions with a right one among the first k, in per cent."""
    right = [
        any(one.denotations[number] == gold for number in ranked.numbers[:k].tolist())
        for (_, gold), ranked in zip(questions, found, strict=True)
    ]
    return round(100 * mean(right), 2)


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"


Cell = tuple[str, int, str]  # row, seed, domain


def cells(rows: Sequence[str], seeds: Sequence[int], domains: Sequence[str]) -> list[Cell]:
    """Seed by seed, the rows in the order they are asked for. A row that learns all domains together is one cell."""
    return [
        (row, seed, domain)
        for seed in seeds
        for row in rows
        if ROWS[row].updates or seed == seeds[0]
        for domain in (domains[:1] if ROWS[row].together else domains)
    ]


def read_records(path: Path) -> dict[Cell, dict]:
    """The last record of each cell and domain."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {(record["row"], record["seed"], record["domain"]): record for record in map(json.loads, lines)}


_ASKED: dict[str, Asked] = {}  # what the processes of a run have in common; read before they are forked


_PACE: list[float] = []  # seconds an update took in this process


def _work(cell: Cell, encoder: str, device: str, until: float, test: bool) -> list[dict]:
    """The records of a cell; none where the time is up, or would be up before the cell is done."""
    torch.set_num_threads(1)
    updates, started = updates_of(ROWS[cell[0]]), time.time()
    if started + min(_PACE, default=0.0) * updates > until:
        return []
    try:
        records = run_cell(*cell, _ASKED, encoder, device, until=until, test=test)
    except TooLate:
        return []
    except (FloatingPointError, torch.OutOfMemoryError) as error:  # the other cells go on
        print(f"{cell}: {error}", flush=True)
        return []
    if updates >= LOOK_EVERY:  # fewer say nothing of the pace
        _PACE.append((time.time() - started) / updates)
    return records


def updates_of(row: Row) -> int:
    """How many updates a cell takes, by all that learn in it."""
    return row.updates + (row.reader or 0) + 2 * row.unlabeled


def cut_short(row: Row, updates: int) -> Row:
    """The same row with so many updates at the most in each of its trainings."""
    reader = None if row.reader is None else min(row.reader, updates)
    return replace(row, updates=min(row.updates, updates), reader=reader, unlabeled=min(row.unlabeled, updates))


def first_of(one: Asked, count: int) -> Asked:
    """A domain with its first questions alone."""
    taught = {share: (questions[:count], meant[:count]) for share, (questions, meant) in one.taught.items()}
    return replace(one, taught=taught, dev=one.dev[:count], test=one.test[:count])


def show(records: dict[Cell, dict], split: str = "test") -> None:
    """The mean over domains, for every row its seeds."""
    for row in ROWS:
        mine = [record for record in records.values() if record["row"] == row]
        for way in ("matcher", "reader", "unlabeled"):
            by_seed: dict[int, list[float]] = {}
            for record in mine:
                if way in record[split]:
                    by_seed.setdefault(record["seed"], []).append(record[split][way])
            means = [mean(scores) for scores in by_seed.values() if len(scores) == len(DOMAINS)]
            if means:
                print(f"{row:10} {way:9} {mean(means):5.1f}  ({', '.join(f'{each:.1f}' for each in means)})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--domains", nargs="+", default=list(DOMAINS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--encoder", default=MINILM)
    parser.add_argument("--fewshot", type=Path, help="folder with the published few-label splits, DOMAIN.N.txt")
    parser.add_argument(
        "--known", type=Path, help="file that keeps what is read of the domains: reading takes a minute"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which nothing new is stored")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench-matching.jsonl")
    parser.add_argument("--dev", action="store_true", help="score dev alone, and store nothing")
    parser.add_argument("--updates", type=int, help="of every training at the most, to see that all goes through")
    parser.add_argument("--show", action="store_true", help="only print what the file has")
    options = parser.parse_args()
    if options.show:
        show(read_records(options.out))
        return
    if any(ROWS[row].few for row in options.rows) and not (options.fewshot or options.known):
        raise SystemExit("rows with few labels need --fewshot FOLDER, or a file that --known names")
    if options.updates is not None:
        if not options.dev:
            raise SystemExit("--updates goes with --dev: a training that was cut short is no result")
        ROWS.update({name: cut_short(row, options.updates) for name, row in ROWS.items()})
    device = ("cuda" if torch.cuda.is_available() else "cpu") if options.device == "auto" else options.device
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    until = time.time() + options.seconds
    known = {cell for cell, record in read_records(options.out).items() if record["settings"] == _settings(cell[0])}
    left = [cell for cell in cells(options.rows, options.seeds, options.domains) if cell not in known]
    if left:
        _ASKED.update(read_domains(options.domains, options.fewshot, options.known))
        if missing := {ROWS[row].share for row, _, _ in left} - set(_ASKED[options.domains[0]].taught):
            raise SystemExit(f"{options.known} was made without the lists of {', '.join(sorted(missing))} labels")
        if options.updates is not None:
            _ASKED.update({name: first_of(one, FIRST) for name, one in _ASKED.items()})
        open_matcher(options.encoder)  # what it imports is there in all processes
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found = read_records(options.out)
    for records in _done(left, options, device, until):
        found |= {(record["row"], record["seed"], record["domain"]): record for record in records}
        if not options.dev:
            with options.out.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(record) + "\n" for record in records)
    show(found, "dev" if options.dev else "test")


def _done(left: Sequence[Cell], options: argparse.Namespace, device: str, until: float) -> Iterator[list[dict]]:
    """The records of the cells as they get finished, told on the screen."""
    context, started = multiprocessing.get_context("fork"), time.time()
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        waiting = {pool.submit(_work, cell, options.encoder, device, until, not options.dev): cell for cell in left}
        for count, done in enumerate(as_completed(waiting), 1):
            told = "" if done.result() else ": no time left"
            print(f"{count} of {len(left)}, {time.time() - started:.0f} s: {waiting[done]}{told}", flush=True)
            yield done.result()


def _settings(row: str) -> dict:
    """What a row is made with; questions without forms are told of where there are any."""
    return {name: value for name, value in asdict(ROWS[row]).items() if name != "unlabeled" or value}


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(str(error)) from None
