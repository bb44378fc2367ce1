"""One way to report progress: a callable that takes events.

Long work calls ``progress(Event(...))``. The terminal draws a bar from the
events, the web sends them on, and ``silent`` (the default) drops them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Event(NamedTuple):
    """How far a piece of work has come."""

    task: str
    """What is being done, in words."""
    done: float
    """Units finished so far."""
    total: float | None
    """Units in all, or None where that is not known."""
    detail: str = ""
    """One short phrase: the bound, the file, the model."""


Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Report nothing."""
