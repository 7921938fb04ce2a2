"""Stored results -> outcomes with the paper's names for methods; the median over seeds, with their number and spread.

A result is what `dualparse sweep` stored of a cell. Where several settings of a method were tested, the ones that are
best on dev count, the same for all domains of a dataset: the report never chooses by test scores. What sets two methods
apart is seen in runs that were trained alike (`alike`).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from dualparse.config import NETWORKS, GameSettings
from dualparse.errors import InputError
from dualparse.lab.report.paper import DATASETS, LM, METHODS
from dualparse.lab.store import Store
from dualparse.lab.trained import trained
from dualparse.training.essence import READERS, read_in_answers

MISSING = "-"
BOTH = "both agents choose"
PRIOR = "common forms first"  # of several that both agents would choose
ALL = "both agents and the matcher choose"
DEV_TOO = "dev pairs too"  # a refit
TOGETHER = "parsers together"  # a committee, the number before it
OTHER_NETWORKS = tuple(name.capitalize() for name in NETWORKS if name != "lstm")  # than the paper's
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """One tested run. `settings` is all of its recipe but domain and seed; `correct` has a 0 or 1 per test example and
    is empty, and `mistakes` on test by kind is None, in results of older versions."""

    method: str
    domain: str
    labeled: float
    unlabeled: float
    seed: int
    settings: str
    dev: float
    test: float
    examples: int
    correct: str
    mistakes: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True)
class Scores:
    """Test accuracies of one method on one domain, a seed each."""

    values: tuple[float, ...] = ()

    def __str__(self) -> str:
        if not self.values:
            return MISSING
        if len(self.values) == 1:
            return f"{self.median:.1f}"
        return f"{self.median:.1f} ({min(self.values):.1f}-{max(self.values):.1f}, {len(self.values)} seeds)"

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results below a folder that have a test score."""
    if not folder.is_dir():
        raise InputError("no such folder of results", path=folder)
    return [item.result for item in Store(folder).read() if "q2lf" in item.result.get("test", {})]


def method(recipe: Result, *more: str) -> str:
    """The paper's name for what a recipe does; what the paper does not do stands behind it in parentheses.

    >>> method({"model": {"copy_mechanism": True}, "stages": ["q2lf"], "data": {"canonical": 9}}, "both agents choose")
    'AttPtr (pairs from the grammar, both agents choose)'
    """
    data, stages = recipe["data"], recipe["stages"]
    name = "AttPtr" if recipe["model"]["copy_mechanism"] else "Att"
    torn = data.get("labeled", 1.0) != 1.0
    forms = (torn and data.get("forms", True)) or data.get("synthesized") or data.get("recombined")
    used = [mark for mark, on in (("LF", forms), ("Q", torn and data.get("queries", True))) if on]
    if "dual" in stages:
        name = "+".join([name, "Dual", *used])
    elif "pseudo" in stages:
        name = f"{name}+Pseudo({'+'.join(used)})"
    notes = ", ".join([*_not_in_the_paper(recipe, torn), *_validity(recipe), *more])
    return name + (f" ({notes})" if notes else "")


def _list_of(data: Result) -> str:
    """The file that names the pairs with a label; empty where a share of them has one."""
    labeled = data.get("labeled", 1.0)
    return labeled if isinstance(labeled, str) else ""


def _not_in_the_paper(recipe: Result, torn: bool) -> list[str]:
    data, stages = recipe["data"], recipe["stages"]
    game = GameSettings(rewards=_rewards(recipe))
    played = "dual" in stages
    teachers = recipe.get("pseudo", {}).get("teachers", 1)
    notes = {
        **{network.capitalize(): True for network in _networks(recipe)},
        "all domains together": bool(data.get("family")),
        f"labels of {Path(_list_of(data)).name}": _list_of(data),
        "pairs from the grammar": data.get("canonical", 0) > 0,
        "pairs by analogy": data.get("analogies", 0) > 0,
        f"{recipe.get('committee')} {TOGETHER}": recipe.get("committee", 1) > 1,
        DEV_TOO: bool(recipe.get("refit")),
        "synthesised forms too": torn and data.get("synthesized") and (played or "pseudo" in stages),
        "recombined forms": bool(data.get("recombined")) and (played or "pseudo" in stages),
        "after pseudo-labels": played and "pseudo" in stages,
        f"{teachers} teachers": "pseudo" in stages and teachers > 1,
        "rewarded for what is meant": played and game.uses("meaning"),
        "no loop from queries": played and not game.plays("query"),
        "no loop from forms": played and not game.plays("form"),
    }
    return [note for note, on in notes.items() if on]


def _networks(recipe: Result) -> list[str]:
    """The kinds of network that its agents are, unless these are the paper's."""
    model = recipe["model"]
    kinds = {model.get("networks", {}).get(agent, model.get("network", "lstm")) for agent in ("q2lf", "lf2q")}
    return sorted(kinds - {"lstm"})


def _validity(recipe: Result) -> list[str]:
    """Who judges forms, unless it is the check alone."""
    names = {entry["name"] for entry in _rewards(recipe)}
    if "dual" not in recipe["stages"] or "form_lm" not in names:
        return []
    return ["LM and check validity" if "validity" in names else LM]


_JUDGES = ("validity", "form_lm")  # of forms
_BY_DEFAULT = GameSettings().model_dump(mode="json")["rewards"]


def _rewards(recipe: Result) -> list[dict[str, Any]]:
    """The rewards that count."""
    return [entry for entry in recipe.get("game", {}).get("rewards", _BY_DEFAULT) if entry["weight"]]


def outcomes_of(results: Iterable[Result]) -> list[Outcome]:
    """The outcomes that count."""
    return chosen(all_outcomes(results))


def all_outcomes(results: Iterable[Result]) -> list[Outcome]:
    """All outcomes; of two with the same settings and seed the first."""
    found: dict[tuple[Any, ...], Outcome] = {}
    for outcome in (outcome for result in results for outcome in _outcomes(result)):
        found.setdefault((outcome.method, outcome.domain, outcome.settings, outcome.seed), outcome)
    return list(found.values())


def chosen(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Per method, dataset and amount of data the outcomes with the settings that were tested on most domains, then
    those best on dev. Domains these lack are filled in from the next best."""
    methods: dict[tuple[Any, ...], dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        key = (outcome.method, _DATASET.get(outcome.domain, outcome.domain), outcome.labeled, outcome.unlabeled)
        methods.setdefault(key, {}).setdefault(outcome.settings, []).append(outcome)
    return [outcome for settings in methods.values() for outcome in _best(settings.values())]


_DATASET = {domain: dataset for dataset, domains in DATASETS.items() for domain in domains}


def _best(settings: Iterable[Sequence[Outcome]]) -> list[Outcome]:
    best: dict[str, list[Outcome]] = {}
    for runs in sorted(settings, key=lambda runs: (len({run.domain for run in runs}), mean_dev(runs)), reverse=True):
        for domain in sorted({run.domain for run in runs} - set(best)):
            best[domain] = sorted((run for run in runs if run.domain == domain), key=lambda run: run.seed)
    return [run for runs in best.values() for run in runs]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a method with an amount of data."""

    method: str
    labeled: float = 1.0
    unlabeled: float = 1.0

    def of(self, outcomes: Iterable[Outcome], domain: str) -> list[Outcome]:
        return select(outcomes, self.method, domain, labeled=self.labeled, unlabeled=self.unlabeled)


def alike(outcomes: Sequence[Outcome], sides: Sequence[Side], domains: Sequence[str]) -> list[Outcome]:
    """Runs of several methods that were trained alike: with the same seeds, and the same settings as far as all of the
    methods have them. Of several such groups the one that is best on dev; only those count that have every method on
    every domain."""
    wanted = [run for side in sides for domain in domains for run in side.of(outcomes, domain)]
    settings = [json.loads(run.settings) for run in wanted]
    stages = set.intersection(*(set(each["stages"]) for each in settings)) if settings else set()
    groups: dict[str, list[Outcome]] = {}
    for run, each in zip(wanted, settings, strict=True):
        groups.setdefault(_conditions(each, stages), []).append(run)
    best = [_same_seeds(chosen(group), sides, domains) for group in groups.values()]
    return max(filter(None, best), key=mean_dev, default=[])


def _conditions(settings: Mapping[str, Any], stages: set[str]) -> str:
    """What methods that have these stages in common share: all settings but those that make them different methods."""
    kept = {
        group: {name: value for name, value in values.items() if f"{group}.{name}" not in _OF_METHODS}
        for group, values in settings.items()
        if isinstance(values, Mapping) and (group not in READERS or READERS[group] & stages)
    }
    if "dual" in stages:
        kept["game"]["rewards"] = [entry for entry in _rewards(settings) if entry["name"] not in _JUDGES]
    return json.dumps([kept, settings.get("refit", False), settings.get("committee", 1)], sort_keys=True)


_OF_METHODS = {
    *(f"data.{name}" for name in ("queries", "forms", "synthesized", "unlabeled")),
    "game.rewards",  # but for what does not judge forms, see below
    "model.copy_mechanism",
    *(f"search.{name}" for name in ("reconstruction", "prior", "matcher")),  # not read where q2lf answers alone
}


def _same_seeds(runs: Sequence[Outcome], sides: Sequence[Side], domains: Sequence[str]) -> list[Outcome]:
    """The runs whose seed all sides have, domain by domain; empty where a domain has none."""
    kept: list[Outcome] = []
    for domain in domains:
        here = [side.of(runs, domain) for side in sides]
        seeds = set.intersection(*({run.seed for run in of_side} for of_side in here))
        if not seeds:
            return []
        kept += [run for of_side in here for run in of_side if run.seed in seeds]
    return kept


def _outcomes(result: Result) -> list[Outcome]:
    """What q2lf reaches by itself, and what both agents reach together where that was scored."""
    recipe = dict(result["recipe"])
    with suppress(InputError):  # settings that no version has: what we need of them is there all the same
        recipe = trained(result).essence
    counts = result.get("mistakes", {}).get("test")
    both = (BOTH, *([PRIOR] if recipe.get("search", {}).get("prior") else []))
    others = {key: value for key, value in recipe.items() if key not in ("domain", "seed", "start_from")}
    return [
        Outcome(
            method(recipe, *notes),
            recipe["domain"].removeprefix("overnight/"),
            0.0 if _list_of(recipe["data"]) else recipe["data"].get("labeled", 1.0),
            recipe["data"].get("unlabeled", 1.0),
            recipe["seed"],
            json.dumps(others, sort_keys=True),
            result.get("dev", {}).get(who, {}).get("accuracy", 0.0),
            result["test"][who]["accuracy"],
            result["test"][who].get("examples", 0),
            result.get("correct", {}).get("test", "") if who == "q2lf" else "",
            tuple(counts.items()) if who == "q2lf" and counts is not None else None,
        )
        for who, notes in (("q2lf", ()), ("both", both), ("combined", (ALL,)))
        if who in result["test"]
    ]


def mean_dev(runs: Iterable[Outcome]) -> float:
    """The mean over seeds, then over methods and domains."""
    scores: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        scores.setdefault((run.method, run.domain), []).append(run.dev)
    return statistics.mean(map(statistics.mean, scores.values()))


def select(
    outcomes: Iterable[Outcome], method: str, domain: str, *, labeled: float = 1.0, unlabeled: float = 1.0
) -> list[Outcome]:
    """The runs of one method on one domain, a seed each."""
    wanted = (method, domain, labeled, unlabeled)
    return [o for o in outcomes if (o.method, o.domain, o.labeled, o.unlabeled) == wanted]


def scores(outcomes: Iterable[Outcome], method: str, domain: str, **amounts: float) -> Scores:
    """Their test accuracies."""
    return Scores(tuple(outcome.test for outcome in select(outcomes, method, domain, **amounts)))


def average(cells: Sequence[Scores]) -> float | None:
    """The mean of the medians over all domains, None where one is missing.

    >>> average([Scores((80.0, 90.0, 100.0)), Scores((70.0,))]), average([Scores((80.0,)), Scores()])
    (80.0, None)
    """
    if not all(cell.values for cell in cells):
        return None
    return statistics.mean(cell.median for cell in cells)


@dataclass(frozen=True)
class Addition:
    """What a run can have on top of another one that is the same in all else: the note in its method's name, the
    setting that says so, and its value in the other. How both agents choose is tried on dev for each by itself, so that
    may differ; and the seed, unless it is to be the same."""

    note: str
    setting: str
    without: object
    same_seed: bool = True

    def undone(self, outcomes: Iterable[Outcome], runs: Iterable[Outcome]) -> list[Outcome]:
        """The outcomes that differ from these runs in nothing but this, those best on dev."""
        wanted = {self._key(run) for run in runs}
        return chosen(run for run in outcomes if self.note not in run.method and self._key(run) in wanted)

    def _key(self, run: Outcome) -> tuple[Any, ...]:
        settings = json.loads(run.settings)
        free = read_in_answers(settings["stages"])
        search = {name: value for name, value in settings.get("search", {}).items() if name not in free}
        told = json.dumps(settings | {self.setting: self.without, "search": search}, sort_keys=True)
        name, _, notes = run.method.partition(" (")
        others = [note for note in notes.removesuffix(")").split(", ") if note and self.note not in note]
        return run.domain, run.seed if self.same_seed else None, name, *others, told


REFIT = Addition(DEV_TOO, "refit", False)
COMMITTEE = Addition(TOGETHER, "committee", 1, same_seed=False)


def best_of_ours(
    outcomes: Sequence[Outcome], domains: Sequence[str], *, base: str, labeled: float = 1.0, having: str = ""
) -> str | None:
    """The method that is best on dev among those that add something to this one of the paper's, with this note among
    the rest, and were run on all domains. Refits are there only if asked for: dev does not know them from what they go
    back to."""
    names = sorted({o.method for o in outcomes if (o.labeled, o.unlabeled) == (labeled, 1.0)} - METHODS)
    names = [name for name in names if name.partition(" (")[0] == base and having in name]
    names = [name for name in names if DEV_TOO not in name or having == DEV_TOO]
    runs = {name: [select(outcomes, name, domain, labeled=labeled) for domain in domains] for name in names}
    dev = {name: mean_dev(chain.from_iterable(seeds)) for name, seeds in runs.items() if all(seeds)}
    return max(dev, key=lambda name: dev[name]) if dev else None
