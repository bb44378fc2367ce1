"""Gold for a batch: unseen by the annotator first, relevant and not in turn."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from venire.server.store.judging import Lease
from venire.server.store.studies import Gold, Pair


class Known(NamedTuple):
    """A pair whose grade is known, and how often the annotator has met it as gold."""

    pair_id: int
    grade: int
    topic_id: int
    times: int


def known(session: Session, study_id: str, annotator_id: str) -> list[Known]:
    """All active gold of a study, as an annotator has met it."""
    given = {"study": study_id, "annotator": annotator_id}
    rows = session.connection().execute(_KNOWN, given).all()
    return [Known(*row) for row in rows]


# Made once: making a statement takes longer than running it.
_MET = (
    select(Lease.pair_id, func.count().label("times"))
    .where(Lease.annotator_id == bindparam("annotator"), Lease.gold_grade.is_not(None))
    .group_by(Lease.pair_id)
    .subquery()
)
_KNOWN = (
    select(Gold.pair_id, Gold.grade, Pair.topic_id, func.coalesce(_MET.c.times, 0))
    .join(Pair, Pair.id == Gold.pair_id)
    .outerjoin(_MET, _MET.c.pair_id == Gold.pair_id)
    .where(Gold.study_id == bindparam("study"), Gold.active)
)


def choose(there: Sequence[Known], n: int, relevant_from: int, rng: random.Random) -> list[Known]:
    """Up to ``n`` gold documents, relevant and not in turn, those unseen by the annotator first.

    An annotator who has seen all gold meets the one they saw least often.
    """
    rows = list(there)
    rng.shuffle(rows)
    rows.sort(key=lambda row: row.times)
    sides = [
        [row for row in rows if (row.grade >= relevant_from) is relevant]
        for relevant in (True, False)
    ]
    rng.shuffle(sides)
    found: list[Known] = []
    while len(found) < n and any(sides):
        for side in sides:
            if side and len(found) < n:
                found.append(side.pop(0))
    return found


def unseen(there: Sequence[Known], topic_id: int) -> int:
    """How many gold documents of a topic the annotator has not met."""
    return sum(row.topic_id == topic_id and not row.times for row in there)
