"""The k places of a document: taken and given back in one transaction, never more than k."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from venire.server.store.judging import Task


def take(session: Session, tasks: Collection[int], *, wait: bool = True) -> set[int]:
    """Take a place in each task that has one free; say in which it was taken.

    Rows are locked in the order of their ids, so that two takers never wait for each other.
    Without ``wait``, tasks that another transaction holds are passed over (PostgreSQL).
    """
    if not tasks:
        return set()
    held = session.scalars(_HOLD if wait else _HOLD_FREE, {"tasks": sorted(tasks)}).all()
    if not held:
        return set()
    return set(session.scalars(_TAKE, {"held": held}))


# Made once: making a statement takes longer than running it.
_FREE = (
    select(Task.id)
    .where(Task.id.in_(bindparam("tasks", expanding=True)), Task.taken < Task.overlap)
    .order_by(Task.id)
)
_HOLD = _FREE.with_for_update()
_HOLD_FREE = _FREE.with_for_update(skip_locked=True)
_TAKE = (
    update(Task)
    .where(Task.id.in_(bindparam("held", expanding=True)), Task.taken < Task.overlap)
    .values(taken=Task.taken + 1)
    .returning(Task.id)
    .execution_options(synchronize_session=False)
)


def give_back(session: Session, tasks: Collection[int]) -> None:
    """Give back one place in each task."""
    if not tasks:
        return
    ids = sorted(tasks)
    session.scalars(select(Task.id).where(Task.id.in_(ids)).order_by(Task.id).with_for_update())
    session.execute(
        update(Task)
        .where(Task.id.in_(ids))
        .values(taken=Task.taken - 1)
        .execution_options(synchronize_session=False)
    )
