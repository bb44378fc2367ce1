"""Take and free the k places of a document; never more than k are taken."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from venire.server.store.judging import Task


def take_places(session: Session, tasks: Collection[int]) -> set[int]:
    """Take a place in each task that has a free one; return the tasks where it was taken.

    Rows are locked in the order of their ids, so that two transactions cannot deadlock.
    """
    if not tasks:
        return set()
    locked = session.scalars(_LOCK_FREE, {"tasks": sorted(tasks)}).all()
    if not locked:
        return set()
    return set(session.scalars(_TAKE, {"locked": locked}))


# Statements are built once: building one takes longer than running it.
_LOCK_FREE = (
    select(Task.id)
    .where(Task.id.in_(bindparam("tasks", expanding=True)), Task.taken < Task.overlap)
    .order_by(Task.id)
    .with_for_update()
)
_TAKE = (
    update(Task)
    .where(Task.id.in_(bindparam("locked", expanding=True)), Task.taken < Task.overlap)
    .values(taken=Task.taken + 1)
    .returning(Task.id)
    .execution_options(synchronize_session=False)
)


def free_places(session: Session, tasks: Collection[int]) -> None:
    """Free one place in each task."""
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
