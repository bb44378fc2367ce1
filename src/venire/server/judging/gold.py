"""Choose gold for a batch: gold that is new to the annotator first, relevant and not in turn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from venire.server.store.judging import Lease
from venire.server.store.studies import Gold, Pair


class GoldPair(NamedTuple):
    """A pair with a known grade, and how often the annotator got it as gold."""

    pair_id: int
    grade: int
    topic_id: int
    times_seen: int


def read_gold(session: Session, study_id: str, annotator_id: str) -> list[GoldPair]:
    """Return all active gold of a study, with how often an annotator got each pair."""
    values = {"study": study_id, "annotator": annotator_id}
    rows = session.connection().execute(_GOLD, values).all()
    return [GoldPair(*row) for row in rows]


# Statements are built once: building one takes longer than running it.
_SEEN = (
    select(Lease.pair_id, func.count().label("times_seen"))
    .where(Lease.annotator_id == bindparam("annotator"), Lease.gold_grade.is_not(None))
    .group_by(Lease.pair_id)
    .subquery()
)
_GOLD = (
    select(Gold.pair_id, Gold.grade, Pair.topic_id, func.coalesce(_SEEN.c.times_seen, 0))
    .join(Pair, Pair.id == Gold.pair_id)
    .outerjoin(_SEEN, _SEEN.c.pair_id == Gold.pair_id)
    .where(Gold.study_id == bindparam("study"), Gold.active)
)


def choose_gold(
    gold_pairs: Sequence[GoldPair], n: int, relevant_from: int, rng: random.Random
) -> list[GoldPair]:
    """Choose up to ``n`` gold pairs, relevant and not relevant in turn.

    Pairs that the annotator has seen least often come first; ties are broken at random.
    """
    rows = list(gold_pairs)
    rng.shuffle(rows)
    rows.sort(key=lambda row: row.times_seen)
    sides = [
        [row for row in rows if (row.grade >= relevant_from) is relevant]
        for relevant in (True, False)
    ]
    rng.shuffle(sides)
    chosen: list[GoldPair] = []
    while len(chosen) < n and any(sides):
        for side in sides:
            if side and len(chosen) < n:
                chosen.append(side.pop(0))
    return chosen


def count_unseen(gold_pairs: Sequence[GoldPair], topic_id: int) -> int:
    """Return how many gold pairs of a topic the annotator has not seen."""
    return sum(pair.topic_id == topic_id and not pair.times_seen for pair in gold_pairs)
