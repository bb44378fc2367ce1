"""Progress of long work: a callable that takes events.

Long work calls ``progress(Event(...))``. The terminal draws a bar from the events, the web
application stores them, and ``silent`` (the default) drops them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Event(NamedTuple):
    """The progress of a task."""

    task: str
    """Description of the task."""
    done: float
    """Units finished."""
    total: float | None
    """Units in total, or None if unknown."""
    detail: str = ""
    """A short phrase: the log-likelihood, the file, the model."""


Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Report nothing."""
