"""The k places of a document: taken and given back in one transaction, never more than k."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from venire.store.judging import Task


def take(session: Session, tasks: Collection[int], *, wait: bool = True) -> set[int]:
    """Take a place in each task that has one free; say in which it was taken.

    Rows are locked in the order of their ids, so that two takers never wait for each other.
    Without ``wait``, tasks that another transaction holds are passed over (PostgreSQL).
    """
    if not tasks:
        return set()
    free = select(Task.id).where(Task.id.in_(sorted(tasks)), Task.taken < Task.overlap)
    held = session.scalars(free.order_by(Task.id).with_for_update(skip_locked=not wait)).all()
    if not held:
        return set()
    taken = (
        update(Task)
        .where(Task.id.in_(held), Task.taken < Task.overlap)
        .values(taken=Task.taken + 1)
        .returning(Task.id)
        .execution_options(synchronize_session=False)
    )
    return set(session.scalars(taken))


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
