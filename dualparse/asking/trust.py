"""What a run knows of its own answers: how likely one is right, and from when on it should be given.

In: the evidence of labeled questions, whether they were answered right, and the evidence of texts that no domain can
answer. Out: a `Trust`, kept as `confidence.json` in the run folder and named in its manifest.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dualparse.asking.confidence import (
    DEFAULT,
    DEFAULT_TOPIC,
    Confidence,
    Evidence,
    calibration_error,
    fit,
    held_out,
    read_confidence,
    reliability,
    sure_enough,
)
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.manifest import changing

NAME = "confidence.json"
PRECISION = 0.95  # share of right answers among those that are given, unless another is asked for
PULL = 3.0  # to the stated weights of a probability that an answer is right: of 1 and 0.3, worse on dev
LOST = 0.025  # share of the labeled questions that may be refused as being about something else
FEW = 30  # labeled questions below which the cuts are those of the default


@dataclass(frozen=True)
class Trust:
    """All that a run has learned about its own answers.

    right, topic        evidence -> probability that the answer is right; that the question is about the domain at all
    cut, topic_cut      from which probabilities on a question is answered; below the second one it is refused
    wanted              the precision that the cut was chosen for
    precision, coverage what the cut comes to on dev, held out; None where nothing was fitted
    calibration_error   on dev, held out
    refused             share of the texts that cannot be answered which `topic_cut` refuses, held out
    """

    right: Confidence = DEFAULT
    topic: Confidence = DEFAULT_TOPIC
    cut: float = 0.9
    topic_cut: float = 0.3
    wanted: float = PRECISION
    precision: float | None = None
    coverage: float | None = None
    calibration_error: float | None = None
    refused: float | None = None

    @property
    def fitted(self) -> bool:
        """Whether labels of this run's own domain had a say."""
        return self.right.examples > 0


def learn_trust(
    rows: Sequence[Evidence],
    right: Sequence[float],
    strangers: Sequence[Evidence],
    *,
    precision: float = PRECISION,
    default: Trust | None = None,
) -> Trust:
    """What labeled questions tell, and texts that cannot be answered; the default where there are none. Questions of
    which a few are labeled only correct the weights of the default; its cuts stay."""
    first = default or Trust()
    if not 0 < precision < 1:
        raise InputError(f"a precision of {precision:g} is not between 0 and 1")
    about = [1.0] * len(rows) + [0.0] * len(strangers)
    both = [*rows, *strangers]
    if len(rows) < FEW:
        topic = fit(both, about, default=first.topic) if rows and strangers else first.topic
        return replace(first, right=fit(rows, right, default=first.right, pull=PULL), topic=topic, wanted=precision)
    told = held_out(rows, right, default=first.right, pull=PULL)
    cut = sure_enough(told, right, precision)
    on_topic = held_out(both, about, default=first.topic)
    own = sorted(on_topic[: len(rows)])
    topic_cut = own[math.floor(LOST * len(own))]
    others = on_topic[len(rows) :]
    return Trust(
        fit(rows, right, default=first.right, pull=PULL),
        fit(both, about, default=first.topic),
        cut.at,
        topic_cut,
        precision,
        cut.precision,
        cut.coverage,
        calibration_error(reliability(told, right)),
        sum(each < topic_cut for each in others) / len(others) if others else None,
    )


def write_trust(folder: Path, trust: Trust) -> None:
    """Keep it in a run folder; a manifest that is there is brought up to date."""
    with changing(folder, NAME):
        write_trust_file(folder / NAME, trust)


def write_trust_file(path: Path, trust: Trust) -> None:
    """Keep it in a file."""
    told = {
        "right": trust.right.told(),
        "topic": trust.topic.told(),
        "cut": round(trust.cut, 6),
        "topic_cut": round(trust.topic_cut, 6),
        "wanted": trust.wanted,
        **{
            name: None if (value := getattr(trust, name)) is None else round(value, 4)
            for name in ("precision", "coverage", "calibration_error", "refused")
        },
    }
    write_text(path, json.dumps(told, indent=2) + "\n")


def read_trust(folder: Path) -> Trust:
    """What a run folder holds; the defaults where it holds nothing."""
    path = folder / NAME
    return read_trust_file(path) if path.is_file() else Trust()


def read_trust_file(path: Path) -> Trust:
    """What `write_trust` wrote."""
    try:
        told = json.loads(path.read_bytes())
        right, topic = (read_confidence(told.pop(name)) for name in ("right", "topic"))
        return Trust(right, topic, **told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"damaged: not what calibration wrote ({error}); dualparse evaluate RUN --calibration makes it anew"
        raise InputError(reason, path=path) from None
