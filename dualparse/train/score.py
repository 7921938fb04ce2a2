"""Scores of a finished run on dev or test: predictions and metrics written into its folder."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

import torch

from dualparse.data.batch import Direction, sides
from dualparse.data.catalog import open_domain
from dualparse.data.examples import Example, load_examples
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.evaluate import bleu, judge, pick, summarize
from dualparse.models.agent import Agent
from dualparse.runs import Run, search_options
from dualparse.search import Options, find

DIRECTIONS: tuple[Direction, ...] = ("q2lf", "lf2q")


def score_run(
    run: Run, *, split: str, beams: int | None = None, before: bool = False, device: torch.device
) -> dict[str, dict[str, Any]]:
    """Score every agent the run has, or had `before` a later stage went on with it; returns the scores by agent."""
    recipe = run.recipe
    domain = open_domain(recipe.domain)
    examples = getattr(load_examples(domain, dev_seed=recipe.data.split_seed), split)
    if not examples:
        raise InputError(f"the domain {domain.name!r} has no {split} examples")
    search = search_options(recipe, beams=beams)
    name = f"{split}.before" if before else split
    scores: dict[str, dict[str, Any]] = {}
    for direction in DIRECTIONS:
        weights = f"pretrained-{direction}" if before else direction
        if not run.weights(weights).exists():
            continue
        agent = run.agent(direction, domain, device, weights=weights)
        if direction == "q2lf":
            scores[direction], predictions = score_forms(agent, examples, domain, search)
        else:
            scores[direction], predictions = score_queries(agent, examples, search)
        run.save_predictions(name if direction == "q2lf" else f"{name}.{direction}", predictions)
    if not scores:
        missing = "no pre-trained agent besides its final ones" if before else "no finished agent yet"
        raise InputError(f"this run has {missing}", path=run.folder)
    run.save_metrics(run.metrics() | {name: scores})
    return scores


def score_forms(
    agent: Agent, examples: Sequence[Example], domain: Domain, search: Options
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Scores of q2lf and one record per example. The prediction is the first valid hypothesis, else the first."""
    started = time.perf_counter()
    found = find(agent, [e.query or () for e in examples], search, rng=random.Random(0))
    seconds = time.perf_counter() - started
    judged = [
        judge(domain, " ".join(e.query or ()), " ".join(e.lf or ()), pick(domain, [h.text for h in hypotheses]))
        for e, hypotheses in zip(examples, found, strict=True)
    ]
    scores = summarize(judged, metric=domain.metric) | {"beams": search.beams, "search_seconds": round(seconds, 3)}
    records = [
        item.as_json() | {"hypotheses": [[h.text, round(h.score, 4)] for h in hypotheses]}
        for item, hypotheses in zip(judged, found, strict=True)
    ]
    return scores, records


def score_queries(
    agent: Agent, examples: Sequence[Example], search: Options
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
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
