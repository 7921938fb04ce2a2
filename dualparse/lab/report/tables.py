"""Tables laid out like the paper's, its number beside ours: outcomes in, Markdown and CSV out.

Tables 2 and 4: methods down, domains across. Table 3: ATIS. Table 5: what judges forms in the game. What has not been
run is shown as missing. The CSV files have the spread over seeds of every cell as well.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from statistics import mean

from dualparse.lab.mistakes import Kind
from dualparse.lab.report.paper import DATASETS, DOMAINS, LM_VALIDITY, METHODS, PAPER, paper_score, paper_scores
from dualparse.lab.report.results import (
    COMMITTEE,
    DEV_TOO,
    MISSING,
    OTHER_NETWORKS,
    REFIT,
    Addition,
    Outcome,
    Scores,
    Side,
    alike,
    average,
    best_of_ours,
    chosen,
    mean_dev,
    scores,
    select,
)

SHORT = [f"{domain[:3].title()}." for domain in DOMAINS]  # as the paper heads its columns


@dataclass(frozen=True)
class Table:
    """A table as people read it, and with all its numbers for a program."""

    name: str
    title: str
    header: list[str]
    rows: list[list[str]]
    records: list[dict[str, object]]
    note: str = ""

    def markdown(self) -> str:
        lines = ["| " + " | ".join(self.header) + " |", "|---|" + "---:|" * (len(self.header) - 1)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records)
        return text.getvalue()


def main_table(outcomes: Sequence[Outcome], *, labeled: float = 1.0) -> Table:
    """Both datasets in one, with all labels or with half of them: what a newcomer wants to see first."""
    rows, records = [], []
    for name in _MAIN[labeled]:
        row = [name]
        record: dict[str, object] = {"method": name}
        for dataset, domains in DATASETS.items():
            paper = paper_score(dataset, name, labeled)
            cells = [scores(outcomes, name, domain, labeled=labeled) for domain in domains]
            row += [_number(paper), str(cells[0]) if dataset == "ATIS" else _average(cells)]
            record |= {f"{dataset} paper": paper, f"{dataset} dualparse": average(cells)}
        rows.append(row)
        records.append(record)
    header = ["method", "ATIS, paper", "ATIS, dualparse", "OVERNIGHT, paper", "OVERNIGHT, dualparse"]
    title = f"{_SHARES[labeled]}: test exact match on ATIS, mean denotation accuracy on OVERNIGHT"
    return Table("main", title, header, rows, records)


def overview_table(outcomes: Sequence[Outcome]) -> Table:
    """What a newcomer wants to see first, on one screen: the paper's parsers without and with the game, what is best on
    dev of all we added, and the best published elsewhere."""
    rows: list[list[str]] = []
    records: list[dict[str, object]] = []
    datasets = list(DATASETS.items())

    def add(labeled: float, name: str, published: Sequence[float | None], ours: Sequence[list[Scores]]) -> None:
        shown = [str(cells[0]) if len(cells) == 1 else _average(cells) for cells in ours]
        (atis, overnight), (ours_atis, ours_overnight) = map(_number, published), shown
        rows.append([f"{labeled:.0%}", name, atis, ours_atis, overnight, ours_overnight])
        records.append({"labels": labeled, "method": name, **dict(zip(DATASETS, map(average, ours), strict=True))})

    for labeled, names in _OVERVIEW.items():
        ours = [
            best_of_ours(outcomes, domains, base=base, labeled=labeled)
            for base in _MAIN[labeled]
            for _, domains in datasets
        ]
        best = [_best_on_dev(outcomes, filter(None, ours), domains, labeled) for _, domains in datasets]
        for name in dict.fromkeys([*names, *filter(None, best)]):
            cells = [[scores(outcomes, name, domain, labeled=labeled) for domain in domains] for _, domains in datasets]
            add(labeled, name, [paper_score(dataset, name, labeled) for dataset in DATASETS], cells)
    for name, numbers in PAPER["published"].items():
        add(1.0, name, [number or None for number in numbers], [[Scores()], [Scores()]])
    header = ["labels", "method", "ATIS, published", "ATIS, dualparse", "OVERNIGHT, published", "OVERNIGHT, dualparse"]
    title = "Test exact match on ATIS, mean test denotation accuracy of OVERNIGHT's eight domains, %"
    return Table("overview", title, header, rows, records)


def _best_on_dev(
    outcomes: Sequence[Outcome], names: Iterable[str], domains: Sequence[str], labeled: float
) -> str | None:
    """Of several methods the one that is best on dev among those run on all domains."""
    found = {name: _runs(outcomes, name, domains, labeled) for name in names}
    whole = {name: mean_dev(chain.from_iterable(runs)) for name, runs in found.items() if all(runs)}
    return max(sorted(whole), key=lambda name: whole[name]) if whole else None


_OVERVIEW = {1.0: ["Att", "Att+Dual+LF", "AttPtr", "AttPtr+Dual+LF"], 0.5: ["AttPtr", "AttPtr+Dual+LF+Q"]}


def own_table(outcomes: Sequence[Outcome], *, labeled: float = 1.0) -> Table:
    """The same methods with what is best on dev of all we added to them, by dataset."""
    rows, records = [], []
    for base in _MAIN[labeled]:
        row, record = [base], dict[str, object](method=base)
        for dataset, domains in DATASETS.items():
            name = best_of_ours(outcomes, domains, base=base, labeled=labeled)
            cells = [scores(outcomes, name or "", domain, labeled=labeled) for domain in domains]
            added = name.removeprefix(f"{base} (").removesuffix(")") if name else MISSING
            row += [added, str(cells[0]) if dataset == "ATIS" else _average(cells)]
            record |= {f"{dataset} added": added, dataset: average(cells)}
        if any(cell != MISSING for cell in row[1:]):
            rows.append(row)
            records.append(record)
    header = ["method", "added for ATIS", "ATIS", "added for OVERNIGHT", "OVERNIGHT"]
    return Table(
        "own", f"{_SHARES[labeled]}: the same methods with our additions, those best on dev", header, rows, records
    )


def refit_table(outcomes: Sequence[Outcome]) -> Table:
    """What was trained once more with the dev pairs as well, beside the same without; `outcomes` are all there are."""
    title = "Trained once more with the dev pairs as well, as long as dev had found best (`refit`): test accuracy"
    note = (
        "The paper's parsers do not learn from dev. With half of the labels, half of the dev pairs have theirs. Dev "
        "was held out in other runs with the same settings, some of an earlier version."
    )
    return _with_and_without(outcomes, REFIT, ("dev held out", DEV_TOO), title, note)


def committee_table(outcomes: Sequence[Outcome]) -> Table:
    """Parsers that answer together, beside one of them; `outcomes` are all there are."""
    title = "Several parsers that answer together (`committee`), dev held out: test accuracy"
    note = (
        "Unless it says so, each domain is trained by itself. One parser: other runs with the same settings, the "
        "median where there are several seeds, some of an earlier version; how its two agents choose is what dev "
        "prefers for it."
    )
    return _with_and_without(outcomes, COMMITTEE, ("one parser", "together"), title, note)


def _with_and_without(
    outcomes: Sequence[Outcome], addition: Addition, columns: tuple[str, str], title: str, note: str
) -> Table:
    """Of every method of the paper's what is best on dev with the addition, beside the same without."""
    best = chosen(outcomes)
    rows, records = [], list[dict[str, object]]()
    for labeled, (dataset, domains) in product(_MAIN, DATASETS.items()):
        for base in _MAIN[labeled]:
            name = best_of_ours(best, domains, base=base, labeled=labeled, having=addition.note)
            if name is None:
                continue
            runs = [run for domain in domains for run in select(best, name, domain, labeled=labeled)]
            cells = [
                [Scores(tuple(run.test for run in side if run.domain == domain)) for domain in domains]
                for side in (addition.undone(outcomes, runs), runs)
            ]
            notes = name.removeprefix(f"{base} (").removesuffix(")").split(", ")
            added = ", ".join(each for each in notes if each != addition.note) or MISSING
            paper = paper_score(dataset, base, labeled)
            shown = [str(found[0]) if len(found) == 1 else _average(found) for found in cells]
            rows.append([base, dataset, f"{labeled:.0%}", added, _number(paper), *shown])
            records.append({"method": base, "dataset": dataset, "labeled": labeled, "added": added, "paper": paper})
            records[-1] |= dict(zip(columns, map(average, cells), strict=True))
    header = ["method", "data", "labels", "added", "paper", *columns]
    return Table(addition.setting, title, header, rows, records, note=note)


_SHARES = {1.0: "All labels", 0.5: "Half of the labels"}


_MAIN = {
    1.0: list(PAPER["table3"]),
    0.5: [base + more for base in ("Att", "AttPtr") for more in ("", "+Pseudo(LF+Q)", "+Dual+LF+Q")],
}


def network_table(outcomes: Sequence[Outcome]) -> Table:
    """Other networks in the place of the paper's LSTM, beside it, where nothing else was added."""
    kinds = [kind for kind in OTHER_NETWORKS if any(_network(o.method) == kind for o in outcomes)]
    keys = {(o.domain, o.labeled, o.method.partition(" (")[0]) for o in outcomes if _network(o.method)}
    places = {domain: place for place, domain in enumerate(chain.from_iterable(DATASETS.values()))}
    rows, records = [], list[dict[str, object]]()
    for domain, labeled, base in sorted(keys, key=lambda key: (places.get(key[0], len(places)), -key[1], key[2])):
        names = {"LSTM": base} | {kind: f"{base} ({kind})" for kind in kinds}
        cells = {kind: scores(outcomes, name, domain, labeled=labeled) for kind, name in names.items()}
        rows.append(["ATIS" if domain == "atis" else domain, f"{labeled:.0%}", base, *map(str, cells.values())])
        record: dict[str, object] = {"domain": domain, "labeled": labeled, "method": base}
        for kind, cell in cells.items():
            record |= _columns(kind, None, cell)
        records.append(record)
    title = "Other networks in the place of the paper's LSTM: test exact match on ATIS, denotation accuracy elsewhere"
    note = "The settings of the LSTM were chosen on dev; those of the Transformer are common ones that nobody tuned."
    return Table("networks", title, ["domain", "labels", "method", "LSTM", *kinds], rows, records, note=note)


def _network(method: str) -> str:
    """The network of a method that has another one than the paper's and nothing else of ours; "" for all others.

    >>> _network("AttPtr (Transformer)"), _network("AttPtr (Transformer, pairs by analogy)")
    ('Transformer', '')
    """
    base, _, notes = method.removesuffix(")").partition(" (")
    return notes if base in METHODS and notes in OTHER_NETWORKS else ""


def table2(outcomes: Sequence[Outcome]) -> Table:
    title = "Table 2. OVERNIGHT, all labels: test denotation accuracy"
    return _wide("table2", title, list(PAPER["table2"]), outcomes, labeled=1.0, datasets=["OVERNIGHT"])


def table3(outcomes: Sequence[Outcome]) -> Table:
    rows, records = [], []
    for name in PAPER["table3"]:
        paper, ours = paper_score("ATIS", name, 1.0), scores(outcomes, name, "atis")
        rows.append([name, _number(paper), str(ours)])
        records.append({"method": name} | _columns("ATIS", paper, ours))
    return Table(
        "table3", "Table 3. ATIS, all labels: test exact match", ["method", "paper", "dualparse"], rows, records
    )


def table4(outcomes: Sequence[Outcome]) -> Table:
    title = "Table 4. Half of the labels: test denotation accuracy on OVERNIGHT, exact match on ATIS"
    return _wide("table4", title, list(PAPER["table4"]), outcomes, labeled=0.5, datasets=["OVERNIGHT", "ATIS"])


def table5(outcomes: Sequence[Outcome]) -> Table:
    """`outcomes` are all there are: the game is the same whoever judges, not the best there is with each."""
    rows, records = [], []
    for base, paper in PAPER["table5"].items():
        sides = [Side(f"{base}+Dual+LF+Q{mark}", 0.5) for mark in (LM_VALIDITY, "")]
        played = {dataset: alike(outcomes, sides, domains) for dataset, domains in DATASETS.items()}
        for judge, name, side in zip(("lm", "check"), ("language model", "check"), sides, strict=True):
            cells = {
                dataset: [Scores(tuple(run.test for run in side.of(played[dataset], domain))) for domain in domains]
                for dataset, domains in DATASETS.items()
            }
            ours = {dataset: average(found) for dataset, found in cells.items()}
            known = dict(zip(DATASETS, paper[judge], strict=True))
            seeds = _seeds([cell for found in cells.values() for cell in found])
            method = f"{base}+Dual+LF+Q"
            rows.append([method, name, *(_both(ours[dataset], known[dataset]) for dataset in DATASETS), seeds])
            record = {"method": method, "validity": name} | _columns("ATIS", known["ATIS"], cells["ATIS"][0])
            records.append(record | {"OVERNIGHT paper": known["OVERNIGHT"], "OVERNIGHT": ours["OVERNIGHT"]})
    title = "Table 5. What judges forms in the game, half of the labels"
    note = f"{OURS_FIRST} The same seeds and the same game whoever judges; Table 4 has the best game."
    return Table("table5", title, ["method", "validity", *DATASETS, "seeds"], rows, records, note=note)


def beyond(outcomes: Sequence[Outcome]) -> list[Table]:
    """What was run that is in none of the paper's tables: on OVERNIGHT, then the rest. Empty tables are left out."""
    others = [o for o in outcomes if o.method not in METHODS and not _network(o.method)]
    keys = {(o.method, o.domain, o.labeled, o.unlabeled) for o in others}
    overnight = {key for key in keys if key[1] in DOMAINS}
    tables = [
        _beyond_overnight(outcomes, {(method, labeled, unlabeled) for method, _, labeled, unlabeled in overnight}),
        _beyond_rest(outcomes, keys - overnight),
    ]
    return [table for table in tables if table.rows]


def _beyond_overnight(outcomes: Sequence[Outcome], keys: set[tuple[str, float, float]]) -> Table:
    """Domains and their average across."""
    rows, records = [], []
    for method, labeled, unlabeled in sorted(keys, key=lambda key: (-key[1], key[0])):
        cells = [scores(outcomes, method, domain, labeled=labeled, unlabeled=unlabeled) for domain in DOMAINS]
        numbers = [_median(cell) for cell in cells]
        rows.append([method, f"{labeled:.0%}", *numbers, _number(average(cells)), _seeds(cells)])
        record: dict[str, object] = {"method": method, "labeled": labeled, "unlabeled": unlabeled}
        for domain, cell in zip(DOMAINS, cells, strict=True):
            record |= _columns(domain, None, cell)
        records.append(record | {"average": average(cells)})
    header = ["method", "labels", *SHORT, "Avg.", "seeds"]
    title = "In none of the paper's tables. OVERNIGHT: test denotation accuracy"
    return Table("beyond-overnight", title, header, rows, records)


def _beyond_rest(outcomes: Sequence[Outcome], keys: set[tuple[str, str, float, float]]) -> Table:
    """Shares of labels across, all other pairs used without theirs; the CSV file has smaller parts of them as well."""
    rows, records = [], []
    amounts = sorted({labeled for _, _, labeled, unlabeled in keys if unlabeled == 1.0}, reverse=True)
    for method, domain in sorted({key[:2] for key in keys if key[3] == 1.0}, key=lambda key: (key[1], key[0])):
        cells = [scores(outcomes, method, domain, labeled=labeled) for labeled in amounts]
        rows.append([method, domain, *map(_median, cells), _seeds(cells)])
    for method, domain, labeled, unlabeled in sorted(keys, key=lambda key: (key[1], -key[2], -key[3], key[0])):
        ours = scores(outcomes, method, domain, labeled=labeled, unlabeled=unlabeled)
        record: dict[str, object] = {"method": method, "domain": domain, "labeled": labeled, "unlabeled": unlabeled}
        records.append(record | _columns("test", None, ours))
    header = ["method", "domain", *(f"{labeled:.0%}" for labeled in amounts), "seeds"]
    title = "In none of the paper's tables. Other domains: test accuracy by share of labels"
    return Table("beyond", title, header, rows, records)


def mistakes(outcomes: Sequence[Outcome]) -> Table:
    """What is wrong with the wrong forms of the method that is best on dev, for every dataset, with all of the labels
    and with half; of results that tell."""
    kinds = [kind.value for kind in Kind if kind != Kind.OTHER_FORM]
    rows, records = [], []
    telling = [o for o in outcomes if o.mistakes is not None and o.unlabeled == 1.0 and DEV_TOO not in o.method]
    for labeled in (1.0, 0.5):
        for dataset, domains in DATASETS.items():
            found = {name: _runs(telling, name, domains, labeled) for name in {o.method for o in telling}}
            whole = {name: runs for name, runs in found.items() if all(runs)}
            if whole:
                name = max(sorted(whole), key=lambda name: mean_dev(chain.from_iterable(whole[name])))
                shares = [mean(mean(_share(o, kind) for o in runs) for runs in whole[name]) for kind in kinds]
                wrong = mean(100 - mean(o.test for o in runs) for runs in whole[name])
                rows.append([dataset, f"{labeled:.0%}", name, _number(wrong), *map(_number, shares)])
                record: dict[str, object] = {"dataset": dataset, "labeled": labeled, "method": name, "wrong": wrong}
                records.append(record | dict(zip(kinds, shares, strict=True)))
    title = "Of 100 test questions: how many come out wrong, and how (of runs whose mistakes were counted)"
    return Table("mistakes", title, ["dataset", "labels", "best on dev of these", "wrong", *kinds], rows, records)


def _runs(outcomes: Sequence[Outcome], method: str, domains: Sequence[str], labeled: float) -> list[list[Outcome]]:
    """The runs of a method, by domain."""
    return [select(outcomes, method, domain, labeled=labeled) for domain in domains]


def _share(outcome: Outcome, kind: str) -> float:
    return 100 * dict(outcome.mistakes or ()).get(kind, 0) / max(outcome.examples, 1)


OURS_FIRST = "Ours first, the paper's in parentheses."


def all_tables(outcomes: Sequence[Outcome]) -> Iterator[Table]:
    """The paper's Tables 2 to 5, then what is in none of them; `outcomes` are all there are."""
    best = chosen(outcomes)
    for make in (table2, table3, table4):
        yield make(best)
    yield table5(outcomes)
    more = (committee_table(outcomes), refit_table(outcomes), network_table(best), *beyond(best))
    yield from (table for table in more if table.rows)


def _wide(
    name: str, title: str, methods: list[str], outcomes: Sequence[Outcome], *, labeled: float, datasets: list[str]
) -> Table:
    """Methods down, domains and their average across."""
    rows, records = [], []
    for method in methods:
        row, known, record = [method], list[Scores](), dict[str, object](method=method)
        for dataset in datasets:
            cells = [scores(outcomes, method, domain, labeled=labeled) for domain in DATASETS[dataset]]
            paper = paper_scores(dataset, method, labeled)
            known += cells
            row += [_both(cell, number) for cell, number in zip(cells, paper, strict=True)]
            for domain, number, cell in zip(DATASETS[dataset], paper, cells, strict=True):
                record |= _columns(domain, number, cell)
            if len(cells) > 1:
                row.append(_both(average(cells), paper_score(dataset, method, labeled)))
                record |= {"average paper": paper_score(dataset, method, labeled), "average": average(cells)}
        rows.append([*row, _seeds(known)])
        records.append(record)
    columns = {"OVERNIGHT": [*SHORT, "Avg."], "ATIS": ["ATIS"]}
    header = ["method", *(column for dataset in datasets for column in columns[dataset]), "seeds"]
    return Table(name, title, header, rows, records, note=OURS_FIRST)


def _columns(name: str, paper: float | None, cell: Scores) -> dict[str, object]:
    """What the CSV file says about a cell."""
    values = cell.values
    ours = (cell.median, min(values), max(values)) if values else ("", "", "")
    keys = (name, f"{name} lowest", f"{name} highest")
    return {f"{name} paper": paper, **dict(zip(keys, ours, strict=True)), f"{name} seeds": len(values)}


def _both(ours: Scores | float | None, paper: float | None) -> str:
    if isinstance(ours, Scores):
        ours = ours.median if ours.values else None
    return f"{_number(ours)} ({_number(paper)})"


def _average(cells: list[Scores]) -> str:
    """The average with the number of seeds, where there are several."""
    value, seeds = average(cells), min(len(cell.values) for cell in cells)
    return _number(value) + (f" ({seeds} seeds)" if seeds > 1 else "")


def _median(cell: Scores) -> str:
    return _number(cell.median if cell.values else None)


def _seeds(cells: Sequence[Scores]) -> str:
    """How many seeds were run, from the fewest to the most of the cells that were."""
    seeds = {len(cell.values) for cell in cells if cell.values}
    return "-".join(map(str, sorted({min(seeds), max(seeds)}))) if seeds else MISSING


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"
