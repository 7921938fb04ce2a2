"""How a run chooses best, tried on dev: every question is searched once, its forms are ranked many times.

In: a finished run. Out: its accuracy on dev for every number of beams and all weights. Nothing is trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product

import numpy as np
import torch

from dualparse.choosing.chooser import Proposed
from dualparse.choosing.ranking import NBest, Queries, Scorer, Weighted
from dualparse.config import Recipe
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.evaluate import judge
from dualparse.runs import REFIT, Run, search_options
from dualparse.training.essence import read_in_answers
from dualparse.training.material import load_splits

RECONSTRUCTIONS = (0.3, 0.5, 0.7, 1.0, 1.5)
PRIORS = (0.0, 0.1, 0.2, 0.3, 0.5)
MATCHERS = (0.0, 0.3, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True, order=True)
class Way:
    """A way to choose among the forms found. With a weight of `matcher` these are also what the matcher proposes; q2lf
    chooses alone where all weights are 0."""

    beams: int
    reconstruction: float = 0.0
    prior: float = 0.0
    matcher: float = 0.0

    @property
    def weights(self) -> tuple[float, float, float]:
        return self.reconstruction, self.prior, self.matcher

    @classmethod
    def of(cls, recipe: Recipe) -> Way:
        """How a recipe chooses."""
        search = recipe.search
        return cls(search.beams, search.reconstruction, search.prior, search.matcher)


def check(run: Run, parsers: int | None = None) -> None:
    """Whether a run can be weighed, as far as can be told without its weights; else an `InputError` says why not."""
    recipe = run.recipe
    if recipe.data.everything:
        raise InputError("this run has learned from the dev pairs: weigh the one it follows", path=run.folder)
    if parsers and parsers > recipe.committee:
        raise InputError(f"{parsers} parsers were asked for, this run has {recipe.committee}", path=run.folder)


def check_beams(run: Run, beams: Iterable[int]) -> None:
    """Whether a run may answer with so many beams from now on; else an `InputError` says why not."""
    recipe = run.recipe
    own = recipe.search.beams
    if "beams" not in read_in_answers(recipe.stages) and {own, *beams} != {own}:
        raise InputError(
            f"its pseudo-labels were found with {own} beams, so others cannot be kept: leave out --beams or --keep",
            path=run.folder,
        )


def try_ways(
    run: Run,
    *,
    device: torch.device,
    parsers: int | None = None,
    beams: Sequence[int] = (),
    reconstructions: Sequence[float] = RECONSTRUCTIONS,
    priors: Sequence[float] = PRIORS,
    matchers: Sequence[float] = MATCHERS,
) -> dict[Way, float]:
    """Accuracy on dev of every way to choose, in per cent, that of the run's recipe among them; of a committee's first
    `parsers` and their lf2q, or of all. Beam widths are the recipe's and `beams`. A prior is tried where the run has an
    lf_lm, a matcher where it has trained one, and a second reader with it."""
    check(run, parsers)
    recipe = run.recipe
    domain = run.domain()
    dev = load_splits(domain, recipe.data).dev
    queries = [example.query or () for example in dev]
    search = run.search(domain, device, count=parsers)
    back = run.way_back(domain, device, count=parsers)
    usual = run.commonness(device, count=parsers) if "lf_lm" in recipe.stages else None
    index = run.index(domain, device) if "matcher" in recipe.stages else None
    compare = _sum(run.comparers(index)) if index else None
    scorers = [back, usual, compare]
    tried = set(_ways(reconstructions, priors if usual else (0.0,), matchers if index else (0.0,)))
    own = Way.of(recipe)
    scores: dict[Way, float] = {}
    for width in sorted({own.beams, *beams}):
        wide = replace(search, options=search_options(recipe, beams=width))
        found = wide.choose(queries)
        ways = {Way(width, *weights) for weights in tried} | ({own} if width == own.beams else set())
        asked = sorted(way for way in ways if way.matcher)
        forms = Proposed(wide, index).beside(queries, found) if index and asked else found
        figures = [_figures(scorer, queries, forms) for scorer in scorers]
        scores |= _scores(asked, forms, figures, dev, domain)
        alone = [[each[: len(some)] for each, some in zip(told, found, strict=True)] for told in figures]
        scores |= _scores(sorted(ways - set(asked)), found, alone, dev, domain)
    return scores


def _ways(
    reconstructions: Sequence[float], priors: Sequence[float], matchers: Sequence[float]
) -> Iterator[tuple[float, ...]]:
    """Weights to be tried; a prior counts where both agents choose."""
    yield from product(reconstructions, priors, matchers)
    yield from product((0.0,), (0.0,), {0.0, *matchers})


def _sum(some: Sequence[Weighted]) -> Scorer:
    """Scorers that count alike as one."""

    def scorer(queries: Queries, found: NBest) -> list[np.ndarray]:
        told = [each.scorer(queries, found) for each in some]
        return [np.sum(figures, axis=0) for figures in zip(*told, strict=True)]

    return scorer


def _figures(scorer: Scorer | None, queries: Queries, forms: NBest) -> Sequence[np.ndarray]:
    return scorer(queries, forms) if scorer else [np.zeros(len(each)) for each in forms]


def _scores(
    ways: Sequence[Way],
    found: NBest,
    figures: Sequence[Sequence[np.ndarray]],
    dev: Sequence[Example],
    domain: Domain,
) -> dict[Way, float]:
    """Chosen is the best valid form, or the best one where none is valid. `figures` are what the scorers say."""
    weights = np.array([way.weights for way in ways]).reshape(-1, 3)
    hits = np.zeros((len(dev), len(ways)), dtype=bool)
    for row, (forms, *told, example) in enumerate(zip(found, *figures, dev, strict=True)):
        if not forms:
            continue
        gold = " ".join(example.lf or ())
        judged = [judge(domain, "", gold, form.text) for form in forms]
        valid = np.array([each.verdict.ok for each in judged])
        ranks = np.array([form.log_prob for form in forms]) + weights @ np.stack(told)
        ranks[~weights.any(axis=1)] = -np.arange(len(forms))  # q2lf has found them in its order
        ranks[:, ~valid & valid.any()] = -np.inf
        hits[row] = np.array([each.correct for each in judged])[ranks.argmax(1)]
    return dict(zip(ways, (100 * hits.mean(axis=0)).tolist(), strict=True))


def mean_scores(runs: Sequence[Mapping[Way, float]]) -> dict[Way, float]:
    """The mean over several runs, of the ways that all of them have."""
    ways = sorted(set.intersection(*(set(scores) for scores in runs)))
    return {way: float(np.mean([scores[way] for scores in runs])) for way in ways}


def best_way(scores: Mapping[Way, float]) -> Way:
    """The best one; of equals, but for what rounding does to them, that with the fewest beams, then the smallest
    weights."""
    return max(sorted(scores), key=lambda way: round(scores[way], 6))


def choose_so(run: Run, way: Way) -> bool:
    """From now on the run chooses in this way, and its refit, if there is one; says whether that is a change. What was
    scored before is forgotten then."""
    recipe = run.recipe
    if Way.of(recipe) == way:
        return False
    check_beams(run, [way.beams])
    again = Run(run.folder / REFIT)
    for each in (run, again) if (again.folder / "config.toml").exists() else (run,):
        before = each.recipe
        changed = asdict(way)
        each.forget_scores()
        each.save_recipe(before.model_copy(update={"search": before.search.model_copy(update=changed)}))
    return True
