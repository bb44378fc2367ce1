"""Choose gold for a batch: gold that is new to the annotator first, relevant and not in turn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from venire.server.store.judging import Lease
from venire.server.store.studies import Gold, Pair


class GoldPair(NamedTuple):
    """A pair with a known grade, whether it is for practice, how often the annotator got it."""

    pair_id: int
    grade: int
    topic_id: int
    practice: bool
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
    select(
        Gold.pair_id,
        Gold.grade,
        Pair.topic_id,
        Gold.practice,
        func.coalesce(_SEEN.c.times_seen, 0),
    )
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


def reserve_practice(
    session: Session,
    study_id: str,
    gold_pairs: Sequence[GoldPair],
    practice_size: int,
    gold_size: int,
    relevant_from: int,
    rng: random.Random,
) -> list[GoldPair]:
    """Return the practice gold of a study; where it is too little, take more of the other gold.

    Practice shows its grades, so that gold of practice is in no other batch. Gold that was in no
    batch so far is taken first. A study that would keep less than ``gold_size`` for its work has no
    practice.
    """
    practice = [pair for pair in gold_pairs if pair.practice]
    missing = practice_size - len(practice)
    if missing <= 0:
        return practice
    others = [pair for pair in gold_pairs if not pair.practice]
    if len(others) < missing + gold_size:
        return []
    used = set(session.scalars(_USED, {"pairs": [pair.pair_id for pair in others]}))
    # The draw prefers what was seen least often.
    ranked = [pair._replace(times_seen=int(pair.pair_id in used)) for pair in others]
    taken = choose_gold(ranked, missing, relevant_from, rng)
    ids = [pair.pair_id for pair in taken]
    session.execute(
        update(Gold)
        .where(Gold.study_id == study_id, Gold.pair_id.in_(ids))
        .values(practice=True)
        .execution_options(synchronize_session=False)
    )
    return practice + [pair._replace(practice=True) for pair in taken]


_USED = select(Lease.pair_id).where(
    Lease.pair_id.in_(bindparam("pairs", expanding=True)), Lease.gold_grade.is_not(None)
)


def count_unseen(gold_pairs: Sequence[GoldPair], topic_id: int) -> int:
    """Return how many gold pairs of a topic the annotator has not seen."""
    return sum(pair.topic_id == topic_id and not pair.times_seen for pair in gold_pairs)
