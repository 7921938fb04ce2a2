"""Scores of a finished run on dev or test: predictions and metrics written into its folder."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import torch

from dualparse.choosing.chooser import PROPOSED, Proposed
from dualparse.choosing.ranking import Hypothesis, Scorer, Weighted, rerank
from dualparse.choosing.scorers import WayBack
from dualparse.choosing.search import find
from dualparse.config import LEARNED_FROM_DEV
from dualparse.data.batch import Direction, sides
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.engines.engine import told
from dualparse.engines.found import Options
from dualparse.errors import InputError
from dualparse.evaluate import bleu, judge, pick, summarize
from dualparse.matching.index import Index
from dualparse.networks.agent import Agent
from dualparse.runs import Run, search_options
from dualparse.training.material import load_splits

DIRECTIONS: tuple[Direction, ...] = ("q2lf", "lf2q")

Scores = dict[str, Any]
Record = dict[str, Any]


def score_run(
    run: Run,
    *,
    split: str,
    beams: int | None = None,
    before: bool = False,
    device: torch.device,
    domain: Domain | None = None,
) -> dict[str, dict[str, Any]]:
    """Score every agent the run has, or had `before` a later stage went on with it; returns the scores by agent. Under
    "both" are those of the forms both agents choose, where the recipe says so (`search.reconstruction`); under
    "matcher" of those nearest to the query, where there is a matcher; under "reader" of the same, read once more by the
    second reader; under "combined" of those that all choose together, where they have a say (`search.matcher`)."""
    recipe = run.recipe
    if split == "dev" and recipe.data.everything:
        raise InputError(LEARNED_FROM_DEV, path=run.folder)
    domain = domain or run.domain()
    examples = getattr(load_splits(domain, recipe.data), split)
    if not examples:
        raise InputError(f"the domain {domain.name!r} has no {split} examples")
    options = search_options(recipe, beams=beams)
    name = f"{split}.before" if before else split
    scores: dict[str, dict[str, Any]] = {}
    names = {direction: f"pretrained-{direction}" if before else direction for direction in DIRECTIONS}
    there = {direction for direction, weights in names.items() if run.weights(weights).exists()}
    lf2q = run.agent("lf2q", domain, device, weights=names["lf2q"]) if "lf2q" in there else None

    def keep(who: str, told: Scores, records: list[Record]) -> None:
        scores[who] = told
        run.save_predictions(name if who == "q2lf" else f"{name}.{who}", records)

    asked = [lf2q.model] if lf2q else []
    queries = [example.query or () for example in examples]
    if "q2lf" in there:
        search = run.search(domain, device, weights=names["q2lf"], beams=beams)
        asked += [parser.model for parser in search.agents]
        started = time.perf_counter()
        found = search.choose(queries)
        parsers = {"parsers": len(search.agents)} if len(search.agents) > 1 else {}
        how: Scores = {"beams": options.beams, **parsers}
        seconds = {"search_seconds": round(time.perf_counter() - started, 3)}
        keep("q2lf", *score_forms(found, examples, domain, how | seconds))
        scorers = run.scorers(domain, device, weights=names["lf2q"]) if lf2q else []
        if scorers:
            how |= {each.name: each.weight for each in scorers}
            heard = sum(len(each.scorer.listeners) for each in scorers if isinstance(each.scorer, WayBack))
            how |= {"listeners": heard} if heard > 1 else {}
            keep("both", *score_forms(rerank(queries, found, scorers), examples, domain, how))
    if "matcher" in recipe.stages and run.weights("matcher").exists() and ("q2lf" in there or not before):
        index = run.index(domain, device)
        near, size = nearest(index, queries), {"utterances": len(index)}
        keep("matcher", *score_forms(near, examples, domain, size))
        reads = "reader" in recipe.stages
        compared = run.comparers(index) if not reads or run.weights("reader").exists() else []
        for each in (each for each in compared if each.name == "reader"):
            keep("reader", *score_forms(read_again(queries, near, each.scorer), examples, domain, size))
        if recipe.search.matcher and compared and "q2lf" in there:
            wider = Proposed(search, index).beside(queries, found)
            together = [*scorers, *compared]
            how |= {each.name: each.weight for each in together}
            keep("combined", *score_forms(rerank(queries, wider, together), examples, domain, how))
    if lf2q:
        keep("lf2q", *score_queries(lf2q, examples, options))
    if not scores:
        missing = "no pre-trained agent besides its final ones" if before else "no finished agent yet"
        raise InputError(f"this run has {missing}", path=run.folder)
    run.save_metrics(run.metrics() | {name: scores, "engine": told(*asked)})
    return scores


def nearest(index: Index, queries: Sequence[Sequence[str]]) -> list[list[Hypothesis]]:
    """The forms whose utterances are nearest to each query."""
    near = index.propose(queries, PROPOSED)
    return [[Hypothesis(tuple(form.split()), score, score, True) for form, score in each] for each in near]


def read_again(
    queries: Sequence[Sequence[str]], near: Sequence[Sequence[Hypothesis]], second: Scorer
) -> list[list[Hypothesis]]:
    """The same in the order of matcher and second reader together."""
    return rerank(queries, near, [Weighted("reader", second, 1.0)])


def score_forms(
    found: Sequence[Sequence[Hypothesis]], examples: Sequence[Example], domain: Domain, note: Scores
) -> tuple[Scores, list[Record]]:
    """Scores of n-best forms and one record per example. The prediction is the first valid form, else the first."""
    judged = [
        judge(domain, " ".join(e.query or ()), " ".join(e.lf or ()), pick(domain, [h.text for h in hypotheses]))
        for e, hypotheses in zip(examples, found, strict=True)
    ]
    records = [
        item.as_json() | {"hypotheses": [[h.text, round(h.score, 4)] for h in hypotheses]}
        for item, hypotheses in zip(judged, found, strict=True)
    ]
    return summarize(judged, domain=domain) | note, records


def score_queries(agent: Agent, examples: Sequence[Example], search: Options) -> tuple[Scores, list[Record]]:
    """BLEU of lf2q and one record per example."""
    sources = [sides(example, agent.direction)[0] or () for example in examples]
    found = find(agent, sources, search, rng=random.Random("phrases"))
    predicted = [hypotheses[0].text if hypotheses else "" for hypotheses in found]
    gold = [" ".join(example.query or ()) for example in examples]
    records = [
        {"lf": " ".join(source), "gold": expected, "predicted": text}
        for source, expected, text in zip(sources, gold, predicted, strict=True)
    ]
    return {"metric": "bleu", "bleu": bleu(predicted, gold), "examples": len(gold), "beams": search.beams}, records
