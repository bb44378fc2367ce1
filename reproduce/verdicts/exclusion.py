"""Whom to exclude, and which annotators agree too much, by the default committee.

Careful people err with a standard deviation of .5 to 1 step and look at 95% of the items; spammers
do not look: they answer at random, always alike, or with the labels as often as they occur. In
some worlds all annotators of an item share an error, or half of the people judge by a habit of
their own. To save time the members of the committee have equal weights; spamminess does not depend
on them. Exclusion: false alarms are the share of people who look at 60% or more of their items
and are to be excluded; power is the share of those who look at none. Coverage is that of the 95%
interval of spamminess. Pairs: a false alarm is a crowd in which a pair is flagged though nobody
colludes; power is the share of pairs of accounts of one person, or of colluders, that are flagged.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import polars as pl

from venire import Judgments
from venire.aggregation.collusion import find_agreeing_pairs
from venire.aggregation.committee import Committee
from venire.aggregation.committee_fitting import Fitting
from venire.aggregation.decision import find_spam_interval, find_spammers
from venire.tables.scale import Scale

Array = np.ndarray[Any, Any]
SHARES = (0.5, 0.2, 0.15, 0.15)


class World(NamedTuple):
    """A crowd of 30 on 300 items; a share of the people does not look."""

    spam: float = 0.0
    habit: str = "random"
    """Of spammers: random, one-label, as-often (labels as often as they occur)."""
    looking: float = 0.95
    """Share of the items that the others look at."""
    shared: float = 0.0
    """Standard deviation of an error that all annotators of an item share, in steps."""
    habits: float = 0.0
    """Size of a bias of their own that half of the people have, on half of the topics."""
    accounts: int = 1
    """Accounts of one person, whose labels are the same but for 5%."""
    colluders: int = 0
    """Spammers who copy each other's random labels."""
    overlap: int = 5
    grades: tuple[float, ...] = SHARES


WORLDS = {
    "nobody spams": World(),
    "20% random": World(spam=0.2),
    "50% random": World(spam=0.5),
    "20% one label": World(spam=0.2, habit="one-label"),
    "20% labels as often as they occur": World(spam=0.2, habit="as-often"),
    "20% random, others look at 60%": World(spam=0.2, looking=0.6),
    "20% random, shared errors": World(spam=0.2, shared=0.7),
    "20% random, habits": World(spam=0.2, habits=0.8),
    "20% random, yes or no": World(spam=0.2, grades=(0.7, 0.3)),
    "shared errors": World(shared=0.7),
    "strongly shared errors": World(shared=1.2),
    "habits": World(habits=0.8),
    "one person with 2 accounts": World(accounts=2),
    "one person with 3 accounts": World(accounts=3),
    "3 colluders": World(colluders=3),
    "3 colluders, shared errors": World(colluders=3, shared=0.7),
}
PEOPLE, ITEMS = 30, 300
LOOKING = 0.6


def run(quick: bool, seed: int) -> list[dict[str, Any]]:
    """Return rows; see ``verdicts.py``."""
    rows = []
    for number, (name, world) in enumerate(WORLDS.items()):
        counts = [
            _simulate(world, np.random.default_rng([seed, number, simulation]))
            for simulation in range(1 if quick else 8)
        ]
        for verdict, column in (
            ("to exclude: who looks", "false_alarms"),
            ("to exclude: who never looks", "power"),
            ("interval of spamminess", "coverage"),
            ("pairs: any of a crowd", "false_alarms"),
            ("pairs: each that colludes", "power"),
        ):
            hits, tries = np.array([count[verdict] for count in counts], dtype=np.float64).T
            if not tries.any():
                continue
            share = hits.sum() / tries.sum()
            gaps = hits - share * tries
            error = math.sqrt(float(gaps @ gaps)) / tries.sum()
            rows.append(
                {
                    "verdict": verdict,
                    "world": name,
                    "simulations": int(tries.sum()),
                    column: float(share),
                    "standard_error": error,
                }
            )
    return rows


def _simulate(world: World, rng: np.random.Generator) -> dict[str, tuple[int, int]]:
    """Return hits and tries of each verdict."""
    judgments, looking, group = _judge(world, rng)
    with patch.object(Fitting, "learn_weights", _weigh_equally):
        posterior = Committee().fit(judgments, seed=int(rng.integers(2**31)))
    annotators = posterior.annotators
    who = np.array([int(name) for name in annotators["annotator_id"]])
    excluded = np.isin(who, [int(name) for name in find_spammers(annotators)["annotator_id"]])
    low, high = find_spam_interval(
        *(annotators[name].to_numpy() for name in ("spamminess", "spamminess_sd", "judgments"))
    )
    spamminess = 1.0 - looking[who]
    never, careful = looking[who] == 0.0, looking[who] >= LOOKING
    pairs = find_agreeing_pairs(judgments, posterior)
    both = pairs.select(pl.col("annotator_a", "annotator_b").cast(pl.Int64)).to_numpy()
    flagged = pairs["flagged"].to_numpy()
    colludes = (group[both[:, 0]] >= 0) & (group[both[:, 0]] == group[both[:, 1]])
    return {
        "to exclude: who looks": (int((excluded & careful).sum()), int(careful.sum())),
        "to exclude: who never looks": (int((excluded & never).sum()), int(never.sum())),
        "interval of spamminess": (
            int(((low <= spamminess + 1e-9) & (spamminess <= high + 1e-9)).sum()),
            who.size,
        ),
        "pairs: any of a crowd": (int(flagged[~colludes].any()), 1),
        "pairs: each that colludes": (int(flagged[colludes].sum()), int(colludes.sum())),
    }


def _weigh_equally(
    fitting: Fitting, judgments: Judgments, names: list[str], shares: Array | None
) -> dict[str, float]:
    return dict.fromkeys(names, 1.0 / len(names))


def _judge(world: World, rng: np.random.Generator) -> tuple[Judgments, Array, Array]:
    """Return judgments, each person's share of items looked at, and who colludes with whom."""
    size = len(world.grades)
    spammers = round(world.spam * PEOPLE)
    looking = np.where(np.arange(PEOPLE) < spammers, 0.0, world.looking)
    group = np.full(PEOPLE, -1)
    if world.accounts > 1:
        group[-world.accounts :] = 0
    if world.colluders:
        group[: world.colluders] = 1
        looking[: world.colluders] = 0.0
    grade = rng.choice(size, ITEMS, p=world.grades)
    error = rng.uniform(0.5, 1.0, PEOPLE)
    bias = world.habits * rng.choice([-1, 1], (2, PEOPLE)) * (rng.random((2, PEOPLE)) < 0.5)
    topic = np.arange(ITEMS) % 20
    seen = grade[:, None] + rng.normal(size=(ITEMS, PEOPLE)) * error
    seen += world.shared * rng.normal(size=(ITEMS, 1)) + bias[topic % 2]
    labels = np.clip(np.rint(seen), 0, size - 1).astype(np.int64)
    guess = rng.integers(0, size, (ITEMS, PEOPLE))
    if world.habit == "one-label":
        guess = np.broadcast_to(rng.integers(0, size, PEOPLE), (ITEMS, PEOPLE))
    elif world.habit == "as-often":
        guess = rng.choice(size, (ITEMS, PEOPLE), p=world.grades)
    labels = np.where(rng.random((ITEMS, PEOPLE)) < looking, labels, guess)
    for number in np.unique(group[group >= 0]):
        members = np.flatnonzero(group == number)
        same = rng.random((ITEMS, members.size)) < 0.95
        labels[:, members] = np.where(same, labels[:, members[:1]], labels[:, members])
    effort = rng.gamma(2.0, 1.0, PEOPLE)
    # Colluders judge the same items, so that they share enough of them.
    effort[group >= 0] *= 3.0
    keys = rng.exponential(1.0, (ITEMS, PEOPLE)) / effort
    chosen = np.argsort(keys, axis=1)[:, : world.overlap]
    item = np.repeat(np.arange(ITEMS), world.overlap)
    who = chosen.reshape(-1)
    frame = pl.DataFrame(
        {
            "query_id": [f"q{number}" for number in topic[item]],
            "doc_id": [f"d{number}" for number in item],
            "annotator_id": [str(number) for number in who],
            "label": labels[item, who],
        }
    )
    return Judgments.of(frame, scale=Scale.of(range(size))), looking, group
